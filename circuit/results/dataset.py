"""Datasets of runs: weights, traces and settings."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.simulation.events import after_events
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.recorder import DATA_ROW
from biorrr.circuit.simulation.saving import Trace, dimensions
from biorrr.models.validation import in_si

if TYPE_CHECKING:
    import xarray as xr

# Variables and coordinates by name, as xarray takes them.
Arrays = tuple[dict[str, tuple], dict[str, Any]]


def label_results(job: Job, outcome: Outcome) -> xr.Dataset:
    """Return all that is left of ``job``, which ended with ``outcome``, with named dimensions."""
    import xarray as xr  # takes longer to import than a short run

    leave_dask_out()
    blueprint, timing, circuit = job.blueprint, job.blueprint.timing, job.circuit
    last = job.state.get("neuromodulator.last", np.array([np.inf]))[0]
    variables, coords = _snapshots(job, outcome)
    traces, at = _traces(job, outcome)
    job = after_events(job, outcome.samples)
    coords |= at
    for port in blueprint.ports:
        dimension, feed = blueprint.parts[port.population].dimension, job.feeds[port.name]
        variables[f"mean_{port.name}"] = (dimension, feed.mean)
        coords |= {dimension: list(feed.labels)} if feed.labels else {}
    state, layout = _flat_state(blueprint, outcome.state)
    meaning = "weights and memories as the engine holds them, for runs that continue this one"
    variables["state"] = ("state_value", state, {"long_name": meaning})
    attrs: dict[str, object] = {
        "circuit": json.dumps(_sketch(blueprint)),
        "traces": json.dumps([trace.label for trace in job.recording.traces]),
        "state_layout": json.dumps(layout),
        "seed": job.presentation.seed,
        "replay": job.presentation.replay,
        "ended": outcome.ended,
        "engine": outcome.engine,
        "seconds": outcome.seconds,
        "plastic": int(job.plastic),
        "signal_in_time": int(any(feed.in_time for feed in job.feeds.values())),
        "cooled": int(outcome.samples >= last),
        "departures": circuit.in_words,
    }
    if not timing.instant:
        attrs["seconds_per_sample"] = timing.window
    variables |= traces
    if circuit.regression is not None:
        final = {p.weight: variables[p.weight][1][-1] for p in blueprint.parts.weighted}
        variables["readout"] = circuit.regression.readout(job, final)
        attrs |= circuit.regression.attrs(job, outcome)
    return xr.Dataset(variables, coords, attrs)


def _snapshots(job: Job, outcome: Outcome) -> Arrays:
    """Return matrices at all snapshots, and how many samples had been seen at each."""
    blueprint, kept = job.blueprint, outcome.recorder.snapshots
    # Weights overflow one sample before activity does.
    finite = np.isfinite(np.hstack([kept.samples[:, None], *kept.values.values()])).all(axis=1)
    matrices = blueprint.matrices({name: rows[finite] for name, rows in kept.values.items()})
    variables: dict[str, tuple] = {}
    for pathway in blueprint.parts.weighted:
        name, dims = pathway.weight, dimensions(blueprint.by_key[f"{pathway.name}.w"], blueprint)
        meaning = pathway.meaning or f"weights from {pathway.source} to {pathway.target}"
        attrs = {"long_name": meaning, "units": "1"}
        variables[name] = (("snapshot", *dims), matrices[name], attrs)
    seen = ("snapshot", kept.samples[finite], {"long_name": "samples seen before this snapshot"})
    return variables, {"seen": seen}


def _traces(job: Job, outcome: Outcome) -> Arrays:
    """Return traces, one row per sample or tick, and the samples and the places that they are
    of.
    """
    kept, timing = outcome.recorder.traces, job.blueprint.timing
    if not job.recording.traces:
        return {}, {}
    # Without the sample that diverged.
    whole = np.count_nonzero(kept.samples < outcome.samples)
    samples = kept.samples[: whole : timing.duration]
    shown = kept.values[DATA_ROW][: whole : timing.duration, 0].astype(np.int64)
    coords: dict[str, Any] = {
        "sample": (
            "sample",
            samples,
            {"long_name": "sample, counted from the first the circuit saw"},
        ),
        DATA_ROW: ("sample", shown, {"long_name": "row of the data that was presented"}),
    }
    if not timing.instant:
        attrs = {"long_name": "time at which the sample began", "units": "s"}
        coords["start_time"] = ("sample", timing.window * samples, attrs)
    out: dict[str, tuple] = {}
    for trace in job.recording.traces:
        out[trace.label], places = _label(trace, kept.values[trace.label][:whole], job.blueprint)
        coords |= places
    if any("time" in dims for dims, *_ in out.values()):
        out["time"] = ("time", timing.tick * np.arange(1, timing.duration + 1))
    return out, coords


def _label(trace: Trace, rows: np.ndarray, blueprint: Blueprint) -> tuple[tuple, dict[str, Any]]:
    """Return the ``rows`` of a trace, (ticks, columns), as a variable, and its chosen cells or
    synapses as coordinates.
    """
    quantity, timing, places = trace.quantity, blueprint.timing, {}
    dims, variable = dimensions(quantity, blueprint), quantity.variable
    if variable.unit != "1":
        rows /= in_si(variable.unit)  # in place: they can be large
    if trace.chosen is not None and variable.per == "synapse":
        dims = (f"{trace.label}_synapse",)
        sources, targets = blueprint.orientations[quantity.part].ends(np.array(trace.chosen))
        places = {
            f"{trace.label}_source": (*dims, sources),
            f"{trace.label}_target": (*dims, targets),
        }
    elif trace.chosen is not None:
        dims = (f"{trace.label}_cell",)
        places = {dims[0]: np.array(trace.chosen)}
    elif variable.per == "synapse":
        rows = blueprint.orientations[quantity.part].matrix(rows)
    rows = rows.reshape(-1, timing.duration, *(rows.shape[1:] if dims else ()))
    # Worth recording once the sample is over, or has settled.
    settles = any(population.name == "settling" for population in blueprint.parts.populations)
    late = quantity.name == "w" or variable.block == "end" or settles
    if late or timing.duration == 1:
        rows = rows[:, -1]
    else:
        dims = ("time", *dims)
    attrs = {"long_name": variable.meaning, "units": variable.unit}
    return (("sample", *dims), rows, attrs), places


def _flat_state(blueprint: Blueprint, state: Mapping[str, np.ndarray]) -> tuple[np.ndarray, list]:
    """Return the weights and memories from which a later run goes on, in one array, and their
    layout.
    """
    kept = [
        q for q in blueprint.state if q.variable.role == "memory" and q.variable.per != "circuit"
    ]
    if not kept or not all(
        np.isfinite(state[q.key]).all() for q in kept
    ):  # a circuit that diverged leads nowhere
        return np.empty(0), []
    return np.concatenate([state[q.key] for q in kept]), [[q.key, q.size] for q in kept]


def _sketch(blueprint: Blueprint) -> dict[str, list[dict]]:
    """Return the connections between populations, for readers of the file who do not have the
    circuit.
    """
    ports = {port.population: port.name for port in blueprint.ports}
    cells = ("name", "kind", "area", "size", "dimension", "shape", "meaning")
    synapses = (
        "name",
        "kind",
        "area",
        "weight",
        "source",
        "target",
        "target_by_source",
        "drives",
        "meaning",
    )
    return {
        "populations": [
            {**{name: getattr(p, name) for name in cells}, "port": ports.get(p.name, "")}
            for p in blueprint.parts.populations
            if p.shape
        ],
        "pathways": [
            {
                **{name: getattr(p, name) for name in synapses},
                "change": p.change,
                "sign": blueprint.parts.sign(p),
            }
            for p in blueprint.parts.weighted
        ],
    }


_NO_ARRAYS = SimpleNamespace(type=(), available=False)


@functools.cache
def leave_dask_out() -> None:
    """Keep xarray from importing Dask, where that is installed, only to find that an array is not
    one of Dask's.

    Importing it takes longer than most runs of a small circuit. As long as nothing has imported it,
    no array can be one of Dask's; from then on xarray asks as it always does. An xarray that asks
    in another way is left as it is.
    """
    with suppress(ImportError, AttributeError):
        from xarray.namedarray import pycompat, utils

        find_module = pycompat._get_cached_duck_array_module
        is_collection = utils.is_dask_collection

        def find_imported(name):
            absent = name == "dask" and "dask" not in sys.modules
            return _NO_ARRAYS if absent else find_module(name)

        def is_imported_collection(value):
            return "dask" in sys.modules and is_collection(value)

        pycompat._get_cached_duck_array_module = find_imported
        utils.is_dask_collection = is_imported_collection  # type: ignore[assignment]
