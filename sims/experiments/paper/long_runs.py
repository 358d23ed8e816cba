"""Sentences of the paper about where its algorithms end: the offline one of Alg. 1, and the online
one of Alg. 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from biorrr.sims.comparisons.contenders import (
    Contender,
    Posed,
    Problem,
    at_each_rates,
    compare_learners,
    load_rows,
    pose,
)
from biorrr.sims.data import Data
from biorrr.sims.experiments.compare import printed_rates
from biorrr.sims.experiments.plateau import WHITE, WHITE_PLACE, WHITENING
from biorrr.sims.lab import (
    PERCENT,
    Claim,
    ExperimentSettings,
    Findings,
    Lab,
    Quantity,
    Task,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lazy import analysis, np
from biorrr.sims.words import counted

# Bounds.
NEAR_ONE = (
    0.05  # the smallest eigenvalue of QQ' over the k-th of M differs from 1 by less, either way
)
SATURATED = 0.01  # ||Vx'CxxVx - I||^2/k at the end of the offline algorithm
OPTIMAL = 0.001  # excess over the optimum at the end of the offline algorithm
SATURATION = 'supplement C, "Saturation of the Bio-RRR inequality constraint"'


@dataclass(frozen=True, kw_only=True)
class ConvergenceSettings(ExperimentSettings):
    """Problems that are solved."""

    data: Data = option("mediamill", "name of a data set")
    rows: int | None = option(
        None, "use the first so many rows of the data; all by default", at_least=2
    )
    k: tuple[int, ...] = option((1, 2, 4), "ranks", at_least=1)
    seeds: int = seeds_option(20)
    ridge: float = option(0.1, "added to Cxx and Cyy on the diagonal", at_least=0)
    offline_steps: int = option(20_000, "iterations of the offline algorithm", at_least=1)
    online_steps: int = option(
        1_000_000, "samples of the online algorithm: ten times the paper's", at_least=1
    )


@experiment(shows="where the paper's algorithms end", takes="1 min")
def convergence(lab: Lab, settings: ConvergenceSettings) -> Findings:
    """Follow the offline algorithm to its end, and the online one long after its excess is
    small.
    """
    data = load_rows(lab)
    problems = [Problem(objective, "online", swapped=True) for objective in ("rrmse", "cca")]
    posed = pose(data, problems, settings.ridge)

    over = {"problem": problems, "k": settings.k, "seed": settings.every_seed}
    ends = lab.map(solve_offline, over, posed)
    contenders = [
        Contender(
            problem,
            problem.bio,
            analysis.OnlineBioRRR,
            k,
            settings.online_steps,
            printed_rates(data.name, problem.s, k, "biorrr", "online"),
        )
        for problem, k in product(problems, settings.k)
    ]
    compared = compare_learners(lab, contenders, posed)

    claims: list[Claim] = []
    for problem, k in product(problems, settings.k):
        about = {"data": data.name, "s": problem.s, "k": k}
        solved = ends.sel(problem=problem, k=k)
        claims += saturation(solved, run=f"Alg. 1, {settings.offline_steps:,} iterations", **about)
        for at, case, numbers in at_each_rates(compared[problem].sel(k=k)):
            deviations = at["whitening_error"].sel(learner=problem.bio).isel(snapshot=-1).values
            claims.append(
                Claim.over_seeds(
                    deviations,
                    text=WHITE,
                    place=WHITE_PLACE,
                    high=WHITENING,
                    run=f"Alg. 2, {settings.online_steps:,} samples, printed rates unless said",
                    case=case,
                    numbers={"largest": float(np.max(deviations)), **numbers},
                    **about,
                )
            )
    return Findings(
        title=f"{data.name}: {data.swapped().direction}, {counted(settings.seeds, 'seed')}",
        quantities=[Quantity("data", data.name), Quantity("rows", len(data.X))],
        claims=claims,
    )


def solve_offline(
    task: Task, posed: Mapping[Problem, Posed], problem: Problem, k: int, seed: int
) -> dict[str, Any]:
    """Return where the offline algorithm ends, at rates that follow the data, beside the exact
    solution.
    """
    exact, data, settings = posed[problem].exact, posed[problem].data, task.settings
    learner = analysis.OfflineBioRRR(
        k=k,
        s=problem.s,
        ridge=settings.ridge,
        steps=settings.offline_steps,
        random_state=seed,
    ).fit(data.X, data.Y)
    smallest = np.linalg.eigvalsh(learner.Q_ @ learner.Q_.T)[0]
    return {
        "multiplier": smallest / exact.eigenvalues[k - 1],
        "whitening_error": exact.whitening_error(learner.Vx_),
        "excess": exact.excess(learner.Vx_),
    }


def saturation(ends: Mapping[Any, Any], **about: Any) -> Iterator[Claim]:
    """Judge what supplement C says of the optimum, from how each run of the offline algorithm has
    ended.
    """

    def over(name: str, text: str, **bounds: Any) -> Claim:
        return Claim.over_seeds(
            np.atleast_1d(ends[name]), text=text, place=SATURATION, **bounds, **about
        )

    yield over(
        "multiplier",
        "QQ' has no zero eigenvalues at the optimum",
        low=1 - NEAR_ONE,
        high=1 + NEAR_ONE,
        unit="times the k-th eigenvalue of M",
    )
    yield over(
        "whitening_error",
        "the inequality constraint imposed in Bio-RRR is saturated at its optimum",
        high=SATURATED,
    )
    yield over(
        "excess",
        "the minimum is when Ux aligns with the top k eigenvectors of M",
        high=OPTIMAL,
        unit=PERCENT,
    )
