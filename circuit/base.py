"""The base of all circuits: how they meet their data and run, whatever their parts."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.choice import choose
from biorrr.circuit.made_circuit import MadeCircuit
from biorrr.circuit.results.dataset import dataset
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.checkpoint import Checkpoint
from biorrr.circuit.simulation.events import check_events, silenced
from biorrr.circuit.simulation.initial_state import given_weights, initial_state
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.recorded_traces import recording_of
from biorrr.circuit.simulation.recorder import Diverged
from biorrr.circuit.simulation.simulate import Callback, Simulated, simulate, snapshot_samples, stretch_of
from biorrr.circuit.simulation.unsettled import check_settled
from biorrr.circuit.stimulus.data_checks import check_order, warn, warn_of_shuffling
from biorrr.circuit.stimulus.feeds import Inputs, read_inputs
from biorrr.circuit.stimulus.presentation import Presentation, as_seed
from biorrr.circuit.stimulus.units import Units
from biorrr.models import Event
from biorrr.models.physical_units import in_si
from biorrr.models.validation import truth, whole_number


@dataclass(frozen=True)
class Beginning:
    """How a circuit meets its data.

    Parameters
    ----------
    gains
        By which the data of each port are multiplied, by its name; 1 unless given.
    units
        How the circuit's units relate to the data's.
    weights
        Initial matrices by name, in the circuit's units; others are drawn pathway by pathway.
    parameters
        Values of parameters by "part.variable", in the data's units.
    replay
        Replays after each sample.
    """

    gains: Mapping[str, float] = field(default_factory=dict)
    units: Units = field(default_factory=Units)
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    replay: int = 0


class CircuitBase(MadeCircuit):
    """Base of circuits: those that are made, built and run."""

    # Variables that are traced unless told.
    _TRACED: ClassVar[tuple[str, ...]] = ()
    # What to do about a run that diverges.
    _REMEDY: ClassVar[str] = "lower the rates of plasticity"

    # -- what differs between circuits ---------------------------------------------------------------------------

    @property
    def initial(self) -> dict[str, object]:
        """Initial matrices that were given to the circuit, by name, in the data's units."""
        return {}

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

    # -- running -------------------------------------------------------------------------------------------------

    def build(self, *sizes: int, **named: int):
        """Build the circuit for data of so many features now rather than at the first :meth:`run`; return it.

        Engines numpy, cython and "auto" build :attr:`network` in this process, to add one's own monitors to; cpp
        compiles its program. Features are given as :meth:`blueprint` takes them.
        """
        blueprint = self.blueprint(*sizes, **named)
        engine = self._engines.built("numpy" if self.engine == "auto" else self.engine, blueprint)
        if hasattr(engine, "begin"):
            begin = self._beginning(blueprint, None, self.seed)
            weights = {**begin.weights, **given_weights(self.initial, blueprint, begin.units)}
            engine.begin(initial_state(blueprint, begin.units, self.seed, weights, {}, None))
        return self

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
        parameters: Mapping[str, float] | None = None,
    ) -> Run:
        """Present the data and let the circuit learn.

        Parameters
        ----------
        X, Y
            Sensory and instructive data, shapes (n_samples, m) and (n_samples, n); Y may be (n_samples,). Memory maps
            are read as they lie. In place of both, a dict of the data of every port by its name, ``{"x": X, "y": Y}``.
            Or signals in time, for circuits whose dynamics have time: :class:`~biorrr.circuit.TimeSeries`,
            :class:`~biorrr.circuit.SpikeTrains`, :class:`~biorrr.circuit.PoissonSpikes`, a Brian2 TimedArray,
            SpikeGeneratorGroup or any other group (:class:`~biorrr.circuit.GroupInput`). Every window of
            ``Leaky.hold`` is then one sample.
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
        parameters
            Values of parameters by "part.variable" for this run, in the data's units; nothing is compiled anew.

        Raises
        ------
        CheckpointError
            Where the checkpoint is damaged, or belongs to another run; it says what differs.
        Diverged
            Where activity grows beyond bounds; its ``run`` holds what was recorded up to there.
        Unsettled
            Where outputs did not come to their equilibrium in the ticks they had; its ``run`` has what came out.
        """
        timing = self.timing
        inputs = read_inputs(*self._by_port(X, Y), centre, timing)
        epochs = whole_number("epochs", epochs, minimum=1)
        order = check_order(order, inputs.n_samples, inputs.signal_in_time)
        warn_of_shuffling(order, self.all_departures, timing)
        seed = self.seed if seed is None else as_seed(seed)
        blueprint = self._sized(inputs.sizes, inputs.moving, silenced(events))
        first, last = stretch_of(epochs, inputs.n_samples if isinstance(order, str) else len(order), start)
        announced = last if truth("final", final) and plastic else math.inf
        begin = self._beginning(blueprint, inputs, seed, announced)
        port = self.ports[0].name
        presentation = Presentation(
            inputs.n_samples, inputs.sizes[port], order, begin.replay, seed, timing.held, port, timing.replay_held
        )
        given = given_weights({**self.initial, **(weights or {})}, blueprint, begin.units)
        state = initial_state(
            blueprint, begin.units, seed, {**begin.weights, **given}, {**begin.parameters, **(parameters or {})}, start
        )
        if plastic and getattr(start, "cooled", False):
            warn(
                "start: that run was final, and its rates have fallen to zero; they begin anew here. Give final=False "
                "to a run that is to be continued"
            )
        switches = [q.key for q in blueprint.state if q.name in ("plastic", "learning")]
        state |= dict.fromkeys(switches, np.array([float(truth("plastic", plastic))]))
        state["clock.sample"] = np.array([first - 1.0])
        live = any(feed.live is not None for feed in inputs.feeds.values())
        if live and checkpoint is not None:
            raise ValueError(
                "checkpoint: cannot keep the state of a Brian2 group of yours; leave it out, or record the group first "
                "and give what it said as TimeSeries or SpikeTrains"
            )
        engine = choose(self.engine, (last - first) * presentation.ticks_per_sample, live)
        events = check_events(events, first, last, blueprint, order)
        job = Job(
            blueprint, presentation, self._feeds(inputs, begin), first, last, state,
            recording_of(self._TRACED if record is None else record, every, blueprint, first, last),
            snapshot_samples(snapshots, first, last),
        )  # fmt: skip
        build = functools.partial(self._engines.built, engine, blueprint)
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
            if Y is not None or sorted(X) != sorted(names):
                raise ValueError(f"inputs: must be data for {', '.join(names)} (got {', '.join(X) or 'none'})")
            return {name: X[name] for name in names}, {name: name for name in names}
        if sorted(names) != ["x", "y"]:
            raise TypeError(
                f"X: must be a dict of the data of each port, {', '.join(names)} (got {type(X).__name__}); X and Y are "
                "for circuits with ports x and y"
            )
        Y = Y[:, None] if isinstance(Y, np.ndarray) and Y.ndim == 1 else Y
        Y = Y.to_frame() if hasattr(Y, "to_frame") and np.ndim(Y) == 1 else Y  # a column of a table keeps its name
        return {"x": X, "y": Y}, {"x": "X", "y": "Y"}

    def _feeds(self, inputs: Inputs, begin: Beginning) -> dict:
        """Return the data of each port with its gain: data are given in the unit of the variable that they set."""
        units = {
            port.name: next(v.unit for v in self.parts[port.population].variables if v.name == port.variable)
            for port in self.ports
        }
        return {
            name: replace(feed, gain=begin.gains.get(name, 1.0) * feed.unit * in_si(units[name]))
            for name, feed in inputs.feeds.items()
        }
