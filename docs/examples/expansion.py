"""Put fixed rectified cells before the circuit.

Linear neurons cannot solve exclusive-or. Random rectified cells expand the input, and the circuit
then comes close to the exact solution of the expanded problem.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit, ReducedRankRegression

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (3000, 2))
Y = np.sign(X[:, :1] * X[:, 1:])  # exclusive-or
expanded = np.maximum(X @ rng.standard_normal((2, 40)) + rng.uniform(-1, 1, 40), 0)

scores = {}
for name, inputs in {"two inputs": X, "40 rectified cells": expanded}.items():
    inputs = inputs - inputs.mean(0)
    run = Microcircuit(k=1, ridge=0.001).run(inputs, Y, epochs=30, progress=False)
    exact = ReducedRankRegression(k=1, ridge=0.001).fit(inputs, Y)
    scores[name] = run.score(inputs, Y), exact.score(inputs, Y)

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
for place, (who, colour) in enumerate({"circuit": "C0", "exact solution": "0.7"}.items()):
    ax.bar(
        np.arange(2) + 0.35 * place,
        [pair[place] for pair in scores.values()],
        width=0.35,
        label=who,
        color=colour,
    )
ax.set_xticks([0.175, 1.175], [*scores])
ax.set(ylabel="R2 of exclusive-or", ylim=(0, 1))
ax.legend()
plt.show()
