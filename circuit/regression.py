"""Circuits between sensory and instructive data: what a microcircuit and a hierarchy have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from biorrr.circuit.base import CircuitBase
from biorrr.circuit.compile.blueprint import Blueprint, Port
from biorrr.circuit.results.text_table import regression, ridge_in_words
from biorrr.circuit.simulation.initial_state import Beginning, drawn_areas
from biorrr.circuit.simulation.simulate import Simulated
from biorrr.circuit.stimulus.feeds import Inputs
from biorrr.circuit.stimulus.units import Units
from biorrr.errors import InputError
from biorrr.models import Area, Departure, Leaky, Parts, Rates, with_values
from biorrr.models.auto_rates import plan_of_areas
from biorrr.models.validation import number_within

PORTS = (Port("x", "sensory", "x"), Port("y", "instructive", "y"))
S = "; 0 is RRMSE, 1 is CCA"


class RegressionCircuit(CircuitBase):
    """Base of circuits that learn a regression of y on x, with gains on the data where rates are fitted to them."""

    s: float
    rho: float
    rates: Rates | Sequence[Rates] | str
    ridge: float | tuple[float, float]
    ridges: tuple[float, float]  # on Cxx and on Cyy
    replay: int

    @property
    def fitted(self) -> bool:
        """True where learning rates are fitted to the data."""
        return isinstance(self.rates, str)

    def _scaled(self, inputs: Inputs | None) -> Beginning:
        """Return the replays that make the ridge, and gains on the data where rates are fitted to them."""
        gains = inputs.unit_gains if inputs is not None and self.fitted else {"x": 1.0, "y": 1.0}
        units = Units.of_gains(gains["x"], gains["y"], self.s)
        return Beginning(units, replay=self.replay if self.ridges[0] else 0)

    def _settings(self, simulated: Simulated) -> dict[str, object]:
        """Return plain values that a run keeps as attributes."""
        ridge_x, ridge_y = self.ridges
        return super()._settings(simulated) | {
            "s": self.s, "ridge_x": ridge_x, "ridge_y": ridge_y, "rates": str(self.rates),
            "gain_x": simulated.units.scale("x"), "gain_y": simulated.units.scale("y"),
        }  # fmt: skip

    def _cells(self) -> dict[str, str]:
        """Return the rows of the circuit's table that say which cells it has."""
        raise NotImplementedError

    def table(self) -> tuple[str, dict[str, str]]:
        """Return the name of the circuit, its cells, and the way it learns."""
        return f"{type(self).__name__} {self.name}".strip(), {
            **self._cells(),
            "regression": regression(self.s),
            "ridge": ridge_in_words(self.ridges),
            "rates": str(self.rates),
            "departures": self._departures_in_words() or "none: the paper's circuit",
            "engine, seed": f"{self.engine}, {self.seed}",
        }

    def _areas_beginning(
        self, areas: Sequence[Area], blueprint: Blueprint, inputs: Inputs | None, seed: int, last: float
    ) -> Beginning:
        """Return how areas with apical feedback meet their data."""
        sizes = blueprint.sizes
        plan = plan_of_areas(last) if self.fitted else {}
        known = {f"neuromodulator.{name}": value for name, value in plan.items()}
        weights = drawn_areas(areas, sizes["x"], sizes["y"], seed)
        return replace(self._scaled(inputs), weights=weights, parameters=known)

    def _areas_settings(self, areas: Sequence[Area], gains: Sequence[float], simulated: Simulated) -> dict[str, object]:
        """Return what a run of ``areas`` must know to infer: names of weights, gains, and how well outputs settled."""
        worst = simulated.outcome.state.get("settling.worst")
        return {
            "rho": self.rho,
            "linear_output": 0,
            "areas": json.dumps({"weights": [area.weights for area in areas], "gains": list(gains)}),
            **({} if worst is None else {"worst_residual": float(worst[0])}),
        }


def checked_ridge(ridge) -> tuple[float, float]:
    """Return the ridges on Cxx and Cyy as a pair of numbers; a single number stands for both."""
    both = ridge if isinstance(ridge, tuple | list) else (ridge, ridge)
    if len(both) != 2:
        raise InputError(f"ridge: must be a number or a pair, for Cxx and Cyy (got {ridge!r})")
    return number_within("ridge", both[0], 0), number_within("ridge", both[1], 0)


def with_clock(departures: Sequence[Departure], otherwise: Sequence[Departure]) -> tuple[Departure, ...]:
    """Return ``departures``, and ``otherwise`` where none of them gives the clock."""
    return (*departures, *(() if any("clock" in getattr(d, "gives", ()) for d in departures) else otherwise))


def refuse_leaky_replay(departures: Sequence[Departure], ridge: tuple[float, float]) -> None:
    """Refuse a ridge on Cxx where outputs have membranes and feedback: replay would have to settle."""
    if ridge[0] and any(isinstance(departure, Leaky) for departure in departures):
        raise InputError(
            f"ridge: replay must settle, and membranes take their time (got {ridge[0]:g} on Cxx with Leaky(...)); use "
            "Settled(), or (0, ridge) for Cyy alone"
        )


def with_regression(parts: Parts, s: float, rho: float, ridge: tuple[float, float], replay: int) -> Parts:
    """Return ``parts`` whose neuromodulator broadcasts which regression is learned, and its ridge."""
    modulator = parts["neuromodulator"]
    values: Mapping[str, float | str] = {
        "s": s,
        "rho": rho,
        "ridge_y": ridge[1],
        "ridge_power": f"{ridge[0]!r} * cells('sensory')",
        "replay_gain": f"{ridge[0]!r} * cells('sensory') / {replay}",
    }
    declared = {variable.name for variable in modulator.variables}
    return parts.having(with_values(modulator, **{k: v for k, v in values.items() if k in declared}))
