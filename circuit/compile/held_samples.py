"""What a circuit need not compute again while a sample is held: its schedule with less work and the same result.

While a sample is held, inputs and weights stand still. A current made of nothing else is summed in the first tick and
kept. A rule that is a sum of products of what stands still and what moves needs one number per cell, which sums up what
moves; the product is formed when the sample ends. What stands still is found from the expressions, of any part. Where
what moves belongs to both cells of a synapse, the synapse keeps a sum of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from biorrr.circuit.compile.schedule import Action, merged, weight_change
from biorrr.models import Pathway
from biorrr.models.algebra import assignments, product, products, reduced
from biorrr.models.expressions import FUNCTIONS, names_in, renamed
from biorrr.models.meanings import Meanings
from biorrr.models.paper.clock import HoldingClock, SettlingClock
from biorrr.models.parts import PENDING

_MOST_PRODUCTS = 16  # a rule of more is not taken apart


@dataclass(frozen=True)
class Program:
    """What engines carry out in every tick.

    Parameters
    ----------
    actions
        In order.
    kept
        Sums kept while a sample is held, beyond what parts declare, as (part, variable).
    """

    actions: tuple[Action, ...]
    kept: tuple[tuple[str, str], ...] = ()


def program(meanings: Meanings, plain: list[Action], presented: Iterable[str]) -> Program:
    """Return what engines do in a tick: all that happens, less what need not be done again while a sample is held.

    Parameters
    ----------
    meanings, plain
        Meanings of names in the circuit, and what happens in a tick, in order.
    presented
        Variables that the presentation of a sample sets, as "population.variable".
    """
    parts = meanings.parts
    if not isinstance(parts["clock"], (HoldingClock, SettlingClock)):
        return Program(merged(plain, parts))
    standstill = _Standstill(meanings, plain, frozenset(presented))
    rules: dict[str, _Rule] = {}
    actions: list[Action] = []
    kept: list[tuple[str, str]] = []
    for place, action in enumerate(plain):
        part = parts[action.part]
        if isinstance(part, Pathway) and part.averaged and action.writes == {f"{part.name}.{PENDING}"}:
            rule = rules[part.name] = _Rule(meanings, part, standstill, place, _change_of(part, plain))
            actions += rule.actions
            kept += rule.kept
        elif action.part in rules and action.addend and action.gate == "waking":
            addend = f"closing * ({rules[part.name].asked})"
            reads = meanings.keys(part, names_in(addend).read) | {f"{part.name}.w"}
            actions.append(replace(action, code=weight_change(part, addend), addend=addend, reads=reads))
        elif not standstill.of_action(place):
            actions.append(action)
        elif action.drives and not action.writes.isdisjoint(standstill.moving):
            # Others change it too, such as the membrane that the current charges: the current is kept beside it.
            beside = f"{action.drives}_by_{part.name}"
            there = frozenset({f"{part.target}.{beside}"})
            actions += [
                replace(action, drives=beside, when="onset", writes=there),
                Action(
                    f"{action.name}_kept", part.target, action.phase, f"{action.drives} = {beside}",
                    reads=there, writes=action.writes,
                ),
            ]  # fmt: skip
        else:
            actions.append(replace(action, when="onset"))
    return Program(merged(actions, parts), tuple(kept))


def _change_of(pathway: Pathway, actions: list[Action]) -> int:
    """The place of the action that changes the weights of ``pathway`` when a sample ends."""
    places = [place for place, action in enumerate(actions) if action.part == pathway.name and action.addend]
    return next(place for place in places if actions[place].gate == "waking")


@dataclass(frozen=True)
class _Assignment:
    """One assignment of an action: where it stands, what it assigns to, and its value as an expression."""

    place: tuple[int, int]
    variable: str
    value: str
    reads: frozenset[str]
    # Whether it leaves its variable as it is: in all ticks of a held sample but the first; there, but for the last.
    settled: bool
    settled_until_last: bool


class _Standstill:
    """What stands still while a sample is held.

    Parameters
    ----------
    meanings, actions
        Meanings of names in the circuit, and what happens in a tick, in order.
    presented
        What the presentation sets.

    Attributes
    ----------
    moving
        Variables, as "part.variable", that are not the same from the first tick of a sample to its last.
    """

    def __init__(self, meanings: Meanings, actions: list[Action], presented: frozenset[str]) -> None:
        self.meanings, self.actions = meanings, actions
        self.lines = [
            [] if action.gate == "replaying" else list(self._assignments(place, action))
            for place, action in enumerate(actions)
        ]
        self.assigned: dict[str, list[_Assignment]] = {}
        for line in (line for lines in self.lines for line in lines):
            self.assigned.setdefault(line.variable, []).append(line)
        onset = f"{meanings.broadcast['onset']}.onset"
        self.begun = max(line.place for line in self.assigned[onset])
        inputs = {
            f"{part}.{name}": variable.per
            for part, variables in meanings.declared.items()
            for name, variable in variables.items()
            if variable.role == "input"
        }
        # What somebody else sets may change in any tick; what is presented too, once a step works on it.
        self.moving = {name for name in inputs if name in self.assigned or name not in presented} - {
            f"{meanings.broadcast['waking']}.waking"
        }
        while found := {name for name in self.assigned if name not in self.moving and self._moves(name)}:
            self.moving |= found

    def _assignments(self, place: int, action: Action) -> Iterable[_Assignment]:
        part = self.meanings.parts[action.part]
        if action.drives:
            (filled,) = action.writes
            named = [(filled, action.code)]
        elif action.addend:  # a weight is within its bound already
            named = [("w", f"w + {action.addend}")]
        else:
            named = list(assignments(action.code))
        own = {name for name, _ in named}

        def variable(name: str) -> str:
            found = self.meanings.find(part, name)
            return found.key if found else f"{action.name}:{name}" if name in own else ""

        for line, (name, value) in enumerate(named):
            later = {
                known: worth
                for known, worth in (("waking", 1), ("onset", 0))
                if variable(known) == f"{self.meanings.broadcast[known]}.{known}"
            }
            yield _Assignment(
                (place, line),
                name if action.drives else variable(name),
                value,
                frozenset(map(variable, names_in(value).read)) - {""},
                reduced(value, later) == name,
                reduced(value, {**later, "closing": 0}) == name,
            )

    def _moves(self, name: str) -> bool:
        lines = self.assigned[name]
        if all(line.settled_until_last and not line.settled for line in lines):
            return False
        if len(lines) > 1:
            return True
        (line,) = lines
        return not (line.settled or self._of_line(line))

    def _of_line(self, line: _Assignment) -> bool:
        return line.variable not in line.reads and all(self.of(name, line.place) for name in line.reads)

    def of(self, name: str, place: tuple[int, int]) -> bool:
        """Whether who reads the variable ``name`` at ``place`` finds the same in every tick of a sample."""
        if name in self.moving:
            return False
        return all(
            place <= line.place if line.settled_until_last and not line.settled else line.place < place
            for line in self.assigned.get(name, ())
        )

    def of_action(self, place: int) -> bool:
        """Whether action number ``place`` does the same in every tick of a sample."""
        action, lines = self.actions[place], self.lines[place]
        if action.addend or not lines or (place, 0) <= self.begun:
            return False
        return all(self._of_line(line) and (action.drives or line.variable not in self.moving) for line in lines)


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


class _Rule:
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

    def __init__(self, meanings: Meanings, pathway: Pathway, standstill: _Standstill, place: int, change: int) -> None:
        self.meanings, self.pathway, self.standstill, self.places = (
            meanings,
            pathway,
            standstill,
            ((place, 0), (change, 0)),
        )
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
        """Whether a sum that reads ``names`` need not be taken apart."""
        read = [name for name in names if name not in FUNCTIONS]
        return self._still(read) or bool(self._side(read))

    def _side(self, names: Iterable[str]) -> str:
        """The side of the synapse whose cell knows all of ``names``; empty where neither does."""
        for side, population in (("post", self.pathway.target), ("pre", self.pathway.source)):
            if all(self._known_to(population, side, name) for name in names):
                return side
        return ""

    def _known_to(self, population: str, side: str, name: str) -> bool:
        """Return True if a cell of ``population``, on that ``side`` of the synapse, has or hears ``name``."""
        here = self.meanings.find(self.pathway, name)
        there = self.meanings.find(self.meanings.parts[population], name.removesuffix(f"_{side}"))
        return (here and here.key) == (there and there.key) and (here is None or here.place != "own")
