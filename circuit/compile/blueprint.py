"""Blueprints: circuits of known sizes with their ports and their timing, as plain data from which
engines are built.

Engines keep weights flat, source by source; the paper writes some matrices target by source.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from biorrr.circuit.compile.program import Program, compile_program
from biorrr.errors import InputError
from biorrr.models import Parts, Variable
from biorrr.models.expressions import names_in
from biorrr.models.meanings import Meanings


@dataclass(frozen=True)
class Orientation:
    """The way round in which a pathway's matrix is written.

    Parameters
    ----------
    sources, targets
        Cells on either side of the synapses.
    target_by_source
        True where the matrix has one row per target cell, as the paper's Q and R.
    """

    sources: int
    targets: int
    target_by_source: bool = False

    def rows_and_columns(self, pair: Sequence) -> tuple:
        """Return (of the source, of the target) as (of the rows, of the columns); the other way
        round alike.
        """
        return tuple(pair[::-1] if self.target_by_source else pair)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix."""
        return self.rows_and_columns((self.sources, self.targets))

    def matrix(self, flat: np.ndarray) -> np.ndarray:
        """Return flat values (..., synapses) as matrices (..., rows, columns)."""
        by_source = flat.reshape(*flat.shape[:-1], self.sources, self.targets)
        return by_source.swapaxes(-1, -2) if self.target_by_source else by_source

    def flat(self, matrix: np.ndarray) -> np.ndarray:
        """Return a matrix as flat values (synapses,); undoes :meth:`matrix`."""
        return (matrix.T if self.target_by_source else matrix).reshape(-1)

    def ends(self, places):
        """Return the source and the target cell of each of ``places`` among the flat values."""
        return np.divmod(places, self.targets)


@dataclass(frozen=True)
class Timing:
    """The timing of a circuit, read from its clock.

    Parameters
    ----------
    tick
        Length of a tick in ms; infinite where activity is instant.
    duration, replay_duration
        Ticks for which a sample and a replay are held.
    """

    tick: float
    duration: int = 1
    replay_duration: int = 1

    @classmethod
    def of(cls, parts: Parts) -> Timing:
        """Return the timing that the clock among ``parts`` gives."""
        clock, names = parts["clock"].declared, ("tick", "duration", "replay_duration")
        tick, *durations = (float(clock[name].value) for name in names if name in clock)
        return cls(tick, *map(int, durations))

    @property
    def instant(self) -> bool:
        """True where activity follows its drive at once."""
        return not math.isfinite(self.tick)

    @property
    def window(self) -> float:
        """Seconds for which a sample is held; 0 where activity is instant."""
        return 0.0 if self.instant else self.duration * self.tick / 1000


@dataclass(frozen=True)
class Quantity:
    """One variable of a part, with its place in memory.

    Parameters
    ----------
    part, name
        The part that has it, and its name there.
    size
        Number of values that it holds.
    variable
        Its declaration.
    """

    part: str
    name: str
    size: int
    variable: Variable

    @functools.cached_property
    def key(self) -> str:
        """Its name in states: "part.variable"."""
        return f"{self.part}.{self.name}"


@dataclass(frozen=True)
class Port:
    """A place where data come in: one variable of one population, set anew for every sample.

    Parameters
    ----------
    name
        By which a run's data name it.
    population, variable
        What it sets.
    """

    name: str
    population: str
    variable: str

    @property
    def key(self) -> str:
        """The variable that it sets, as "population.variable"."""
        return f"{self.population}.{self.variable}"


def ports_of(parts: Parts, inputs: Mapping[str, str] | None = None) -> tuple[Port, ...]:
    """Return the ports of a circuit, as given or one for each variable declared as an input."""
    declared = [
        f"{p.name}.{v.name}"
        for p in parts.populations
        for v in p.variables
        if v.role == "input" and v.per == "cell"
    ]
    given = {key.partition(".")[2]: key for key in declared} if inputs is None else dict(inputs)
    for name, place in given.items():
        if place not in declared:
            raise InputError(
                f"inputs[{name!r}]: must be a variable declared with role 'input' (got {place!r});"
                f" there are {', '.join(declared) or 'none'}"
            )
    if len(given) < len(declared):
        left = [key for key in declared if key not in given.values()]
        raise InputError(
            f"inputs: nothing sets {', '.join(left)}; name a port for each variable declared as an"
            " input"
        )
    return tuple(Port(name, *place.split(".")) for name, place in given.items())


@dataclass(frozen=True)
class Blueprint:
    """Populations and pathways of known sizes, and the ports by which data come in.

    Parameters
    ----------
    parts
        All of them, every population with its size.
    ports
        Where data come in.
    moving
        Names of ports whose data change in every tick; those of others stand still while a sample
        is held.
    """

    parts: Parts
    ports: tuple[Port, ...]
    moving: tuple[str, ...] = ()

    @functools.cached_property
    def orientations(self) -> dict[str, Orientation]:
        """Orientation of the weights of each pathway, by its name."""
        size = {p.name: int(p.size or 0) for p in self.parts.populations}
        return {
            p.name: Orientation(size[p.source], size[p.target], p.target_by_source)
            for p in self.parts.pathways
        }

    def matrices(self, weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return flat weights by pathway, each (..., synapses), as matrices by their own names."""
        return {
            p.weight: self.orientations[p.name].matrix(weights[p.name]) for p in self.parts.weighted
        }

    def ends(self, pathway: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the source and the target cell of each synapse of ``pathway``."""
        orientation = self.orientations[pathway]
        if self.parts[pathway].wiring == "all":
            return orientation.ends(np.arange(orientation.sources * orientation.targets))
        larger = np.arange(max(orientation.sources, orientation.targets))
        smaller = larger // self.group(pathway)
        return (smaller, larger) if orientation.targets > orientation.sources else (larger, smaller)

    def group(self, pathway: str) -> int:
        """Return the number of cells in each group that ``pathway`` connects."""
        orientation = self.orientations[pathway]
        few, many = sorted((orientation.sources, orientation.targets))
        if many % few:
            raise InputError(
                f"{pathway}.wiring: needs groups of one size (got {many} cells for {few})"
            )
        return many // few

    @property
    def replayed_port(self) -> Port:
        """The port whose inputs are presented alone in spontaneous replay."""
        return self.ports[0]

    @functools.cached_property
    def timing(self) -> Timing:
        """Length of a tick, and number of ticks for which a sample is held."""
        return Timing.of(self.parts)

    @functools.cached_property
    def sizes(self) -> dict[str, int]:
        """Features of each port, by its name."""
        return {port.name: self.parts[port.population].size for port in self.ports}

    @functools.cached_property
    def arrays(self) -> tuple[Quantity, ...]:
        """Variables in the memory of an engine, weights first: all that parts declare, and what the
        program fills beyond that.
        """
        each = [
            Quantity(part.name, name, self._size(part.name, variable), variable)
            for part in self.parts.everything
            for name, variable in self.meanings.declared[part.name].items()
        ]
        return tuple(sorted(each, key=lambda quantity: quantity.name != "w"))

    def _size(self, part: str, variable: Variable) -> int:
        if variable.per == "synapse":
            return math.prod(self.orientations[part].shape)
        return self.parts[part].size if variable.per == "cell" else 1

    @functools.cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Every variable that a part declares, weights first."""
        return tuple(q for q in self.arrays if q.name in self.parts[q.part].declared)

    @functools.cached_property
    def state(self) -> tuple[Quantity, ...]:
        """Variables that one stretch of simulation must hand to the next, weights first."""
        return tuple(q for q in self.quantities if q.variable.role in ("memory", "parameter"))

    @functools.cached_property
    def program(self) -> Program:
        """What happens when a sample or a replayed input comes on, in every tick, and when it
        ends.
        """
        moving = frozenset(port.key for port in self.ports if port.name in self.moving)
        return compile_program(self.parts, moving)

    @property
    def meanings(self) -> Meanings:
        """The meanings of names in the code of its parts."""
        return self.program.meanings

    @functools.cached_property
    def moving_ports(self) -> frozenset[str]:
        """Names of the ports that are presented in every tick: their data change then, or a step
        changes what they present.
        """
        ticks = (*self.program.sample["tick"], *self.program.replay["tick"])
        written = {key for operation in ticks for key in operation.writes}
        return frozenset(
            port.name for port in self.ports if port.name in self.moving or port.key in written
        )

    @functools.cached_property
    def by_key(self) -> dict[str, Quantity]:
        """All of these by "part.variable"."""
        return {quantity.key: quantity for quantity in self.arrays}

    @functools.cached_property
    def watched(self) -> tuple[Quantity, ...]:
        """Variables that must stay finite: all that teaches cells whose synapses learn."""
        teach = {
            key
            for pathway in self.parts.pathways
            if pathway.change
            for code in (pathway.change, *(step.code for step in pathway.steps))
            for key in self.meanings.keys(pathway, names_in(code).read)
            if key.startswith(f"{pathway.target}.")
        }
        return tuple(
            q
            for q in self.quantities
            if q.key in teach
            and q.variable.role in ("activity", "memory")
            and self.parts[q.part].shape
        )

    @functools.cached_property
    def code(self) -> Blueprint:
        """The blueprint without words and values; circuits that differ in those alone share their
        compiled code.
        """
        bare = [
            replace(_bare(p), variables=tuple(replace(_bare(v), block="tick") for v in p.variables))
            for p in self.parts.everything
        ]
        return replace(self, parts=Parts((), ()).having(*bare))


# Fields of parts and variables that do not shape the code of a circuit, with what stands in their
# place.
_WORDS_AND_VALUES = {
    "meaning": "",
    "equation": "",
    "dimension": "",
    "kind": "",
    "weight": "",
    "judged": "",
    "target_by_source": False,
    "value": 0.0,
    "start": "w",
    "spread": 0.0,
}


@functools.lru_cache(maxsize=10_000)  # circuits have most of their variables in common
def _bare(value: Any) -> Any:
    """Return a part or a variable without words and values."""
    have = {field.name for field in fields(value)}
    return replace(
        value, **{name: plain for name, plain in _WORDS_AND_VALUES.items() if name in have}
    )
