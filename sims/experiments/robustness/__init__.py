"""Depart from the paper's circuit in many ways, and see how far it still learns.

Every departure is turned up alone, from near the paper's circuit to far from it, until learning
breaks; excess is against the exact optimum, mean over seeds. Apical drive is also tried together
with all-or-none plateaus, which are the rarer the larger they are: the paper neglects it because
plateaus are sparse in time. Delays in samples are of whole samples, which come in shuffled order:
what is late then belongs to another sample. Delays within a held sample are departures of their
own. Data are centred.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Data
from biorrr.sims.experiments.robustness.ranges import (
    DEPARTURES,
    LESIONS,
    MILLIVOLT_DEPARTURES,
    NEW_DATA,
    DepartureRange,
    Reference,
)
from biorrr.sims.lab import (
    PERCENT,
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    Task,
    data_option,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lab.training import baseline_quantities, cell_arguments, check_rank, default_ridge
from biorrr.sims.lazy import analysis, circuits, data_sets, np, xr

TOLERATED = 0.05  # excess up to which the circuit counts as learning
NOT_LEARNED = 1.0  # excess of filters that explain nothing: what a circuit that diverged is given
QUICK_SAMPLES, QUICK_SEEDS = 10_000, 2
SAMPLES = {"algebraic": 60_000, "millivolts": 20_000}


@dataclass(frozen=True, kw_only=True)
class RobustnessSettings(ExperimentSettings):
    """Settings of ``biorrr robustness``."""

    data: tuple[Data, ...] = data_option(("digits", "synthetic"))
    departures: tuple[str, ...] = option(
        ("all",),
        f"which to try, of {', '.join((*DEPARTURES, *MILLIVOLT_DEPARTURES))}; may be repeated",
    )
    k: int = option(2, "pyramidal neurons, the rank of the regression", short="k", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    samples: int | None = option(
        None,
        f"samples each circuit sees, to the end of an epoch; {SAMPLES['algebraic']:,} by default, "
        f"{SAMPLES['millivolts']:,} with cells in millivolts",
        at_least=1,
    )
    seeds: int = seeds_option(5)
    cell: str = option(
        "algebraic", "what cells are before they are changed", choices=tuple(SAMPLES)
    )
    quick: bool = option(
        False, f"a first look: every other value, {QUICK_SEEDS} seeds, {QUICK_SAMPLES} samples"
    )

    @property
    def tried(self) -> dict[str, DepartureRange]:
        """Departures to try, by name."""
        return {
            name: self.ranges[name]
            for name in (self.ranges if self.departures == ("all",) else self.departures)
        }

    def values(self, tried: DepartureRange) -> Sequence[Any]:
        """Return the values of a departure that are tried."""
        return tried.values[:: 2 if self.quick else 1]

    @property
    def ranges(self) -> dict[str, DepartureRange]:
        """All departures from such cells, by name."""
        return MILLIVOLT_DEPARTURES if self.cell == "millivolts" else DEPARTURES


@dataclass(frozen=True)
class Trial:
    """One circuit that departs from the paper's.

    Parameters
    ----------
    departure
        Name of the departure.
    value
        One of the values of the departure's range.
    seed
        Seed of the initial weights and of the order of samples.
    """

    departure: str
    value: Any
    seed: int


CAPTIONS = {
    "robustness": (
        "How far a circuit can depart from the paper's and still learn. Each row changes one thing,"
        " from mild on the left to severe on the right (rows with a star have no order). A field"
        " shows the value and, below it, how far the objective ends above the optimum, mean over"
        " seeds. Blue: the circuit learns. Orange: learning is broken, with an excess of 5 % and"
        " more."
    )
}


@experiment(
    shows="[how much biology](docs/robustness.md) the theory survives",
    takes="2.5 min",
    paper="beyond it",
    measure=lambda settings: f"{settings.data[0].name}_plain",
    captions=CAPTIONS,
    small={
        "data": (SMALL_DATA,),
        "samples": 60,
        "seeds": 1,
        "engine": "numpy",
        "departures": ("dale", "delay"),
        "quick": True,
    },
)
def robustness(lab: Lab, settings: RobustnessSettings) -> Findings:
    """Turn up each departure on each data set, and find how far it can go."""
    from biorrr.analysis.figures.robustness import plot_departures

    settings = lab.fill_in(samples=SAMPLES[settings.cell])
    if settings.quick:
        settings = lab.set(
            samples=min(settings.samples, QUICK_SAMPLES), seeds=min(settings.seeds, QUICK_SEEDS)
        )
    for name in settings.departures:
        if name not in ("all", *settings.ranges):
            raise SettingsError(
                f"departures: must be among {', '.join(settings.ranges)} (got {name!r})"
            )
    for data in settings.data:
        check_rank(settings.k, lab.load(data))

    exact, each = {}, []
    for data in map(lab.load, settings.data):  # one after another in memory
        exact[data.name] = analysis.ExactSolution(*data.stand_in, settings.s, default_ridge(data))
        each.append(turn_up(lab, settings, data, exact[data.name]))

    names = [data.name for data in settings.data]
    results = (
        xr.concat(each, dim="data").assign_coords(data=names).assign_attrs(tolerated=TOLERATED)
    )
    plain = results["plain"].mean("seed")
    return Findings(
        title=(
            f"farthest from the paper's circuit with excess below {TOLERATED:.0%}, mean over"
            f" {settings.seeds} seeds"
        ),
        quantities=[
            Quantity("tolerated", TOLERATED, PERCENT),
            Quantity("samples", settings.samples),
            Quantity("seeds", settings.seeds),
            *(
                Quantity(
                    f"{data}_plain",
                    float(plain.sel(data=data)),
                    PERCENT,
                    data,
                    row="excess of the paper's circuit",
                )
                for data in names
            ),
            *(one for data in names for one in baseline_quantities(exact[data], settings.k, data)),
            *(
                Quantity(
                    f"{data}_{name}",
                    farthest(results[name].sel(data=data), one.ordered),
                    "",
                    data,
                    row=one.label,
                )
                for name, one in settings.tried.items()
                for data in names
            ),
        ],
        data={"run": results},
        figures=[Figure("robustness", partial(plot_departures, results))],
    )


def turn_up(
    lab: Lab, settings: RobustnessSettings, data: data_sets.Dataset, exact: analysis.ExactSolution
) -> xr.Dataset:
    """Try all departures on one data set.

    Returns the excess ``plain`` (seed,) of the paper's circuit and, by name of the departure, that
    of circuits which depart from it, (value, seed).
    """
    seeds = [*settings.every_seed]

    plain = lab.each(try_plain, seeds, data, exact)
    plateaus = np.concatenate([one["plateau"] for one in plain.values()])
    reference = Reference(float(np.sqrt(np.mean(np.square(plateaus)))), settings.k)
    trials = [
        Trial(name, value, seed)
        for name, one in settings.tried.items()
        for value in settings.values(one)
        for seed in seeds
    ]
    found = lab.each(try_departure, trials, data, exact, reference)

    results = xr.Dataset(
        {"plain": ("seed", [float(one["excess"]) for one in plain.values()])}, {"seed": seeds}
    )
    for name, one in settings.tried.items():
        values, along = settings.values(one), f"{name}_value"
        excess = [
            [float(found[Trial(name, value, seed)]["excess"]) for seed in seeds] for value in values
        ]
        results = results.assign_coords({along: [*values]})
        results[name] = (
            (along, "seed"),
            excess,
            {"long_name": one.label, "ordered": int(one.ordered)},
        )
    return results


def try_plain(
    task: Task, seed: int, data: data_sets.Dataset, exact: analysis.ExactSolution
) -> dict[str, Any]:
    """Return the excess of the paper's circuit and its plateaus in the second half of learning,
    (recorded, k).
    """
    run, excess = _train(task, seed, {}, data, exact)
    return {"excess": excess, "plateau": run.data["plateau"].values[len(run.data["sample"]) // 2 :]}


def try_departure(
    task: Task,
    trial: Trial,
    data: data_sets.Dataset,
    exact: analysis.ExactSolution,
    reference: Reference,
) -> dict[str, Any]:
    """Return the excess of a circuit that departs from the paper's."""
    change = task.settings.ranges[trial.departure].change(trial.value, reference)
    return {"excess": _train(task, trial.seed, change, data, exact)[1]}


def _train(
    task: Task,
    seed: int,
    change: dict[str, Any],
    data: data_sets.Dataset,
    exact: analysis.ExactSolution,
) -> tuple[circuits.Run, float]:
    """Return the run of a circuit with the arguments ``change``, and its excess over the
    optimum.
    """
    settings, (X, Y) = task.settings, (data.X, data.Y)
    epochs = -(-settings.samples // len(X))
    arguments = cell_arguments(settings.cell) | change  # a change may be one of the cells
    lesion = arguments.pop("lesion", "")
    circuit = settings.make_circuit(
        k=settings.k, s=settings.s, ridge=exact.ridge[0], seed=seed, **arguments
    )
    try:
        with warnings.catch_warnings(
            action="ignore"
        ):  # of columns that say nothing: the same for all circuits
            run = task.run(
                circuit,
                X,
                Y,
                epochs=epochs,
                record="plateau",
                every=20,
                snapshots=1,
                centre=True,
                events=[LESIONS[lesion](epochs * len(X) // 2, X, Y)] if lesion else (),
            )
    except circuits.Diverged as error:
        return error.run, NOT_LEARNED
    Vx = run.Vx[::-1] if lesion == NEW_DATA else run.Vx
    return run, min(float(exact.excess(Vx)), NOT_LEARNED)


def farthest(excess: xr.DataArray, ordered: bool) -> float | str | None:
    """Return the last value before the mean of the excess (value, seed) first reaches TOLERATED.

    Without order, return all values that stay below it.
    """
    learned = excess.mean("seed").values < TOLERATED
    values = excess[excess.dims[0]].values
    if not ordered:
        return "; ".join(map(str, values[learned])) or None
    reached = len(values) if learned.all() else int(np.argmin(learned))
    return float(values[reached - 1]) if reached else None
