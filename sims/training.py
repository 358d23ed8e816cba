"""What experiments share that let a circuit learn one data set, once for each seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from biorrr.sims.experiment import Experiment, Found, Problem
from biorrr.sims.lazy import analysis, circuits
from biorrr.sims.settings import ExperimentSettings, option


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(ExperimentSettings):
    """What can be set of an experiment that trains circuits."""

    data: str = option(
        "digits", "name of a data set that `biorrr data` lists, an .npz or .mat file with X and Y, or x.csv,y.csv"
    )
    k: int = option(2, "number of pyramidal neurons, which is the rank of the regression", short="k", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    epochs: int = option(60, "number of passes over the data", at_least=1)
    ridge: float | None = option(
        None, "added to Cxx and Cyy on the diagonal; 0.1 * trace(Cxx)/m by default", at_least=0
    )


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
        settings, data = problem.settings, problem.data
        circuit = settings.make_circuit(
            k=settings.k, s=settings.s, ridge=settings.ridge, seed=part, **self.circuit_options(problem)
        )
        return circuit.run(
            data.X,
            data.Y,
            epochs=settings.epochs,
            centre=True,
            record=self.recorded,
            snapshots=self.snapshots,
            **options,
        )


def heading(problem: Problem[T]) -> dict[str, Any]:
    """What was learned: the first numbers of a summary."""
    settings = problem.settings
    return {"data": problem.data.name, "k": settings.k, "s": settings.s, "ridge": settings.ridge}


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
