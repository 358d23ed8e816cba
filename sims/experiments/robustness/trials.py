"""Circuits that are tried: the paper's from each seed, and every departure from it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from biorrr.sims.experiments.robustness.ranges import LESIONS, NEW_DATA, Reference
from biorrr.sims.lab import Job
from biorrr.sims.lab.training import cell_arguments
from biorrr.sims.lazy import analysis, circuits, data_sets

NOT_LEARNED = 1.0  # excess of filters that explain nothing: what a circuit that diverged is given


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


def try_plain(job: Job, seed: int, data: data_sets.Dataset, exact: analysis.Yardstick) -> dict[str, Any]:
    """Return the excess of the paper's circuit and its plateaus in the second half of learning, (recorded, k)."""
    run, excess = _train(job, seed, {}, data, exact)
    return {"excess": excess, "plateau": run.data["plateau"].values[len(run.data["sample"]) // 2 :]}


def try_departure(
    job: Job, trial: Trial, data: data_sets.Dataset, exact: analysis.Yardstick, reference: Reference
) -> dict[str, Any]:
    """Return the excess of a circuit that departs from the paper's."""
    change = job.settings.ranges[trial.departure].change(trial.value, reference)
    return {"excess": _train(job, trial.seed, change, data, exact)[1]}


def _train(
    job: Job, seed: int, change: dict[str, Any], data: data_sets.Dataset, exact: analysis.Yardstick
) -> tuple[circuits.Run, float]:
    """Return the run of a circuit with the arguments ``change``, and its excess over the optimum."""
    settings, (X, Y) = job.settings, (data.X, data.Y)
    epochs = -(-settings.samples // len(X))
    arguments = cell_arguments(settings.cell) | change  # a change may be one of the cells
    lesion = arguments.pop("lesion", "")
    circuit = settings.make_circuit(k=settings.k, s=settings.s, ridge=exact.ridge[0], seed=seed, **arguments)
    try:
        with warnings.catch_warnings(action="ignore"):  # of columns that say nothing: the same for all circuits
            run = job.run(
                circuit, X, Y, epochs=epochs, record="plateau", every=20, snapshots=1, centre=True,
                events=[LESIONS[lesion](epochs * len(X) // 2, X, Y)] if lesion else (),
            )  # fmt: skip
    except circuits.Diverged as error:
        return error.run, NOT_LEARNED
    Vx = run.Vx[::-1] if lesion == NEW_DATA else run.Vx
    return run, min(float(exact.excess(Vx)), NOT_LEARNED)
