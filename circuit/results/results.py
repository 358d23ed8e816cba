"""From a simulated job to a run: its Dataset, and what is to be said of it."""

from __future__ import annotations

import numpy as np

from biorrr.circuit.results.dataset import label_results
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.failures import Diverged, check_settled, warn_of_silence
from biorrr.circuit.simulation.job import Job, Outcome


def results(job: Job, outcome: Outcome) -> Run:
    """Return the run of ``job``, which ended with ``outcome``.

    Raises
    ------
    Diverged, Unsettled
        Where the numbers cannot be relied on; the error holds the run.
    """
    circuit, never = job.circuit, np.array([np.inf])
    attrs = {
        "plastic": int(job.plastic),
        "signal_in_time": int(any(feed.in_time for feed in job.feeds.values())),
        "cooled": int(outcome.samples >= job.state.get("neuromodulator.last", never)[0]),
        "departures": circuit.departures_in_words(),
        **circuit.settings(job, outcome),
    }
    run = Run(label_results(job, outcome, attrs), circuit, job)
    if run.ended == "diverged":
        raise Diverged(
            f"the circuit diverged at sample {outcome.samples}: activity is no longer finite;"
            f" {circuit.remedy(job.feeds, outcome.samples)}",
            run,
        )
    check_settled(circuit.parts.departures, run, job.blueprint.timing.duration)
    if not job.events:
        warn_of_silence(run, job.feeds)
    return run
