"""The base of all circuits: their fields, their parts, and views of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated

from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.compile.program import compile_program
from biorrr.circuit.compile.timing import Timing
from biorrr.circuit.engines.choice import ENGINES
from biorrr.circuit.results.run import Run
from biorrr.circuit.results.text_table import Tabled
from biorrr.circuit.simulation.events import silenceable
from biorrr.circuit.stimulus.data_checks import check_memory
from biorrr.circuit.stimulus.presentation import as_seed
from biorrr.errors import InputError
from biorrr.models import Departure, Parts
from biorrr.models.meanings import Meanings
from biorrr.models.validation import check_fields, instance_of, one_of, whole_number

_BYTES = 32  # of one synapse: its weight, its first weight, and a snapshot of each


def _begins_names(name: str, value) -> str:
    """Return ``value``, if names of Brian2 objects can begin with it."""
    if not isinstance(value, str) or not f"_{value}".isidentifier():
        raise InputError(f"{name}: must be a name without spaces (got {value!r})")
    return value


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CircuitBase(Tabled):
    """Base of circuits: frozen values whose parts follow from their fields.

    Parameters
    ----------
    departures, engine, seed, name
        As :class:`~biorrr.circuit.Microcircuit` takes them.
    """

    departures: Sequence[Departure] = ()
    engine: Annotated[str, partial(one_of, choices=ENGINES)] = "auto"
    seed: Annotated[int, as_seed] = 0
    name: Annotated[str, _begins_names] = ""

    def __post_init__(self) -> None:
        check_fields(self, "")
        compile_program(Meanings(self.parts))
        _ = self.ports  # both are checked when they are made

    def __getstate__(self):
        """Return the fields; all else follows from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)

    # -- what differs between circuits -------------------------------------------------------------

    @functools.cached_property
    def parts(self) -> Parts:
        """All parts, under all departures."""
        raise NotImplementedError

    @functools.cached_property
    def ports(self) -> tuple[Port, ...]:
        """The places where data come in."""
        raise NotImplementedError

    @functools.cached_property
    def all_departures(self) -> tuple[Departure, ...]:
        """All departures from the paper's circuit, whichever way they were asked for."""
        return tuple(self.departures)

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Refuse numbers of features, by port, that the circuit cannot learn from."""

    def _learning(self) -> dict[str, str]:
        """Return the rows of the circuit's table that say what it learns."""
        return {
            "pathways": ", ".join(
                f"{p.name} ({p.source} to {p.target})" for p in self.parts.weighted
            )
        }

    def _departures_in_words(self) -> str:
        """Return how the circuit departs from the paper's; empty where it does not."""
        return "; ".join(map(repr, self.all_departures))

    # -- circuits of known sizes -------------------------------------------------------------------

    @functools.cached_property
    def timing(self) -> Timing:
        """Length of a tick, and number of ticks for which a sample is held."""
        return Timing.of(self.parts)

    @functools.cached_property
    def _blueprints(self) -> dict[tuple, Blueprint]:
        return {}

    def blueprint(self, *sizes: int) -> Blueprint:
        """Return the circuit for so many features of each port, in their order; the smallest that
        fit unless given.
        """
        names = [port.name for port in self.ports]
        if sizes and len(sizes) != len(names):
            raise InputError(
                f"sizes: must be the numbers of features of {', '.join(names)} (got {sizes})"
            )
        cells = max(
            (population.size or 1 for population in self.parts.all(kind="pyramidal")), default=1
        )
        smallest = [self.parts[port.population].size or cells for port in self.ports]
        given = zip(names, sizes or smallest, strict=True)
        return self._sized({name: whole_number(name, size, minimum=1) for name, size in given})

    def _sized(
        self,
        sizes: Mapping[str, int],
        moving: frozenset[str] = frozenset(),
        silent: tuple[str, ...] = (),
    ) -> Blueprint:
        """Return the circuit for so many features of each port.

        Parameters
        ----------
        sizes
            By port.
        moving
            Ports whose inputs change while a sample is held.
        silent
            Populations of which some cells fall silent.
        """
        key = tuple(sizes[port.name] for port in self.ports), moving, silent
        if key not in self._blueprints:
            self._check_sizes(sizes)
            parts = silenceable(self.parts, silent)
            for port in self.ports:
                population, size = parts[port.population], sizes[port.name]
                if population.size not in (None, size):
                    raise InputError(
                        f"{port.name}: must have {population.size} features, the cells of"
                        f" {population.name} (got {size})"
                    )
                parts = parts.having(replace(population, size=size))
            for population in parts.populations:
                if population.size is None:
                    raise InputError(
                        f"{population.name}.size: must be given, because no data say how many cells"
                        " there are"
                    )
            cells = {population.name: population.size or 0 for population in parts.populations}
            synapses = sum(
                cells[pathway.source] * cells[pathway.target] for pathway in parts.weighted
            )
            check_memory("circuit", _BYTES * synapses, "use fewer cells")
            ports = tuple(
                replace(port, changes="tick" if port.name in moving else "sample")
                for port in self.ports
            )
            self._blueprints[key] = Blueprint(parts, ports)
        return self._blueprints[key]

    # -- views -------------------------------------------------------------------------------------

    def _shown(self, sizes: tuple[int, ...], run: Run | None) -> Blueprint:
        """Return the blueprint of ``run``, or that of the circuit with ``sizes``."""
        return self.blueprint(*sizes) if run is None else instance_of("run", run, Run).blueprint

    def wiring(self, *sizes: int, run: Run | None = None):
        """Return the circuit, or that of ``run``, as a graph; see
        :func:`biorrr.circuit.results.graph.wiring`.
        """
        from biorrr.circuit.results.graph import wiring

        return wiring(self._shown(sizes, run))

    def describe(self, *sizes: int, run: Run | None = None) -> str:
        """Return the model in readable text, made from the objects that are simulated.

        Parameters
        ----------
        sizes
            Features of each port, in their order; the smallest that fit unless given.
        run
            A run of the circuit to describe instead, with its sizes and what its events needed.
        """
        from biorrr.circuit.results.description import describe

        return describe(self._shown(sizes, run))

    def locality(self, run: Run | None = None) -> list:
        """Return which variables each plasticity rule reads, one :class:`Locality` per pathway."""
        from biorrr.circuit.results.locality import locality

        parts = self._shown((), run).parts
        return [locality(parts, pathway) for pathway in parts.weighted]

    def table(self) -> tuple[str, dict[str, str]]:
        """Return the name of the circuit, its cells, and the way it learns."""
        inputs = [port.population for port in self.ports]
        cells = [
            f"{p.size} {p.name}" for p in self.parts.populations if p.shape and p.name not in inputs
        ]
        return f"{type(self).__name__} {self.name}".strip(), {
            "inputs": ", ".join(port.name for port in self.ports),
            "cells": ", ".join(cells),
            **self._learning(),
            "departures": self._departures_in_words() or "none",
            "engine, seed": f"{self.engine}, {self.seed}",
        }
