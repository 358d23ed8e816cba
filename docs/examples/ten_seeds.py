"""Run ten seeds in parallel.

A circuit can be sent to another process. Each seed gives its own run.
"""

import matplotlib.pyplot as plt
from joblib import Parallel, delayed

from biorrr import Microcircuit
from biorrr.sims.data import load


def largest_angle(seed):
    digits = load("digits").centred()
    run = Microcircuit(k=2, ridge=0.0073, seed=seed).run(
        digits.X, digits.Y, epochs=10, progress=False
    )
    return run.data["seen"].values, run.angles(digits.X, digits.Y).max("angle").values


plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
for seen, angle in Parallel(n_jobs=2)(delayed(largest_angle)(seed) for seed in range(10)):
    ax.semilogx(seen[1:], angle[1:], color="C0", alpha=0.5)
ax.set(xlabel="samples", ylabel="largest angle to exact filters (°)", title="ten seeds")
plt.show()
