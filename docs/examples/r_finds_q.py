"""Verify that R becomes the transpose of Q.

Weights from pyramidal cells to interneurons (R) and back (Q) start unrelated. Both learn by local
rules, and
||Q' - R|| falls as the product of (1 - eta_q).
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit, Rate, Rates
from biorrr.sims.data import load

digits = load("digits").centred()
rates = Rates(x=Rate(1e-4), y=Rate(0.01), q=Rate(0.003))
rng = np.random.default_rng(0)
Q0, R0 = np.eye(2), np.eye(2) + 0.3 * rng.standard_normal((2, 2))
run = Microcircuit(k=2, rates=rates, Q0=Q0, R0=R0).run(digits.X, digits.Y, epochs=4, progress=False)

run.plot_symmetry()
plt.show()
