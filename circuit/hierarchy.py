"""A hierarchy of areas with apical feedback, ready to run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

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
from biorrr.circuit.simulation.initial_state import Beginning
from biorrr.circuit.simulation.simulate import Simulated
from biorrr.circuit.stimulus.data_checks import listed
from biorrr.circuit.stimulus.feeds import Inputs
from biorrr.errors import InputError, InputTypeError
from biorrr.models import (
    ApicalFeedback,
    Area,
    Clock,
    Departure,
    InstructiveInput,
    Parts,
    Rates,
    SensoryInput,
    Settled,
    departed,
)
from biorrr.models.validation import number_within, whole_number


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy(RegressionCircuit):
    """Areas of two-compartment neurons between x and y, each driven from below and taught from above.

    Area i has proximal synapses W{i} from the area below (x for the first), distal synapses A{i} from the area above
    (y for the last), and interneurons with Q{i} and R{i}. Its plateau drives its soma too, with the gain of the link
    above over that of the link below, so all areas settle together (Golkar et al., NeurIPS 2022).
    :class:`biorrr.analysis.HierarchyYardstick` solves the same problem exactly.

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
    departures
        As :class:`~biorrr.circuit.Microcircuit` takes them. Each sample comes to its equilibrium,
        :class:`~biorrr.models.Settled`, unless ``Leaky(...)`` among them gives cells membranes.
    engine, seed, name
        As :class:`~biorrr.circuit.Microcircuit` takes them.

    Examples
    --------
    >>> import numpy as np
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
    engine: str = "auto"
    seed: int = 0
    departures: Sequence[Departure] = ()
    name: str = ""
    parts: Parts = field(init=False)
    ports: tuple[Port, ...] = field(init=False, default=PORTS)

    _INSTEAD: ClassVar = {"dynamics": "departures=[Settled(...)] or [Leaky(...)]"}
    _REMEDY = "lower the rates, or the gains of the links above x"

    def __post_init__(self) -> None:
        areas = listed("areas", self.areas, "cells, one number for each area")
        if not areas:
            raise InputError("areas: must have at least one area (got none)")
        cells = tuple(whole_number(f"areas[{i}]", k, minimum=1) for i, k in enumerate(areas))
        gains = (1.0,) * (len(cells) + 1) if self.gains is None else listed("gains", self.gains, "one for each link")
        if len(gains) != len(cells) + 1:
            raise InputError(
                f"gains: must be {len(cells) + 1} numbers, one for each link from x to the first of {len(cells)} areas "
                f"up to y (got {len(gains)})"
            )
        inner = cells if self.interneurons is None else listed("interneurons", self.interneurons, "one for each area")
        if len(inner) != len(cells):
            raise InputError(f"interneurons: must be {len(cells)} numbers, one for each area (got {len(inner)})")
        self._freeze(
            areas=cells,
            departures=listed("departures", self.departures, "Departure objects"),
            gains=tuple(number_within(f"gains[{i}]", g, 1e-300) for i, g in enumerate(gains)),
            rho=number_within("rho", self.rho, 1e-300),
            s=number_within("s", self.s, 0, 1, S),
            interneurons=tuple(
                whole_number(f"interneurons[{i}]", l, k, "; the constraint needs one per pyramidal cell")
                for i, (l, k) in enumerate(zip(inner, cells, strict=True))
            ),
            ridges=checked_ridge(self.ridge),
            replay=whole_number("replay", self.replay, minimum=1),
        )
        departures = with_clock(self.departures, (Settled(),))
        refuse_leaky_replay(departures, self.ridges)
        parts = Parts((Clock(), SensoryInput(), InstructiveInput()), ())
        feedback = ApicalFeedback(self.layout, rates_of_areas(self.rates, len(cells)))
        parts = departed(parts, (feedback, *departures))
        self._settle(with_regression(parts, self.s, self.rho, self.ridges, self.replay), PORTS, departures)

    @property
    def layout(self) -> tuple[Area, ...]:
        """The areas, from that nearest to x up to that nearest to y."""
        cells, inner = cast(tuple[int, ...], self.areas), cast(tuple[int, ...], self.interneurons)
        gains = cast(tuple[float, ...], self.gains)
        return tuple(
            Area(k, inner[i - 1], gains[i] / gains[i - 1], i, last=i == len(cells)) for i, k in enumerate(cells, 1)
        )

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        largest, bound = max(self.areas), sum(sizes.values())
        if largest > bound:
            raise InputError(
                f"areas: no area can have more cells than x and y have features, {bound} (got {largest}); reduce it"
            )

    def _smallest(self, port: Port) -> int:
        return max(self.areas)

    def _beginning(self, blueprint: Blueprint, inputs: Inputs | None, seed: int, last: float = math.inf) -> Beginning:
        return self._areas_beginning(self.layout, blueprint, inputs, seed, last)

    def _settings(self, simulated: Simulated) -> dict[str, object]:
        areas = self._areas_settings(self.layout, self.gains or (), simulated)
        return super()._settings(simulated) | areas

    def _cells(self) -> dict[str, str]:
        cells = zip(self.areas, cast(tuple[int, ...], self.interneurons), strict=True)
        gains = " - ".join(f"{gain:g}" for gain in cast(tuple[float, ...], self.gains))
        return {
            "areas": ", ".join(f"{k} pyramidal, {l} interneurons" for k, l in cells),
            "gains": f"{gains}, from x to y",
        }


def rates_of_areas(rates: Rates | Sequence[Rates] | str, areas: int) -> tuple[Rates, ...] | None:
    """Return the rates of each of so many ``areas``; None for rates that are fitted to the data."""
    if isinstance(rates, str) and rates == "auto":
        return None
    each = (rates,) * areas if isinstance(rates, Rates) else rates
    if not isinstance(each, tuple | list) or len(each) != areas or not all(isinstance(rate, Rates) for rate in each):
        raise InputTypeError(f"rates: must be 'auto', Rates(...), or one Rates(...) for each area (got {rates!r})")
    return tuple(each)
