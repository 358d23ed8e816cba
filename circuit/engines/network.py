"""Turns a blueprint into Brian2 objects: groups with their variables, and one step for each
operation of its program.

The steps are not run by Brian2's schedule: the engine runs them block by block.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import brian2

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.operations import Operation
from biorrr.circuit.compile.program import Blocks
from biorrr.circuit.engines import brian2_private
from biorrr.errors import InputError
from biorrr.models import Pathway, Population
from biorrr.models.expressions import names_in, parse
from biorrr.models.random_draws import DRAWS
from biorrr.models.validation import dimension_of

# One tick is one second of Brian2's time: whole numbers keep clocks exact however long a run is.
TICK = brian2.second
CompiledBlocks = dict[str, list[Callable[[], None]]]


@dataclass(frozen=True)
class BuiltNetwork:
    """A built circuit.

    Parameters
    ----------
    network, clock
        The Brian2 network, and the clock of all its parts.
    parts
        Its groups, by the names of the circuit's parts.
    steps
        Brian2's step for each operation.
    """

    network: brian2.Network
    clock: brian2.Clock
    parts: dict[str, brian2.Group]
    steps: dict[Operation, brian2.BrianObject] = field(default_factory=dict)

    def variable(self, part: str, name: str):
        """Return the array behind a variable, for reading and writing in place."""
        return brian2_private.array_of(self.parts[part], name)

    def never_run(self) -> None:
        """Keep Brian2 from warning that no network has run these parts."""
        brian2_private.mark_as_run(self.parts.values(), self.network)

    def compile(self, blocks: Blocks) -> CompiledBlocks:
        """Return functions that do the operations of each block, in order."""
        return {name: [self._function(one) for one in block] for name, block in blocks}

    def _function(self, operation: Operation) -> Callable[[], None]:
        """Return a function that does ``operation``, unless its plasticity is switched off."""
        run = brian2_private.prepare(self.steps[operation])
        if "plastic" not in operation.silencers:
            return run
        plastic = self.variable(operation.part, "plastic")

        def run_if_plastic() -> None:
            if plastic[0]:
                run()

        return run_if_plastic


def build_network(blueprint: Blueprint, name: str = "") -> BuiltNetwork:
    """Build the network of ``blueprint`` for the current Brian2 device.

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
    operations = blueprint.program.operations
    parts: dict[str, brian2.Group] = {}
    for part in blueprint.parts.everything:
        own = [one for one in operations if one.part == part.name]
        equations = _equations(blueprint, part, [one for one in own if one.fills])
        options = {"clock": clock, "name": prefix + part.name, "namespace": _draws()}
        if isinstance(part, Pathway):
            synapses = brian2.Synapses(parts[part.source], parts[part.target], equations, **options)
            sources, targets = blueprint.ends(
                part.name
            )  # pairs as arrays need no code of their own
            synapses.connect(i=sources, j=targets)
            parts[part.name] = synapses
        else:
            parts[part.name] = brian2.NeuronGroup(part.size, equations, **options)
    _let_others_be_heard(blueprint, parts, operations)

    built = BuiltNetwork(brian2.Network(), clock, parts)
    for operation in operations:
        group = parts[operation.part]
        built.steps[operation] = (
            brian2_private.summing_step(group, operation.fills)
            if operation.fills
            else group.run_regularly(
                _in_two_steps(blueprint.written_out(operation)), name=prefix + operation.name
            )
        )
    for group in parts.values():
        brian2_private.deactivate(group)  # what it does is done block by block
    built.network.add(*parts.values())
    for operation in operations:
        if any(v.unit != "1" for v in blueprint.parts[operation.part].variables):
            _check_dimensions(built, operation)
    return built


def _check_dimensions(built: BuiltNetwork, operation: Operation) -> None:
    """Refuse statements whose two sides have different dimensions, by Brian2's own check, in one
    sentence.
    """
    try:
        driven = f"{operation.fills}_post" if operation.fills else ""
        brian2_private.check_dimensions(built.parts[operation.part], operation.code, driven)
    except brian2.DimensionMismatchError as error:
        built.never_run()
        raise InputError(
            f"{operation.part}: units do not agree in phase {operation.phase!r}: {error}"
        ) from error


def _in_two_steps(code: str) -> str:
    """Return ``code`` in which no name is assigned an expression that reads it.

    Brian2 rearranges such assignments by SymPy, and then misses functions that have cancelled out.
    And it adds in place: after `a = b`, `a += 1` would change b too.
    """
    lines = []
    for name, value in parse(code):
        text = ast.unparse(value)
        again = name in names_in(text).read
        lines.append(f"_new_{name} = {text}\n{name} = _new_{name}" if again else f"{name} = {text}")
    return "\n".join(lines)


def _equations(blueprint: Blueprint, part: Population | Pathway, currents: list[Operation]) -> str:
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
    for current in currents:
        (filled,) = current.writes
        lines.append(
            f"{current.fills}_post = {current.code} : {dimension_of(units[filled])} (summed)"
        )
    return "\n".join(lines)


def _let_others_be_heard(
    blueprint: Blueprint, parts: dict[str, brian2.Group], operations: Iterable[Operation]
) -> None:
    """Let each part read, under the names that its code has for it, what others have or
    broadcast.
    """
    read = {(one.part, name) for one in operations for name in names_in(one.code).read}
    for part, name in sorted(read):
        found = blueprint.meanings.find(blueprint.parts[part], name)
        if found and name not in parts[part].variables:
            brian2_private.let_hear(
                parts[part], name, parts[found.part], found.variable, found.place
            )


@functools.cache
def _draws() -> dict[str, brian2.Function]:
    """Return the three random draws as Brian2 functions, by name."""
    made = {}
    for name, draw in DRAWS.items():
        arguments = len(inspect.signature(draw).parameters)
        made[name] = brian2.Function(draw, arg_units=[1] * arguments, return_unit=1, stateless=True)
        made[name].implementations.add_implementation("numpy", draw)
    return made
