"""Error that backprop sends to the first layer of a network, in the basis of a circuit's filters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import as_floats


def backpropagated_error(
    X: ArrayLike, Y: ArrayLike, network_Vx: ArrayLike, network_Vy: ArrayLike, Vx: ArrayLike
) -> NDArray:
    """Return Vy'eps of a two-layer network (Eq. 13), (n_samples, k), as a network with filters ``Vx`` would see it.

    A network's prediction Vy Vx'x stays the same when Vx is replaced by Vx G and Vy by Vy G'^-1; Vy'eps becomes
    G^-1 Vy'eps. G is the map that takes the network's output nearest to Vx'x, by least squares.

    Parameters
    ----------
    X : (n_samples, m)
    Y : (n_samples, n)
        Taken as given.
    network_Vx, network_Vy : (m, k), (n, k)
        Weights of the network.
    Vx : (m, k)
        Filters in whose terms to express the error.

    Examples
    --------
    >>> X, Y = np.eye(3), np.ones((3, 1))
    >>> backpropagated_error(X, Y, [[1.0], [0], [0]], [[0.5]], [[2.0], [0], [0]])
    array([[0.125],
           [0.25 ],
           [0.25 ]])
    """
    X, Y, network_Vy = as_floats("X", X), as_floats("Y", Y), np.asarray(network_Vy, dtype=float)
    z = X @ np.asarray(network_Vx, dtype=float)
    error = (Y - z @ network_Vy.T) @ network_Vy
    G = np.linalg.lstsq(z, X @ np.asarray(Vx, dtype=float), rcond=None)[0]
    return error @ np.linalg.pinv(G).T
