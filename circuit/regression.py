"""The regression of y on x that the areas of a microcircuit and of a hierarchy learn."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint, ports_of
from biorrr.circuit.compile.operations import Operation
from biorrr.circuit.results.tables import rows_of_regression
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.prepare import Beginning
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
)
from biorrr.models.validation import instance_of, number_within, whole_number

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run

Start = tuple[float, float, float]  # sizes of initial weights
# A number whose inverse is finite, and a member of the family of regressions.
Invertible = Annotated[float, partial(number_within, low=1e-300)]
Member = Annotated[float, partial(number_within, low=0, high=1, remedy="; 0 is RRMSE, 1 is CCA")]


@dataclass(frozen=True, eq=False, kw_only=True)
class Regression:
    """A regression of y on x that areas learn together, and the parts that learn it.

    Parameters
    ----------
    areas
        From that nearest to x up to that nearest to y.
    links
        Gains of the links between areas, from x up to y; that to y is 0 in the paper's circuit.
    initial
        Initial weights that were given, by the name of their matrix.
    s, rates, ridge, replay, rho, departures, populations, pathways
        As :class:`~biorrr.circuit.Microcircuit` takes them.
    """

    areas: tuple[Area, ...]
    links: tuple[float, ...]
    s: float
    rates: Rates | Sequence[Rates] | str
    ridge: float | tuple[float, float]
    replay: int
    rho: float
    departures: Sequence[Departure]
    populations: Sequence[Population]
    pathways: Sequence[Pathway]
    initial: Mapping[str, Any] = field(default_factory=dict)

    @property
    def apical(self) -> bool:
        """True where plateaus drive the soma too."""
        return self.links[-1] > 0

    @functools.cached_property
    def own_rates(self) -> tuple[Rates, ...] | None:
        """Learning rates of each area; None where they are fitted to the data."""
        if isinstance(self.rates, str) and self.rates == "auto":
            return None
        areas = len(self.areas)
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
        """Its departures; outputs with feedback settle if none of them gives a clock."""
        given = tuple(instance_of("departures", one, Departure) for one in self.departures)
        timed = not self.apical or any("clock" in departure.gives for departure in given)
        return given if timed else (*given, Settled())

    @functools.cached_property
    def parts(self) -> Parts:
        """All parts, under all departures, with those of the user's in place of those of their
        names, or added.
        """
        rates, (ridge_x, ridge_y) = self.own_rates, self.ridges
        if self.rho != 1 and not self.apical:
            raise InputError("rho: belongs to apical feedback; give feedback=c, c > 0, too")
        if self.apical and ridge_x and any(isinstance(d, Leaky) for d in self.all_departures):
            raise InputError(
                "ridge: replay must settle, and membranes take their time (got"
                f" {ridge_x:g} on Cxx with Leaky(...)); use Settled(), or (0, ridge) for Cyy alone"
            )
        if self.apical:
            for area in self.areas:
                remedy = "; the constraint needs one per pyramidal cell"
                whole_number("interneurons", area.interneurons, area.k, remedy)
            parts = Parts((Clock(), SensoryInput(), InstructiveInput()), ())
            parts = apply_departures(parts, [ApicalFeedback(self.areas, rates)])
        else:
            (area,) = self.areas
            parts = microcircuit_parts(area.k, area.interneurons, rates[0] if rates else None)
        known = {population.name: population.size for population in parts.populations}
        for population in self.populations:
            size = known.get(population.name)
            if size is not None and population.size not in (None, size):
                raise InputError(
                    f"{population.name}.size: must be {size}, as k and interneurons say (got"
                    f" {population.size})"
                )
            parts = parts.having(replace(population, size=size or population.size))
        parts = parts.having(*self.pathways)
        parts = parts if self.apical or rates else fit_rates(parts)
        parts = apply_departures(parts, self.all_departures)
        broadcast: dict[str, float | str] = {
            "s": self.s,
            "rho": self.rho,
            "ridge_y": ridge_y,
            "ridge_power": f"{ridge_x!r} * cells('sensory')",
            "replay_gain": f"{ridge_x!r} * cells('sensory') / {self.replay}",
        }
        modulator = parts["neuromodulator"]
        known = {name: value for name, value in broadcast.items() if name in modulator.declared}
        return parts.having(with_values(modulator, **known))

    def check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Refuse more cells than data with so many features, by port, can teach."""
        largest, bound = max(area.k for area in self.areas), sum(sizes.values())
        if self.areas[0].number and largest > bound:
            raise InputError(
                f"areas: no area can have more cells than x and y have features, {bound} (got"
                f" {largest}); reduce it"
            )
        bound = min(sizes.values())
        if not self.areas[0].number and largest > bound:
            raise InputError(
                f"k: upper bound is min(m, n) = {bound}, the rank of the data (got {largest});"
                " reduce k"
            )

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
        if feeds is not None and len(self.areas) == 1:
            centred = {name.upper(): feed.facts.some - feed.mean for name, feed in feeds.items()}
            (area,) = self.areas
            warn_of_rank(area.k, centred)
            if area.interneurons < area.k:
                warn(
                    f"interneurons: fewer than outputs ({area.interneurons} for k = {area.k}), so"
                    " that learning does not come to rest; docs/interneurons.md says what it does"
                )
        fitted, sizes = self._fit(blueprint, feeds, last)
        parameters = {f"neuromodulator.{name}": value for name, value in fitted.items()}
        if start is not None and math.isinf(last):
            before = json.loads(start.data.attrs.get("fitted", "{}"))
            unended = math.isinf(before.get("neuromodulator.last", 0.0))
            same = all(
                start.data.attrs.get(name) == value for name, value in self._identity.items()
            )
            if unended and same and before.keys() == parameters.keys():
                parameters = before  # rates stay as they were fitted to the data of the first run
        m, n = blueprint.sizes["x"], blueprint.sizes["y"]
        draw = partial(draw_areas if self.apical else draw_weights, self.areas, m, n, sizes)
        replay = self.replay if self.ridges[0] else 0
        return Beginning(lambda seed: {**draw(seed), **self.initial}, parameters, replay)

    def _fit(
        self, blueprint: Blueprint, feeds: Mapping[str, Feed] | None, last: float
    ) -> tuple[dict[str, float], Start]:
        """Return what rates are fitted to, by the neuromodulator's variables, and the sizes of
        weights at first.
        """
        m = float(blueprint.sizes["x"])
        if self.own_rates:
            return {}, (1 / math.sqrt(m), 0.03, 1.0) if self.apical else self.own_rates[0].start
        if self.apical:
            power_x, power_y = m, 1.0
            if feeds is not None:
                power_x = feeds["x"].facts.power
                power_y = feeds["y"].facts.power / blueprint.sizes["y"]
            # The eigenvalue of QQ' at the optimum for a channel of y of such power.
            usual_q = power_y / (1 - self.s + self.s * power_y)
            powers = {"power_x": power_x, "power_y": power_y, "usual_q": usual_q}
            return powers | plan_of_areas(last), start_of_areas(**powers)
        drive = Drive.white(int(m))
        if feeds is not None:
            x, y = feeds["x"], feeds["y"]
            some = x.facts.some - x.mean, y.facts.some - y.mean
            drive = Drive.of(*some, self.ridges, (x.facts.power, y.facts.power))
        k = self.areas[0].k
        return {"outputs": float(k), **plan(k, self.s, drive, last)}, drive.start(self.s)

    @property
    def _identity(self) -> dict[str, object]:
        """What tells regressions apart, as attributes of a run."""
        ridge_x, ridge_y = self.ridges
        identity: dict[str, object] = {"s": self.s, "ridge_x": ridge_x, "ridge_y": ridge_y}
        if self.apical:
            areas = {"weights": [area.weights for area in self.areas], "gains": self.links}
            identity |= {"rho": self.rho, "areas": json.dumps(areas)}
        return identity

    # -- results -----------------------------------------------------------------------------------

    def attrs(self, job: Job, outcome: Outcome) -> dict[str, object]:
        """Return plain values that a run keeps as attributes."""
        state = outcome.state
        attrs = {
            **self._identity,
            "rates": str(self.rates),
            "fitted": json.dumps(job.fitted),
            "linear_output": int(self._is_linear(job)),
        }
        for departure in job.blueprint.parts.departures:
            if isinstance(departure, Spiking):
                attrs["cells_each"] = departure.population
        if "neuromodulator.log_retained" in state:
            # What is left of Q' - R since the first snapshot: a continued run counts anew, as its
            # snapshots do.
            attrs["log_retained"] = float(state["neuromodulator.log_retained"][0])
        if "settling.worst" in state:
            attrs["worst_residual"] = float(state["settling.worst"][0])
        return attrs

    def _is_linear(self, job: Job) -> bool:
        """Return True if outputs are X Vx or the equilibrium of areas: what computes them is as it
        is without departures and parts of one's own.
        """
        if not (self.departures or self.populations or self.pathways or job.events):
            return True
        plain = replace(self, departures=(), populations=(), pathways=()).parts
        return _computing_output(job.blueprint) == _computing_output(
            Blueprint(plain, ports_of(plain))
        )

    def readout(self, job: Job, matrices: Mapping[str, np.ndarray]) -> tuple:
        """Return the readout Sigma_s^-1 Vy, shape (n, k), by which the output of the last area
        predicts y, as a variable of a run's Dataset, given the final ``matrices``.
        """
        name, feed, parts = self.areas[-1].weights[1], job.feeds["y"], job.blueprint.parts
        Vy = matrices[name]
        out = (1 - self.s) * Vy
        if self.s:
            Cyy_Vy = sum(
                (rows - feed.mean).T @ ((rows - feed.mean) @ Vy) for rows in chunks(feed.values)
            )
            out = self.s * (Cyy_Vy / len(feed.values) + self.ridges[1] * Vy) + out
        (pathway,) = (pathway for pathway in parts.weighted if pathway.weight == name)
        return ("instruction", parts[pathway.target].dimension), out

    @property
    def in_words(self) -> str:
        """Its departures and parts of one's own; empty where there are none."""
        own = [f"own {part.name}" for part in (*self.populations, *self.pathways)]
        return "; ".join([*map(repr, self.all_departures), *own])

    def rows(self) -> dict[str, str]:
        """Return the rows of a circuit's table: the regression, its ridge and its rates."""
        gains = f"{' - '.join(f'{gain:g}' for gain in self.links)}, from x to y"
        rows = {"gains": gains} if self.apical else {}
        return rows | rows_of_regression(self.s, self.ridges, str(self.rates))


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
    areas: Sequence[Area], m: int, n: int, sizes: Start, seed: int
) -> dict[str, np.ndarray]:
    """Draw the microcircuit's initial matrices; return them by name.

    ``sizes`` are the standard deviations of Vx and Vy, and the diagonal of Q and R.
    """
    (area,), (size_x, size_y, q0) = areas, sizes
    k, l = area.k, area.interneurons
    rng = generator(seed, WEIGHTS)
    drawn = {"Vx": size_x * rng.standard_normal((m, k)), "Vy": size_y * rng.standard_normal((n, k))}
    # Q and R start unrelated but for a common direction. What they do not share is bounded, so QR
    # keeps its sign.
    for name, shape in (("Q", (k, l)), ("R", (l, k))):
        drawn[name] = q0 * (np.eye(*shape) + 0.3 / math.sqrt(l) * rng.uniform(-1, 1, shape))
    return drawn


def draw_areas(
    areas: Sequence[Area], m: int, n: int, sizes: Start, seed: int
) -> dict[str, np.ndarray]:
    """Draw initial matrices of areas with apical feedback; return them by name.

    Areas begin by passing on random directions: outputs of variance 1 where inputs have it. Between
    areas A and W' begin unrelated but for a common direction, as Q and R of the microcircuit do,
    and inhibition begins at the most that it comes to there, so that the equilibrium is stable; R0
    = Q0'. ``sizes`` are those of W of the first area, and of A and Q of the last.
    """
    rng = generator(seed, WEIGHTS)
    size_w, size_a, size_q = sizes
    out = {areas[-1].weights[1]: size_a * rng.standard_normal((n, areas[-1].k))}
    for area, below in zip(areas, (None, *areas), strict=False):
        W, _, Q, R = area.weights
        drawn = rng.standard_normal((below.k if below else m, area.k))
        if below is None:
            out[W] = size_w * drawn
        else:
            U, _, V = np.linalg.svd(drawn, full_matrices=False)
            out[W] = U @ V
            unlike = 0.2 / math.sqrt(area.k) * rng.standard_normal(drawn.shape)
            out[below.weights[1]] = (out[W] + unlike).T
        out[Q] = (size_q if area == areas[-1] else 1.0) * np.eye(area.k, area.interneurons)
        out[R] = out[Q].T.copy()
    return out
