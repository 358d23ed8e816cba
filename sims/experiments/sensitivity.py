"""Vary the learning rates over two decades and see whether the performance depends on them.

The supplement tries two decades of eta0 and of N, eta = eta0/(1 + t/N), from the largest eta0 that does not diverge
downwards, for Bio-RRMSE and for the network trained by backprop, and finds neither very sensitive. Here every eta0 is
tried with every N, and the excess over the optimum after all samples is drawn for each pair. Data are centred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import Samples
from biorrr.sims.experiment import Findings, Found, Problem, check_rank
from biorrr.sims.experiments.compare import DIRECTIONS, default_direction, plain_name
from biorrr.sims.experiments.helpers.judgements import insensitive
from biorrr.sims.experiments.helpers.race import Heat, Lap, Race, Tracks, run_lap
from biorrr.sims.lab.settings import DATA_FORM, ExperimentSettings, SettingsError, option, seeds_option
from biorrr.sims.lazy import analysis, data_sets, models, np, xr

HALF_DECADES = (1, 0, -1, -2, -3, -4, -5)  # of eta0 over the printed one: beyond what is stable, and two decades below
N = tuple(float(n) for n in (100, 316, 1_000, 3_162, 10_000))  # samples; the printed ones are 200 to 7000
ROWS = 5  # values of eta0 that two decades hold
BIO, ANN = "Bio-RRMSE", "ANN"
QUICK_STEPS = 10_000
PLACE = 'supplement E, "Numerical experiment details", RRMSE'


@dataclass(frozen=True, kw_only=True)
class SensitivitySettings(ExperimentSettings):
    """What can be set of ``biorrr sensitivity``."""

    data: Samples = option("mediamill", "mediamill, for which the paper prints rates", metavar=DATA_FORM)
    direction: str | None = option(
        None, "which view predicts the other; y-to-x by default, as in the paper", choices=("x-to-y", "y-to-x")
    )
    k: tuple[int, ...] = option((1, 2, 4), "ranks, of 1, 2 and 4", short="k", at_least=1)
    seeds: int = seeds_option(3)
    steps: int = option(100_000, "samples presented", at_least=1)
    ridge: float = option(0.1, "added to Cxx and Cyy on the diagonal", at_least=0)
    quick: bool = option(False, f"{QUICK_STEPS} samples and one seed: a first look, without verdicts")


class Sensitivity(Race[SensitivitySettings]):
    """``biorrr sensitivity``: Bio-RRMSE and backprop over two decades of eta0 and of N."""

    settings = SensitivitySettings
    shows = "how much the choice of learning rates matters, over two decades of eta0 and of N"
    takes = "2 min"
    paper = 'supplement E, "Numerical experiment details"'
    figures = {
        "sensitivity": "Excess over the optimum, in percent, after all samples, for every pair of the rate at the "
        "start, eta0, and the number of samples in which rates halve, N: Bio-RRMSE above, the network trained by "
        "back-propagation below, one column for each rank. If the choice did not matter, all squares would have the "
        "same colour; dark ones have learned too slowly. The largest eta0 shown is the largest that never diverged."
    }
    charts = ()

    def measure_of(self, settings: SensitivitySettings) -> str:
        """Median over the pairs of rates of Bio-RRMSE's excess, at the first rank."""
        return f"{plain_name(BIO, settings.k[0])}_median_excess"

    def check(self, settings: SensitivitySettings) -> SensitivitySettings:
        """Settle direction, steps and seeds; refuse what the paper prints no rates for."""
        for k in settings.k:
            try:
                models.Rates.paper(settings.data.name, 0, k)
            except ValueError as error:
                raise SettingsError(str(error)) from None
        if settings.quick:
            settings = replace(settings, steps=min(settings.steps, QUICK_STEPS), seeds=1)
        return replace(settings, direction=settings.direction or default_direction(settings.data))

    def fit(self, settings: SensitivitySettings, data: data_sets.Dataset) -> SensitivitySettings:
        """Refuse ranks that the data do not have."""
        check_rank(max(settings.k), data)
        return settings

    def heats(self, settings: SensitivitySettings) -> list[Heat]:
        """RRMSE, online, in the direction asked for."""
        return [Heat("rrmse", "online", *DIRECTIONS[settings.direction or "x-to-y"])]

    def parts(self, problem: Problem[SensitivitySettings], found: Found) -> dict[str, Any]:
        """A part for each algorithm, rank and eta0."""
        return {
            f"{name.lower()}-{k}-{row}": (name, k, row)
            for name in (BIO, ANN)
            for k in problem.settings.k
            for row in range(len(HALF_DECADES))
        }

    def run_part(self, problem: Problem[SensitivitySettings], part: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Excess at the end for one eta0, every N and every seed, (N, seeds); NaN where the learner diverged."""
        assert isinstance(problem, Tracks)
        settings, (name, k, row) = problem.settings, part
        ((heat, track),) = problem.heats.items()
        algorithm = analysis.OnlineBioRRR if name == BIO else analysis.TwoLayerANN
        excess = np.full((len(N), settings.seeds), np.nan)
        for (column, seed), _ in np.ndenumerate(excess):
            rates = rates_at(problem, name, k, row, N[column])
            lap = Lap(heat, name, algorithm, k, settings.seed + seed, settings.steps, rates)
            ran = run_lap(track, lap, {})
            if "diverged" not in ran:
                excess[column, seed] = track.exact.excess(ran["Vx"][-1])
        return {"excess": excess}

    def conclude(self, problem: Problem[SensitivitySettings], found: Found) -> Findings:
        """Draw the grids, and judge the paper's claim."""
        from biorrr.analysis.figures.races import plot_sensitivity

        assert isinstance(problem, Tracks)
        settings, keys = problem.settings, [(name, k) for name in (BIO, ANN) for k in problem.settings.k]
        ((_, track),) = problem.heats.items()
        grids, etas = {}, {}
        for name, k in keys:
            rows = [found[f"{name.lower()}-{k}-{row}"]["excess"] for row in range(len(HALF_DECADES))]
            first = largest_stable(rows)
            grids[name, k] = np.stack(rows[first : first + ROWS])  # (eta0, N, seeds)
            stable = range(first, first + len(grids[name, k]))
            etas[name, k] = np.array([rates_at(problem, name, k, row, 1.0).x.eta0 for row in stable])
        what = f"{track.data.name}: {track.data.direction}; {settings.steps:,} samples, {settings.seeds} seeds"
        text = "the performance is not very sensitive to the choice of N and eta0"
        claims = [
            insensitive(grid, text=f"{name}, k = {k}: {text}", place=PLACE, run=what)
            for (name, k), grid in grids.items()
        ]
        means = {key: grid.mean(axis=2) for key, grid in grids.items()}
        medians = {key: float(np.nanmedian(mean)) for key, mean in means.items()}
        return Findings(
            numbers={"data": track.data.name, "direction": track.data.direction, "steps": settings.steps}
            | {f"{plain_name(name, k)}_median_excess": median for (name, k), median in medians.items()}
            | {f"{plain_name(*key)}_share": claim.value for key, claim in zip(keys, claims, strict=True)},
            title=what,
            rows={
                f"{name}, k = {k}": f"excess {np.nanmin(mean):.2%} at best, {medians[name, k]:.2%} in the median, "
                f"{np.nanmax(mean):.2%} at worst; eta0 from {etas[name, k].max():.3g} to {etas[name, k].min():.2g}"
                for (name, k), mean in means.items()
            },
            results={"run": as_dataset(grids, etas, settings)},
            figures={"sensitivity": partial(plot_sensitivity, means, etas, np.array(N), what)},
            claims=claims,
        )


def rates_at(problem: Problem, name: str, k: int, row: int, halves: float) -> models.Rates:
    """The printed rates with another eta0, all in proportion, that halve in as many samples."""
    printed = models.Rates.paper(problem.data.name, 0, k, "online", "biorrr" if name == BIO else "ann")
    scaled = printed.scaled(10 ** (HALF_DECADES[row] / 2))
    return models.Rates(*(models.Rate(getattr(scaled, pathway).eta0, halves) for pathway in ("x", "y", "q", "r")))


def largest_stable(rows: list[np.ndarray]) -> int:
    """Which of ``rows``, each (N, seeds) and of falling eta0, is the first in which nothing diverges."""
    return next((row for row, excess in enumerate(rows) if np.isfinite(excess).all()), len(rows) - 1)


def as_dataset(
    grids: Mapping[tuple[str, int], np.ndarray],
    etas: Mapping[tuple[str, int], np.ndarray],
    settings: SensitivitySettings,
) -> xr.Dataset:
    """All grids: dimensions algorithm, k, decade (of eta0, downwards), N, seed."""
    shape = 2, len(settings.k), ROWS, len(N), settings.seeds
    excess, eta0 = np.full(shape, np.nan), np.full(shape[:3], np.nan)
    for (name, k), grid in grids.items():
        place = (BIO, ANN).index(name), settings.k.index(k), slice(len(grid))
        excess[place], eta0[place] = grid, etas[name, k]
    coords = {"algorithm": [BIO, ANN], "k": list(settings.k), "N": list(N), "seed": list(settings.every_seed)}
    return xr.Dataset(
        {
            "excess": (("algorithm", "k", "decade", "N", "seed"), excess),
            "eta0": (("algorithm", "k", "decade"), eta0),
        },
        coords=coords,
    )


EXPERIMENT = Sensitivity()
