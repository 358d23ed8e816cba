"""Compare rival theories of learning in dendrites with one exact solution, on the same samples.

Backprop, feedback alignment, Sacramento's microcircuit, burst-dependent plasticity, Urbanczik and Senn's dendritic
prediction, Bio-CCA and Bio-RRR learn in the linear regime, in which laws say where each must end. The rate of each is
the best of the same few candidates. Then each is probed (what does its apical compartment carry?), lesioned, and
imaged: which experiment tells the theories apart? Data are centred, of mean square 1; the ridge is noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Samples
from biorrr.sims.experiments.theories.contests import SEARCH_SEEDS, Contest, every_theory, measure, scaled, try_rate
from biorrr.sims.experiments.theories.imaged_theories import ImagedTheory, image
from biorrr.sims.experiments.theories.interface import (
    INHIBITION,
    RESTING,
    Interface,
    every_interfaced,
    interface_rows,
    join_interfaces,
    record,
)
from biorrr.sims.experiments.theories.verdicts import answer_rows, join, join_answers, judge, key_of, quantities
from biorrr.sims.lab import Chart, ExperimentSettings, Figure, Findings, Lab, Quantity, SettingsError, View, experiment
from biorrr.sims.lab.checks import check_rank
from biorrr.sims.lab.circuits import compiled_if_possible
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, option, seeds_option
from biorrr.sims.lazy import data_sets, xr

NAMES = tuple(theory.name for theory in every_theory(1))


@dataclass(frozen=True, kw_only=True)
class TheoriesSettings(ExperimentSettings):
    """Settings of ``biorrr theories``."""

    data: tuple[Samples, ...] = option(
        ("digits", "v1v2", "synthetic"), f"{DATA_HELP}; may be repeated", metavar=DATA_FORM
    )
    theories: tuple[str, ...] = option(("all",), "which to try; may be repeated", choices=("all", *NAMES))
    k: int = option(2, "pyramidal neurons, the rank of the regression", short="k", at_least=1)
    samples: int = option(200_000, "samples each theory sees", at_least=1)
    rates: tuple[float, ...] = option(
        (0.03, 0.1, 0.3, 1.0), "candidates for the first rate, times the number of inputs; may be repeated", at_least=0
    )
    imaged: int = option(
        10, "experiments in which each theory is imaged, on the first data set; 0 for none", at_least=0
    )
    imaged_k: int = option(8, "pyramidal neurons of an imaged circuit", at_least=4)
    imaged_rate: float = option(0.1, "constant rate of an imaged circuit, times the number of inputs", at_least=0)
    trials: int = option(2000, "trials for which a circuit is imaged", at_least=200)
    seeds: int = seeds_option(3)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the theories to try."""
        return NAMES if "all" in self.theories else tuple(name for name in NAMES if name in self.theories)


CAPTIONS = {
    "theories": "Rival theories on the same samples. From left to right: excess over the optimum (dots are seeds, "
    "ticks what law 1 predicts); participation ratio and whitening error of the outputs; R² of the apical signal on y, "
    "on x and on y - y~ before, during and after learning; relative change of the apical signal when inhibition is "
    "silenced, instruction is cut or the readout is inverted; share of imaged circuits that say yes to the four "
    "questions of `biorrr instructive`, at the lowest and the highest imaging noise. Numbers are means over data sets "
    "and seeds; a dash is where a theory has nothing to silence or diverges.",
    "interface": "Apical signals at a brain-computer interface, less their mean, while the error falls and while it "
    "rises, in neurons that help the outcome and in neurons that hurt it. Filled: as they are; open: with extra "
    "dendritic inhibition. Units: the change between phases of signed plateaus. Right: numbers of Francioni et al. "
    "(2026) as others digitised them, with their errors, in units of their own.",
}
CHART = Chart(
    "Rival theories",
    (
        View("excess over the optimum", {"excess": "", "law": "law 1"}, {"theory": "theory"}, along=("theory",),
             repeats=("seed",), choose=("data",), theory=("law",), log="y", percent=True),
    ),
)  # fmt: skip


@experiment(
    shows="[rival theories](docs/theories.md) of learning in dendrites, beside one exact solution",
    takes="8 min",
    paper="beyond it",
    measure=lambda settings: f"{key_of(settings.data[0].name)}_{key_of(settings.chosen[0])}_excess",
    captions=CAPTIONS,
    charts=(CHART,),
    small={
        "data": (SMALL_DATA,), "theories": ("Bio-RRR", "bursts"), "samples": 200,
        "rates": (0.1,), "seeds": 1, "imaged": 1, "imaged_k": 4, "trials": 200, "engine": "numpy",
    },
)  # fmt: skip
def theories(lab: Lab, settings: TheoriesSettings) -> Findings:
    """Let every theory learn every data set at its best rate; measure, lesion and image it."""
    from biorrr.analysis.figures.theories import plot_interface, plot_theories

    if settings.circuit is not None:
        raise SettingsError(f"circuit: theories bring their own circuits (got {settings.circuit!r}); leave it out")
    settings = lab.set(engine=compiled_if_possible(settings.engine))  # many short runs share a circuit
    for data in settings.data:
        check_rank(settings.k, lab.load(data))
    every = [theory for theory in every_theory(settings.k) if theory.name in settings.chosen]
    names = [theory.name for theory in every]

    each = []
    for data in map(scaled, map(lab.load, settings.data)):
        best = best_rates(lab, settings, every, data)
        contests = [
            Contest(theory, best[theory], settings.samples, seed) for theory in every for seed in settings.every_seed
        ]
        found = lab.map(measure, contests, data)
        each.append(join(names, [*best.values()], found))
    results = xr.concat(each, dim="data").assign_coords(data=[data.name for data in settings.data])

    if settings.imaged:
        results = results.merge(image_each(lab, settings, every))
    interfaced = put_at_interface(lab, settings)
    results = results.assign_attrs(k=settings.k, samples=settings.samples)
    numbers = {one.name: one for one in quantities(results)}
    return Findings(
        title=f"{len(every)} theories, k = {settings.k}, {settings.seeds} seeds, {settings.samples:,} samples; each at "
        f"the best of {len(settings.rates)} rates; data are centred and of mean square 1",
        quantities=[
            Quantity("k", settings.k), Quantity("samples", settings.samples), Quantity("seeds", settings.seeds),
            Quantity("engine", settings.engine), *numbers.values(),
        ],
        rows=(answer_rows(results) if settings.imaged else {}) | interface_rows(interfaced),
        data={"run": results, "interface": interfaced},
        figures=[
            Figure("theories", partial(plot_theories, results)),
            Figure("interface", partial(plot_interface, interfaced)),
        ],
        own_tests=judge(results, numbers),
    )  # fmt: skip


def best_rates(lab: Lab, settings: TheoriesSettings, every: list[Any], data: data_sets.Dataset) -> dict[Any, float]:
    """Return the rate, of the same candidates for every theory, that comes nearest to what is predicted of it.

    The worse of two seeds counts, and neither is among those that are judged.
    """
    seeds = [settings.seed + seed for seed in SEARCH_SEEDS]
    tries = {
        (theory, rate): [Contest(theory, rate, settings.samples, seed) for seed in seeds]
        for theory in every
        for rate in settings.rates
    }
    tried = lab.map(try_rate, [one for both in tries.values() for one in both], data)
    worse = {key: max(float(tried[one]["distance"]) for one in both) for key, both in tries.items()}
    return {theory: min(settings.rates, key=lambda rate: worse[theory, rate]) for theory in every}


def image_each(lab: Lab, settings: TheoriesSettings, every: list[Any]) -> xr.Dataset:
    """Image every theory while it learns the first data set, and return its answers."""
    task = scaled(lab.load(settings.data[0]))
    cells = min(settings.imaged_k, *task.X.shape[1:], *task.Y.shape[1:])
    imaged = {
        theory.name: [
            ImagedTheory(replace(theory, k=cells), settings.imaged_rate, seed)
            for seed in range(settings.seed, settings.seed + settings.imaged)
        ]
        for theory in every
    }
    seen = lab.map(image, [one for items in imaged.values() for one in items], task)
    yes = [[seen[one]["yes"] for one in items] for items in imaged.values()]
    return join_answers(list(imaged), settings.trials, yes)


def put_at_interface(lab: Lab, settings: TheoriesSettings) -> xr.Dataset:
    """Put theories whose dendrites hear an error at a brain-computer interface, and return their apical signals."""
    every = every_interfaced()
    items = [
        Interface(theory, shape, extra, seed)
        for theory in every for shape in RESTING for extra in INHIBITION for seed in settings.every_seed
    ]  # fmt: skip
    return join_interfaces(every, lab.map(record, items))
