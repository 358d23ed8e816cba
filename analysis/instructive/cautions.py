"""Cautions: signs that a dendrite is a copy of its soma in a way that linear regression does not subtract.

A dendrite that follows its soma with another time course, or as a nonlinear function of it, leaves a residual that
tells whatever the soma tells. It passes for a signal of the dendrite's own. So does a dendrite that depends on the
condition, where there are few conditions and the error depends on them too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.instructive.chance import PERMUTATIONS, exceeded, flipped_sums, sums_within
from biorrr.analysis.instructive.residual import frame_before
from biorrr.analysis.instructive.signals import Signals

LEVEL = 0.01  # of each test: a caution is no finding, and should be rare where there is no reason
CONDITIONS_PER_NEURON, REPEATS = 3, 0.5  # fewer conditions are few; correlation of means between halves
LAGS = 3  # frames by which a dendrite may lead or follow its soma


def cautions(signals: Signals) -> str:
    """Return what makes a yes doubtful, in words; empty where nothing was found."""
    said = []
    if signals.smooth and asymmetry(signals) <= LEVEL:
        said.append("dendrites follow their somas with other kinetics or a lag, which passes for a signal")
    if nonlinearity(signals) <= LEVEL:
        said.append("dendrites look like a nonlinear function of their somas, which passes for a signal")
    if few_conditions(signals):
        said.append("dendrites and error both depend on the condition; with so few conditions they may agree by chance")
    return "; ".join(said)


def asymmetry(signals: Signals) -> float:
    """Return the p-value of a cross-correlation of dendrite and soma that differs before and after.

    With the same kinetics, what the dendrite shares with its soma is symmetric in time, like an autocorrelation.
    """
    soma, dendrite = signals.soma, signals.dendrite
    lags = [np.roll(dendrite, -lag, axis=0) - np.roll(dendrite, lag, axis=0) for lag in range(1, LAGS + 1)]
    return _together(signals, [soma] * LAGS, lags)


def nonlinearity(signals: Signals) -> float:
    """Return the p-value of residuals that are related to the square or the cube of their soma, a frame before."""
    soma = frame_before(signals.soma) if signals.smooth else signals.soma
    soma = soma / soma.std(axis=0)
    shapes = [soma**2, soma**3]
    basis = np.linalg.qr(np.column_stack([np.ones(len(soma)), soma]))[0]
    return _together(signals, [signals.residual] * 2, [one - basis @ (basis.T @ one) for one in shapes])


def few_conditions(signals: Signals) -> bool:
    """Return True if residual and error both depend on the condition, and conditions are few.

    Means over the trials of each condition are compared between two halves of the recording, every other stretch.
    """
    if signals.condition is None or signals.error is None:
        return False
    shown = (signals.condition >= 0) & (signals.stretch >= 0)
    codes, condition = np.unique(signals.condition[shown], return_inverse=True)
    half = signals.stretch[shown] % 2
    if not 2 <= len(codes) < CONDITIONS_PER_NEURON * signals.neurons:
        return False
    weights = [(condition == np.arange(len(codes))[:, None]) & (half == one) for one in (0, 1)]
    means = [one / np.maximum(one.sum(axis=1, keepdims=True), 1) for one in weights]

    def repeats(values: NDArray) -> float:
        first, second = (one @ values[shown] for one in means)
        return float(np.sum(first * second) / np.sqrt(np.sum(first**2) * np.sum(second**2)))

    return min(repeats(signals.residual), repeats(signals.error)) > REPEATS


def _together(signals: Signals, ones: list[NDArray], others: list[NDArray]) -> float:
    """Return the p-value of relations between the same columns of pairs of signals (T, N), all pairs together."""
    N = signals.neurons
    strength = np.zeros(1 + PERMUTATIONS)
    for one, other in zip(ones, others, strict=True):
        sums = sums_within(one / one.std(axis=0), other / other.std(axis=0), signals.stretch)
        own = flipped_sums(sums[:, np.arange(N), np.arange(N)])
        strength = strength + np.square(own).sum(axis=1)
    return float(exceeded(strength[0], strength[1:]))
