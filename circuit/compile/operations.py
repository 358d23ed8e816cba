"""The operations of a circuit: what its parts do while a sample is presented, each by itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from biorrr.errors import InputError
from biorrr.models import PHASES, Parts, Pathway
from biorrr.models.expressions import names_in, silencers
from biorrr.models.meanings import Meanings

ORDER = {phase: place for place, phase in enumerate(PHASES)}


@dataclass(frozen=True)
class Operation:
    """Something that cells or synapses do.

    Parameters
    ----------
    name
        Its name, unique in the circuit.
    part, phase
        The part whose cells or synapses do it, and when within its block.
    code
        Statements. Where it ``fills`` a variable, the expression that each synapse adds to it.
    fills
        Variable of the target cells that a sum over synapses fills; empty for a step.
    silencers
        Variables as "part.variable". Where one of them is 0, a sum is 0, and a change of weights
        leaves them as they are.
    reads, writes
        Variables as "part.variable".
    block
        "onset", "tick" or "end", as its part says.
    presented
        While what is presented it happens: a "sample", an input in "replay", or both.
    """

    name: str
    part: str
    phase: str
    code: str
    fills: str = ""
    silencers: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    block: str = field(default="tick", compare=False)
    presented: tuple[str, ...] = field(default=("sample", "replay"), compare=False)

    def depends_on(self, other: Operation) -> bool:
        """Return True if it matters which of the two comes first."""
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)


def check_parts(meanings: Meanings) -> None:
    """Check that what parts broadcast, connect and call their weights is unique and there."""
    parts = meanings.parts
    for part in parts.everything:
        for variable in part.variables:
            other = meanings.broadcast.get(variable.name, part.name)
            if other != part.name and variable.per == "circuit":
                raise InputError(
                    f"{variable.name}: is broadcast by both {part.name} and {other}; rename one of"
                    " them"
                )
            if other == "clock" != part.name:
                raise InputError(
                    f"{part.name}.{variable.name}: has the name of a variable that the clock"
                    " broadcasts; give yours another name"
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
    for part in parts.everything:
        meanings.check_values(part)


def operations(meanings: Meanings) -> list[Operation]:
    """Return all operations of a circuit in the order of their phases; in a phase, currents come
    first, then what cells do, then what synapses do.
    """
    found = [*_currents(meanings), *_steps(meanings), *_changes(meanings)]
    return sorted(found, key=lambda one: ORDER[one.phase])


def _currents(meanings: Meanings) -> Iterator[Operation]:
    """Yield the sums over synapses, and the totals of those that several pathways fill."""
    pathways = meanings.parts.pathways
    drivers: dict[tuple[str, str], list[Pathway]] = {}
    for pathway in pathways:
        for drives, _ in pathway.currents:
            _check_driven(meanings, pathway, drives)
            drivers.setdefault((pathway.target, drives), []).append(pathway)
    for pathway in pathways:
        for drives, expression in pathway.currents:
            read = meanings.names(pathway, "current", expression).read
            alone = len(drivers[pathway.target, drives]) == 1
            fills = drives if alone else declare_share(meanings, pathway, drives)
            yield Operation(
                f"{pathway.name}_{drives}",
                pathway.name,
                pathway.phase,
                expression,
                fills,
                meanings.keys(pathway, silencers(expression)),
                meanings.keys(pathway, read),
                frozenset({f"{pathway.target}.{fills}"}),
            )
    for (target, drives), several in drivers.items():
        if len(several) > 1:
            shares = [f"{drives}_by_{pathway.name}" for pathway in several]
            yield Operation(
                f"{target}_{drives}_total",
                target,
                max((pathway.phase for pathway in several), key=ORDER.__getitem__),
                f"{drives} = {' + '.join(shares)}",
                reads=frozenset(f"{target}.{share}" for share in shares),
                writes=frozenset({f"{target}.{drives}"}),
            )


def declare_share(meanings: Meanings, pathway: Pathway, drives: str) -> str:
    """Give the target cells of ``pathway`` a variable for its share in the current ``drives``;
    return its name.
    """
    share = f"{drives}_by_{pathway.name}"
    meanings.declare(pathway.target, share, meanings.declared[pathway.target][drives].unit)
    return share


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


def _steps(meanings: Meanings) -> Iterator[Operation]:
    for part in meanings.parts.everything:
        for place, step in enumerate(part.steps):
            given = ("i", "j") if isinstance(part, Pathway) else ("i",)
            names = meanings.names(part, f"steps[{place}]", step.code, given)
            meanings.check_writes(part, names)
            yield Operation(
                f"{part.name}_{step.phase.replace(' ', '_')}_{place}",
                part.name,
                step.phase,
                inspect.cleandoc(step.code),
                reads=meanings.keys(part, names.read),
                writes=meanings.keys(part, names.written),
                block=step.block,
                presented=("sample", "replay") if step.replays else ("sample",),
            )


def _changes(meanings: Meanings) -> Iterator[Operation]:
    """Yield the changes of weights when a sample ends."""
    for pathway in meanings.parts.pathways:
        if pathway.bound:
            meanings.names(pathway, "bound", pathway.bound)
        for rule in ("change", "replay"):
            if addend := getattr(pathway, rule):
                meanings.names(pathway, rule, addend)
                yield weight_change(meanings, pathway, rule, addend)


def weight_change(meanings: Meanings, pathway: Pathway, rule: str, addend: str) -> Operation:
    """Return the operation that adds ``addend`` to the weights and keeps them to their bound, by
    the ``rule`` of the pathway, "change" or "replay".
    """
    code = f"w += {addend}" + (f"\nw = {pathway.bound}" if pathway.bound else "")
    return Operation(
        f"{pathway.name}_{rule}",
        pathway.name,
        "plasticity",
        code,
        silencers=meanings.keys(pathway, silencers(addend) - {"w"} | {"plastic"}),
        reads=meanings.keys(pathway, (*names_in(code).read, "plastic")),
        writes=frozenset({f"{pathway.name}.w"}),
        block="end",
        presented=("sample" if rule == "change" else "replay",),
    )


def check_order(
    meanings: Meanings, blocks: Mapping[str, Iterable[Operation]], moving: frozenset[str]
) -> None:
    """Check that every activity is computed, and before it is read, and that nothing is read at
    the onset that is ``moving``.
    """
    listed = [(block, operation) for block, several in blocks.items() for operation in several]
    computed = {key: (block, one.phase) for block, one in reversed(listed) for key in one.writes}
    for part, variables in meanings.declared.items():
        for name, variable in variables.items():
            if variable.role == "activity" and f"{part}.{name}" not in computed:
                raise InputError(
                    f"{part}.{name}: is an activity that nothing computes; add a step or a pathway"
                    " that drives it, or declare it as a parameter"
                )
    known: set[str] = set()
    for block, operation in listed:
        for key in sorted(operation.reads - known):
            part, _, variable = key.partition(".")
            if block == "onset" and key in moving:
                raise InputError(
                    f"{operation.part}: reads {variable} in block 'onset', but it changes in every"
                    " tick; move the step to block 'tick'"
                )
            if meanings.role(key) == "activity":
                there, phase = computed[key]
                here, elsewhere, before = f"block {block!r}", f"block {there!r}", "before"
                if there == block:
                    here, before = f"phase {operation.phase!r}", "the tick before"
                    elsewhere = f"phase {phase!r} of the same tick"
                raise InputError(
                    f"{operation.part}: reads {variable} of {part} in {here}, but it is computed"
                    f" only in {elsewhere}; move one of them, or declare {variable} as memory to"
                    f" read that of {before}"
                )
        known |= operation.writes


def merge(listed: Iterable[Operation], parts: Parts) -> tuple[Operation, ...]:
    """Return the operations of a block with steps of one population merged where no operation in
    between depends on the order.
    """
    out: list[Operation] = []
    for operation in listed:
        place = _place_to_join(operation, out)
        if place is None or operation.fills or isinstance(parts[operation.part], Pathway):
            out.append(operation)
        else:
            other = out[place]
            out[place] = replace(
                other,
                code=f"{other.code}\n{operation.code}",
                reads=other.reads | operation.reads,
                writes=other.writes | operation.writes,
            )
    return tuple(out)


def _place_to_join(operation: Operation, earlier: list[Operation]) -> int | None:
    """Return the place of the last step of its part that ``operation`` can join; None if there is
    none.
    """
    for place in reversed(range(len(earlier))):
        other = earlier[place]
        if not other.fills and other.part == operation.part:
            return place
        if other.depends_on(operation):
            return None
    return None
