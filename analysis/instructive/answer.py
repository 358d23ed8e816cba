"""The answer to one question: an effect with its interval, a p-value, and the same for each neuron."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

LEVEL = 0.05  # of every test


@dataclass(frozen=True)
class Answer:
    """What a recording says to one question.

    Attributes
    ----------
    effect, low, high
        Effect size, a correlation or a difference of correlations, and its 95 % confidence interval.
    p
        Of the permutation test of all neurons together, one-sided: how often chance gives as large an effect.
    neurons : (N,)
        Effect in each neuron.
    p_neurons : (N,)
        Of each neuron, corrected for their number by the maximum statistic: how often chance gives as large an effect
        in any neuron.
    unasked
        Why the question cannot be asked of this recording; empty where it can.
    caution
        What about the data makes a yes doubtful; empty where nothing was found.
    """

    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    neurons: NDArray = field(default_factory=lambda: np.empty(0))
    p_neurons: NDArray = field(default_factory=lambda: np.empty(0))
    unasked: str = ""
    caution: str = ""

    @property
    def yes(self) -> bool | None:
        """Whether chance is rejected at the level of 5 %; None where the question cannot be asked."""
        return None if self.unasked else self.p <= LEVEL

    def __str__(self) -> str:
        if self.unasked:
            return f"cannot be asked: {self.unasked}"
        return (
            f"{'yes' if self.yes else 'no'}, effect {self.effect:+.2f} [{self.low:+.2f}, {self.high:+.2f}], p = "
            f"{self.p:.3f}; {np.sum(self.p_neurons <= LEVEL)} of {len(self.neurons)} neurons on their own"
            f"{self.caution and f'; caution: {self.caution}'}"
        )


def interval(values: NDArray) -> tuple[float, float, float]:
    """Mean of independent estimates (n,) and its 95 % confidence interval, by Student's t."""
    mean, n = float(np.mean(values)), len(values)
    half = float(student.ppf(0.975, n - 1) * np.std(values, ddof=1) / math.sqrt(n))
    return mean, mean - half, mean + half


def jackknife_interval(whole: float, without: NDArray) -> tuple[float, float, float]:
    """An estimate and its 95 % interval, from the estimates (n,) that leave out one block of time each."""
    n = len(without)
    half = float(student.ppf(0.975, n - 1) * math.sqrt((n - 1) * np.var(without)))
    return whole, whole - half, whole + half
