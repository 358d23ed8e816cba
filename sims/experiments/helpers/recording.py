"""The learned circuit recorded as in an experiment: stereotyped plateaus, spikes, milliseconds."""

from __future__ import annotations

from typing import Any

from biorrr.sims.experiment import Problem
from biorrr.sims.lab.circuits import completed
from biorrr.sims.lazy import circuits, np, xr

SHOWN_SAMPLES = 12
TRACES = ("plateau", "a", "inhibition", "z")


def record_learned(run: circuits.Run, problem: Problem, amplitude: float, spiking: int, leaky: bool) -> circuits.Run:
    """Show a few samples to the circuit that ``run`` has learned, with departures and learning off.

    Parameters
    ----------
    run
        Whose final weights to use.
    problem
        The data to show, and the settings of the circuit.
    amplitude
        Size of all-or-none plateaus in units of their drive's root mean square; 0 for graded ones.
    spiking
        Cells that stand for each neuron; 0 for analog activity.
    leaky
        Whether membranes relax while a sample is held, in milliseconds.
    """
    from biorrr.models import AllOrNone, Leaky, Spiking

    def recorded(*names: str, **departures: Any) -> circuits.Run:
        attrs, data = run.data.attrs, problem.data
        circuit = problem.settings.make_circuit(k=attrs["k"], s=attrs["s"], engine="numpy", **departures)
        shown = circuit.run(
            data.X, data.Y, order=np.arange(SHOWN_SAMPLES), record=names, every=1, snapshots=1, plastic=False,
            start=run, centre=True, progress=False,
        )  # fmt: skip
        return completed(shown)

    drive = float(np.sqrt((recorded("plateau").data["plateau"] ** 2).mean())) if amplitude else 0.0
    departures = [
        *([Spiking(spiking)] if spiking else []),
        *([AllOrNone(amplitude * drive)] if amplitude else []),
        *([Leaky()] if leaky else []),
    ]
    return recorded(*TRACES, *(["spikes"] if spiking else []), departures=departures)


def as_variables(recording: circuits.Run) -> dict[str, Any]:
    """Variables for run.nc: each trace as recording_<name> (moment, pyramidal), and when each moment was.

    Times count from the first sample shown.
    """
    data = recording.data
    held = data.sizes.get("time", 1)
    hold = float(data["time"].values[-1]) if held > 1 else 1.0
    samples = np.arange(data.sizes["sample"])
    ends = (hold * samples[:, None] + hold / held * np.arange(1, held + 1)).ravel()
    unit = "ms" if held > 1 else "samples"
    variables = {
        "recording_time": xr.Variable("moment", ends, {"long_name": "end of each tick", "units": unit}),
        "recording_onset": xr.Variable(
            "recording_sample", hold * samples, {"long_name": "when each sample comes on", "units": unit}
        ),
    }
    for name in (*TRACES, "spikes"):
        if name in data:
            flat = data[name].values.reshape(len(ends), -1)
            variables[f"recording_{name}"] = xr.Variable(("moment", "pyramidal"), flat, data[name].attrs)
    return variables
