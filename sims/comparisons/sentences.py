"""Sentences of the paper about its comparisons, judged from the courses of the learners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from biorrr.sims.comparisons.contenders import at_each_rates
from biorrr.sims.comparisons.judgements import competitive, fewest, matching, within_variance
from biorrr.sims.comparisons.problems import Problem
from biorrr.sims.lab import Claim
from biorrr.sims.lazy import np, xr

PAPER_ROWS = 20_000  # samples of MediaMill that the paper uses
ONLINE_RRMSE = 'Sec. 7, "Numerical experiments", RRMSE; Fig. 3a'
OFFLINE_RRMSE = 'supplement E, "Numerical experiment details", RRMSE; Fig. 6'
RIVALS = "IQMD", "ANN", "MSG-CCA", "CCALin", "CCALin, 1 step", "SAA"
OFFLINE_CCA = RIVALS[3:]
CCA = 'Sec. 7, "Numerical experiments", CCA; Fig. 3b'


def check_claims(courses: xr.Dataset, problem: Problem, rows: int, **about: Any) -> Iterator[Claim]:
    """Yield what the paper says of this problem at every rank; ``about`` are further fields of the
    claims.

    Where a seed diverges at the printed rates, each claim is judged there among the other seeds,
    and again at rates at which none diverges.
    """
    judge = {"rrmse": online_rrmse if problem.setting == "online" else offline_rrmse}.get(
        problem.objective, cca
    )
    for k in courses["k"].values:
        for at, words, numbers in at_each_rates(courses.sel(k=k)):
            for claim in judge(at, problem, rows, k=int(k), s=problem.s, **about):
                case = ", ".join(filter(None, (claim.case, words)))
                yield replace(claim, case=case, numbers={**claim.numbers, **numbers})


def online_rrmse(at: xr.Dataset, problem: Problem, rows: int, **about: Any) -> Iterator[Claim]:
    """Judge the sentences about Fig. 3a."""
    yield headline(at, problem.bio, **about)
    about["place"] = ONLINE_RRMSE
    text = "IQMD is the most sample efficient"
    yield fewest(at, "IQMD", (problem.bio, "ANN"), "passes", text=text, **about)
    text = "ANN and Bio-RRMSE are within variance of each other"
    yield within_variance(at, problem.bio, "ANN", text=text, **about)
    for learner in (problem.bio, "ANN"):
        text = "ANN and Bio-RRMSE ... match the performance of IQMD in runtime"
        yield matching(at, learner, "IQMD", "seconds", text=text, case=learner, **about)


def offline_rrmse(at: xr.Dataset, problem: Problem, rows: int, **about: Any) -> Iterator[Claim]:
    """Judge the sentences about Fig. 6. Covariances, which both need, are left out of the times."""
    about["place"] = OFFLINE_RRMSE
    text = "IQMD is the more efficient algorithm (offline)"
    yield fewest(at, "IQMD", (problem.bio, "ANN"), "t", text=text, **about)
    text = "ANN and Bio-RRMSE have comparable performance in terms of sample efficiency (offline)"
    yield matching(at, problem.bio, "ANN", "t", text=text, **about)
    text = "Bio-RRMSE is faster than ANN in terms of CPU runtime (offline)"
    yield fewest(at, problem.bio, ("ANN",), "seconds after preparation", text=text, **about)


def cca(at: xr.Dataset, problem: Problem, rows: int, **about: Any) -> Iterator[Claim]:
    """Judge the sentences about Fig. 3b along the paper's axis, iterations; passes through the data
    stand beside it.
    """
    text = "our offline algorithm (Bio-CCA - offline) is the most sample efficient"
    own = f"{problem.bio}, offline" if problem.setting == "online" else problem.bio
    if problem.setting == "online":
        yield headline(at, problem.bio, **about)
    passes = fewest(at, own, OFFLINE_CCA, "passes", text=text)
    iterations = fewest(at, own, OFFLINE_CCA, "t", text=text, place=CCA, **about)
    beside = f"in passes through the data, {passes.unit}"
    yield replace(iterations, numbers={**iterations.numbers, beside: passes.value or 0.0})
    if problem.setting == "online":
        text = "our online algorithm (Bio-CCA - online) is fastest in terms of CPU runtime"
        start = 1e3 * float(np.median(at["seconds"].sel(learner=[*OFFLINE_CCA]).isel(snapshot=0)))
        why = (
            f"{rows:,} rows here, {PAPER_ROWS:,} in the paper: offline algorithms begin with"
            " covariances of all rows"
        )
        why += f", and take {start:.2g} ms here until their first step is done"
        rivals = "MSG-CCA", *OFFLINE_CCA, own
        setting = why if rows < PAPER_ROWS else ""
        yield fewest(
            at, problem.bio, rivals, "seconds", text=text, place=CCA, setting=setting, **about
        )


def headline(at: xr.Dataset, bio: str, **about: Any) -> Claim:
    """Judge the sentence of the abstract."""
    rivals = [name for name in RIVALS if name in at["learner"].values]
    text = "our algorithms perform competitively with existing implementations of RRMSE and CCA"
    return competitive(at, bio, rivals, text=text, place="Abstract", **about)
