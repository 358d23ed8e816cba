"""An inferred s, and how far it can be relied on, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEW_SAMPLES, NOTABLE_NOISE, MUCH_NOISE, POOR_FIT = (
    20,
    0.1,
    0.3,
    0.5,
)  # beyond which a result says so


@dataclass(frozen=True)
class InferredS:
    """The s that a circuit follows, and how sure the data are of it; ``print`` gives a sentence.

    Attributes
    ----------
    s
        Estimate; 0 is RRMSE, 1 is CCA. Not confined to [0, 1]: a circuit that obeys another rule
        may land elsewhere. NaN where the data say nothing.
    low, high
        Ends of the confidence interval; infinite where the data cannot bound s.
    confidence
        Share of such intervals that contain the true s.
    noise
        Estimated noise of the recordings, as a fraction of each quantity's root mean square, if it
        is the same in all.
    unexplained
        Share of dVy (of its sum of squares) that the rule with this s does not explain.
    misfit
        True if the noise is known and the rule leaves more unexplained than it can.
    caveats
        Properties of the data that weaken the answer, in sentences.
    """

    s: float
    low: float
    high: float
    confidence: float
    noise: float
    unexplained: float
    misfit: bool = False
    caveats: tuple[str, ...] = ()

    @property
    def can_tell(self) -> bool:
        """True if the interval excludes RRMSE or CCA, or both."""
        return self.low > 0 or self.high < 1

    @property
    def another_rule(self) -> bool:
        """True if no s of the family fits: the interval excludes all, or more is unexplained than
        noise can leave.
        """
        return self.low > 1 or self.high < 0 or self.misfit

    def __str__(self) -> str:
        return " ".join([self._answer(), *self.caveats])

    def _answer(self) -> str:
        if self.misfit:
            return (
                f"No s between 0 (RRMSE) and 1 (CCA) fits: {self.unexplained:.1%} of the weight"
                " changes is left unexplained, more than the given noise can explain. The distal"
                " synapses follow another rule."
            )
        if not self.can_tell:
            span = (
                f"every s from {self.low:.2f} to {self.high:.2f}"
                if np.isfinite(self.low)
                else "every s"
            )
            return (
                f"These data cannot tell: {span} fits them at {self.confidence:.0%} confidence, 0"
                " (RRMSE) and 1 (CCA) included. Record more samples, more distal synapses, or"
                " while the weights change more."
            )
        found = (
            f"s = {self.s:.3f}, {self.confidence:.0%} confidence interval {self.low:.3f} to"
            f" {self.high:.3f}"
        )
        if self.another_rule:
            return (
                f"No s between 0 (RRMSE) and 1 (CCA) fits: {found}. The distal synapses follow"
                " another rule."
            )
        return (
            f"{found} (0 is RRMSE, 1 is CCA); {self.unexplained:.1%} of the weight changes is left"
            " unexplained."
        )


def size_caveats(samples: int, seen: NDArray, change: float, largest: float) -> tuple[str, ...]:
    """Return what the size of the recordings, and of the ``change`` of weights between looks, means
    for the answer.
    """
    said = []
    if change > largest:
        said.append(
            f"Weights change by {change:.0%} between two observations, noise included; beyond"
            f" {largest:.0%} their mean does not represent the weights between them. Observe them"
            " more often."
        )
    if seen.sum() < 2:
        said.append(
            "A single synapse does not determine s: every s fits at some rate. Observe at least"
            " two."
        )
    if samples < FEW_SAMPLES:
        said.append(
            f"There {'is' if samples == 1 else 'are'} only {samples} informative"
            f" sample{'s' * (samples != 1)}; below {FEW_SAMPLES} the interval is often infinite."
        )
    if seen.shape[1] == 1 and not said:
        said.append(
            "With one neuron the noisy quantity cannot be identified; the interval is widened by"
            " half for that, and may still miss s by 0.02 if z or a alone is noisy."
        )
    return tuple(said)


def fit_caveats(noise: float, unexplained: float, known: bool) -> tuple[str, ...]:
    """Return what the fit means for the answer."""
    if unexplained > POOR_FIT:
        return (
            (
                f"No s explains more than {1 - unexplained:.0%} of the weight changes: they are"
                " mostly noise, or follow another rule."
            ),
        )
    if known or noise <= NOTABLE_NOISE:
        return ()
    wide = f"; beyond {MUCH_NOISE:.0%} the interval may be too narrow" if noise > MUCH_NOISE else ""
    return (
        (
            f"That is what noise of {noise:.0%} in all quantities would leave{wide}. If your"
            " recordings have less noise, the synapses follow another rule."
        ),
    )
