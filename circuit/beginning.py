"""What a run begins with: weights, the neuromodulator's parameters, and what departures need to know."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.blueprint import WEIGHTS, Blueprint, as_matrix, as_synapses
from biorrr.circuit.checks import check_weights
from biorrr.circuit.presentation import Presentation, weight_generator
from biorrr.circuit.statistics import effective_dimension
from biorrr.circuit.units import Units
from biorrr.models import Departure, Rate, Rates, Setting

if TYPE_CHECKING:
    from biorrr.circuit.microcircuit import Microcircuit
    from biorrr.circuit.run import Run


class Beginning:
    """The state a run starts from, in the circuit's own units.

    Parameters
    ----------
    circuit, blueprint, units
        Whose run, its parts, and how its units relate to the data's.
    start
        An earlier run to continue, or None.
    """

    def __init__(self, circuit: Microcircuit, blueprint: Blueprint, units: Units, start: Run | None) -> None:
        self.circuit, self.blueprint, self.units, self.start = circuit, blueprint, units, start
        self.m, self.n = (blueprint.population(name).size for name in ("sensory", "instructive"))

    def weights(self, values: dict) -> dict[str, np.ndarray]:
        """Matrices by name, as given or drawn from the seed; departures may constrain them by their ``values``."""
        circuit, m, n = self.circuit, self.m, self.n
        k, interneurons = circuit.k, circuit.interneurons
        shapes = {"Vx": (m, k), "Vy": (n, k), "Q": (k, interneurons), "R": (interneurons, k)}
        rng = weight_generator(circuit.seed)
        drawn = {name: rng.standard_normal(shapes[name]) for name in WEIGHTS}
        if isinstance(circuit.rates, Rates):
            q0 = 1 / 3
            drawn["Vx"] *= 0.01
            drawn["Vy"] *= 0.1
        else:
            # QQ' comes down to M's eigenvalues from their upper bound: from below, activity would overshoot first.
            q0 = 1 / math.sqrt(self.units.inner_s + (1 - self.units.inner_s) / n)
            drawn["Vx"] *= 0.1 / math.sqrt(m)
            drawn["Vy"] *= 0.03
        # Q and R start unrelated but for a common direction, which keeps QR's eigenvalues positive.
        for name in ("Q", "R"):
            drawn[name] = q0 * (np.eye(*shapes[name]) + 0.3 / math.sqrt(interneurons) * drawn[name])
        for name, shape in shapes.items():
            given = circuit.initial[name] if self.start is None else getattr(self.start, name)
            if given is not None:
                what = f"{name}0" if self.start is None else f"start.{name}"
                drawn[name] = check_weights(what, given, shape) * self.units.scale(name)
        for p in self.blueprint.pathways:
            shape = self.blueprint.weight_shape(p)
            for departure in circuit.departures:
                flat = departure.constrain(p.weight, as_synapses(p, drawn[p.weight]).reshape(shape), values)
                drawn[p.weight] = as_matrix(p, flat, shape)
        return drawn

    def of_departures(self, lesions: tuple[Departure, ...]) -> dict:
        """Parameters of the departures and what their cells remember, by "part.variable"."""
        circuit, populations = self.circuit, self.blueprint.populations
        setting = Setting(
            {p.name: p.size for p in populations}, self.units.scale, circuit.dynamics.relaxation, circuit.seed
        )
        values: dict = {f"{p.name}.{variable}": 0.0 for p in populations for variable in p.memory}
        for departure in (*circuit.departures, *lesions):
            values |= departure.values(setting)
        remembered = {} if self.start is None else self.start.data
        for p in populations:
            for variable in p.memory:
                if f"{p.name}_{variable}" in remembered:
                    values[f"{p.name}.{variable}"] = remembered[f"{p.name}_{variable}"].values
        return values

    def of_neuromodulator(
        self, presentation: Presentation, first: int, plastic: bool, X: np.ndarray, mean_x: np.ndarray
    ) -> dict:
        """Parameters of the neuromodulator, by "part.variable"."""
        ridge_x, ridge_y = self.units.inner_ridge(self.circuit.ridge)
        values = {
            "sample": first - 1.0,
            "s": self.units.inner_s,
            "ridge_y": ridge_y,
            "replay_gain": ridge_x * self.m / max(presentation.replay, 1),
        }
        if isinstance(self.circuit.rates, Rates):
            for path in "xyqr":
                rate: Rate = getattr(self.circuit.rates, path)
                values |= {f"eta0_{path}": rate.eta0 * plastic, f"N_{path}": rate.N}
        else:
            values |= {
                "typical_x": float(self.m),
                "typical_y": float(self.n),
                "dimension_x": effective_dimension(X, mean_x),
                "plastic": float(plastic),
                "log_retained": 0.0,
            }
        return {f"{self.blueprint.neuromodulator.name}.{name}": value for name, value in values.items()}
