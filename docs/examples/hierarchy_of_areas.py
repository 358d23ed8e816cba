"""Stack two areas with apical feedback.

The lower area is taught by the plateaus of the upper one. Both settle to an equilibrium for each
sample. Each numeral is an image of that digit.
"""

import matplotlib.pyplot as plt

from biorrr import Hierarchy
from biorrr.sims.data import load

digits = load("digits").centred()
run = Hierarchy(areas=(4, 2)).run(digits.X, digits.Y, epochs=10, progress=False)
lower, upper = run.infer(digits.X, digits.Y)

plt.style.use("biorrr.analysis.figures.paper")  # type of 7 points
fig, axes = plt.subplots(1, 2, figsize=(6.89, 3))
labels = digits.Y.argmax(axis=1)[:600]
for ax, outputs, title in zip(axes, (lower, upper), ("lower area", "upper area"), strict=True):
    for digit in range(10):
        shown = outputs[:600][labels == digit, :2]
        ax.plot(*shown.T, color=f"C{digit}", linestyle="none", marker=f"${digit}$", markersize=4)
    ax.set(title=title, xlabel="output of neuron 0", ylabel="output of neuron 1")
plt.show()
