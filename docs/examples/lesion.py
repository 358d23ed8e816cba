"""Silence the interneurons in the middle of learning.

Without inhibition the plateau is the whole distal current, and the output grows.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit, Rates
from biorrr.models import Silence

rng = np.random.default_rng(0)
X = rng.standard_normal((10000, 8))
Y = X[:, :2] @ rng.standard_normal((2, 4)) + 0.5 * rng.standard_normal((10000, 4))
circuit = Microcircuit(k=2, rates=Rates.suggested(X, Y, k=2))

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
for name, events in {"intact": [], "interneurons silenced": [Silence(at=6000)]}.items():
    run = circuit.run(X, Y, events=events, snapshots=("linear", 100), progress=False)
    power = [np.square(X @ Vx).sum(1).mean() for Vx in run.data["Vx"].values]
    ax.semilogy(run.data["seen"], power, label=name)
ax.axvline(6000, color="grey", linestyle=":", label="lesion")
ax.set(xlabel="samples", ylabel="output power |z|²")
ax.legend()
plt.show()
