"""The plateau potential beside the backpropagated error that it should carry (Sec. 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import as_floats, check_pair
from biorrr.analysis.regression.exact_solution import ExactSolution


@dataclass(frozen=True)
class Agreement:
    """Agreement of a signal of the circuit with its theory, neuron by neuron.

    Attributes
    ----------
    correlation : (..., k)
        Pearson correlation over samples.
    relative_error : (..., k)
        Root mean square of the difference, over that of what theory says.
    """

    correlation: NDArray
    relative_error: NDArray

    @classmethod
    def between(cls, measured: NDArray, expected: NDArray) -> Agreement:
        """Return the agreement of two signals (..., n_samples, k); NaN for a neuron that is silent
        in either.
        """
        u, v = (signal - signal.mean(axis=-2, keepdims=True) for signal in (measured, expected))
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls(
                np.sum(u * v, axis=-2) / np.sqrt(np.sum(u**2, axis=-2) * np.sum(v**2, axis=-2)),
                np.sqrt(np.sum((measured - expected) ** 2, axis=-2) / np.sum(expected**2, axis=-2)),
            )


@dataclass(frozen=True)
class PlateauAudit:
    """The circuit's distal signals beside their theory at the optimum; all are (..., n_samples, k).

    Attributes
    ----------
    plateau
        a - Qn, the calcium plateau potential.
    inhibition
        Qn, the inhibition of the distal dendrite.
    error
        Vy'(y - y~), the error of the full-rank (ridge) regression y~, carried back by the distal
        weights (Eq. 15).
    prediction
        Vy'y~.
    """

    plateau: NDArray
    inhibition: NDArray
    error: NDArray
    prediction: NDArray

    @property
    def plateau_and_error(self) -> Agreement:
        """Agreement of the plateau with the backpropagated error of the full-rank regression."""
        return Agreement.between(self.plateau, self.error)


def audit_plateau(
    X: ArrayLike,
    Y: ArrayLike,
    Vx: ArrayLike,
    Vy: ArrayLike,
    Q: ArrayLike,
    R: ArrayLike | None = None,
    ridge: float | tuple[float, float] = 0.0,
) -> PlateauAudit:
    """Compare the plateaus of a circuit with the errors they should stand for, on data as given.

    Parameters
    ----------
    X : (n_samples, m)
    Y : (n_samples, n)
    Vx, Vy, Q : (..., m, k), (..., n, k), (..., k, l)
        Weights, or snapshots of them along leading axes.
    R : (..., l, k)
        Pyramidal-to-interneuron weights; Q' unless given.
    ridge
        Of the regression: y~ is Cyx (Cxx + ridge I)^-1 x.
    """
    X, Y = check_pair(X, Y)
    Vx, Vy, Q = (np.asarray(weights, dtype=float) for weights in (Vx, Vy, Q))
    R = Q.swapaxes(-2, -1) if R is None else np.asarray(R, dtype=float)
    regression = ExactSolution(X, Y, ridge=ridge)
    full_rank = min(X.shape[1], Y.shape[1])
    y_tilde = X @ regression.Vx(full_rank) @ regression.readout(full_rank).T
    a = Y @ Vy
    inhibition = X @ Vx @ (Q @ R).swapaxes(-2, -1)
    prediction = y_tilde @ Vy
    return PlateauAudit(
        plateau=a - inhibition,
        inhibition=inhibition,
        error=a - prediction,
        prediction=prediction,
    )


def null_agreements(
    a: NDArray, inhibition: NDArray, error: NDArray, seed: int = 0
) -> dict[str, Agreement]:
    """Return the agreement of the plateau's rivals with the error, neuron by neuron; all signals
    are (n_samples, k).

    Plateau a - Qn and error a - Vy'y~ share the term a, so a high correlation is no evidence that
    inhibition is right.

    Parameters
    ----------
    a, inhibition, error
        Distal current, inhibition Qn, and the error Vy'(y - y~) that the plateau should equal.
    seed
        Of the order into which samples are shuffled.

    Returns
    -------
    By name: ``no_inhibition``, a alone; ``other_inhibition``, a less the inhibition of other
    samples.
    """
    others = np.random.default_rng(seed).permutation(len(a))
    return {
        "no_inhibition": Agreement.between(a, error),
        "other_inhibition": Agreement.between(a - inhibition[others], error),
    }


def backpropagated_error(
    X: ArrayLike, Y: ArrayLike, network_Vx: ArrayLike, network_Vy: ArrayLike, Vx: ArrayLike
) -> NDArray:
    """Return Vy'eps of a two-layer network (Eq. 13), (n_samples, k), as a network with filters
    ``Vx`` would see it.

    A network's prediction Vy Vx'x stays the same when Vx is replaced by Vx G and Vy by Vy G'^-1;
    Vy'eps becomes G^-1 Vy'eps. G is the map that takes the network's output nearest to Vx'x, by
    least squares.

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
