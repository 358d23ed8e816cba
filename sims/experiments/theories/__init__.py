"""Compare rival theories of learning in dendrites with one exact solution, on the same samples.

Backprop, feedback alignment, Sacramento's microcircuit, burst-dependent plasticity, Urbanczik and
Senn's dendritic prediction, Bio-CCA and Bio-RRR learn in the linear regime, in which laws say where
each must end. The rate of each is the best of the same few candidates. Then each is probed (what
does its apical compartment carry?), lesioned, and imaged: which experiment tells the theories
apart? Data are centred, of mean square 1; the ridge is noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import SMALL_DATA, Samples
from biorrr.sims.experiments.theories.contests import every_theory, scaled
from biorrr.sims.experiments.theories.imaged_theories import image_each
from biorrr.sims.experiments.theories.interface import put_at_interface
from biorrr.sims.experiments.theories.measures import compete
from biorrr.sims.experiments.theories.verdicts import (
    answered,
    at_interface,
    judge,
    key_of,
    measured,
)
from biorrr.sims.lab import (
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    check_rank,
    compiled_if_possible,
    data_option,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lazy import xr

NAMES = tuple(theory.name for theory in every_theory(1))


@dataclass(frozen=True, kw_only=True)
class TheoriesSettings(ExperimentSettings):
    """Settings of ``biorrr theories``."""

    data: tuple[Samples, ...] = data_option(("digits", "v1v2", "synthetic"))
    theories: tuple[str, ...] = option(
        ("all",), "which to try; may be repeated", choices=("all", *NAMES)
    )
    k: int = option(2, "pyramidal neurons, the rank of the regression", short="k", at_least=1)
    samples: int = option(200_000, "samples each theory sees", at_least=1)
    rates: tuple[float, ...] = option(
        (0.03, 0.1, 0.3, 1.0),
        "candidates for the first rate, times the features of x or y, whichever are more; may be"
        " repeated",
        at_least=0,
    )
    imaged: int = option(
        10,
        "experiments in which each theory is imaged, on the first data set; 0 for none",
        at_least=0,
    )
    imaged_k: int = option(8, "pyramidal neurons of an imaged circuit", at_least=4)
    trials: int = option(2000, "trials for which a circuit is imaged", at_least=200)
    seeds: int = seeds_option(3)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the theories to try."""
        return (
            NAMES
            if "all" in self.theories
            else tuple(name for name in NAMES if name in self.theories)
        )


CAPTIONS = {
    "theories": (
        "Rival theories on the same samples. From left to right: excess over the optimum (dots are"
        " seeds, ticks what law 1 predicts); participation ratio and whitening error of the"
        " outputs; R² of the apical signal on y, on x and on y - y~ before, during and after"
        " learning; relative change of the apical signal when inhibition is silenced, instruction"
        " is cut or the readout is inverted; share of imaged circuits that say yes to the four"
        " questions of `biorrr instructive`, by imaging noise over signal. Numbers are means over"
        " data sets and seeds; a dash is where a theory has nothing to silence or diverges."
    ),
    "interface": (
        "Apical signals at a brain-computer interface, less their mean, while the error falls and"
        " while it rises, in neurons that help the outcome and in neurons that hurt it. Filled: as"
        " they are; open: with extra dendritic inhibition. Units: the change between phases of"
        " signed plateaus. Right: numbers of Francioni et al. (2026) as others digitised them, with"
        " their errors, in units of their own."
    ),
}


@experiment(
    shows="[rival theories](docs/theories.md) of learning in dendrites, beside one exact solution",
    takes="8 min",
    paper="beyond it",
    measure=lambda settings: key_of(settings.data[0].name, settings.chosen[0], "excess"),
    captions=CAPTIONS,
    small={
        "data": (SMALL_DATA,),
        "theories": ("Bio-RRR", "bursts"),
        "samples": 200,
        "rates": (0.1,),
        "seeds": 1,
        "imaged": 1,
        "imaged_k": 4,
        "trials": 200,
    },
)
def theories(lab: Lab, settings: TheoriesSettings) -> Findings:
    """Let every theory learn every data set at its best rate; measure, lesion and image it."""
    from biorrr.analysis.figures.theories import plot_interface, plot_theories

    if settings.circuit is not None:
        raise SettingsError(
            f"circuit: theories bring their own circuits (got {settings.circuit!r}); leave it out"
        )
    settings = lab.set(
        engine=compiled_if_possible(settings.engine)
    )  # many short runs share a circuit
    for data in settings.data:
        check_rank(settings.k, lab.load(data))
    tasks = [scaled(lab.load(data)) for data in settings.data]
    every = [theory for theory in every_theory(settings.k) if theory.name in settings.chosen]
    results = xr.concat([compete(lab, every, task) for task in tasks], dim="data")
    results = results.assign_coords(data=[data.name for data in settings.data])
    if settings.imaged:
        results = results.merge(image_each(lab, every, tasks[0]))
    results = results.assign_attrs(k=settings.k, samples=settings.samples)
    interface = put_at_interface(lab)
    found = {
        (data, theory): [*measured(results, data, theory)]
        for data in results["data"].values.tolist()
        for theory in results["theory"].values.tolist()
    }
    claims = judge(results, found)
    return Findings(
        title=(
            f"{len(every)} theories, k = {settings.k}, {settings.seeds} seeds, {settings.samples:,}"
            f" samples; each at the best of {len(settings.rates)} rates; data are centred and of"
            " mean square 1"
        ),
        quantities=[
            Quantity("k", settings.k),
            Quantity("samples", settings.samples),
            Quantity("seeds", settings.seeds),
            Quantity("engine", settings.engine),
            *(one for those in found.values() for one in those),
            *(answered(results) if settings.imaged else ()),
            *at_interface(interface),
            Quantity("bounds", len(claims)),
            Quantity("bounds_held", sum(claim.holds is True for claim in claims)),
        ],
        data={"run": results, "interface": interface},
        figures=[
            Figure("theories", partial(plot_theories, results)),
            Figure("interface", partial(plot_interface, interface)),
        ],
        own_tests=claims,
    )
