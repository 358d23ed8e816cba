"""Which cells are connected, and with which sign."""

from __future__ import annotations

from dataclasses import dataclass, replace

from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Variable
from biorrr.models.random_draws import Stream
from biorrr.models.validation import number_within


@dataclass(frozen=True)
class SparseConnections(Departure):
    """Only some of the possible synapses exist; the weights of the others stay zero.

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

    def alter(self, parts: Parts) -> Parts:
        """Let only synapses that exist begin with a weight and change."""
        for place, name in enumerate(("proximal", "distal")):
            drawn = f"uniform_draw(seed, {Stream.WIRING}, {place}, i) < {getattr(self, name)!r}"
            exists = Variable("connected", "1 where the synapse exists", "synapse", "parameter", drawn)
            pathway = parts.adding(name, exists)[name]
            wrapped = {
                field: f"connected * ({expression})"
                for field in ("start", "change", "replay")
                if (expression := getattr(pathway, field))
            }
            parts = parts.having(replace(pathway, **wrapped))
        return parts


@dataclass(frozen=True)
class DalesLaw(Departure):
    """All synapses that a cell makes have one sign and keep it: a weight that would cross zero stays there.

    Pyramidal cells excite (R) and interneurons inhibit (Q); a random half of the fibres (Vx, Vy) is inhibitory.

    Parameters
    ----------
    weights
        Names of the matrices whose weights keep their sign.
    """

    weights: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.weights:
            if name not in ("Vx", "Vy", "Q", "R"):
                raise ValueError(f"dale: must name matrices among 'Vx', 'Vy', 'Q', 'R' (got {name!r})")

    def alter(self, parts: Parts) -> Parts:
        """Give each fibre its polarity, and stop weights at zero."""
        for pathway in parts.pathways:
            if pathway.weight not in self.weights:
                continue
            sign = ""
            if pathway.weight in ("Vx", "Vy"):
                place = ("Vx", "Vy").index(pathway.weight)
                drawn = f"1 - 2 * int(uniform_draw(seed, {Stream.POLARITY}, {place}, i) >= 0.5)"
                polarity = Variable(
                    "polarity", "sign of all synapses that the fibre makes", role="parameter", value=drawn
                )
                parts, sign = parts.adding(pathway.source, polarity), "polarity_pre * "
            start = f"{sign}abs({pathway.start})"
            parts = parts.having(replace(pathway, start=start, bound=f"{sign}clip({sign}w, 0, inf)"))
        return parts
