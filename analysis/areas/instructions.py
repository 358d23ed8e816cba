"""Several instructive areas onto one, as one regression: what separate dendritic currents solve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import as_floats
from biorrr.analysis.regression.covariance import sigma_inverse, symmetric_power
from biorrr.errors import InputError


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
