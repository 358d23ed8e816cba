"""See why one seed is slower than another.

Each set of k exact filters is a fixed point of learning, and all but the set of the first k are
saddles. From some initial weights the circuit comes close to one. Here it holds the sixth exact
filter instead of the fifth (CCA of digits, five neurons). The less the two eigenvalues differ, the
longer it stays. The excess at the saddle is their difference over the sum of the five largest, 1.6
%.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit
from biorrr.analysis import ExactSolution
from biorrr.sims.data import load

digits = load("digits").centred()
X, Y = digits.X, digits.Y
ridge = 0.1 * np.square(X).mean()
Cxx = X.T @ X / len(X) + ridge * np.eye(X.shape[1])
exact = ExactSolution(X, Y, s=1, ridge=ridge)


def share_held(Vx, filters):
    """Return the share of each exact filter that lies within the span of Vx."""
    inner = filters.T @ Cxx @ Vx
    return np.sum(inner * np.linalg.solve(Vx.T @ Cxx @ Vx, inner.T).T, axis=1)


plt.style.use("biorrr.analysis.figures.paper")  # type of 7 points
fig, axes = plt.subplots(1, 2, figsize=(6.89, 2.6), sharey=True)
for ax, seed in zip(axes, (5, 46), strict=True):
    circuit = Microcircuit(k=5, s=1, ridge=ridge, seed=seed)
    run = circuit.run(X, Y, epochs=60, record=(), snapshots=("linear", 50), progress=False)
    shares = np.array([share_held(Vx, exact.Vx(6)) for Vx in run.data["Vx"].values[1:]])
    for place in (3, 4, 5):
        ax.plot(run.data["seen"][1:], shares[:, place], label=f"exact filter {place + 1}")
    ax.set(title=f"seed {seed}: excess {exact.excess(run.Vx):.3%}", xlabel="samples")
axes[0].set_ylabel("share of the filter that is learned")
axes[0].legend()
plt.show()
