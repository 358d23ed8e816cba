"""Judgements of what the paper says of its learners, from their courses at one rank, (learner,
seed, snapshot), and the sentences that are judged.

All bounds stand here. COMPETITIVE was set after earlier runs had been seen. None grows with the
noise. A learner has arrived when its excess stays within 5 % of the optimum. Values are medians
over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from biorrr.sims.comparisons.contenders import Problem, at_each_rates
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

PAPER_ROWS = 20_000  # samples of MediaMill that the paper uses
RIVALS = "IQMD", "ANN", "MSG-CCA", "CCALin", "CCALin, 1 step", "SAA"
OFFLINE_CCA = RIVALS[3:]


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
    near = (excess <= NEAR).values  # what is not a number is not
    stays = np.logical_and.accumulate(near[:, ::-1], axis=1)[:, ::-1]
    return np.where(stays, needed.broadcast_like(excess), np.inf).min(axis=1)


def needs(
    courses: xr.Dataset, learner: str, rivals: Sequence[str], along: str, **claim: Any
) -> Claim:
    """Judge how much of what ``along`` counts a learner needs over what the best of its rivals
    needs, seed by seed.
    """
    needed = {name: arrivals(courses.sel(learner=name), along) for name in (learner, *rivals)}
    medians = {name: float(np.median(each)) for name, each in needed.items()}
    best = min(rivals, key=lambda name: (medians[name], name))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = needed[learner] / np.maximum(needed[best], 1e-12)
    ratios[np.isinf(needed[learner]) & np.isinf(needed[best])] = 1.0  # neither ever arrives
    unit = UNITS.get(along, "s CPU")
    return Claim.over_seeds(
        ratios,
        unit=f"times {best}'s",
        numbers={f"{name} ({unit})": or_never(one) for name, one in medians.items()},
        unjudged="" if min(medians[learner], medians[best]) < math.inf else NONE_ARRIVED,
        **claim,
    )


fewest = partial(needs, high=1.0)
matching = partial(needs, low=1 / FACTOR, high=FACTOR, better="below")


def or_never(needed: float) -> float | str:
    """Return what a learner needs, or that it never arrives."""
    return needed if math.isfinite(needed) else "never"


def nearness(courses: xr.Dataset, learner: str, rivals: Sequence[str], **claim: Any) -> Claim:
    """Judge how much farther from the optimum a learner ends than the best of its rivals, seed by
    seed.
    """
    ends, numbers = ends_of(courses, (learner, *rivals))
    over = ends[learner] - np.min([ends[name] for name in rivals], axis=0)
    return Claim.over_seeds(over, numbers=numbers, unit=PERCENT, **claim)


comparable = partial(nearness, low=-POINTS, high=POINTS, better="below")
competitive = partial(nearness, high=COMPETITIVE)


def within_variance(courses: xr.Dataset, learner: str, rival: str, **claim: Any) -> Claim:
    """Judge the claim that two learners end within the scatter of each other: that the 95 %
    interval of the difference, seed by seed, includes 0.

    The value is how far the interval lies from 0, negative where ``learner`` is nearer to the
    optimum.
    """
    ends, numbers = ends_of(courses, (learner, rival))
    difference = ends[learner] - ends[rival]
    least, most = median_interval(difference)
    middle = 100 * float(np.median(difference))
    span = {"median difference in %": middle, "from": 100 * least, "to": 100 * most}
    passes = {
        f"{name} (passes)": or_never(np.median(arrivals(courses.sel(learner=name), "passes")))
        for name in ends
    }
    return Claim(
        value=max(least, 0.0) + min(most, 0.0),
        low=0.0,
        high=0.0,
        better="below",
        unit=PERCENT,
        numbers=span | numbers | passes,
        **claim,
    )


def ends_of(
    courses: xr.Dataset, learners: Sequence[str]
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Return the excess at the end by learner, (seed,), and medians of it by their words."""
    ends = {name: courses["excess"].isel(snapshot=-1).sel(learner=name).values for name in learners}
    return ends, {
        f"median excess of {name} in %": 100 * float(np.median(end)) for name, end in ends.items()
    }


def check_claims(courses: xr.Dataset, problem: Problem, rows: int, **about: Any) -> Iterator[Claim]:
    """Yield what the paper says of this problem at every rank; ``about`` are further fields of the
    claims.

    Where a seed diverges at the printed rates, each claim is judged there among the other seeds,
    and again at rates at which none diverges.
    """
    judge = rrmse if problem.objective == "rrmse" else cca
    headline = "our algorithms perform competitively with existing implementations of RRMSE and CCA"
    rivals = [name for name in RIVALS if name in courses["learner"].values]
    for k in courses["k"].values.tolist():
        about |= {"k": k, "s": problem.s}
        for at, words, numbers in at_each_rates(courses.sel(k=k)):
            claims = [*judge(at, problem, rows, **about)]
            if problem.setting == "online":
                abstract = {"text": headline, "place": "Abstract"} | about
                claims = [competitive(at, problem.bio, rivals, **abstract), *claims]
            for claim in claims:
                case = ", ".join(filter(None, (claim.case, words)))
                yield replace(claim, case=case, numbers={**claim.numbers, **numbers})


def rrmse(at: xr.Dataset, problem: Problem, rows: int, **about: Any) -> list[Claim]:
    """Judge the sentences about Fig. 3a, online, or Fig. 6, offline. From the times offline,
    covariances, which both need, are left out.
    """
    bio = problem.bio
    if problem.setting == "online":
        about["place"] = 'Sec. 7, "Numerical experiments", RRMSE; Fig. 3a'
        efficient = "IQMD is the most sample efficient"
        variance = "ANN and Bio-RRMSE are within variance of each other"
        match = "ANN and Bio-RRMSE ... match the performance of IQMD in runtime"
        return [
            fewest(at, "IQMD", (bio, "ANN"), "passes", text=efficient, **about),
            within_variance(at, bio, "ANN", text=variance, **about),
            matching(at, bio, ("IQMD",), "seconds", text=match, case=bio, **about),
            matching(at, "ANN", ("IQMD",), "seconds", text=match, case="ANN", **about),
        ]
    about["place"] = 'supplement E, "Numerical experiment details", RRMSE; Fig. 6'
    efficient = "IQMD is the more efficient algorithm (offline)"
    match = "ANN and Bio-RRMSE have comparable performance in terms of sample efficiency (offline)"
    faster = "Bio-RRMSE is faster than ANN in terms of CPU runtime (offline)"
    return [
        fewest(at, "IQMD", (bio, "ANN"), "t", text=efficient, **about),
        matching(at, bio, ("ANN",), "t", text=match, **about),
        fewest(at, bio, ("ANN",), "seconds after preparation", text=faster, **about),
    ]


def cca(at: xr.Dataset, problem: Problem, rows: int, **about: Any) -> Iterator[Claim]:
    """Judge the sentences about Fig. 3b along the paper's axis, iterations; passes through the data
    stand beside it.
    """
    about["place"] = 'Sec. 7, "Numerical experiments", CCA; Fig. 3b'
    online = problem.setting == "online"
    own = f"{problem.bio}, offline" if online else problem.bio
    text = "our offline algorithm (Bio-CCA - offline) is the most sample efficient"
    passes = fewest(at, own, OFFLINE_CCA, "passes", text=text)
    iterations = fewest(at, own, OFFLINE_CCA, "t", text=text, **about)
    beside = f"in passes through the data, {passes.unit}"
    yield replace(iterations, numbers={**iterations.numbers, beside: passes.value or 0.0})
    if online:
        start = 1e3 * float(np.median(at["seconds"].sel(learner=[*OFFLINE_CCA]).isel(snapshot=0)))
        why = (
            f"{rows:,} rows here, {PAPER_ROWS:,} in the paper: offline algorithms begin with"
            f" covariances of all rows, and take {start:.2g} ms here until their first step is done"
        )
        yield fewest(
            at,
            problem.bio,
            ("MSG-CCA", *OFFLINE_CCA, own),
            "seconds",
            text="our online algorithm (Bio-CCA - online) is fastest in terms of CPU runtime",
            setting=why if rows < PAPER_ROWS else "",
            **about,
        )
