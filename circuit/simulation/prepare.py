"""From a circuit and its data to a job: everything that a simulation starts from, checked."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Quantity
from biorrr.circuit.simulation.job import Job, as_events, check_events
from biorrr.circuit.simulation.saving import Saving, recording_of, snapshot_samples
from biorrr.circuit.stimulus.data_checks import (
    check_order,
    check_weights,
    mapping,
    warn,
    warn_of_shuffling,
)
from biorrr.circuit.stimulus.feeds import read_feeds
from biorrr.circuit.stimulus.presentation import WEIGHTS, Presentation, as_seed, generator
from biorrr.errors import InputError, InputTypeError
from biorrr.models import Event, Pathway, Population, Silence
from biorrr.models.expressions import evaluate, names_in
from biorrr.models.validation import LARGEST_WHOLE, in_si, plain, truth, whole_number

if TYPE_CHECKING:
    from biorrr.circuit.base import CircuitBase
    from biorrr.circuit.results.run import Run


def prepare(circuit: CircuitBase, X, Y=None, *, seed=None, **arguments) -> Job:
    """Check data and arguments, as :meth:`biorrr.circuit.Microcircuit.run` takes them; return what
    is to be simulated.
    """
    return prepare_seeds(
        circuit, X, Y, seeds=[circuit.seed if seed is None else seed], **arguments
    )[0]


def prepare_seeds(
    circuit: CircuitBase,
    X,
    Y=None,
    *,
    epochs: int = 1,
    order=None,
    saving: Saving = Saving(),  # noqa: B008  # a frozen value
    plastic: bool = True,
    start: Run | None = None,
    centre: bool = False,
    events: Sequence[Event] = (),
    final: bool = True,
    seeds: Iterable,
    weights: Mapping[str, object] | None = None,
) -> list[Job]:
    """Check data and arguments, as :meth:`biorrr.circuit.Microcircuit.run` takes them; return what
    is to be simulated with each of ``seeds``.
    """
    for switch, value in {"plastic": plastic, "centre": centre, "final": final}.items():
        truth(switch, value)
    epochs = whole_number("epochs", epochs, minimum=1)
    feeds = read_feeds(circuit.parts, circuit.ports, X, Y, centre, circuit.timing)
    n_samples = feeds[circuit.ports[0].name].samples
    order = check_order(order, n_samples, any(feed.in_time for feed in feeds.values()))
    warn_of_shuffling(order, circuit.parts.departures, circuit.timing)
    if start is not None and not hasattr(start, "inner_state"):
        raise InputTypeError(
            f"start: must be a Run (got {start!r}); Run.load reads one from a file"
        )
    first = 0 if start is None else start.samples
    last = first + epochs * (n_samples if isinstance(order, str) else len(order))
    if last > LARGEST_WHOLE:
        raise InputError(
            f"epochs: a circuit can count 2**53 samples (got {epochs} epochs, {last} samples in"
            " all)"
        )
    moving = frozenset(name for name, feed in feeds.items() if feed.ticks != feed.duration)
    sizes = {name: feed.values.shape[1] for name, feed in feeds.items()}
    events = as_events(events)
    silent = (event.population for event in events if isinstance(event, Silence))
    blueprint = circuit.blueprint_for(sizes, moving, tuple(dict.fromkeys(silent)))
    given = mapping("weights", weights)
    if plastic and start is not None and start.cooled:
        warn(
            "start: that run was final, and its rates have fallen to zero; they begin anew here."
            " Give final=False to a run that is to be continued"
        )
    switches = [q.key for q in blueprint.state if q.name in ("plastic", "learning")]
    switched = {key: np.array([float(plastic)]) for key in switches}
    switched["clock.sample"] = np.array([first - 1.0])
    record = circuit.traced if saving.record is None else saving.record
    recording = recording_of(record, saving.every, blueprint, first, last)
    snapshots = snapshot_samples(saving.snapshots, first, last)
    events = check_events(events, first, last, blueprint, order)
    announced = last if final and plastic else math.inf
    jobs = []
    begin = circuit.begin(blueprint, feeds, announced, start)
    m = sizes[blueprint.replayed_port.name]
    for seed in [as_seed("seed", seed) for seed in seeds]:
        state = initial_state(blueprint, begin, seed, given, start) | switched
        presented = Presentation(n_samples, m, order, begin.replay, seed)
        jobs.append(
            Job(
                blueprint,
                presented,
                feeds,
                first,
                last,
                state,
                recording,
                snapshots,
                circuit,
                events,
                plastic,
                begin.parameters,
            )
        )
    return jobs


@dataclass(frozen=True)
class Beginning:
    """The way in which a circuit meets its data.

    Parameters
    ----------
    draw
        Function that draws initial matrices by name from a seed; others are drawn pathway by
        pathway.
    parameters
        Values by "part.variable", in place of those the parts declare.
    replay
        Replays after each sample.
    """

    draw: Callable[[int], Mapping[str, np.ndarray]] = lambda seed: {}
    parameters: Mapping[str, float] = field(default_factory=dict)
    replay: int = 0


def initial_state(
    blueprint: Blueprint,
    begin: Beginning,
    seed: int,
    given: Mapping[str, object] | None = None,
    start: Run | None = None,
) -> dict[str, np.ndarray]:
    """Return values by "part.variable", flat, in the order of the blueprint's state.

    Parameters
    ----------
    blueprint, begin, seed
        The circuit, how it meets its data, and the seed of what is drawn.
    given
        Matrices by name that replace those of ``begin``.
    start
        An earlier run to continue, whose weights and memories replace all others.
    """
    weights = {**begin.draw(seed), **check_given_weights(given or {}, blueprint)}
    values = _Values(blueprint, seed, begin.parameters)
    state = {} if start is None else _memories(start, blueprint)
    for quantity in blueprint.state:
        if quantity.name != "w" and quantity.key not in state:
            state[quantity.key] = values.flat(quantity)
    for pathway in blueprint.parts.weighted:
        orientation, key = blueprint.orientations[pathway.name], f"{pathway.name}.w"
        if key in state:
            drawn = state[key]
        elif pathway.weight in weights:
            drawn = orientation.flat(weights[pathway.weight])
        else:
            rng = generator(seed, WEIGHTS, zlib.crc32(pathway.name.encode()))
            drawn = pathway.spread * rng.standard_normal(math.prod(orientation.shape))
        state[key] = values.initial_weights(pathway, drawn)
    return {quantity.key: state[quantity.key] for quantity in blueprint.state}


def check_given_weights(given: Mapping[str, object], blueprint: Blueprint) -> dict[str, np.ndarray]:
    """Check matrices given by name; return them as arrays of floats."""
    known = {p.weight: p for p in blueprint.parts.weighted}
    out = {}
    for name, values in given.items():
        if name not in known:
            raise InputError(
                f"weights: there is no matrix called {name!r}; there are {', '.join(known)}"
            )
        what = f"{name}0" if name in ("Vx", "Vy", "Q", "R") else f"weights[{name!r}]"
        shape = blueprint.orientations[known[name].name].shape
        out[name] = check_weights(what, values, shape)
    return out


def _memories(start: Run, blueprint: Blueprint) -> dict[str, np.ndarray]:
    """Return weights and memories that an earlier run ended with, as the engine holds them, by
    "part.variable".
    """
    ended = start.inner_state()
    # What is broadcast begins anew: the clock knows where it stands, and sums are those of this
    # run.
    kept = {
        quantity.key: ended[quantity.key]
        for quantity in blueprint.state
        if quantity.variable.role == "memory"
        and quantity.variable.per != "circuit"
        and quantity.name != "w"
        and len(ended.get(quantity.key, ())) == quantity.size
    }
    for pathway in blueprint.parts.weighted:
        if pathway.weight in start.data:
            orientation, matrix = (
                blueprint.orientations[pathway.name],
                start.weights[pathway.weight],
            )
            weights = check_weights(f"start.{pathway.weight}", matrix, orientation.shape)
            kept[f"{pathway.name}.w"] = orientation.flat(weights)
    return kept


class _Values:
    """Values of parameters and memories, each found when another or the circuit needs it."""

    def __init__(self, blueprint: Blueprint, seed: int, parameters: Mapping[str, float]) -> None:
        self.blueprint, self.seed, self.parameters = blueprint, seed, parameters
        self.found: dict[str, np.ndarray] = {}
        self.open: list[str] = []

    def flat(self, quantity: Quantity) -> np.ndarray:
        """Return the values of ``quantity`` in SI units, shape (size,)."""
        if quantity.key not in self.found:
            if quantity.key in self.open:
                raise InputError(
                    f"{quantity.key}.value: depends on itself, by way of {', '.join(self.open)}"
                )
            self.open.append(quantity.key)
            variable = quantity.variable
            value = self.parameters.get(quantity.key, variable.value)
            if isinstance(value, str):
                known = {
                    "seed": float(self.seed),
                    "i": np.arange(quantity.size),
                    "cells": lambda name: float(self.blueprint.parts[name].size),
                    "relaxation": self._relaxation,
                }
                value = self._evaluate(value, self.blueprint.parts[quantity.part], known)
            value = plain(quantity.key, value, variable.unit)
            value = np.asarray(value, dtype=np.float64) * in_si(variable.unit)
            self.found[quantity.key] = np.empty(quantity.size)
            self.found[quantity.key][:] = value
            self.open.remove(quantity.key)
        return self.found[quantity.key]

    def initial_weights(self, pathway: Pathway, drawn: np.ndarray) -> np.ndarray:
        """Return the initial weights of a pathway, given those asked for or ``drawn``, flat."""
        started = self._evaluate(pathway.start, pathway, {"w": drawn})
        return np.broadcast_to(started, drawn.shape).astype(np.float64)

    def _evaluate(self, expression: str, part: Population | Pathway, known: Mapping[str, object]):
        """Return the value of an expression of ``part``, given the names that are ``known``; others
        are variables.
        """
        names = dict(known)
        for name in names_in(expression).read:
            found = None if name in names else self.blueprint.meanings.find(part, name)
            if found is not None:
                other = self.blueprint.by_key[found.key]
                value = self.flat(other) / in_si(other.variable.unit)
                if found.place in ("pre", "post"):
                    orientation = self.blueprint.orientations[part.name]
                    value = (
                        np.repeat(value, orientation.targets)
                        if found.place == "pre"
                        else np.tile(value, orientation.sources)
                    )
                names[name] = value[0] if value.size == 1 else value
        return evaluate(expression, names)

    def _relaxation(self, tau: float) -> float:
        """Return 1 - exp(-tick/tau), the exact step while the drive stands still."""
        tick = float(self.flat(self.blueprint.by_key["clock.tick"])[0]) / in_si("ms")
        return 1 - math.exp(-tick / tau) if tau else 1.0
