"""From a circuit and its data to a job: everything that a simulation starts from, checked."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Quantity, Timing
from biorrr.circuit.simulation.events import after_events, as_events
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.saving import Saving, recording_of
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
    timing = Timing.of(circuit.parts)
    feeds = read_feeds(circuit.parts, circuit.ports, X, Y, centre, timing)
    n_samples = feeds[circuit.ports[0].name].samples
    order = check_order(order, n_samples, any(feed.in_time for feed in feeds.values()))
    warn_of_shuffling(order, circuit.parts.departures, timing)
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
    events = as_events(events, first, last)
    silent = (event.population for event in events if isinstance(event, Silence))
    blueprint = circuit.blueprint_for(sizes, moving, tuple(dict.fromkeys(silent)))
    given = mapping("weights", weights)
    if plastic and start is not None and start.cooled:
        warn(
            "start: that run was final, and its rates have fallen to zero; they begin anew here."
            " Give final=False to a run that is to be continued"
        )
    switches = [q for q in blueprint.state if q.name in ("plastic", "learning")]
    switched = {switch.key: np.array([float(plastic)]) for switch in switches}
    switched["clock.sample"] = np.array([first - 1.0])
    record = circuit.traced if saving.record is None else saving.record
    recording = recording_of(replace(saving, record=record), blueprint, first, last)
    announced = last if final and plastic else math.inf
    begin = circuit.begin(blueprint, feeds, announced, start)
    m = sizes[blueprint.replayed_port.name]
    checked = [as_seed("seed", seed) for seed in seeds]
    jobs = [
        Job(
            blueprint=blueprint,
            presentation=Presentation(n_samples, m, order, begin.replay, seed),
            feeds=feeds,
            start=first,
            stop=last,
            state=initial_state(blueprint, begin, seed, given, start) | switched,
            recording=recording,
            circuit=circuit,
            events=events,
            plastic=plastic,
            fitted=begin.parameters,
        )
        for seed in checked
    ]
    after_events(jobs[0], last)  # refuses those that do not fit
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
    weights = _check_weights({**begin.draw(seed), **(given or {})}, blueprint)
    ended: Mapping[str, np.ndarray] = {}
    if start is not None:
        ended, known = start.inner_state(), [p.weight for p in blueprint.parts.weighted]
        learned = {name: W for name, W in start.weights.items() if name in known}
        weights |= _check_weights(learned, blueprint, "start.")
    values, state = _Values(blueprint, seed, begin.parameters), {}
    for quantity in blueprint.state:
        key, variable = quantity.key, quantity.variable
        if quantity.name == "w":
            pathway = blueprint.parts[quantity.part]
            state[key] = values.of_weights(pathway, weights.get(pathway.weight))
        elif (
            # What is broadcast begins anew: the clock knows where it stands, and sums are those of
            # this run.
            variable.role == "memory"
            and variable.per != "circuit"
            and len(ended.get(key, ())) == quantity.size
        ):
            state[key] = ended[key]
        else:
            state[key] = values.flat(quantity)
    return state


def _check_weights(
    given: Mapping[str, object], blueprint: Blueprint, owner: str = ""
) -> dict[str, np.ndarray]:
    """Check matrices given by name, or those of ``owner``; return them as arrays of floats."""
    known = {p.weight: p for p in blueprint.parts.weighted}
    out = {}
    for name, values in given.items():
        if name not in known:
            raise InputError(
                f"weights: there is no matrix called {name!r}; there are {', '.join(known)}"
            )
        called = f"{name}0" if name in ("Vx", "Vy", "Q", "R") else f"weights[{name!r}]"
        shape = blueprint.orientations[known[name].name].shape
        out[name] = check_weights(f"{owner}{name}" if owner else called, values, shape)
    return out


class _Values:
    """Values of parameters and memories, each found when another or the circuit needs it."""

    def __init__(self, blueprint: Blueprint, seed: int, parameters: Mapping[str, float]) -> None:
        self.blueprint, self.seed, self.parameters = blueprint, seed, parameters
        self.found: dict[str, np.ndarray] = {}
        self.open: list[str] = []

    def flat(self, quantity: Quantity) -> np.ndarray:
        """Return the values of ``quantity`` in SI units, shape (size,)."""
        key, unit = quantity.key, quantity.variable.unit
        if key in self.open:
            raise InputError(f"{key}.value: depends on itself, by way of {', '.join(self.open)}")
        if key not in self.found:
            self.open.append(key)
            value = self.parameters.get(key, quantity.variable.value)
            if isinstance(value, str):
                known = {
                    "seed": float(self.seed),
                    "i": np.arange(quantity.size),
                    "cells": lambda name: float(self.blueprint.parts[name].size),
                    "relaxation": self._relaxation,
                }
                value = self._evaluate(value, self.blueprint.parts[quantity.part], known)
            value = np.full(quantity.size, plain(key, value, unit), np.float64)
            self.found[key] = value * in_si(unit)
            self.open.pop()
        return self.found[key]

    def of_weights(self, pathway: Pathway, given: np.ndarray | None) -> np.ndarray:
        """Return the weights that a pathway begins with, flat, of the matrix that is ``given`` or
        else drawn.
        """
        orientation = self.blueprint.orientations[pathway.name]
        if given is None:
            rng = generator(self.seed, WEIGHTS, zlib.crc32(pathway.name.encode()))
            w = pathway.spread * rng.standard_normal(math.prod(orientation.shape))
        else:
            w = orientation.flat(given)
        return np.full(w.shape, self._evaluate(pathway.start, pathway, {"w": w}), np.float64)

    def _evaluate(self, expression: str, part: Population | Pathway, known: Mapping[str, object]):
        """Return the value of an expression of ``part``, given the names that are ``known``; others
        are variables.
        """
        names = dict(known)
        for name in names_in(expression).read:
            found = None if name in names else self.blueprint.meanings.find(part, name)
            if found is None:
                continue
            other = self.blueprint.by_key[found.key]
            value = self.flat(other) / in_si(other.variable.unit)
            if found.place in ("pre", "post"):
                sources, targets = self.blueprint.ends(part.name)
                value = value[sources if found.place == "pre" else targets]
            names[name] = value[0] if value.size == 1 else value
        return evaluate(expression, names)

    def _relaxation(self, tau: float) -> float:
        """Return 1 - exp(-tick/tau), the exact step while the drive stands still."""
        tick = float(self.flat(self.blueprint.by_key["clock.tick"])[0]) / in_si("ms")
        return 1 - math.exp(-tick / tau) if tau else 1.0
