"""Is a plasticity rule local? Reads the rule's own text and sorts its variables by where they live."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.models import Parts, Pathway
from biorrr.models.expressions import names_in


@dataclass(frozen=True)
class Locality:
    """What one plasticity rule reads.

    Parameters
    ----------
    pathway, rule
        Whose rule, and its text.
    pre, post
        Variables of the synapse's two cells.
    own
        The synapse's own variables.
    broadcast
        What all synapses hear alike, such as the rates that the neuromodulator announces.
    elsewhere
        Everything else: what a synapse cannot know.
    """

    pathway: str
    rule: str
    pre: tuple[str, ...]
    post: tuple[str, ...]
    own: tuple[str, ...]
    broadcast: tuple[str, ...]
    elsewhere: tuple[str, ...]

    @property
    def local(self) -> bool:
        """True where the rule reads nothing from elsewhere."""
        return not self.elsewhere

    def __str__(self) -> str:
        if not self.rule:
            return f"{self.pathway}: does not learn"
        verdict = "local" if self.local else f"NOT local: reads {', '.join(self.elsewhere)}"
        read = [
            f"{where} {', '.join(names)}"
            for where in ("pre", "post", "own", "broadcast")
            if (names := getattr(self, where))
        ]
        return f"{self.pathway}: {verdict}; reads {'; '.join(read)}"


def locality(parts: Parts, pathways: tuple[Pathway, ...] | None = None) -> list[Locality]:
    """Inspect the rules of ``pathways``, or of all plastic ones among ``parts``."""
    return [inspect_rule(parts, p) for p in pathways or [p for p in parts.pathways if p.weighted]]


def inspect_rule(parts: Parts, pathway: Pathway) -> Locality:
    """Sort the variables of one rule, with its bound and the steps that go with it, by where they live."""
    codes = [pathway.change, pathway.replay, pathway.bound, *(step.code for step in pathway.steps)]
    found = [names_in(code) for code in codes if code]
    # What the rule itself computes on the way, it knows.
    read = {name for names in found for name in names.read} | ({"w"} if pathway.plastic else set())
    read |= {"onset", "share", "closing"} if pathway.averaged else set()
    held = {
        "pre": {variable.name for variable in parts[pathway.source].variables},
        "post": {variable.name for variable in parts[pathway.target].variables},
    }
    own = {"w", *(variable.name for variable in pathway.variables)}
    broadcast = {v.name for p in parts.populations for v in p.variables if v.per == "circuit"}
    where: dict[str, list[str]] = {place: [] for place in ("pre", "post", "own", "broadcast", "elsewhere")}
    for name in sorted(read):
        stem, _, side = name.rpartition("_")
        if name in own:
            where["own"].append(name)
        elif side in held and stem in held[side]:
            where[side].append(stem)
        elif name in broadcast:
            where["broadcast"].append(name)
        else:
            where["elsewhere"].append(name)
    return Locality(pathway.name, pathway.change, **{place: tuple(names) for place, names in where.items()})
