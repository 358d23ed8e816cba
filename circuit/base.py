"""The base of all circuits: how they are sized, built, run and looked at, whatever their parts."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.compile.schedule import schedule
from biorrr.circuit.compile.timing import Timing
from biorrr.circuit.engines.choice import ENGINES, Engines, choose
from biorrr.circuit.results.dataset import dataset
from biorrr.circuit.results.run import Run
from biorrr.circuit.results.text_table import Tabled
from biorrr.circuit.simulation.checkpoint import Checkpoint
from biorrr.circuit.simulation.events import check_events, silenceable, silenced
from biorrr.circuit.simulation.failures import Diverged, check_settled
from biorrr.circuit.simulation.initial_state import Beginning, given_weights, initial_state
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.recorded_traces import recording_of
from biorrr.circuit.simulation.simulate import Callback, Simulated, simulate, snapshot_samples, stretch_of
from biorrr.circuit.stimulus.data_checks import check_order, mapping, warn, warn_of_shuffling
from biorrr.circuit.stimulus.feeds import Inputs, read_inputs
from biorrr.circuit.stimulus.presentation import Presentation, as_seed
from biorrr.errors import InputError, InputTypeError, RunError
from biorrr.models import Departure, Event, Parts
from biorrr.models.validation import instance_of, one_of, truth, whole_number


class CircuitBase(Tabled):
    """Base of circuits: frozen values made of :attr:`parts`, which reach the outside by :attr:`ports`.

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
    # Variables that are traced unless told.
    _TRACED: ClassVar[tuple[str, ...]] = ()
    # What to do about a run that diverges.
    _REMEDY: ClassVar[str] = "lower the rates of plasticity"

    def __new__(cls, *args, **arguments):
        """Refuse arguments that are departures now, in one sentence."""
        for name in arguments.keys() & cls._INSTEAD.keys():
            raise InputTypeError(f"{name}: is not an argument of {cls.__name__}; use {cls._INSTEAD[name]} instead")
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
        one_of("engine", self.engine if isinstance(self.engine, str) else repr(self.engine), ENGINES)
        if not isinstance(self.name, str) or not f"_{self.name}".isidentifier():
            raise InputError(f"name: must be a name without spaces (got {self.name!r})")
        self._freeze(
            seed=as_seed(self.seed), parts=parts, ports=ports, all_departures=departures, timing=Timing.of(parts),
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

    # -- what differs between circuits ---------------------------------------------------------------------------

    def _beginning(self, blueprint: Blueprint, inputs: Inputs | None, seed: int, last: float = math.inf) -> Beginning:
        """Return how the circuit meets ``inputs``, or white ones of unit variance where there are none.

        Learning is announced to end after ``last`` samples; it goes on where that is infinite.
        """
        return Beginning()

    def _settings(self, simulated: Simulated) -> dict[str, object]:
        """Return plain values that a run keeps as attributes."""
        return {"departures": self._departures_in_words()}

    def _more(self, simulated: Simulated, matrices: Mapping[str, np.ndarray]) -> dict[str, tuple]:
        """Return further variables of a run's Dataset, given the final ``matrices``."""
        return {}

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Refuse numbers of features, by port, that the circuit cannot learn from."""

    def _smallest(self, port: Port) -> int:
        """Return the fewest features that ``port`` can have."""
        return self.parts[port.population].size or 1

    def _departures_in_words(self) -> str:
        """Return how the circuit departs from the paper's; empty where it does not."""
        return "; ".join(map(repr, self.all_departures))

    # -- circuits of known sizes ---------------------------------------------------------------------------------

    def blueprint(self, *sizes: int, **named: int) -> Blueprint:
        """Return the circuit for so many features of each port, in their order or by name (m is x, n is y)."""
        given = self._features(sizes, named)
        missing = [port.name for port in self.ports if port.name not in given]
        if missing:
            raise InputError(f"{', '.join(missing)}: say how many features the data have, such as blueprint(64, 10)")
        return self._sized(given)

    def _features(self, sizes: tuple[int, ...], named: Mapping[str, int]) -> dict[str, int]:
        """Return numbers of features by port, which are given in the order of ports or by name."""
        ports = [port.name for port in self.ports]
        names = (*ports[: len(sizes)], *({"m": "x", "n": "y"}.get(name, name) for name in named))
        if len(sizes) > len(ports) or not set(names) <= set(ports):
            raise InputTypeError(f"sizes: must be the features of {', '.join(ports)} (got {sizes}, {dict(named)})")
        values = zip(names, (*sizes, *named.values()), strict=True)
        return {name: whole_number(name, size, minimum=1) for name, size in values}

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

    def _sketch(self, sizes: tuple[int, ...], named: Mapping[str, int], run: Run | None) -> Blueprint:
        """Return a blueprint to look at: that of ``run``, or of the circuit with sizes as given or the smallest."""
        if run is not None:
            return instance_of("run", run, Run).blueprint
        return self._sized({port.name: self._smallest(port) for port in self.ports} | self._features(sizes, named))

    def build(self, *sizes: int, **named: int):
        """Build the circuit for data of so many features now rather than at the first :meth:`run`; return it.

        Engines numpy, cython and "auto" build :attr:`network` in this process, to add one's own monitors to; cpp
        compiles its program. Features are given as :meth:`blueprint` takes them.
        """
        blueprint = self.blueprint(*sizes, **named)
        engine = self._engines.built("numpy" if self.engine == "auto" else self.engine, blueprint)
        if hasattr(engine, "begin"):
            engine.begin(initial_state(blueprint, self._beginning(blueprint, None, self.seed), self.seed))
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
        switches = {"plastic": plastic, "centre": centre, "progress": progress, "final": final}
        for name, value in switches.items():
            truth(name, value)
        if callback is not None and not callable(callback):
            raise InputTypeError(f"callback: must be a function of samples seen and weights (got {callback!r})")
        epochs, seed = whole_number("epochs", epochs, minimum=1), self.seed if seed is None else as_seed(seed)
        timing = self.timing
        inputs = read_inputs(*self._by_port(X, Y), centre, timing)
        order = check_order(order, inputs.n_samples, inputs.signal_in_time)
        warn_of_shuffling(order, self.all_departures, timing)
        first, last = stretch_of(epochs, inputs.n_samples if isinstance(order, str) else len(order), start)
        announced = last if final and plastic else math.inf
        blueprint = self._sized(inputs.sizes, inputs.moving, silenced(events))
        begin = self._beginning(blueprint, inputs, seed, announced)
        given = given_weights(mapping("weights", weights), blueprint, begin.units)
        state = initial_state(blueprint, replace(begin, weights={**begin.weights, **given}), seed, start)
        if plastic and start is not None and start.cooled:
            warn(
                "start: that run was final, and its rates have fallen to zero; they begin anew here. Give final=False "
                "to a run that is to be continued"
            )
        state |= {q.key: np.array([float(plastic)]) for q in blueprint.state if q.name in ("plastic", "learning")}
        state["clock.sample"] = np.array([first - 1.0])
        port = self.ports[0].name
        presentation = Presentation(
            inputs.n_samples, inputs.sizes[port], order, begin.replay, seed, timing.held, port, timing.replay_held
        )
        job = Job(
            blueprint, presentation, inputs.presented(blueprint, begin.units), first, last, state,
            recording_of(self._TRACED if record is None else record, every, blueprint, first, last),
            snapshot_samples(snapshots, first, last),
        )  # fmt: skip
        engine = choose(self.engine, (last - first) * presentation.ticks_per_sample)
        build = functools.partial(self._engines.built, engine, blueprint)
        events = check_events(events, first, last, blueprint, order)
        simulated = simulate(job, begin.units, engine, build, events, checkpoint, callback, progress)
        attrs = {
            "plastic": int(plastic), "signal_in_time": int(inputs.signal_in_time),
            "cooled": int("neuromodulator.last" in begin.parameters and simulated.outcome.samples >= announced),
            **self._settings(simulated),
        }  # fmt: skip
        run = Run(dataset(simulated, attrs, inputs.labels, self._more), self, blueprint)
        if simulated.outcome.ended == "diverged":
            raise Diverged.at(simulated.outcome.samples, self._REMEDY, run)
        check_settled(self.all_departures, run, timing.held)
        return run

    def _by_port(self, X, Y) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the data of each port by its name, and the names by which errors speak of them."""
        names = [port.name for port in self.ports]
        if isinstance(X, Mapping):
            if Y is not None or set(X) != set(names):
                raise InputError(
                    f"inputs: must be data for {', '.join(names)} (got {', '.join(map(str, X)) or 'none'})"
                )
            return {name: X[name] for name in names}, {name: name for name in names}
        if sorted(names) != ["x", "y"]:
            raise InputTypeError(
                f"X: must be a dict of the data of each port, {', '.join(names)} (got {type(X).__name__}); X and Y are "
                "for circuits with ports x and y"
            )
        Y = Y[:, None] if isinstance(Y, np.ndarray) and Y.ndim == 1 else Y
        Y = Y.to_frame() if hasattr(Y, "to_frame") and np.ndim(Y) == 1 else Y  # a column of a table keeps its name
        return {"x": X, "y": Y}, {"x": "X", "y": "Y"}

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

        return locality(self.parts if run is None else self._sketch((), {}, run).parts)
