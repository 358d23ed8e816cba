"""A run as a Neurodata Without Borders file: its traces and stimulus, for tools that read
recordings.
"""

from __future__ import annotations

import os
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.errors import InputError
from biorrr.files import whole_file
from biorrr.models.validation import dimension_of, in_si

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run

_STIMULI = ("x", "y")
# The paper's circuit has no clock but its samples; NWB needs seconds.
_SECONDS_PER_SAMPLE = 1.0
# Dimensions as NWB writes them.
_SI_NAMES = {
    "volt": "volts",
    "second": "seconds",
    "amp": "amperes",
    "siemens": "siemens",
    "farad": "farads",
    "hertz": "hertz",
}


def write(run: Run, path: str | os.PathLike) -> None:
    """Write the traces ``run`` has recorded to ``path``, whole or not at all.

    Inputs x and y become stimuli, all else a processing module called "simulation". A sample lasts
    as long as the circuit held it, or one second where activity is instant; what a sample ends with
    is written at its beginning. Potentials and currents have their units, with NWB's conversion to
    the SI; other quantities keep the units of the data, so that NWB's unit is "a.u.".
    """
    try:
        from pynwb import NWBHDF5IO, NWBFile, TimeSeries
        from pynwb.file import Subject
    except ImportError as error:
        raise ImportError("to_nwb: needs pynwb; pip install 'biorrr[nwb]'") from error

    names = run.traces
    if not names:
        raise InputError(
            "to_nwb: the run recorded no traces; run again with record=('x', 'y', 'z', 'plateau')"
        )
    held = run.data.attrs.get("seconds_per_sample", _SECONDS_PER_SAMPLE)
    file = NWBFile(
        session_description=(
            "Simulation of a cortical microcircuit that learns by calcium plateau potentials."
            f" {run!r}"
        ),
        identifier=str(uuid.uuid4()),
        session_start_time=datetime.now(UTC),
        experiment_description=(
            "Golkar et al., NeurIPS 2020: A simple normative network approximates local non-Hebbian"
            " learning in the cortex."
        ),
        keywords=["simulation", "plateau potentials", "reduced-rank regression"],
        # A circuit begins with its run and has no sex; readers of NWB expect to be told.
        subject=Subject(
            subject_id="microcircuit",
            description="A simulated circuit, not an animal.",
            age="P0D",
            sex="U",
        ),
        source_script="biorrr, Run.to_nwb",
        source_script_file_name="biorrr/circuit/export/nwb.py",
    )
    simulation = file.create_processing_module(
        "simulation", "Activity and learning rates of the simulated circuit."
    )
    samples, ticks = run.data["sample"].values, run.data.sizes.get("time", 1)
    each_tick = (samples[:, None] + np.arange(ticks) / ticks).ravel()
    when = {True: _sampling(held * each_tick), False: _sampling(held * samples.astype(np.float64))}
    for name in names:
        trace = run.data[name]
        sampled = when["time" in trace.dims or "time" not in run.data.dims]
        series = TimeSeries(
            name=name,
            description=trace.attrs["long_name"],
            data=run.trace(name),
            **_unit(trace.attrs["units"]),
            **sampled,
        )
        if "timestamps" in sampled:
            sampled["timestamps"] = series  # the others share those of the last
        if name in _STIMULI:
            file.add_stimulus(series)
        else:
            simulation.add(series)
    with whole_file(Path(path)) as aside, NWBHDF5IO(aside, "w") as io:
        io.write(file)


def _unit(unit: str) -> dict[str, Any]:
    """Return the unit of a series as NWB wants it: that of the SI, and the factor to it."""
    if unit == "1":
        return {"unit": "a.u."}
    return {"unit": _SI_NAMES[dimension_of(unit)], "conversion": in_si(unit)}


def _sampling(times: np.ndarray) -> dict[str, Any]:
    """Return ``times`` (rows,) in seconds as NWB wants them: as a rate where they are even."""
    steps = np.diff(times)
    if len(steps) and np.allclose(steps, steps[0], rtol=1e-9, atol=0):
        return {"starting_time": float(times[0]), "rate": float(1 / steps[0])}
    return {"timestamps": times}
