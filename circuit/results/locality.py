"""Locality of plasticity rules, read from their own text."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from biorrr.models import Parts, Pathway
from biorrr.models.expressions import names_in
from biorrr.models.meanings import Meanings


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
            f"{where} {', '.join(names)}"
            for where in ("pre", "post", "own", "broadcast")
            if (names := getattr(self, where))
        ]
        return f"{self.pathway}: {verdict}; reads {'; '.join(read)}"


class LocalityTable(list[Locality]):
    """What each plasticity rule of a circuit reads, shown as a table."""

    columns = ("pathway", "pre", "post", "own", "broadcast", "elsewhere", "verdict")

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table, a row for each pathway."""
        places = self.columns[1:-1]
        return [
            (
                rule.pathway,
                *(", ".join(getattr(rule, place)) for place in places),
                "does not learn" if not rule.rule else "local" if rule.local else "NOT local",
            )
            for rule in self
        ]

    def __str__(self) -> str:
        lines = [self.columns, *self.rows()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows()
        )
        return f"<table><tr>{head}</tr>{body}</table>"


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
    where: dict[str, list[str]] = {
        place: [] for place in ("pre", "post", "own", "broadcast", "elsewhere")
    }
    for name in sorted(read):
        found = meanings.find(pathway, name)
        where[found.place if found else "elsewhere"].append(found.variable if found else name)
    return Locality(pathway.name, rule, **{place: tuple(names) for place, names in where.items()})
