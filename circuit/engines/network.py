"""Turns a blueprint into Brian2 objects with an explicit schedule.

Brian2 runs what is in slot `start` (the sample arrives), then `groups` (currents and cells), then `end` (plasticity);
within a slot, every action has the place that the blueprint's schedule gives it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import brian2
import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.schedule import Action, weight_change
from biorrr.circuit.engines import brian2_private
from biorrr.errors import InputError
from biorrr.models import Pathway, Population, Variable
from biorrr.models.expressions import names_in, only_where
from biorrr.models.parts import PENDING
from biorrr.models.physical_units import dimension_of
from biorrr.models.random_draws import brian2_draws

# One tick is one second of Brian2's time: whole numbers keep clocks exact however long a run is.
TICK = brian2.second
# Before Brian2's own default of 0, so that what a person adds to a slot comes after what the circuit does in it.
_FIRST_PLACE = -1000
_SLOTS = {"input": "start", "plasticity": "end"}  # all other phases: groups


@dataclass(frozen=True)
class BuiltNetwork:
    """A built circuit: the Brian2 network, its parts by name, and whether the tick to come is recorded."""

    network: brian2.Network
    clock: brian2.Clock
    parts: dict[str, brian2.Group]
    recorded: threading.Event = field(default_factory=threading.Event)

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
    kept = blueprint.program.kept
    parts: dict[str, brian2.Group] = {}
    for population in blueprint.parts.populations:
        filled = [a.drives for a in actions if a.drives and blueprint.parts[a.part].target == population.name]
        parts[population.name] = brian2.NeuronGroup(
            population.size,
            _cell_equations(population, [*filled, *(name for part, name in kept if part == population.name)]),
            clock=clock,
            name=prefix + population.name,
            namespace={},
        )
    for pathway in blueprint.parts.pathways:
        currents = [a for a in actions if a.part == pathway.name and a.drives]
        parts[pathway.name] = brian2.Synapses(
            parts[pathway.source],
            parts[pathway.target],
            _synapse_equations(
                pathway,
                blueprint.parts[pathway.target],
                currents,
                [name for part, name in kept if part == pathway.name],
            ),
            clock=clock,
            name=prefix + pathway.name,
            namespace={},
        )
        _connect_all(parts[pathway.name])
    _let_broadcasts_be_heard(blueprint, parts, actions)

    built = BuiltNetwork(brian2.Network(), clock, parts)
    for place, action in enumerate(actions, _FIRST_PLACE):
        part = parts[action.part]
        if action.drives:
            # Brian2 gives every summed variable the same place in the tick and breaks ties by name.
            step = brian2_private.summing_step(part, action.drives)
            step.order = place
        else:
            slot = _SLOTS.get(action.phase, "groups")
            step = part.run_regularly(action.code, when=slot, order=place, name=prefix + action.name)
        if action.when:
            _let_rest(step, action.when, built)
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


def _let_rest(step: brian2.CodeRunner, when: str, built: BuiltNetwork) -> None:
    """Let ``step`` run only when it has something new to say."""
    onset, waking = (built.variable("clock", name) for name in ("onset", "waking"))
    due = built.recorded.is_set if when == "recorded" else lambda: bool(onset[0] or not waking[0])
    brian2_private.run_only_if(step, due)


def _combined(blueprint: Blueprint) -> list[Action]:
    """Return the schedule for a language without branches: gates become factors, and a pathway has one plasticity."""
    addends = {(action.part, action.gate): action.addend for action in blueprint.program.actions if action.addend}
    actions: list[Action] = []
    for action in blueprint.program.actions:
        declared = {q.name for q in blueprint.quantities if q.part == action.part}
        declared |= {name for part, name in blueprint.program.kept if part == action.part}
        code = action.code
        if action.addend:
            change, replay = (addends.get((action.part, gate)) for gate in ("waking", "replaying"))
            if change and action.gate == "replaying":
                continue  # beside the change
            terms = [f"waking * ({change})"] if change else []
            terms += [f"(1 - waking) * ({replay})"] if replay else []
            code = weight_change(blueprint.parts[action.part], f"plastic * ({' + '.join(terms)})")
        elif action.gate == "waking" and action.code:
            hidden = frozenset(names_in(action.code).written) - declared
            code = only_where("waking", action.code, hidden)
        actions.append(replace(action, code=code))
    return actions


def _cell_equations(population: Population, filled: list[str]) -> str:
    declared = {variable.name: variable for variable in population.variables}
    lines = [f"{v.name} : {dimension_of(v.unit)}{_flags(v)}" for v in population.variables]
    beside = {name: name.partition("_by_")[0] for name in filled if name not in declared}
    units = {name: declared[stem].unit if stem in declared else "1" for name, stem in beside.items()}
    return "\n".join([*lines, *(f"{name} : {dimension_of(unit)}" for name, unit in units.items())])


def _synapse_equations(pathway: Pathway, target: Population, currents: list[Action], kept: list[str]) -> str:
    lines = ["w : 1"] if pathway.weighted else []
    lines += ["plastic : 1 (shared, constant)"] if pathway.plastic else []
    lines += [f"{PENDING} : 1"] if pathway.averaged else []
    lines += [f"{v.name} : {dimension_of(v.unit)}{_flags(v)}" for v in pathway.variables]
    lines += [f"{name} : 1" for name in kept]
    units = {v.name: v.unit for v in target.variables}
    for action in currents:
        dimension = dimension_of(units.get(action.drives.partition("_by_")[0], "1"))
        lines.append(f"{action.drives}_post = {action.code} : {dimension} (summed)")
    return "\n".join(lines)


def _flags(variable: Variable) -> str:
    # What is broadcast is kept like a cell's, in a population of one: shared variables could not be summed into.
    flags = ["shared"] * (variable.per in ("population", "pathway")) + ["constant"] * (variable.role == "parameter")
    return f" ({', '.join(flags)})" if flags else ""


def _connect_all(synapses: brian2.Synapses) -> None:
    """Connect all to all; pairs as arrays need no code of their own."""
    sources, targets = len(synapses.source), len(synapses.target)
    synapses.connect(i=np.repeat(np.arange(sources), targets), j=np.tile(np.arange(targets), sources))


def _let_broadcasts_be_heard(blueprint: Blueprint, parts: dict[str, brian2.Group], actions) -> None:
    """Let each part read what it uses of what others broadcast, and draw random numbers."""
    for name, part in parts.items():
        codes = [action.code for action in actions if action.part == name]
        for read in sorted({found for code in codes for found in names_in(code).read}):
            found = blueprint.meanings.find(blueprint.parts[name], read)
            if found and found.place == "broadcast" and read not in part.variables:
                brian2_private.let_hear(part, read, parts[found.part])
        part.namespace.update(brian2_draws())
