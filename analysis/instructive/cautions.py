"""Signs in the data that a yes would not mean a teaching signal.

A dendrite that follows its soma with another time course, or as a nonlinear function of it, leaves
a residual that carries the soma's relation to the error. No test of chance can help: the relation
is real, and only its reading is wrong. The same holds where dendrites and error depend on the same
few conditions: the conditions are then the independent observations, and there are too few.
Different kinetics and few conditions are recognised so reliably that answers are withheld. The sign
of nonlinearity also occurs by chance in recordings of few stimuli, so it is a caution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.instructive.chance import PERMUTATIONS, exceeded, flipped_sums, sums_within
from biorrr.analysis.instructive.residual import frame_before
from biorrr.analysis.instructive.signals import Signals

LEVEL = 0.01  # of each test, so that answers are rarely withheld without a reason
CONDITIONS_PER_NEURON, REPEATS = (
    3,
    0.5,
)  # fewer conditions are few; correlation of means between halves
PARTS = 20  # of the recording, every other one of which makes a half
LAGS = 3  # frames by which a dendrite may lead or follow its soma


def withheld(signals: Signals) -> dict[str, str]:
    """Return the questions whose answers these signals do not allow, each with the reason."""
    found: dict[str, str] = {}
    if few_conditions(signals):
        reason = (
            "dendrites and error both depend on the condition; with so few conditions they may"
            " agree by chance"
        )
        found |= dict.fromkeys(("specific", "informative"), reason)
    if signals.smooth and asymmetry(signals) <= LEVEL:
        reason = (
            "dendrites follow their somas with other kinetics or a lag, which resembles a signal;"
            " deconvolve first"
        )
        found |= dict.fromkeys(("specific", "informative", "signed"), reason)
    return found


def caution(signals: Signals) -> str:
    """Return what makes a yes doubtful, in words; empty where nothing was found."""
    if nonlinearity(signals) <= LEVEL:
        return "dendrites look like a nonlinear function of their somas, which resembles a signal"
    return ""


def asymmetry(signals: Signals) -> float:
    """Return the p-value of a cross-correlation of dendrite and soma that differs before and after.

    With the same kinetics, what the dendrite shares with its soma is symmetric in time, like an
    autocorrelation.
    """
    soma, dendrite = signals.soma, signals.dendrite
    lags = [
        np.roll(dendrite, -lag, axis=0) - np.roll(dendrite, lag, axis=0)
        for lag in range(1, LAGS + 1)
    ]
    return _together(signals, [soma] * LAGS, lags)


def nonlinearity(signals: Signals) -> float:
    """Return the p-value of residuals that are related to the square or the cube of their soma, a
    frame before.
    """
    soma = frame_before(signals.soma) if signals.smooth else signals.soma
    soma = soma / soma.std(axis=0)
    shapes = [soma**2, soma**3]
    basis = np.linalg.qr(np.column_stack([np.ones(len(soma)), soma]))[0]
    return _together(
        signals, [signals.residual] * 2, [one - basis @ (basis.T @ one) for one in shapes]
    )


def few_conditions(signals: Signals) -> bool:
    """Return True if residual and error both depend on the condition, and conditions are few.

    Means over the frames of each condition are compared between two halves of the recording, every
    other part of it.
    """
    if signals.condition is None or signals.error is None:
        return False
    T, shown = len(signals.condition), signals.condition >= 0
    codes, condition = np.unique(signals.condition[shown], return_inverse=True)
    half = (np.arange(T) * PARTS // T % 2)[shown]
    if not 2 <= len(codes) < CONDITIONS_PER_NEURON * signals.neurons:
        return False
    weights = [(condition == np.arange(len(codes))[:, None]) & (half == one) for one in (0, 1)]
    means = [one / np.maximum(one.sum(axis=1, keepdims=True), 1) for one in weights]

    def repeats(values: NDArray) -> float:
        first, second = (one @ values[shown] for one in means)
        return float(np.sum(first * second) / np.sqrt(np.sum(first**2) * np.sum(second**2)))

    return min(repeats(signals.residual), repeats(signals.error)) > REPEATS


def _together(signals: Signals, ones: list[NDArray], others: list[NDArray]) -> float:
    """Return the p-value of relations between the same columns of pairs of signals (T, N), all
    pairs together.
    """
    N = signals.neurons
    strength = np.zeros(1 + PERMUTATIONS)
    for one, other in zip(ones, others, strict=True):
        sums = sums_within(one / one.std(axis=0), other / other.std(axis=0), signals.stretch)
        own = flipped_sums(sums[:, np.arange(N), np.arange(N)])
        strength = strength + np.square(own).sum(axis=1)
    return float(exceeded(strength[0], strength[1:]))
