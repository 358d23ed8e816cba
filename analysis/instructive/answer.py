"""The answer to one question: an effect with its confidence interval, a p-value, and the effect in
each neuron.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

LEVEL = 0.05  # of every test


@dataclass(frozen=True)
class Answer:
    """Answer of a recording to one question.

    Attributes
    ----------
    effect, low, high
        Effect size, a correlation or a difference of correlations, and its 95 % confidence
        interval.
    p
        One-sided p-value of all neurons together.
    neurons : (N,)
        Effect in each neuron.
    unasked
        Reason why the answer is withheld; empty where it is given.
    caution
        Property of the data that makes a yes doubtful; empty where none was found.
    """

    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    neurons: NDArray = field(default_factory=lambda: np.empty(0))
    unasked: str = ""
    caution: str = ""

    @property
    def yes(self) -> bool | None:
        """True if the null hypothesis is rejected at the level of 5 %; None if the answer is
        withheld.
        """
        return None if self.unasked else self.p <= LEVEL

    def __str__(self) -> str:
        if self.unasked:
            return f"cannot be asked: {self.unasked}"
        return (
            f"{'yes' if self.yes else 'no'}, effect {self.effect:+.2f} [{self.low:+.2f},"
            f" {self.high:+.2f}], p = {self.p:.3f}{self.caution and f'; caution: {self.caution}'}"
        )


def interval(values: NDArray) -> tuple[float, float, float]:
    """Return the mean of independent estimates (n,) and its 95 % confidence interval, by Student's
    t.
    """
    mean, n = float(np.mean(values)), len(values)
    half = float(student.ppf(0.975, n - 1) * np.std(values, ddof=1) / math.sqrt(n))
    return mean, mean - half, mean + half


def jackknife_interval(whole: float, without: NDArray) -> tuple[float, float, float]:
    """Return an estimate with its 95 % confidence interval, from estimates (n,) that leave out one
    block each.
    """
    n = len(without)
    half = float(student.ppf(0.975, n - 1) * math.sqrt((n - 1) * np.var(without)))
    return whole, whole - half, whole + half
