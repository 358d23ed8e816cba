"""Connections between cells: their probability and their sign."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from biorrr.errors import InputError
from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Pathway, Variable, parameter
from biorrr.models.random_draws import Stream, in_area
from biorrr.models.validation import Probability, one_of


@dataclass(frozen=True)
class SparseConnections(Departure):
    """Sparse wiring: only some of the possible synapses exist, and the weights of the others stay
    zero.

    Parameters
    ----------
    proximal, distal
        Probability that a fibre reaches a given pyramidal neuron.
    """

    proximal: Probability
    distal: Probability
    alters = ("proximal", "distal")

    def alter_part(self, pathway: Pathway) -> Pathway:
        """Let only synapses that exist begin with a weight and change."""
        place, probability = self.alters.index(pathway.kind), getattr(self, pathway.kind)
        drawn = (
            f"int(uniform_draw(seed, {in_area(Stream.WIRING, pathway.area)}, {place}, i) <"
            f" {probability!r})"
        )
        exists = parameter("connected", "1 where the synapse exists", drawn, per="synapse")
        start = f"connected * ({pathway.start})"
        return replace(pathway.adding(exists).times("connected"), start=start)


_KINDS = {"Vx": "proximal", "Vy": "distal", "Q": "inhibitory", "R": "recruitment"}


@dataclass(frozen=True)
class DalesLaw(Departure):
    """Dale's law: all synapses that a cell makes keep one sign, and a weight that would cross zero
    stays there.

    Pyramidal cells excite (R, and what they send to other areas) and interneurons inhibit (Q); a
    random half of the fibres that come from outside (Vx, Vy) is inhibitory.

    Parameters
    ----------
    weights
        Names that the paper gives to the matrices whose weights keep their sign, among "Vx", "Vy",
        "Q" and "R". In a hierarchy they stand for W, A, Q and R of each area.
    """

    weights: tuple[Annotated[str, partial(one_of, choices=tuple(_KINDS))], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alters", tuple(_KINDS[name] for name in self.weights))

    def alter(self, parts: Parts) -> Parts:
        """Give each fibre its polarity, and stop weights at zero."""
        for pathway in (pathway for kind in self.alters for pathway in parts.all(kind)):
            if pathway.bound:
                raise InputError(
                    f"the weights of {pathway.name} have a bound already, {pathway.bound}"
                )
            source, sign = parts[pathway.source], ""
            if source.kind not in ("pyramidal", "interneuron"):
                sign, place = "polarity_pre * ", int(pathway.kind == "distal")
                drawn = f"1 - 2 * int(uniform_draw(seed, {Stream.POLARITY}, {place}, i) >= 0.5)"
                meaning = "sign of all synapses that the fibre makes"
                if not source.has("polarity"):
                    parts = parts.having(
                        source.adding(Variable("polarity", meaning, role="parameter", value=drawn))
                    )
            start, bound = f"{sign}abs({pathway.start})", f"{sign}clip({sign}w, 0, inf)"
            parts = parts.having(replace(pathway, start=start, bound=bound))
        return parts
