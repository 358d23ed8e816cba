"""Depart from the paper's circuit in many ways, and see how far it still learns.

Every departure is turned up alone, from near the paper's circuit to far from it, until learning breaks; excess is
against the exact optimum, mean over seeds. Apical drive is also tried together with all-or-none plateaus, which are the
rarer the larger they are: the paper neglects it because plateaus are sparse in time. Delays in samples are of whole
samples, which come in shuffled order: what is late then belongs to another sample. Delays within a held sample are
departures of their own. Data are centred.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import Samples
from biorrr.sims.experiment import Datasets, Experiment, Findings, Found, Problem, check_rank, default_ridge
from biorrr.sims.experiments.helpers.departures import (
    DEPARTURES,
    MILLIVOLT_DEPARTURES,
    DepartureRange,
    Reference,
    lesions,
    presented,
)
from biorrr.sims.lab.circuits import completed
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, ExperimentSettings, SettingsError, option, seeds_option
from biorrr.sims.lab.training import cell_arguments
from biorrr.sims.lazy import analysis, circuits, data_sets, np, xr
from biorrr.sims.page.views import Chart, View

TOLERATED = 0.05  # excess up to which the circuit counts as learning
NOT_LEARNED = 1.0  # excess of filters that explain nothing: what a circuit that diverged is given
QUICK_SAMPLES, QUICK_SEEDS = 10_000, 2
SAMPLES = {"algebraic": 60_000, "millivolts": 20_000}


@dataclass(frozen=True, kw_only=True)
class RobustnessSettings(ExperimentSettings):
    """What can be set of ``biorrr robustness``."""

    data: tuple[Samples, ...] = option(("digits", "v1v2"), f"{DATA_HELP}; may be repeated", metavar=DATA_FORM)
    departures: tuple[str, ...] = option(("all",), "which to try, by the names in the table; may be repeated")
    k: int = option(2, "pyramidal neurons, the rank of the regression", short="k", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    samples: int | None = option(
        None, f"samples each circuit sees, to the end of an epoch; {SAMPLES['algebraic']:,} by default, "
        f"{SAMPLES['millivolts']:,} with cells in millivolts", at_least=1,
    )  # fmt: skip
    seeds: int = seeds_option(5)
    cell: str = option("algebraic", "what cells are before they are changed", choices=tuple(SAMPLES))
    quick: bool = option(False, f"a first look: every other value, {QUICK_SEEDS} seeds, {QUICK_SAMPLES} samples")

    @property
    def tried(self) -> dict[str, Sequence[Any]]:
        """Departures to try, with their values."""
        names = self.ranges if self.departures == ("all",) else self.departures
        return {name: self.ranges[name].values[:: 2 if self.quick else 1] for name in names}

    @property
    def ranges(self) -> dict[str, DepartureRange]:
        """Departures that there are, from such cells."""
        return MILLIVOLT_DEPARTURES if self.cell == "millivolts" else DEPARTURES


@dataclass(frozen=True)
class Trial:
    """One circuit to be tried."""

    seed: int
    departure: str = ""  # from the paper's circuit; none unless given
    value: Any = None  # how far
    plateau: float = 0.0  # r.m.s. of the plateaus of the paper's circuit, by which sizes of departures are measured


class Robustness(Experiment[RobustnessSettings]):
    """``biorrr robustness``: how far the circuit can depart from the paper's and still learn."""

    settings = RobustnessSettings
    shows = "[how much biology](docs/robustness.md) the theory survives"
    takes = "2.5 min"
    paper = "beyond it"
    figures = {
        "robustness": "How much biology the circuit survives. Each panel changes one thing about the paper's circuit, "
        "from mild on the left to severe on the right (panels without lines have no order). Points are how far the "
        "objective ends above the optimum, in percent: the mean over seeds, with a bar from the lowest to the highest. "
        "Dotted lines are the circuit without any change. In the grey area learning counts as broken, and a cross "
        "marks where that happens first."
    }

    def measure_of(self, settings: RobustnessSettings) -> str:
        """Excess of the paper's circuit on the first data set."""
        return f"{settings.data[0].name}_plain"

    def check(self, settings: RobustnessSettings) -> RobustnessSettings:
        """Refuse departures that do not exist, and settle how many samples and seeds."""
        for name in settings.departures:
            if name not in ("all", *settings.ranges):
                raise SettingsError(f"departures: must be among {', '.join(settings.ranges)} (got {name!r})")
        settings = replace(settings, samples=settings.samples or SAMPLES[settings.cell])
        if settings.quick:
            samples, seeds = min(settings.samples or QUICK_SAMPLES, QUICK_SAMPLES), min(settings.seeds, QUICK_SEEDS)
            settings = replace(settings, samples=samples, seeds=seeds)
        return settings

    def fit(self, settings: RobustnessSettings, data: data_sets.Dataset) -> RobustnessSettings:
        """Refuse a rank that the data do not have."""
        check_rank(settings.k, data)
        return settings

    def prepare(self, settings: RobustnessSettings, data: data_sets.Dataset) -> Problem[RobustnessSettings]:
        """The exact solution, with a ridge that suits the data."""
        return Problem(settings, data, analysis.Yardstick(*data.stand_in, settings.s, default_ridge(data)))

    def parts(self, problem: Problem[RobustnessSettings], found: Found) -> dict[str, Trial]:
        """The paper's circuit from each seed; then every value of every departure from each seed."""
        settings = problem.settings
        parts = {f"plain-seed-{seed}": Trial(seed) for seed in settings.every_seed}
        if set(parts) <= set(found):
            plateaus = np.concatenate([found[name]["plateau"] for name in parts])
            plateau = float(np.sqrt(np.mean(np.square(plateaus))))
            for name, values in settings.tried.items():
                for i, value in enumerate(values):
                    for seed in settings.every_seed:
                        parts[f"{name}-value-{i}-seed-{seed}"] = Trial(seed, name, value, plateau)
        return parts

    def run_part(self, problem: Problem[RobustnessSettings], part: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Excess of one circuit after learning; and plateaus of the paper's in the second half."""
        settings, data = problem.settings, problem.data
        reference = Reference(part.plateau, settings.k)
        departure = cell_arguments(settings.cell)
        if part.departure:
            departure |= settings.ranges[part.departure].settings(part.value, reference)
        lesion = part.value if part.departure == "lesion" else None
        circuit = settings.make_circuit(
            k=settings.k, s=settings.s, ridge=problem.exact.ridge[0], seed=part.seed, **departure
        )
        epochs = -(-(settings.samples or SAMPLES[settings.cell]) // len(data.X))
        events = lesions(lesion, epochs * len(data.X) // 2, data.X, data.Y) if lesion else ()
        order = presented(part.departure, part.value, len(data.X), epochs, part.seed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of columns that say nothing: the same for all circuits
                run = completed(
                    circuit.run(
                        data.X, data.Y, epochs=epochs if order is None else 1, order=order, record="plateau", every=20,
                        snapshots=1, centre=True,
                        events=events, **options,
                    )
                )  # fmt: skip
            Vx = run.Vx[::-1] if lesion == "new data" else run.Vx
            excess = min(float(problem.exact.excess(Vx)), NOT_LEARNED)
        except circuits.Diverged as error:
            run, excess = error.run, NOT_LEARNED
        if part.departure:  # it may have diverged before any plateau was recorded
            return {"excess": excess}
        return {"excess": excess, "plateau": run.data["plateau"].values[len(run.data["sample"]) // 2 :]}

    def conclude(self, problem: Problem[RobustnessSettings], found: Found) -> xr.Dataset:
        """Excess by departure, each (value, seed), and of the paper's circuit (seed,)."""
        settings, ranges = problem.settings, problem.settings.ranges
        seeds = list(settings.every_seed)
        excess = iter([float(part["excess"]) for part in found.values()])

        def following(*shape: int) -> np.ndarray:
            return np.reshape([next(excess) for _ in range(int(np.prod(shape)))], shape)

        results = xr.Dataset({"plain": ("seed", following(len(seeds)))}, {"seed": seeds})
        for name, values in settings.tried.items():
            label = {"long_name": ranges[name].label.replace("\n", " ")}
            results = results.assign_coords({f"{name}_value": list(values)})
            results[name] = ((f"{name}_value", "seed"), following(len(values), len(seeds)), label)
        return results

    def combine(self, settings: RobustnessSettings, concluded: Sequence[xr.Dataset]) -> Findings:
        """How far each departure can go on each data set."""
        from biorrr.analysis.figures.robustness import plot_departures

        ranges, names = settings.ranges, [data.name for data in settings.data]
        results = xr.concat(concluded, dim="data").assign_coords(data=names)
        plain = dict(zip(names, results["plain"].mean("seed").values, strict=True))
        numbers: dict[str, Any] = {f"{data}_plain": score for data, score in plain.items()}
        for name in settings.tried:
            for data in names:
                mean = results[name].sel(data=data).mean("seed")
                numbers[f"{data}_{name}"] = farthest(mean, ranges[name].ordered)
        return Findings(
            numbers={"tolerated": TOLERATED, "samples": settings.samples, "seeds": settings.seeds} | numbers,
            title=f"farthest from the paper's circuit with excess below {TOLERATED:.0%}, mean over "
            f"{settings.seeds} seeds",
            rows=numbers,
            results={"run": results},
            figures={
                "robustness": partial(
                    plot_departures,
                    {
                        ranges[name].label: (results[f"{name}_value"].values, results[name].values)
                        for name in settings.tried
                    },
                    {ranges[name].label for name in settings.tried if not ranges[name].ordered},
                    plain,
                    TOLERATED,
                )
            },
        )

    def page_results(self, results: Datasets, exact: analysis.Yardstick | None) -> Datasets:
        """Excess of the paper's circuit beside that of each departure."""
        dataset = results["run"]
        if "plain" not in dataset:
            return results
        plain = dataset["plain"].mean("seed")
        beside = {
            f"{name}_plain": plain.expand_dims({f"{name}_value": dataset[f"{name}_value"]}, axis=-1)
            for name in departures_in(dataset)
        }
        return {"run": dataset.assign(beside)}

    def page_charts(self, results: Datasets) -> tuple[Chart, ...]:
        """A view for each departure that was tried."""
        views = tuple(
            View(
                "excess over the optimum",
                {name: "", f"{name}_plain": "paper’s circuit"},
                {f"{name}_value": (label := str(dataset[name].attrs.get("long_name", name)))},
                along=(f"{name}_value",),
                repeats=("seed",),
                theory=(f"{name}_plain",),
                log="y",
                percent=True,
                name=label,
            )
            for dataset in results.values()
            for name in departures_in(dataset)
        )
        return (Chart("Departures from the paper’s circuit", views),)


def departures_in(dataset: xr.Dataset) -> list[str]:
    """Names of the departures that a dataset has values of."""
    return [str(name) for name in dataset.data_vars if f"{name}_value" in dataset.coords]


def farthest(excess: xr.DataArray, ordered: bool) -> float | str | None:
    """The last value before excess, shape (values,), first reaches what is tolerated; without order, all below that."""
    import numpy as np

    learned = excess.values < TOLERATED
    values = excess[excess.dims[0]].values
    if not ordered:
        return "; ".join(map(str, values[learned])) or None
    reached = len(values) if learned.all() else int(np.argmin(learned))
    return float(values[reached - 1]) if reached else None


EXPERIMENT = Robustness()
