"""The plateau potential beside the backpropagated error that it should carry (Sec. 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.checks import as_floats, check_pair
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.traces import halfway

SIGNALS = ("plateau", "a", "inhibition", "z")  # of a circuit, that are recorded
NETWORK_STEPS = 200_000  # at most: on digits gradients vanish after 20,000, on V1-V2 after 3,000


class Agreement(NamedTuple):
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
    a = Y @ Vy
    inhibition = X @ Vx @ (Q @ R).swapaxes(-2, -1)
    prediction = X @ ExactSolution(X, Y, ridge=ridge).regression() @ Vy
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
    """Return Vy'eps of a two-layer network (Eq. 13), (..., n_samples, k), as a network with filters
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
    Vx : (..., m, k)
        Filters in whose terms to express the error, or snapshots of them.

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
    G = np.linalg.pinv(z) @ (X @ np.asarray(Vx, dtype=float))
    return error @ np.linalg.pinv(G).swapaxes(-2, -1)


def compare_with_theory(
    run: Any,
    data: Any,
    exact: ExactSolution,
    show: Callable[[int], Mapping[str, NDArray]],
    seed: int = 0,
) -> Any:
    """Compare a circuit with theory through learning, and as recorded before, halfway through and
    after learning.

    Halfway is that of :func:`biorrr.analysis.traces.halfway`. Compared are inhibition with Vy'y~,
    the plateau with the back-propagated error and, at s = 0, the plateau with the error in a
    network that backprop trains on the same data; at other s the latter is NaN.

    Parameters
    ----------
    run
        Dataset of the circuit: Vx, Vy, Q, R at snapshots, and how many samples it had ``seen``.
    data
        What was learned, centred.
    exact
        The exact solution.
    show
        Shows the data to the circuit as it was at a snapshot, and returns its traces by name, each
        (row, pyramidal).
    seed
        Of the network and of the samples whose inhibition is exchanged.

    Returns
    -------
    A dataset with ``excess`` and ``whitening_error`` (snapshot,); traces, ``recorded`` (signal,
    stage, row, pyramidal), and what they are compared with, ``expected`` (comparison, stage, row,
    pyramidal); their ``agreement`` (measure, comparison, stage, pyramidal), and that through
    learning, ``course`` (measure, comparison, snapshot, pyramidal); the relative error under null
    hypotheses, ``null_error`` (null, pyramidal); and ``stage_samples`` (stage,).
    """
    import xarray as xr

    from biorrr.analysis.algorithms.backprop import TwoLayerANN

    Vx, Vy, Q, R = (np.asarray(run[name]) for name in ("Vx", "Vy", "Q", "R"))
    audit = audit_plateau(data.X, data.Y, Vx, Vy, Q, R, exact.ridge)
    backprop = np.full_like(audit.error, np.nan)
    if exact.s == 0:
        how: Any = {"online": False, "steps": NETWORK_STEPS, "random_state": seed}
        network = TwoLayerANN(Vx.shape[-1], ridge=exact.ridge, **how).fit(data.X, data.Y)
        backprop = backpropagated_error(data.X, data.Y, network.Vx_, network.Vy_, Vx)
    theory = np.stack([audit.prediction, audit.error, backprop])
    middle = halfway(Vx, Vy)
    stages = [0, len(Vx) - 1 if middle is None else middle, len(Vx) - 1]
    shown = [show(snapshot) for snapshot in stages]
    signals = {name: np.stack([traces[name] for traces in shown]) for name in SIGNALS}
    plateau, a, inhibition, _ = signals.values()
    expected = theory[:, stages]
    nulls = null_agreements(a[-1], inhibition[-1], expected[1, -1], seed)
    course = Agreement.between(np.stack([audit.inhibition, audit.plateau, audit.plateau]), theory)
    recorded = Agreement.between(np.stack([inhibition, plateau, plateau]), expected)
    samples, scores = ("stage", "row", "pyramidal"), ("measure", "comparison")
    return xr.Dataset(
        {
            "excess": ("snapshot", exact.excess(Vx)),
            "whitening_error": ("snapshot", exact.whitening_error(Vx)),
            "stage_samples": ("stage", np.asarray(run["seen"])[stages]),
            "recorded": (("signal", *samples), np.stack([*signals.values()])),
            "expected": (("comparison", *samples), expected),
            "course": ((*scores, "snapshot", "pyramidal"), np.stack(course)),
            "agreement": ((*scores, "stage", "pyramidal"), np.stack(recorded)),
            "null_error": (("null", "pyramidal"), [one.relative_error for one in nulls.values()]),
        },
        {
            "signal": [*SIGNALS],
            "comparison": ["inhibition", "plateau", "network"],
            "measure": ["correlation", "relative_error"],
            "null": [*nulls],
        },
    )
