"""Pathways between an output or interneuron and the cells that stand for it: currents fan out, spikes fan in."""

from __future__ import annotations

from biorrr.models.parts import Pathway
from biorrr.models.variables import Variable


def fan_out(name: str, source: str, target: str, fills: dict[str, str], each: int, phase: str) -> Pathway:
    """Return a pathway that hands variables of one cell of ``source`` to the ``each`` cells that stand for it."""
    count = f"cells('{target}')"
    own = f"int(floor(i / {count}) == floor((i % {count}) / {each}))"
    return _between(name, source, target, fills, own, phase)


def fan_in(name: str, source: str, target: str, fills: dict[str, str], each: int, phase: str) -> Pathway:
    """Return a pathway that sums variables over the ``each`` cells of ``source`` that stand for one of ``target``."""
    count = f"cells('{target}')"
    own = f"int(floor(floor(i / {count}) / {each}) == i % {count})"
    return _between(name, source, target, fills, own, phase)


def _between(name: str, source: str, target: str, fills: dict[str, str], own: str, phase: str) -> Pathway:
    (first, *others) = ((filled, f"own * {said}_pre") for filled, said in fills.items())
    return Pathway(
        name, source, target, *first, phase, weighted=False, sums=tuple(others),
        variables=(Variable("own", "1 where the cell stands for the other", "synapse", "parameter", own),),
        meaning=f"between {source} and {target}",
    )  # fmt: skip
