"""Cells with electrodes in soma and dendrite: what a cell does under constant currents, in millivolts and hertz."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import xarray as xr

from biorrr.circuit.circuit import Circuit
from biorrr.circuit.results.run import Run
from biorrr.models import BurstingCells, HoldingClock, Population, Variable, with_values
from biorrr.models.millivolts import fan
from biorrr.models.physical_units import milliseconds
from biorrr.models.validation import number_within, whole_number

TRACES = ("Vs", "Vd", "calcium", "spike", "event", "burst")


def current_clamp(
    soma,
    dendrite,
    *,
    cell: Population | None = None,
    cells: int = 20,
    duration: float = 3000.0,
    dt: float = 0.1,
    record: Sequence[str] = TRACES,
    engine: str = "auto",
    seed: int = 0,
) -> Run:
    """Inject constant currents into cells and record them.

    Parameters
    ----------
    soma, dendrite : (levels,) or a number
        Currents in pA, which broadcast against each other; each pair is a level.
    cell
        The cells, :class:`~biorrr.models.BurstingCells` unless given.
    cells
        How many cells get each level; they differ in their noise.
    duration, dt
        For which currents flow, and the length of a tick, in ms.
    record
        Variables of the cells to record.
    engine, seed
        As circuits take them.

    Returns
    -------
    run
        Its ``data`` has each variable as (sample, time, bursting_cell), with one sample; cells come level by level.
    """
    levels = np.broadcast_arrays(*(np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in (soma, dendrite)))
    duration, dt = (milliseconds(name, value) for name, value in (("duration", duration), ("dt", dt)))
    whole_number("cells", cells, minimum=1)
    number_within("dt", dt, 1e-6)
    held = round(duration / dt)
    clock = with_values(HoldingClock(), held=float(held), tick=dt, lapse=dt / 1000)
    electrodes = [
        Population(
            len(levels[0]), f"{place}_electrodes",
            (Variable(place, f"current injected into the {place}", role="input", unit="pA"),),
        )
        for place in ("soma", "dendrite")
    ]  # fmt: skip
    clamped = cell or BurstingCells()
    clamped = Population(
        **{name: getattr(clamped, name) for name in ("name", "variables", "steps", "meaning", "dimension", "shape")},
        size=cells * len(levels[0]),
    )
    wires = [
        fan("out", f"{place}_wires", f"{place}_electrodes", clamped.name, {into: place}, cells, "cells")
        for place, into in (("soma", "I_s"), ("dendrite", "I_d"))
    ]
    circuit = Circuit([clock, *electrodes, clamped], wires, engine=engine, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about inputs that are constant: they are meant to be
        return circuit.run(
            {"soma": levels[0][None], "dendrite": levels[1][None]}, record=record, every=1, snapshots=1,
            order="sequential", progress=False,
        )  # fmt: skip


def firing(run: Run, levels: int, skip: float = 300.0) -> xr.Dataset:
    """Rates of events and spikes in Hz and the burst probability at each level of a :func:`current_clamp`.

    Parameters
    ----------
    run
        With spike, event and burst recorded.
    levels
        How many levels there were.
    skip
        Time at the beginning that does not count, in ms.
    """
    time = run.data["time"].values
    counted = time > skip
    seconds = (time[-1] - skip) / 1000
    counts = {
        name: run.data[name].values[0, counted].sum(axis=0).reshape(levels, -1) for name in ("event", "burst", "spike")
    }
    each = {"event_rate": counts["event"] / seconds, "spike_rate": counts["spike"] / seconds}
    out = xr.Dataset({name: (("level", "cell"), rate, {"units": "Hz"}) for name, rate in each.items()})
    out["burst_probability"] = ("level", counts["burst"].sum(axis=1) / np.maximum(counts["event"].sum(axis=1), 1))
    return out
