"""The schedule of a circuit with less work while a sample is held, and the same result.

While a sample is held, inputs and weights stand still. A current made of nothing else is summed in
the first tick and kept. A rule that is a sum of products of what stands still and what moves needs
one number per cell, which sums up what moves; the product is formed when the sample ends. What
stands still is found from the expressions, of any part. Where what moves belongs to both cells of a
synapse, the synapse keeps a sum of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from biorrr.circuit.compile.held_rules import HeldRule
from biorrr.circuit.compile.schedule import Action, merged, weight_change
from biorrr.circuit.compile.standstill import Standstill
from biorrr.models import Pathway
from biorrr.models.expressions import names_in
from biorrr.models.meanings import Meanings


def program(
    meanings: Meanings, plain: list[Action], presented: Iterable[str]
) -> tuple[Action, ...]:
    """Return what engines do in a tick: all actions, less those that need not be repeated while a
    sample is held.

    Parameters
    ----------
    meanings, plain
        Meanings of names in the circuit, and what happens in a tick, in order.
    presented
        Variables that the presentation of a sample sets, as "population.variable".
    """
    parts = meanings.parts
    if not parts["clock"].has("elapsed"):  # every sample is one tick
        return merged(plain, parts)
    standstill = Standstill(meanings, plain, frozenset(presented))
    rules: dict[str, HeldRule] = {}
    places = {action.name: place for place, action in enumerate(plain)}
    actions: list[Action] = []
    for place, action in enumerate(plain):
        part = parts[action.part]
        if isinstance(part, Pathway) and action.name == f"{part.name}_integration":
            rule = rules[part.name] = HeldRule(
                meanings, part, standstill, place, places[f"{part.name}_change"]
            )
            actions += rule.actions
        elif part.name in rules and action.name == f"{part.name}_change":
            addend = f"closing * ({rules[part.name].asked})"
            reads = meanings.keys(part, names_in(addend).read) | {f"{part.name}.w"}
            actions.append(
                replace(action, code=weight_change(part, addend), addend=addend, reads=reads)
            )
        elif not standstill.of_action(place):
            actions.append(action)
        elif action.drives and not action.writes.isdisjoint(standstill.moving):
            # Others change it too, such as the membrane that the current charges: the current is
            # kept beside it.
            beside = f"{action.drives}_by_{part.name}"
            there = frozenset({f"{part.target}.{beside}"})
            actions += [
                replace(action, drives=beside, gate="presented", writes=there),
                Action(
                    f"{action.name}_kept",
                    part.target,
                    action.phase,
                    f"{action.drives} = {beside}",
                    reads=there,
                    writes=action.writes,
                ),
            ]
        else:
            actions.append(replace(action, gate="onset" if action.gate else "presented"))
    return merged(actions, parts)
