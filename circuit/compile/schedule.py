"""The order of events within one tick, made from the phases that parts name, and checked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace

from biorrr.errors import InputError
from biorrr.models import PHASES, Parts, Pathway
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
        The ticks in which it happens: "waking", those of a sample; "onset", its first; "closing",
        its last; "replaying", those of spontaneous replay; "presented", the first of a sample and
        those of replay. All if empty.
    addend
        For plasticity, what is added to `w`; else empty.
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
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def depends_on(self, other: Action) -> bool:
        """Return True if it matters which of the two comes first."""
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)


def _check_declarations(parts: Parts) -> None:
    """Check that what parts broadcast, connect and call their weights is unique and there."""
    broadcast: dict[str, str] = {}
    declared = [(part, variable) for part in parts.everything for variable in part.variables]
    for part, variable in declared:
        first = (
            broadcast.setdefault(variable.name, part.name)
            if variable.per == "circuit"
            else part.name
        )
        if first != part.name:
            raise InputError(
                f"{variable.name}: is broadcast by both {first} and {part.name}; rename one of them"
            )
    for part, variable in declared:
        if broadcast.get(variable.name) == "clock" != part.name:
            raise InputError(
                f"{part.name}.{variable.name}: has the name of a variable that the clock"
                " broadcasts, by which samples are held and weights change; give yours another"
                " name"
            )
    populations = [population.name for population in parts.populations]
    weights = [pathway.weight for pathway in parts.weighted]
    for pathway in parts.pathways:
        for end, name in (("source", pathway.source), ("target", pathway.target)):
            if name not in populations:
                have = ", ".join(populations)
                raise InputError(
                    f"{pathway.name}.{end}: there is no population called {name!r}; there are"
                    f" {have}"
                )
        if weights.count(pathway.weight) > 1:
            raise InputError(
                f"{pathway.weight}: names the weights of two pathways; give one of them another"
                " name"
            )


def ordered(meanings: Meanings) -> list[Action]:
    """Return all that happens in a tick, in order, each step by itself.

    Raises
    ------
    InputError
        If a name is not known, a rule is not local or an order cannot be satisfied; it says which
        and why.
    """
    _check_declarations(meanings.parts)
    for part in meanings.parts.everything:
        meanings.check_values(part)
    actions = sorted(
        _actions(meanings), key=lambda action: ORDER[action.phase]
    )  # stable: as declared within a phase
    _check_order(meanings, actions)
    return actions


def _actions(meanings: Meanings) -> Iterator[Action]:
    """Yield currents first, then what cells do, then what synapses do; :func:`ordered` sorts them
    by phase.
    """
    parts = meanings.parts
    drivers: dict[tuple[str, str], list[Pathway]] = {}
    for pathway in parts.pathways:
        for drives, _ in pathway.currents:
            _check_driven(meanings, pathway, drives)
            drivers.setdefault((pathway.target, drives), []).append(pathway)
    for pathway in parts.pathways:
        for drives, expression in pathway.currents:
            read = meanings.names(pathway, "current", expression).read
            alone = len(drivers[pathway.target, drives]) == 1
            filled = drives if alone else f"{drives}_by_{pathway.name}"
            yield Action(
                f"{pathway.name}_{drives}",
                pathway.name,
                pathway.phase,
                expression,
                drives=filled,
                reads=meanings.keys(pathway, read),
                writes=frozenset({f"{pathway.target}.{filled}"}),
            )
    for (target, drives), pathways in drivers.items():
        if (
            len(pathways) > 1
            # Brian2 lets one pathway fill a variable: each gets its own, then they add up
        ):
            shares = [f"{drives}_by_{pathway.name}" for pathway in pathways]
            last = max((pathway.phase for pathway in pathways), key=ORDER.__getitem__)
            yield Action(
                f"{target}_{drives}_total",
                target,
                last,
                f"{drives} = {' + '.join(shares)}",
                reads=frozenset(f"{target}.{share}" for share in shares),
                writes=frozenset({f"{target}.{drives}"}),
            )
    for part in parts.everything:
        if isinstance(part, Pathway):
            yield from _plasticity(meanings, part)
        for place, step in enumerate(part.steps):
            given = ("i", "j") if isinstance(part, Pathway) else ("i",)
            names = meanings.names(part, f"steps[{place}]", step.code, given)
            meanings.check_writes(part, names)
            gate = "closing" if step.at_end else "" if step.replays else "waking"
            yield Action(
                f"{part.name}_{step.phase.replace(' ', '_')}_{place}",
                part.name,
                step.phase,
                step.code,
                gate=gate,
                reads=meanings.keys(part, (*names.read, *([gate] if gate else []))),
                writes=meanings.keys(part, names.written),
            )


def _check_driven(meanings: Meanings, pathway: Pathway, drives: str) -> None:
    """Check that synapses can add up in the variable ``drives`` of the target cells."""
    declared = meanings.declared[pathway.target]
    if drives not in declared:
        raise InputError(
            f"{pathway.name}.drives: {pathway.target} have no variable called {drives!r}; they have"
            f" {', '.join(declared)}"
        )
    if declared[drives].per == "population" or declared[drives].role in ("parameter", "input"):
        raise InputError(
            f"{pathway.name}.drives: must be an activity of each cell (got {drives}, declared as "
            f"{declared[drives].role} per {declared[drives].per})"
        )


def _plasticity(meanings: Meanings, pathway: Pathway) -> Iterator[Action]:
    if pathway.bound:
        meanings.names(pathway, "bound", pathway.bound)
    for field, gate in (("change", "waking"), ("replay", "replaying")):
        expression = getattr(pathway, field)
        if expression:
            reads = meanings.keys(pathway, meanings.names(pathway, field, expression).read)
            if pathway.averaged and field == "change":
                asked = f"{pathway.name}_asked"
                kept = frozenset({f"{pathway.name}.{asked}"})
                yield Action(
                    f"{pathway.name}_integration",
                    pathway.name,
                    "integration",
                    f"{asked} = (1 - onset) * {asked} + share * ({expression})",
                    gate=gate,
                    reads=reads | meanings.keys(pathway, ("onset", "share")),
                    writes=kept,
                )
                expression = f"closing * {asked}"
                reads = meanings.keys(pathway, ("closing",)) | kept
            yield Action(
                f"{pathway.name}_{field}",
                pathway.name,
                "plasticity",
                weight_change(pathway, expression),
                gate=gate,
                addend=expression,
                reads=reads | {f"{pathway.name}.w"},
                writes=frozenset({f"{pathway.name}.w"}),
            )


def weight_change(pathway: Pathway, addend: str) -> str:
    """Return statements that add ``addend`` to the weights and keep them to their bound."""
    return f"w += {addend}" + (f"\nw = {pathway.bound}" if pathway.bound else "")


def _check_order(meanings: Meanings, actions: list[Action]) -> None:
    """Check that every activity is computed, and before it is read."""
    computed = {name: action.phase for action in reversed(actions) for name in action.writes}
    known: set[str] = set()
    for action in actions:
        for name in sorted(action.reads - known):
            part, _, variable = name.partition(".")
            if meanings.role(name) == "activity":
                if name not in computed:
                    raise InputError(
                        f"{action.part}: reads {variable} of {part}, which nothing computes; add a"
                        " step, or a pathway that drives it"
                    )
                raise InputError(
                    f"{action.part}: reads {variable} of {part} in phase {action.phase!r}, but it"
                    f" is computed only in phase {computed[name]!r} of the same tick; move one of"
                    f" them, or declare {variable} as memory to read that of the tick before"
                )
        known |= action.writes
    for part, variables in meanings.declared.items():
        for name, variable in variables.items():
            if variable.role == "activity" and f"{part}.{name}" not in computed:
                raise InputError(
                    f"{part}.{name}: is an activity that nothing computes; add a step or a pathway"
                    " that drives it, or declare it as a parameter"
                )


def merged(actions: list[Action], parts: Parts) -> tuple[Action, ...]:
    """Return ``actions`` with steps of one population merged where no action in between depends on
    the order.
    """
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
    """Return the place of the last step that ``action`` can join: of its part, and as often; None
    if there is none.
    """
    for place in reversed(range(len(earlier))):
        other = earlier[place]
        if not other.drives and (other.part, other.gate) == (action.part, action.gate):
            return place
        if other.depends_on(action):
            return None
    return None


def _joined(one: Action, other: Action) -> Action:
    """Return two steps of one part as one, the second after the first."""
    code = "\n".join(inspect.cleandoc(step.code) for step in (one, other))
    return replace(one, code=code, reads=one.reads | other.reads, writes=one.writes | other.writes)
