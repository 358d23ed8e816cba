"""Circuits as they are made: parts and ports, blueprints for data of known sizes, and views of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.compile.schedule import schedule
from biorrr.circuit.compile.timing import Timing
from biorrr.circuit.engines.choice import ENGINES, Engines
from biorrr.circuit.results.text_table import Tabled
from biorrr.circuit.simulation.events import silenceable
from biorrr.circuit.stimulus.presentation import as_seed
from biorrr.models import Departure, Parts
from biorrr.models.validation import one_of

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run


class MadeCircuit(Tabled):
    """Circuits that can be looked at: frozen values made of :attr:`parts`, which reach the outside by :attr:`ports`.

    A circuit keeps nothing of its runs but what it has built, which is kept to save time and changes no answer.
    """

    name: str
    engine: str
    seed: int
    departures: Sequence[Departure]
    parts: Parts
    ports: tuple[Port, ...]
    all_departures: tuple[Departure, ...]
    timing: Timing
    # Arguments that are departures now, and what to write instead.
    _INSTEAD: ClassVar[Mapping[str, str]] = {}

    def __new__(cls, *args, **arguments):
        """Refuse arguments that are departures now, in one sentence."""
        for name in arguments.keys() & cls._INSTEAD.keys():
            raise TypeError(f"{name}: is not an argument of {cls.__name__}; use {cls._INSTEAD[name]} instead")
        return super().__new__(cls)

    def _freeze(self, **values) -> None:
        """Set attributes, once and for all."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _settle(self, parts: Parts, ports: tuple[Port, ...], departures: tuple[Departure, ...]) -> None:
        """Check and set what every circuit has; say in one sentence what is wrong with the parts, if anything is.

        Parameters
        ----------
        parts, ports
            All parts, and where data come in.
        departures
            All departures from the paper's circuit, whichever way they were asked for.
        """
        one_of("engine", self.engine, ENGINES)
        if self.name and not self.name.isidentifier():
            raise ValueError(f"name: must be a name without spaces (got {self.name!r})")
        self._freeze(
            seed=as_seed(self.seed), departures=tuple(self.departures), parts=parts, ports=ports,
            all_departures=departures, timing=Timing.of(parts),
        )  # fmt: skip
        schedule(parts)

    @functools.cached_property
    def _engines(self) -> Engines:
        return Engines(self.name)

    @functools.cached_property
    def _blueprints(self) -> dict[tuple, Blueprint]:
        return {}

    def __getstate__(self):
        """Return all but what was built, which is built again when it is needed."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_engines", "_blueprints")}

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)

    def blueprint(self, *sizes: int, **named: int) -> Blueprint:
        """Return the circuit for so many features of each port, in their order or by name (m is x, n is y)."""
        given = self._features(sizes, named)
        missing = [port.name for port in self.ports if not given.get(port.name)]
        if missing:
            raise ValueError(f"{', '.join(missing)}: say how many features the data have, such as blueprint(64, 10)")
        return self._sized(given)

    def _features(self, sizes: tuple[int, ...], named: Mapping[str, int]) -> dict[str, int]:
        """Return numbers of features by port, which are given in the order of ports or by name."""
        given = {port.name: size for port, size in zip(self.ports, sizes, strict=False)}
        return given | {{"m": "x", "n": "y"}.get(name, name): size for name, size in named.items()}

    def _sized(
        self, sizes: Mapping[str, int], moving: Mapping[str, str] | None = None, silent: tuple[str, ...] = ()
    ) -> Blueprint:
        """Return the circuit for so many features of each port.

        Parameters
        ----------
        sizes
            By port.
        moving
            When the inputs of some ports change, if not from sample to sample.
        silent
            Populations of which some cells fall silent.
        """
        moving = moving or {}
        key = tuple((port.name, sizes[port.name], moving.get(port.name, "sample")) for port in self.ports), silent
        if key not in self._blueprints:
            self._check_sizes(sizes)
            parts = silenceable(self.parts, silent)
            for port in self.ports:
                population, size = parts[port.population], sizes[port.name]
                if population.size not in (None, size):
                    raise ValueError(
                        f"{port.name}: must have {population.size} features, the cells of {population.name} (got "
                        f"{size})"
                    )
                parts = parts.having(replace(population, size=size))
            for population in parts.populations:
                if population.size is None:
                    raise ValueError(
                        f"{population.name}.size: must be given, because no data say how many cells there are"
                    )
            ports = tuple(replace(port, changes=moving.get(port.name, "sample")) for port in self.ports)
            self._blueprints[key] = Blueprint(parts, ports)
        return self._blueprints[key]

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Refuse numbers of features, by port, that the circuit cannot learn from."""

    def _sketch(self, sizes: tuple[int, ...], named: Mapping[str, int], run: Run | None) -> Blueprint:
        """Return a blueprint to look at: that of ``run``, or of the circuit with sizes as given or the smallest."""
        if run is not None:
            return run.blueprint
        given = self._features(sizes, named)
        return self._sized({p.name: given.get(p.name) or self._smallest(p) for p in self.ports})

    def _departures_in_words(self) -> str:
        """Return how the circuit departs from the paper's; empty where it does not."""
        return "; ".join(map(repr, self.all_departures))

    def _smallest(self, port: Port) -> int:
        """Return the fewest features that ``port`` can have."""
        return self.parts[port.population].size or 1

    @property
    def network(self):
        """The Brian2 Network of the circuit as it was made (engines numpy and cython), to add one's own monitors to.

        Its objects are called as the parts are, behind the circuit's name where it has one. A tick is one second of
        Brian2's time. ``run`` presents the samples; who runs the network alone sets inputs and the clock's `waking`.
        Values are those that the engine holds: with rates "auto", data have been scaled to a mean square of 1
        (``run.data.attrs`` has the gains). To see a tick's own values, a monitor must look when the tick is over:
        ``StateMonitor(circuit.network["pyramidal"], "plateau", record=True, when="end", order=1)``. ``run.network`` is
        that of one run.
        """
        found = self._engines.networks({b.code for (_, silent), b in self._blueprints.items() if not silent})
        if len(found) == 1:
            return found[0]
        if found:
            raise RuntimeError(
                f"network: {len(found)} are built, for data of different sizes; use that of a run, run.network, or "
                "make a circuit for each"
            )
        raise RuntimeError(
            "network: nothing is built in this process yet; call circuit.build(m, n) first, and run with "
            "engine='numpy' or 'cython' (the C++ engine's network lives in a program of its own)"
        )

    def wiring(self, *sizes: int, run: Run | None = None, **named: int):
        """Return the circuit, or that of ``run``, as a graph; see :func:`biorrr.circuit.results.graph.wiring`."""
        from biorrr.circuit.results.graph import wiring

        return wiring(self._sketch(sizes, named, run))

    def describe(self, *sizes: int, run: Run | None = None, **named: int) -> str:
        """Return the model in readable text, made from the very objects that are simulated.

        Parameters
        ----------
        sizes, named
            Features of each port, in their order or by name (m is x, n is y); the smallest that fit unless given.
        run
            A run of the circuit to describe instead, with its sizes and what its events needed.
        """
        from biorrr.circuit.results.description import describe

        return describe(self._sketch(sizes, named, run))

    def locality(self, run: Run | None = None) -> list:
        """Return which variables each plasticity rule reads, one :class:`Locality` per pathway."""
        from biorrr.circuit.results.locality import locality

        return locality(self.parts if run is None else run.blueprint.parts)
