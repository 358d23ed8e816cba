"""Verify that R becomes the transpose of Q.

Weights from pyramidal cells to interneurons (R) and back (Q) start unrelated. Both learn by local
rules, while the circuit learns to predict which digit an image shows. ||R - Q'|| falls as the
product of (1 - eta_q), which is a straight line, while QQ' grows to the eigenvalues of the exact
solution.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit, Rate, Rates, excess
from biorrr.sims.data import load

digits = load("digits").centred()
rates = Rates(x=Rate(0.03), y=Rate(0.003), q=Rate(0.001))
Q0, R0 = 0.15 * np.random.default_rng(0).standard_normal((2, 2, 2))
circuit = Microcircuit(k=2, rates=rates, Q0=Q0, R0=R0)
run = circuit.run(digits.X, digits.Y, epochs=20, snapshots=("linear", 60), progress=False)

run.plot_symmetry(digits.X, digits.Y)
print(f"R equals Q' to {run.r_minus_qt_relative[-1]:.1e} of ||Q||")
print(f"{100 * excess(run.Vx, digits.X, digits.Y):.2f} % above the optimum")
plt.show()
