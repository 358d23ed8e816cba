"""Pathways between an output or interneuron and the cells that stand for it: currents fan out, spikes fan in."""

from __future__ import annotations

from biorrr.models.parts import Pathway
from biorrr.models.variables import Variable


def fan(direction: str, name: str, source: str, target: str, fills: dict[str, str], each: int, phase: str) -> Pathway:
    """Return a pathway between a population and the ``each`` cells that stand for every one of it.

    It fans "out", and hands variables of ``source`` to the cells that stand for it, or "in", and sums variables over
    the cells that stand for one of ``target``. It ``fills`` variables of the target with those of the source.
    """
    count = f"cells('{target}')"
    own = {
        "out": f"int(floor(i / {count}) == floor((i % {count}) / {each}))",
        "in": f"int(floor(floor(i / {count}) / {each}) == i % {count})",
    }
    (first, *others) = ((filled, f"own * {said}_pre") for filled, said in fills.items())
    return Pathway(
        name, source, target, *first, phase, weighted=False, sums=tuple(others),
        variables=(Variable("own", "1 where the cell stands for the other", "synapse", "parameter", own[direction]),),
        meaning=f"between {source} and {target}",
    )  # fmt: skip
