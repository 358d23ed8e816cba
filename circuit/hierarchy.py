"""A cortical hierarchy: areas with apical feedback between x and y, ready to run."""

from __future__ import annotations

import dataclasses
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
from biorrr.circuit.simulation.initial_state import drawn_areas, given_weights, initial_state
from biorrr.circuit.simulation.recorder import Diverged
from biorrr.circuit.simulation.simulate import Callback, RunOptions, Stimulus, samples_of, simulate
from biorrr.circuit.simulation.unsettled import area_settings, check_settled
from biorrr.circuit.stimulus.data_checks import check_order
from biorrr.circuit.stimulus.feeds import check_inputs
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.circuit.stimulus.units import Units
from biorrr.models import (
    ApicalFeedback,
    Area,
    Clock,
    Departure,
    Event,
    InstructiveInput,
    Leaky,
    Parts,
    Rates,
    SensoryInput,
    Settled,
    departed,
    with_values,
)
from biorrr.models.validation import instance_of, number_within, one_of, whole_number

_PORTS = (Port("x", "sensory", "x"), Port("y", "instructive", "y"))
_SETTLED = Settled()


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy(CircuitBase):
    """Areas of two-compartment neurons between x and y, each driven from below and taught from above.

    Area i has proximal synapses W{i} from the area below (x for the first), distal synapses A{i} from the area above
    (y for the last), and interneurons with Q{i} and R{i}. Its plateau drives its soma too, with the gain of the link
    above over that of the link below, so all areas settle together (Golkar et al., NeurIPS 2022).
    :class:`biorrr.analysis.HierarchicalRRR` solves the same problem exactly.

    Parameters
    ----------
    areas
        Pyramidal neurons of each area, from that nearest to x up to that nearest to y.
    gains
        One for each link, from x to the first area up to y, in the data's units; all 1 unless given.
        ``Hierarchy(areas=(k,), gains=(1, c))`` is ``Microcircuit(k, feedback=c)``.
    rho
        Variance that every output is brought to.
    s
        Which regression the last area solves: 0 is RRMSE, 1 is CCA.
    rates
        Learning rates: "auto", fitted to the data, or :class:`~biorrr.models.Rates` for all areas, or one for each,
        used as they stand.
    interneurons
        How many each area has, at least as many as pyramidal neurons; as many unless given.
    ridge
        Epsilon added to Cxx and Cyy, or a pair of them. The ridge on Cxx is made by spontaneous replay, which settles
        as samples do; it needs settled dynamics.
    replay
        Replays after each sample.
    dynamics
        :class:`~biorrr.models.Settled`, each sample at its equilibrium, or :class:`~biorrr.models.Leaky`, with
        membranes.
    engine, seed, departures, name
        As :class:`~biorrr.circuit.Microcircuit` takes them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> Y = X[:, :2] @ rng.standard_normal((2, 4)) + 0.1 * rng.standard_normal((200, 4))
    >>> run = Hierarchy(areas=(3, 2), engine="numpy").run(X, Y, order=[0, 1, 2], centre=True, progress=False)
    >>> [z.shape for z in run.infer(X, Y)]
    [(200, 3), (200, 2)]
    """

    areas: Sequence[int] = (4, 2)
    gains: Sequence[float] | None = None
    rho: float = 1.0
    s: float = 0.0
    rates: Rates | Sequence[Rates] | str = "auto"
    interneurons: Sequence[int] | None = None
    ridge: float | tuple[float, float] = 0.0
    replay: int = 1
    dynamics: Settled | Leaky = _SETTLED
    engine: str = "auto"
    seed: int = 0
    departures: Sequence[Departure] = ()
    name: str = ""
    parts: Parts = field(init=False)
    ports: tuple[Port, ...] = field(init=False, default=_PORTS)

    def __post_init__(self) -> None:
        areas = _sequence("areas", self.areas, "the number of cells of each area")
        cells = tuple(whole_number(f"areas[{i}]", k, minimum=1) for i, k in enumerate(areas))
        gains = (1.0,) * (len(cells) + 1) if self.gains is None else _sequence("gains", self.gains, "a gain per link")
        if len(gains) != len(cells) + 1:
            raise ValueError(
                f"gains: must be {len(cells) + 1} numbers, one for each link from x to the first of {len(cells)} areas "
                f"up to y (got {len(gains)})"
            )
        inner = cells if self.interneurons is None else _sequence("interneurons", self.interneurons, "one per area")
        if len(inner) != len(cells):
            raise ValueError(f"interneurons: must be {len(cells)} numbers, one for each area (got {len(inner)})")
        ridge = self.ridge if isinstance(self.ridge, (tuple, list)) else (self.ridge, self.ridge)
        if len(ridge) != 2:
            raise ValueError(f"ridge: must be a number or a pair, for Cxx and Cyy (got {self.ridge!r})")
        self._freeze(
            areas=cells,
            gains=tuple(number_within(f"gains[{i}]", g, 1e-300) for i, g in enumerate(gains)),
            rho=number_within("rho", self.rho, 1e-300),
            s=number_within("s", self.s, 0, 1, "; 0 is RRMSE, 1 is CCA"),
            interneurons=tuple(
                whole_number(f"interneurons[{i}]", l, k, "; the constraint needs one per pyramidal cell")
                for i, (l, k) in enumerate(zip(inner, cells, strict=True))
            ),
            ridge=tuple(number_within("ridge", each, 0) for each in ridge),
            replay=whole_number("replay", self.replay, minimum=1),
            dynamics=instance_of("dynamics", self.dynamics, Settled, Leaky),
            engine=one_of("engine", self.engine, ENGINES),
            seed=whole_number("seed", self.seed, minimum=0),
            departures=tuple(self.departures),
        )
        if self._ridges[0] and isinstance(self.dynamics, Leaky):
            raise ValueError(
                f"ridge: replay must settle, and membranes take their time (got {self._ridges[0]:g} on Cxx with "
                "dynamics=Leaky(...)); use dynamics=Settled(), or (0, ridge) for Cyy alone"
            )
        self._freeze(parts=self._made())
        self._check_parts()

    # -- building ------------------------------------------------------------------------------------------------

    @property
    def _ridges(self) -> tuple[float, float]:
        return cast(tuple[float, float], self.ridge)

    @property
    def _rates(self) -> tuple[Rates, ...] | None:
        """The rates of each area, or None for those fitted to the data."""
        if isinstance(self.rates, str) and self.rates == "auto":
            return None
        rates = (self.rates,) * len(self.areas) if isinstance(self.rates, Rates) else self.rates
        if isinstance(rates, str) or len(rates) != len(self.areas) or not all(isinstance(r, Rates) for r in rates):
            raise TypeError(f"rates: must be 'auto', Rates(...), or one Rates(...) for each area (got {self.rates!r})")
        return tuple(rates)

    @property
    def layout(self) -> tuple[Area, ...]:
        """The areas, from that nearest to x up to that nearest to y."""
        cells, inner = cast(tuple[int, ...], self.areas), cast(tuple[int, ...], self.interneurons)
        gains, last = cast(tuple[float, ...], self.gains), len(cells)
        return tuple(
            Area(
                k, inner[i - 1], gains[i] / gains[i - 1], i,
                ("sensory", "x") if i == 1 else (f"pyramidal_{i - 1}", "z"),
                ("instructive", "y") if i == last else (f"pyramidal_{i + 1}", "z"),
                (f"W{i}", f"A{i}", f"Q{i}", f"R{i}"),
            )
            for i, k in enumerate(cells, 1)
        )  # fmt: skip

    def _made(self) -> Parts:
        areas = ApicalFeedback(self.layout, self._rates)
        parts = Parts((Clock(), SensoryInput(), InstructiveInput()), ())
        clock = () if any("clock" in departure.gives for departure in self.departures) else (self.dynamics,)
        parts = departed(parts, (areas, *self.departures, *clock))
        wanted: dict[str, float | str] = {
            "s": self.s,
            "rho": self.rho,
            "ridge_y": self._ridges[1],
            "replay_gain": f"{self._ridges[0]!r} * cells('sensory') / {self.replay}",
        }
        return parts.having(with_values(parts["neuromodulator"], **wanted))

    def blueprint(self, m: int, n: int, moving: Mapping[str, str] | None = None) -> Blueprint:
        """The circuit for m sensory and n instructive inputs; ``moving`` says when some of them change."""
        largest = max(self.areas)
        if largest > m + n:
            raise ValueError(
                f"areas: no area can have more cells than x and y have features, {m + n} (got {largest}); reduce it"
            )
        return self.sized({"x": m, "y": n}, moving)

    def build(self, m: int, n: int) -> Hierarchy:
        """Build the circuit for data of m and n features now rather than at the first :meth:`run`."""
        self._build(self.blueprint(m, n), drawn_areas(self.layout, m, n, self.seed))
        return self

    # -- running -------------------------------------------------------------------------------------------------

    def run(
        self,
        X,
        Y,
        epochs: int = 1,
        order=None,
        record=(),
        every=100,
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
        rates: Rates | Sequence[Rates] | str | None = None,
        weights: Mapping[str, object] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Run:
        """Present the data and let all areas learn.

        Parameters
        ----------
        X, Y
            Sensory and instructive data, shapes (n_samples, m) and (n_samples, n).
        record
            Variables to trace, by "part.variable": ``("pyramidal_1.plateau", "pyramidal_2.z")``. With settled dynamics
            each sample has one row, at its equilibrium.
        weights
            Initial matrices by name (W1, A1, Q1, R1, W2, ...), in the data's units, in place of those drawn.
        parameters
            Values of parameters by "part.variable" for this run, in the data's units.
        epochs, order, every, snapshots, plastic, start, callback, centre, progress
            As :meth:`biorrr.circuit.Microcircuit.run` takes them.
        checkpoint, checkpoint_every, events, seed, rates
            As :meth:`biorrr.circuit.Microcircuit.run` takes them; ``Silence`` names the interneurons of one area,
            ``Silence(1000, population="interneurons_1")``.

        Raises
        ------
        Unsettled
            Where outputs did not come to their equilibrium in the ticks they had; its ``run`` has what came out.
        Diverged
            Where activity grows beyond bounds; its ``run`` holds what was recorded up to there.
        """
        options = RunOptions(
            record, every, snapshots, plastic, start, callback, progress, checkpoint, checkpoint_every, events
        )
        asked: dict[str, Any] = {"seed": seed, "rates": rates}
        changes = {name: value for name, value in asked.items() if value is not None}
        circuit = dataclasses.replace(self, **changes) if changes else self
        circuit.__dict__["_engines"] = self._engines
        inputs = check_inputs({"x": X, "y": Y}, {"x": "X", "y": "Y"}, centre, self.parts["clock"])
        order = ("sequential" if inputs.signal_in_time else "shuffle") if order is None else order
        epochs, order = whole_number("epochs", epochs, minimum=1), check_order(order, inputs.n_samples)
        return circuit._run(inputs, epochs, order, options, weights or {}, parameters or {})

    def _run(self, inputs, epochs: int, order, options: RunOptions, weights: Mapping, parameters: Mapping) -> Run:
        m, n = (inputs.feeds[name].values.shape[1] for name in ("x", "y"))
        blueprint = silenceable(self.blueprint(m, n, inputs.moving), options.events)
        if self._rates is None and any(feed.live is not None for feed in inputs.feeds.values()):
            raise ValueError(
                "rates: must be Rates(...) where an input is a Brian2 group, whose activity nobody knows beforehand"
            )
        gains = inputs.unit_gains() if self._rates is None else {"x": 1.0, "y": 1.0}
        units = Units.of_gains(gains["x"], gains["y"], self.s)
        feeds = {name: dataclasses.replace(feed, gain=gains[name] * feed.unit) for name, feed in inputs.feeds.items()}
        presentation = Presentation(
            inputs.n_samples, m, order, self.replay if self._ridges[0] else 0, 0.0, self.seed, blueprint.held,
            replay_held=blueprint.replay_held,
        )  # fmt: skip
        drawn = drawn_areas(self.layout, m, n, self.seed) | given_weights(weights, blueprint, units)
        stimulus = Stimulus(presentation, feeds, *samples_of(options.start, epochs, presentation))
        state = initial_state(blueprint, units, self.seed, drawn, parameters, options.start)
        simulated = simulate(blueprint, self._engines, self.engine, stimulus, state, units, options)
        settings = {
            "s": self.s, "rho": self.rho, "ridge_x": self._ridges[0], "ridge_y": self._ridges[1],
            "ridge_by": "replay", "gain_x": gains["x"], "gain_y": gains["y"],
            "rates": "auto" if self._rates is None else repr(self.rates),
            "departures": departures_in_words(self.departures), "plastic": int(options.plastic),
            "signal_in_time": int(inputs.signal_in_time),
        }  # fmt: skip
        data = dataset(simulated, settings | area_settings(self.layout, self.gains or (), simulated), inputs.labels)
        run = Run(data, self)
        if simulated.outcome.ended == "diverged":
            raise Diverged.at(simulated.outcome.samples, "lower the rates, or the gains of the links above x", run)
        check_settled(self.dynamics, run, blueprint.held)
        return run

    # -- looking at it -------------------------------------------------------------------------------------------

    def _sketch(self, sizes: Mapping[str, int] | None = None) -> Blueprint:
        if sizes is None and self._engines.last_blueprint is not None:
            return self._engines.last_blueprint
        largest = max(self.areas)
        given = {"x": largest, "y": largest} | {
            {"m": "x", "n": "y"}.get(k, k): v for k, v in (sizes or {}).items() if v
        }
        return self.blueprint(given["x"], given["y"])

    def table(self) -> tuple[str, dict[str, str]]:
        """What the circuit is made of, and how it learns."""
        gains = " - ".join(f"{gain:g}" for gain in cast(tuple[float, ...], self.gains))
        return f"Hierarchy {self.name}".strip(), {
            "areas": ", ".join(
                f"{k} pyramidal, {l} interneurons" for k, l in zip(self.areas, self.interneurons or (), strict=False)
            ),
            "gains": f"{gains}, from x to y",
            "regression": regression(self.s),
            "ridge": ridge_in_words(self._ridges, "replay"),
            "dynamics": repr(self.dynamics),
            "rates": "auto" if self._rates is None else repr(self.rates),
            "departures": departures_in_words(self.departures) or "none",
            "engine, seed": f"{self.engine}, {self.seed}",
        }


def _sequence(name: str, values, what: str) -> tuple:
    if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)) or not len(values):
        raise TypeError(f"{name}: must be a sequence, {what} (got {values!r})")
    return tuple(v.item() if isinstance(v, np.generic) else v for v in values)
