"""The state a run starts from: weights, parameters and what cells and synapses remember."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Quantity
from biorrr.circuit.stimulus.data_checks import check_weights
from biorrr.circuit.stimulus.presentation import WEIGHTS, generator
from biorrr.errors import InputError
from biorrr.models import Area, Pathway, Population
from biorrr.models.expressions import evaluate, names_in
from biorrr.models.validation import in_si, plain

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run


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


def draw_weights(
    sizes: tuple[int, int, int, int],
    seed: int,
    start: tuple[float, float, float],
) -> dict[str, np.ndarray]:
    """Draw the microcircuit's initial matrices; return them by name.

    Parameters
    ----------
    sizes
        m, n, k and the number of interneurons.
    seed
        Of the draw.
    start
        Standard deviations of Vx and Vy, and the diagonal of Q and R.
    """
    m, n, k, l = sizes
    size_x, size_y, q0 = start
    rng = generator(seed, WEIGHTS)
    drawn = {"Vx": size_x * rng.standard_normal((m, k)), "Vy": size_y * rng.standard_normal((n, k))}
    # Q and R start unrelated but for a common direction. What they do not share is bounded, so QR
    # keeps its sign.
    for name, shape in (("Q", (k, l)), ("R", (l, k))):
        drawn[name] = q0 * (np.eye(*shape) + 0.3 / math.sqrt(l) * rng.uniform(-1, 1, shape))
    return drawn


def draw_areas(
    layout: Sequence[Area],
    m: int,
    n: int,
    seed: int,
    start: tuple[float, float, float] | None = None,
) -> dict[str, np.ndarray]:
    """Draw initial matrices of areas with apical feedback; return them by name.

    Areas begin by passing on random directions: outputs of variance 1 where inputs have it. Between
    areas A and W' begin unrelated but for a common direction, as Q and R of the microcircuit do,
    and inhibition begins at the most that it comes to there, so that the equilibrium is stable; R0
    = Q0'.
    """
    rng = generator(seed, WEIGHTS)
    sizes = [m, *(area.k for area in layout)]
    size_w, size_a, size_q = start or (1 / math.sqrt(m), 0.03, 1.0)
    out = {layout[-1].weights[1]: size_a * rng.standard_normal((n, layout[-1].k))}
    for place, (area, below) in enumerate(zip(layout, sizes[:-1], strict=True)):
        W, _, Q, R = area.weights
        drawn = rng.standard_normal((below, area.k))
        if not place:
            out[W] = size_w * drawn
        else:
            U, _, V = np.linalg.svd(drawn, full_matrices=False)
            out[W] = U @ V
            out[layout[place - 1].weights[1]] = (
                out[W] + 0.2 / math.sqrt(area.k) * rng.standard_normal(drawn.shape)
            ).T
        out[Q] = (size_q if area.last else 1.0) * np.eye(area.k, area.interneurons)
        out[R] = out[Q].T.copy()
    return out


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
