"""Areas with apical feedback, solved exactly: one area by an eigenproblem, a hierarchy by one after
another.

Golkar, Tesileanu, Bahroun, Sengupta & Chklovskii (NeurIPS 2022), Constrained predictive coding as a
biologically plausible model of the cortical hierarchy. Areas z_1, ..., z_L lie between x and y.
Link i, from area i to area i + 1 (x is area 0, y the last), has the gain g_i. At the equilibrium of
each sample

    g_(i-1) (z_i - W_i' z_(i-1)) = g_i plateau_i,    plateau_i = A_i' z_(i+1) - Q_i Q_i' z_i,

and the local rules climb, over outputs Z_i = sqrt(rho T) U_i whose U_i have columns that are
orthonormal or zero,

    g_0 tr(U_1' P_X U_1) + sum_i g_i |U_i' U_(i+1)|^2 + g_L / rho |U_L' Y Sigma_s^1/2 / sqrt(T)|^2
        - sum_i g_(i-1) |U_i|^2

where P_X projects onto the columns of X: what links agree on, less what it costs to speak. Area i
uses a direction only if its eigenvalue in g_(i-1) (below) + g_i (above) exceeds the threshold
g_(i-1); areas that have learned nothing of y have the objective 0.

What is proven: for one area this is Ky Fan's problem, so the top eigenvectors are a global optimum.
In a hierarchy each area's problem, with the others held, is Ky Fan's again, so that solving one
after another never descends, and ends where no single area can improve. That this is the best of
all such places is not proven; several starts that agree are what speaks for it
(:attr:`HierarchyOptimum.starts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, optimize
from sklearn.utils import check_random_state

from biorrr.analysis.checks import as_floats, check_pair, check_s, ridge_pair
from biorrr.analysis.regression.exact_solution import sigma_inverse, symmetric_power
from biorrr.errors import InputError

_CONVERGED = 1e-13  # relative change of the objective in one round over all areas
_ROUNDS = 100
_THRESHOLD = 1e-9  # directions of x that nobody above uses lie at the threshold, up to rounding


@dataclass(frozen=True)
class HierarchyOptimum:
    """The best outputs of every area.

    Attributes
    ----------
    filters : list of (m + n, k_i)
        z_i = filters[i]' (x; y), with covariance rho I; zero for directions below the threshold.
    objective
        The joint objective.
    starts : (starts,)
        The objective that each start reached.
    eigenvalues : list of (k_i,)
        Of each area's problem with the others held, over its threshold, the gain from below:
        largest first. A direction is used only if that ratio exceeds 1.
    """

    filters: list[NDArray]
    objective: float
    starts: NDArray
    eigenvalues: list[NDArray]

    @property
    def above_threshold(self) -> list[int]:
        """Number of directions that each area uses."""
        return [int((ratios > 1 + _THRESHOLD).sum()) for ratios in self.eigenvalues]


class ExactHierarchy:
    """Exact solution and scores of areas on paired data, which are decomposed once.

    Parameters
    ----------
    X : (n_samples, m)
    Y : (n_samples, n)
        Taken as given: centre them first if they should be centred.
    gains
        One for each link, from x to the first area up to y.
    rho
        Variance of every output.
    s
        Which regression the last area solves: 0 is RRMSE, 1 is CCA.
    ridge
        Added to Cxx, as rows sqrt(T ridge) I of X with zeros in Y, which is what spontaneous replay
        presents, and to Cyy; a pair sets them separately.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.standard_normal((500, 6)), rng.standard_normal((500, 4))
    >>> solution = ExactHierarchy(X, X[:, :2] @ rng.standard_normal((2, 4)) + noise, gains=(1,
    ... 1, 1))
    >>> best = solution.solve((3, 2))
    >>> bool(abs(solution.excess(best.filters)) < 1e-9), best.above_threshold
    (True, [2, 2])
    """

    def __init__(
        self,
        X: ArrayLike,
        Y: ArrayLike,
        gains: Sequence[float] = (1.0, 1.0),
        rho: float = 1.0,
        s: float = 0.0,
        ridge: float | tuple[float, float] = 0.0,
    ):
        X, Y = check_pair(X, Y)
        self.m, self.n, self.s, self.ridge = X.shape[1], Y.shape[1], check_s(s), ridge_pair(ridge)
        self.gains, self.rho = check_gains(gains), check_positive("rho", rho)
        data = np.hstack([X, Y]) / np.sqrt(len(X))
        if self.ridge[0]:
            data = np.vstack([data, np.sqrt(self.ridge[0]) * np.eye(self.m, self.m + self.n)])
        if len(data) > self.m + self.n:
            # The triangular factor has the same covariances as the data, and no more rows than
            # there are channels.
            data = linalg.qr(data, mode="r", check_finite=False)[0][: self.m + self.n]
        self._data = data
        tolerance = max(len(X), self.m) * np.finfo(float).eps
        self._X = _orthonormal(data[:, : self.m], tolerance)
        Cyy = Y.T @ Y / len(Y) + self.ridge[1] * np.eye(self.n)
        self._Y = data[:, self.m :] @ symmetric_power(sigma_inverse(Cyy, s), -0.5)
        # Px and YY' leave the span of Y and Px Y to itself, and what lies beside it is of X alone.
        within = np.hstack([self._Y, self._X @ (self._X.T @ self._Y)])
        self._core = _orthonormal(within, tolerance)

    # -- the optimum -------------------------------------------------------------------------------

    def solve(self, areas: Sequence[int], starts: int = 5, random_state=0) -> HierarchyOptimum:
        """Find the best outputs of ``areas`` of so many cells, from so many random starts; one area
        needs no start.
        """
        areas = self._check_areas(areas)
        basis = self._basis(max(areas))
        X, Y = basis.T @ self._X, basis.T @ self._Y
        rng = check_random_state(random_state)
        found = []
        for _ in range(1 if len(areas) == 1 else starts):
            outputs = [np.linalg.qr(rng.standard_normal((basis.shape[1], k)))[0] for k in areas]
            found.append(self._climb(areas, outputs, X, Y))
        values = np.array([value for value, _ in found])
        outputs = found[int(values.argmax())][1]
        for _ in (
            areas
        ):  # without directions at the threshold, which are as good silent, from the top down
            outputs = self._round(areas, outputs, X, Y, 1 + _THRESHOLD)
        ratios, filters = [], []
        for i, k in enumerate(areas):
            eigenvalues, vectors = _top(self._matrix(i, outputs, X, Y), k)
            ratios.append(eigenvalues / self.gains[i])
            used = vectors * (ratios[i] > 1 + _THRESHOLD)
            filters.append(np.sqrt(self.rho) * linalg.lstsq(self._data, basis @ used)[0])
        return HierarchyOptimum(filters, float(values.max()), values, ratios)

    def _climb(self, areas: tuple[int, ...], outputs: list[NDArray], X: NDArray, Y: NDArray):
        """Solve one area after another until the objective stands still; its value, and the
        outputs.
        """
        value = -np.inf
        for _ in range(_ROUNDS):
            outputs = self._round(areas, outputs, X, Y)
            before, value = value, self._value(outputs, X, Y)
            if abs(value - before) <= _CONVERGED * abs(value):
                break
            # Rounds alone converge slowly where gains are uneven: go on by gradients, as far as
            # they lead.
            outputs = self._ascended(self._round(areas, outputs, X, Y), X, Y)
        return value, outputs

    def _ascended(self, outputs: list[NDArray], X: NDArray, Y: NDArray) -> list[NDArray]:
        """Return ``outputs`` moved uphill, all areas together, each with as many directions as it
        has.
        """
        shapes = [U.shape for U in outputs]
        ends = np.cumsum([rows * columns for rows, columns in shapes])[:-1]

        def split(flat: NDArray) -> list[tuple[NDArray, NDArray]]:
            parts = zip(np.split(flat, ends), shapes, strict=True)
            return [np.linalg.qr(part.reshape(shape)) for part, shape in parts]

        def descent(flat: NDArray) -> tuple[float, NDArray]:
            """Return minus the objective, which depends on spans alone, and its gradient."""
            factors = split(flat)
            spans = [U for U, _ in factors]
            slopes = []
            for i, (U, R) in enumerate(factors):
                slope = self._matrix(i, spans, X, Y) @ U
                slopes.append(np.linalg.solve(R, (slope - U @ (U.T @ slope)).T).T.ravel())
            return -self._value(spans, X, Y), -2 * np.concatenate(slopes)

        start = np.concatenate([U.ravel() for U in outputs])
        options = {"maxiter": 2000, "maxfun": 4000, "ftol": 0, "gtol": 1e-13, "maxcor": 30}
        found = optimize.minimize(descent, start, jac=True, method="L-BFGS-B", options=options)
        return [U for U, _ in split(found.x)]

    def _round(
        self,
        areas: tuple[int, ...],
        outputs: list[NDArray],
        X: NDArray,
        Y: NDArray,
        least: float = 1 - _THRESHOLD,
    ) -> list[NDArray]:
        """Return the best output of every area in turn, of directions that exceed ``least`` times
        its threshold.
        """
        outputs = list(outputs)
        for i, k in enumerate(areas):
            eigenvalues, vectors = _top(self._matrix(i, outputs, X, Y), k)
            outputs[i] = vectors[:, eigenvalues > self.gains[i] * least]
        return outputs

    def _basis(self, k: int) -> NDArray:
        """Return orthonormal directions that hold an optimum: those of Y and Px Y, and up to k
        others of X.
        """
        beside = self._X - self._core @ (self._core.T @ self._X)
        U, size, _ = linalg.svd(beside, full_matrices=False)
        return np.hstack([self._core, U[:, : min(k, int((size > 1e-6).sum()))]])

    def _matrix(self, i: int, outputs: list[NDArray], X: NDArray, Y: NDArray) -> NDArray:
        """Return the matrix whose top eigenvectors are the best output of area ``i`` while the
        others stand still.
        """
        below = X if i == 0 else outputs[i - 1]
        above = Y / np.sqrt(self.rho) if i == len(outputs) - 1 else outputs[i + 1]
        return self.gains[i] * below @ below.T + self.gains[i + 1] * above @ above.T

    def _value(self, outputs: list[NDArray], X: NDArray, Y: NDArray) -> float:
        chain = [X, *outputs, Y / np.sqrt(self.rho)]
        links = zip(self.gains, chain[:-1], chain[1:], strict=True)
        agreement = sum(gain * np.square(lower.T @ upper).sum() for gain, lower, upper in links)
        return float(agreement - np.dot(self.gains[:-1], [U.shape[1] for U in outputs]))

    # -- scores ------------------------------------------------------------------------------------

    def objective(self, filters: Sequence[ArrayLike]) -> float:
        """Return the joint objective of outputs z_i = filters[i]' (x; y), each made white; higher
        is better.

        Directions of less than half the variance rho count as silent: those below the threshold
        should be.
        """
        return self._value(self._outputs(filters), self._X, self._Y)

    def excess(self, filters: Sequence[ArrayLike], best: HierarchyOptimum | None = None) -> float:
        """Return (best - got) / best: 0 at the optimum, 1 where nothing of y is learned."""
        optimum = self.solve([np.shape(each)[1] for each in filters]) if best is None else best
        return (optimum.objective - self.objective(filters)) / optimum.objective

    def _outputs(self, filters: Sequence[ArrayLike]) -> list[NDArray]:
        """Return white outputs in the coordinates of the data, each of as many columns as it uses
        directions.
        """
        if len(filters) != len(self.gains) - 1:
            raise InputError(
                f"filters: must be one matrix for each of the {len(self.gains) - 1} areas (got"
                f" {len(filters)})"
            )
        out = []
        for each in filters:
            U, size, _ = linalg.svd(self._data @ self._check(each), full_matrices=False)
            out.append(U[:, size**2 > self.rho / 2])
        return out

    def _check(self, filters: ArrayLike) -> NDArray:
        filters = as_floats("filters", filters)
        if filters.ndim != 2 or len(filters) != self.m + self.n:
            raise InputError(
                f"filters: must have a row for each of the {self.m + self.n} columns of X and Y"
                f" (got {filters.shape})"
            )
        return filters

    def _check_areas(self, areas: Sequence[int]) -> tuple[int, ...]:
        areas = check_areas(areas, len(self.gains))
        rank = self._basis(max(areas)).shape[1]
        if max(areas) > rank:
            raise InputError(
                f"areas: no area can have more cells than x and y have directions, {rank} (got"
                f" {max(areas)})"
            )
        return areas

    # -- what the weights are there ----------------------------------------------------------------

    def weights(self, filters: Sequence[ArrayLike]) -> list[dict[str, NDArray]]:
        """Return the weights W, A and Q of each area at a fixed point of the rules that has these
        outputs.

        W regresses each area on the one below; A is Sigma_s Cyz / rho in the last area and the
        covariance with the next area, over rho, in the others; QQ' is what whiteness then asks for.
        """
        Z = [self._data @ self._check(each) for each in filters]
        chain = [self._data[:, : self.m], *Z, self._data[:, self.m :]]
        Cyy = chain[-1].T @ chain[-1] + self.ridge[1] * np.eye(self.n)
        out = []
        for i, z in enumerate(Z):
            below, above = chain[i], chain[i + 2]
            W = linalg.lstsq(below, z)[0]
            A = above.T @ z / self.rho
            if i == len(Z) - 1:
                A = linalg.solve(sigma_inverse(Cyy, self.s), A, assume_a="pos")
            # c E[plateau plateau'] = rho I - W' C W on directions that are used.
            c = self.gains[i + 1] / self.gains[i]
            unexplained = z - below @ W
            QQ = (A.T @ (above.T @ z) - unexplained.T @ z / c) / self.rho
            out.append({"W": W, "A": A, "Q": symmetric_power(_nearest_psd(QQ), 0.5)})
        return out


def plateau_theory(
    A: ArrayLike, Q: ArrayLike, c: float, below: ArrayLike, above: ArrayLike
) -> NDArray:
    """Return the plateaus of one area at the optimum: the part of its input from above that its
    input cannot predict.

    At a fixed point plateaus are uncorrelated with the input from below, so that

        plateau = (I + c QQ')^-1 A' (above - best prediction of it from below).

    Parameters
    ----------
    A : (n, k), Q : (k, l)
        Distal and inhibitory weights of the area.
    c
        Gain of the apical current at the soma: that of the link above over that of the link below.
    below : (n_samples, m), above : (n_samples, n)
        What the area hears from both sides, sample by sample.

    Returns
    -------
    plateau : (n_samples, k)
    """
    below, above = check_pair(below, above)
    A, Q = as_floats("A", A), as_floats("Q", Q)
    errors = above - below @ linalg.lstsq(below, above)[0]
    return linalg.solve(np.eye(len(Q)) + c * Q @ Q.T, (errors @ A).T, assume_a="pos").T


def check_gains(gains: Sequence[float]) -> tuple[float, ...]:
    """Return ``gains`` as positive numbers, one for each link: at least two."""
    values = tuple(float(gain) for gain in gains) if np.ndim(gains) == 1 else ()
    if len(values) < 2 or not all(np.isfinite(gain) and gain > 0 for gain in values):
        raise InputError(
            "gains: must be positive numbers, one for each link from x to the first area up to y"
            f" (got {gains!r})"
        )
    return values


def check_areas(areas: Sequence[int], links: int) -> tuple[int, ...]:
    """Return ``areas`` as numbers of cells, one less than there are links."""
    if np.ndim(areas) != 1 or not all(isinstance(k, int | np.integer) and k >= 1 for k in areas):
        raise InputError(
            f"areas: must be the number of cells of each area, such as (4, 2) (got {areas!r})"
        )
    if len(areas) != links - 1:
        raise InputError(
            f"gains: must be {len(areas) + 1} numbers, one for each link from x to the first of"
            f" {len(areas)} areas up to y (got {links})"
        )
    return tuple(map(int, areas))


def check_positive(name: str, value: float) -> float:
    """Return ``value``, if it is a positive number."""
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name}: must be a positive number (got {value})")
    return float(value)


def _orthonormal(A: NDArray, tolerance: float) -> NDArray:
    """Return an orthonormal basis of the columns of ``A``, (rows, rank)."""
    U, size, _ = linalg.svd(A, full_matrices=False, check_finite=False)
    return U[:, size > tolerance * size[0]] if len(size) else U


def _top(M: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Return the k largest eigenvalues of ``M``, largest first, and their eigenvectors as
    columns.
    """
    values, vectors = np.linalg.eigh(M)
    return values[: -k - 1 : -1], vectors[:, : -k - 1 : -1]


def _nearest_psd(M: NDArray) -> NDArray:
    """Return ``M`` made symmetric, without negative eigenvalues."""
    values, vectors = linalg.eigh((M + M.T) / 2)
    return (vectors * values.clip(0)) @ vectors.T


def joint_instruction(
    areas: Sequence[ArrayLike], s: Sequence[float], ridge: Sequence[float] | float = 0.0
) -> NDArray:
    """Return one instruction Y whose RRMSE (s = 0) is the sum of the areas' objectives, (n_samples,
    all features).

    Each area counts as Y_j Sigma_j^1/2, with Sigma_j^-1 = s_j (C_jj + ridge_j I) + (1 - s_j) I of
    its own, so that ``ExactSolution(X, joint_instruction(...))`` and ``ReducedRankRegression``
    solve for the filters that docs/examples/two_instructive_areas.py learns.

    Parameters
    ----------
    areas : list of (n_samples, n_j)
        Activity of each instructive area, centred.
    s, ridge
        Of each area; a single ridge is that of all.

    Examples
    --------
    >>> joint_instruction([[[1.0], [-1.0]], [[2.0], [-2.0]]], s=(0, 1))
    array([[ 1.,  1.],
           [-1., -1.]])
    """
    ridges = np.broadcast_to(ridge, len(areas))
    if len(s) != len(areas):
        raise InputError(f"s: must be {len(areas)} numbers, one for each area (got {len(s)})")
    out = []
    for Y, own_s, own_ridge in zip(areas, s, ridges, strict=True):
        Y = as_floats("areas", Y)
        Cyy = Y.T @ Y / len(Y) + own_ridge * np.eye(Y.shape[1])
        out.append(Y @ symmetric_power(sigma_inverse(Cyy, own_s), -0.5))
    return np.hstack(out)
