"""Sweep a setting over seeds from a script.

``biorrr sweep`` does the same from the command line, on all cores or on a cluster, and keeps every
point.
"""

import itertools

import matplotlib.pyplot as plt
import pandas as pd

from biorrr import Microcircuit, excess
from biorrr.sims.data import load

digits = load("digits").centred()
rows = []
for k, seed in itertools.product((1, 2, 4), range(3)):
    run = Microcircuit(k=k, ridge=0.0073, seed=seed).run(
        digits.X, digits.Y, epochs=60, record=(), progress=False
    )
    rows.append(
        {"k": k, "seed": seed, "excess": 100 * excess(run.Vx, digits.X, digits.Y, ridge=0.0073)}
    )
table = pd.DataFrame(rows)
print(table.groupby("k")["excess"].describe()[["mean", "min", "max"]])

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
ax.plot(table["k"], table["excess"], "o")  # a dot for each seed
ax.set_xticks(table["k"].unique())
ax.set(xlabel="number of pyramidal neurons k", ylabel="excess over the optimum (%)", yscale="log")
plt.show()
