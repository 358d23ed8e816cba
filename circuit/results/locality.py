"""Locality of plasticity rules, read from their own text."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.circuit.results.text_table import Tabled
from biorrr.models import Parts, Pathway
from biorrr.models.expressions import names_in
from biorrr.models.meanings import Meanings

_KNOWN = ("pre", "post", "own", "broadcast")  # to a synapse


@dataclass(frozen=True)
class Locality:
    """Variables that one plasticity rule reads.

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
            f"{where} {', '.join(names)}" for where in _KNOWN if (names := getattr(self, where))
        ]
        return f"{self.pathway}: {verdict}; reads {'; '.join(read)}"


class LocalityTable(Tabled, list[Locality]):
    """What each plasticity rule of a circuit reads, shown as a table."""

    def table(self) -> tuple[str, dict[str, str]]:
        """Return a title, and what each rule reads by its pathway."""
        said = (str(rule).partition(": ") for rule in self)
        return "What plasticity rules read", {pathway: text for pathway, _, text in said}


def locality(parts: Parts, pathway: Pathway) -> Locality:
    """Sort the variables that the rule of ``pathway`` reads, with its bound and steps, by where
    they live.

    The pathway need not be among the ``parts`` of the circuit.
    """
    rule = pathway.judged or pathway.change
    codes = [rule, pathway.replay, pathway.bound, *(step.code for step in pathway.steps)]
    # Names that a rule computes itself are not among those that it reads.
    read = {name for code in codes if code for name in names_in(code).read} | (
        {"w"} if pathway.plastic else set()
    )
    meanings = Meanings(parts.having(pathway))
    where: dict[str, list[str]] = {place: [] for place in (*_KNOWN, "elsewhere")}
    for name in sorted(read):
        found = meanings.find(pathway, name)
        where[found.place if found else "elsewhere"].append(found.variable if found else name)
    return Locality(pathway.name, rule, **{place: tuple(names) for place, names in where.items()})
