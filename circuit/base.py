"""The base of all circuits: how they are sized, built, run and looked at, whatever their parts."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.compile.schedule import schedule
from biorrr.circuit.compile.timing import Timing
from biorrr.circuit.engines.choice import ENGINES, Engines, choose
from biorrr.circuit.results.dataset import dataset
from biorrr.circuit.results.run import Run
from biorrr.circuit.results.text_table import Tabled
from biorrr.circuit.simulation.checkpoint import Checkpoint
from biorrr.circuit.simulation.events import as_events, check_events, silenceable
from biorrr.circuit.simulation.failures import Diverged, check_settled
from biorrr.circuit.simulation.initial_state import Beginning, initial_state
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.recorded_traces import recording_of
from biorrr.circuit.simulation.simulate import Callback, Simulated, simulate, snapshot_samples, stretch_of
from biorrr.circuit.stimulus.data_checks import check_order, mapping, warn, warn_of_shuffling
from biorrr.circuit.stimulus.feeds import Feed, read_feeds, scaled
from biorrr.circuit.stimulus.presentation import Presentation, as_seed
from biorrr.errors import InputError, InputTypeError, RunError
from biorrr.models import Departure, Event, Parts, Silence
from biorrr.models.validation import check_fields, instance_of, one_of, truth, whole_number


def _begins_names(name: str, value) -> str:
    """Return ``value``, if names of Brian2 objects can begin with it."""
    if not isinstance(value, str) or not f"_{value}".isidentifier():
        raise InputError(f"{name}: must be a name without spaces (got {value!r})")
    return value


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CircuitBase(Tabled):
    """Base of circuits: frozen values whose parts follow from their fields.

    A circuit keeps nothing of its runs but what it has built, which is kept to save time and changes no answer.

    Parameters
    ----------
    departures, engine, seed, name
        As :class:`~biorrr.circuit.Microcircuit` takes them.
    """

    departures: Sequence[Departure] = ()
    engine: Annotated[str, partial(one_of, choices=ENGINES)] = "auto"
    seed: Annotated[int, as_seed] = 0
    name: Annotated[str, _begins_names] = ""
    _TRACED: ClassVar[tuple[str, ...]] = ()  # variables that are recorded by default

    def __post_init__(self) -> None:
        check_fields(self, "")
        schedule(self.parts)
        _ = self.ports  # which are checked when they are made

    def __getstate__(self):
        """Return the fields; all else follows from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state) -> None:
        self.__dict__.update(state)

    # -- what differs between circuits ---------------------------------------------------------------------------

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

    @property
    def initial(self) -> dict[str, object]:
        """Initial weights that were given, by the name of their matrix, in the data's units."""
        return {}

    @property
    def _remedy(self) -> str:
        """What to do about a run that diverges."""
        return "lower the rates of plasticity"

    def _beginning(
        self, blueprint: Blueprint, feeds: Mapping[str, Feed] | None, seed: int, last: float = math.inf
    ) -> Beginning:
        """Return how the circuit meets the data of ``feeds``, or white data of unit variance where there are none.

        Learning is announced to end after ``last`` samples; it goes on where that is infinite.
        """
        return Beginning()

    def _settings(self, simulated: Simulated) -> dict[str, object]:
        """Return plain values that a run keeps as attributes."""
        return {}

    def _more(self, simulated: Simulated, matrices: Mapping[str, np.ndarray]) -> dict[str, tuple]:
        """Return further variables of a run's Dataset, given the final ``matrices``."""
        return {}

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Refuse numbers of features, by port, that the circuit cannot learn from."""

    def _learning(self) -> dict[str, str]:
        """Return the rows of the circuit's table that say what it learns."""
        weighted = [pathway for pathway in self.parts.pathways if pathway.weighted]
        return {"pathways": ", ".join(f"{p.name} ({p.source} to {p.target})" for p in weighted)}

    def _departures_in_words(self) -> str:
        """Return how the circuit departs from the paper's; empty where it does not."""
        return "; ".join(map(repr, self.all_departures))

    # -- circuits of known sizes ---------------------------------------------------------------------------------

    @functools.cached_property
    def timing(self) -> Timing:
        """Length of a tick, and number of ticks for which a sample is held."""
        return Timing.of(self.parts)

    @functools.cached_property
    def _engines(self) -> Engines:
        return Engines(self.name)

    @functools.cached_property
    def _blueprints(self) -> dict[tuple, Blueprint]:
        return {}

    def blueprint(self, *sizes: int) -> Blueprint:
        """Return the circuit for so many features of each port, in their order; the smallest that fit unless given."""
        names = [port.name for port in self.ports]
        if sizes and len(sizes) != len(names):
            raise InputError(f"sizes: must be the numbers of features of {', '.join(names)} (got {sizes})")
        cells = max((population.size or 1 for population in self.parts.all(kind="pyramidal")), default=1)
        smallest = [self.parts[port.population].size or cells for port in self.ports]
        given = zip(names, sizes or smallest, strict=True)
        return self._sized({name: whole_number(name, size, minimum=1) for name, size in given})

    def _sized(
        self, sizes: Mapping[str, int], moving: frozenset[str] = frozenset(), silent: tuple[str, ...] = ()
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
                        f"{port.name}: must have {population.size} features, the cells of {population.name} (got "
                        f"{size})"
                    )
                parts = parts.having(replace(population, size=size))
            for population in parts.populations:
                if population.size is None:
                    raise InputError(
                        f"{population.name}.size: must be given, because no data say how many cells there are"
                    )
            ports = tuple(replace(port, changes="tick" if port.name in moving else "sample") for port in self.ports)
            self._blueprints[key] = Blueprint(parts, ports)
        return self._blueprints[key]

    def build(self, *sizes: int):
        """Build the circuit for data of so many features now rather than at the first :meth:`run`; return it.

        Engines numpy, cython and "auto" build :attr:`network` in this process, to add one's own monitors to; cpp
        compiles its program. Features are given as :meth:`blueprint` takes them.
        """
        blueprint = self.blueprint(*sizes)
        engine = self._engines.built("numpy" if self.engine == "auto" else self.engine, blueprint)
        if hasattr(engine, "begin"):
            begin = self._beginning(blueprint, None, self.seed)
            engine.begin(initial_state(blueprint, begin, self.seed, self.initial))
        return self

    # -- running -------------------------------------------------------------------------------------------------

    def run(
        self,
        X,
        Y=None,
        epochs: int = 1,
        order=None,
        record=None,
        every=None,
        snapshots=100,
        plastic: bool = True,
        start: Run | None = None,
        callback: Callback | None = None,
        centre: bool = False,
        progress: bool = True,
        checkpoint: str | os.PathLike | Checkpoint | None = None,
        events: Sequence[Event] = (),
        final: bool = True,
        seed=None,
        weights: Mapping[str, object] | None = None,
    ) -> Run:
        """Present the data and let the circuit learn.

        Parameters
        ----------
        X, Y
            Sensory and instructive data, shapes (n_samples, m) and (n_samples, n); Y may be (n_samples,). Memory maps
            are read as they lie. In place of both, a dict of the data of every port by its name, ``{"x": X, "y": Y}``.
            Or signals in time (:class:`~biorrr.circuit.TimeSeries`), for circuits whose dynamics have time: each window
            of ``Leaky.hold`` is then one sample.
        epochs
            Passes over the data, or over ``order`` where that is an index array.
        order
            "shuffle" (a new permutation each epoch), "sequential", or an index array of any length; unless given,
            samples are shuffled and signals in time are not.
        record
            Variables to trace: names, or a dict of names to True or to the chosen cells. Any variable that a part of
            the circuit declares, such as x, y, z, a, n, inhibition, plateau; "part.variable" where two parts have one
            of that name. Weights too: ``{"Vx": [(3, 0)]}`` records one synapse as ``run.data["Vx_trace"]``, each value
            after the plasticity of its sample. The rates eta_x, eta_y, eta_q, eta_r go with every record. Unless
            given, a microcircuit records plateau, a, inhibition and z, and other circuits nothing.
        every
            Samples from one that is traced to the next, or windows of consecutive samples, as [(first, last + 1), ...].
            By default 20 stretches of 50 consecutive samples, evenly in log time, and between them one sample in 100
            (fewer in runs of more than two million samples). Where outputs settle, each sample has one row, at its
            equilibrium.
        snapshots
            How many weight snapshots to keep, evenly in log time; ("linear", count) for evenly in samples; or a list of
            sample counts. The start and the end are always among them.
        plastic
            False for a pass with learning off.
        start
            An earlier run to continue: its weights, its sample count, its place in the order.
        callback
            Called with (samples seen, {"Vx": ..., "Vy": ..., "Q": ..., "R": ...}) at each snapshot; ends the run by
            returning True.
        centre
            True to subtract the means of the data from each sample as it is presented.
        progress
            True to show a progress bar in terminals and notebooks.
        checkpoint
            File that keeps the run as far as it has come, every 30 seconds; ``Checkpoint(path, every=5)`` for another
            pace. Where it exists, the run goes on from there and ends bit for bit where it would have ended without
            the break; a file of another run is refused. It stays when the run is done.
        events
            What happens in the middle of the run: :class:`~biorrr.models.Silence`, ``Freeze``, ``CutInstruction``,
            ``SwapData``, each at a sample of this run and until its end.
        final
            True to announce that learning ends with this run: rates "auto" then fall to zero by its last sample, which
            brings the weights much nearer to the optimum. Give False to a run that another is to continue by
            ``start``: the two then end bit for bit where one uninterrupted run with final=False ends. Rates that are
            given as :class:`~biorrr.models.Rates` are used as they stand.
        seed
            In place of the circuit's, for this run.
        weights
            Initial matrices of any pathway by name, in the data's units, in place of those drawn.

        Raises
        ------
        CheckpointError
            Where the checkpoint is damaged, or belongs to another run; it says what differs.
        Diverged
            Where activity grows beyond bounds; its ``run`` holds what was recorded up to there.
        Unsettled
            Where outputs did not come to their equilibrium in the ticks they had; its ``run`` has what came out.
        """
        for switch, value in {"plastic": plastic, "centre": centre, "progress": progress, "final": final}.items():
            truth(switch, value)
        if callback is not None and not callable(callback):
            raise InputTypeError(f"callback: must be a function of samples seen and weights (got {callback!r})")
        epochs, seed = whole_number("epochs", epochs, minimum=1), self.seed if seed is None else as_seed("seed", seed)
        timing, port = self.timing, self.ports[0].name
        feeds = read_feeds(self.ports, X, Y, centre, timing)
        n_samples, in_time = feeds[port].samples, any(feed.in_time for feed in feeds.values())
        order = check_order(order, n_samples, in_time)
        warn_of_shuffling(order, self.all_departures, timing)
        first, last = stretch_of(epochs, n_samples if isinstance(order, str) else len(order), start)
        announced = last if final and plastic else math.inf
        moving = frozenset(name for name, feed in feeds.items() if feed.ticks != feed.held)
        sizes = {name: feed.values.shape[1] for name, feed in feeds.items()}
        happening = as_events(events)
        silent = tuple(dict.fromkeys(event.population for event in happening if isinstance(event, Silence)))
        blueprint = self._sized(sizes, moving, silent)
        begin = self._beginning(blueprint, feeds, seed, announced)
        state = initial_state(blueprint, begin, seed, {**self.initial, **mapping("weights", weights)}, start)
        if plastic and start is not None and start.cooled:
            warn(
                "start: that run was final, and its rates have fallen to zero; they begin anew here. Give final=False "
                "to a run that is to be continued"
            )
        state |= {q.key: np.array([float(plastic)]) for q in blueprint.state if q.name in ("plastic", "learning")}
        state["clock.sample"] = np.array([first - 1.0])
        presentation = Presentation(n_samples, sizes[port], order, begin.replay, seed)
        job = Job(
            blueprint, presentation, scaled(feeds, blueprint, begin.units), first, last, state,
            recording_of(self._TRACED if record is None else record, every, blueprint, first, last),
            snapshot_samples(snapshots, first, last),
        )  # fmt: skip
        engine = choose(self.engine, (last - first) * job.ticks_per_sample)
        build = functools.partial(self._engines.built, engine, blueprint)
        happening = check_events(happening, first, last, blueprint, order)
        simulated = simulate(job, begin.units, engine, build, happening, checkpoint, callback, progress)
        attrs = {
            "plastic": int(plastic), "signal_in_time": int(in_time),
            "cooled": int("neuromodulator.last" in begin.parameters and simulated.outcome.samples >= announced),
            "departures": self._departures_in_words(), **self._settings(simulated),
        }  # fmt: skip
        run = Run(dataset(simulated, attrs, self._more), self, blueprint)
        if simulated.outcome.ended == "diverged":
            raise Diverged.at(simulated.outcome.samples, self._remedy, run)
        check_settled(self.all_departures, run, timing.held)
        return run

    # -- views ---------------------------------------------------------------------------------------------------

    @property
    def network(self):
        """The Brian2 Network of the circuit as it was made (engines numpy and cython), to add one's own monitors to.

        Its objects are called as the parts are, behind the circuit's name where it has one. A tick is one second of
        Brian2's time. ``run`` presents the samples; to run the network alone, set inputs and the clock's `waking`.
        Values are those that the engine holds: with rates "auto", data have been scaled to a mean square of 1
        (``run.data.attrs`` has the gains). To see a tick's own values, a monitor must look when the tick is over:
        ``StateMonitor(circuit.network["pyramidal"], "plateau", record=True, when="end", order=1)``. ``run.network`` is
        that of one run.
        """
        found = self._engines.networks({b.code for (_, _, silent), b in self._blueprints.items() if not silent})
        if len(found) == 1:
            return found[0]
        if found:
            raise RunError(
                f"network: {len(found)} are built, for data of different sizes; use that of a run, run.network, or "
                "make a circuit for each"
            )
        raise RunError(
            "network: nothing is built in this process yet; call circuit.build(m, n) first, and run with "
            "engine='numpy' or 'cython' (the C++ engine's network lives in a program of its own)"
        )

    def _shown(self, sizes: tuple[int, ...], run: Run | None) -> Blueprint:
        """Return the blueprint of ``run``, or that of the circuit with ``sizes``."""
        return self.blueprint(*sizes) if run is None else instance_of("run", run, Run).blueprint

    def wiring(self, *sizes: int, run: Run | None = None):
        """Return the circuit, or that of ``run``, as a graph; see :func:`biorrr.circuit.results.graph.wiring`."""
        from biorrr.circuit.results.graph import wiring

        return wiring(self._shown(sizes, run))

    def describe(self, *sizes: int, run: Run | None = None) -> str:
        """Return the model in readable text, made from the very objects that are simulated.

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

        return locality(self._shown((), run).parts if run is not None else self.parts)

    def table(self) -> tuple[str, dict[str, str]]:
        """Return the name of the circuit, its cells, and the way it learns."""
        inputs = [port.population for port in self.ports]
        cells = [f"{p.size} {p.name}" for p in self.parts.populations if p.shape and p.name not in inputs]
        return f"{type(self).__name__} {self.name}".strip(), {
            "inputs": ", ".join(port.name for port in self.ports),
            "cells": ", ".join(cells),
            **self._learning(),
            "departures": self._departures_in_words() or "none",
            "engine, seed": f"{self.engine}, {self.seed}",
        }
