"""One stretch of simulation, in the terms every engine understands, and the lesions in the middle
of a run: it is cut into stretches, each with all that has happened before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import ORDER, operations
from biorrr.circuit.simulation.saving import Recording
from biorrr.circuit.stimulus.data_checks import check_table
from biorrr.circuit.stimulus.feeds import Feed, facts_of
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.errors import InputError, InputTypeError
from biorrr.models import (
    CutInstruction,
    Event,
    Freeze,
    Parts,
    Population,
    Silence,
    Step,
    SwapData,
    Variable,
)
from biorrr.models.meanings import Meanings

if TYPE_CHECKING:
    from biorrr.circuit.base import CircuitBase
    from biorrr.circuit.simulation.recorder import Recorder


@dataclass(frozen=True)
class Job:
    """A stretch of simulation: its initial state, its data and its records.

    Parameters
    ----------
    blueprint, presentation
        The circuit, and what is presented to it.
    feeds
        The data of each port, by its name.
    start, stop
        First sample and the one after the last, counted from the first that the circuit has seen.
    state
        Values by "part.variable", in the order of the blueprint's state: weights, flat, parameters
        and memories.
    recording
        What is recorded, and at which samples.
    snapshots
        Sample counts, ascending, in (start, stop]: weights are kept when so many are done.
    circuit
        The circuit that is simulated.
    events
        What happens in the middle, in the order of time.
    plastic
        False for a pass with learning off.
    fitted
        What rates "auto" were fitted to, by "part.variable"; empty with rates of one's own.
    """

    blueprint: Blueprint
    presentation: Presentation
    feeds: dict[str, Feed]
    start: int
    stop: int
    state: dict[str, np.ndarray]
    recording: Recording
    snapshots: np.ndarray
    circuit: CircuitBase
    events: tuple[Event, ...] = ()
    plastic: bool = True
    fitted: Mapping[str, float] = field(default_factory=dict)

    @property
    def ticks_per_sample(self) -> int:
        """Ticks for which a sample is held, and those of its replays."""
        return (
            self.blueprint.timing.duration
            + self.presentation.replay * self.blueprint.timing.replay_duration
        )

    def without_data(self) -> Job:
        """Return the same with empty tables, which holds no data in memory."""
        feeds = {name: feed.without_rows() for name, feed in self.feeds.items()}
        return replace(self, feeds=feeds)


@dataclass(frozen=True)
class Outcome:
    """The end of a job.

    Parameters
    ----------
    samples
        Sample count reached.
    state
        Values by "part.variable" at that count.
    ended
        "done", "stopped" (by a callback), "interrupted" (Ctrl-C) or "diverged" (during the sample
        after the last).
    recorder
        Snapshots and traces.
    engine, seconds
        What simulated, and how long it took.
    """

    samples: int
    state: dict[str, np.ndarray]
    ended: str
    recorder: Recorder | None = None
    engine: str = ""
    seconds: float = 0.0


def after_events(job: Job, sample: int) -> Job:
    """Return ``job`` as it is after all its events up to ``sample``."""
    state, feeds, presentation = dict(job.state), dict(job.feeds), job.presentation
    for event in job.events:
        if event.at > sample:
            continue
        if isinstance(event, Freeze):
            (pathway,) = (p for p in job.blueprint.parts.weighted if p.weight == event.weight)
            if pathway.plastic:
                state[f"{pathway.name}.plastic"] = np.zeros(1)
        elif isinstance(event, Silence):
            key = f"{event.population}.active"
            state[key] = state[key].copy()
            state[key][slice(None) if event.cells is None else list(event.cells)] = 0.0
        elif isinstance(event, CutInstruction):
            feeds["y"] = replace(feeds["y"], gain=0.0)
        elif isinstance(event, SwapData):
            for name, values in {"x": event.X, "y": event.Y}.items():
                facts = facts_of("SwapData", values, feeds[name].centred)
                feeds[name] = replace(feeds[name], values=values, facts=facts)
            presentation = replace(presentation, n_samples=len(event.X))
    return replace(job, state=state, feeds=feeds, presentation=presentation)


def as_events(events) -> tuple[Event, ...]:
    """Return ``events``, one or several, in the order of time."""
    given = (
        tuple(events) if isinstance(events, Iterable) and not isinstance(events, str) else (events,)
    )
    for event in given:
        if not isinstance(event, Event):
            raise InputTypeError(
                f"events: must be Silence, Freeze, CutInstruction or SwapData (got {event!r})"
            )
    return tuple(sorted(given, key=lambda event: event.at))


def let_fall_silent(parts: Parts, populations: Iterable[str]) -> Parts:
    """Return ``parts`` in which cells of ``populations`` may fall silent."""
    have = [population.name for population in parts.populations if population.shape]
    for name in populations:
        if name not in have:
            raise InputError(
                f"Silence.population: must be cells of this circuit (got {name!r}); it has "
                f"{', '.join(have) or 'none'}"
            )
        active = Variable("active", "0 for a cell that has fallen silent", "cell", "parameter", 1.0)
        parts = parts.having(parts[name].adding(active, *_silencing_steps(parts, parts[name])))
    return parts


def _silencing_steps(parts: Parts, cells: Population) -> Iterator[Step]:
    """Yield the steps that multiply what ``cells`` say by `active`: each variable that synapses
    read or that counts spikes, after the phase from which on its value stands when it is read.
    """
    listed = operations(Meanings(parts))
    own = {pathway.name for pathway in parts.pathways if pathway.source == cells.name}
    for variable in cells.variables:
        key = f"{cells.name}.{variable.name}"
        read = [one.phase for one in listed if one.part in own and key in one.reads]
        read += ["plasticity"] * variable.name.endswith("spikes")
        written = [one.phase for one in listed if key in one.writes]
        written += ["input"] * (variable.role == "input")
        before = [[w for w in written if ORDER[w] <= ORDER[phase]] for phase in read]
        for phase in dict.fromkeys(max(some, key=ORDER.__getitem__) for some in before if some):
            yield Step(phase, f"{variable.name} = active * {variable.name}", replays=True)


def check_events(
    events: Sequence[Event], first: int, last: int, blueprint: Blueprint, order
) -> tuple[Event, ...]:
    """Return ``events``, each fit for a run of ``blueprint`` on samples ``first`` to ``last``."""
    weights, ports = [p.weight for p in blueprint.parts.weighted], ", ".join(blueprint.sizes)
    checked = []
    for event in events:
        if not first <= event.at < last:
            raise InputError(
                f"events: must lie in [{first}, {last - 1}], the samples of this run (got"
                f" {event!r})"
            )
        if isinstance(event, Silence):
            count = int(blueprint.parts[event.population].size)
            if any(not 0 <= cell < count for cell in event.cells or ()):
                raise InputError(
                    f"Silence.cells: must lie in [0, {count - 1}], the cells of"
                    f" {event.population} (got {event.cells})"
                )
        if isinstance(event, Freeze) and event.weight not in weights:
            have = ", ".join(weights)
            raise InputError(
                f"Freeze.weight: there are no weights called {event.weight!r}; there are {have}"
            )
        if isinstance(event, CutInstruction) and "y" not in blueprint.sizes:
            raise InputError(f"CutInstruction: cuts port y, and this circuit has {ports} alone")
        checked.append(
            _check_swap(event, blueprint, order) if isinstance(event, SwapData) else event
        )
    return tuple(checked)


def _check_swap(event: SwapData, blueprint: Blueprint, order) -> SwapData:
    """Return ``event`` with its data as arrays; refuse data that do not fit the run."""
    if set(blueprint.sizes) != {"x", "y"}:
        raise InputError(
            "SwapData: is for circuits with ports x and y (this one has"
            f" {', '.join(blueprint.sizes)})"
        )
    if blueprint.moving:
        raise InputError(
            "SwapData: is for tables of samples; put what comes later into the signal itself"
        )
    X, Y = check_table("SwapData.X", event.X), check_table("SwapData.Y", event.Y)
    features = blueprint.sizes["x"], blueprint.sizes["y"]
    if len(X) != len(Y) or (X.shape[1], Y.shape[1]) != features:
        raise InputError(
            "SwapData: must have as many features as the data before,"
            f" {' and '.join(map(str, features))}, and as many samples in X as in Y (got shapes"
            f" {X.shape} and {Y.shape})"
        )
    facts_of("SwapData.X", X)
    facts_of("SwapData.Y", Y)
    if not isinstance(order, str) and order.max() >= len(X):
        raise InputError(
            f"SwapData: must have the rows that order asks for, up to {order.max()} (got {len(X)}"
            " samples)"
        )
    return SwapData(event.at, X=X, Y=Y)
