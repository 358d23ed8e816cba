"""The learned circuit recorded as in an experiment: stereotyped plateaus, spikes, milliseconds."""

from __future__ import annotations

from typing import Any

from biorrr.sims.circuits import completed
from biorrr.sims.experiment import Problem
from biorrr.sims.lazy import circuits, np

SHOWN_SAMPLES = 12
SHOWN_NEURONS = 3  # that fit a page


def plot_recorded(run: circuits.Run, problem: Problem, amplitude: float, spiking: int, leaky: bool) -> Any:
    """Show a few samples to the circuit ``run`` has learned, with departures and learning off; axes of the figure.

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
    from biorrr.analysis.figures.raster import plot_raster
    from biorrr.models import AllOrNone, Analog, Graded, Instant, Leaky, Spiking

    def recorded(*names: str, **departures: Any):
        attrs, data = run.data.attrs, problem.data
        circuit = problem.settings.make_circuit(k=attrs["k"], s=attrs["s"], engine="numpy", **departures)
        shown = circuit.run(
            data.X, data.Y, order=np.arange(SHOWN_SAMPLES), record=names, every=1, snapshots=1, plastic=False,
            start=run, centre=True, progress=False,
        )  # fmt: skip
        return completed(shown).data

    drive = float(np.sqrt((recorded("plateau")["plateau"] ** 2).mean())) if amplitude else 0.0
    coding = Spiking(spiking) if spiking else Analog()
    dynamics = Leaky() if leaky else Instant()
    traces = recorded(
        "plateau",
        *(["spikes"] if spiking else []),
        plateau=AllOrNone(amplitude * drive) if amplitude else Graded(),
        coding=coding,
        dynamics=dynamics,
    ).isel(pyramidal=slice(SHOWN_NEURONS))
    tick, held = (dynamics.dt, dynamics.held) if isinstance(dynamics, Leaky) else (1.0, 1)
    plateau = traces["plateau"].values.reshape(-1, traces.sizes["pyramidal"])
    spikes = None
    if isinstance(coding, Spiking):
        ticks, cells = coding.raster(traces["spikes"].values.reshape(plateau.shape))
        # Poisson cells fire at any moment of a tick alike.
        spikes = tick * (ticks + np.random.default_rng(run.data.attrs["seed"]).random(len(ticks))), cells
    return plot_raster(
        tick * np.arange(1, len(plateau) + 1),
        plateau,
        onsets=tick * held * np.arange(SHOWN_SAMPLES),
        unit="ms" if leaky else "samples",
        spikes=spikes,
        cells=spiking,
    )
