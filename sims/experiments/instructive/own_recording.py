"""The answers of one recording of somas and dendrites."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from biorrr.sims.lab import Figure, Findings, Quantity
from biorrr.sims.lazy import data_sets, instructive, xr

if TYPE_CHECKING:
    from biorrr.sims.recordings.measured import Measured

ASKED = {
    "specific": "(a) specific to the neuron",
    "informative": "(b) informative of the error",
    "signed": "(c) signed by causal role",
    "predictive": "(d) predictive of change",
}
ORIGIN = Quantity(
    "origin",
    "written from the published abstract of Francioni et al. (Nature 2026); it has not seen those"
    " data",
    words="origin",
)


def answer_recording(data: Measured, decay: float) -> Findings:
    """Ask the four questions of a recording."""
    from biorrr.analysis.figures.instructive import plot_neurons

    recording: instructive.DendriticRecording = data.recording
    answers = instructive.ask(recording, decay)
    asked = {question: one for question, one in answers.items() if not one.unasked}
    if not asked:
        raise data_sets.DataError(
            f"{data.name}: nothing can be asked: {answers['specific'].unasked}"
        )
    results = xr.Dataset(
        {
            "residual": (("frame", "neuron"), instructive.signals_of(recording, decay).residual),
            **{f"{q}_effect": ("neuron", one.neurons) for q, one in asked.items()},
        }
    )
    known = [
        name for name in ("error", "role", "condition") if getattr(recording, name) is not None
    ]
    return Findings(
        title=(
            f"{data.name}: {recording.neurons} neurons, {recording.frames} frames at"
            f" {recording.rate:g} Hz; known: {', '.join(known) or 'nothing of the task'}"
        ),
        quantities=[
            Quantity("recording", data.name),
            Quantity("neurons", recording.neurons),
            Quantity("frames", recording.frames),
            Quantity("caution", next((one.caution for one in answers.values() if one.caution), "")),
            *(
                Quantity(f"{question}_{name}", getattr(answer, name))
                for question, answer in answers.items()
                for name in ("yes", "effect", "low", "high", "p")
            ),
            ORIGIN,
        ],
        rows={ASKED[q]: str(one) for q, one in answers.items()},
        data={"run": results},
        figures=[
            Figure("neurons", partial(plot_neurons, {ASKED[q]: one for q, one in asked.items()}))
        ],
    )
