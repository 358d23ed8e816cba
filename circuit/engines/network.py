"""Turns a blueprint into Brian2 objects with an explicit schedule.

Brian2 runs what is in slot `start` (the sample arrives), then `groups` (currents and cells), then `end` (plasticity);
within a slot, every action has the place that the blueprint's schedule gives it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import brian2
import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.schedule import Action, weight_change
from biorrr.circuit.engines import brian2_private
from biorrr.errors import InputError
from biorrr.models import Pathway, Population
from biorrr.models.expressions import names_in, only_where
from biorrr.models.physical_units import dimension_of
from biorrr.models.random_draws import brian2_draws

# One tick is one second of Brian2's time: whole numbers keep clocks exact however long a run is.
TICK = brian2.second
# Before Brian2's own default of 0, so that what a person adds to a slot comes after what the circuit does in it.
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
    recorded
        Shape (1,); not 0 if the tick to come is recorded.
    """

    network: brian2.Network
    clock: brian2.Clock
    parts: dict[str, brian2.Group]
    recorded: np.ndarray

    def variable(self, part: str, name: str):
        """Return the array behind a variable, for reading and writing in place."""
        return brian2_private.array_of(self.parts[part], name)

    def never_run(self) -> None:
        """Keep Brian2 from warning that no network has run these parts."""
        brian2_private.mark_as_run(self.parts.values(), self.network)


def build_network(blueprint: Blueprint, name: str = "") -> BuiltNetwork:
    """Build the network of ``blueprint`` for the current Brian2 device.

    Its inputs must be filled in at the start of each tick. Code of Brian2 does not branch: what must not happen in a
    tick is multiplied by 0.

    Parameters
    ----------
    blueprint
        The circuit.
    name
        Name of the circuit. It begins the names of all Brian2 objects, so that two circuits fit into one network.
    """
    prefix = f"{name}_" if name else ""
    clock = brian2.Clock(dt=TICK, name=f"{prefix}ticks")
    actions = _combined(blueprint)
    parts: dict[str, brian2.Group] = {}
    everything: list[Population | Pathway] = [*blueprint.parts.populations, *blueprint.parts.pathways]
    for part in everything:
        equations = _equations(blueprint, part, [a for a in actions if a.part == part.name and a.drives])
        options = {"clock": clock, "name": prefix + part.name, "namespace": {}}
        if isinstance(part, Pathway):
            synapses = brian2.Synapses(parts[part.source], parts[part.target], equations, **options)
            # All to all; pairs as arrays need no code of their own.
            sources, targets = len(synapses.source), len(synapses.target)
            synapses.connect(i=np.repeat(np.arange(sources), targets), j=np.tile(np.arange(targets), sources))
            parts[part.name] = synapses
        else:
            parts[part.name] = brian2.NeuronGroup(part.size, equations, **options)
    _let_broadcasts_be_heard(blueprint, parts, actions)

    built = BuiltNetwork(brian2.Network(), clock, parts, np.zeros(1))
    for place, action in enumerate(actions, _FIRST_PLACE):
        group = parts[action.part]
        if action.drives:
            # Brian2 gives every summed variable the same place in the tick and breaks ties by name.
            step = brian2_private.summing_step(group, action.drives)
            step.order = place
        else:
            slot = _SLOTS.get(action.phase, "groups")
            step = group.run_regularly(action.code, when=slot, order=place, name=prefix + action.name)
        if action.when:
            brian2_private.run_only_if(step, _due(action.when, built))
    built.network.add(*parts.values())
    for action in actions:
        if any(v.unit != "1" for v in blueprint.parts[action.part].variables):
            _check_dimensions(built, action)
    return built


def _check_dimensions(built: BuiltNetwork, action: Action) -> None:
    """Refuse statements whose two sides have different dimensions, by Brian2's own check, in one sentence."""
    try:
        driven = f"{action.drives}_post" if action.drives else ""
        brian2_private.check_dimensions(built.parts[action.part], action.code, driven)
    except brian2.DimensionMismatchError as error:
        built.never_run()
        raise InputError(f"{action.part}: units do not agree in phase {action.phase!r}: {error}") from error


def _due(when: str, built: BuiltNetwork) -> Callable[[], bool]:
    """Return a function that says whether a step has something new to say in this tick."""
    onset, waking = (built.variable("clock", name) for name in ("onset", "waking"))
    return (lambda: built.recorded[0] != 0) if when == "recorded" else (lambda: bool(onset[0] or not waking[0]))


def _combined(blueprint: Blueprint) -> list[Action]:
    """Return the schedule for a language without branches: gates become factors, and a pathway has one plasticity."""
    addends = {(action.part, action.gate): action.addend for action in blueprint.program if action.addend}
    actions: list[Action] = []
    for action in blueprint.program:
        code = action.code
        if action.addend:
            change, replay = (addends.get((action.part, gate)) for gate in ("waking", "replaying"))
            if change and action.gate == "replaying":
                continue  # beside the change
            terms = [f"waking * ({change})"] if change else []
            terms += [f"(1 - waking) * ({replay})"] if replay else []
            code = weight_change(blueprint.parts[action.part], f"plastic * ({' + '.join(terms)})")
        elif action.gate == "waking" and action.code:
            known = {array.name for array in blueprint.arrays if array.part == action.part}
            code = only_where("waking", action.code, frozenset(names_in(action.code).written) - known)
        actions.append(replace(action, code=code))
    return actions


def _equations(blueprint: Blueprint, part: Population | Pathway, currents: list[Action]) -> str:
    """Return the variables of ``part`` as Brian2 declares them; ``currents`` are those of a pathway."""
    lines = []
    for array in blueprint.arrays:
        if array.part == part.name:
            # What is broadcast is kept like a cell's, in a population of one: what is shared could not be summed into.
            flags = ["shared"] * (array.variable.per in ("population", "pathway"))
            flags += ["constant"] * (array.variable.role == "parameter")
            flagged = f" ({', '.join(flags)})" if flags else ""
            lines.append(f"{array.name} : {dimension_of(array.variable.unit)}{flagged}")
    units = {array.key: array.variable.unit for array in blueprint.arrays}
    for action in currents:
        (filled,) = action.writes
        lines.append(f"{action.drives}_post = {action.code} : {dimension_of(units[filled])} (summed)")
    return "\n".join(lines)


def _let_broadcasts_be_heard(blueprint: Blueprint, parts: dict[str, brian2.Group], actions: list[Action]) -> None:
    """Let each part read what it uses of what others broadcast, and draw random numbers."""
    for name, part in parts.items():
        codes = [action.code for action in actions if action.part == name]
        for read in sorted({found for code in codes for found in names_in(code).read}):
            found = blueprint.meanings.find(blueprint.parts[name], read)
            if found and found.place == "broadcast" and read not in part.variables:
                brian2_private.let_hear(part, read, parts[found.part])
        part.namespace.update(brian2_draws())
