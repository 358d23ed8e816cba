"""Theory of inhibition near the optimum: by interneurons, or direct.

With interneurons (the paper, s = 0) plateau = a - QRz. Direct inhibition is plateau = a - Mz with
dM = eta_q (z z' - I). Inputs are white here, (x, y, q, r) are the rates of Vx, Vy, Q and R, and l_i
the eigenvalues of the matrix M of supplement C. Averaged over samples, learning near the optimum
then falls into blocks with these eigenvalues p::

    norm of output i          p^2 (p + y + x l_i) + 2 g x (p + y) = 0
    outputs i and j           (p^2 + p(y + x l_j) - d) (p^2 + p(y + x l_i) + d)
                                  + g x (p + y) (2p + 2y + x (l_i + l_j)) = 0
    output i and j outside    p^2 + p(y + x l_i) + d = 0,  d = x y (l_i - l_j)

g is the speed of inhibition: q where it is direct, q (l_i + l_j) with interneurons and r = q. Thus
the norm always settles, pairs settle where g > x (l_i - l_j)^2 / (2 + x (l_i + l_j)/y), and
inhibition has no part in the exchange with directions outside. With r < q, at most twice that g is
needed. For other inputs and rates :func:`jacobian` holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import check_pair
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.models.rates import Rates

# |p| over the largest, along which the optimum is a continuum: rotations of outputs and of
# interneurons
NEUTRAL = 1e-7
outer = partial(np.einsum, "ta,tb->tab")  # the products of two signals in each sample
ROUNDS, ROWS = 6, 1000  # noise that noise causes settles in 4 rounds where rates are tolerable


def least_inhibition(eigenvalues: ArrayLike, x: float, y: float, direct: bool = False) -> float:
    """Return the eta_q above which all pairs of outputs settle, given the rates x and y.

    >>> round(least_inhibition([4, 1], x=0.001, y=np.inf, direct=True), 6)
    0.0045
    >>> round(least_inhibition([4, 1], x=0.001, y=np.inf), 6)
    0.0009
    """
    values = np.asarray(eigenvalues, dtype=float)
    apart, both = np.subtract.outer(values, values), np.add.outer(values, values)
    g = x * apart**2 / (2 + x * both / y)
    return float((g if direct else g / both).max())


def optimum(X: ArrayLike, Y: ArrayLike, k: int, direct: bool = False) -> list[NDArray]:
    """Return the weights Vx, Vy and M, or Vx, Vy, Q and R = Q', at the optimum."""
    exact = ExactSolution(X, Y)
    values = exact.eigenvalues[:k]
    inhibition = [np.diag(values)] if direct else [np.diag(np.sqrt(values))] * 2
    return [exact.Vx(k), exact.Vy(k), *inhibition]


def flatten(weights: Sequence[NDArray]) -> NDArray:
    """Return all weights as one vector, each matrix by rows; leading axes are kept."""
    return np.concatenate([w.reshape(*w.shape[:-2], -1) for w in weights], axis=-1)


def unflatten(vector: NDArray, like: Sequence[NDArray]) -> list[NDArray]:
    """Return the matrices of a vector (..., weights) in the shapes of those of ``like``."""
    parts = np.split(vector, np.cumsum([w.size for w in like])[:-1], axis=-1)
    return [p.reshape(*p.shape[:-1], *w.shape) for p, w in zip(parts, like, strict=True)]


def align(weights: Sequence[NDArray], best: Sequence[NDArray]) -> list[NDArray]:
    """Return weights (snapshots, ...) with outputs, and interneurons, rotated to those of ``best``.

    Inputs are white.
    """

    def rotation(those: NDArray, there: NDArray) -> NDArray:
        left, _, right = np.linalg.svd(those.swapaxes(-2, -1) @ there)
        return left @ right

    Vx, Vy, *inhibition = weights
    turn = rotation(Vx, best[0])
    back = turn.swapaxes(-2, -1)
    if len(inhibition) == 1:
        return [Vx @ turn, Vy @ turn, back @ inhibition[0] @ turn]
    Q, R = back @ inhibition[0], inhibition[1] @ turn
    relabel = rotation(Q, best[2])
    return [Vx @ turn, Vy @ turn, Q @ relabel, relabel.swapaxes(-2, -1) @ R]


def jacobian(X: ArrayLike, Y: ArrayLike, k: int, rates: Rates, direct: bool = False) -> NDArray:
    """Return the derivative of the mean change in a sample by all weights at the optimum, in the
    order of :func:`flatten`.

    X (n_samples, m) and Y (n_samples, n) are centred.
    """
    X, Y = check_pair(X, Y)
    best = optimum(X, Y, k, direct)
    # A few rows with the same second moments: the mean change depends on nothing else.
    rows = np.linalg.qr(np.hstack([X, Y]), mode="r")
    x, y = np.split(rows * np.sqrt(len(rows) / len(X)), [X.shape[1]], axis=1)

    def change(vector: NDArray) -> NDArray:
        weights = unflatten(vector[None], best)
        return flatten(sample_changes(weights, x, y, rates, direct)).mean(axis=0).imag

    start, step = flatten(best), 1e-30  # an imaginary step: no difference, so no rounding
    return np.array([change(start + one) for one in step * 1j * np.eye(start.size)]).T / step


def linear_modes(
    X: ArrayLike, Y: ArrayLike, k: int, rates: Rates, direct: bool = False
) -> tuple[NDArray, NDArray, NDArray]:
    """Return the eigenvalues of the Jacobian, its modes in columns, and in rows what reads the
    amplitude of each; those along which the optimum is a continuum are left out.
    """
    values, modes = np.linalg.eig(jacobian(X, Y, k, rates, direct))
    active = np.abs(values) > NEUTRAL * np.abs(values).max()
    return values[active], modes[:, active], np.linalg.pinv(modes)[active]


def slowest_oscillation(
    X: ArrayLike, Y: ArrayLike, k: int, rates: Rates, direct: bool = False
) -> tuple[complex, list[NDArray], Callable[[Sequence[NDArray]], NDArray]]:
    """Return the eigenvalue of the slowest oscillation near the optimum, weights that are displaced
    along its mode, and the function from weights, (snapshots, ...) each, to its amplitude.
    """
    best, (values, modes, read) = optimum(X, Y, k, direct), linear_modes(X, Y, k, rates, direct)
    at = max(np.flatnonzero(values.imag > abs(values.real)), key=lambda i: values[i].real)
    mode = modes[:, at] / np.abs(modes[:, at]).max()

    def amplitude(weights: Sequence[NDArray]) -> NDArray:
        return (flatten(align(weights, best)) - flatten(best)) @ read[at]

    return values[at], unflatten(flatten(best) + 0.1 * mode.real, best), amplitude


def expected_excess(
    X: ArrayLike, Y: ArrayLike, k: int, rates: Rates, direct: bool = False, rounds: int = ROUNDS
) -> float:
    """Return the mean excess that the noise of single samples keeps up; infinity where a mode
    grows.

    The covariance S of the weights solves J S + S J' + D = 0, with D the covariance of the changes
    by single samples. The first round takes them at the optimum, which gives the first order in the
    rates. Later rounds take them at weights drawn with the S of the round before.
    """
    X, Y = check_pair(X, Y)
    best, exact, rng = optimum(X, Y, k, direct), ExactSolution(X, Y), np.random.default_rng(0)
    values, modes, read = linear_modes(X, Y, k, rates, direct)
    if values.real.max() > 0:
        return np.inf
    root = np.linalg.cholesky(X.T @ X / len(X))  # whitened filters are root' Vx
    inside, F = root.T @ best[0], np.linalg.solve(root, X.T @ Y / len(X))
    outside = root @ (np.eye(len(root)) - inside @ inside.T)
    # The loss is quadratic in the filter of each output.
    losses = [outside @ (l * np.eye(len(F)) - F @ F.T) @ outside.T for l in exact.eigenvalues[:k]]
    loss, away = np.inf, np.zeros((ROWS, modes.shape[0]))
    for _ in range(rounds):
        rows = rng.integers(len(X), size=ROWS)
        weights = unflatten(flatten(best) + away, best)
        kicks = read @ flatten(sample_changes(weights, X[rows], Y[rows], rates, direct)).T
        spread = -(kicks @ kicks.conj().T / ROWS) / np.add.outer(values, values.conj())
        S = (modes @ spread @ modes.conj().T).real
        of_Vx = S[: best[0].size, : best[0].size].reshape(*best[0].shape, *best[0].shape)
        loss = np.einsum("imc,mici->", losses, of_Vx)
        if not loss < -exact.optimum(k):
            return np.inf
        power, axes = np.linalg.eigh(S)
        away = rng.standard_normal(away.shape) * np.sqrt(np.clip(power, 0, None)) @ axes.T
    return float(loss / -exact.optimum(k))


def sample_changes(
    weights: Sequence[NDArray], X: NDArray, Y: NDArray, rates: Rates, direct: bool = False
) -> list[NDArray]:
    """Return the changes that each sample makes at weights of its own, each (n_samples, ...)."""
    Vx, Vy, *inhibition = weights
    z, a = np.einsum("tab,ta->tb", Vx, X), np.einsum("tab,ta->tb", Vy, Y)
    if direct:
        plateau = a - np.einsum("tab,tb->ta", inhibition[0], z)
        changes = [rates.q.eta0 * (outer(z, z) - np.eye(z.shape[1]))]
    else:
        Q, R = inhibition
        n = np.einsum("tab,tb->ta", R, z)
        plateau = a - np.einsum("tab,tb->ta", Q, n)
        changes = [rates.q.eta0 * (outer(z, n) - Q), rates.r.eta0 * (outer(n, z) - R)]
    return [rates.x.eta0 * outer(X, plateau), rates.y.eta0 * (outer(Y, z) - Vy), *changes]
