"""A circuit of any populations and pathways: what :class:`~biorrr.circuit.Microcircuit` is a special case of."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from biorrr.circuit.base import CircuitBase
from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.engines.choice import ENGINES
from biorrr.circuit.results.dataset import dataset
from biorrr.circuit.results.run import Run
from biorrr.circuit.results.text_table import departures_in_words
from biorrr.circuit.simulation.initial_state import given_weights, initial_state
from biorrr.circuit.simulation.recorder import Diverged
from biorrr.circuit.simulation.simulate import Callback, RunOptions, Stimulus, samples_of, simulate
from biorrr.circuit.stimulus.data_checks import check_order, warn_of_shuffling
from biorrr.circuit.stimulus.feeds import check_inputs
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.circuit.stimulus.units import Units
from biorrr.models import Clock, Departure, Event, Parts, Pathway, Population, departed
from biorrr.models.physical_units import in_si
from biorrr.models.validation import one_of, whole_number


@dataclass(frozen=True, eq=False, repr=False)
class Circuit(CircuitBase):
    """Populations and pathways, wired, checked and ready to run.

    Parameters
    ----------
    populations, pathways
        Its parts. A population that data come into may leave its size to the data. A clock is added if there is none.
    inputs
        Ports by name, each the "population.variable" that its data set. Unless given, every variable declared as an
        input is a port of its own name.
    departures
        Applied to the parts, one after another.
    engine
        "numpy", "cython", "cpp", or "auto": by the work to do and whether there is a compiler.
    seed
        Seed of initial weights, of the order of samples and of everything random.
    name
        Begins the names of all Brian2 objects, so that several circuits fit into one network.

    Examples
    --------
    A cell that finds the first principal component of its input (Oja's rule):

    >>> import numpy as np
    >>> from biorrr.models import Pathway, Population, SensoryInput, Variable
    >>> oja = Pathway(
    ...     "oja", "sensory", "cell", drives="z", current="w * x_pre", phase="drive",
    ...     change="0.01 * z_post * (x_pre - z_post * w)",
    ... )
    >>> circuit = Circuit([SensoryInput(), Population(1, "cell", [Variable("z", "output")])], [oja], engine="numpy")
    >>> X = np.random.default_rng(0).standard_normal((2000, 3)) * [3, 1, 1]
    >>> run = circuit.run({"x": X}, progress=False)
    >>> bool(abs(run.weights["oja"][0, 0]) > 0.95)
    True
    """

    populations: Sequence[Population]
    pathways: Sequence[Pathway]
    inputs: Mapping[str, str] | None = None
    departures: Sequence[Departure] = ()
    engine: str = "auto"
    seed: int = 0
    name: str = ""
    parts: Parts = field(init=False)
    ports: tuple[Port, ...] = field(init=False)

    def __post_init__(self) -> None:
        one_of("engine", self.engine, ENGINES)
        whole_number("seed", self.seed, minimum=0)
        populations = tuple(self.populations)
        if "clock" not in [getattr(population, "name", "") for population in populations]:
            populations = (Clock(), *populations)
        parts = departed(Parts(populations, tuple(self.pathways)), self.departures)
        self._freeze(
            populations=tuple(self.populations),
            pathways=tuple(self.pathways),
            departures=tuple(self.departures),
            parts=parts,
            ports=_ports(parts, self.inputs),
        )
        self._check_parts()

    def blueprint(self, **sizes: int) -> Blueprint:
        """The circuit for so many features of each port, by its name."""
        return self.sized(sizes)

    def build(self, **sizes: int) -> Circuit:
        """Build the circuit for so many features of each port now rather than at the first :meth:`run`."""
        self._build(self.blueprint(**sizes), {})
        return self

    def run(
        self,
        inputs: Mapping[str, object],
        epochs: int = 1,
        order=None,
        record=(),
        every=None,
        snapshots=100,
        plastic: bool = True,
        start: Run | None = None,
        callback: Callback | None = None,
        centre: bool = False,
        progress: bool = True,
        checkpoint: str | os.PathLike | None = None,
        checkpoint_every: float = 30.0,
        events: Sequence[Event] = (),
        seed: int | None = None,
        weights: Mapping[str, object] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Run:
        """Present the data and let the circuit learn.

        Parameters
        ----------
        inputs
            Data of each port by its name, each of shape (n_samples, features), or a signal in time.
        weights, parameters
            Initial matrices by name and values of parameters by "part.variable", in place of those drawn or declared.
        epochs, order, record, every, snapshots, plastic, start, callback, centre, progress
            As :meth:`biorrr.circuit.Microcircuit.run` takes them.
        checkpoint, checkpoint_every, events, seed
            As :meth:`biorrr.circuit.Microcircuit.run` takes them.
        """
        names = [port.name for port in self.ports]
        if sorted(inputs) != sorted(names):
            raise ValueError(f"inputs: must be data for {', '.join(names)} (got {', '.join(inputs) or 'none'})")
        checked = check_inputs(
            {name: inputs[name] for name in names}, {name: name for name in names}, centre, self.parts["clock"]
        )
        order = ("sequential" if checked.signal_in_time else "shuffle") if order is None else order
        epochs, order = whole_number("epochs", epochs, minimum=1), check_order(order, checked.n_samples)
        warn_of_shuffling(order, self.departures, self.parts)
        seed = self.seed if seed is None else whole_number("seed", seed, minimum=0)
        blueprint = self.sized({name: feed.values.shape[1] for name, feed in checked.feeds.items()}, checked.moving)
        feeds = {
            port.name: replace(checked.feeds[port.name], gain=checked.feeds[port.name].unit * in_si(self._unit(port)))
            for port in self.ports
        }
        units = Units()
        presentation = Presentation(
            checked.n_samples, checked.feeds[names[0]].values.shape[1], order, 0, 0.0, seed, blueprint.held, names[0]
        )
        options = RunOptions(
            record, every, snapshots, plastic, start, callback, progress, checkpoint, checkpoint_every, events
        )
        stimulus = Stimulus(presentation, feeds, *samples_of(start, epochs, presentation))
        state = initial_state(
            blueprint, units, seed, given_weights(weights or {}, blueprint, units), parameters or {}, start
        )
        simulated = simulate(blueprint, self._engines, self.engine, stimulus, state, units, options)
        attrs = {
            "departures": departures_in_words(self.departures),
            "plastic": int(plastic),
            "signal_in_time": int(checked.signal_in_time),
        }
        run = Run(dataset(simulated, attrs, checked.labels), self)
        if simulated.outcome.ended == "diverged":
            raise Diverged.at(simulated.outcome.samples, "lower the rates of plasticity", run)
        return run

    def _unit(self, port: Port) -> str:
        """The unit of the variable that a port sets, in which its data are given."""
        return next(v.unit for v in self.parts[port.population].variables if v.name == port.variable)

    def _sketch(self, sizes: Mapping[str, int] | None = None) -> Blueprint:
        if sizes is None and self._engines.last_blueprint is not None:
            return self._engines.last_blueprint
        given = sizes or {}
        return self.sized(
            {port.name: given.get(port.name) or self.parts[port.population].size or 1 for port in self.ports}
        )

    def table(self) -> tuple[str, dict[str, str]]:
        """What the circuit is made of."""
        cells = [f"{p.size or 'as many as data have'} {p.name}" for p in self.parts.populations if p.shape]
        return f"Circuit {self.name}".strip(), {
            "cells": ", ".join(cells),
            "pathways": ", ".join(f"{p.name} ({p.source} to {p.target})" for p in self.parts.pathways if p.weighted),
            "inputs": ", ".join(port.name for port in self.ports),
            "departures": departures_in_words(self.departures) or "none",
            "engine, seed": f"{self.engine}, {self.seed}",
        }


def _ports(parts: Parts, inputs: Mapping[str, str] | None) -> tuple[Port, ...]:
    """The ports of a circuit, as given or one for each variable declared as an input."""
    declared = [
        (p.name, v.name) for p in parts.populations for v in p.variables if v.role == "input" and v.per == "cell"
    ]
    given = (
        inputs if inputs is not None else {variable: f"{population}.{variable}" for population, variable in declared}
    )
    for name, place in given.items():
        if tuple(str(place).split(".")) not in declared:
            have = ", ".join(".".join(each) for each in declared) or "none"
            raise ValueError(
                f"inputs[{name!r}]: must be a variable declared with role 'input' (got {place!r}); there are {have}"
            )
    if len(given) < len(declared):
        left = [".".join(each) for each in declared if ".".join(each) not in given.values()]
        raise ValueError(f"inputs: nothing sets {', '.join(left)}; name a port for each variable declared as an input")
    return tuple(Port(name, *place.split(".")) for name, place in given.items())
