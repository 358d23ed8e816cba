"""Circuits between sensory and instructive data: what a microcircuit and a hierarchy have in
common.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.results.text_table import regression, ridge_in_words
from biorrr.circuit.runnable import RunnableCircuit
from biorrr.circuit.simulation.failures import advice_on_divergence
from biorrr.circuit.simulation.initial_state import (
    Beginning,
    drawn_areas,
    drawn_weights,
)
from biorrr.circuit.simulation.simulate import Simulated
from biorrr.circuit.stimulus.data_checks import warn_of_rank
from biorrr.circuit.stimulus.feeds import Feed
from biorrr.circuit.stimulus.statistics import chunks
from biorrr.errors import InputError, InputTypeError
from biorrr.models import (
    AdaptiveRates,
    ApicalFeedback,
    Area,
    Clock,
    Departure,
    InstructiveInput,
    Leaky,
    Parts,
    Pathway,
    Population,
    ProximalSynapses,
    Rates,
    SensoryInput,
    Settled,
    Spiking,
    departed,
    microcircuit_parts,
    with_values,
)
from biorrr.models.auto_rates import (
    Drive,
    plan,
    plan_of_areas,
    start_of_areas,
    usual_inhibition,
)
from biorrr.models.validation import PositiveCount, instance_of, number_within, whole_number

Invertible = Annotated[
    float, partial(number_within, low=1e-300)
]  # a number whose inverse is finite
_LINEAR = [
    ("proximal", ProximalSynapses().current)
]  # the current that is the output of the paper's circuit


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RegressionCircuit(RunnableCircuit):
    """Base of circuits that learn a regression of y on x.

    Parameters
    ----------
    s, rates, ridge, replay, rho, populations, pathways
        As :class:`~biorrr.circuit.Microcircuit` takes them.
    """

    s: Annotated[float, partial(number_within, low=0, high=1, remedy="; 0 is RRMSE, 1 is CCA")] = (
        0.0
    )
    rates: Rates | Sequence[Rates] | str = "auto"
    ridge: float | tuple[float, float] = 0.0
    replay: PositiveCount = 8
    rho: Invertible = 1.0
    populations: Sequence[Population] = ()
    pathways: Sequence[Pathway] = ()
    ports: ClassVar = (Port("x", "sensory", "x"), Port("y", "instructive", "y"))

    @functools.cached_property
    def layout(self) -> tuple[Area, ...]:
        """The areas, from that nearest to x up to that nearest to y."""
        raise NotImplementedError

    @functools.cached_property
    def links(self) -> tuple[float, ...]:
        """Gains of the links between areas, from x up to y; that to y is 0 in the paper's
        circuit.
        """
        raise NotImplementedError

    @property
    def apical(self) -> bool:
        """True where plateaus drive the soma too."""
        return self.links[-1] > 0

    @property
    def fitted(self) -> bool:
        """True where learning rates are fitted to the data."""
        return isinstance(self.rates, str)

    @functools.cached_property
    def ridges(self) -> tuple[float, float]:
        """The ridges on Cxx and on Cyy."""
        both = self.ridge if isinstance(self.ridge, tuple | list) else (self.ridge, self.ridge)
        if len(both) != 2:
            raise InputError(
                f"ridge: must be a number or a pair, for Cxx and Cyy (got {self.ridge!r})"
            )
        return number_within("ridge", both[0], 0), number_within("ridge", both[1], 0)

    @functools.cached_property
    def all_departures(self) -> tuple[Departure, ...]:
        """All departures, whichever way they were asked for; outputs with feedback settle if
        nothing else is said.
        """
        asked = [instance_of("departures", departure, Departure) for departure in self._asked]
        timed = not self.apical or any("clock" in departure.gives for departure in asked)
        return (*asked, *(() if timed else (Settled(),)))

    @property
    def _asked(self) -> Sequence[Departure]:
        """Departures that were asked for, in whatever way."""
        return self.departures

    @functools.cached_property
    def parts(self) -> Parts:
        """All parts, under all departures."""
        for area in self.layout:
            remedy = "; the constraint needs one per pyramidal cell"
            whole_number("interneurons", area.interneurons, area.k, remedy)
        rates, departures = rates_of_areas(self.rates, len(self.layout)), self.all_departures
        if self.apical:
            if self.ridges[0] and any(isinstance(departure, Leaky) for departure in departures):
                raise InputError(
                    "ridge: replay must settle, and membranes take their time (got"
                    f" {self.ridges[0]:g} on Cxx with Leaky(...)); use Settled(), or (0, ridge) for"
                    " Cyy alone"
                )
            parts = Parts((Clock(), SensoryInput(), InstructiveInput()), ())
            parts = departed(parts, [ApicalFeedback(self.layout, rates)])
        else:
            (area,) = self.layout
            parts = microcircuit_parts(
                area.k, area.interneurons, None if rates is None else rates[0]
            )
            departures = departures if rates else (AdaptiveRates(), *departures)
        return self._with_regression(departed(self._with_own(parts), departures))

    def _with_own(self, parts: Parts) -> Parts:
        """Return ``parts`` with populations and pathways of the user's in place of those of their
        names, or added.
        """
        known = {population.name: population.size for population in parts.populations}
        for population in self.populations:
            size = known.get(population.name)
            if size is not None and population.size not in (None, size):
                raise InputError(
                    f"{population.name}.size: must be {size}, as k and interneurons say (got"
                    f" {population.size})"
                )
            parts = parts.having(replace(population, size=size or population.size))
        return parts.having(*self.pathways)

    def _with_regression(self, parts: Parts) -> Parts:
        """Return ``parts`` whose neuromodulator broadcasts which regression is learned, and its
        ridge.
        """
        modulator, (ridge_x, ridge_y) = parts["neuromodulator"], self.ridges
        values: Mapping[str, float | str] = {
            "s": self.s,
            "rho": self.rho,
            "ridge_y": ridge_y,
            "ridge_power": f"{ridge_x!r} * cells('sensory')",
            "replay_gain": f"{ridge_x!r} * cells('sensory') / {self.replay}",
        }
        declared = {name: value for name, value in values.items() if modulator.has(name)}
        return parts.having(with_values(modulator, **declared))

    # -- meeting the data --------------------------------------------------------------------------

    def _beginning(
        self,
        blueprint: Blueprint,
        feeds: Mapping[str, Feed] | None,
        seed: int,
        last: float = math.inf,
    ) -> Beginning:
        """Return how the circuit meets its data: weights as large as suit their drive where rates
        are fitted to it.
        """
        if feeds is not None and len(self.layout) == 1:
            centred = {name.upper(): feed.facts.some - feed.mean for name, feed in feeds.items()}
            warn_of_rank(self.layout[0].k, centred)
        draw = self._drawn_areas if self.apical else self._drawn
        weights, known = draw(blueprint, feeds, seed, last)
        parameters = {f"neuromodulator.{name}": value for name, value in known.items()}
        return Beginning(weights, parameters, self.replay if self.ridges[0] else 0)

    def _drawn_areas(
        self, blueprint: Blueprint, feeds: Mapping[str, Feed] | None, seed: int, last: float
    ) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return initial weights of areas with apical feedback, and what their rates are fitted
        to.
        """
        m, n = blueprint.sizes["x"], blueprint.sizes["y"]
        if not self.fitted:
            return drawn_areas(self.layout, m, n, seed), {}
        power_x, power_y = float(m), 1.0
        if feeds is not None:
            power_x, power_y = feeds["x"].facts.power, feeds["y"].facts.power / n
        known = {
            "power_x": power_x,
            "power_y": power_y,
            "usual_q": usual_inhibition(power_y, self.s),
            **plan_of_areas(last),
        }
        start = start_of_areas(power_x, power_y, self.s)
        return drawn_areas(self.layout, m, n, seed, start), known

    def _drawn(
        self, blueprint: Blueprint, feeds: Mapping[str, Feed] | None, seed: int, last: float
    ) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return initial weights of the paper's circuit, and what its rates are fitted to."""
        (area,), (m, n) = self.layout, (blueprint.sizes["x"], blueprint.sizes["y"])
        known: dict[str, float] = {}
        if given := rates_of_areas(self.rates, 1):
            start = given[0].start
        else:
            drive = Drive.white(m)
            if feeds is not None:
                x, y = feeds["x"], feeds["y"]
                means, powers = (x.mean, y.mean), (x.facts.power, y.facts.power)
                drive = Drive.of(x.facts.some, y.facts.some, self.ridges, means, powers)
            start = drive.start(self.s)
            known = {
                "outputs": float(area.k),
                **plan(area.k, self.s, drive, last),
            }
        present = {pathway.weight for pathway in blueprint.parts.weighted} - self.initial.keys()
        drawn = drawn_weights((m, n, area.k, area.interneurons), seed, start)
        return {name: matrix for name, matrix in drawn.items() if name in present}, known

    # -- results -----------------------------------------------------------------------------------

    def _settings(self, simulated: Simulated) -> dict[str, object]:
        """Return plain values that a run keeps as attributes."""
        (ridge_x, ridge_y), state = self.ridges, simulated.outcome.state
        settings = {
            "s": self.s,
            "ridge_x": ridge_x,
            "ridge_y": ridge_y,
            "rates": str(self.rates),
            "linear_output": int(output_is_linear(simulated.job.blueprint)),
        }
        for departure in self.all_departures:
            if isinstance(departure, Spiking):
                settings["cells_each"] = departure.population
        if "neuromodulator.log_retained" in state:
            # What is left of Q' - R since the first snapshot: a continued run counts anew, as its
            # snapshots do.
            settings["log_retained"] = float(state["neuromodulator.log_retained"][0])
        if "settling.worst" in state:
            settings["worst_residual"] = float(state["settling.worst"][0])
        if self.apical:
            areas = {"weights": [area.weights for area in self.layout], "gains": self.links}
            settings |= {"rho": self.rho, "areas": json.dumps(areas)}
        return settings

    def _more(self, simulated: Simulated, matrices: Mapping[str, np.ndarray]) -> dict[str, tuple]:
        """Return the readout Sigma_s^-1 Vy, shape (n, k), by which the output of the last area
        predicts y.
        """
        area, feed = self.layout[-1], simulated.job.feeds["y"]
        Vy = matrices[area.weights[1]]
        out = (1 - self.s) * Vy
        if self.s:
            Cyy_Vy = sum(
                (rows - feed.mean).T @ ((rows - feed.mean) @ Vy) for rows in chunks(feed.values)
            )
            out = self.s * (Cyy_Vy / len(feed.values) + self.ridges[1] * Vy) + out
        pathway = next(p for p in self.parts.pathways if p.weight == area.weights[1])
        return {"readout": (("instruction", self.parts[pathway.target].dimension), out)}

    def _remedy(self, feeds: Mapping[str, Feed], sample: int) -> str:
        given = rates_of_areas(self.rates, len(self.layout))
        if given is None:
            return "look for outliers in the data, or give rates=Rates.suggested(X, Y, ...)"
        if self.apical:
            return super()._remedy(feeds, sample)
        return advice_on_divergence(given[0], self.layout[0].k, self.s, self.ridges, feeds, sample)

    def _departures_in_words(self) -> str:
        own = [f"own {part.name}" for part in (*self.populations, *self.pathways)]
        return "; ".join([*map(repr, self.all_departures), *own])

    def _learning(self) -> dict[str, str]:
        """Return the rows of the circuit's table that say what it learns."""
        gains = (
            {"gains": f"{' - '.join(f'{gain:g}' for gain in self.links)}, from x to y"}
            if self.apical
            else {}
        )
        return {
            **gains,
            "regression": regression(self.s),
            "ridge": ridge_in_words(self.ridges),
            "rates": str(self.rates),
        }


def rates_of_areas(rates: Rates | Sequence[Rates] | str, areas: int) -> tuple[Rates, ...] | None:
    """Return one set of rates per area; None for rates that are fitted to the data."""
    if isinstance(rates, str) and rates == "auto":
        return None
    each = (rates,) * areas if isinstance(rates, Rates) else rates
    if (
        not isinstance(each, tuple | list)
        or len(each) != areas
        or not all(isinstance(rate, Rates) for rate in each)
    ):
        raise InputTypeError(
            f"rates: must be 'auto', Rates(...), or one Rates(...) for each area (got {rates!r})"
        )
    return tuple(each)


def output_is_linear(blueprint: Blueprint) -> bool:
    """Return True where the output is X Vx, as in the paper's circuit, and nothing else changes
    it.
    """
    writers = [action for action in blueprint.schedule if "pyramidal.z" in action.writes]
    return [(action.part, action.code) for action in writers] == _LINEAR
