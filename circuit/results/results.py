"""From simulated jobs to runs: of one seed, or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from biorrr.circuit.results.dataset import label_results
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.failures import (
    Diverged,
    Unsettled,
    advice_on_divergence,
    check_settled,
    warn_of_silence,
)
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.stimulus.data_checks import warn

if TYPE_CHECKING:
    import xarray as xr


def results(job: Job, outcome: Outcome) -> Run:
    """Return the run of ``job``, which ended with ``outcome``.

    Raises
    ------
    Diverged, Unsettled
        Where the numbers cannot be relied on; the error holds the run.
    """
    circuit = job.circuit
    run = Run(label_results(job, outcome), circuit, job)
    if run.ended == "diverged":
        advice = advice_on_divergence(circuit.regression, job.feeds, outcome.samples)
        raise Diverged(
            f"the circuit diverged at sample {outcome.samples}: activity is no longer finite;"
            f" {advice}",
            run,
        )
    check_settled(circuit.parts.departures, run, job.blueprint.timing.duration)
    if circuit.regression is not None and not job.events:
        warn_of_silence(circuit.regression, run, job.feeds)
    return run


class Runs(Sequence[Run]):
    """Runs of one circuit, one for each seed, in their order.

    Parameters
    ----------
    runs
        The runs.
    errors
        Those that cannot be relied on, by seed: :class:`~biorrr.circuit.Diverged` or
        :class:`~biorrr.circuit.Unsettled`.
    """

    def __init__(
        self, runs: Sequence[Run], errors: dict[int, Diverged | Unsettled] | None = None
    ) -> None:
        self.runs, self.errors = list(runs), errors or {}

    def __getitem__(self, place):
        return Runs(self.runs[place], self.errors) if isinstance(place, slice) else self.runs[place]

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"<Runs: seeds {', '.join(map(str, self.seeds))}>"

    @property
    def seeds(self) -> list[int]:
        """Seed of each run."""
        return [int(run.attrs["seed"]) for run in self.runs]

    @property
    def data(self) -> xr.Dataset:
        """Snapshots and traces of all runs that went to their end, along a dimension ``seed``."""
        import xarray as xr

        whole = [run for run in self.runs if run.ended == "done"]
        seeds = xr.Variable("seed", [int(run.attrs["seed"]) for run in whole])
        return xr.concat([run.data for run in whole], seeds, combine_attrs="drop_conflicts")


def results_of_seeds(jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> Runs:
    """Return the runs of ``jobs``, one for each seed; warn of those that cannot be relied on."""
    runs: list[Run] = []
    errors: dict[int, Diverged | Unsettled] = {}
    for job, outcome in zip(jobs, outcomes, strict=False):
        try:
            runs.append(results(job, outcome))
        except (Diverged, Unsettled) as error:
            runs.append(error.run)
            errors[job.presentation.seed] = error
    if errors:
        seeds, first = ", ".join(map(str, errors)), next(iter(errors.values()))
        warn(f"seeds: {len(errors)} of {len(runs)} runs failed ({seeds}); the first: {first}")
    return Runs(runs, errors)
