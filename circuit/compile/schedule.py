"""What happens within one tick, in order: made from the phases that parts name, and checked.

Every name that a part uses is looked up here, when a circuit is made: what nobody declares, what a synapse cannot
know, and what is read before it is there is said in one sentence, long before Brian2 sees any of it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from biorrr.models import PHASES, Parts, Pathway, Population, Variable
from biorrr.models.expressions import FUNCTIONS, Names, names_in
from biorrr.models.meanings import Meanings

ORDER = {phase: place for place, phase in enumerate(PHASES)}


@dataclass(frozen=True)
class Action:
    """One thing that happens in every tick.

    Parameters
    ----------
    name, part, phase
        What it is called, whose it is, and when it happens.
    code
        Statements; for a current the expression that is summed.
    drives
        For a current, the target cell's variable that it fills; else empty.
    gate
        "waking" for what happens while a sample is presented only, "replaying" for what happens in spontaneous replay
        only; else empty.
    addend
        For plasticity, what is added to `w`; else empty.
    when
        Of the ticks in which it happens only "onset", the first for which a sample is held, and those of spontaneous
        replay; or only those that are "recorded". Else empty.
    reads, writes
        Variables as "part.variable".
    """

    name: str
    part: str
    phase: str
    code: str
    drives: str = ""
    gate: str = ""
    addend: str = ""
    when: str = ""
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def minds(self, other: Action) -> bool:
        """Whether it matters which of the two comes first."""
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)


class Book:
    """Who declares what in a circuit.

    Parameters
    ----------
    parts
        The circuit's populations and pathways.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.declared: dict[str, dict[str, Variable]] = {}
        self.broadcast: dict[str, str] = {}
        self.meanings = Meanings(lambda part, name: name in self.declared[part], self.broadcast)
        for part in parts.everything:
            self._enter(part)
        of_the_clock = {name for name, holder in self.broadcast.items() if holder == "clock"}
        for part in parts.everything:
            for name in of_the_clock & self.declared[part.name].keys() if part.name != "clock" else ():
                raise ValueError(
                    f"{part.name}.{name}: has the name of a variable that the clock broadcasts, by which samples are "
                    "held and weights change; give yours another name"
                )
        for pathway in parts.pathways:
            for end in ("source", "target"):
                if getattr(pathway, end) not in [p.name for p in parts.populations]:
                    have = ", ".join(p.name for p in parts.populations)
                    wrong = getattr(pathway, end)
                    raise ValueError(f"{pathway.name}.{end}: there is no population called {wrong!r}; there are {have}")
        weights = [p.weight for p in parts.pathways if p.weighted]
        for weight in weights:
            if weights.count(weight) > 1:
                raise ValueError(f"{weight}: names the weights of two pathways; give one of them another name")

    def _enter(self, part: Population | Pathway) -> None:
        own = self.declared[part.name] = {}
        synaptic = isinstance(part, Pathway)
        for variable in part.variables:
            if variable.name in own:
                raise ValueError(f"{part.name}: declares {variable.name} twice; one declaration is enough")
            if synaptic != (variable.per in ("synapse", "pathway")):
                who = "synapses" if synaptic else "cells"
                raise ValueError(
                    f"{part.name}.{variable.name}: is declared per {variable.per}, but {part.name} are {who}; "
                    f"per must be {'synapse or pathway' if synaptic else 'cell, population or circuit'}"
                )
            if variable.per == "circuit":
                if part.size != 1:  # type: ignore[union-attr]
                    raise ValueError(
                        f"{part.name}.{variable.name}: is declared per circuit, but {part.name} do not have exactly "
                        "one cell; what is broadcast needs a population of size 1"
                    )
                if variable.name in self.broadcast:
                    raise ValueError(
                        f"{variable.name}: is broadcast by both {self.broadcast[variable.name]} and {part.name}; "
                        "rename one of them"
                    )
                self.broadcast[variable.name] = part.name
            own[variable.name] = variable
        if isinstance(part, Pathway):
            if part.weighted:
                own["w"] = _UNCHECKED_WEIGHT
            if part.plastic:
                own["plastic"] = _UNCHECKED_PLASTIC
            if part.averaged:
                if PENDING.name in own:
                    raise ValueError(
                        f"{part.name}: declares {PENDING.name}, where what its rule asks for is kept while a sample is "
                        "held; give your variable another name"
                    )
                own[PENDING.name] = PENDING

    def look_up(self, part: str, name: str) -> str | None:
        """Return what ``name`` means in the code of ``part``, as "part.variable"; None where it means nothing."""
        found = self.meanings.find(self.parts[part], name)
        return found.key if found else None

    def qualified(self, part: Population | Pathway, names: Iterable[str]) -> frozenset[str]:
        """``names`` in the code of ``part`` as "part.variable", less those that live within the code alone."""
        return frozenset(filter(None, (self.look_up(part.name, name) for name in names)))

    def names(self, part: Population | Pathway, where: str, code: str, given: tuple[str, ...] = ()) -> Names:
        """The names in ``code`` of ``part``, each known or among ``given``; ``where`` names the code in errors."""
        where = f"{part.name}.{where}"
        try:
            found = names_in(code)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        for name in found.called:
            if name not in FUNCTIONS and name not in given:
                raise ValueError(f"{where}: calls {name}, which is not a function; there are {', '.join(FUNCTIONS)}")
        for name in found.read:
            if name not in given and self.look_up(part.name, name) is None:
                raise ValueError(f"{where}: reads {name}, {self._why_unknown(part, name)}")
        return found

    def _why_unknown(self, part: Population | Pathway, name: str) -> str:
        holders = [p.name for p in self.parts.populations if name in self.declared[p.name]]
        matrices = [p.name for p in self.parts.pathways if name in (p.name, p.weight)]
        if isinstance(part, Pathway) and (holders or matrices):
            hint = f"; write {name}_pre or {name}_post for that of its own two cells" if holders else ""
            return (
                f"which belongs to {(holders or matrices)[0]} and is not local: a synapse knows its weight w, its own "
                f"variables, what its two cells have and what is broadcast{hint}"
            )
        if holders:
            return (
                f"which belongs to {holders[0]}; cells know their own variables and what is broadcast, and need a "
                "Pathway to hear of others"
            )
        near = difflib.get_close_matches(name, self._known_to(part), n=1, cutoff=0.75)
        meant = f"did you mean {near[0]}? Else " if near else ""
        return (
            f"which nobody declares; {meant}add Variable({name!r}, ...) to {part.name}, with a value where it is a "
            "parameter"
        )

    def _known_to(self, part: Population | Pathway) -> list[str]:
        """Return all names that the code of ``part`` can use."""
        known = [*self.declared[part.name], *self.broadcast]
        if isinstance(part, Pathway):
            for end, side in ((part.source, "pre"), (part.target, "post")):
                known += [f"{name}_{side}" for name in self.declared[end]]
        return known


_UNCHECKED_WEIGHT = Variable("weight", per="synapse", role="memory")
_UNCHECKED_PLASTIC = Variable("plasticity", per="population", role="parameter")
# Of every pathway whose change is averaged.
PENDING = Variable("pending", "what the rule has asked for so far in this sample", per="synapse")


def schedule(parts: Parts) -> tuple[Action, ...]:
    """All that happens in a tick, in order, with successive steps of one population made one.

    Raises
    ------
    ValueError
        Where a name is not known, a rule is not local or an order cannot be satisfied; it says which and why.
    """
    return merged(ordered(Book(parts)), parts)


def ordered(book: Book) -> list[Action]:
    """All that happens in a tick, in order, each step for itself; raises as :func:`schedule` does."""
    for part in book.parts.everything:
        _check_values(book, part)
    actions = sorted(_actions(book), key=lambda action: ORDER[action.phase])  # stable: as declared within a phase
    _check_order(book, actions)
    return actions


_MOVING = ("activity", "memory")


def watched(book: Book) -> tuple[tuple[str, str], ...]:
    """Return what must stay finite, as (population, variable): all that teaches, in the cells whose synapses learn."""
    parts, found = book.parts, {}
    for pathway in parts.pathways:
        taught = [pathway.change, *(step.code for step in pathway.steps)] if pathway.change else []
        for name in dict.fromkeys(name for code in taught for name in names_in(code).read):
            part, _, variable = (book.look_up(pathway.name, name) or "").partition(".")
            if (
                part == pathway.target
                and book.declared[part][variable].role in ("activity", "memory")
                and parts[part].shape
            ):
                found[part, variable] = None
    return tuple(found)


def _check_values(book: Book, part: Population | Pathway) -> None:
    """Values of parameters and memories, and the weights a pathway begins with."""
    for variable in part.variables:
        if isinstance(variable.value, str):
            names = book.names(part, f"{variable.name}.value", variable.value, ("seed", "i", "cells", "relaxation"))
            _check_expression(part, f"{variable.name}.value", names)
            for name in names.read:
                qualified = book.look_up(part.name, name)
                if qualified and name != "seed" and _role(book, qualified) != "parameter":
                    raise ValueError(
                        f"{part.name}.{variable.name}.value: reads {name}, which is not a parameter; a value is found "
                        "once, before the circuit runs"
                    )
        scale = names_in(variable.scale)
        unknown = [name for name in scale.read if name not in ("x", "y", "z", "a", "n")]
        if unknown:
            raise ValueError(
                f"{part.name}.{variable.name}.scale: must be a product of powers of x, y, z, a and n (got "
                f"{variable.scale!r})"
            )
    if isinstance(part, Pathway) and part.weighted:
        _check_expression(part, "start", book.names(part, "start", part.start))


def _check_expression(part: Population | Pathway, where: str, names: Names) -> None:
    if names.written:
        raise ValueError(
            f"{part.name}.{where}: must be an expression, not a statement (it assigns to {names.written[0]}); what is "
            "added to w is written without 'w +='"
        )


def _role(book: Book, qualified: str) -> str:
    part, _, variable = qualified.partition(".")
    return book.declared[part][variable].role


def _actions(book: Book) -> Iterator[Action]:
    """Currents first, then what cells do, then what synapses do; :func:`schedule` sorts them by phase."""
    parts = book.parts
    drivers: dict[tuple[str, str], list[Pathway]] = {}
    for pathway in parts.pathways:
        _check_phase(pathway.name, pathway.phase)
        for drives, _ in pathway.currents:
            if drives not in book.declared[pathway.target]:
                raise ValueError(
                    f"{pathway.name}.drives: {pathway.target} have no variable called {drives!r}; they have "
                    f"{', '.join(book.declared[pathway.target])}"
                )
            drivers.setdefault((pathway.target, drives), []).append(pathway)
    for pathway in parts.pathways:
        for drives, expression in pathway.currents:
            names = book.names(pathway, "current", expression)
            _check_expression(pathway, "current", names)
            alone = len(drivers[pathway.target, drives]) == 1
            filled = drives if alone else f"{drives}_by_{pathway.name}"
            yield Action(
                f"{pathway.name}_{drives}", pathway.name, pathway.phase, expression, drives=filled,
                reads=book.qualified(pathway, names.read), writes=frozenset({f"{pathway.target}.{filled}"}),
            )  # fmt: skip
    for (target, drives), pathways in drivers.items():
        if len(pathways) > 1:  # Brian2 lets but one pathway fill a variable: each gets one of its own, then they add up
            shares = [f"{drives}_by_{pathway.name}" for pathway in pathways]
            last = max((pathway.phase for pathway in pathways), key=ORDER.__getitem__)
            yield Action(
                f"{target}_{drives}_total", target, last, f"{drives} = {' + '.join(shares)}",
                reads=frozenset(f"{target}.{share}" for share in shares), writes=frozenset({f"{target}.{drives}"}),
            )  # fmt: skip
    for part in parts.everything:
        if isinstance(part, Pathway):
            yield from _plasticity(book, part)
        for place, step in enumerate(part.steps):
            _check_phase(part.name, step.phase)
            names = book.names(part, f"steps[{place}]", step.code, ("i", "j") if isinstance(part, Pathway) else ("i",))
            _check_writes(book, part, names)
            yield Action(
                f"{part.name}_{step.phase.replace(' ', '_')}_{place}", part.name, step.phase, step.code,
                gate="" if step.replays else "waking", reads=book.qualified(part, names.read),
                writes=book.qualified(part, names.written),
            )  # fmt: skip


def _plasticity(book: Book, pathway: Pathway) -> Iterator[Action]:
    if pathway.bound:
        _check_expression(pathway, "bound", book.names(pathway, "bound", pathway.bound))
    for field, gate in (("change", "waking"), ("replay", "replaying")):
        expression = getattr(pathway, field)
        if expression:
            names = book.names(pathway, field, expression)
            _check_expression(pathway, field, names)
            reads = book.qualified(pathway, names.read)
            if pathway.averaged and field == "change":
                pending = f"{pathway.name}.{PENDING.name}"
                yield Action(
                    f"{pathway.name}_integration", pathway.name, "integration",
                    f"pending = (1 - onset) * pending + share * ({expression})", gate=gate,
                    reads=reads | book.qualified(pathway, ("onset", "share")), writes=frozenset({pending}),
                )  # fmt: skip
                expression = "closing * pending"
                reads = book.qualified(pathway, ("closing", "pending"))
            yield Action(
                f"{pathway.name}_{field}", pathway.name, "plasticity", weight_change(pathway, expression), gate=gate,
                addend=expression, reads=reads | {f"{pathway.name}.w"}, writes=frozenset({f"{pathway.name}.w"}),
            )  # fmt: skip


def weight_change(pathway: Pathway, addend: str) -> str:
    """Statements that add ``addend`` to the weights and keep them to their bound."""
    return f"w += {addend}" + (f"\nw = {pathway.bound}" if pathway.bound else "")


def _check_phase(part: str, phase: str) -> None:
    if phase not in PHASES:
        raise ValueError(f"{part}.phase: there is no phase called {phase!r}; in order there are {', '.join(PHASES)}")


def _check_writes(book: Book, part: Population | Pathway, names: Names) -> None:
    for name in names.written:
        qualified = book.look_up(part.name, name)
        if name in book.declared[part.name] and name != "plastic":
            if _role(book, f"{part.name}.{name}") == "parameter":
                raise ValueError(
                    f"{part.name}: a step assigns to {name}, which is a parameter; declare it as memory to change it"
                )
        elif qualified is not None:
            raise ValueError(
                f"{part.name}: a step assigns to {name}, which belongs to {qualified.partition('.')[0]}; a part "
                "changes its own variables only"
            )


def _check_order(book: Book, actions: list[Action]) -> None:
    """Every activity is there before it is read, and somebody computes it."""
    computed = {name: action.phase for action in reversed(actions) for name in action.writes}
    known: set[str] = set()
    for action in actions:
        for name in sorted(action.reads - known):
            part, _, variable = name.partition(".")
            if variable in book.declared[part] and _role(book, name) == "activity":
                if name not in computed:
                    raise ValueError(
                        f"{action.part}: reads {variable} of {part}, which nothing computes; add a step, or a pathway "
                        "that drives it"
                    )
                raise ValueError(
                    f"{action.part}: reads {variable} of {part} in phase {action.phase!r}, but it is computed only in "
                    f"phase {computed[name]!r} of the same tick; move one of them, or declare {variable} as memory to "
                    "read that of the tick before"
                )
        known |= action.writes
    for part, variables in book.declared.items():
        for name, variable in variables.items():
            if variable.role == "activity" and f"{part}.{name}" not in computed:
                raise ValueError(
                    f"{part}.{name}: is an activity that nothing computes; add a step or a pathway that drives it, or "
                    "declare it as a parameter"
                )


def merged(actions: list[Action], parts: Parts) -> tuple[Action, ...]:
    """Return ``actions`` with steps of one population merged where no action in between depends on the order."""
    populations = {population.name for population in parts.populations}
    out: list[Action] = []
    for action in actions:
        is_step = action.part in populations and not action.drives
        place = _place_to_join(action, out) if is_step else None
        if place is None:
            out.append(action)
        else:
            out[place] = _joined(out[place], action)
    return tuple(out)


def _place_to_join(action: Action, earlier: list[Action]) -> int | None:
    """Return the place of the last step that ``action`` can join: of its part, and as often; None if there is none."""
    for place in reversed(range(len(earlier))):
        other = earlier[place]
        if not other.drives and (other.part, other.gate, other.when) == (action.part, action.gate, action.when):
            return place
        if other.minds(action):
            return None
    return None


def _joined(one: Action, other: Action) -> Action:
    """Return two steps of one part as one, the second after the first."""
    code = "\n".join(_dedented(step.code) for step in (one, other))
    return replace(one, code=code, reads=one.reads | other.reads, writes=one.writes | other.writes)


def _dedented(code: str) -> str:
    return "\n".join(line.strip() for line in code.splitlines() if line.strip())
