"""Start Q and R from unrelated weights of your choice.

Its distance from Q' falls at the same predicted rate, and the circuit learns. R must not be zero:
interneurons would stay silent, and Q would fade.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit, Rate, Rates, excess
from biorrr.sims.data import load

digits = load("digits").centred()
rates = Rates(x=Rate(0.03), y=Rate(0.003), q=Rate(0.001))
Q0 = 0.2 * np.eye(2)
starts = {
    "unrelated": np.array([[0.1, 0.16], [-0.12, 0.08]]),
    "turned by 90°": np.array([[0.0, 0.2], [-0.2, 0.0]]),
    "opposed": -Q0,
}

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots(figsize=(3.35, 2.6))
for (name, R0), marker in zip(starts.items(), "o^s", strict=True):
    circuit = Microcircuit(k=2, rates=rates, Q0=Q0, R0=R0)
    run = circuit.run(digits.X, digits.Y, epochs=20, snapshots=("linear", 30), progress=False)
    above = 100 * excess(run.Vx, digits.X, digits.Y)
    label = f"R starts {name}: {above:.2g} % above the optimum"
    seen = run.data["seen"].values
    ax.semilogy(seen, run.r_minus_qt, marker, ms=2, label=label)
    ax.semilogy(seen, run.r_minus_qt[0] * (1 - 0.001) ** seen, color="grey", zorder=0)
    print(f"{name}: {run.r_minus_qt_relative[-1]:.1e} of ||Q||, {above:.2g} % above the optimum")
ax.set(
    xlabel="samples seen",
    ylabel="$\\Vert R - Q' \\Vert$",
    title="grey lines: prediction, $(1 - 0.001)^{samples}$",
)
fig.legend(loc="outside lower center")
plt.show()
