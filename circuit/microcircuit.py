"""The cortical microcircuit of Golkar et al. (NeurIPS 2020), ready to run."""

from __future__ import annotations

import functools
import math
import os
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from biorrr.circuit.beginning import Beginning
from biorrr.circuit.blueprint import Blueprint, as_synapses
from biorrr.circuit.checkpoint import CheckpointedEngine
from biorrr.circuit.checks import check_data, check_order, warn_of_columns
from biorrr.circuit.ending import Ending
from biorrr.circuit.engines import ENGINES, Engines
from biorrr.circuit.job import Engine, Job
from biorrr.circuit.lesion import LesionedEngine, check_events
from biorrr.circuit.presentation import Presentation
from biorrr.circuit.progress import progress_bar
from biorrr.circuit.recorder import Diverged, Recorder
from biorrr.circuit.run import Run
from biorrr.circuit.statistics import moments
from biorrr.circuit.table import Tabled, departures_in_words, regression, ridge_in_words
from biorrr.circuit.units import Units
from biorrr.models import (
    Analog,
    ApicalDrive,
    DalesLaw,
    Departure,
    Event,
    FrozenPlasticity,
    Graded,
    Instant,
    Leaky,
    LoopDelay,
    Plateau,
    PlateauDecay,
    Rates,
    Silence,
    SilencedInterneurons,
    SparseConnections,
    Spiking,
    TransmissionNoise,
)
from biorrr.models.checks import instance_of, number_within, one_of, whole_number

_GRADED, _INSTANT, _ANALOG = Graded(), Instant(), Analog()  # the paper's circuit
_RATES = ("eta_x", "eta_y", "eta_q", "eta_r")


class Microcircuit(Tabled):
    """Two-compartment pyramidal neurons that learn by plateau potentials, with their interneurons.

    Parameters
    ----------
    k
        Pyramidal neurons: the rank of the regression.
    s
        Which regression: 0 is RRMSE, 1 is CCA (Sec. 2.2).
    rates
        Learning rates: :class:`~biorrr.models.Rates`, used as they stand, or "auto", fitted to the data.
    interneurons
        How many, at least k; k unless given.
    ridge
        Epsilon added to Cxx and Cyy, or a pair of them.
    replay
        Ticks of spontaneous replay after each sample, by which the ridge on Cxx stays local.
    ridge_by
        "replay", or "noise" for Gaussian input noise of variance ridge instead.
    engine
        "numpy", "cython", "cpp", or "auto": by the work to do and whether there is a compiler.
    seed
        Seed of the initial weights, the order of samples and the order of replay.
    Vx0, Vy0, Q0, R0
        Initial weights in the data's units, shapes (m, k), (n, k), (k, l), (l, k); drawn from the seed unless given.
    plateau, dynamics, coding
        Departures from the paper's circuit: what a plateau is (:mod:`biorrr.models.plateaus`), how activity unfolds in
        time (:mod:`biorrr.models.dynamics`), whether cells spike (:mod:`biorrr.models.coding`).
    apical_gain
        How much the plateau drives the output.
    connection_probability
        Of proximal and distal synapses, or a pair of them.
    dale
        Matrices whose weights keep their sign, such as ("Q", "R").
    transmission_noise
        Standard deviation of what a synapse transmits, relative to its mean.
    delay
        Samples by which inhibition comes late.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 6))
    >>> Y = X[:, :2] @ rng.standard_normal((2, 4)) + 0.1 * rng.standard_normal((500, 4))
    >>> run = Microcircuit(k=2, engine="numpy").run(X, Y, epochs=2)
    >>> run.Vx.shape
    (6, 2)
    """

    def __init__(
        self,
        k: int = 2,
        s: float = 0.0,
        rates: Rates | str = "auto",
        interneurons: int | None = None,
        ridge: float | tuple[float, float] = 0.0,
        replay: int = 8,
        ridge_by: str = "replay",
        engine: str = "auto",
        seed: int = 0,
        Vx0=None,
        Vy0=None,
        Q0=None,
        R0=None,
        plateau: Graded | Plateau = _GRADED,
        dynamics: Instant | Leaky = _INSTANT,
        coding: Analog | Spiking = _ANALOG,
        apical_gain: float = 0.0,
        connection_probability: float | tuple[float, float] = 1.0,
        dale: tuple[str, ...] = (),
        transmission_noise: float = 0.0,
        delay: int = 0,
    ) -> None:
        self.k = whole_number("k", k, minimum=1)
        self.s = number_within("s", s, 0, 1, "; 0 is RRMSE, 1 is CCA")
        if not (isinstance(rates, Rates) or rates == "auto"):
            raise TypeError(f"rates: must be Rates(...) or 'auto' (got {rates!r})")
        self.rates = rates
        self.interneurons = whole_number(
            "interneurons",
            k if interneurons is None else interneurons,
            k,
            "; the constraint needs one a pyramidal cell",
        )
        pair = tuple(ridge) if isinstance(ridge, (tuple, list)) else (ridge, ridge)
        if len(pair) != 2:
            raise ValueError(f"ridge: must be a number or a pair, for Cxx and Cyy (got {ridge!r})")
        self.ridge = (number_within("ridge", pair[0], 0), number_within("ridge", pair[1], 0))
        self.replay = whole_number("replay", replay, minimum=1)
        self.ridge_by = one_of("ridge_by", ridge_by, ("replay", "noise"))
        self.engine = one_of("engine", engine, ENGINES)
        self.seed = whole_number("seed", seed, minimum=0)
        self.initial = {"Vx": Vx0, "Vy": Vy0, "Q": Q0, "R": R0}
        self.plateau = instance_of("plateau", plateau, Graded, Plateau)
        self.dynamics = instance_of("dynamics", dynamics, Instant, Leaky)
        self.coding = instance_of("coding", coding, Analog, Spiking)
        self.apical_gain = number_within("apical_gain", apical_gain, 0)
        reach = connection_probability
        pair = tuple(reach) if isinstance(reach, (tuple, list)) else (reach, reach)
        if len(pair) != 2:
            raise ValueError(
                f"connection_probability: must be a number or a pair, for proximal and distal synapses (got {reach!r})"
            )
        self.connection_probability = SparseConnections(*pair)
        self.dale = DalesLaw((dale,) if isinstance(dale, str) else tuple(dale))
        self.transmission_noise = number_within("transmission_noise", transmission_noise, 0)
        self.delay = whole_number("delay", delay, minimum=0)
        self._engines = Engines()

    # -- building ------------------------------------------------------------------------------------------------

    @property
    def departures(self) -> tuple[Departure, ...]:
        """How this circuit departs from the paper's, in the order in which the departures act."""
        # Each adds to what those before it have made of a signal: what is transmitted drives a membrane, a membrane
        # spikes; a drive makes a plateau, a plateau decays and reaches the soma.
        leaky = isinstance(self.dynamics, Leaky)
        chosen = [
            (self.connection_probability, self.connection_probability != SparseConnections(1.0, 1.0)),
            (TransmissionNoise(self.transmission_noise), self.transmission_noise > 0),
            (self.dynamics, leaky),
            (LoopDelay(self.delay), self.delay > 0),
            (self.coding, isinstance(self.coding, Spiking)),
            (self.plateau, isinstance(self.plateau, Plateau)),
            (PlateauDecay(), leaky),
            (ApicalDrive(self.apical_gain), self.apical_gain > 0),
            (self.dale, bool(self.dale.weights)),
        ]
        active = tuple(departure for departure, on in chosen if on)
        return (self.dynamics, *active) if active and not leaky else active

    def blueprint(self, m: int, n: int, lesions: tuple[Departure, ...] = ()) -> Blueprint:
        """The parts of the circuit for m sensory and n instructive inputs."""
        if self.k > min(m, n):
            raise ValueError(
                f"k: upper bound is min(m, n) = {min(m, n)}, the rank of the data (got {self.k}); reduce k"
            )
        departures = self.departures + lesions
        return Blueprint.of_microcircuit(m, n, self.k, self.interneurons, self.rates == "auto", departures)

    def build(self, m: int, n: int) -> Microcircuit:
        """Build the circuit for data of m and n features now rather than at the first :meth:`run`.

        Engines numpy, cython and "auto" build :attr:`network` in this process, to add one's own monitors to; cpp
        compiles its program.
        """
        self._engines.built("numpy" if self.engine == "auto" else self.engine, self.blueprint(m, n))
        return self

    @property
    def network(self):
        """The built Brian2 Network (engines numpy and cython)."""
        return self._engines.network

    # -- running -------------------------------------------------------------------------------------------------

    def run(
        self,
        X,
        Y,
        epochs: int = 1,
        order="shuffle",
        record=("plateau",),
        every: int = 100,
        snapshots: int = 100,
        plastic: bool = True,
        start: Run | None = None,
        callback: Callable[[int, dict[str, np.ndarray]], bool | None] | None = None,
        centre: bool = False,
        progress: bool = True,
        checkpoint: str | os.PathLike | None = None,
        checkpoint_every: float = 30.0,
        events: Sequence[Event] = (),
    ) -> Run:
        """Present the data and let the circuit learn.

        Parameters
        ----------
        X, Y
            Sensory and instructive data, shapes (n_samples, m) and (n_samples, n). Memory maps are read as they lie.
        epochs
            Passes over the data, or over ``order`` where that is an index array.
        order
            "shuffle" (a new permutation each epoch), "sequential", or an index array of any length.
        record
            Traces to keep, of x, y, z, a, n, inhibition, plateau and the rates eta_x, eta_y, eta_q, eta_r.
        every
            Samples from one trace to the next.
        snapshots
            How many weight snapshots to keep, evenly in log time; the start and the end are always among them.
        plastic
            False for a pass with learning off.
        start
            An earlier run to continue: its weights, its sample count, its place in the order.
        callback
            Called with (samples seen, {"Vx": ..., "Vy": ..., "Q": ..., "R": ...}) at each snapshot; ends the run by
            returning True.
        centre
            Subtract the means of X and Y from each sample as it is presented.
        progress
            Show a progress bar where somebody is looking.
        checkpoint
            File that keeps the run as far as it has come. Where it exists, the run goes on from there and ends bit
            for bit where it would have ended without the break; a file of another run is refused. It stays when the
            run is done.
        checkpoint_every
            Seconds from one checkpoint to the next.
        events
            What happens in the middle of the run: :class:`~biorrr.models.Silence`, ``Freeze``, ``CutInstruction``,
            ``SwapData``, each at a sample of this run and until its end.

        Raises
        ------
        CheckpointError
            Where the checkpoint is damaged, or belongs to another run; it says what differs.
        Diverged
            Where activity grows beyond bounds; its ``run`` holds what was recorded up to there.
        """
        X, Y = check_data("X", X), check_data("Y", Y)
        if len(X) != len(Y):
            raise ValueError(f"X, Y: must have as many samples as each other (got {len(X)} and {len(Y)})")
        epochs = whole_number("epochs", epochs, minimum=1)
        order = check_order(order, len(X))
        first = start.samples if start is not None else 0
        presentation = self._presentation(X, order)
        return self.advance(
            X, Y, presentation, first, first + epochs * presentation.epoch,
            record=record, every=every, snapshots=snapshots, plastic=plastic, start=start, callback=callback,
            centre=centre, progress=progress, checkpoint=checkpoint, checkpoint_every=checkpoint_every,
            events=events,
        )  # fmt: skip

    def _presentation(self, X, order) -> Presentation:
        replays = self.ridge_by == "replay" and self.ridge[0] > 0
        return Presentation(
            n_samples=len(X),
            m=X.shape[1],
            order=order,
            replay=self.replay if replays else 0,
            noise=math.sqrt(self.ridge[0]) if self.ridge_by == "noise" else 0.0,
            seed=self.seed,
            held=self.dynamics.held,
        )

    def advance(
        self, X, Y, presentation, first, last, *, record, every, snapshots, plastic, start, callback, centre, progress,
        checkpoint=None, checkpoint_every=30.0, events=(),
    ) -> Run:  # fmt: skip
        """Present samples ``first`` to ``last`` of ``presentation``; see :meth:`run` for the rest."""
        began = time.perf_counter()
        events = check_events(events, first, last, (X.shape[1], Y.shape[1]), self.interneurons, presentation.order)
        silenced = (SilencedInterneurons(),) if any(isinstance(event, Silence) for event in events) else ()
        blueprint = self.blueprint(X.shape[1], Y.shape[1], silenced)
        record = _check_record(record, blueprint)
        every = whole_number("every", every, minimum=1)
        (mean_x, var_x), (mean_y, var_y) = moments(X), moments(Y)
        warn_of_columns("X", mean_x, var_x, centre)
        warn_of_columns("Y", mean_y, var_y, centre)
        if not centre:
            var_x, var_y = var_x + mean_x**2, var_y + mean_y**2
            mean_x, mean_y = np.zeros_like(mean_x), np.zeros_like(mean_y)
        units = self._units(var_x, var_y)
        beginning = Beginning(self, blueprint, units, start)
        values = beginning.of_departures(silenced)
        initial = beginning.weights(values)
        values |= beginning.of_neuromodulator(presentation, first, plastic, X, mean_x)
        values |= {f"{p.name}.w": as_synapses(p, initial[p.weight]) for p in blueprint.pathways}
        due = _log_spaced(first, last, whole_number("snapshots", snapshots, minimum=1))
        name = self._engines.choose(self.engine, (last - first) * presentation.ticks_per_sample)
        build: Callable[[], Engine] = functools.partial(self._engines.built, name, blueprint)
        if events:
            lesioned = LesionedEngine(
                functools.partial(self._engines.built, name),
                lambda frozen: self.blueprint(X.shape[1], Y.shape[1], (*silenced, FrozenPlasticity(frozen))),
                events,
                centre,
            )
            build = lambda: lesioned  # noqa: E731
        if checkpoint is not None:
            pause = number_within("checkpoint_every", checkpoint_every, 0)
            engine: Engine = CheckpointedEngine(build, name, Path(checkpoint), pause, events)
        else:
            engine = build()

        with progress_bar(last - first) if progress else _silence() as bar:
            recorder = Recorder(
                record,
                expected=-(-(last - first) // every) * presentation.held,
                on_snapshot=callback and (lambda t, flat: callback(t, units.outward(blueprint.matrices(flat)))),
                on_progress=lambda t, state: bar.update(t - first - bar.n),
            )
            job = Job(
                blueprint=blueprint,
                presentation=replace(presentation, noise=presentation.noise * units.gain_x),
                X=X, Y=Y, mean_x=mean_x, mean_y=mean_y, gain_x=units.gain_x, gain_y=units.gain_y,
                start=first, stop=last,
                state={
                    f"{part}.{variable}": np.broadcast_to(values[f"{part}.{variable}"], size).astype(np.float64)
                    for part, variable, size in blueprint.state
                },
                record=record, every=every, origin=first, snapshots=due,
            )  # fmt: skip
            outcome = engine.advance(job, recorder)

        seconds = outcome.earlier + time.perf_counter() - began
        if events:
            job = replace(lesioned.lesioned(job, outcome.samples), blueprint=blueprint)
        run = Ending(self, units, job, outcome, recorder).run(engine=name, plastic=int(plastic), seconds=seconds)
        if outcome.ended == "diverged":
            failure = Diverged(
                f"the circuit diverged at sample {outcome.samples}: activity is no longer finite; "
                + (
                    "lower eta_x, the rate of proximal plasticity, first (rates.x), or eta_q (rates.q)"
                    if isinstance(self.rates, Rates)
                    else "look for outliers in the data, or set rates=Rates(...) by hand"
                )
            )
            failure.run = run
            raise failure
        if outcome.ended == "interrupted":
            warnings.warn(f"interrupted after {outcome.samples} samples; the run holds what was recorded", stacklevel=3)
        return run

    def _units(self, power_x: np.ndarray, power_y: np.ndarray) -> Units:
        """With explicit rates the equations as they stand; otherwise inputs of mean square 1."""
        if isinstance(self.rates, Rates):
            return Units(1.0, 1.0, self.s)
        gain_x, gain_y = (1 / math.sqrt(p.mean()) if p.any() else 1.0 for p in (power_x, power_y))
        return Units(gain_x, gain_y, self.s)

    # -- looking at it -------------------------------------------------------------------------------------------

    def wiring(self, m: int | None = None, n: int | None = None):
        """The circuit as a networkx graph; see :func:`biorrr.circuit.wiring.wiring`."""
        from biorrr.circuit.wiring import wiring

        return wiring(self._sketch(m, n))

    def describe(self, m: int | None = None, n: int | None = None) -> str:
        """The model in readable text, made from the very objects that are simulated."""
        from biorrr.circuit.description import describe

        return describe(self._sketch(m, n))

    def locality(self) -> list:
        """Which variables each plasticity rule reads, one :class:`~biorrr.circuit.locality.Locality` a pathway."""
        from biorrr.circuit.locality import locality

        return locality(self._sketch(None, None))

    def _sketch(self, m: int | None, n: int | None) -> Blueprint:
        """A blueprint to look at: sizes of the last run unless given, or the smallest that fit."""
        if m is None and n is None and (last := self._engines.last_blueprint):
            return last
        return self.blueprint(m or self.k, n or self.k)

    def table(self) -> tuple[str, dict[str, str]]:
        """What the circuit is made of, and how it learns."""
        return "Microcircuit", {
            "cells": f"{self.k} pyramidal, {self.interneurons} interneurons",
            "regression": regression(self.s),
            "ridge": ridge_in_words(self.ridge, self.ridge_by),
            "rates": self.rates if isinstance(self.rates, str) else repr(self.rates),
            "departures": departures_in_words(self.departures) or "none: the paper's circuit",
            "engine, seed": f"{self.engine}, {self.seed}",
        }


def _check_record(record, blueprint: Blueprint) -> tuple[str, ...]:
    names = (record,) if isinstance(record, str) else tuple(record)
    for name in names:
        if name not in blueprint.traces:
            raise ValueError(f"record: cannot record {name!r}; choose from {', '.join(blueprint.traces)}")
    # The rates used belong to every record: with rates="auto" nobody else knows them.
    return tuple(dict.fromkeys((*names, *_RATES))) if names else ()


def _log_spaced(first: int, last: int, count: int) -> np.ndarray:
    """Sample counts in (first, last], evenly in log time from ``first``, the last one included."""
    steps = np.geomspace(1, last - first, num=count)
    return first + np.unique(np.round(steps).astype(np.int64).clip(1, last - first)) if count > 1 else np.array([last])


@contextmanager
def _silence():
    yield SimpleNamespace(n=0, update=lambda count: None)
