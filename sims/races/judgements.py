"""Judgements of what the paper says of its learners: curves in, claims out.

All bounds stand here. COMPETITIVE was set after earlier races had been seen. None grows with the
noise. A learner has arrived when its excess stays within 5 % of the optimum. Values are medians
over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from biorrr.sims.lab import PERCENT, Claim
from biorrr.sims.lazy import np
from biorrr.sims.races.curves import Curve

NEAR = 0.05  # excess within which a learner has arrived
# comparable, or matching, in samples or CPU time: neither needs more than twice what the other does
FACTOR = 2.0
POINTS = 0.02  # comparable at the end: excesses differ by at most 2 % of the optimum, either way
# at the end, the excess over the optimum is at most 5 % of the optimum above the best rival's
COMPETITIVE = 0.05
NONE_ARRIVED = "no learner came within 5 % of the optimum"
UNITS = {"t": "steps", "passes": "passes"}  # of what a learner needs; CPU time otherwise


def arrivals(curve: Curve, along: str) -> np.ndarray:
    """Return for each seed the steps (``"t"``), ``"passes"`` or ``"seconds"`` after which it stays
    near the optimum.

    Infinite where it never does. ``"seconds after preparation"`` leaves out what passed until the
    first step was done.
    """
    if along == "seconds after preparation":
        course = curve.seconds - curve.seconds[:, :1]
    else:
        course = np.broadcast_to(getattr(curve, along), curve.excess.shape)
    found = []
    for excess, values in zip(curve.excess, course, strict=True):
        outside = np.flatnonzero(~(excess <= NEAR))  # what is not a number is outside
        first = outside[-1] + 1 if len(outside) else 0
        found.append(values[first] if first < len(values) else math.inf)
    return np.array(found, dtype=float)


def fewest(
    curves: Mapping[str, Curve], learner: str, rivals: Sequence[str], along: str, **claim: Any
) -> Claim:
    """Judge the claim that ``learner`` needs no more of what ``along`` counts than the best of its
    ``rivals``.
    """
    return _needs(curves, learner, rivals, along, high=1.0, **claim)


def matching(
    curves: Mapping[str, Curve], learner: str, rival: str, along: str, **claim: Any
) -> Claim:
    """Judge the claim that ``learner`` and ``rival`` need about as much of what ``along``
    counts.
    """
    return _needs(
        curves, learner, (rival,), along, low=1 / FACTOR, high=FACTOR, better="below", **claim
    )


def comparable(
    curves: Mapping[str, Curve], learner: str, rival: str, points: float = POINTS, **claim: Any
) -> Claim:
    """Judge the claim that two learners end about as near to the optimum, seed by seed."""
    ends = {name: curves[name].excess[:, -1] for name in (learner, rival)}
    return Claim.over_seeds(
        ends[learner] - ends[rival],
        low=-points,
        high=points,
        better="below",
        unit=PERCENT,
        numbers={
            f"median excess of {name} in %": 100 * float(np.median(end))
            for name, end in ends.items()
        },
        **claim,
    )


def competitive(
    curves: Mapping[str, Curve], learner: str, rivals: Sequence[str], **claim: Any
) -> Claim:
    """Judge the claim that ``learner`` ends about as near to the optimum as the best of its
    ``rivals``, or nearer.
    """
    ends = {name: curves[name].excess[:, -1] for name in (learner, *rivals)}
    best = np.min([ends[name] for name in rivals], axis=0)
    return Claim.over_seeds(
        ends[learner] - best,
        high=COMPETITIVE,
        unit=PERCENT,
        numbers={
            f"median excess of {name} in %": 100 * float(np.median(end))
            for name, end in ends.items()
        },
        **claim,
    )


def _needs(
    curves: Mapping[str, Curve], learner: str, rivals: Sequence[str], along: str, **claim: Any
) -> Claim:
    """Make a claim about what a learner needs over what the best of its rivals needs, seed by
    seed.
    """
    needs = {name: arrivals(curves[name], along) for name in (learner, *rivals)}
    medians = {name: float(np.median(each)) for name, each in needs.items()}
    best = min(rivals, key=lambda name: (medians[name], name))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = needs[learner] / np.maximum(needs[best], 1e-12)
    ratios[np.isinf(needs[learner]) & np.isinf(needs[best])] = (
        1.0  # two that never arrive are equal
    )
    unit = UNITS.get(along, "s CPU")
    return Claim.over_seeds(
        ratios,
        unit=f"times {best}'s",
        numbers={
            f"{name} ({unit})": one if math.isfinite(one) else "never"
            for name, one in medians.items()
        },
        unjudged="" if min(medians[learner], medians[best]) < math.inf else NONE_ARRIVED,
        **claim,
    )
