"""Continue a run, and resume one that was cut short.

``final=False`` keeps the learning rates up for a continuation. A checkpoint file lets a killed run
go on bit for bit.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit
from biorrr.sims.data import load

digits = load("digits").centred()
circuit = Microcircuit(k=2, ridge=0.0073)
first = circuit.run(digits.X, digits.Y, epochs=10, final=False, progress=False)
second = circuit.run(digits.X, digits.Y, epochs=10, start=first, progress=False)

kept = circuit.run(digits.X, digits.Y, epochs=5, checkpoint="run.checkpoint", progress=False)
again = circuit.run(
    digits.X, digits.Y, epochs=5, checkpoint="run.checkpoint", progress=False
)  # nothing left to do
assert np.array_equal(kept.Vx, again.Vx)

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
for name, run in {"first run": first, "continuation": second}.items():
    ax.plot(run.data["seen"], run.angles(digits.X, digits.Y).max("angle"), label=name)
ax.set(xlabel="samples", ylabel="largest angle to exact filters (°)")
ax.legend()
plt.show()
