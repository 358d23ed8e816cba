"""The answers of one recording of somas and dendrites, and the signals behind them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Figure, Findings, Quantity
from biorrr.sims.lazy import data_sets, np, xr

if TYPE_CHECKING:
    from biorrr.analysis.instructive import Answer, DendriticRecording
    from biorrr.sims.recordings.measured import Measured

ASKED = {
    "specific": "(a) specific to the neuron",
    "informative": "(b) informative of the error",
    "signed": "(c) signed by causal role",
    "predictive": "(d) predictive of change",
}
ORIGIN = Quantity(
    "origin", "written from the published abstract of Francioni et al. (Nature 2026); it has not seen those data",
    words="origin",
)  # fmt: skip
SHOWN = 30.0  # seconds of signals in the figure


def answer_recording(data: Measured, decay: float) -> Findings:
    """Ask the four questions of a recording."""
    from biorrr.analysis.figures.instructive import plot_neurons, plot_signals
    from biorrr.analysis.instructive import ask, signals_of

    recording: DendriticRecording = data.recording
    answers = ask(recording, decay)
    asked = {question: one for question, one in answers.items() if not one.unasked}
    if not asked:
        raise data_sets.DataError(f"{data.name}: nothing can be asked: {answers['specific'].unasked}")
    results = xr.Dataset(
        {
            "residual": (("frame", "neuron"), signals_of(recording, decay).residual),
            **{f"{q}_effect": ("neuron", one.neurons) for q, one in asked.items()},
        }
    )
    known = [name for name in ("error", "role", "condition") if getattr(recording, name) is not None]
    return Findings(
        title=f"{data.name}: {recording.neurons} neurons, {recording.frames} frames at {recording.rate:g} Hz; "
        f"known: {', '.join(known) or 'nothing of the task'}",
        quantities=[
            Quantity("recording", data.name),
            Quantity("neurons", recording.neurons),
            Quantity("frames", recording.frames),
            Quantity("caution", next((one.caution for one in answers.values() if one.caution), "")),
            *(quantity for question, one in answers.items() for quantity in quantities_of(question, one)),
            ORIGIN,
        ],
        rows={ASKED[q]: str(one) for q, one in answers.items()}
        | ({"to note": "; ".join(data.notes)} if data.notes else {}),
        data={"run": results},
        figures=[
            Figure("signals", partial(plot_signals, **signals(recording, decay))),
            Figure("neurons", partial(plot_neurons, {ASKED[q]: one for q, one in asked.items()})),
        ],
    )


def quantities_of(question: str, answer: Answer) -> list[Quantity]:
    """Return the answer to a question, its effect with the ends of the confidence interval, and its p-value."""
    numbers = ("yes", "effect", "low", "high", "p")
    return [Quantity(f"{question}_{name}", getattr(answer, name)) for name in numbers]


def signals(recording: DendriticRecording, decay: float) -> dict[str, Any]:
    """Return times and fast parts of soma, dendrite, residual and, where known, role-weighted error, by name."""
    from biorrr.analysis.instructive import signals_of

    fast = signals_of(recording, decay)
    middle = len(fast.soma) // 2
    shown = slice(middle, middle + max(2, round(SHOWN * recording.rate)))
    every = {"soma": fast.soma, "dendrite": fast.dendrite, "residual": fast.residual}
    if fast.error is not None and fast.role is not None:
        every["sent"] = fast.error @ fast.role.T
    scaled = {name: one / np.maximum(one.std(axis=0), 1e-300) for name, one in every.items()}  # a role may be 0
    return {
        "times": (fast.first + np.arange(len(fast.soma))[shown]) / recording.rate,
        **{name: one[shown, :3] for name, one in scaled.items()},
    }
