"""Vary the learning rates over two decades and see whether the performance depends on them.

The supplement tries two decades of eta0 and of N, eta = eta0/(1 + t/N), from the largest eta0 that
does not diverge downwards, for Bio-RRMSE and for the network trained by backprop, and finds neither
very sensitive. Here every eta0 is tried with every N, and the excess over the optimum after all
samples is drawn for each pair. Data are centred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.comparisons.contenders import Contender, learn
from biorrr.sims.comparisons.judgements import NEAR
from biorrr.sims.comparisons.problems import Posed, Problem, pose
from biorrr.sims.data import Data, MediaMill
from biorrr.sims.experiments.compare import first_rows, plain_name
from biorrr.sims.lab import (
    PERCENT,
    Claim,
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lab.training import check_rank
from biorrr.sims.lazy import analysis, models, np, xr

HALF_DECADES = (
    1,
    0,
    -1,
    -2,
    -3,
    -4,
    -5,
)  # of eta0 over the printed one: beyond what is stable, and two decades below
N = tuple(
    float(n) for n in (100, 316, 1_000, 3_162, 10_000)
)  # samples; the printed ones are 200 to 7000
ROWS = 5  # values of eta0 that two decades hold
BIO, ANN = "Bio-RRMSE", "ANN"
PLACE = 'supplement E, "Numerical experiment details", RRMSE'


@dataclass(frozen=True, kw_only=True)
class SensitivitySettings(ExperimentSettings):
    """Settings of the chapter on learning rates."""

    data: Data = option("mediamill", "mediamill, for which the paper prints rates", metavar="NAME")
    rows: int | None = option(
        None, "use the first so many rows of the data; all by default", at_least=2
    )
    k: tuple[int, ...] = option((1, 2, 4), "ranks, of 1, 2 and 4", short="k", at_least=1)
    seeds: int = seeds_option(3)
    steps: int = option(100_000, "samples presented", at_least=1)
    ridge: float = option(0.1, "added to Cxx and Cyy on the diagonal", at_least=0)


@dataclass(frozen=True)
class Row:
    """A row of a grid: one algorithm at one rank with one eta0, ``half_decades`` from the printed
    one.
    """

    algorithm: str
    k: int
    half_decades: int

    def rates(self, data: str, N: float) -> models.Rates:
        """Return the printed rates with another eta0, all in proportion, that halve in N
        samples.
        """
        printed = models.Rates.paper(
            data, 0, self.k, "online", "biorrr" if self.algorithm == BIO else "ann"
        )
        scaled = printed.scaled(10 ** (self.half_decades / 2))
        each: dict[str, Any] = {
            name: models.Rate(getattr(scaled, name).eta0, N) for name in ("x", "y", "q", "r")
        }
        return models.Rates(**each)


CAPTIONS = {
    "sensitivity": (
        "Excess over the optimum, in percent, after all samples, for every pair of the rate at the"
        " start, eta0, and the number of samples in which rates halve, N: Bio-RRMSE above, the"
        " network trained by back-propagation below, one column for each rank. If the choice did"
        " not matter, all squares would have the same colour; dark ones have learned too slowly."
        " The largest eta0 shown is the largest that never diverged."
    )
}


@experiment(
    shows="how much the choice of learning rates matters, over two decades of eta0 and of N",
    takes="2 min",
    paper='supplement E, "Numerical experiment details"',
    captions=CAPTIONS,
)
def sensitivity(lab: Lab, settings: SensitivitySettings) -> Findings:
    """Run Bio-RRMSE and backprop at every pair of eta0 and N, and measure how much the choice
    matters.
    """
    from biorrr.analysis.figures.races import plot_sensitivity

    data = first_rows(lab.load(settings.data), settings.rows)
    check_rank(max(settings.k), data)
    problem = Problem(
        "rrmse", "online", swapped=isinstance(settings.data, MediaMill)
    )  # the direction of the paper
    posed = pose(data, [problem], settings.ridge)

    view = posed[problem].data
    rows = [
        Row(algorithm, k, step)
        for algorithm in (BIO, ANN)
        for k in settings.k
        for step in HALF_DECADES
    ]
    found = lab.each(run_row, rows, problem, posed)

    results = join([found[row]["excess"] for row in rows], data.name, settings)
    each = [results.sel(algorithm=algorithm, k=k) for algorithm in (BIO, ANN) for k in settings.k]
    what = f"{view.name}: {view.direction}; {settings.steps:,} samples, {settings.seeds} seeds"
    known = {"data": view.name, "direction": view.direction, "steps": settings.steps}
    return Findings(
        title=what,
        quantities=[
            *(Quantity(name, value) for name, value in known.items()),
            *(one for grid in each for one in summary(grid)),
        ],
        data={"run": results},
        figures=[Figure("sensitivity", partial(plot_sensitivity, results, what))],
        claims=[tolerance(grid, run=what, data=view.name) for grid in each],
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


def run_row(
    task: Task, row: Row, problem: Problem, posed: Mapping[Problem, Posed]
) -> dict[str, np.ndarray]:
    """Return the excess at the end for every N and seed, (N, seeds); NaN where the learner
    diverged.
    """
    settings = task.settings
    algorithm = analysis.OnlineBioRRR if row.algorithm == BIO else analysis.TwoLayerANN
    excess = np.full((len(N), settings.seeds), np.nan)
    for (column, seed), _ in np.ndenumerate(excess):
        rates = row.rates(posed[problem].data.name, N[column])
        contender = Contender(problem, row.algorithm, algorithm, row.k, settings.steps, rates)
        ran = learn(task, posed, contender, settings.seed + seed)
        if not ran["diverged"]:
            excess[column, seed] = ran["excess"][1][-1]
    return {"excess": excess}


def summary(grid: xr.Dataset) -> list[Quantity]:
    """Return the best, median and worst excess of an algorithm at a rank, and the range of eta0
    that is stable.
    """
    mean, eta0 = grid["excess"].mean("seed", skipna=False).values, grid["eta0"].values
    found = {
        "best_excess": (np.nanmin(mean), PERCENT, "excess at best"),
        "median_excess": (np.nanmedian(mean), PERCENT, "in the median"),
        "worst_excess": (np.nanmax(mean), PERCENT, "at worst"),
        "largest_eta0": (np.nanmax(eta0), "", "largest eta0"),
        "smallest_eta0": (np.nanmin(eta0), "", "smallest"),
    }
    algorithm, k = str(grid["algorithm"].item()), int(grid["k"])
    row, key = f"{algorithm}, k = {k}", plain_name(algorithm, k)
    return [
        Quantity(f"{key}_{name}", float(value), unit, words, row=row)
        for name, (value, unit, words) in found.items()
    ]


def largest_stable(rows: Sequence[np.ndarray]) -> int:
    """Return the index of the first of ``rows``, each (N, seeds) and of falling eta0, in which
    nothing diverges.
    """
    return next(
        (row for row, excess in enumerate(rows) if np.isfinite(excess).all()), len(rows) - 1
    )


def join(excess: Sequence[np.ndarray], data: str, settings: SensitivitySettings) -> xr.Dataset:
    """Return the excess (algorithm, k, decade, N, seed) from the largest stable eta0 (algorithm, k,
    decade) downwards.

    ``excess``, each (N, seeds), are by algorithm, rank and falling eta0. Where fewer than two
    decades are stable, the last are NaN.
    """
    shape = 2, len(settings.k), ROWS
    shown, eta0 = np.full((*shape, len(N), settings.seeds), np.nan), np.full(shape, np.nan)
    for number, (a, k) in enumerate(np.ndindex(shape[:2])):
        rows = excess[number * len(HALF_DECADES) :][: len(HALF_DECADES)]
        first = largest_stable(rows)
        for place, step in enumerate(HALF_DECADES[first : first + ROWS]):
            shown[a, k, place] = rows[first + place]
            eta0[a, k, place] = Row((BIO, ANN)[a], settings.k[k], step).rates(data, 1.0).x.eta0
    dims = "algorithm", "k", "decade"
    return xr.Dataset(
        {"excess": ((*dims, "N", "seed"), shown), "eta0": (dims, eta0)},
        {
            "algorithm": [BIO, ANN],
            "k": list(settings.k),
            "N": list(N),
            "seed": list(settings.every_seed),
        },
    )
