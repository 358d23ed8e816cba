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

from biorrr.analysis.checks import as_floats, check_pair, ridge_pair
from biorrr.analysis.regression.exact_solution import (
    condensed,
    covariances,
    sigma_inverse,
    symmetric_power,
)
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
        self.m, self.n, self.ridge = X.shape[1], Y.shape[1], ridge_pair(ridge)
        self.gains = tuple(map(float, gains)) if np.ndim(gains) == 1 else ()
        if len(self.gains) < 2 or not all(0 < gain < np.inf for gain in self.gains):
            raise InputError(
                "gains: must be positive numbers, one for each link from x to the first area up to"
                f" y (got {gains!r})"
            )
        if not 0 < rho < np.inf:
            raise InputError(f"rho: must be a positive number (got {rho})")
        self.rho = float(rho)
        self._Sigma_inverse = sigma_inverse(covariances(X, Y, ridge).yy, s)
        self._data = condensed(X, Y, self.ridge[0])
        tolerance = max(len(X), self.m) * np.finfo(float).eps
        below = linalg.orth(self._data[:, : self.m], tolerance)
        above = self._data[:, self.m :] @ symmetric_power(self._Sigma_inverse, -0.5)
        self._ends = below, above / np.sqrt(self.rho)
        # Px and YY' leave the span of Y and Px Y to itself, and what lies beside it is of X alone.
        self._core = linalg.orth(np.hstack([above, below @ (below.T @ above)]), tolerance)

    # -- the optimum -------------------------------------------------------------------------------
    #
    # A chain is x, the outputs of all areas, and y: directions in columns, all in the same rows.

    def solve(self, areas: Sequence[int], starts: int = 5, random_state=0) -> HierarchyOptimum:
        """Find the best outputs of ``areas`` of so many cells, from so many random starts; one area
        needs no start.
        """
        basis = self._basis(areas)
        below, above = (basis.T @ end for end in self._ends)
        rng = check_random_state(random_state)
        found = []
        for _ in range(1 if len(areas) == 1 else starts):
            outputs = [np.linalg.qr(rng.standard_normal((basis.shape[1], k)))[0] for k in areas]
            found.append(self._climb([below, *outputs, above], areas))
        values = np.array([value for value, _ in found])
        chain = found[int(values.argmax())][1]
        for _ in (
            areas
        ):  # without directions at the threshold, which are as good silent, from the top down
            chain = self._round(chain, areas, 1 + _THRESHOLD)
        ratios, filters = [], []
        for i, k in enumerate(areas, 1):
            eigenvalues, vectors = self._best(i, chain, k)
            used = vectors * (eigenvalues > 1 + _THRESHOLD)
            ratios.append(eigenvalues)
            filters.append(np.sqrt(self.rho) * linalg.lstsq(self._data, basis @ used)[0])
        return HierarchyOptimum(filters, float(values.max()), values, ratios)

    def _climb(self, chain: list[NDArray], areas: Sequence[int]) -> tuple[float, list[NDArray]]:
        """Solve one area after another until the objective stands still; its value, and the
        chain.
        """
        value = -np.inf
        for _ in range(_ROUNDS):
            chain = self._round(chain, areas)
            before, value = value, self._value(chain)
            if abs(value - before) <= _CONVERGED * abs(value):
                break
            # Rounds alone converge slowly where gains are uneven: go on by gradients, as far as
            # they lead.
            chain = self._ascended(self._round(chain, areas))
        return value, chain

    def _ascended(self, chain: list[NDArray]) -> list[NDArray]:
        """Return a ``chain`` whose outputs moved uphill, all areas together, each with as many
        directions as it has.
        """
        below, *outputs, above = chain
        ends = np.cumsum([U.size for U in outputs])

        def factors(flat: NDArray) -> list[tuple[NDArray, NDArray]]:
            parts = zip(np.split(flat, ends[:-1]), outputs, strict=True)
            return [np.linalg.qr(part.reshape(U.shape)) for part, U in parts]

        def descent(flat: NDArray) -> tuple[float, NDArray]:
            """Return minus the objective, which depends on spans alone, and its gradient."""
            moved = [below, *(U for U, _ in factors(flat)), above]
            slopes = []
            for i, (U, R) in enumerate(factors(flat), 1):
                slope = self._matrix(i, moved) @ U
                slopes.append(np.linalg.solve(R, (slope - U @ (U.T @ slope)).T).T.ravel())
            return -self._value(moved), -2 * np.concatenate(slopes)

        start = np.concatenate([U.ravel() for U in outputs])
        options = {"maxiter": 2000, "maxfun": 4000, "ftol": 0, "gtol": 1e-13, "maxcor": 30}
        found = optimize.minimize(descent, start, jac=True, method="L-BFGS-B", options=options)
        return [below, *(U for U, _ in factors(found.x)), above]

    def _round(
        self, chain: list[NDArray], areas: Sequence[int], least: float = 1 - _THRESHOLD
    ) -> list[NDArray]:
        """Return the chain with the best output of every area in turn, of directions that exceed
        ``least`` times its threshold.
        """
        chain = list(chain)
        for i, k in enumerate(areas, 1):
            ratios, vectors = self._best(i, chain, k)
            chain[i] = vectors[:, ratios > least]
        return chain

    def _best(self, i: int, chain: list[NDArray], k: int) -> tuple[NDArray, NDArray]:
        """Return the k largest eigenvalues of the problem of area ``i``, from 1 on, over its
        threshold, largest first, and their eigenvectors.
        """
        values, vectors = np.linalg.eigh(self._matrix(i, chain))
        return values[: -k - 1 : -1] / self.gains[i - 1], vectors[:, : -k - 1 : -1]

    def _matrix(self, i: int, chain: list[NDArray]) -> NDArray:
        """Return the matrix whose top eigenvectors are the best output of area ``i`` while the
        others stand still.
        """
        (below, above), (low, high) = self.gains[i - 1 : i + 1], (chain[i - 1], chain[i + 1])
        return below * low @ low.T + above * high @ high.T

    def _value(self, chain: list[NDArray]) -> float:
        links = zip(self.gains, chain[:-1], chain[1:], strict=True)
        agreement = sum(gain * np.square(lower.T @ upper).sum() for gain, lower, upper in links)
        return float(agreement - np.dot(self.gains[:-1], [U.shape[1] for U in chain[1:-1]]))

    def _basis(self, areas: Sequence[int]) -> NDArray:
        """Check ``areas``, and return orthonormal directions that hold an optimum: those of Y and
        Px Y, and others of X, up to as many as an area has cells.
        """
        if np.ndim(areas) != 1 or not all(
            isinstance(k, int | np.integer) and k >= 1 for k in areas
        ):
            raise InputError(
                f"areas: must be the number of cells of each area, such as (4, 2) (got {areas!r})"
            )
        if len(areas) != len(self.gains) - 1:
            raise InputError(
                f"gains: must be {len(areas) + 1} numbers, one for each link from x to the first of"
                f" {len(areas)} areas up to y (got {len(self.gains)})"
            )
        beside = self._ends[0] - self._core @ (self._core.T @ self._ends[0])
        U, size, _ = linalg.svd(beside, full_matrices=False)
        basis = np.hstack([self._core, U[:, : min(max(areas), int((size > 1e-6).sum()))]])
        if max(areas) > basis.shape[1]:
            raise InputError(
                "areas: no area can have more cells than x and y have directions,"
                f" {basis.shape[1]} (got {max(areas)})"
            )
        return basis

    # -- scores ------------------------------------------------------------------------------------

    def objective(self, filters: Sequence[ArrayLike]) -> float:
        """Return the joint objective of outputs z_i = filters[i]' (x; y), each made white; higher
        is better.

        Directions of less than half the variance rho count as silent: those below the threshold
        should be.
        """
        if len(filters) != len(self.gains) - 1:
            raise InputError(
                f"filters: must be one matrix for each of the {len(self.gains) - 1} areas (got"
                f" {len(filters)})"
            )
        outputs = []
        for z in self._outputs(filters):
            U, size, _ = linalg.svd(z, full_matrices=False)
            outputs.append(U[:, size**2 > self.rho / 2])
        return self._value([self._ends[0], *outputs, self._ends[1]])

    def excess(self, filters: Sequence[ArrayLike], best: HierarchyOptimum | None = None) -> float:
        """Return (best - got) / best: 0 at the optimum, 1 where nothing of y is learned."""
        optimum = self.solve([np.shape(each)[1] for each in filters]) if best is None else best
        return (optimum.objective - self.objective(filters)) / optimum.objective

    def _outputs(self, filters: Sequence[ArrayLike]) -> list[NDArray]:
        """Return the output of each area for the rows that stand for the data."""
        outputs = []
        for each in filters:
            each = as_floats("filters", each)
            if each.ndim != 2 or len(each) != self.m + self.n:
                raise InputError(
                    f"filters: must have a row for each of the {self.m + self.n} columns of X and Y"
                    f" (got {each.shape})"
                )
            outputs.append(self._data @ each)
        return outputs

    # -- what the weights are there ----------------------------------------------------------------

    def weights(self, filters: Sequence[ArrayLike]) -> list[dict[str, NDArray]]:
        """Return the weights W, A and Q of each area at a fixed point of the rules that has these
        outputs.

        W regresses each area on the one below; A is Sigma_s Cyz / rho in the last area and the
        covariance with the next area, over rho, in the others; QQ' is what whiteness then asks for.
        """
        outputs = self._outputs(filters)
        chain = [self._data[:, : self.m], *outputs, self._data[:, self.m :]]
        out = []
        for i, z in enumerate(outputs):
            below, above = chain[i], chain[i + 2]
            W = linalg.lstsq(below, z)[0]
            A = above.T @ z / self.rho
            if i == len(outputs) - 1:
                A = linalg.solve(self._Sigma_inverse, A, assume_a="pos")
            # c E[plateau plateau'] = rho I - W' C W on directions that are used.
            c = self.gains[i + 1] / self.gains[i]
            unexplained = z - below @ W
            QQ = (A.T @ (above.T @ z) - unexplained.T @ z / c) / self.rho
            out.append({"W": W, "A": A, "Q": symmetric_power((QQ + QQ.T) / 2, 0.5)})
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
    instructions = []
    for Y, own_s, own_ridge in zip(areas, s, ridges, strict=True):
        Cyy = covariances(Y, Y, own_ridge).yy
        instructions.append(np.asarray(Y) @ symmetric_power(sigma_inverse(Cyy, own_s), -0.5))
    return np.hstack(instructions)
