"""Rules whose change is averaged while a sample is held: what moves is summed up, and the change formed at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from biorrr.circuit.compile.schedule import Action
from biorrr.circuit.compile.standstill import Standstill
from biorrr.models import Pathway
from biorrr.models.algebra import product, products
from biorrr.models.expressions import FUNCTIONS, names_in, renamed
from biorrr.models.meanings import Meanings
from biorrr.models.parts import PENDING

_MOST_PRODUCTS = 16  # a rule of more is not taken apart


@dataclass(frozen=True)
class _Sum:
    """What moves, summed up while a sample is held: per cell of a population, or per synapse.

    Parameters
    ----------
    part, variable
        Who keeps it, and as what.
    side
        Of the synapse on which its cell is, "pre" or "post"; empty for a sum per synapse.
    factors
        By which the synapse multiplies it; they stand still.
    """

    part: str
    variable: str
    side: str
    factors: tuple[str, ...]

    @property
    def asked(self) -> str:
        """What the synapse has been asked for, as an expression of its own."""
        return product([*self.factors, f"{self.variable}_{self.side}" if self.side else self.variable])


class _Term(NamedTuple):
    """One product of a rule, taken apart: factors that stand still, and the product of those that move.

    ``side`` is that of the synapse whose cell knows all that moves, "pre" or "post"; empty where neither does.
    ``moving`` is empty where the whole product stands still.
    """

    side: str
    still: tuple[str, ...]
    moving: str


class HeldRule:
    """A rule whose change is averaged over the time for which a sample is held.

    Attributes
    ----------
    actions
        What sums up what moves, and what shows the outcome to those who record it.
    kept
        The sums, as (part, variable).
    asked
        What the rule has asked for so far in this sample, as an expression of the synapse.
    """

    def __init__(self, meanings: Meanings, pathway: Pathway, standstill: Standstill, place: int, change: int) -> None:
        self.meanings, self.pathway, self.standstill = meanings, pathway, standstill
        self.places = (place, 0), (change, 0)
        terms = self._terms()
        sums = self._sums([term for term in terms if term.moving])
        held = [product(term.still) for term in terms if not term.moving]
        so_far = [f"(elapsed + 1) * share * ({' + '.join(held)})"] if held else []
        self.asked = " + ".join([*(each.asked for each in sums), *so_far])
        self.kept = [(each.part, each.variable) for each in sums]
        self.actions = [*(self._summing(each, moving) for each, moving in sums.items()), self._showing(change)]

    def _terms(self) -> list[_Term]:
        """Return the rule as a sum of terms."""
        found = products(self.pathway.change, self._in_one_piece)
        if len(found) > _MOST_PRODUCTS:
            found = [[self.pathway.change]]
        terms = []
        for factors in found:
            still = tuple(factor for factor in factors if self._still(names_in(factor).read))
            moving = [factor for factor in factors if factor not in still]
            side = self._side(names_in(product(moving)).read) if moving else ""
            terms.append(_Term(side, still, product(moving) if moving else ""))
        return terms

    def _sums(self, terms: list[_Term]) -> dict[_Sum, list[str]]:
        """Return the sums to keep, each with what is added to it: terms with the same still factors share one."""
        per_synapse = {term.still for term in terms if not term.side}
        if len(per_synapse) > 1:  # one sum per synapse is enough: it takes in the still factors too
            terms = [t if t.side else _Term("", (), product([*t.still, t.moving])) for t in terms]
        keeper = {"pre": self.pathway.source, "post": self.pathway.target, "": self.pathway.name}
        shared: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for term in terms:
            shared.setdefault((term.side, term.still), []).append(term.moving)
        return {
            _Sum(keeper[side], f"{self.pathway.name}_sum_{number}", side, still): moving
            for number, ((side, still), moving) in enumerate(shared.items())
        }

    def _showing(self, change: int) -> Action:
        """Return the action that shows what has been asked for: always where a step reads it, else if recorded."""
        shown = frozenset({f"{self.pathway.name}.{PENDING}"})
        others = [action for place, action in enumerate(self.standstill.actions) if place != change]
        return Action(
            f"{self.pathway.name}_pending", self.pathway.name, "integration", f"{PENDING} = {self.asked}",
            gate="waking", when="" if any(shown <= action.reads for action in others) else "recorded",
            reads=self.meanings.keys(self.pathway, names_in(self.asked).read), writes=shown,
        )  # fmt: skip

    def _summing(self, each: _Sum, terms: list[str]) -> Action:
        # A cell calls its variables by their own names.
        cell = {f"{name}_{each.side}": name for name in self.meanings.declared[each.part]} if each.side else {}
        moving = " + ".join(terms)
        code = f"{each.variable} = (1 - onset) * {each.variable} + share * ({renamed(moving, cell)})"
        return Action(
            f"{each.variable}_in_{each.part}", each.part, "integration", code, gate="waking",
            reads=self.meanings.keys(self.pathway, ("onset", "share", *names_in(moving).read)),
            writes=frozenset({f"{each.part}.{each.variable}"}),
        )  # fmt: skip

    def _still(self, names: Iterable[str]) -> bool:
        variables = self.meanings.keys(self.pathway, names)
        return all(self.standstill.of(variable, place) for variable in variables for place in self.places)

    def _in_one_piece(self, names: Iterable[str]) -> bool:
        """Return True if a sum that reads ``names`` need not be taken apart."""
        read = [name for name in names if name not in FUNCTIONS]
        return self._still(read) or bool(self._side(read))

    def _side(self, names: Iterable[str]) -> str:
        """Return the side of the synapse whose cell knows all of ``names``; empty where neither does."""
        for side, population in (("post", self.pathway.target), ("pre", self.pathway.source)):
            if all(self._known_to(population, side, name) for name in names):
                return side
        return ""

    def _known_to(self, population: str, side: str, name: str) -> bool:
        """Return True if a cell of ``population``, on that ``side`` of the synapse, has or hears ``name``."""
        here = self.meanings.find(self.pathway, name)
        there = self.meanings.find(self.meanings.parts[population], name.removesuffix(f"_{side}"))
        return (here and here.key) == (there and there.key) and (here is None or here.place != "own")
