"""Sentences of the paper about where its algorithms end: the offline one of Alg. 1, and the online
one of Alg. 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

from biorrr.sims.comparisons.contenders import (
    ComparisonSettings,
    Contender,
    Problem,
    at_each_rates,
    compare_learners,
    load_views,
    solve,
)
from biorrr.sims.data import Dataset
from biorrr.sims.experiments.compare import printed_rates
from biorrr.sims.experiments.plateau import WHITE, WHITE_PLACE, WHITENING
from biorrr.sims.lab import (
    PERCENT,
    Claim,
    Findings,
    Lab,
    Task,
    experiment,
    option,
    quantities,
)
from biorrr.sims.lazy import analysis, np
from biorrr.sims.words import counted

# Bounds.
NEAR_ONE = 0.05  # of how far the smallest eigenvalue of QQ' over the k-th of M is from 1
SATURATED = 0.01  # ||Vx'CxxVx - I||^2/k at the end of the offline algorithm
OPTIMAL = 0.001  # excess over the optimum at the end of the offline algorithm
SATURATION = 'supplement C, "Saturation of the Bio-RRR inequality constraint"'


class ConvergenceSettings(ComparisonSettings, seeds=20):
    """Problems that are solved."""

    offline_steps: int = option(20_000, "iterations of the offline algorithm", at_least=1)
    online_steps: int = option(
        1_000_000, "samples of the online algorithm: ten times the paper's", at_least=1
    )


@experiment(shows="where the paper's algorithms end", takes="1 min")
def convergence(lab: Lab, settings: ConvergenceSettings) -> Findings:
    """Follow the offline algorithm to its end, and the online one long after its excess is
    small.
    """
    data = load_views(lab)
    problems = [Problem(objective, "online") for objective in ("rrmse", "cca")]
    exact = solve(data, problems, settings.ridge)

    over = {"s": (0.0, 1.0), "k": settings.k, "seed": settings.every_seed}
    ends = lab.map(solve_offline, over, data, exact)
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
    compared = compare_learners(lab, contenders, data, exact)

    claims: list[Claim] = []
    for problem, k in product(problems, settings.k):
        about = {"data": data.name, "s": problem.s, "k": k}
        solved = ends.sel(s=problem.s, k=k)
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
        title=f"{data.name}: {data.direction}, {counted(settings.seeds, 'seed')}",
        quantities=quantities({"data": data.name, "rows": len(data.X)}),
        claims=claims,
    )


def solve_offline(
    task: Task,
    data: Dataset,
    exact: Mapping[float, analysis.ExactSolution],
    s: float,
    k: int,
    seed: int,
) -> dict[str, Any]:
    """Return where the offline algorithm ends, at rates that follow the data, beside the exact
    solution.
    """
    ridge, steps = task.settings.ridge, task.settings.offline_steps
    learner = analysis.OfflineBioRRR(k=k, s=s, ridge=ridge, steps=steps, random_state=seed)
    Vx, Q = learner.fit(data.X, data.Y).Vx_, learner.Q_
    return {
        "multiplier": np.linalg.eigvalsh(Q @ Q.T)[0] / exact[s].eigenvalues[k - 1],
        "whitening_error": exact[s].whitening_error(Vx),
        "excess": exact[s].excess(Vx),
    }


def saturation(ends: Mapping[Any, Any], **about: Any) -> Iterator[Claim]:
    """Judge what supplement C says of the optimum, from how each run of the offline algorithm has
    ended.
    """
    over: Any = partial(Claim.over_seeds, place=SATURATION, **about)
    yield over(
        np.atleast_1d(ends["multiplier"]),
        text="QQ' has no zero eigenvalues at the optimum",
        low=1 - NEAR_ONE,
        high=1 + NEAR_ONE,
        unit="times the k-th eigenvalue of M",
    )
    yield over(
        np.atleast_1d(ends["whitening_error"]),
        text="the inequality constraint imposed in Bio-RRR is saturated at its optimum",
        high=SATURATED,
    )
    yield over(
        np.atleast_1d(ends["excess"]),
        text="the minimum is when Ux aligns with the top k eigenvectors of M",
        high=OPTIMAL,
        unit=PERCENT,
    )
