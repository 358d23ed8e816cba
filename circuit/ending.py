"""What a run ends with: weights, traces and settings, in the data's units, as a :class:`~biorrr.circuit.Run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.blueprint import WEIGHTS
from biorrr.circuit.job import Job, Outcome
from biorrr.circuit.recorder import Recorder
from biorrr.circuit.run import Run, dataset
from biorrr.circuit.statistics import chunks
from biorrr.circuit.table import departures_in_words
from biorrr.circuit.units import Units
from biorrr.models import Leaky

if TYPE_CHECKING:
    from biorrr.circuit.microcircuit import Microcircuit


class Ending:
    """What is known once a job has ended.

    Parameters
    ----------
    circuit, units
        Whose run, and how its units relate to the data's.
    job, outcome, recorder
        What was asked for, where it ended, and what was kept on the way.
    """

    def __init__(self, circuit: Microcircuit, units: Units, job: Job, outcome: Outcome, recorder: Recorder) -> None:
        self.circuit, self.units, self.job, self.outcome, self.recorder = circuit, units, job, outcome, recorder

    def run(self, **attrs) -> Run:
        """All of it as a run; ``attrs`` are kept beside the circuit's settings."""
        seen, weights = self._snapshots()
        trace_samples, traces = self._traces()
        extras = self._readout(weights["Vy"][-1]) | self._memory()
        if isinstance(self.circuit.dynamics, Leaky) and traces:
            dynamics = self.circuit.dynamics
            extras["time"] = (("time",), dynamics.dt * np.arange(1, dynamics.held + 1))
        return Run(dataset(weights, seen, traces, trace_samples, extras, self._settings() | attrs))

    def _snapshots(self) -> tuple[list[int], dict[str, np.ndarray]]:
        """Samples seen, (S,), and matrices by name, (S, rows, columns): the start, those due, the end."""
        state, pathways = self.job.state, self.job.blueprint.pathways
        kept = [(self.job.start, {p.name: state[f"{p.name}.w"] for p in pathways})]
        for t, flat in zip(self.recorder.snapshot_samples, self.recorder.snapshots, strict=True):
            if all(np.isfinite(w).all() for w in flat.values()):  # weights overflow one sample before activity does
                kept.append((t, flat))
        if self.outcome.ended != "diverged" and kept[-1][0] < self.outcome.samples:  # cut short between two snapshots
            kept.append((self.outcome.samples, {p.name: self.outcome.state[f"{p.name}.w"] for p in pathways}))
        matrices = [self.units.outward(self.job.blueprint.matrices(flat)) for _, flat in kept]
        return [t for t, _ in kept], {name: np.stack([w[name] for w in matrices]) for name in WEIGHTS}

    def _traces(self) -> tuple[list[int], dict[str, np.ndarray]]:
        """Samples traced, and traces by name, (samples, cells), or (samples, ticks, cells) where cells take time."""
        samples = [t for t in self.recorder.trace_samples if t < self.outcome.samples]  # without the one that diverged
        traces = {name: rows[: len(samples)] for name, rows in self.recorder.traces.items()}
        for name, rows in traces.items():
            rows /= self.units.scale(name)  # in place: they can be large
        if isinstance(self.circuit.dynamics, Leaky):  # every tick of a sample has left a row
            held = self.circuit.dynamics.held
            whole = len(samples) // held * held
            samples = samples[:whole:held]
            traces = {name: rows[:whole].reshape(-1, held, rows.shape[1]) for name, rows in traces.items()}
        return samples, traces

    def _readout(self, Vy: np.ndarray) -> dict:
        """What predictions need: the means of the data, and Sigma_s^-1 Vy, by which the output predicts y (Eq. 2)."""
        job, s, ridge_y = self.job, self.circuit.s, self.circuit.ridge[1]
        Cyy_Vy = sum((rows - job.mean_y).T @ ((rows - job.mean_y) @ Vy) for rows in chunks(job.Y)) / len(job.Y)
        return {
            "mean_x": (("input",), job.mean_x),
            "mean_y": (("instruction",), job.mean_y),
            "readout": (("instruction", "pyramidal"), s * (Cyy_Vy + ridge_y * Vy) + (1 - s) * Vy),
        }

    def _memory(self) -> dict:
        """What cells remember, so that a later run can go on; lesions end with the run."""
        return {
            f"{p.name}_{variable}": ((f"{p.name}_cell",), self.outcome.state[f"{p.name}.{variable}"])
            for p in self.job.blueprint.populations
            for variable in p.memory
            if variable != "active"
        }

    def _settings(self) -> dict:
        circuit, units, outcome = self.circuit, self.units, self.outcome
        settings = {
            "k": circuit.k, "s": circuit.s, "interneurons": circuit.interneurons,
            "ridge_x": circuit.ridge[0], "ridge_y": circuit.ridge[1], "ridge_by": circuit.ridge_by,
            "replay": self.job.presentation.replay, "seed": circuit.seed, "gain_x": units.gain_x,
            "gain_y": units.gain_y, "rates": "auto" if circuit.rates == "auto" else repr(circuit.rates),
            "departures": departures_in_words(circuit.departures), "ended": outcome.ended,
        }  # fmt: skip
        if "neuromodulator.log_retained" in outcome.state:
            # What is left of Q' - R since the first snapshot: a continued run counts anew, as its snapshots do.
            settings["log_retained"] = float(outcome.state["neuromodulator.log_retained"][0])
        return settings
