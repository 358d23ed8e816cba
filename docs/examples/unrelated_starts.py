"""Start Q and R from unrelated weights of your choice.

Whatever R starts as, its distance from Q' falls at the same predicted rate.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit, Rate, Rates

rng = np.random.default_rng(0)
X = rng.standard_normal((6000, 8))
Y = X[:, :2] @ rng.standard_normal((2, 4)) + 0.5 * rng.standard_normal((6000, 4))
rates = Rates(x=Rate(0.001), y=Rate(0.003), q=Rate(0.003))
starts = {
    "zero": np.zeros((2, 2)),
    "unrelated": np.array([[0.5, 0.8], [-0.6, 0.4]]),
    "opposed": -np.eye(2),
}

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
for name, R0 in starts.items():
    run = Microcircuit(k=2, rates=rates, Q0=np.eye(2), R0=R0).run(
        X, Y, snapshots=("linear", 30), progress=False
    )
    ax.semilogy(run.data["seen"], run.r_minus_qt, "o", ms=4, label=f"R starts {name}")
    ax.semilogy(
        run.data["seen"],
        run.r_minus_qt[0] * (1 - 0.003) ** run.data["seen"],
        color="grey",
        zorder=0,
    )
ax.set(xlabel="samples", ylabel="||Q' - R||", title="grey: (1 - 0.003)^samples")
ax.legend()
plt.show()
