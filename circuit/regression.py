"""Circuits that learn a regression of y on x: what a microcircuit and a hierarchy have in
common.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from biorrr.circuit.base import CircuitBase
from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import Operation
from biorrr.circuit.results.tables import regression, ridge_in_words
from biorrr.circuit.simulation.failures import advice_on_divergence
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.prepare import (
    Beginning,
    check_given_weights,
)
from biorrr.circuit.stimulus.data_checks import warn, warn_of_rank
from biorrr.circuit.stimulus.feeds import Feed, chunks
from biorrr.circuit.stimulus.presentation import WEIGHTS, generator
from biorrr.errors import InputError, InputTypeError
from biorrr.models import (
    ApicalFeedback,
    Area,
    Clock,
    Departure,
    InstructiveInput,
    Leaky,
    Parts,
    Pathway,
    Population,
    Rates,
    SensoryInput,
    Settled,
    Spiking,
    apply_departures,
    fit_rates,
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

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run

Draw = Callable[[int], Mapping[str, np.ndarray]]  # matrices by name, from a seed
# A number whose inverse is finite, and a member of the family of regressions.
Invertible = Annotated[float, partial(number_within, low=1e-300)]
Member = Annotated[float, partial(number_within, low=0, high=1, remedy="; 0 is RRMSE, 1 is CCA")]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RegressionCircuit(CircuitBase):
    """Base of circuits whose areas learn together to regress y on x.

    Parameters
    ----------
    s, rates, ridge, replay, rho, populations, pathways
        As :class:`~biorrr.circuit.Microcircuit` takes them.
    """

    s: Member = 0.0
    rates: Rates | Sequence[Rates] | str = "auto"
    ridge: float | tuple[float, float] = 0.0
    replay: PositiveCount = 8
    rho: Invertible = 1.0
    populations: Sequence[Population] = ()
    pathways: Sequence[Pathway] = ()

    @property
    def stack(self) -> tuple[Area, ...]:
        """Its areas, from that nearest to x up to that nearest to y."""
        raise NotImplementedError

    @property
    def links(self) -> tuple[float, ...]:
        """Gains of the links between areas, from x up to y; that to y is 0 in the paper's
        circuit.
        """
        raise NotImplementedError

    @property
    def initial(self) -> dict[str, object]:
        """Initial weights that were given, by the name of their matrix."""
        return {}

    @property
    def apical(self) -> bool:
        """True where plateaus drive the soma too."""
        return self.links[-1] > 0

    @functools.cached_property
    def own_rates(self) -> tuple[Rates, ...] | None:
        """Learning rates of each area; None where they are fitted to the data."""
        if isinstance(self.rates, str) and self.rates == "auto":
            return None
        areas = len(self.stack)
        each = (self.rates,) * areas if isinstance(self.rates, Rates) else self.rates
        listed = isinstance(each, tuple | list) and len(each) == areas
        if not listed or not all(isinstance(rate, Rates) for rate in each):
            number = isinstance(self.rates, int | float)
            raise InputTypeError(
                "rates: must be 'auto', Rates(...), or one Rates(...) for each area (got"
                f" {self.rates!r})" + (f"; did you mean Rates({self.rates!r})?" if number else "")
            )
        return tuple(each)  # type: ignore[arg-type]  # just checked

    @functools.cached_property
    def ridges(self) -> tuple[float, float]:
        """The ridges on Cxx and on Cyy."""
        both = self.ridge if isinstance(self.ridge, tuple | list) else (self.ridge, self.ridge)
        if len(both) != 2:
            raise InputError(
                f"ridge: must be a number or a pair, for Cxx and Cyy (got {self.ridge!r})"
            )
        return number_within("ridge", both[0], 0), number_within("ridge", both[1], 0)

    # -- parts -------------------------------------------------------------------------------------

    @functools.cached_property
    def all_departures(self) -> tuple[Departure, ...]:
        """All departures, whichever way they were asked for."""
        return self._with_clock(self.departures)

    def _with_clock(self, departures: Sequence[Departure]) -> tuple[Departure, ...]:
        """Return ``departures``; outputs with feedback settle if none of them gives a clock."""
        for departure in departures:
            instance_of("departures", departure, Departure)
        timed = not self.apical or any("clock" in departure.gives for departure in departures)
        return (*departures, *(() if timed else (Settled(),)))

    @functools.cached_property
    def parts(self) -> Parts:
        """All parts, under all departures."""
        return self._parts(self.all_departures, self.populations, self.pathways)

    def _parts(
        self,
        departures: Sequence[Departure],
        populations: Sequence[Population] = (),
        pathways: Sequence[Pathway] = (),
    ) -> Parts:
        """Return all parts under ``departures``, with ``populations`` and ``pathways`` in place of
        those of their names, or added.
        """
        membranes = any(isinstance(departure, Leaky) for departure in departures)
        if self.apical and self.ridges[0] and membranes:
            raise InputError(
                "ridge: replay must settle, and membranes take their time (got"
                f" {self.ridges[0]:g} on Cxx with Leaky(...)); use Settled(), or (0, ridge) for Cyy"
                " alone"
            )
        rates = self.own_rates
        if self.apical:
            for area in self.stack:
                remedy = "; the constraint needs one per pyramidal cell"
                whole_number("interneurons", area.interneurons, area.k, remedy)
            parts = Parts((Clock(), SensoryInput(), InstructiveInput()), ())
            parts = apply_departures(parts, [ApicalFeedback(self.stack, rates)])
        else:
            (area,) = self.stack
            parts = microcircuit_parts(area.k, area.interneurons, rates[0] if rates else None)
        parts = _with_own(parts, populations, pathways)
        parts = parts if self.apical or rates else fit_rates(parts)
        parts = apply_departures(parts, departures)
        return parts.having(with_values(parts["neuromodulator"], **self._broadcast(parts)))

    def _broadcast(self, parts: Parts) -> dict[str, float | str]:
        """Return what the neuromodulator says of the regression and its ridge, by variable."""
        ridge_x, ridge_y = self.ridges
        values: dict[str, float | str] = {
            "s": self.s,
            "rho": self.rho,
            "ridge_y": ridge_y,
            "ridge_power": f"{ridge_x!r} * cells('sensory')",
            "replay_gain": f"{ridge_x!r} * cells('sensory') / {self.replay}",
        }
        modulator = parts["neuromodulator"]
        return {name: value for name, value in values.items() if modulator.has(name)}

    def departures_in_words(self) -> str:
        """Return departures and parts of one's own."""
        own = [f"own {part.name}" for part in (*self.populations, *self.pathways)]
        return "; ".join([*map(repr, self.all_departures), *own])

    # -- meeting the data --------------------------------------------------------------------------

    def begin(
        self,
        blueprint: Blueprint,
        feeds: Mapping[str, Feed] | None = None,
        last: float = math.inf,
        start: Run | None = None,
    ) -> Beginning:
        """Return how the areas meet the data of ``feeds``, or white data of unit variance where
        there are none; weights are as large as suit their drive where rates are fitted to it.
        """
        if feeds is not None and len(self.stack) == 1:
            centred = {name.upper(): feed.facts.some - feed.mean for name, feed in feeds.items()}
            (area,) = self.stack
            warn_of_rank(area.k, centred)
            if area.interneurons < area.k:
                warn(
                    f"interneurons: fewer than outputs ({area.interneurons} for k = {area.k}), so"
                    " that learning does not come to rest; docs/interneurons.md says what it does"
                )
        meet = self._meet_areas if self.apical else self._meet
        draw, known = meet(blueprint, feeds, last)
        parameters = {f"neuromodulator.{name}": value for name, value in known.items()}
        if start is not None and math.isinf(last):
            parameters = self._keep_fit(start, parameters)
        replay = self.replay if self.ridges[0] else 0
        given = check_given_weights(self.initial, blueprint)
        return Beginning(lambda seed: {**draw(seed), **given}, parameters, replay)

    def _keep_fit(self, start: Run, parameters: dict[str, float]) -> dict[str, float]:
        """Return what the rates of ``start`` were fitted to, if it learned the same regression
        without an announced end; otherwise ``parameters``.
        """
        before = json.loads(start.attrs.get("fitted", "{}"))
        unended = math.isinf(before.get("neuromodulator.last", 0.0))
        same = all(start.attrs.get(name) == value for name, value in self._identity().items())
        return before if unended and same and before.keys() == parameters.keys() else parameters

    def _identity(self) -> dict[str, object]:
        """Return what tells regressions apart, as attributes of a run."""
        ridge_x, ridge_y = self.ridges
        identity: dict[str, object] = {"s": self.s, "ridge_x": ridge_x, "ridge_y": ridge_y}
        if self.apical:
            areas = {"weights": [area.weights for area in self.stack], "gains": self.links}
            identity |= {"rho": self.rho, "areas": json.dumps(areas)}
        return identity

    def _meet_areas(
        self, blueprint: Blueprint, feeds: Mapping[str, Feed] | None, last: float
    ) -> tuple[Draw, dict[str, float]]:
        """Return what draws initial weights of areas with apical feedback, and what their rates are
        fitted to.
        """
        m, n = blueprint.sizes["x"], blueprint.sizes["y"]
        if self.own_rates:
            return partial(draw_areas, self.stack, m, n), {}
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
        return partial(draw_areas, self.stack, m, n, start=start), known

    def _meet(
        self, blueprint: Blueprint, feeds: Mapping[str, Feed] | None, last: float
    ) -> tuple[Draw, dict[str, float]]:
        """Return what draws initial weights of the paper's circuit, and what its rates are fitted
        to.
        """
        (area,), (m, n) = self.stack, (blueprint.sizes["x"], blueprint.sizes["y"])
        sizes = m, n, area.k, area.interneurons
        if self.own_rates:
            return partial(draw_weights, sizes, start=self.own_rates[0].start), {}
        drive = Drive.white(m)
        if feeds is not None:
            x, y = feeds["x"], feeds["y"]
            means, powers = (x.mean, y.mean), (x.facts.power, y.facts.power)
            drive = Drive.of(x.facts.some, y.facts.some, self.ridges, means, powers)
        known = {"outputs": float(area.k), **plan(area.k, self.s, drive, last)}
        return partial(draw_weights, sizes, start=drive.start(self.s)), known

    # -- results -----------------------------------------------------------------------------------

    def settings(self, job: Job, outcome: Outcome) -> dict[str, object]:
        """Return plain values that a run keeps as attributes."""
        state = outcome.state
        settings = {
            **self._identity(),
            "rates": str(self.rates),
            "fitted": json.dumps(job.fitted),
            "linear_output": int(_computing_output(job.blueprint) == self._plain_output),
        }
        for departure in job.blueprint.parts.departures:
            if isinstance(departure, Spiking):
                settings["cells_each"] = departure.population
        if "neuromodulator.log_retained" in state:
            # What is left of Q' - R since the first snapshot: a continued run counts anew, as its
            # snapshots do.
            settings["log_retained"] = float(state["neuromodulator.log_retained"][0])
        if "settling.worst" in state:
            settings["worst_residual"] = float(state["settling.worst"][0])
        return settings

    @functools.cached_property
    def _plain_output(self) -> set[tuple[str, str, str]]:
        """What computes the output without departures and parts of one's own: outputs are then
        linear, X Vx or the equilibrium of areas.
        """
        return _computing_output(Blueprint(self._parts(self._with_clock(())), self.ports))

    def readout(self, job: Job, matrices: Mapping[str, np.ndarray]) -> dict[str, tuple]:
        """Return the readout Sigma_s^-1 Vy, shape (n, k), by which the output of the last area
        predicts y, as a variable of a run's Dataset.
        """
        name, feed = self.stack[-1].weights[1], job.feeds["y"]
        Vy = matrices[name]
        out = (1 - self.s) * Vy
        if self.s:
            Cyy_Vy = sum(
                (rows - feed.mean).T @ ((rows - feed.mean) @ Vy) for rows in chunks(feed.values)
            )
            out = self.s * (Cyy_Vy / len(feed.values) + self.ridges[1] * Vy) + out
        parts = job.blueprint.parts
        (pathway,) = (pathway for pathway in parts.weighted if pathway.weight == name)
        return {"readout": (("instruction", parts[pathway.target].dimension), out)}

    def remedy(self, feeds: Mapping[str, Feed], sample: int) -> str:
        """Return advice for a run that diverged at ``sample``."""
        if self.own_rates is None:
            return "look for outliers in the data, or give rates=Rates.suggested(X, Y, ...)"
        if self.apical:
            return "lower the rates of plasticity"
        return advice_on_divergence(
            self.own_rates[0], self.stack[0].k, self.s, self.ridges, feeds, sample
        )

    def learning_in_words(self) -> dict[str, str]:
        """Return the regression, its ridge and its rates."""
        gains = f"{' - '.join(f'{gain:g}' for gain in self.links)}, from x to y"
        return {
            **({"gains": gains} if self.apical else {}),
            "regression": regression(self.s),
            "ridge": ridge_in_words(self.ridges),
            "rates": str(self.rates),
        }


def _with_own(
    parts: Parts, populations: Sequence[Population], pathways: Sequence[Pathway]
) -> Parts:
    """Return ``parts`` with populations and pathways of the user's in place of those of their
    names, or added.
    """
    known = {population.name: population.size for population in parts.populations}
    for population in populations:
        size = known.get(population.name)
        if size is not None and population.size not in (None, size):
            raise InputError(
                f"{population.name}.size: must be {size}, as k and interneurons say (got"
                f" {population.size})"
            )
        parts = parts.having(replace(population, size=size or population.size))
    return parts.having(*pathways)


def _computing_output(blueprint: Blueprint) -> set[tuple[str, str, str]]:
    """Return what happens on the way from inputs and weights to the outputs, as (part, phase, code)
    of each operation.
    """
    operations = [o for o in blueprint.program.operations if o.phase != "plasticity"]
    wanted = {f"{cells.name}.z" for cells in blueprint.parts.all(kind="pyramidal")}
    found: list[Operation] = []
    while more := [o for o in operations if o not in found and o.writes & wanted]:
        found += more
        wanted.update(*(operation.reads for operation in more))
    return {(operation.part, operation.phase, operation.code) for operation in found}


def draw_weights(
    sizes: tuple[int, int, int, int],
    seed: int,
    start: tuple[float, float, float],
) -> dict[str, np.ndarray]:
    """Draw the microcircuit's initial matrices; return them by name.

    Parameters
    ----------
    sizes
        m, n, k and the number of interneurons.
    seed
        Of the draw.
    start
        Standard deviations of Vx and Vy, and the diagonal of Q and R.
    """
    m, n, k, l = sizes
    size_x, size_y, q0 = start
    rng = generator(seed, WEIGHTS)
    drawn = {"Vx": size_x * rng.standard_normal((m, k)), "Vy": size_y * rng.standard_normal((n, k))}
    # Q and R start unrelated but for a common direction. What they do not share is bounded, so QR
    # keeps its sign.
    for name, shape in (("Q", (k, l)), ("R", (l, k))):
        drawn[name] = q0 * (np.eye(*shape) + 0.3 / math.sqrt(l) * rng.uniform(-1, 1, shape))
    return drawn


def draw_areas(
    layout: Sequence[Area],
    m: int,
    n: int,
    seed: int,
    start: tuple[float, float, float] | None = None,
) -> dict[str, np.ndarray]:
    """Draw initial matrices of areas with apical feedback; return them by name.

    Areas begin by passing on random directions: outputs of variance 1 where inputs have it. Between
    areas A and W' begin unrelated but for a common direction, as Q and R of the microcircuit do,
    and inhibition begins at the most that it comes to there, so that the equilibrium is stable; R0
    = Q0'.
    """
    rng = generator(seed, WEIGHTS)
    sizes = [m, *(area.k for area in layout)]
    size_w, size_a, size_q = start or (1 / math.sqrt(m), 0.03, 1.0)
    out = {layout[-1].weights[1]: size_a * rng.standard_normal((n, layout[-1].k))}
    for place, (area, below) in enumerate(zip(layout, sizes[:-1], strict=True)):
        W, _, Q, R = area.weights
        drawn = rng.standard_normal((below, area.k))
        if not place:
            out[W] = size_w * drawn
        else:
            U, _, V = np.linalg.svd(drawn, full_matrices=False)
            out[W] = U @ V
            out[layout[place - 1].weights[1]] = (
                out[W] + 0.2 / math.sqrt(area.k) * rng.standard_normal(drawn.shape)
            ).T
        out[Q] = (size_q if area.last else 1.0) * np.eye(area.k, area.interneurons)
        out[R] = out[Q].T.copy()
    return out
