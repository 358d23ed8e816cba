"""Turns a blueprint into Brian2 objects with an explicit schedule.

Brian2 runs what is in slot `start` (the sample arrives), then `groups` (currents and cells), then
`end` (plasticity); within a slot, every action has the place that the blueprint's schedule gives
it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import brian2
import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.schedule import Action
from biorrr.circuit.engines import brian2_private
from biorrr.errors import InputError
from biorrr.models import Pathway, Population
from biorrr.models.expressions import names_in
from biorrr.models.physical_units import dimension_of
from biorrr.models.random_draws import brian2_draws

# One tick is one second of Brian2's time: whole numbers keep clocks exact however long a run is.
TICK = brian2.second
# Before Brian2's own default of 0, so that what a person adds to a slot comes after what the
# circuit does in it.
_FIRST_PLACE = -1000
_SLOTS = {"input": "start", "plasticity": "end"}  # all other phases: groups


@dataclass(frozen=True)
class BuiltNetwork:
    """A built circuit.

    Parameters
    ----------
    network, clock
        The Brian2 network, and the clock of all its parts.
    parts
        Its groups, by the names of the circuit's parts.
    """

    network: brian2.Network
    clock: brian2.Clock
    parts: dict[str, brian2.Group]

    def variable(self, part: str, name: str):
        """Return the array behind a variable, for reading and writing in place."""
        return brian2_private.array_of(self.parts[part], name)

    def never_run(self) -> None:
        """Keep Brian2 from warning that no network has run these parts."""
        brian2_private.mark_as_run(self.parts.values(), self.network)


def build_network(blueprint: Blueprint, name: str = "") -> BuiltNetwork:
    """Build the network of ``blueprint`` for the current Brian2 device.

    Its inputs must be filled in at the start of each tick. Code of Brian2 does not branch: what
    must not happen in a tick is not run in it.

    Parameters
    ----------
    blueprint
        The circuit.
    name
        Name of the circuit. It begins the names of all Brian2 objects, so that two circuits fit
        into one network.
    """
    prefix = f"{name}_" if name else ""
    clock = brian2.Clock(dt=TICK, name=f"{prefix}ticks")
    actions = blueprint.program
    parts: dict[str, brian2.Group] = {}
    everything: list[Population | Pathway] = [
        *blueprint.parts.populations,
        *blueprint.parts.pathways,
    ]
    for part in everything:
        equations = _equations(
            blueprint, part, [a for a in actions if a.part == part.name and a.drives]
        )
        options = {"clock": clock, "name": prefix + part.name, "namespace": {}}
        if isinstance(part, Pathway):
            synapses = brian2.Synapses(parts[part.source], parts[part.target], equations, **options)
            # All to all; pairs as arrays need no code of their own.
            sources, targets = len(synapses.source), len(synapses.target)
            synapses.connect(
                i=np.repeat(np.arange(sources), targets), j=np.tile(np.arange(targets), sources)
            )
            parts[part.name] = synapses
        else:
            parts[part.name] = brian2.NeuronGroup(part.size, equations, **options)
    _let_broadcasts_be_heard(blueprint, parts, actions)

    built = BuiltNetwork(brian2.Network(), clock, parts)
    for place, action in enumerate(actions, _FIRST_PLACE):
        group = parts[action.part]
        if action.drives:
            # Brian2 gives every summed variable the same place in the tick and breaks ties by name.
            step = brian2_private.summing_step(group, action.drives)
            step.order = place
        else:
            slot = _SLOTS.get(action.phase, "groups")
            step = group.run_regularly(
                _in_two_steps(action.code), when=slot, order=place, name=prefix + action.name
            )
        if action.gate:
            brian2_private.run_only_if(step, _due(action, built))
    built.network.add(*parts.values())
    for action in actions:
        if any(v.unit != "1" for v in blueprint.parts[action.part].variables):
            _check_dimensions(built, action)
    return built


def _check_dimensions(built: BuiltNetwork, action: Action) -> None:
    """Refuse statements whose two sides have different dimensions, by Brian2's own check, in one
    sentence.
    """
    try:
        driven = f"{action.drives}_post" if action.drives else ""
        brian2_private.check_dimensions(built.parts[action.part], action.code, driven)
    except brian2.DimensionMismatchError as error:
        built.never_run()
        raise InputError(
            f"{action.part}: units do not agree in phase {action.phase!r}: {error}"
        ) from error


def _in_two_steps(code: str) -> str:
    """Return ``code`` in which no name is assigned an expression that reads it.

    Brian2 rearranges such assignments by SymPy, and then misses functions that have cancelled out.
    """
    lines = []
    for node in ast.parse(inspect.cleandoc(code)).body:
        text = ast.unparse(node)
        if isinstance(node, ast.Assign):
            name, _, value = text.partition(" = ")
            text = (
                f"_new_{name} = {value}\n{name} = _new_{name}"
                if name in names_in(value).read
                else text
            )
        lines.append(text)
    return "\n".join(lines)


def _due(action: Action, built: BuiltNetwork) -> Callable[[], bool]:
    """Return a function that says whether ``action`` happens in the tick at hand."""
    waking, onset, closing = (
        built.variable("clock", name) for name in ("waking", "onset", "closing")
    )
    conditions: dict[str, Callable[[], bool]] = {
        "waking": lambda: waking[0],
        "replaying": lambda: not waking[0],
        "closing": lambda: closing[0],
        "onset": lambda: onset[0],
        "presented": lambda: onset[0] or not waking[0],
    }
    due = conditions[action.gate]
    if not action.addend:
        return due
    plastic = built.variable(action.part, "plastic")
    return lambda: plastic[0] and due()


def _equations(blueprint: Blueprint, part: Population | Pathway, currents: list[Action]) -> str:
    """Return the variables of ``part`` as Brian2 declares them; ``currents`` are those of a
    pathway.
    """
    lines = []
    for array in blueprint.arrays:
        if array.part == part.name:
            # What is broadcast is kept like a cell's, in a population of one: what is shared could
            # not be summed into.
            flags = ["shared"] * (array.variable.per in ("population", "pathway"))
            flags += ["constant"] * (array.variable.role == "parameter")
            flagged = f" ({', '.join(flags)})" if flags else ""
            lines.append(f"{array.name} : {dimension_of(array.variable.unit)}{flagged}")
    units = {array.key: array.variable.unit for array in blueprint.arrays}
    for action in currents:
        (filled,) = action.writes
        lines.append(
            f"{action.drives}_post = {action.code} : {dimension_of(units[filled])} (summed)"
        )
    return "\n".join(lines)


def _let_broadcasts_be_heard(
    blueprint: Blueprint, parts: dict[str, brian2.Group], actions: Iterable[Action]
) -> None:
    """Let each part read what it uses of what others broadcast, and draw random numbers."""
    for name, part in parts.items():
        codes = [action.code for action in actions if action.part == name]
        for read in sorted({found for code in codes for found in names_in(code).read}):
            found = blueprint.meanings.find(blueprint.parts[name], read)
            if found and found.place == "broadcast" and read not in part.variables:
                brian2_private.let_hear(part, read, parts[found.part])
        part.namespace.update(brian2_draws())
