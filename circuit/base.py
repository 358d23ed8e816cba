"""What every circuit can do: be built, looked at and pickled."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.compile.schedule import schedule
from biorrr.circuit.engines.choice import Engines
from biorrr.circuit.results.text_table import Tabled
from biorrr.circuit.simulation.initial_state import initial_state
from biorrr.circuit.stimulus.units import Units
from biorrr.models import Parts


class CircuitBase(Tabled):
    """Base of circuits: frozen values made of :attr:`parts`, which reach the outside by :attr:`ports`."""

    name: str
    engine: str
    seed: int
    parts: Parts
    ports: tuple[Port, ...]

    def _freeze(self, **values) -> None:
        """Set attributes, once and for all."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_parts(self) -> None:
        """Say in one sentence what is wrong with the parts, if anything is."""
        if self.name and not self.name.isidentifier():
            raise ValueError(f"name: must be a name without spaces (got {self.name!r})")
        schedule(self.parts)

    @functools.cached_property
    def _engines(self) -> Engines:
        return Engines(self.name)

    def sized(self, sizes: Mapping[str, int], moving: Mapping[str, str] | None = None) -> Blueprint:
        """The circuit for so many features of each port, by its name; ``moving`` says when some of them change."""
        parts = self.parts
        for port in self.ports:
            population, size = parts[port.population], sizes[port.name]
            if population.size not in (None, size):
                raise ValueError(
                    f"{port.name}: must have {population.size} features, the cells of {population.name} (got {size})"
                )
            parts = parts.having(replace(population, size=size))
        for population in parts.populations:
            if population.size is None:
                raise ValueError(f"{population.name}.size: must be given, because no data say how many cells there are")
        ports = tuple(replace(port, changes=(moving or {}).get(port.name, "sample")) for port in self.ports)
        return Blueprint(parts, ports)

    def _build(self, blueprint: Blueprint, weights: Mapping[str, np.ndarray]) -> None:
        """Build ``blueprint`` now; a network in this process begins with ``weights`` and what its parts declare."""
        engine = self._engines.built("numpy" if self.engine == "auto" else self.engine, blueprint)
        if hasattr(engine, "begin"):
            engine.begin(initial_state(blueprint, Units(), self.seed, weights, {}, None))

    def _sketch(self, sizes: Mapping[str, int] | None = None) -> Blueprint:
        """A blueprint to look at: sizes as given, those of the last run, or the smallest that fit."""
        raise NotImplementedError

    @property
    def network(self):
        """The built Brian2 Network (engines numpy and cython), to add one's own monitors to.

        Its objects are called as the parts are, behind the circuit's name where it has one. A tick is one second of
        Brian2's time. ``run`` presents the samples; who runs the network alone sets inputs and the clock's `waking`.
        Values are those that the engine holds: with rates "auto", data have been scaled to a mean square of 1
        (``run.data.attrs`` has the gains). To see a tick's own values, a monitor must look when the tick is over:
        ``StateMonitor(circuit.network["pyramidal"], "plateau", record=True, when="end", order=1)``.
        """
        return self._engines.network

    def wiring(self, *sizes: int, **named: int):
        """The circuit as a networkx graph; see :func:`biorrr.circuit.wiring.wiring`."""
        from biorrr.circuit.results.graph import wiring

        return wiring(self._sketch(self._port_sizes(sizes, named)))

    def describe(self, *sizes: int, **named: int) -> str:
        """The model in readable text, made from the very objects that are simulated."""
        from biorrr.circuit.results.description import describe

        return describe(self._sketch(self._port_sizes(sizes, named)))

    def locality(self) -> list:
        """Which variables each plasticity rule reads, one :class:`~biorrr.circuit.locality.Locality` per pathway."""
        from biorrr.circuit.results.locality import locality

        return locality(self.parts)

    def _port_sizes(self, sizes: tuple[int, ...], named: Mapping[str, int]) -> dict[str, int] | None:
        """Features of each port, given in their order or by name; None where nothing is given."""
        given = {port.name: size for port, size in zip(self.ports, sizes, strict=False)} | dict(named)
        return given or None

    def __getstate__(self):
        """All but the engines, which are built again when they are needed."""
        return {name: value for name, value in self.__dict__.items() if name != "_engines"}

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)
