"""Whether learners do what the paper says of them: curves in, claims out.

All bounds stand here, in one place, and were fixed before the races were run. None grows with the noise. A learner has
arrived when its excess stays within 5 %, and within 1 %, of the optimum; a claim about speed must hold at both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from biorrr.sims.lab.claims import Claim
from biorrr.sims.lazy import np
from biorrr.sims.races.curves import Curve

NEAR = (0.05, 0.01)  # excess within which a learner has arrived
FACTOR = 2.0  # comparable, or matching, in samples or CPU time: neither needs more than twice what the other does
POINTS = 0.02  # comparable at the end: excesses differ by at most 2 % of the optimum, either way
SAME = 0.005  # the circuit does what the algorithm does: 0.5 % of the optimum, either way
WHITE = 0.05  # the whitening constraint is satisfied: ||Vx'CxxVx - I||^2/k
WITHIN, SHARE = 0.05, 0.5  # not very sensitive: half of all pairs of eta0 and N end within 5 % of the best pair
NONE_ARRIVED = "no learner came within 5 % of the optimum"


def arrivals(curve: Curve, along: str, near: float) -> np.ndarray:
    """For each seed the samples (``"t"``), ``"passes"`` or ``"seconds"`` after which excess stays within ``near``.

    Infinite where it never does. ``"seconds after preparation"`` leaves out what passed until the first step was done.
    """
    if along == "seconds after preparation":
        course = curve.seconds - curve.seconds[:, :1]
    else:
        course = np.broadcast_to(getattr(curve, along), curve.excess.shape)
    found = []
    for excess, values in zip(curve.excess, course, strict=True):
        outside = np.flatnonzero(~(excess <= near))  # what is not a number is outside
        first = outside[-1] + 1 if len(outside) else 0
        found.append(values[first] if first < len(values) else math.inf)
    return np.array(found, dtype=float)


def ratio(one: np.ndarray, other: np.ndarray) -> tuple[float, float | None]:
    """Median over seeds of ``one`` over ``other``, seed by seed, and its spread; two that never arrive are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(np.isinf(one) & np.isinf(other), 1.0, one / np.maximum(other, 1e-12))
    return float(np.median(each)), float(each.std()) if np.isfinite(each).all() else None


def fewest(curves: Mapping[str, Curve], learner: str, rivals: Sequence[str], along: str, **claim: Any) -> Claim:
    """Judge the claim that ``learner`` needs no more of what ``along`` counts than the best of its ``rivals``.

    The value is its need over that of the best rival, median over seeds, at 5 % or at 1 %, whichever is the larger.
    """
    judged, told = _needs(curves, learner, rivals, along)
    value, spread = max(judged, key=lambda one: one[0], default=(math.inf, None))
    return Claim(value=value, spread=spread, unit="times the best rival's", high=1.0, **told, **claim)


def matching(curves: Mapping[str, Curve], learner: str, rival: str, along: str, **claim: Any) -> Claim:
    """Judge the claim that ``learner`` and ``rival`` need about as much of what ``along`` counts: two-sided.

    The value is the need of the one over that of the other, median over seeds, at 5 % or at 1 %, whichever is farther
    from 1.
    """
    judged, told = _needs(curves, learner, (rival,), along)
    value, spread = max(judged, key=lambda one: abs(np.log(max(one[0], 1e-12))), default=(math.inf, None))
    unit = f"times {rival}'s"
    return Claim(value=value, spread=spread, unit=unit, low=1 / FACTOR, high=FACTOR, **told, **claim)


def comparable(curve: Curve, rival: Curve, names: tuple[str, str], points: float = POINTS, **claim: Any) -> Claim:
    """Judge the claim that two learners end about as near to the optimum: two-sided, seed by seed."""
    ends = curve.excess[:, -1], rival.excess[:, -1]
    difference = ends[0] - ends[1]
    numbers = {f"excess of {name}": float(end.mean()) for name, end in zip(names, ends, strict=True)}
    claim |= {"low": -points, "high": points, "unit": "%", "numbers": numbers}
    return Claim(value=float(difference.mean()), spread=float(difference.std()), **claim)


def white(curve: Curve, **claim: Any) -> Claim:
    """Judge the claim that the whitening constraint is satisfied at the end."""
    ends = curve.whitening_error[:, -1]
    claim |= {"high": WHITE, "numbers": {"largest": float(ends.max())}}
    return Claim(value=float(ends.mean()), spread=float(ends.std()), **claim)


def insensitive(grid: np.ndarray, **claim: Any) -> Claim:
    """Judge the claim that performance does not depend much on eta0 and N.

    The value is the share of pairs whose excess, ``grid`` (eta0, N, seeds), is near that of the best pair. What is not
    a number has diverged, and is not near.
    """
    excess = grid.mean(axis=2)
    best = np.nanmin(excess) if np.isfinite(excess).any() else math.inf
    each = np.array([(one <= best + WITHIN).mean() for one in np.moveaxis(grid, 2, 0)])
    numbers = {"pairs": excess.size, "best excess": float(best), "worst excess": float(excess.max())}
    numbers["pairs that diverged"] = int(np.isnan(excess).sum())
    claim |= {"low": SHARE, "unit": "%", "numbers": numbers, "spread": float(each.std())}
    return Claim(value=float((excess <= best + WITHIN).mean()), **claim)


def _needs(
    curves: Mapping[str, Curve], learner: str, rivals: Sequence[str], along: str
) -> tuple[list[tuple[float, float | None]], dict[str, Any]]:
    """Compare what a learner needs to come within 5 %, and within 1 %, with what the best of its rivals needs then.

    Returns the ratio and its spread wherever one of the two arrives, and what the claim says of it: the ``numbers``,
    and why it is ``unjudged``.
    """
    needs = {name: {near: arrivals(curves[name], along, near) for near in NEAR} for name in (learner, *rivals)}
    judged = []
    for near in NEAR:
        best = min(rivals, key=lambda name: (np.median(needs[name][near]), name))
        if np.isfinite(np.median([needs[learner][near], needs[best][near]], axis=1)).any():
            judged.append(ratio(needs[learner][near], needs[best][near]))
    return judged, {"numbers": _numbers(needs, along), "unjudged": "" if judged else NONE_ARRIVED}


def _numbers(needs: Mapping[str, Mapping[float, np.ndarray]], along: str) -> dict[str, float | str]:
    """Return medians over seeds, readable."""
    unit = {"t": "steps", "passes": "passes"}.get(along, "s CPU")
    medians = {
        f"{name} ({unit} to {near:.0%})": float(np.median(each))
        for name, at in needs.items()
        for near, each in at.items()
    }
    return {name: value if math.isfinite(value) else "never" for name, value in medians.items()}
