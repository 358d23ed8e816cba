"""The program of a circuit, from which engines and exports are written.

It is the loop::

    for sample:  show(x, y); run(onset)     # currents of held inputs, rates
        for tick in held: run(tick)         # membranes, recurrent currents, sums over the sample
        run(end)                            # weights change
        for i in replay: show(e_i, 0); the same three blocks of its own

Parts say to which block their steps and rules belong. Where a sample is held for many ticks, two
things are added. What reads only what stands still meanwhile is done once, at the onset. And a rule
that is averaged over the ticks is summed up term by term, by the cells that know what moves, so
that synapses change once, when the sample ends.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from biorrr.circuit.compile.operations import (
    ORDER,
    Operation,
    check_order,
    check_parts,
    declare_share,
    merge,
    operations,
    weight_change,
)
from biorrr.models import BLOCKS, Parts, Pathway
from biorrr.models.expressions import add, names_in, product, rename, terms_of
from biorrr.models.meanings import Meanings

Blocks = dict[str, tuple[Operation, ...]]  # operations by block, each block in order


@dataclass(frozen=True)
class Program:
    """What a circuit does with each sample, and with each input in replay.

    Parameters
    ----------
    sample, replay
        The blocks of both, by name.
    meanings
        Meanings of names in the code of operations.
    """

    sample: Blocks
    replay: Blocks
    meanings: Meanings

    @property
    def blocks(self) -> list[tuple[str, str, tuple[Operation, ...]]]:
        """All blocks, as ("sample" or "replay", name, operations)."""
        sample = [("sample", *block) for block in self.sample.items()]
        return sample + [("replay", *block) for block in self.replay.items()]

    @functools.cached_property
    def operations(self) -> tuple[Operation, ...]:
        """All operations, each once, in the order in which they first happen."""
        return tuple(dict.fromkeys(one for _, _, block in self.blocks for one in block))


def compile_program(parts: Parts, moving: frozenset[str] = frozenset()) -> Program:
    """Return the program of a circuit.

    Parameters
    ----------
    parts
        The circuit's populations and pathways.
    moving
        Inputs that change in every tick, as "population.variable".

    Raises
    ------
    InputError
        If a name is not known, a rule is not local or an order cannot be satisfied; it says which
        and why.
    """
    meanings, clock = Meanings(parts), parts["clock"]
    check_parts(meanings)
    listed = operations(meanings)
    moving |= {"clock.elapsed", "clock.moment"}
    if "elapsed" in clock.declared:  # a sample is held for many ticks
        listed, sample, still = _promote(meanings, listed, "sample", moving)
        sample = _sum_rules(meanings, sample, still)
    else:
        sample = _in_blocks(listed, "sample")
    check_order(meanings, sample, moving)
    if "replay_duration" in clock.declared:  # a replay is held for many ticks
        replay = _promote(meanings, listed, "replay", moving)[1]
    else:
        replay = _in_blocks(listed, "replay")
    replay = _without_idle(meanings, replay)
    return Program(*_merge_blocks(parts, sample, replay), meanings)


def _in_blocks(listed: Iterable[Operation], presented: str) -> Blocks:
    """Return the operations that happen while a "sample", or a "replay", is presented."""
    chosen = [one for one in listed if presented in one.presented]
    return {name: tuple(one for one in chosen if one.block == name) for name in BLOCKS}


def _without_idle(meanings: Meanings, blocks: Blocks) -> Blocks:
    """Return ``blocks`` without what leaves no trace: activities are computed anew before they are
    read, so that only memories outlast a replay, and what they follow from.
    """
    every = [operation for block in blocks.values() for operation in block]
    kept: set[Operation] = set()
    wanted = {key for one in every for key in one.writes if meanings.role(key) != "activity"}
    while found := {one for one in every if one not in kept and one.writes & wanted}:
        kept |= found
        wanted |= {key for one in found for key in one.reads}
    return {name: tuple(one for one in block if one in kept) for name, block in blocks.items()}


# -- what is done once -----------------------------------------------------------------------------


def _promote(
    meanings: Meanings, listed: list[Operation], presented: str, moving: frozenset[str]
) -> tuple[list[Operation], Blocks, frozenset[str]]:
    """Move to the onset what has the same result in every tick of what is ``presented``.

    A current that stands still in a variable that moves, such as that of a membrane, is kept in a
    variable beside it. Returns the operations with these, their blocks, and the variables that are
    the same from the first tick to the last.
    """
    while True:
        once, still = _done_once(meanings, listed, presented, moving)
        rewritten = _writes(
            one
            for one in listed
            if one.block == "tick" and one not in once and presented in one.presented
        )
        beside = [one for one in once if one.writes & rewritten]
        if not beside:
            break
        listed = [
            each
            for one in listed
            for each in (_keep_beside(meanings, one) if one in beside else [one])
        ]
    early = [replace(one, block="onset") if one in once else one for one in listed]
    return listed, _in_blocks(early, presented), still


def _keep_beside(meanings: Meanings, current: Operation) -> list[Operation]:
    """Return a ``current`` that fills a variable of its own, and the step that takes it over."""
    pathway = meanings.parts[current.part]
    share = declare_share(meanings, pathway, current.fills)
    there = frozenset({f"{pathway.target}.{share}"})
    step = replace(
        current,
        name=f"{current.name}_kept",
        part=pathway.target,
        code=f"{current.fills} = {share}",
        fills="",
        silencers=frozenset(),
        reads=there,
    )
    return [replace(current, fills=share, writes=there), step]


def _done_once(
    meanings: Meanings, listed: Sequence[Operation], presented: str, moving: frozenset[str]
) -> tuple[list[Operation], frozenset[str]]:
    """Return those operations of every tick that need be done but once, and the variables that
    stand still.

    Such an operation reads only what stands still. What it writes is not read before it in the
    tick, and, unless it is a current, written by nothing that is done in every tick.
    """
    chosen = [one for one in listed if presented in one.presented]
    ticks = [one for one in chosen if one.block == "tick"]
    given = (
        (meanings.keys_of("memory") - _writes(ticks))
        | meanings.keys_of("parameter")
        | (meanings.keys_of("input") - moving)
    )
    once = ticks
    while True:
        often = _writes(one for one in ticks if one not in once)
        still, read = given - often, frozenset[str]()
        found: list[Operation] = []
        for place, one in enumerate(chosen):
            later = _writes(other for other in chosen[place:] if other.block == "onset")
            taken = read | later | (frozenset() if one.fills else often)
            if one in once and one.reads <= still - later and not one.writes & taken:
                found.append(one)
                still |= one.writes
            elif one.block == "tick":
                still -= one.writes
                read |= one.reads
        if found == once:
            return once, still
        once = found


def _writes(operations: Iterable[Operation]) -> frozenset[str]:
    """Return all variables that ``operations`` write."""
    return frozenset(key for one in operations for key in one.writes)


# -- rules that are averaged -----------------------------------------------------------------------


def _sum_rules(meanings: Meanings, sample: Blocks, still: frozenset[str]) -> Blocks:
    """Let rules that are averaged over the ticks be summed up while a sample is held."""
    onset, tick, end = map(list, sample.values())
    for pathway in meanings.parts.pathways:
        if pathway.change and pathway.block == "tick":
            (place,) = (p for p, one in enumerate(end) if one.name == f"{pathway.name}_change")
            resets, sums, end[place] = _sum_rule(meanings, pathway, still - _writes(end[:place]))
            onset += resets
            tick += sums
    in_order = (sorted(block, key=lambda one: ORDER[one.phase]) for block in (onset, tick, end))
    return dict(zip(BLOCKS, map(tuple, in_order), strict=True))


def _sum_rule(
    meanings: Meanings, pathway: Pathway, still: frozenset[str]
) -> tuple[list[Operation], list[Operation], Operation]:
    """Return operations that begin the sums of an averaged rule at the onset, that add to them in
    every tick, and that changes the weights when the sample ends.

    Each term is cut into the factors that stand ``still`` and those that move. The latter are
    summed up by the cells that know them, or else by the synapse.
    """
    asked: list[str] = []
    gathered: dict[tuple[str, str], list[str]] = {}
    for factors in terms_of(pathway.change, pathway.declared):
        moving = [f for f in factors if not meanings.keys(pathway, names_in(f).read) <= still]
        fixed = product(factor for factor in factors if factor not in moving)
        if moving:
            side = _knowing_side(meanings, pathway, product(moving))
            gathered.setdefault((side, fixed), []).append(product(moving))
        else:
            asked.append(fixed)
    if sum(not side for side, _ in gathered) > 1:  # one sum of the synapse is enough
        own = [(fixed, gathered.pop(("", fixed))) for side, fixed in [*gathered] if not side]
        gathered["", "1"] = [product((fixed, m)) for fixed, several in own for m in several]
    resets, sums = [], []
    for number, ((side, fixed), several) in enumerate(gathered.items()):
        name = f"{pathway.name}_sum_{number}"
        reset, gathering = _gather(meanings, pathway, name, side, add(several))
        resets.append(reset)
        sums.append(gathering)
        asked.append(f"{product((fixed, f'{name}_{side}' if side else name))} / duration")
    return resets, sums, weight_change(meanings, pathway, "change", add(asked))


def _knowing_side(meanings: Meanings, pathway: Pathway, expression: str) -> str:
    """Return the side of the synapse whose cell knows all that ``expression`` reads; empty where
    neither does.
    """
    here = {name: meanings.find(pathway, name) for name in names_in(expression).read}
    for side, end in (("post", pathway.target), ("pre", pathway.source)):
        cells = meanings.parts[end]
        if all(
            found and (found.place == side or found == meanings.find(cells, name))
            for name, found in here.items()
        ):
            return side
    return ""


def _gather(
    meanings: Meanings, pathway: Pathway, variable: str, side: str, moving: str
) -> tuple[Operation, Operation]:
    """Return operations by which the cells on one ``side``, or the synapses, begin and go on to
    sum up what is ``moving``.
    """
    part = {"pre": pathway.source, "post": pathway.target, "": pathway.name}[side]
    filled, read = frozenset({meanings.declare(part, variable)}), names_in(moving).read
    # A cell calls its variables by their own names.
    meant = {name: meanings.find(pathway, name) for name in read}
    own = {n: found.variable for n, found in meant.items() if found and found.place == side}
    reset = Operation(f"{variable}_reset", part, "integration", f"{variable} = 0", writes=filled)
    gathering = Operation(
        f"{variable}_gathered",
        part,
        "integration",
        f"{variable} += {rename(moving, own)}",
        reads=meanings.keys(pathway, read) | filled,
        writes=filled,
    )
    return reset, gathering


def _merge_blocks(parts: Parts, sample: Blocks, replay: Blocks) -> tuple[Blocks, Blocks]:
    """Return the blocks with steps of one part merged, each with a name of its own."""
    merged = {name: merge(block, parts) for name, block in sample.items()}
    known = {one.name: one for block in merged.values() for one in block}
    back = {}
    for name, block in replay.items():
        back[name] = tuple(
            one if known.get(one.name, one) == one else replace(one, name=f"{one.name}_in_replay")
            for one in merge(block, parts)
        )
    return merged, back
