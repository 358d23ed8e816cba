"""Cells in millivolts as an electrode records them: one cell and its population, and its firing under clamp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.experiments.plateau.agreement import Member
from biorrr.sims.experiments.plateau.results import At
from biorrr.sims.lab import Figure, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import circuits, models, np

SHOWN_SAMPLES = 8
DENDRITE = (-150.0, -50.0, 35.0, 120.0, 205.0, 290.0, 400.0)  # pA
SOMA = (200.0, 300.0, 400.0, 500.0, 600.0, 700.0)
PLATEAU, SHORTEST = -38.0, 5.0  # mV that a calcium plateau exceeds, half of its current's activation, for so many ms
STAGES = {"before": "before learning", "after": "after learning"}
CAPTIONS = {
    "cell": "One pyramidal cell of the first neuron in millivolts, below the raster of the population that stands for "
    "this neuron, before and after learning, with learning off. Faint lines mark where a sample comes on. Samples in "
    "which theory says that the teaching signal is larger than usual are shaded, yellow and + where it should be "
    "above rest, grey and – where below: after learning there tend to be more bursts (red) in yellow samples and "
    "fewer in grey ones, but single samples scatter. The dendrite gets the distal excitation (orange) less the "
    "inhibition (green), which is of either sign about a tonic level. Spikes of the soma are drawn to 10 mV.",
    "firing": "How the cell fires under constant currents and its background noise. The rate of events, lone spikes "
    "and bursts alike, follows the somatic current (right), and the probability that an event is a burst the dendritic "
    "one (left). Dashed lines: where cells of the circuit rest.",
}


@dataclass(frozen=True)
class Clamp:
    """Cells to be recorded under constant currents."""


@dataclass(frozen=True)
class Cells:
    """Cells of a circuit to be recorded, as it was at a snapshot."""

    at: At


def clamp() -> dict[str, np.ndarray]:
    """Return rates and burst probabilities against the current into each compartment, and plateaus at rest."""
    from biorrr.circuit.current_clamp import current_clamp, firing

    rest = models.Millivolts()
    out: dict[str, np.ndarray] = {}
    fixed: dict[str, Any] = {"cells": 40, "duration": 5300.0, "dt": 0.25, "record": ("spike", "event", "burst", "Vd")}
    injected = {"dendrite": (rest.rest_soma, DENDRITE), "soma": (SOMA, rest.rest_dendrite)}
    for name, currents in injected.items():
        run = current_clamp(*currents, **fixed)
        levels = len({"dendrite": DENDRITE, "soma": SOMA}[name])
        found = firing(run, levels)
        out[f"event_rate_{name}"] = found["event_rate"].mean("cell").values
        out[f"burst_probability_{name}"] = found["burst_probability"].values
        if name == "dendrite":
            at_rest = list(DENDRITE).index(rest.rest_dendrite)
            Vd = run.data["Vd"].values[0].reshape(-1, levels, fixed["cells"])[:, at_rest]
            out |= plateaus(Vd, fixed["dt"])
    return out


def plateaus(Vd: np.ndarray, dt: float) -> dict[str, np.ndarray]:
    """Return rate (Hz) and median duration (ms) of calcium plateaus in potentials (T, cells) of dendrites."""
    above = np.vstack([np.zeros((1, Vd.shape[1])), Vd > PLATEAU, np.zeros((1, Vd.shape[1]))])
    edges = np.diff(above, axis=0).T  # cell by cell, so that beginnings and ends pair up
    lasted = dt * (np.nonzero(edges < 0)[1] - np.nonzero(edges > 0)[1])
    lasted = lasted[lasted >= SHORTEST]
    seconds = Vd.size * dt / 1000
    duration = np.median(lasted) if len(lasted) else np.nan
    return {"plateau_rate": np.array(len(lasted) / seconds), "plateau_duration": np.array(duration)}


def recorded_variables() -> dict[str, Any]:
    """Return what is recorded of the cells of the first neuron, and of all neurons."""
    first = list(range(models.Millivolts().population))
    names = ("Vs", "Vd", "calcium", "bursting_cells.spike", "event", "burst")
    outputs = ("a", "inhibited", "usual_drive", "soma_current", "dendrite_current", "z", "plateau")
    return dict.fromkeys(names, first) | dict.fromkeys(outputs, True)


def traces(recorded: Mapping[str, circuits.Run]) -> dict[str, dict[str, np.ndarray]]:
    """Return signals of the cell that bursts most and of its population, by stage, as :func:`plot_cell` takes them."""
    gain = models.Millivolts().gain_dendrite
    cell = int(recorded["after"].data["burst"].values.sum(axis=(0, 1)).argmax())
    out = {}
    for stage, run in recorded.items():
        data, held = run.data, run.data.sizes["time"]
        size = np.sqrt(data["usual_drive"].values[:, :, 0].ravel())
        flat = {name: run.trace(name) for name in ("Vs", "Vd", "calcium", "bursting_cells_spike", "event", "burst")}
        out[stage] = {
            "time": float(data["time"].values[0]) * np.arange(1, len(size) + 1),
            **{name: flat[name][:, cell] for name in ("Vs", "Vd", "calcium")},
            "fired": flat["bursting_cells_spike"][:, cell],
            "distal": gain * np.repeat(data["a"].values[:, 0], held) / size,
            "inhibitory": gain * data["inhibited"].values[:, :, 0].ravel() / size,
            "event": flat["event"],
            "burst": flat["burst"],
        }
    return out


def figures(recorded: Mapping[str, circuits.Run], member: Member, clamped: Mapping[str, np.ndarray]) -> list[Figure]:
    """Return the figures of one cell; samples are marked by what theory says of them, in units of the r.m.s."""
    from biorrr.analysis.figures.millivolts import plot_cell, plot_firing

    rest = models.Millivolts()
    shown = traces(recorded)
    expected = {stage: getattr(member, stage)[0].expected["plateau"][:, 0] for stage in STAGES}
    errors = {stage: signal[:SHOWN_SAMPLES] / np.sqrt(np.mean(signal**2)) for stage, signal in expected.items()}
    onsets = rest.hold * np.arange(SHOWN_SAMPLES)
    found = [
        {name: clamped[f"{name}_{into}"] for name in ("event_rate", "burst_probability")}
        for into in ("dendrite", "soma")
    ]
    cell = partial(
        plot_cell,
        {STAGES[stage]: signals for stage, signals in shown.items()},
        onsets=dict.fromkeys(STAGES.values(), onsets),
        errors={STAGES[stage]: errors[stage] for stage in shown},
    )
    firing = partial(plot_firing, DENDRITE, found[0], SOMA, found[1], rest=(rest.rest_soma, rest.rest_dendrite))
    return [Figure("cell", cell), Figure("firing", firing)]


def quantities(clamped: Mapping[str, np.ndarray]) -> list[Quantity]:
    """Return how a cell fires at rest."""
    at, row = list(DENDRITE).index(models.Millivolts().rest_dendrite), "a cell at rest"
    share = float(clamped["burst_probability_dendrite"][at])
    plateaus_of = float(clamped["plateau_duration"])
    return [
        Quantity("rest_event_rate", float(clamped["event_rate_dendrite"][at]), "per second", "events", row=row),
        Quantity("rest_burst_probability", share, PERCENT, "of which bursts", row=row),
        Quantity("rest_plateau_rate", float(clamped["plateau_rate"]), "per second", "calcium plateaus", row=row),
        Quantity("rest_plateau_duration", plateaus_of, "ms", "their median duration", row=row),
    ]
