"""Stack two areas with apical feedback.

The lower area is taught by the plateaus of the upper one. Both settle to an equilibrium for each
sample.
"""

import matplotlib.pyplot as plt

from biorrr import Hierarchy
from biorrr.sims.data import load

digits = load("digits").centred()
run = Hierarchy(areas=(4, 2)).run(digits.X, digits.Y, epochs=10, progress=False)
lower, upper = run.infer(digits.X, digits.Y)

plt.style.use("biorrr.analysis.figures.paper")  # type of 7 points
fig, axes = plt.subplots(1, 2, figsize=(6.89, 3))
labels = digits.Y.argmax(axis=1)
for ax, outputs, title in zip(axes, (lower, upper), ("lower area", "upper area"), strict=True):
    ax.scatter(*outputs[:, :2].T, c=labels, cmap="tab10", s=5)
    ax.set(title=title, xlabel="output of neuron 1", ylabel="output of neuron 2")
plt.show()
