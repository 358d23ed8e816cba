"""Vary the learning rates over two decades and see whether the performance depends on them.

The supplement tries two decades of eta0 and of N, eta = eta0/(1 + t/N), from the largest eta0 that
does not diverge downwards, for Bio-RRMSE and for the network trained by backprop, and finds neither
very sensitive. Here every eta0 is tried with every N, and the excess over the optimum after all
samples is drawn for each pair. Data are centred.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from biorrr.sims.comparisons.contenders import (
    ComparisonSettings,
    Contender,
    Problem,
    learn,
    load_views,
    solve,
)
from biorrr.sims.comparisons.judgements import NEAR
from biorrr.sims.data import Dataset
from biorrr.sims.experiments.compare import plain_name
from biorrr.sims.lab import (
    PERCENT,
    Claim,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    experiment,
    option,
    quantities,
)
from biorrr.sims.lazy import analysis, models, np, xr
from biorrr.sims.words import counted

# Of eta0 over the printed one: beyond what is stable, and two decades below.
HALF_DECADES = (1, 0, -1, -2, -3, -4, -5)
N = (100.0, 316.0, 1_000.0, 3_162.0, 10_000.0)  # samples; the printed ones are 200 to 7000
ROWS = 5  # values of eta0 that two decades hold
PROBLEM = Problem("rrmse", "online")
# Whose rates the paper prints, and the class, of each.
ALGORITHMS = {"Bio-RRMSE": ("biorrr", "OnlineBioRRR"), "ANN": ("ann", "TwoLayerANN")}
PLACE = 'supplement E, "Numerical experiment details", RRMSE'


class SensitivitySettings(ComparisonSettings, seeds=3):
    """Settings of the chapter on learning rates, which the paper prints for MediaMill."""

    steps: int = option(100_000, "samples presented", at_least=1)


@experiment(
    shows="how much the choice of learning rates matters, over two decades of eta0 and of N",
    takes="2 min",
    paper='supplement E, "Numerical experiment details"',
    captions={
        "sensitivity": (
            "Excess over the optimum, in percent, after all samples, for every pair of the rate at"
            " the start, eta0, and the number of samples in which rates halve, N: Bio-RRMSE above,"
            " the network trained by back-propagation below, one column for each rank. If the"
            " choice did not matter, all squares would have the same colour; dark ones have learned"
            " too slowly. The largest eta0 shown is the largest that never diverged."
        )
    },
)
def sensitivity(lab: Lab, settings: SensitivitySettings) -> Findings:
    """Run Bio-RRMSE and backprop at every pair of eta0 and N, and measure how much the choice
    matters.
    """
    from biorrr.analysis.figures.races import plot_sensitivity

    data = load_views(lab)
    exact = solve(data, [PROBLEM], settings.ridge)

    over = {"algorithm": ALGORITHMS, "k": settings.k, "half_decades": HALF_DECADES, "N": N}
    found = lab.map(run_once, over | {"seed": settings.every_seed}, data, exact)

    results = from_largest_stable(found.assign(eta0=found["eta0"].isel(N=0, seed=0, drop=True)))
    each = [results.sel(algorithm=name, k=k) for name in ALGORITHMS for k in settings.k]
    seeds = counted(settings.seeds, "seed")
    what = f"{data.name}: {data.direction}; {settings.steps:,} samples, {seeds}"
    known = {"data": data.name, "direction": data.direction, "steps": settings.steps}
    return Findings(
        title=what,
        quantities=[*quantities(known), *(one for grid in each for one in summary(grid))],
        data={"run": results},
        figures=[Figure("sensitivity", partial(plot_sensitivity, results, what))],
        claims=[tolerance(grid, run=what, data=data.name) for grid in each],
    )


def tolerance(grid: xr.Dataset, **about: Any) -> Claim:
    """Return how many decades of eta0 do, for one algorithm at one rank: one value for each N.

    The supplement says "not very sensitive" and names no bound: there is no verdict.
    """
    return Claim.over_seeds(
        decades(grid["excess"].values),
        text="the performance of neither algorithm is very sensitive to the choice of N and eta0",
        place=PLACE,
        case=str(grid["algorithm"].item()),
        k=int(grid["k"]),
        unit="decades of eta0 within 5 % of the optimum",
        unjudged="the sentence names no bound; two decades were tried, and the range is over N",
        **about,
    )


def decades(grid: np.ndarray) -> np.ndarray:
    """Return for each N how many decades the values of eta0 span whose median excess is below 5 %.

    ``grid`` is (eta0, N, seeds), eta0 in steps of half a decade; NaN has diverged.
    """
    near = np.nan_to_num(np.median(grid, axis=2), nan=np.inf) < NEAR
    return np.maximum(near.sum(axis=0) - 1, 0) / 2


def run_once(
    task: Task,
    data: Dataset,
    exact: Mapping[float, analysis.ExactSolution],
    algorithm: str,
    k: int,
    half_decades: int,
    N: float,
    seed: int,
) -> dict[str, float]:
    """Return eta0, ``half_decades`` from the printed one, and the excess at the end of one
    algorithm with it; NaN if the learner diverged.
    """
    whose, kind = ALGORITHMS[algorithm]
    printed = models.Rates.paper(data.name, 0, k, "online", whose).times(10 ** (half_decades / 2))
    # All in proportion.
    rates: dict[str, Any] = {name: models.Rate(getattr(printed, name).eta0, N) for name in "xyqr"}
    learner, steps = getattr(analysis, kind), task.settings.steps
    contender = Contender(PROBLEM, algorithm, learner, k, steps, models.Rates(**rates))
    ran = learn(task, data, exact, contender, seed)
    return {"eta0": printed.x.eta0, "excess": np.nan if ran["diverged"] else ran["excess"][1][-1]}


def from_largest_stable(found: xr.Dataset) -> xr.Dataset:
    """Return ``excess`` (algorithm, k, decade, N, seed) and ``eta0`` (algorithm, k, decade) from
    the largest eta0 with which nothing diverged downwards.

    ``found`` has falling eta0 along ``half_decades``. Where fewer than two decades are stable, the
    last are NaN.
    """
    stable, last = found["excess"].notnull().all(("N", "seed")), len(HALF_DECADES) - 1
    first = stable.argmax("half_decades").where(stable.any("half_decades"), last)
    place = first.astype(int) + xr.DataArray(range(ROWS), dims="decade")
    shown = found.isel(half_decades=np.minimum(place, last)).where(place <= last)
    dims = "algorithm", "k", "decade"
    return shown.drop_vars("half_decades").transpose(*dims, "N", "seed")


def summary(grid: xr.Dataset) -> list[Quantity]:
    """Return the best, median and worst excess of an algorithm at a rank, and the range of eta0
    that is stable.
    """
    mean, eta0 = grid["excess"].mean("seed", skipna=False), grid["eta0"]
    found = {
        "best_excess": (mean.min(), PERCENT, "excess at best"),
        "median_excess": (mean.median(), PERCENT, "in the median"),
        "worst_excess": (mean.max(), PERCENT, "at worst"),
        "largest_eta0": (eta0.max(), "", "largest eta0"),
        "smallest_eta0": (eta0.min(), "", "smallest"),
    }
    algorithm, k = str(grid["algorithm"].item()), int(grid["k"])
    return quantities(found, f"{algorithm}, k = {k}", f"{plain_name(algorithm, k)}_")
