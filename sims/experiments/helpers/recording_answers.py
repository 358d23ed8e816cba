"""The answers of one recording of somas and dendrites, and the signals behind them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiment import Findings, Problem
from biorrr.sims.experiments.helpers.imaged_circuits_results import ASKED, ORIGIN
from biorrr.sims.lazy import data_sets, np, xr

if TYPE_CHECKING:
    from biorrr.analysis.instructive import DendriticRecording

SHOWN = 30.0  # seconds of signals in the figure


def signals(recording: DendriticRecording, decay: float) -> tuple:
    """Return times and fast parts of soma, dendrite, residual and role-weighted error (None where not known)."""
    from biorrr.analysis.instructive import signals_of

    fast = signals_of(recording, decay)
    sent = None if fast.error is None or fast.role is None else fast.error @ fast.role.T
    middle = len(fast.soma) // 2
    shown = slice(middle, middle + max(2, round(SHOWN * recording.rate)))
    times = (fast.first + np.arange(len(fast.soma))[shown]) / recording.rate
    every = (fast.soma, fast.dendrite, fast.residual, sent)
    scaled = (None if one is None else one / np.maximum(one.std(axis=0), 1e-300) for one in every)  # a role may be 0
    return times, *(None if one is None else one[shown, :3] for one in scaled)


def answered(problem: Problem[Any]) -> Findings:
    """The four answers of a recording."""
    from biorrr.analysis.figures import instructive as figures
    from biorrr.analysis.instructive import ask, signals_of

    recording, decay = problem.data.recording, problem.settings.decay  # type: ignore[attr-defined]
    answers = ask(recording, decay)
    numbers: dict[str, Any] = {"recording": problem.data.name, "neurons": recording.neurons, "frames": recording.frames}
    numbers["caution"] = next((one.caution for one in answers.values() if one.caution), "")
    for question, answer in answers.items():
        numbers |= {f"{question}_yes": answer.yes}
        numbers |= {f"{question}_{name}": getattr(answer, name) for name in ("effect", "low", "high", "p")}
    asked = {question: one for question, one in answers.items() if not one.unasked}
    if not asked:
        raise data_sets.DataError(f"{problem.data.name}: nothing can be asked: {answers['specific'].unasked}")
    results = xr.Dataset(
        {
            "residual": (("frame", "neuron"), signals_of(recording, decay).residual),
            **{f"{q}_effect": ("neuron", one.neurons) for q, one in asked.items()},
            **{f"{q}_p": ("neuron", one.p_neurons) for q, one in asked.items()},
        }
    )
    known = [name for name in ("error", "role", "condition") if getattr(recording, name) is not None]
    return Findings(
        numbers=numbers | {"origin": ORIGIN},
        title=f"{problem.data.name}: {recording.neurons} neurons, {recording.frames} frames at {recording.rate:g} Hz; "
        f"known: {', '.join(known) or 'nothing of the task'}",
        rows={ASKED[q]: str(one) for q, one in answers.items()}
        | ({"to note": "; ".join(problem.data.notes)} if problem.data.notes else {})
        | {"origin": ORIGIN},
        results={"run": results},
        figures={
            "signals": partial(figures.plot_signals, *signals(recording, decay)),
            "neurons": partial(figures.plot_neurons, {ASKED[q]: one for q, one in asked.items()}),
        },
    )
