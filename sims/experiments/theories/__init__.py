"""Compare rival theories of learning in dendrites with one exact solution, on the same samples.

Backprop, feedback alignment, Sacramento's microcircuit, burst-dependent plasticity, Urbanczik and
Senn's dendritic prediction, Bio-CCA and Bio-RRR learn in the linear regime, in which laws say where
each must end. The rate of each is the best of the same few candidates. Data are centred, of mean
square 1; the ridge is noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import SMALL_DATA, Data
from biorrr.sims.experiments.theories.contests import compete, every_theory, scaled
from biorrr.sims.experiments.theories.verdicts import judge, key_of, measured
from biorrr.sims.lab import (
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    compiled_if_possible,
    data_option,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lab.training import check_rank
from biorrr.sims.lazy import xr

NAMES = tuple(theory.name for theory in every_theory(1))


@dataclass(frozen=True, kw_only=True)
class TheoriesSettings(ExperimentSettings):
    """Settings of ``biorrr theories``."""

    data: tuple[Data, ...] = data_option(("digits", "v1v2", "synthetic"))
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
        "Rival theories on the same samples, one dot per seed. From left to right: excess over the"
        " optimum, with ticks where law 1 predicts it; participation ratio and whitening error of"
        " the outputs. A theory that diverges has an excess of 100 % and no other scores."
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
    },
)
def theories(lab: Lab, settings: TheoriesSettings) -> Findings:
    """Let every theory learn every data set at its best rate, and score it."""
    from biorrr.analysis.figures.theories import plot_theories

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
    results = results.assign_attrs(k=settings.k, samples=settings.samples)
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
            Quantity("bounds", len(claims)),
            Quantity("bounds_held", sum(claim.holds is True for claim in claims)),
        ],
        data={"run": results},
        figures=[Figure("theories", partial(plot_theories, results))],
        own_tests=claims,
    )
