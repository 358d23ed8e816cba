"""Who is connected to whom, and with which sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biorrr.models import chance
from biorrr.models.checks import number_within
from biorrr.models.departure import Departure
from biorrr.models.parts import Pathway, Population

_FIBRES = {"Vx": "sensory", "Vy": "instructive"}


@dataclass(frozen=True)
class SparseConnections(Departure):
    """Only some of the possible synapses exist; the others never have a weight.

    Parameters
    ----------
    proximal, distal
        Probability that a fibre reaches a given pyramidal neuron.
    """

    proximal: float
    distal: float

    def __post_init__(self) -> None:
        for name in ("proximal", "distal"):
            number_within(f"SparseConnections.{name}", getattr(self, name), 0, 1)

    def alter_pathway(self, pathway: Pathway) -> Pathway:
        """Let only synapses that exist change."""
        if pathway.name not in ("proximal", "distal"):
            return pathway
        return pathway.extended(equations="connected : 1 (constant)\n", constants=("connected",)).altered(
            rule=f"w += connected * ({pathway.rule.removeprefix('w += ')})"
        )

    def values(self, setting):
        """1 for each synapse that exists, 0 for the others, as Brian2 keeps them: fibre by fibre."""
        out = {}
        for stream, (pathway, fibres) in enumerate((("proximal", "sensory"), ("distal", "instructive"))):
            synapses = np.arange(setting.sizes[fibres] * setting.sizes["pyramidal"])
            drawn = chance.uniform_draw(setting.seed, chance.WIRING, stream, synapses)
            out[f"{pathway}.connected"] = (drawn < getattr(self, pathway)).astype(np.float64)
        return out

    def constrain(self, weight, matrix, values):
        """Synapses that do not exist have no weight."""
        pathway = {"Vx": "proximal", "Vy": "distal"}.get(weight)
        return matrix * values[f"{pathway}.connected"].reshape(matrix.shape) if pathway else matrix


@dataclass(frozen=True)
class DalesLaw(Departure):
    """All synapses that a cell makes have one sign and keep it: a weight that would cross zero stays there.

    Pyramidal cells excite (R) and interneurons inhibit (Q); of the fibres (Vx, Vy) a random half inhibits.

    Parameters
    ----------
    weights
        The matrices that obey.
    """

    weights: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.weights:
            if name not in _FIBRES and name not in ("Q", "R"):
                raise ValueError(f"dale: must name matrices among 'Vx', 'Vy', 'Q', 'R' (got {name!r})")

    def alter_population(self, population: Population) -> Population:
        """Give each fibre its polarity."""
        if population.name not in [_FIBRES[name] for name in self.weights if name in _FIBRES]:
            return population
        return population.extended(equations="\n    polarity : 1\n", memory=("polarity",))

    def alter_pathway(self, pathway: Pathway) -> Pathway:
        """Stop weights at zero."""
        if pathway.weight not in self.weights or not pathway.rule:
            return pathway
        if pathway.weight in _FIBRES:
            return pathway.extended(rule="\nw = polarity_pre * clip(polarity_pre * w, 0, inf)")
        return pathway.extended(rule="\nw = clip(w, 0, inf)")

    def values(self, setting):
        """+1 or -1 for each fibre."""
        return {
            f"{_FIBRES[name]}.polarity": np.where(
                chance.uniform_draw(
                    setting.seed, chance.POLARITY, list(_FIBRES).index(name), np.arange(setting.sizes[_FIBRES[name]])
                )
                < 0.5,
                1.0,
                -1.0,
            )
            for name in self.weights
            if name in _FIBRES
        }

    def constrain(self, weight, matrix, values):
        """Weights start with their cell's sign."""
        if weight not in self.weights:
            return matrix
        return np.abs(matrix) * (values[f"{_FIBRES[weight]}.polarity"][:, None] if weight in _FIBRES else 1)
