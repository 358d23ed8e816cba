"""Lesions in the middle of a run, which is cut into stretches, each with all that has happened
before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from biorrr.circuit.compile.operations import ORDER, operations
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.stimulus.data_checks import check_table
from biorrr.circuit.stimulus.feeds import facts_of
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


def as_events(events, first: int, last: int) -> tuple[Event, ...]:
    """Return ``events`` of samples ``first`` to ``last``, one or several, in the order of time."""
    several = isinstance(events, Iterable) and not isinstance(events, str)
    given = tuple(events) if several else (events,)
    for event in given:
        if not isinstance(event, Silence | Freeze | CutInstruction | SwapData):
            raise InputTypeError(
                f"events: must be Silence, Freeze, CutInstruction or SwapData (got {event!r})"
            )
        if not first <= event.at < last:
            raise InputError(
                f"events: must lie in [{first}, {last - 1}], the samples of this run (got"
                f" {event!r})"
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


def after_events(job: Job, sample: int) -> Job:
    """Return ``job`` as it is after all its events up to ``sample``; refuse those that do not
    fit.
    """
    for event in job.events:
        if event.at <= sample:
            job = _after(job, event)
    return job


def _after(job: Job, event: Any) -> Job:
    """Return ``job`` as it is after one ``event``."""
    parts, ports = job.blueprint.parts, ", ".join(job.feeds)
    if isinstance(event, SwapData):
        return _with_data(job, event)
    if isinstance(event, CutInstruction):
        if "y" not in job.feeds:
            raise InputError(f"CutInstruction: cuts port y, and this circuit has {ports} alone")
        return replace(job, feeds={**job.feeds, "y": replace(job.feeds["y"], gain=0.0)})
    if isinstance(event, Silence):
        count = int(parts[event.population].size)
        if any(cell >= count for cell in event.cells or ()):
            raise InputError(
                f"Silence.cells: must lie in [0, {count - 1}], the cells of {event.population}"
                f" (got {event.cells})"
            )
        key = f"{event.population}.active"
        values = job.state[key].copy()
        values[slice(None) if event.cells is None else list(event.cells)] = 0.0
    else:
        pathways = {pathway.weight: pathway for pathway in parts.weighted}
        if event.weight not in pathways:
            have = ", ".join(pathways)
            raise InputError(
                f"Freeze.weight: there are no weights called {event.weight!r}; there are {have}"
            )
        key, values = f"{pathways[event.weight].name}.plastic", np.zeros(1)
    return replace(job, state={**job.state, key: values} if key in job.state else job.state)


def _with_data(job: Job, event: SwapData) -> Job:
    """Return ``job`` with the data of ``event`` in place of its own."""
    if set(job.feeds) != {"x", "y"}:
        raise InputError(
            f"SwapData: is for circuits with ports x and y (this one has {', '.join(job.feeds)})"
        )
    if job.blueprint.moving:
        raise InputError(
            "SwapData: is for tables of samples; put what comes later into the signal itself"
        )
    feeds = {}
    for name, values in {"x": event.X, "y": event.Y}.items():
        called, feed = f"SwapData.{name.upper()}", job.feeds[name]
        table = check_table(called, values)
        facts = facts_of(called, table, feed.centred)
        feeds[name] = replace(feed, values=table, facts=facts)
    (samples, m), (others, n) = (feed.values.shape for feed in feeds.values())
    sizes, order = job.blueprint.sizes, job.presentation.order
    if samples != others or {"x": m, "y": n} != sizes:
        raise InputError(
            f"SwapData: must have as many features as the data before, {sizes['x']} and"
            f" {sizes['y']}, and as many samples in X as in Y (got shapes {(samples, m)} and"
            f" {(others, n)})"
        )
    if not isinstance(order, str) and order.max() >= samples:
        raise InputError(
            f"SwapData: must have the rows that order asks for, up to {order.max()} (got {samples}"
            " samples)"
        )
    return replace(job, feeds=feeds, presentation=replace(job.presentation, n_samples=samples))
