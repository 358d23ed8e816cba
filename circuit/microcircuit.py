"""The cortical microcircuit of Golkar et al. (NeurIPS 2020), ready to run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.regression import (
    PORTS,
    RegressionCircuit,
    S,
    checked_ridge,
    refuse_leaky_replay,
    with_clock,
    with_regression,
)
from biorrr.circuit.simulation.initial_state import Beginning, drawn_weights, given_weights
from biorrr.circuit.simulation.simulate import Simulated
from biorrr.circuit.stimulus.data_checks import listed, warn_of_rank
from biorrr.circuit.stimulus.feeds import Inputs
from biorrr.circuit.stimulus.statistics import chunks
from biorrr.errors import InputError, InputTypeError
from biorrr.models import (
    RUNGS,
    AdaptiveRates,
    ApicalFeedback,
    Area,
    Departure,
    Millivolts,
    Parts,
    Pathway,
    Population,
    ProximalSynapses,
    Rates,
    Settled,
    Spiking,
    departed,
    microcircuit_parts,
)
from biorrr.models.auto_rates import Drive, Policy
from biorrr.models.validation import instance_of, number_within, one_of, whole_number


@dataclass(frozen=True, eq=False, repr=False)
class Microcircuit(RegressionCircuit):
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
    engine
        "numpy", "cython", "cpp", or "auto": by the work of each run and whether there is a compiler.
    seed
        Seed of the initial weights, the order of samples and the order of replay: a whole number, a NumPy generator
        that draws one, or None for a new one each time.
    Vx0, Vy0, Q0, R0
        Initial weights in the data's units, shapes (m, k), (n, k), (k, l), (l, k); drawn from the seed unless given.
    cell
        What cells are: "algebraic" (the paper's), "leaky", "spiking" or "millivolts" (:data:`biorrr.models.RUNGS` says
        what each adds and which departures it stands for); or :class:`~biorrr.models.Millivolts`.
    feedback, rho
        Gain c of the plateau at the soma, with interneurons that hear the output it makes, and the variance that the
        output is brought to. Each sample then settles to its equilibrium (:class:`~biorrr.models.Settled`) before
        weights change; ``run.infer(X, Y)`` gives the settled outputs. 0 is the paper's circuit.
    departures
        Departures from the paper's circuit, of one's own or from :mod:`biorrr.models`, such as
        ``[AllOrNone(0.1), Spiking(50), Leaky(hold=100)]``; the one that gives the clock is applied last.
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
    engine: str = "auto"
    seed: int = 0
    Vx0: object = None
    Vy0: object = None
    Q0: object = None
    R0: object = None
    cell: str | Millivolts = "algebraic"
    feedback: float = 0.0
    rho: float = 1.0
    departures: Sequence[Departure] = ()
    pathways: Sequence[Pathway] = ()
    populations: Sequence[Population] = ()
    name: str = ""
    parts: Parts = field(init=False)
    ports: tuple[Port, ...] = field(init=False, default=PORTS)

    _TRACED = ("plateau", "a", "inhibition", "z")
    _INSTEAD: ClassVar = {
        "plateau": "departures=[AllOrNone(...)], [Sign(...)] or [Rectified(...)]",
        "dynamics": "departures=[Leaky(...)] or [Settled(...)], or cell=",
        "coding": "departures=[Spiking(...)], or cell='spiking'",
        "apical_gain": "departures=[ApicalDrive(gain)]",
        "connection_probability": "departures=[SparseConnections(proximal, distal)]",
        "dale": "departures=[DalesLaw(('Q', 'R'))]",
        "transmission_noise": "departures=[TransmissionNoise(sigma)]",
        "delay": "departures=[LoopDelay(samples)]",
        "ridge_by": "ridge=, which is always made by replay,",
    }

    def __post_init__(self) -> None:
        k = whole_number("k", self.k, minimum=1)
        if not (isinstance(self.rates, Rates) or (isinstance(self.rates, str) and self.rates == "auto")):
            raise InputTypeError(f"rates: must be Rates(...) or 'auto' (got {self.rates!r})")
        l = k if self.interneurons is None else self.interneurons
        self._freeze(
            s=number_within("s", self.s, 0, 1, S),
            interneurons=whole_number("interneurons", l, k, "; the constraint needs one per pyramidal cell"),
            ridges=checked_ridge(self.ridge),
            replay=whole_number("replay", self.replay, minimum=1),
            feedback=number_within("feedback", self.feedback, 0),
            rho=number_within("rho", self.rho, 1e-300),
            departures=listed("departures", self.departures, "Departure objects"),
            pathways=listed("pathways", self.pathways, "Pathway objects"),
            populations=listed("populations", self.populations, "Population objects"),
        )
        if self.rho != 1 and not self.feedback:
            raise InputError("rho: belongs to apical feedback; give feedback=c, c > 0, too")
        departures = departures_of(self.cell, self.feedback, self.departures)
        if self.feedback:
            refuse_leaky_replay(departures, self.ridges)
        area, rates = self._area, self.rates if isinstance(self.rates, Rates) else None
        parts = microcircuit_parts(area.k, area.interneurons, rates)
        if self.feedback:
            parts = departed(parts, [ApicalFeedback((area,), None if rates is None else (rates,))])
        parts = with_own_parts(parts, area, self.populations, self.pathways)
        fitted = () if rates or self.feedback else (AdaptiveRates(),)
        parts = departed(parts, (*fitted, *departures))
        self._settle(with_regression(parts, self.s, self.rho, self.ridges, self.replay), PORTS, departures)

    @property
    def _area(self) -> Area:
        return Area(self.k, int(self.interneurons or self.k), self.feedback)

    @property
    def initial(self) -> dict[str, object]:
        """Initial weights that were given, by the name of their matrix."""
        given = {"Vx": self.Vx0, "Vy": self.Vy0, "Q": self.Q0, "R": self.R0}
        return {name: matrix for name, matrix in given.items() if matrix is not None}

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        bound = min(sizes.values())
        if self.k > bound:
            raise InputError(f"k: upper bound is min(m, n) = {bound}, the rank of the data (got {self.k}); reduce k")

    def _smallest(self, port: Port) -> int:
        return self.k

    def _beginning(self, blueprint: Blueprint, inputs: Inputs | None, seed: int, last: float = math.inf) -> Beginning:
        """Return how the circuit meets its data: weights as large as suit their drive where rates are fitted to it."""
        if inputs is not None:
            warn_of_rank(self.k, {name.upper(): f.some - inputs.feeds[name].mean for name, f in inputs.facts.items()})
        if self.feedback:
            begin = self._areas_beginning((self._area,), blueprint, inputs, seed, last)
            return replace(begin, weights={**begin.weights, **given_weights(self.initial, blueprint, begin.units)})
        begin = self._scaled(inputs)
        m, n = blueprint.sizes["x"], blueprint.sizes["y"]
        size: tuple[tuple[float, float, float], ...] = ()
        known: dict[str, float] = {}
        if self.fitted:
            drive, policy = self._drive(m, n, inputs), Policy.of(last)
            size = (drive.start(n, self.s, policy),)
            known = {
                "power_x": drive.power_x,
                "typical_y": drive.typical_y(n, policy),
                "outputs": float(self.k),
                **policy.plan(self.k, self.s, drive, last),
            }
        present = {pathway.weight for pathway in blueprint.weighted}
        drawn = drawn_weights((m, n, self.k, int(self.interneurons or self.k)), seed, *size)
        weights = {name: matrix for name, matrix in drawn.items() if name in present} | self.initial
        known = {f"neuromodulator.{name}": value for name, value in known.items()}
        return replace(begin, weights=given_weights(weights, blueprint, begin.units), parameters=known)

    def _drive(self, m: int, n: int, inputs: Inputs | None) -> Drive:
        if inputs is None:
            return Drive.white(m, n)
        x, y = inputs.facts["x"], inputs.facts["y"]
        means = inputs.feeds["x"].mean, inputs.feeds["y"].mean
        return Drive.of(x.some, y.some, self.ridges, means, (x.power, y.power))

    def _settings(self, simulated: Simulated) -> dict[str, object]:
        spiking = [d.population for d in self.all_departures if isinstance(d, Spiking)]
        settings = super()._settings(simulated) | {
            "k": self.k, "interneurons": self.interneurons,
            "linear_output": int(output_is_linear(simulated.job.blueprint)), "cells_each": (*spiking, 1)[0],
        }  # fmt: skip
        retained = simulated.outcome.state.get("neuromodulator.log_retained")
        if retained is not None:
            # What is left of Q' - R since the first snapshot: a continued run counts anew, as its snapshots do.
            settings["log_retained"] = float(retained[0])
        if self.feedback:
            settings |= {"feedback": self.feedback}
            settings |= self._areas_settings((self._area,), (1.0, self.feedback), simulated)
        return settings

    def _more(self, simulated: Simulated, matrices: Mapping[str, np.ndarray]) -> dict[str, tuple]:
        """Return the readout Sigma_s^-1 Vy, shape (n, k), by which the output predicts y."""
        Vy, feed = matrices["Vy"], simulated.job.feeds["y"]
        out = (1 - self.s) * Vy
        if self.s:
            Cyy_Vy = sum((rows - feed.mean).T @ ((rows - feed.mean) @ Vy) for rows in chunks(feed.values))
            out = self.s * (Cyy_Vy / len(feed.values) + self.ridges[1] * Vy) + out
        return {"readout": (("instruction", "pyramidal"), out)}

    @property
    def _REMEDY(self) -> str:  # type: ignore[override]
        if self.fitted:
            return "look for outliers in the data, or set rates=Rates(...) by hand"
        return "lower eta_x, the rate of proximal plasticity, first (rates.x), or eta_q (rates.q)"

    def _departures_in_words(self) -> str:
        own = [f"own {part.name}" for part in (*self.populations, *self.pathways)]
        return "; ".join([*map(repr, self.all_departures), *own])

    def _cells(self) -> dict[str, str]:
        cells = [p for p in self.parts.populations if p.shape and p.name not in ("sensory", "instructive")]
        return {"cells": ", ".join(f"{p.size} {p.name}" for p in cells)}


def departures_of(cell: str | Millivolts, feedback: float, departures: Sequence[Departure]) -> tuple[Departure, ...]:
    """Return all departures that ``cell``, ``feedback`` and ``departures`` ask for, without those of its rates."""
    if isinstance(cell, str):
        meant = RUNGS[one_of("cell", cell, tuple(RUNGS))].departures
    else:
        meant = (instance_of("cell", cell, Millivolts),)
    return with_clock((*meant, *departures), (Settled(),) if feedback else ())


def with_own_parts(parts: Parts, area: Area, populations: Sequence[Population], pathways: Sequence[Pathway]) -> Parts:
    """Return ``parts`` with ``populations`` and ``pathways`` in place of those of their names, or beside them."""
    sizes = {"pyramidal": area.k, "interneurons": area.interneurons}
    for population in populations:
        size = sizes.get(instance_of("populations", population, Population).name)
        if size is not None and population.size not in (None, size):
            raise InputError(
                f"{population.name}.size: must be {size}, as k and interneurons say (got {population.size})"
            )
        parts = parts.having(replace(population, size=size or population.size))
    return parts.having(*(instance_of("pathways", pathway, Pathway) for pathway in pathways))


_LINEAR = [("proximal", ProximalSynapses().current)]  # the current that is the output of the paper's circuit


def output_is_linear(blueprint: Blueprint) -> bool:
    """Return True where the output is X Vx, as in the paper's circuit, and nothing else changes it."""
    writers = [action for action in blueprint.schedule if "pyramidal.z" in action.writes]
    return [(action.part, action.code) for action in writers] == _LINEAR
