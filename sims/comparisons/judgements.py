"""Judgements of what the paper says of its learners: courses at one rank, (learner, seed,
snapshot), in, claims out.

All bounds stand here. COMPETITIVE was set after earlier runs had been seen. None grows with the
noise. A learner has arrived when its excess stays within 5 % of the optimum. Values are medians
over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from biorrr.sims.lab import PERCENT, Claim
from biorrr.sims.lab.claims import median_interval
from biorrr.sims.lazy import np, xr

NEAR = 0.05  # excess within which a learner has arrived
# comparable, or matching, in samples or CPU time: neither needs more than twice what the other does
FACTOR = 2.0
POINTS = 0.02  # comparable at the end: excesses differ by at most 2 % of the optimum, either way
# at the end, the excess over the optimum is at most 5 % of the optimum above the best rival's
COMPETITIVE = 0.05
NONE_ARRIVED = "no learner came within 5 % of the optimum"
UNITS = {"t": "steps", "passes": "passes"}  # of what a learner needs; CPU time otherwise


def arrivals(course: xr.Dataset, along: str) -> np.ndarray:
    """Return for each seed the steps (``"t"``), ``"passes"`` or ``"seconds"`` after which it stays
    near the optimum.

    Infinite where it never does. ``"seconds after preparation"`` leaves out what passed until the
    first step was done.
    """
    excess = course["excess"].transpose("seed", "snapshot")
    if along == "seconds after preparation":
        needed = course["seconds"] - course["seconds"].isel(snapshot=0)
    else:
        needed = course[along]
    found = []
    for one, values in zip(excess.values, needed.broadcast_like(excess).values, strict=True):
        outside = np.flatnonzero(~(one <= NEAR))  # what is not a number is outside
        first = outside[-1] + 1 if len(outside) else 0
        found.append(values[first] if first < len(values) else math.inf)
    return np.array(found, dtype=float)


def fewest(
    courses: xr.Dataset, learner: str, rivals: Sequence[str], along: str, **claim: Any
) -> Claim:
    """Judge the claim that ``learner`` needs no more of what ``along`` counts than the best of its
    ``rivals``.
    """
    return _needs(courses, learner, rivals, along, high=1.0, **claim)


def matching(courses: xr.Dataset, learner: str, rival: str, along: str, **claim: Any) -> Claim:
    """Judge the claim that ``learner`` and ``rival`` need about as much of what ``along``
    counts.
    """
    return _needs(
        courses, learner, (rival,), along, low=1 / FACTOR, high=FACTOR, better="below", **claim
    )


def comparable(
    courses: xr.Dataset, learner: str, rival: str, points: float = POINTS, **claim: Any
) -> Claim:
    """Judge the claim that two learners end about as near to the optimum, seed by seed."""
    ends = ends_of(courses, (learner, rival))
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


def within_variance(courses: xr.Dataset, learner: str, rival: str, **claim: Any) -> Claim:
    """Judge the claim that two learners end within the scatter of each other: that the 95 %
    interval of the difference, seed by seed, includes 0.

    The value is how far the interval lies from 0, negative where ``learner`` is nearer to the
    optimum.
    """
    ends = ends_of(courses, (learner, rival))
    difference = ends[learner] - ends[rival]
    least, most = median_interval(difference)
    passes = {
        f"{name} (passes)": float(np.median(arrivals(courses.sel(learner=name), "passes")))
        for name in ends
    }
    return Claim(
        value=max(least, 0.0) + min(most, 0.0),
        low=0.0,
        high=0.0,
        better="below",
        unit=PERCENT,
        numbers={
            "median difference in %": 100 * float(np.median(difference)),
            "from": 100 * least,
            "to": 100 * most,
        }
        | {
            f"median excess of {name} in %": 100 * float(np.median(end))
            for name, end in ends.items()
        }
        | {name: one if math.isfinite(one) else "never" for name, one in passes.items()},
        **claim,
    )


def ends_of(courses: xr.Dataset, learners: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the excess at the end, (seed,), by learner."""
    ends = courses["excess"].isel(snapshot=-1)
    return {name: ends.sel(learner=name).values for name in learners}


def competitive(courses: xr.Dataset, learner: str, rivals: Sequence[str], **claim: Any) -> Claim:
    """Judge the claim that ``learner`` ends about as near to the optimum as the best of its
    ``rivals``, or nearer.
    """
    ends = ends_of(courses, (learner, *rivals))
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
    courses: xr.Dataset, learner: str, rivals: Sequence[str], along: str, **claim: Any
) -> Claim:
    """Make a claim about what a learner needs over what the best of its rivals needs, seed by
    seed.
    """
    needs = {name: arrivals(courses.sel(learner=name), along) for name in (learner, *rivals)}
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
