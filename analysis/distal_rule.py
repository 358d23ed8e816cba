"""The distal rule, fitted to recorded changes of weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def fit_distal_rule(
    y: NDArray, z: NDArray, a: NDArray, Vy: NDArray, eta: NDArray
) -> dict[str, float]:
    """Fit dVy = eta (y z' - own_current y a' - decay Vy), by least squares, to recordings of T
    successive samples.

    The paper's rule (Sec. 5.1) has own_current = s and decay = 1 - s, with a ridge 1 - s + s ridge.

    Parameters
    ----------
    y, z, a : (T, n), (T, k), (T, k)
        Distal input, somatic output and distal current.
    Vy : (T, n, k)
        Distal weights after each sample.
    eta : (T,)
        Rate of distal plasticity, in any unit.

    Returns
    -------
    ``own_current`` and ``decay``, the coefficients over that of the Hebbian term, and
    ``unexplained``, the share of the changes (of their sum of squares) that the rule does not
    explain.
    """
    change = np.diff(Vy, axis=0) / eta[1:, None, None]
    terms = [y[1:, :, None] * z[1:, None, :], -y[1:, :, None] * a[1:, None, :], -Vy[:-1]]
    (hebbian, own_current, decay), *_ = np.linalg.lstsq(
        np.stack([term.ravel() for term in terms], axis=1), change.ravel(), rcond=None
    )
    explained = hebbian * terms[0] + own_current * terms[1] + decay * terms[2]
    unexplained = np.square(change - explained).sum() / np.square(change).sum()
    found = {
        "own_current": own_current / hebbian,
        "decay": decay / hebbian,
        "unexplained": unexplained,
    }
    return {name: float(value) for name, value in found.items()}
