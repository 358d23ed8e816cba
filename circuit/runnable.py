"""Circuits that run: `run`, the same for every circuit, and the engines that it is built on."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from biorrr.circuit.base import CircuitBase
from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.choice import Engines
from biorrr.circuit.results.dataset import label_results
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.checkpoint import Checkpoint, engine_of
from biorrr.circuit.simulation.events import as_events, check_events
from biorrr.circuit.simulation.failures import Diverged, check_settled, warn_of_silence
from biorrr.circuit.simulation.initial_state import Beginning, initial_state
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.recorded_traces import recording_of
from biorrr.circuit.simulation.simulate import (
    Callback,
    Simulated,
    simulate,
    snapshot_samples,
    stretch_of,
)
from biorrr.circuit.stimulus.data_checks import check_order, mapping, warn, warn_of_shuffling
from biorrr.circuit.stimulus.feeds import Feed, read_feeds
from biorrr.circuit.stimulus.presentation import Presentation, as_seed
from biorrr.errors import InputTypeError, RunError
from biorrr.models import Event, Silence
from biorrr.models.validation import LARGEST_WHOLE, truth, whole_number


class RunnableCircuit(CircuitBase):
    """Base of circuits that run.

    A circuit keeps nothing of its runs but what it has built, which is kept to save time and
    changes no answer.
    """

    _TRACED: ClassVar[tuple[str, ...]] = ()  # variables that are recorded by default

    @functools.cached_property
    def _engines(self) -> Engines:
        return Engines(self.name)

    # -- what differs between circuits -------------------------------------------------------------

    @property
    def initial(self) -> dict[str, object]:
        """Initial weights that were given, by the name of their matrix."""
        return {}

    def _remedy(self, feeds: Mapping[str, Feed], sample: int) -> str:
        """Return advice for a run that diverged at ``sample``."""
        return "lower the rates of plasticity"

    def _beginning(
        self,
        blueprint: Blueprint,
        feeds: Mapping[str, Feed] | None,
        seed: int,
        last: float = math.inf,
    ) -> Beginning:
        """Return how the circuit meets the data of ``feeds``, or white data of unit variance where
        there are none.

        ``last`` is the sample after which learning is announced to end; infinite if no end is
        announced.
        """
        return Beginning()

    def _settings(self, simulated: Simulated) -> dict[str, object]:
        """Return plain values that a run keeps as attributes."""
        return {}

    def _more(self, simulated: Simulated, matrices: Mapping[str, np.ndarray]) -> dict[str, tuple]:
        """Return further variables of a run's Dataset, given the final ``matrices``."""
        return {}

    # -- running -----------------------------------------------------------------------------------

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
            Sensory and instructive data, shapes (n_samples, m) and (n_samples, n); Y may be
            (n_samples,). Memory maps are not copied. In place of both, a dict of the data of every
            port by its name, ``{"x": X, "y": Y}``. Or signals in time
            (:class:`~biorrr.circuit.TimeSeries`), for circuits whose dynamics have time: each
            window of ``Leaky.hold`` is then one sample.
        epochs
            Passes over the data, or over ``order`` where that is an index array.
        order
            "shuffle" (a new permutation each epoch), "sequential", or an index array of any length;
            unless given, samples are shuffled and signals in time are not.
        record
            Variables to trace: names, or a dict of names to True or to the chosen cells. Any
            variable that a part of the circuit declares, such as x, y, z, a, n, inhibition,
            plateau; "part.variable" where two parts have one of that name. Weights too: ``{"Vx":
            [(3, 0)]}`` records one synapse as ``run.data["Vx_trace"]``, each value after the
            plasticity of its sample. The rates eta_x, eta_y, eta_q, eta_r go with every record.
            Unless given, a microcircuit records plateau, a, inhibition and z, and other circuits
            nothing.
        every
            Samples from one that is traced to the next, or windows of consecutive samples, as
            [(first, last + 1), ...]. By default 20 stretches of 50 consecutive samples, evenly in
            log time, and between them one sample in 100 (fewer in runs of more than two million
            samples). Where outputs settle, each sample has one row, at its equilibrium.
        snapshots
            How many weight snapshots to keep, evenly in log time; ("linear", count) for evenly in
            samples; or a list of sample counts. The start and the end are always among them.
        plastic
            False for a pass with learning off.
        start
            An earlier run to continue: its weights, its sample count, its place in the order.
        callback
            Called with (samples seen, {"Vx": ..., "Vy": ..., "Q": ..., "R": ...}) at each snapshot;
            ends the run by returning True.
        centre
            True to subtract the means of the data from each sample as it is presented.
        progress
            True to show a progress bar in terminals and notebooks.
        checkpoint
            File that keeps the run as far as it has come, every 30 seconds; ``Checkpoint(path,
            every=5)`` for another pace. Where it exists, the run goes on from there and ends bit
            for bit where it would have ended without the break; a file of another run is refused.
            It stays when the run is done.
        events
            What happens in the middle of the run: :class:`~biorrr.models.Silence`, ``Freeze``,
            ``CutInstruction``, ``SwapData``, each at a sample of this run and until its end.
        final
            True to announce that learning ends with this run: rates "auto" then fall to zero by its
            last sample, which brings the weights much nearer to the optimum. Give False to a run
            that another is to continue by ``start``: the two then end bit for bit where one
            uninterrupted run with final=False ends. Rates that are given as
            :class:`~biorrr.models.Rates` are used as they stand.
        seed
            In place of the circuit's, for this run.
        weights
            Initial matrices of any pathway by name, in place of those drawn.

        Raises
        ------
        CheckpointError
            Where the checkpoint is damaged, or belongs to another run; it says what differs.
        Diverged
            Where activity grows beyond bounds; its ``run`` holds what was recorded up to there.
        Unsettled
            Where outputs did not reach their equilibrium while a sample was held; its ``run`` holds
            the results.
        """
        for switch, value in {
            "plastic": plastic,
            "centre": centre,
            "progress": progress,
            "final": final,
        }.items():
            truth(switch, value)
        if callback is not None and not callable(callback):
            raise InputTypeError(
                f"callback: must be a function of samples seen and weights (got {callback!r})"
            )
        epochs, seed = (
            whole_number("epochs", epochs, minimum=1),
            (self.seed if seed is None else as_seed("seed", seed)),
        )
        timing, port = self.timing, self.ports[0].name
        feeds = read_feeds(self.parts, self.ports, X, Y, centre, timing)
        n_samples, in_time = feeds[port].samples, any(feed.in_time for feed in feeds.values())
        order = check_order(order, n_samples, in_time)
        warn_of_shuffling(order, self.all_departures, timing)
        first, last = stretch_of(epochs, n_samples if isinstance(order, str) else len(order), start)
        announced = last if final and plastic else math.inf
        moving = frozenset(name for name, feed in feeds.items() if feed.ticks != feed.held)
        sizes = {name: feed.values.shape[1] for name, feed in feeds.items()}
        happening = as_events(events)
        silent = tuple(
            dict.fromkeys(event.population for event in happening if isinstance(event, Silence))
        )
        blueprint = self._sized(sizes, moving, silent)
        begin = self._beginning(blueprint, feeds, seed, announced)
        state = initial_state(
            blueprint, begin, seed, {**self.initial, **mapping("weights", weights)}, start
        )
        if plastic and start is not None and start.cooled:
            warn(
                "start: that run was final, and its rates have fallen to zero; they begin anew"
                " here. Give final=False to a run that is to be continued"
            )
        state |= {
            q.key: np.array([float(plastic)])
            for q in blueprint.state
            if q.name in ("plastic", "learning")
        }
        state["clock.sample"] = np.array([first - 1.0])
        presentation = Presentation(n_samples, sizes[port], order, begin.replay, seed)
        job = Job(
            blueprint,
            presentation,
            feeds,
            first,
            last,
            state,
            recording_of(self._TRACED if record is None else record, every, blueprint, first, last),
            snapshot_samples(snapshots, first, last),
        )
        ticks = (last - first) * job.ticks_per_sample
        engine = self._engines.choose(self.engine, blueprint, ticks)
        if self.engine == "auto":
            engine = engine_of(checkpoint) or engine
        build = functools.partial(self._engines.built, engine, blueprint)
        happening = check_events(happening, first, last, blueprint, order)
        simulated = simulate(job, engine, build, happening, checkpoint, callback, progress)
        attrs = {
            "plastic": int(plastic),
            "signal_in_time": int(in_time),
            "cooled": int(
                "neuromodulator.last" in begin.parameters and simulated.outcome.samples >= announced
            ),
            "departures": self._departures_in_words(),
            **self._settings(simulated),
        }
        run = Run(label_results(simulated, attrs, self._more), self, blueprint)
        if run.ended == "diverged":
            at = simulated.outcome.samples
            raise Diverged(
                f"the circuit diverged at sample {at}: activity is no longer finite;"
                f" {self._remedy(feeds, at)}",
                run,
            )
        check_settled(self.all_departures, run, timing.duration)
        if not happening:
            warn_of_silence(run, feeds)
        return run

    def build(self, *sizes: int):
        """Build the circuit now rather than at the first :meth:`run`; return it.

        Engine numpy builds :attr:`network` in this process, to add one's own monitors to; cpp
        compiles its library, and so does "auto" where there is a compiler. Features are given as
        :meth:`blueprint` takes them.
        """
        blueprint = self.blueprint(*sizes)
        name = self._engines.choose(self.engine, blueprint, LARGEST_WHOLE)
        engine = self._engines.built(name, blueprint)
        if hasattr(engine, "begin"):
            begin = self._beginning(blueprint, None, self.seed)
            engine.begin(initial_state(blueprint, begin, self.seed, self.initial))
        return self

    @property
    def network(self):
        """The Brian2 Network of the circuit as it was made (engine numpy), to add one's own
        monitors to.

        Its objects are called as the parts are, behind the circuit's name where it has one. A tick
        is one second of Brian2's time. ``run`` presents the samples; to run the network alone, set
        inputs and the clock's `waking`. To see a tick's own values, a monitor must look when the
        tick is over:
        ``StateMonitor(circuit.network["pyramidal"], "plateau", record=True, when="end", order=1)``.
        ``run.network`` is that of one run.
        """
        found = self._engines.networks(
            {b.code for (_, _, silent), b in self._blueprints.items() if not silent}
        )
        if len(found) == 1:
            return found[0]
        if found:
            raise RunError(
                f"network: {len(found)} are built, for data of different sizes; use that of a run,"
                " run.network, or make a circuit for each"
            )
        raise RunError(
            "network: nothing is built in this process yet; call circuit.build(m, n) first, and run"
            " with engine='numpy' (engine cpp has no network)"
        )
