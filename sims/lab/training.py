"""What experiments share that let circuits learn data: settings, checks, and scores beside the exact solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from biorrr.sims.data import Samples
from biorrr.sims.experiment import Experiment, Found, Problem
from biorrr.sims.lab.quantities import PERCENT, Quantity
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, ExperimentSettings, option
from biorrr.sims.lazy import analysis, circuits, data_sets, np

# What the theory says of the optimum is seen only near it: on digits and V1-V2 (k = 2) plateaus come within 5 % of it
# after a million samples and within 1 % after two.
CONVERGED_SAMPLES = 2_000_000
JUDGED_SAMPLES = 1_000_000

CELLS = ("algebraic", "leaky", "spiking", "millivolts")  # the rungs of biorrr.models.RUNGS
MILLIVOLT_EPOCHS = 12  # cells in millivolts take a thousand times as long: on digits excess is 2 to 3 % by then


def cell_option() -> Any:
    """The setting of what cells are."""
    return option("algebraic", "what cells are; algebraic ones are the paper's", choices=CELLS)


def cell_arguments(cell: str) -> dict[str, Any]:
    """What a circuit must be told of its cells: nothing where they are the paper's."""
    return {} if cell == "algebraic" else {"cell": cell}


@dataclass(frozen=True, kw_only=True)
class LearnerSettings(ExperimentSettings):
    """What can be set of every circuit that learns."""

    data: Samples = option("digits", DATA_HELP, metavar=DATA_FORM)
    k: int = option(2, "number of pyramidal neurons, which is the rank of the regression", short="k", at_least=1)
    ridge: float | None = option(
        None, "added to Cxx and Cyy on the diagonal; 0.1 * trace(Cxx)/m by default", at_least=0
    )


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(LearnerSettings):
    """What can be set of an experiment that trains circuits."""

    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    epochs: int = option(60, "number of passes over the data", at_least=1)


T = TypeVar("T", bound=TrainingSettings)


class Training(Experiment[T]):
    """An experiment whose parts are circuits that learn the same data, centred, one for each seed.

    Attributes
    ----------
    recorded
        Traces that are kept: of stretches of consecutive samples and of one sample in 100.
    snapshots
        How often the weights are kept.
    """

    recorded: ClassVar[tuple[str, ...]] = ()
    snapshots: ClassVar[int] = 100

    def parts(self, problem: Problem[T], found: Found) -> dict[str, Any]:
        """A part for each seed."""
        return {f"seed-{seed}": seed for seed in problem.settings.every_seed}

    def circuit_options(self, problem: Problem[T]) -> dict[str, Any]:
        """Further arguments of the circuit to train."""
        return {}

    def run_part(self, problem: Problem[T], part: Any, options: Mapping[str, Any]) -> Any:
        """Let a circuit learn, from the seed ``part``."""
        settings = problem.settings
        return let_learn(
            problem,
            settings.s,
            part,
            self.circuit_options(problem),
            record=self.recorded,
            snapshots=self.snapshots,
            **options,
        )


@dataclass(frozen=True, kw_only=True)
class FamilySettings(LearnerSettings):
    """What can be set of an experiment that trains circuits at several s, until they are near the optimum."""

    s: tuple[float, ...] = option((0.0, 1.0), "0 is RRMSE, 1 is CCA; may be repeated", short="s", at_least=0, at_most=1)
    epochs: int | None = option(
        None, f"number of passes over the data; by default as many as make {CONVERGED_SAMPLES:,} samples", at_least=1
    )


F = TypeVar("F", bound=FamilySettings)


@dataclass(frozen=True)
class FamilyProblem(Problem[F], Generic[F]):
    """What all parts on one data set share, whatever their s."""

    solutions: Mapping[float, analysis.Yardstick]  # the exact solution at each s; ``exact`` is the first

    @property
    def samples(self) -> int:
        """How many samples each circuit learns from."""
        assert self.settings.epochs is not None
        return self.settings.epochs * len(self.data.X)

    @property
    def unjudged(self) -> str:
        """Why claims about the optimum have no verdict: circuits are not the paper's, or learn too shortly for it."""
        cell = getattr(self.settings, "cell", "algebraic")
        if cell != "algebraic":
            return f"the paper's claims are about algebraic cells, and these are {cell}"
        return too_short(self.samples)


def too_short(samples: int) -> str:
    """Return why claims about the optimum have no verdict after so few samples, or an empty text."""
    if samples >= JUDGED_SAMPLES:
        return ""
    return f"{samples:,} samples are too few to come near the optimum; it takes {JUDGED_SAMPLES:,}"


class FamilyTraining(Experiment[F]):
    """An experiment whose parts are circuits that learn the same data, centred, at several s and from several seeds.

    Attributes
    ----------
    snapshots
        How often the weights are kept.
    """

    snapshots: ClassVar[int] = 40

    def check(self, settings: F) -> F:
        """Leave out values of s that are given twice."""
        return replace(settings, s=tuple(dict.fromkeys(settings.s)))

    def fit(self, settings: F, data: data_sets.Dataset) -> F:
        """Work out the ridge, and how many epochs it takes."""
        settings = super().fit(settings, data)
        return replace(settings, epochs=settings.epochs or -(-CONVERGED_SAMPLES // len(data.X)))

    def prepare(self, settings: F, data: data_sets.Dataset) -> FamilyProblem[F]:
        """Solve the regression exactly at every s."""
        assert settings.ridge is not None
        solutions = {s: analysis.Yardstick(*data.stand_in, s, settings.ridge) for s in settings.s}
        return FamilyProblem(settings, data, solutions[settings.s[0]], solutions)

    def parts(self, problem: Problem[F], found: Found) -> dict[str, Any]:
        """A part for each s and seed, which it holds in this order."""
        settings = problem.settings
        return {learner(s, seed): (s, seed) for s in settings.s for seed in settings.every_seed}

    def run_part(self, problem: Problem[F], part: Any, options: Mapping[str, Any]) -> Any:
        """Let a circuit learn, with the s and from the seed of ``part``."""
        s, seed = part
        return let_learn(problem, s, seed, {}, record=(), snapshots=self.snapshots, **options)


def learner(s: float, seed: int) -> str:
    """Name of the part that learns with this s from this seed."""
    return f"s-{s:g}-seed-{seed}"


def let_learn(problem: Problem[Any], s: float, seed: int, further: Mapping[str, Any], **options: Any) -> Any:
    """The run of a circuit that learns the problem's data for its epochs.

    ``further`` are arguments of the circuit, ``options`` those of its ``run``.
    """
    settings, data = problem.settings, problem.data
    circuit = settings.make_circuit(k=settings.k, s=s, ridge=settings.ridge, seed=seed, **further)
    return circuit.run(data.X, data.Y, epochs=settings.epochs, centre=True, **options)


def heading(problem: Problem[Any]) -> dict[str, Any]:
    """What was learned: the first numbers of a summary; several s as text."""
    settings = problem.settings
    every_s = settings.s if isinstance(settings.s, tuple) else (settings.s,)
    s = every_s[0] if len(every_s) == 1 else ", ".join(f"{one:g}" for one in every_s)
    return {"data": problem.data.name, "k": settings.k, "s": s, "ridge": settings.ridge}


SCORES = {
    "objective": ("", "objective"),
    "excess": (PERCENT, "excess"),
    "angle_max_deg": ("degrees", "largest angle to the exact filters"),
    "whitening_error": ("", "whitening error"),
    "r_minus_qt": ("", "||R - Q'||"),
}  # unit and words of what differs between seeds


def learned(data: data_sets.Dataset, settings: Any, seeds: int = 1) -> list[Quantity]:
    """Return what was learned: the first quantities of a summary."""
    known = {"data": data.name, "k": settings.k, "s": settings.s, "ridge": settings.ridge}
    return [Quantity(name, value) for name, value in (known | ({"seeds": seeds} if seeds > 1 else {})).items()]


def scored(runs: Sequence[circuits.Run], exact: analysis.Yardstick) -> list[Quantity]:
    """Return how near runs came to the exact solution, and what they took; of several, mean, spread and largest."""
    each = [scores(run, exact) for run in runs]
    found = []
    for name, (unit, words) in SCORES.items():
        values = np.array([one[name] for one in each])
        if len(runs) == 1:
            found.append(Quantity(name, values[0], unit, words))
        else:
            found.append(Quantity(name, values.mean(), unit, words, spread=values.std()))
            found.append(Quantity(f"{name}_max", values.max(), unit, "at most", row=words))
        if name == "objective":
            found.append(Quantity("optimum", each[0]["optimum"], "", "optimum"))
    return [
        *found,
        Quantity("samples", each[0]["samples"], "", "samples of each" if len(runs) > 1 else "samples"),
        Quantity("ended", each[0]["ended"]),
        Quantity("engine", each[0]["engine"], "", "engine"),
        Quantity("seconds", sum(one["seconds"] for one in each), "s", "time"),
    ]


def scores(run: circuits.Run, exact: analysis.Yardstick) -> dict[str, Any]:
    """Final numbers of a run: how near it came to the exact solution, and what it took."""
    k = run.Vx.shape[1]
    return {
        "objective": exact.objective(run.Vx),
        "optimum": exact.optimum(k),
        "excess": exact.excess(run.Vx),
        "angle_max_deg": analysis.principal_angles(run.Vx, exact.Vx(k))[0],
        "whitening_error": exact.whitening_error(run.Vx),
        "r_minus_qt": run.r_minus_qt[-1],
        "samples": run.samples,
        "ended": run.ended,
        "engine": run.data.attrs["engine"],
        "seconds": run.data.attrs["seconds"],
    }
