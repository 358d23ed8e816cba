"""The equilibrium to which areas with apical feedback settle, as a linear system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class AreaWeights(NamedTuple):
    """The weights of one area.

    Attributes
    ----------
    W : (m, k)
        Proximal, from the cells below.
    A : (n, k)
        Distal, from the cells above.
    Q : (k, l), R : (l, k)
        From interneurons, and to them.
    """

    W: np.ndarray
    A: np.ndarray
    Q: np.ndarray
    R: np.ndarray


def settling_matrix(areas: Sequence[AreaWeights], gains: Sequence[float]) -> np.ndarray:
    """Return the matrix M of the equilibrium M z = drive, (cells, cells), cells of all areas one
    after another.

    Row by row it says z_i + c_i Q_i R_i z_i - W_i' z_(i-1) - c_i A_i' z_(i+1) = drive, with c_i the
    gain of the link above area i over that of the link below.
    """
    ends = np.cumsum([0, *(area.W.shape[1] for area in areas)])
    M = np.eye(ends[-1])
    for i, area in enumerate(areas):
        own, c = slice(ends[i], ends[i + 1]), gains[i + 1] / gains[i]
        M[own, own] += c * area.Q @ area.R
        if i > 0:
            M[own, ends[i - 1] : ends[i]] -= area.W.T
        if i < len(areas) - 1:
            M[own, ends[i + 1] : ends[i + 2]] -= c * area.A.T
    return M


def equilibrium(
    areas: Sequence[AreaWeights], gains: Sequence[float], X: np.ndarray, Y: np.ndarray
) -> list[np.ndarray]:
    """Return settled outputs of all areas for ``X`` (n_samples, m), ``Y`` (n_samples, n): list of
    (n_samples, k_i).
    """
    sizes = [area.W.shape[1] for area in areas]
    drive = np.zeros((len(X), sum(sizes)))
    drive[:, : sizes[0]] += X @ areas[0].W
    drive[:, -sizes[-1] :] += gains[-1] / gains[-2] * Y @ areas[-1].A
    settled = np.linalg.solve(settling_matrix(areas, gains), drive.T).T
    return np.split(settled, np.cumsum(sizes)[:-1], axis=1)


def settled_filters(areas: Sequence[AreaWeights], gains: Sequence[float]) -> list[np.ndarray]:
    """Return the same as filters F_i of z_i = F_i' (x; y), list of (m + n, k_i)."""
    m, n = len(areas[0].W), len(areas[-1].A)
    both = np.eye(m + n)
    return equilibrium(areas, gains, both[:, :m], both[:, m:])
