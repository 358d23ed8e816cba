"""Circuits and runs to take along: what others read or run without biorrr."""

from __future__ import annotations

from pathlib import Path

from biorrr.circuit.results.results import Runs
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.job import Job
from biorrr.errors import InputError, InputTypeError
from biorrr.models.validation import instance_of

TEMPLATES = Path(__file__).parent / "templates"


def job_of(run: Run, export: str) -> Job:
    """Return what was simulated in ``run``, for an ``export`` that repeats it."""
    if isinstance(run, Runs):
        seeds = ", ".join(map(str, run.seeds))
        raise InputTypeError(
            f"run: must be one run, and these are several, of seeds {seeds}; pass one of them, such"
            " as run=runs[0]"
        )
    job = instance_of("run", run, Run).job
    if job.events:
        raise InputError(
            f"run: has events, which a {export} does not repeat; give a run without events"
        )
    return job
