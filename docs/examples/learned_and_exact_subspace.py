"""Compare the learned subspace with the exact solution.

Principal angles between the span of the learned filters and that of the exact ones fall during
learning.
"""

import matplotlib.pyplot as plt

from biorrr import Microcircuit, ReducedRankRegression, principal_angles
from biorrr.sims.data import load

digits = load("digits").centred()
run = Microcircuit(k=2, ridge=0.0073).run(digits.X, digits.Y, epochs=60, progress=False)

run.plot_angles(digits.X, digits.Y)
exact = ReducedRankRegression(k=2, ridge=0.0073).fit(digits.X, digits.Y)
print("angles in degrees:", principal_angles(run.Vx, exact.Vx_))
plt.show()
