"""Lesions in the middle of a run: the run is cut into stretches, each with all that has happened before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from biorrr.circuit.blueprint import Blueprint
from biorrr.circuit.checks import check_data
from biorrr.circuit.job import Engine, Job, Outcome
from biorrr.circuit.recorder import Recorder
from biorrr.circuit.statistics import moments
from biorrr.models import CutInstruction, Event, Freeze, Silence, SwapData


class LesionedEngine:
    """An engine for runs with events.

    Parameters
    ----------
    engine_of
        Gives the engine that simulates a blueprint.
    blueprint_of
        Gives the blueprint in which the named matrices are frozen.
    events
        What happens, and when.
    centre
        Whether samples are presented less their means.
    """

    def __init__(
        self,
        engine_of: Callable[[Blueprint], Engine],
        blueprint_of: Callable[[frozenset[str]], Blueprint],
        events: Sequence[Event],
        centre: bool,
    ) -> None:
        self.engine_of, self.blueprint_of, self.events, self.centre = engine_of, blueprint_of, events, centre

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job``, event by event."""
        cuts = sorted({event.at for event in self.events if job.start < event.at < job.stop})
        state = job.state
        for start, stop in pairwise([job.start, *cuts, job.stop]):
            stretch = self.lesioned(replace(job, start=start, stop=stop, state=state), start)
            outcome = self.engine_of(stretch.blueprint).advance(stretch, recorder)
            state = outcome.state
            if outcome.ended != "done":
                return outcome
            if recorder.stopped and stop < job.stop:
                return replace(outcome, ended="stopped")
        return outcome

    def lesioned(self, job: Job, sample: int) -> Job:
        """``job`` as it is after all events up to ``sample``."""
        past = [event for event in self.events if event.at <= sample]
        frozen = frozenset(event.weight for event in past if isinstance(event, Freeze))
        job = replace(job, blueprint=self.blueprint_of(frozen))
        for event in past:
            if isinstance(event, Silence):
                active = job.state["interneurons.active"].copy()
                active[slice(None) if event.cells is None else list(event.cells)] = 0.0
                job = replace(job, state={**job.state, "interneurons.active": active})
            elif isinstance(event, CutInstruction):
                job = replace(job, gain_y=0.0)
            elif isinstance(event, SwapData):
                mean_x, mean_y = (
                    moments(values)[0] if self.centre else np.zeros(values.shape[1]) for values in (event.X, event.Y)
                )
                presentation = replace(job.presentation, n_samples=len(event.X))
                job = replace(job, X=event.X, Y=event.Y, presentation=presentation, mean_x=mean_x, mean_y=mean_y)
        return job


def check_events(events, first: int, last: int, shapes: tuple[int, int], interneurons: int, order) -> tuple[Event, ...]:
    """``events`` in the order of time, each fit for a run of samples ``first`` to ``last``."""
    checked = []
    for event in events:
        if not isinstance(event, Event):
            raise TypeError(f"events: must be Silence, Freeze, CutInstruction or SwapData (got {event!r})")
        if not first <= event.at < last:
            raise ValueError(f"events: must lie in [{first}, {last - 1}], the samples of this run (got {event!r})")
        if isinstance(event, Silence) and any(not 0 <= cell < interneurons for cell in event.cells or ()):
            raise ValueError(
                f"Silence.cells: must lie in [0, {interneurons - 1}], the interneurons (got {event.cells})"
            )
        if isinstance(event, SwapData):
            X, Y = check_data("SwapData.X", event.X), check_data("SwapData.Y", event.Y)
            if len(X) != len(Y) or (X.shape[1], Y.shape[1]) != shapes:
                raise ValueError(
                    f"SwapData: must have as many features as the data before, {shapes[0]} and {shapes[1]}, and as "
                    f"many samples in X as in Y (got shapes {X.shape} and {Y.shape})"
                )
            if not isinstance(order, str) and order.max() >= len(X):
                raise ValueError(
                    f"SwapData: must have the rows that order asks for, up to {order.max()} (got {len(X)} samples)"
                )
            event = SwapData(event.at, X=X, Y=Y)
        checked.append(event)
    return tuple(sorted(checked, key=lambda event: event.at))
