"""Interventions in the middle of a run: silence, freeze, cut, swap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from biorrr.models.departure import Departure
from biorrr.models.expressions import names_in
from biorrr.models.parts import PHASES, Parts, Population, Step, Variable
from biorrr.models.validation import Checked, Count


@dataclass(frozen=True)
class Event(Checked):
    """An intervention that happens once, before a sample is presented.

    Parameters
    ----------
    at
        Number of the sample, counted from the first one that the circuit has seen.
    """

    at: Count


@dataclass(frozen=True)
class Silence(Event):
    """Silence of cells for the rest of the run.

    Parameters
    ----------
    cells
        Numbers of the cells, counted from 0; all of them unless given.
    population
        Whose they are: "interneurons", "pyramidal", or any other that the circuit has.
    """

    cells: tuple[Count, ...] | None = None
    population: str = "interneurons"


@dataclass(frozen=True)
class Freeze(Event):
    """The end of learning in one pathway.

    Parameters
    ----------
    weight
        Name of the pathway's matrix, such as "Vx", "Vy", "Q" or "R".
    """

    weight: str = "Vx"


@dataclass(frozen=True)
class CutInstruction(Event):
    """A cut of the instructive input: y is zero from here on."""


@dataclass(frozen=True)
class SwapData(Event):
    """A change of the data.

    Parameters
    ----------
    X, Y
        The new data, shapes (n_samples, m) and (n_samples, n), with as many features as before.
    """

    X: np.ndarray = field(repr=False, compare=False, kw_only=True)
    Y: np.ndarray = field(repr=False, compare=False, kw_only=True)


@dataclass(frozen=True)
class Silenceable(Departure):
    """Cells that can fall silent: what they say is multiplied by `active`.

    Parameters
    ----------
    population
        Name of the cells.
    """

    population: str

    def alter(self, parts: Parts) -> Parts:
        """Let only active cells speak."""
        cells = parts[self.population]
        steps = [
            Step(phase, f"{name} = active * {name}", replays=True)
            for name, phase in dict.fromkeys(_spoken_variables(parts, cells))
        ]
        active = Variable(
            "active", "0 for a cell that has fallen silent", role="parameter", value=1.0
        )
        return parts.having(cells.adding(active, *steps))


def _spoken_variables(parts: Parts, cells: Population) -> Iterator[tuple[str, str]]:
    """Yield each variable of ``cells`` that synapses read or that counts spikes, with the phase
    after which its value stands when it is read.
    """
    order = list(PHASES).index
    for variable in cells.variables:
        name = variable.name
        phases = [step.phase for step in cells.steps if name in names_in(step.code).written]
        phases += [
            pathway.phase
            for pathway in parts.pathways
            if pathway.target == cells.name and name in dict(pathway.currents)
        ]
        phases += ["input"] * (variable.role == "input")
        for read in _reading_phases(parts, cells, name):
            before = [phase for phase in phases if order(phase) <= order(read)]
            if before:
                yield name, max(before, key=order)


def _reading_phases(parts: Parts, cells: Population, name: str) -> Iterator[str]:
    """Yield the phases in which others read the variable ``name`` of ``cells``."""
    if name.endswith("spikes"):
        yield "plasticity"
    for pathway in parts.pathways:
        if pathway.source == cells.name:
            codes = [(code, pathway.phase) for _, code in pathway.currents]
            codes += [(rule, "plasticity") for rule in (pathway.change, pathway.replay)]
            codes += [(step.code, step.phase) for step in pathway.steps]
            yield from (phase for code, phase in codes if f"{name}_pre" in names_in(code).read)
