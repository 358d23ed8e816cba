"""Replace a plasticity rule by one of your own.

Distal synapses follow Oja's rule instead of the paper's. ``locality`` says what each rule reads.
"""

from dataclasses import replace

import matplotlib.pyplot as plt

from biorrr import Microcircuit
from biorrr.models import DistalSynapses
from biorrr.sims.data import load

digits = load("digits").centred()
oja = replace(DistalSynapses(), change="eta_y * (y_pre * z_post - z_post**2 * w)")
circuits = {
    "the paper's rule": Microcircuit(k=2, ridge=0.0073),
    "Oja's rule": Microcircuit(k=2, ridge=0.0073, pathways=[oja]),
}
print(circuits["Oja's rule"].locality()[1])

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
for (name, circuit), look in zip(circuits.items(), ("-", "--"), strict=True):
    run = circuit.run(digits.X, digits.Y, epochs=30, progress=False)
    angles = run.angles(digits.X, digits.Y).max("angle")
    ax.semilogx(run.data["seen"][1:], angles[1:], look, label=name)
ax.set(xlabel="samples", ylabel="largest angle to exact filters (°)")
ax.legend()
plt.show()
