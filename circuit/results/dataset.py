"""Datasets of runs: weights, traces and settings in the data's units."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.simulation.recorded_traces import Trace, dimensions
from biorrr.circuit.simulation.simulate import Simulated, outward
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.models import Pathway
from biorrr.models.physical_units import in_si


def dataset(
    simulated: Simulated,
    attrs: Mapping[str, object],
    more: Callable[[Simulated, dict[str, np.ndarray]], dict[str, tuple]],
) -> xr.Dataset:
    """Return all that is left of a run.

    Parameters
    ----------
    simulated
        The run.
    attrs
        Plain values, kept as attributes beside those that every run has.
    more
        Returns further variables, given the run and its final matrices by name.
    """
    job, outcome = simulated.job, simulated.outcome
    blueprint = job.blueprint
    seen, variables, meanings = _snapshots(simulated)
    trace_samples, traces = _traces(simulated)
    variables |= traces
    units: dict[str, str] = {}
    for trace in job.recording.traces:
        meanings[trace.label] = trace.quantity.variable.meaning
        units[trace.label] = trace.quantity.variable.unit
    for port in blueprint.ports:
        variables[f"mean_{port.name}"] = ((blueprint.parts[port.population].dimension,), job.feeds[port.name].mean)
    variables |= more(simulated, {p.weight: variables[p.weight][1][-1] for p in blueprint.weighted})
    state, layout = _flat_state(blueprint, outcome.state)
    out = xr.Dataset(
        {**variables, "state": (("state_value",), state)},
        {"seen": (("snapshot",), seen)},
        {
            "circuit": json.dumps(_sketch(blueprint)),
            "traces": json.dumps([trace.label for trace in job.recording.traces]),
            "state_layout": json.dumps(layout),
            "seed": job.presentation.seed,
            "replay": job.presentation.replay,
            "ended": outcome.ended,
            "engine": simulated.engine,
            "seconds": simulated.seconds,
            **attrs,
        },
    )
    lasts = blueprint.timing.window
    if lasts:
        out.attrs["seconds_per_sample"] = lasts
    if traces:
        shown = _rows_shown(job.presentation, trace_samples)
        out = out.assign_coords(sample=trace_samples, data_row=("sample", np.asarray(shown, dtype=np.int64)))
        out["sample"].attrs["long_name"] = "sample, counted from the first the circuit saw"
        out["data_row"].attrs["long_name"] = "row of the data that was shown"
        if lasts:
            out = out.assign_coords(start_time=("sample", lasts * out["sample"].values))
            out["start_time"].attrs.update(long_name="time at which the sample began", units="s")
    for trace in job.recording.traces:
        if trace.chosen is not None:
            out = out.assign_coords(_places(trace, blueprint))
    for port in blueprint.ports:
        if labels := job.feeds[port.name].labels:
            out = out.assign_coords({blueprint.parts[port.population].dimension: list(labels)})
    out["seen"].attrs["long_name"] = "samples seen before this snapshot"
    out["state"].attrs["long_name"] = "weights and memories as the engine holds them, for runs that continue this one"
    for name, meaning in meanings.items():
        out[name].attrs.update(long_name=meaning, units=units.get(name, "1"))
    return out


def _rows_shown(presentation: Presentation, samples: np.ndarray) -> list[int]:
    """Return the row of the data that was shown at each of ``samples``, ascending."""
    shown: list[int] = []
    for stretch in np.split(samples, np.flatnonzero(np.diff(samples) > 1) + 1):
        if len(stretch):
            shown += presentation.rows(int(stretch[0]), int(stretch[-1]) + 1).tolist()
    return shown


def _snapshots(simulated: Simulated) -> tuple[np.ndarray, dict[str, tuple], dict[str, str]]:
    """Return samples seen, (S,), and matrices by name with their dimensions and meanings."""
    blueprint, kept = simulated.job.blueprint, simulated.recorder.snapshots
    # Weights overflow one sample before activity does.
    finite = np.isfinite(np.hstack([kept.samples[:, None], *kept.values.values()])).all(axis=1)
    matrices = outward(blueprint, simulated.units, {name: rows[finite] for name, rows in kept.values.items()})
    variables, meanings = {}, {}
    for pathway in blueprint.weighted:
        name = pathway.weight
        variables[name] = (("snapshot", *dimensions(blueprint.by_key[f"{pathway.name}.w"], blueprint)), matrices[name])
        meanings[name] = pathway.meaning or f"weights from {pathway.source} to {pathway.target}"
    return kept.samples[finite], variables, meanings


def _traces(simulated: Simulated) -> tuple[np.ndarray, dict[str, tuple]]:
    """Return samples traced, and traces by name with their dimensions, one row per sample or tick."""
    job, recorder = simulated.job, simulated.recorder
    held = job.presentation.held
    samples = recorder.traces.samples
    samples = samples[samples < simulated.outcome.samples]  # without the one that diverged
    whole = len(samples) // held * held
    out: dict[str, tuple] = {}
    for trace in job.recording.traces:
        rows = recorder.traces.values[trace.label][:whole]
        variable = trace.quantity.variable
        rows /= simulated.units.scale(variable.scale) * in_si(variable.unit)  # in place: they can be large
        out[trace.label] = _shaped(trace, rows, held, job.blueprint)
    if any("time" in dims for dims, _ in out.values()):
        out["time"] = (("time",), job.blueprint.timing.tick * np.arange(1, held + 1))
    return samples[:whole:held], out


def _shaped(trace: Trace, rows: np.ndarray, held: int, blueprint: Blueprint) -> tuple[tuple[str, ...], np.ndarray]:
    part = blueprint.parts[trace.quantity.part]
    dims: tuple[str, ...] = dimensions(trace.quantity, blueprint)
    shape: tuple[int, ...] = (trace.columns,) if dims else ()
    if trace.chosen is not None:
        dims = (f"{trace.label}_{'synapse' if isinstance(part, Pathway) else 'cell'}",)
    elif isinstance(part, Pathway) and len(dims) == 2:
        turn = blueprint.orientations[part.name]
        rows, shape = turn.matrix(rows), turn.shape
    at_end = trace.quantity.name == "w" or trace.quantity.variable.at_end or blueprint.timing.settles
    if at_end:  # worth recording once the sample is over, or has settled
        return ("sample", *dims), rows[held - 1 :: held].reshape(-1, *shape)
    if held > 1:
        return ("sample", "time", *dims), rows.reshape(-1, held, *shape)
    return ("sample", *dims), rows.reshape(-1, *shape)


def _places(trace: Trace, blueprint: Blueprint) -> dict:
    """Return the chosen cells or synapses of a trace as coordinates."""
    part, chosen = blueprint.parts[trace.quantity.part], np.array(trace.chosen)
    if not isinstance(part, Pathway):
        return {f"{trace.label}_cell": chosen}
    dim = f"{trace.label}_synapse"
    sources, targets = blueprint.orientations[part.name].ends(chosen)
    return {f"{trace.label}_source": (dim, sources), f"{trace.label}_target": (dim, targets)}


def _flat_state(blueprint: Blueprint, state: Mapping[str, np.ndarray]) -> tuple[np.ndarray, list]:
    """Return the weights and memories from which a later run goes on, in one array, and their layout."""
    kept = [q for q in blueprint.state if q.variable.role == "memory" and q.variable.per != "circuit"]
    if not kept or not all(np.isfinite(state[q.key]).all() for q in kept):  # a circuit that diverged leads nowhere
        return np.empty(0), []
    return np.concatenate([state[q.key] for q in kept]), [[q.key, q.size] for q in kept]


def _sketch(blueprint: Blueprint) -> dict:
    """Return the connections between populations, for readers of the file who do not have the circuit."""
    return {
        "populations": [
            {
                "name": p.name, "size": p.size, "dimension": p.dimension, "shape": p.shape, "meaning": p.meaning,
                "port": next((port.name for port in blueprint.ports if port.population == p.name), ""),
            }
            for p in blueprint.parts.populations
            if p.shape
        ],
        "pathways": [
            {
                "name": p.name, "weight": p.weight, "source": p.source, "target": p.target, "sign": p.sign,
                "target_by_source": p.target_by_source, "drives": p.drives, "change": p.change, "meaning": p.meaning,
            }
            for p in blueprint.weighted
        ],
    }  # fmt: skip
