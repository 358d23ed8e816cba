"""Rules whose change is averaged while a sample is held: moving terms are summed, the change is
formed at the end.
"""

from __future__ import annotations

from collections.abc import Iterable

from biorrr.circuit.compile.schedule import Action
from biorrr.circuit.compile.standstill import Standstill
from biorrr.models import Pathway
from biorrr.models.algebra import product, products
from biorrr.models.expressions import names_in, renamed
from biorrr.models.meanings import Meanings

_MOST_PRODUCTS = 16  # a rule of more is not taken apart


class HeldRule:
    """A rule whose change is averaged over the time for which a sample is held.

    Attributes
    ----------
    actions
        The sums of moving terms.
    asked
        The change that the rule has asked for when a sample ends, as an expression of the synapse.
    """

    def __init__(
        self, meanings: Meanings, pathway: Pathway, standstill: Standstill, place: int, change: int
    ) -> None:
        self.meanings, self.pathway, self.standstill = meanings, pathway, standstill
        self.places = place, change
        self.actions: list[Action] = []
        terms = self._terms()
        sums: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        asked = [product(still) for _, still, moving in terms if not moving]
        by_synapses = {still for side, still, moving in terms if moving and not side}
        for side, still, moving in terms:
            if (
                moving and not side and len(by_synapses) > 1
            ):  # one sum is enough: it takes in the still factors too
                still, moving = (), (*still, *moving)
            if moving:
                sums.setdefault((side, still), []).append(product(moving))
        keepers = {"pre": pathway.source, "post": pathway.target, "": pathway.name}
        for number, ((side, still), added) in enumerate(sums.items()):
            variable = f"{pathway.name}_sum_{number}"
            self.actions.append(self._summing(keepers[side], variable, side, " + ".join(added)))
            asked.append(product([*still, f"{variable}_{side}" if side else variable]))
        self.asked = " + ".join(asked)

    def _terms(self) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """Return the rule as a sum of products: the side that knows what moves, the still and the
        moving factors.
        """
        found = products(self.pathway.change, self._in_one_piece)
        if len(found) > _MOST_PRODUCTS:
            found = [[self.pathway.change]]
        terms = []
        for factors in found:
            still = tuple(factor for factor in factors if self._still(names_in(factor).read))
            moving = tuple(factor for factor in factors if factor not in still)
            terms.append((self._side(names_in(product(moving)).read), still, moving))
        return terms

    def _summing(self, part: str, variable: str, side: str, moving: str) -> Action:
        """Return the action by which ``part`` adds up what moves, in a ``variable`` of its own."""
        # A cell calls its variables by their own names.
        cell = {f"{name}_{side}": name for name in self.meanings.declared[part]} if side else {}
        return Action(
            f"{variable}_in_{part}",
            part,
            "integration",
            f"{variable} = (1 - onset) * {variable} + share * ({renamed(moving, cell)})",
            gate="waking",
            reads=self.meanings.keys(self.pathway, ("onset", "share", *names_in(moving).read)),
            writes=frozenset({f"{part}.{variable}"}),
        )

    def _still(self, names: Iterable[str]) -> bool:
        variables = self.meanings.keys(self.pathway, names)
        return all(
            self.standstill.of(variable, place) for variable in variables for place in self.places
        )

    def _in_one_piece(self, names: Iterable[str]) -> bool:
        """Return True if a sum that reads ``names`` need not be taken apart."""
        return self._still(names) or bool(self._side(names))

    def _side(self, names: Iterable[str]) -> str:
        """Return the side of the synapse whose cell knows all of ``names``; empty where neither
        does.
        """
        for side, population in (("post", self.pathway.target), ("pre", self.pathway.source)):
            if all(self._known_to(population, side, name) for name in names):
                return side
        return ""

    def _known_to(self, population: str, side: str, name: str) -> bool:
        """Return True if a cell of ``population``, on that ``side`` of the synapse, has or hears
        ``name``.
        """
        here = self.meanings.find(self.pathway, name)
        there = self.meanings.find(self.meanings.parts[population], name.removesuffix(f"_{side}"))
        return (here and here.key) == (there and there.key) and (
            here is None or here.place != "own"
        )
