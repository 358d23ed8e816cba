"""Sentences of the paper about where its algorithms end: the offline one of Alg. 1, and the online
one of Alg. 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from biorrr.sims.data import Data
from biorrr.sims.experiments.compare import first_rows, printed_rates
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
from biorrr.sims.lab.training import check_rank
from biorrr.sims.lazy import analysis, np
from biorrr.sims.races.heats import Heat, Track, tracks_of
from biorrr.sims.races.laps import Lap, at_each_rates, race

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
    data = first_rows(lab.load(settings.data), settings.rows)
    check_rank(max(settings.k), data)
    heats = [Heat(objective, "online", swapped=True) for objective in ("rrmse", "cca")]
    tracks = tracks_of(data, heats, settings.ridge)
    problems = [(heat, k) for heat in heats for k in settings.k]

    over = {"heat": heats, "k": settings.k, "seed": settings.every_seed}
    ends = lab.map(solve_offline, over, tracks)
    laps = [
        Lap(
            heat,
            heat.bio,
            analysis.OnlineBioRRR,
            k,
            settings.online_steps,
            printed_rates(data.name, heat.s, k, "biorrr", "online"),
        )
        for heat, k in problems
    ]
    raced = race(lab, laps, tracks)

    claims: list[Claim] = []
    for heat, k in problems:
        about = {"data": data.name, "s": heat.s, "k": k}
        solved = ends.sel(heat=heat, k=k)
        claims += saturation(solved, run=f"Alg. 1, {settings.offline_steps:,} iterations", **about)
        for at, case, numbers in at_each_rates(raced[heat].sel(k=k)):
            deviations = at["whitening_error"].sel(learner=heat.bio).isel(snapshot=-1).values
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
        title=f"{data.name}: {data.swapped().direction}, {settings.seeds} seeds",
        quantities=[Quantity("data", data.name), Quantity("rows", len(data.X))],
        claims=claims,
    )


def solve_offline(
    task: Task, tracks: Mapping[Heat, Track], heat: Heat, k: int, seed: int
) -> dict[str, Any]:
    """Return where the offline algorithm ends, at rates that follow the data, beside the exact
    solution.
    """
    exact, data, settings = tracks[heat].exact, tracks[heat].data, task.settings
    learner = analysis.OfflineBioRRR(
        k=k,
        s=heat.s,
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
