"""The cortical microcircuit of Golkar et al. (NeurIPS 2020), ready to run."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from biorrr.circuit.base import CircuitBase
from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.engines.choice import ENGINES
from biorrr.circuit.results.dataset import dataset
from biorrr.circuit.results.run import Run
from biorrr.circuit.results.text_table import departures_in_words, regression, ridge_in_words
from biorrr.circuit.simulation.events import silenceable
from biorrr.circuit.simulation.initial_state import drawn_areas, drawn_weights, given_weights, initial_state
from biorrr.circuit.simulation.recorder import Diverged
from biorrr.circuit.simulation.simulate import Callback, RunOptions, Simulated, Stimulus, samples_of, simulate
from biorrr.circuit.simulation.unsettled import area_settings, check_settled
from biorrr.circuit.stimulus.data_checks import check_order, warn_of_shuffling
from biorrr.circuit.stimulus.feeds import Feed, Inputs, check_inputs
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.circuit.stimulus.statistics import chunks
from biorrr.circuit.stimulus.units import Units
from biorrr.models import (
    RUNGS,
    AdaptiveRates,
    Analog,
    ApicalDrive,
    ApicalFeedback,
    Area,
    DalesLaw,
    Departure,
    Event,
    Graded,
    Instant,
    Leaky,
    LoopDelay,
    Millivolts,
    Parts,
    Pathway,
    Population,
    ProximalSynapses,
    Rates,
    Settled,
    SparseConnections,
    Spiking,
    TransmissionNoise,
    departed,
    microcircuit_parts,
    with_values,
)
from biorrr.models.auto_rates import Drive
from biorrr.models.validation import instance_of, number_within, one_of, whole_number

_GRADED, _INSTANT, _ANALOG = Graded(), Instant(), Analog()  # the paper's circuit
_PORTS = (Port("x", "sensory", "x"), Port("y", "instructive", "y"))
_INITIAL = ("Vx", "Vy", "Q", "R")


@dataclass(frozen=True, eq=False, repr=False)
class Microcircuit(CircuitBase):
    """Two-compartment pyramidal neurons that learn by plateau potentials, with their interneurons.

    Parameters
    ----------
    k
        Pyramidal neurons: the rank of the regression.
    s
        Which regression: 0 is RRMSE, 1 is CCA (Sec. 3.2).
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
    cell
        What cells are: "algebraic" (the paper's), "leaky", "spiking" or "millivolts" (:data:`biorrr.models.RUNGS` says
        what each adds), as shorthand for ``dynamics`` and ``coding``; or :class:`~biorrr.models.Millivolts`.
    plateau, dynamics, coding
        Departures from the paper's circuit: what a plateau is (:mod:`biorrr.models.departures.plateaus`), how activity
        unfolds in time (:mod:`biorrr.models.departures.dynamics`), whether cells spike
        (:mod:`biorrr.models.departures.spiking`).
    feedback, rho
        Gain c of the plateau at the soma, with interneurons that hear the output it makes, and the variance that the
        output is brought to. Each sample then settles to its equilibrium (:class:`~biorrr.models.Settled`) before
        weights change; ``run.infer(X, Y)`` gives the settled outputs. 0 is the paper's circuit.
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
    departures
        Further departures, of one's own or from :mod:`biorrr.models`, applied before ``dynamics`` and after the others.
    pathways, populations
        Parts of one's own: each takes the place of the circuit's part of the same name, or is added to the circuit. A
        population of pyramidal neurons or interneurons may leave its size to ``k`` and ``interneurons``.
    name
        Begins the names of all Brian2 objects, so that several circuits fit into one network.

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

    k: int = 2
    s: float = 0.0
    rates: Rates | str = "auto"
    interneurons: int | None = None
    ridge: float | tuple[float, float] = 0.0
    replay: int = 8
    ridge_by: str = "replay"
    engine: str = "auto"
    seed: int = 0
    Vx0: object = None
    Vy0: object = None
    Q0: object = None
    R0: object = None
    cell: str | Millivolts = "algebraic"
    plateau: Graded | Departure = _GRADED
    dynamics: Instant | Leaky | Settled | Millivolts = _INSTANT
    coding: Analog | Spiking = _ANALOG
    feedback: float = 0.0
    rho: float = 1.0
    apical_gain: float = 0.0
    connection_probability: float | tuple[float, float] = 1.0
    dale: tuple[str, ...] = ()
    transmission_noise: float = 0.0
    delay: int = 0
    departures: Sequence[Departure] = ()
    pathways: Sequence[Pathway] = ()
    populations: Sequence[Population] = ()
    name: str = ""
    parts: Parts = field(init=False)
    ports: tuple[Port, ...] = field(init=False, default=_PORTS)

    def __post_init__(self) -> None:
        whole_number("k", self.k, minimum=1)
        if not (isinstance(self.rates, Rates) or self.rates == "auto"):
            raise TypeError(f"rates: must be Rates(...) or 'auto' (got {self.rates!r})")
        l = self.k if self.interneurons is None else self.interneurons
        self._freeze(
            s=number_within("s", self.s, 0, 1, "; 0 is RRMSE, 1 is CCA"),
            interneurons=whole_number("interneurons", l, self.k, "; the constraint needs one per pyramidal cell"),
            ridge=tuple(number_within("ridge", each, 0) for each in _pair("ridge", self.ridge, "Cxx and Cyy")),
            replay=whole_number("replay", self.replay, minimum=1),
            ridge_by=one_of("ridge_by", self.ridge_by, ("replay", "noise")),
            engine=one_of("engine", self.engine, ENGINES),
            seed=whole_number("seed", self.seed, minimum=0),
            plateau=instance_of("plateau", self.plateau, Graded, Departure),
            dynamics=instance_of("dynamics", self.dynamics, Instant, Leaky, Settled, Millivolts),
            feedback=number_within("feedback", self.feedback, 0),
            rho=number_within("rho", self.rho, 1e-300),
            coding=instance_of("coding", self.coding, Analog, Spiking),
            apical_gain=number_within("apical_gain", self.apical_gain, 0),
            dale=(self.dale,) if isinstance(self.dale, str) else tuple(self.dale),
            transmission_noise=number_within("transmission_noise", self.transmission_noise, 0),
            delay=whole_number("delay", self.delay, minimum=0),
            departures=tuple(self.departures),
            pathways=tuple(self.pathways),
            populations=tuple(self.populations),
        )
        self._choose_cell()
        self._check_feedback()
        self._freeze(parts=self._made())
        self._check_parts()

    # -- building ------------------------------------------------------------------------------------------------

    @property
    def _ridges(self) -> tuple[float, float]:
        return cast(tuple[float, float], self.ridge)

    def _choose_cell(self) -> None:
        """Settle dynamics and coding as ``cell`` says, and refuse what cells in millivolts do by themselves."""
        if isinstance(self.cell, str):
            rung = RUNGS[one_of("cell", self.cell, tuple(RUNGS))]
        else:
            rung = dataclasses.replace(RUNGS["millivolts"], dynamics=instance_of("cell", self.cell, Millivolts))
        for name, paper in (("dynamics", _INSTANT), ("coding", _ANALOG)):
            given, meant = getattr(self, name), getattr(rung, name)
            if meant != paper and given not in (paper, meant):
                raise ValueError(f"{name}: cell={self.cell!r} stands for {meant} (got {given}); leave out one of them")
            self._freeze(**{name: given if meant == paper else meant})
        if not isinstance(self.dynamics, Millivolts):
            return
        odd = {
            "coding": isinstance(self.coding, Spiking), "plateau": isinstance(self.plateau, Departure),
            "delay": self.delay > 0, "apical_gain": self.apical_gain > 0, "feedback": self.feedback > 0,
        }  # fmt: skip
        for name in (name for name, given in odd.items() if given):
            raise ValueError(
                f"{name}: does not go with cells in millivolts, which have their own; leave out one of them"
            )

    def _check_feedback(self) -> None:
        """What goes with apical feedback, and what does not go without."""
        if not self.feedback:
            if self.rho != 1 or isinstance(self.dynamics, Settled):
                raise ValueError("rho, dynamics=Settled(...): belong to apical feedback; give feedback=c, c > 0, too")
            return
        if isinstance(self.dynamics, Instant) and not any("clock" in departure.gives for departure in self.departures):
            self._freeze(dynamics=Settled())
        odd = {"apical_gain": self.apical_gain > 0, "coding": isinstance(self.coding, Spiking), "delay": self.delay > 0}
        for name in (name for name, given in odd.items() if given):
            raise ValueError(f"{name}: does not go with feedback, by which outputs settle; leave out one of them")
        if self._ridges[0] and (isinstance(self.dynamics, Leaky) or self.ridge_by != "replay"):
            raise ValueError(
                "ridge: with feedback a ridge on Cxx is made by replay that settles; use dynamics=Settled() and "
                "ridge_by='replay', or (0, ridge) for Cyy alone"
            )

    @property
    def _area(self) -> Area:
        return Area(self.k, int(self.interneurons or self.k), self.feedback)

    @property
    def all_departures(self) -> tuple[Departure, ...]:
        """How this circuit departs from the paper's, in the order in which the departures are applied."""
        reach = _pair("connection_probability", self.connection_probability, "proximal and distal synapses")
        chosen: list[tuple[Any, bool]] = [
            (SparseConnections(*reach), tuple(reach) != (1, 1)),
            (TransmissionNoise(self.transmission_noise), self.transmission_noise > 0),
            (LoopDelay(self.delay), self.delay > 0),
            (self.coding, isinstance(self.coding, Spiking)),
            (self.plateau, isinstance(self.plateau, Departure)),
            (ApicalDrive(self.apical_gain), self.apical_gain > 0),
            (DalesLaw(self.dale), bool(self.dale)),
            *((departure, True) for departure in self.departures),
            (
                self.dynamics,
                not isinstance(self.dynamics, Instant),
            ),  # last: it integrates rules as the others leave them
        ]
        return tuple(departure for departure, on in chosen if on)

    def _made(self) -> Parts:
        """The paper's parts, those given, and the departures."""
        k, l = self.k, int(self.interneurons or self.k)
        sizes = {"pyramidal": k, "interneurons": l}
        adaptive: tuple[Departure, ...] = () if isinstance(self.rates, Rates) else (AdaptiveRates(),)
        parts = microcircuit_parts(k, l, self.rates if isinstance(self.rates, Rates) else None)
        if self.feedback:
            adaptive = ()
            timetable = (self.rates,) if isinstance(self.rates, Rates) else None
            parts = departed(parts, [ApicalFeedback((self._area,), timetable)])
        for population in self.populations:
            instance_of("populations", population, Population)
            size = sizes.get(population.name)
            if size is not None and population.size not in (None, size):
                raise ValueError(
                    f"{population.name}.size: must be {size}, as k and interneurons say (got {population.size})"
                )
            parts = parts.having(dataclasses.replace(population, size=size or population.size))
        for pathway in self.pathways:
            parts = parts.having(instance_of("pathways", pathway, Pathway))
        parts = departed(parts, (*adaptive, *self.all_departures))
        modulator = parts["neuromodulator"]
        wanted: dict[str, float | str] = {
            "s": self.s,
            "rho": self.rho,
            "ridge_y": self._ridges[1],
            "ridge_power": f"{self._ridges[0]!r} * cells('sensory')",
            "replay_gain": f"{self._ridges[0]!r} * cells('sensory') / {self.replay}",
        }
        declared = {variable.name for variable in modulator.variables}
        return parts.having(with_values(modulator, **{k: v for k, v in wanted.items() if k in declared}))

    def blueprint(self, m: int, n: int, moving: Mapping[str, str] | None = None) -> Blueprint:
        """The circuit for m sensory and n instructive inputs; ``moving`` says when some of them change."""
        if self.k > min(m, n):
            raise ValueError(
                f"k: upper bound is min(m, n) = {min(m, n)}, the rank of the data (got {self.k}); reduce k"
            )
        return self.sized({"x": m, "y": n}, moving)

    def build(self, m: int, n: int) -> Microcircuit:
        """Build the circuit for data of m and n features now rather than at the first :meth:`run`.

        Engines numpy, cython and "auto" build :attr:`network` in this process, to add one's own monitors to; cpp
        compiles its program.
        """
        blueprint = self.blueprint(m, n)
        drive = Drive.white(m, n) if self.rates == "auto" else None
        self._build(blueprint, self._begin(blueprint, Units(), drive, {}))
        return self

    # -- running -------------------------------------------------------------------------------------------------

    def run(
        self,
        X,
        Y,
        epochs: int = 1,
        order=None,
        record=("plateau", "a", "inhibition", "z"),
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
        rates: Rates | str | None = None,
        Vx0=None,
        Vy0=None,
        Q0=None,
        R0=None,
        weights: Mapping[str, object] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Run:
        """Present the data and let the circuit learn.

        Parameters
        ----------
        X, Y
            Sensory and instructive data, shapes (n_samples, m) and (n_samples, n). Memory maps are read as they lie.
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
            after the plasticity of its sample. The rates eta_x, eta_y, eta_q, eta_r go with every record.
        every
            Samples from one that is traced to the next, or windows of consecutive samples, as [(first, last + 1), ...].
            By default 20 stretches of 50 consecutive samples, evenly in log time, and between them one sample in 100
            (fewer in runs of more than two million samples).
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
        seed, rates, Vx0, Vy0, Q0, R0
            For this run, in place of those of the circuit.
        weights
            Initial matrices of any pathway by name, as Vx0 gives those of Vx.
        parameters
            Values of parameters by "part.variable" for this run, in the data's units; nothing is compiled anew.

        Raises
        ------
        CheckpointError
            Where the checkpoint is damaged, or belongs to another run; it says what differs.
        Diverged
            Where activity grows beyond bounds; its ``run`` holds what was recorded up to there.
        """
        options = RunOptions(
            record, every, snapshots, plastic, start, callback, progress, checkpoint, checkpoint_every, events
        )
        asked = {"seed": seed, "rates": rates, "Vx0": Vx0, "Vy0": Vy0, "Q0": Q0, "R0": R0}
        circuit = self._with(**{name: value for name, value in asked.items() if value is not None})
        inputs = check_inputs({"x": X, "y": Y}, {"x": "X", "y": "Y"}, centre, circuit.parts["clock"])
        order = ("sequential" if inputs.signal_in_time else "shuffle") if order is None else order
        epochs, order = whole_number("epochs", epochs, minimum=1), check_order(order, inputs.n_samples)
        warn_of_shuffling(order, circuit.all_departures, circuit.parts)
        return circuit._run(inputs, epochs, order, options, weights or {}, parameters or {})

    def _with(self, **changes) -> Microcircuit:
        """The same circuit with other arguments; it shares what has been built."""
        if not changes:
            return self
        other = dataclasses.replace(self, **changes)
        other.__dict__["_engines"] = self._engines
        return other

    def _run(
        self, inputs: Inputs, epochs: int, order, options: RunOptions, weights: Mapping, parameters: Mapping
    ) -> Run:
        feeds = inputs.feeds
        m, n = (feeds[name].values.shape[1] for name in ("x", "y"))
        blueprint = silenceable(self.blueprint(m, n, inputs.moving), options.events)
        if self.rates == "auto" and any(feed.live is not None for feed in feeds.values()):
            raise ValueError(
                "rates: must be Rates(...) where an input is a Brian2 group, whose activity nobody knows beforehand"
            )
        gains = {"x": 1.0, "y": 1.0} if isinstance(self.rates, Rates) else inputs.unit_gains()
        units = Units.of_gains(gains["x"], gains["y"], self.s)
        feeds = {name: dataclasses.replace(feed, gain=gains[name] * feed.unit) for name, feed in feeds.items()}
        start = options.start
        replays = self.ridge_by == "replay" and self._ridges[0] > 0
        presentation = Presentation(
            n_samples=inputs.n_samples,
            m=m,
            order=order,
            replay=self.replay if replays else 0,
            noise=math.sqrt(self._ridges[0]) * gains["x"] if self.ridge_by == "noise" else 0.0,
            seed=self.seed,
            held=blueprint.held,
            replay_held=blueprint.replay_held,
        )
        drive = None
        if self.rates == "auto" and not self.feedback:
            drive = Drive.of(feeds["x"].values, feeds["y"].values, self._ridges, (feeds["x"].mean, feeds["y"].mean))
            known = {"power_x": drive.power_x, "dimension_x": drive.dimension_x, "typical_y": drive.typical_y(n)}
            parameters = {f"neuromodulator.{name}": value for name, value in known.items()} | dict(parameters)
        drawn = self._begin(blueprint, units, drive, weights)
        stimulus = Stimulus(presentation, feeds, *samples_of(start, epochs, presentation))
        state = initial_state(blueprint, units, self.seed, drawn, parameters, start)
        simulated = simulate(blueprint, self._engines, self.engine, stimulus, state, units, options)
        settings = self._settings(simulated, options) | {"signal_in_time": int(inputs.signal_in_time)}
        data = dataset(simulated, settings, inputs.labels)
        data["readout"] = ("instruction", "pyramidal"), self._readout(data["Vy"].values[-1], simulated.job.feeds["y"])
        run = Run(data, self)
        if simulated.outcome.ended == "diverged":
            remedy = (
                "lower eta_x, the rate of proximal plasticity, first (rates.x), or eta_q (rates.q)"
                if isinstance(self.rates, Rates)
                else "look for outliers in the data, or set rates=Rates(...) by hand"
            )
            raise Diverged.at(simulated.outcome.samples, remedy, run)
        check_settled(self.dynamics, run, blueprint.held)
        return run

    @property
    def _given(self) -> dict[str, object]:
        return {name: value for name, value in self.initial.items() if value is not None}

    def _begin(
        self, blueprint: Blueprint, units: Units, drive: Drive | None, weights: Mapping[str, object]
    ) -> dict[str, np.ndarray]:
        """Initial matrices in the circuit's own units: those given, the others drawn as large as suits ``drive``."""
        m, n = (blueprint.parts[name].size for name in ("sensory", "instructive"))
        if self.feedback:
            drawn = drawn_areas((self._area,), m, n, self.seed)
            return drawn | given_weights({**self._given, **weights}, blueprint, units)
        sizes = (m, n, self.k, int(self.interneurons or self.k))
        start = () if drive is None else (drive.start(n, self.s),)
        drawn = drawn_weights(sizes, self.seed, *start)
        present = {pathway.weight for pathway in blueprint.weighted}
        kept = {name: matrix for name, matrix in drawn.items() if name in present}
        return given_weights({**kept, **self._given, **weights}, blueprint, units)

    def _readout(self, Vy: np.ndarray, feed: Feed) -> np.ndarray:
        """Sigma_s^-1 Vy, by which the output predicts y, shape (n, k)."""
        Cyy_Vy = sum((rows - feed.mean).T @ ((rows - feed.mean) @ Vy) for rows in chunks(feed.values))
        Cyy_Vy = feed.unit**2 * Cyy_Vy / len(feed.values)
        return self.s * (Cyy_Vy + self._ridges[1] * Vy) + (1 - self.s) * Vy

    def _settings(self, simulated: Simulated, options: RunOptions) -> dict:
        settings = {
            "k": self.k, "s": self.s, "interneurons": self.interneurons,
            "ridge_x": self._ridges[0], "ridge_y": self._ridges[1], "ridge_by": self.ridge_by,
            "gain_x": simulated.units.scale("x"), "gain_y": simulated.units.scale("y"),
            "rates": "auto" if self.rates == "auto" else repr(self.rates),
            "departures": self._departures_in_words(), "plastic": int(options.plastic),
            "linear_output": int(self.output_is_linear),
            "cells_each": self.coding.population if isinstance(self.coding, Spiking) else 1,
        }  # fmt: skip
        retained = simulated.outcome.state.get("neuromodulator.log_retained")
        if retained is not None:
            # What is left of Q' - R since the first snapshot: a continued run counts anew, as its snapshots do.
            settings["log_retained"] = float(retained[0])
        if self.feedback:
            settings |= {"feedback": self.feedback, "rho": self.rho}
            settings |= area_settings((self._area,), (1.0, self.feedback), simulated)
        return settings

    @property
    def initial(self) -> dict[str, object]:
        """The initial weights that were given, by the name of their matrix; None for those that are drawn."""
        return {name: getattr(self, f"{name}0") for name in _INITIAL}

    @property
    def output_is_linear(self) -> bool:
        """Whether the output is X Vx, as in the paper's circuit, and nothing else changes it."""
        writers = [action for action in self._sketch().schedule if "pyramidal.z" in action.writes]
        return [(action.part, action.code) for action in writers] == [("proximal", ProximalSynapses().current)]

    # -- looking at it -------------------------------------------------------------------------------------------

    def _sketch(self, sizes: Mapping[str, int] | None = None) -> Blueprint:
        if sizes is None and self._engines.last_blueprint is not None:
            return self._engines.last_blueprint
        given = {"x": self.k, "y": self.k} | {{"m": "x", "n": "y"}.get(k, k): v for k, v in (sizes or {}).items() if v}
        return self.blueprint(given["x"], given["y"])

    def _departures_in_words(self) -> str:
        own = [f"own {part.name}" for part in Parts(tuple(self.populations), tuple(self.pathways)).everything]
        return "; ".join(filter(None, [departures_in_words(self.all_departures), *own]))

    def table(self) -> tuple[str, dict[str, str]]:
        """What the circuit is made of, and how it learns."""
        rows = {
            "cells": ", ".join(
                f"{p.size} {p.name}"
                for p in self.parts.populations
                if p.shape and p.name not in ("sensory", "instructive")
            ),
            "regression": regression(self.s),
            "ridge": ridge_in_words(self._ridges, self.ridge_by),
            "rates": self.rates if isinstance(self.rates, str) else repr(self.rates),
            "departures": self._departures_in_words() or "none: the paper's circuit",
            "engine, seed": f"{self.engine}, {self.seed}",
        }
        return f"Microcircuit {self.name}".strip(), rows


def _pair(name: str, value, what: str) -> tuple:
    """``value`` as a pair, of which a single number stands for both."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        raise ValueError(f"{name}: must be a number or a pair, for {what} (got {value!r})")
    return pair
