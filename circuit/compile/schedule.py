"""The order of events within one tick, made from the phases that parts name, and checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from biorrr.circuit.compile.name_checks import (
    check_declarations,
    check_phase,
    check_values,
    check_writes,
    known_names,
    read_in,
)
from biorrr.models import PHASES, Parts, Pathway
from biorrr.models.expressions import names_in
from biorrr.models.meanings import Meanings
from biorrr.models.parts import PENDING

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


def schedule(parts: Parts) -> tuple[Action, ...]:
    """Return all that happens in a tick, in order, with successive steps of one population made one.

    Raises
    ------
    ValueError
        Where a name is not known, a rule is not local or an order cannot be satisfied; it says which and why.
    """
    check_declarations(parts)
    return merged(ordered(Meanings(parts)), parts)


def ordered(meanings: Meanings) -> list[Action]:
    """Return all that happens in a tick, in order, each step for itself; raises as :func:`schedule` does."""
    for part in meanings.parts.everything:
        check_values(meanings, part)
    actions = sorted(_actions(meanings), key=lambda action: ORDER[action.phase])  # stable: as declared within a phase
    _check_order(meanings, actions)
    return actions


def watched(meanings: Meanings) -> tuple[tuple[str, str], ...]:
    """Return what must stay finite, as (population, variable): all that teaches, in the cells whose synapses learn."""
    parts, found = meanings.parts, {}
    for pathway in parts.pathways:
        taught = [pathway.change, *(step.code for step in pathway.steps)] if pathway.change else []
        for name in dict.fromkeys(name for code in taught for name in names_in(code).read):
            meant = meanings.find(pathway, name)
            moves = meant is not None and meanings.role(meant.key) in ("activity", "memory")
            if meant is not None and moves and meant.part == pathway.target and parts[meant.part].shape:
                found[meant.part, meant.variable] = None
    return tuple(found)


def _actions(meanings: Meanings) -> Iterator[Action]:
    """Yield currents first, then what cells do, then what synapses do; :func:`schedule` sorts them by phase."""
    parts = meanings.parts
    drivers: dict[tuple[str, str], list[Pathway]] = {}
    for pathway in parts.pathways:
        check_phase(pathway.name, pathway.phase)
        for drives, _ in pathway.currents:
            if drives not in meanings.declared[pathway.target]:
                raise ValueError(
                    f"{pathway.name}.drives: {pathway.target} have no variable called {drives!r}; they have "
                    f"{', '.join(meanings.declared[pathway.target])}"
                )
            drivers.setdefault((pathway.target, drives), []).append(pathway)
    for pathway in parts.pathways:
        for drives, expression in pathway.currents:
            read = read_in(meanings, pathway, "current", expression)
            alone = len(drivers[pathway.target, drives]) == 1
            filled = drives if alone else f"{drives}_by_{pathway.name}"
            yield Action(
                f"{pathway.name}_{drives}", pathway.name, pathway.phase, expression, drives=filled,
                reads=meanings.keys(pathway, read), writes=frozenset({f"{pathway.target}.{filled}"}),
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
            yield from _plasticity(meanings, part)
        for place, step in enumerate(part.steps):
            check_phase(part.name, step.phase)
            names = known_names(
                meanings, part, f"steps[{place}]", step.code, ("i", "j") if isinstance(part, Pathway) else ("i",)
            )
            check_writes(meanings, part, names)
            yield Action(
                f"{part.name}_{step.phase.replace(' ', '_')}_{place}", part.name, step.phase, step.code,
                gate="" if step.replays else "waking", reads=meanings.keys(part, names.read),
                writes=meanings.keys(part, names.written),
            )  # fmt: skip


def _plasticity(meanings: Meanings, pathway: Pathway) -> Iterator[Action]:
    if pathway.bound:
        read_in(meanings, pathway, "bound", pathway.bound)
    for field, gate in (("change", "waking"), ("replay", "replaying")):
        expression = getattr(pathway, field)
        if expression:
            reads = meanings.keys(pathway, read_in(meanings, pathway, field, expression))
            if pathway.averaged and field == "change":
                pending = f"{pathway.name}.{PENDING}"
                yield Action(
                    f"{pathway.name}_integration", pathway.name, "integration",
                    f"pending = (1 - onset) * pending + share * ({expression})", gate=gate,
                    reads=reads | meanings.keys(pathway, ("onset", "share")), writes=frozenset({pending}),
                )  # fmt: skip
                expression = "closing * pending"
                reads = meanings.keys(pathway, ("closing", "pending"))
            yield Action(
                f"{pathway.name}_{field}", pathway.name, "plasticity", weight_change(pathway, expression), gate=gate,
                addend=expression, reads=reads | {f"{pathway.name}.w"}, writes=frozenset({f"{pathway.name}.w"}),
            )  # fmt: skip


def weight_change(pathway: Pathway, addend: str) -> str:
    """Statements that add ``addend`` to the weights and keep them to their bound."""
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
    for part, variables in meanings.declared.items():
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
