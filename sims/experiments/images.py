"""Compare Bio-RRMSE with backprop on picture classification.

Backprop trains a two-layer network from the same weights, with the same pictures in the same order: Vx ~ N(0, 1)/100
and Vy ~ N(0, 1)/10, from which the authors start both in their public demonstration. Pixels / 255, centred; labels as
one-hot vectors; the rates of the supplement's table; 100,000 samples, 10 epochs of the 10,000 test pictures. The
paper's claim is that the two are comparable, not that either is near the optimum: it fails if either is better by too
much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data.kinds import Pictures
from biorrr.sims.experiment import Datasets, Findings, Found, Problem
from biorrr.sims.experiments.helpers.judgements import comparable
from biorrr.sims.experiments.helpers.race import CIRCUIT, Curve, Heat, Lap, Race, Tracks, as_dataset
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.settings import ExperimentSettings, option, seeds_option
from biorrr.sims.lazy import analysis, data_sets, models

RANKS = {"mnist": 1, "fashion-mnist": 2, "cifar10": 4, "cifar100": 8}  # the paper's, one for each data set
BIO, BACKPROP = "Bio-RRMSE", "backprop"
QUICK_STEPS = 3_000
# The paper says "comparable" and prints no number: excesses differ by at most 5 % of the optimum, either way.
COMPARABLE = 0.05
PLACE = 'supplement F, "More numerical experiments"; Fig. 7, Table 1'


@dataclass(frozen=True, kw_only=True)
class ImagesSettings(ExperimentSettings):
    """What can be set of ``biorrr images``."""

    data: tuple[Pictures, ...] = option(
        tuple(RANKS), "which of mnist, fashion-mnist, cifar10, cifar100", metavar="NAME"
    )
    seeds: int = seeds_option(5)
    steps: int = option(100_000, "samples presented", at_least=1)
    ridge: float = option(0.1, "added to Cxx", at_least=0)
    simulation: bool = option(True, "also simulate the circuit itself")
    quick: bool = option(False, f"{QUICK_STEPS} samples and two seeds: a first look, without verdicts")
    s = 0.0  # RRMSE


class Images(Race[ImagesSettings]):
    """``biorrr images``: Bio-RRMSE against backprop on pictures (the supplement's "More numerical experiments")."""

    settings = ImagesSettings
    shows = "Bio-RRMSE beside back-propagation on MNIST, Fashion-MNIST, CIFAR-10 and CIFAR-100"
    takes = "2 min"
    paper = "supplement F, Fig. 7 and Table 1"
    figures = {
        "images": "Excess over the optimum, in percent, against the number of samples seen, one panel for each set of "
        "pictures: the simulated circuit, the paper's algorithm and a two-layer network trained by back-propagation, "
        "each as the mean over seeds in a band of one standard deviation. All should fall, and the circuit about as "
        "fast as back-propagation."
    }

    def measure_of(self, settings: ImagesSettings) -> str:
        """Excess of the circuit, or of the algorithm where there is no circuit, on the first data set."""
        return f"{settings.data[0].name}_{'circuit' if settings.simulation else 'bio'}_excess"

    def check(self, settings: ImagesSettings) -> ImagesSettings:
        """Settle how many steps and seeds."""
        if settings.quick:
            settings = replace(settings, steps=min(settings.steps, QUICK_STEPS), seeds=min(settings.seeds, 2))
        return settings

    def fit(self, settings: ImagesSettings, data: data_sets.Dataset) -> ImagesSettings:
        """Ranks and ridge are the paper's: the data leave nothing open."""
        return settings

    def laps(self, problem: Tracks[ImagesSettings]) -> list[Lap]:
        """All laps on one data set."""
        settings, name = problem.settings, problem.data.name
        bio, ann = (models.Rates.paper(name, 0, RANKS[name], "online", whose) for whose in ("biorrr", "ann"))
        runners: dict[str, tuple[Any, dict[str, Any], models.Rates]] = {
            CIRCUIT: (None, {}, bio),
            BIO: (analysis.OnlineBioRRR, {}, bio),
            BACKPROP: (analysis.TwoLayerANN, {"online": True}, ann),
        }
        if not settings.simulation:
            del runners[CIRCUIT]
        return [
            Lap(Heat("rrmse", "online"), learner, algorithm, RANKS[name], seed, settings.steps, rates, options)
            for learner, (algorithm, options, rates) in runners.items()
            for seed in settings.every_seed
        ]

    def conclude(self, problem: Problem[ImagesSettings], found: Found) -> tuple[str, float, dict[str, Curve]]:
        """Name of the data, optimum, and curves by learner."""
        assert isinstance(problem, Tracks)
        name = problem.data.name
        (raced,) = self.curves(problem, found).values()
        curves = {learner: curve for (learner, _), curve in raced.items()}
        return name, problem.exact.optimum(RANKS[name]), curves

    def combine(self, settings: ImagesSettings, concluded: Sequence[tuple[str, float, dict[str, Curve]]]) -> Findings:
        """Draw all data sets, and check the paper's claim for each."""
        from biorrr.analysis.figures.races import plot_pictures_race

        curves = {name: raced for name, _, raced in concluded}
        optima = {name: optimum for name, optimum, _ in concluded}
        return Findings(
            numbers=summary(curves, optima),
            title=f"Bio-RRMSE and backprop, {settings.steps:,} samples, {settings.seeds} seeds; pixels / 255, centred",
            rows={
                f"{name}, k = {RANKS[name]}: {learner}": f"excess {curve.excess[:, -1].mean():.2%}"
                f" ± {curve.excess[:, -1].std():.2%}" + (f", rates x {curve.fraction:g}" if curve.fraction < 1 else "")
                for name, raced in curves.items()
                for learner, curve in raced.items()
            },
            results={
                "run" if len(curves) == 1 else name: as_dataset(
                    {(learner, RANKS[name]): curve for learner, curve in raced.items()}, settings.seed
                )
                for name, raced in curves.items()
            },
            figures={
                "images": partial(
                    plot_pictures_race,
                    {name: {c: (v.t, v.excess) for c, v in raced.items()} for name, raced in curves.items()},
                    RANKS,
                )
            },
            claims=[parity(name, raced, settings) for name, raced in curves.items()],
        )

    def page_results(self, results: Datasets, exact: analysis.Yardstick | None) -> Datasets:
        """One data set to be chosen from several, each with the one rank that belongs to it."""
        if len(results) == 1:
            return results
        return {
            name: one.isel(k=0, drop=True).assign_coords(data=f"{name}, k = {one['k'].values[0]}")
            for name, one in results.items()
        }


def parity(name: str, raced: dict[str, Curve], settings: ImagesSettings) -> Claim:
    """The supplement's claim for one data set."""
    return comparable(
        raced[BIO],
        raced[BACKPROP],
        (BIO, BACKPROP),
        COMPARABLE,
        text=f"{name}, k = {RANKS[name]}: the performance of {BIO} is comparable to the performance of {BACKPROP}",
        place=PLACE,
        run=f"{name}, test pictures, {settings.steps:,} samples, {settings.seeds} seeds",
    )


def summary(curves: dict[str, dict[str, Curve]], optima: dict[str, float]) -> dict[str, Any]:
    """Final numbers of every learner on every data set."""
    short = {CIRCUIT: "circuit", BIO: "bio", BACKPROP: "backprop"}
    numbers: dict[str, Any] = {}
    for name, raced in curves.items():
        numbers[f"{name}_optimum"] = optima[name]
        for learner, curve in raced.items():
            numbers |= {
                f"{name}_{short[learner]}_excess": curve.excess[:, -1].mean(),
                f"{name}_{short[learner]}_excess_sd": curve.excess[:, -1].std(),
                f"{name}_{short[learner]}_rates_fraction": curve.fraction,
            }
    return numbers


EXPERIMENT = Images()
