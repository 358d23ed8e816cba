"""A plain Brian2 script of a circuit and of one of its runs.

The script has one Brian2 group per part, and links to what others broadcast. All that the program
does runs in Brian2's slot "groups", in one order that suits samples and replays. What belongs to a
part of the time, such as the end of a sample that is held, has a clock of its own or is multiplied
by a variable that says when.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from biorrr.circuit.compile.blueprint import Quantity
from biorrr.circuit.compile.operations import ORDER, Operation
from biorrr.circuit.engines.cpp_source import render
from biorrr.circuit.export import TEMPLATES, job_of
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.job import Job
from biorrr.errors import InputError
from biorrr.files import whole_file
from biorrr.models import BLOCKS, Pathway, Population, Variable, random_draws
from biorrr.models.expressions import names_in, rename
from biorrr.models.meanings import Meaning
from biorrr.models.validation import dimension_of

# Names that the script has for itself.
_TAKEN = frozenset(
    """
    Clock Function NeuronGroup Synapses linked_var network_operation prefs run second np sys math
    data parameters where shuffle first last rows fibres tick sample_clock presented
    presentation present draw drawn count uniform_draw gaussian_draw poisson_draw
    volt amp siemens farad hertz
    """.split()  # noqa: SIM905
)
_COUNTED = ("sample", "elapsed", "moment")  # by the clock
_SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_TICKS = {"in": "any tick", "begins": "the first tick", "ends": "the last tick"}


def write_script(path: str | os.PathLike, run: Run) -> Path:
    """Write the script that repeats ``run``; return its path."""
    path, job = Path(path), job_of(run, "script")
    if any(feed.ticks != feed.duration for feed in job.feeds.values()):
        raise InputError(
            "run: has signals in time, which a script does not read; give a run with tables"
        )
    text = render(TEMPLATES / "brian2_script.txt", name=path.name, **_Script(job).contents())
    with whole_file(path) as aside:
        aside.write_text(text, encoding="utf-8")
    return path


class _Script:
    """The parts of a script that depend on its ``job``.

    Attributes
    ----------
    lengths
        Ticks of a "sample" and, where there is one, of a "replay".
    blocks
        What happens in each block of both, as (presented, block, operations).
    schedule
        Operations in an order that suits samples and replays alike.
    declared
        Variables of each part, by its name and theirs.
    links
        What each part hears from others that broadcast, by the name that it has there.
    constants
        Parameters of the whole circuit, by the name that the script has for them.
    codes, gates
        Code of each operation with names as the script has them, and what is 0 while it pauses.
    """

    def __init__(self, job: Job) -> None:
        self.job, self.blueprint, self.parts = job, job.blueprint, job.blueprint.parts
        timing = self.blueprint.timing
        self.lengths = {"sample": timing.duration}
        if job.presentation.replay:
            self.lengths["replay"] = timing.replay_duration
        self.blocks = list(self._blocks())
        self.schedule = self._in_order()
        self.declared = {part.name: self._variables(part) for part in self.parts.everything}
        self.links: dict[str, dict[str, Meaning]] = {name: {} for name in self.declared}
        self.constants: dict[str, Quantity] = {}
        self.codes: dict[Operation, str] = {}
        self.gates: dict[Operation, str] = {}
        for one in self.schedule:
            part, find = self.parts[one.part], self.blueprint.meanings.find
            meant = {name: find(part, name) for name in names_in(one.code).read}
            names = {name: self._name(part, found) for name, found in meant.items() if found}
            self.codes[one] = rename(self._written_out(one), names)
            times = [] if one.fills or self._once(one) else self._times(one)
            self.gates[one] = " + ".join(self._name(part, self._clock(time)) for time in times)

    # -- time --------------------------------------------------------------------------------------

    def _blocks(self) -> Iterator[tuple[str, str, list[Operation]]]:
        """Yield all blocks, without plasticity that is switched off."""
        plastic = {f"{pathway.name}.plastic" for pathway in self.parts.pathways if pathway.plastic}
        off = {key for key in plastic if not self.job.state[key][0]}
        for presented, name, block in self.blueprint.program.blocks:
            if presented in self.lengths:
                happens = [one for one in block if not one.silencers & off]
                yield presented, name, happens

    def _in_order(self) -> list[Operation]:
        """Return all operations in one order."""
        place: dict[Operation, tuple[int, int]] = {}
        before: dict[Operation, set[Operation]] = {}
        earlier: dict[str, list[Operation]] = {presented: [] for presented in self.lengths}
        for presented, name, block in self.blocks:
            for one in block:
                place.setdefault(one, (BLOCKS.index(name), ORDER[one.phase]))
                needed = {other for other in earlier[presented] if other.depends_on(one)}
                before[one] = before.get(one, set()) | needed
                earlier[presented].append(one)
        left, done = sorted(place, key=place.__getitem__), list[Operation]()
        while left:
            ready = next((one for one in left if before[one] <= set(done)), None)
            if ready is None:
                raise InputError(
                    "to_brian2: a sample and a replay of this circuit do things in different"
                    f" orders, among them {left[0].name}, and a script has one; set"
                    " ridge=(0, ridge), so that nothing is replayed"
                )
            left.remove(ready)
            done.append(ready)
        return done

    def _times(self, operation: Operation) -> list[str]:
        """Return the times at which ``operation`` happens, such as "replay_ends"; none for any."""
        blocks = {(where, name) for where, name, block in self.blocks if operation in block}
        times = []
        for presented, length in self.lengths.items():
            edges = {"begins": (presented, "onset") in blocks, "ends": (presented, "end") in blocks}
            if (presented, "tick") in blocks or (length == 1 and any(edges.values())):
                times.append(f"in_{presented}")
            else:
                times += [f"{presented}_{edge}" for edge, there in edges.items() if there]
        return [] if times == [f"in_{presented}" for presented in self.lengths] else times

    def _once(self, operation: Operation) -> bool:
        """Return True for what happens in the first tick of a sample alone."""
        first = "in_sample" if self.lengths["sample"] == 1 else "sample_begins"
        return not operation.fills and self._times(operation) == [first]

    def _clock(self, time: str) -> Meaning:
        """Return the variable that is 1 at a ``time``; the clock has it from now on."""
        edge, presented = sorted(time.split("_"), key=lambda word: word in self.lengths)
        meaning = f"1 in {_TICKS[edge]} of a {presented}, else 0"
        self.declared["clock"][time] = Variable(time, meaning, "circuit")
        return Meaning("broadcast", "clock", time)

    # -- names -------------------------------------------------------------------------------------

    def _variables(self, part: Population | Pathway) -> dict[str, Variable]:
        """Return the variables that ``part`` declares; those of the clock, and parameters, if they
        are read.
        """
        read = {key for one in self.schedule for key in one.reads}
        return {
            array.name: array.variable
            for array in self.blueprint.arrays
            if array.part == part.name
            and not (array.name == "plastic" or _constant(array.variable))
            and (array.key in read or (part.name != "clock" and array.variable.role != "parameter"))
        }

    def _name(self, part: Population | Pathway, meant: Meaning) -> str:
        """Return how ``part`` writes a variable; note it among the links or constants."""
        ends = {part.target: "post", part.source: "pre"} if isinstance(part, Pathway) else {}
        taken = any(meant.variable in self.declared[end] for end in ends if end != meant.part)
        name = f"{meant.variable}_heard" if taken else meant.variable
        quantity = self.blueprint.by_key.get(meant.key)
        if quantity and _constant(quantity.variable):
            self.constants[name] = quantity
        elif meant.place in ("pre", "post"):
            name = f"{meant.variable}_{meant.place}"
        elif meant.place == "own":
            name = meant.variable
        elif meant.part in ends:
            name = f"{meant.variable}_{ends[meant.part]}"
        else:
            self.links[part.name][name] = meant
        return name

    def _written_out(self, operation: Operation) -> str:
        """Return the code of ``operation``, in which what follows from parameters alone is written
        where it is read: Brian2 wants what is one number for all cells before what each has.
        """
        if operation.fills:
            return operation.code
        part, names = self.parts[operation.part], names_in(operation.code)
        meanings = self.blueprint.meanings
        meant = {name: meanings.find(part, name) for name in names.read}
        fixed = {
            n for n, found in meant.items() if found and meanings.role(found.key) == "parameter"
        }
        kept = {name for name in names.written if f"{part.name}.{name}" in operation.writes}
        known: dict[str, str] = {}
        lines = []
        for node in ast.parse(operation.code).body:
            assert isinstance(node, ast.Assign | ast.AugAssign)
            name = ast.unparse(node.target if isinstance(node, ast.AugAssign) else node.targets[0])
            value = rename(ast.unparse(node.value), known)
            sign = "="
            if isinstance(node, ast.AugAssign):
                sign = f"{_SIGNS[type(node.op)]}="
                if name in known:
                    sign, value = "=", f"{known[name]} {sign[0]} ({value})"
            if sign == "=" and name not in kept and {*names_in(value).read} <= fixed:
                known[name] = f"({value})"
            else:
                known.pop(name, None)
                lines.append(f"{name} {sign} {value}")
        return "\n".join(lines)

    # -- what the template prints ------------------------------------------------------------------

    def contents(self) -> dict[str, Any]:
        """Return what the template needs to know."""
        clock = self.declared["clock"]
        arrays = [*self.blueprint.arrays, *self.constants.values()]
        units = {dimension_of(array.variable.unit) for array in arrays} - {"1", "second"}
        return {
            "job": self.job,
            "microcircuit": self.job.circuit.regression is not None,
            "blueprint": self.blueprint,
            "constants": self.constants,
            "units": sorted(units),
            "draws": [d for d in random_draws.DRAWS if any(d in one.code for one in self.schedule)],
            "random": random_draws,
            "groups": [self._group(p) for p in self.parts.everything if [*self._lines(p)]],
            "actions": [self._action(one) for one in self.schedule],
            "lengths": self.lengths,
            "counted": [name for name in clock if name in _COUNTED],
            "times": [name for name in clock if name not in _COUNTED],
            "call": _call,
            "number": _number,
            "written": _written,
            "listed": _listed,
            "dimension_of": dimension_of,
            "source": inspect.getsource,
        }

    def _group(self, part: Population | Pathway) -> dict[str, Any]:
        """Return what is declared and set of the group of ``part``."""
        # The clock and the weights are set further below.
        first = [n for n in self.declared[part.name] if n != "w" and part.name != "clock"]
        values = {name: self.job.state.get(f"{part.name}.{name}", np.zeros(1)) for name in first}
        return {
            "part": part,
            "turn": self.blueprint.orientations.get(part.name),
            "lines": list(self._lines(part)),
            "starts": {name: start for name, start in values.items() if start.any()},
            "links": self.links[part.name],
        }

    def _lines(self, part: Population | Pathway) -> Iterator[str]:
        """Yield the equations of ``part``."""
        for name, variable in self.declared[part.name].items():
            shared = variable.per in ("population", "pathway")
            flags = ["shared"] * shared + ["constant"] * (variable.role == "parameter")
            yield _declaration(name, variable, *flags)
        for name, meant in self.links[part.name].items():
            yield _declaration(name, self.declared[meant.part][meant.variable], "linked")
        for one in self.schedule:
            if one.part == part.name and one.fills:
                filled = self.declared[part.target][one.fills]  # type: ignore[union-attr]
                yield _declaration(f"{one.fills}_post", filled, "summed", code=self.codes[one])

    def _action(self, one: Operation) -> dict[str, Any]:
        """Return what the group of ``one`` does."""
        action = {"part": one.part, "fills": one.fills, "once": self._once(one), "statements": []}
        part, own = self.parts[one.part], self.declared[one.part]
        if one.fills:
            filled = self.declared[part.target][one.fills]  # type: ignore[union-attr]
            return action | {"meaning": filled.meaning}
        return action | {"statements": [*_statements(self.codes[one], self.gates[one], own)]}


def _statements(code: str, gate: str, own: dict[str, Variable]) -> Iterator[str]:
    """Yield statements, of which those that change what a part has of its ``own`` do so only while
    ``gate`` is not 0.
    """
    same: set[str] = set()  # names that may be one array with another
    for node in ast.parse(code).body:
        added = isinstance(node, ast.AugAssign)
        name = ast.unparse(node.target if added else node.targets[0])  # type: ignore[attr-defined]
        value, paused = ast.unparse(node.value), bool(gate) and name in own  # type: ignore[attr-defined]
        if added and paused and name == "w" and isinstance(node.op, ast.Add):  # type: ignore[attr-defined]
            yield f"w += {f'({gate})' if '+' in gate else gate} * ({value})"
            continue
        # Brian2 adds in place: after `a = b`, `a += 1` would change b too.
        if added and not paused and name not in same:
            yield ast.unparse(node)
            continue
        if added:
            value = ast.unparse(ast.BinOp(ast.Name(name), node.op, node.value))  # type: ignore[attr-defined]
        if paused:
            value = f"where({gate} > 0, {value}, {name})"
        # Brian2 rearranges assignments of an expression that reads the name itself.
        if name in names_in(value).read:
            yield f"_new_{name} = {value}"
            value = f"_new_{name}"
        if value.isidentifier():
            same |= {name, value}
        yield f"{name} = {value}"


def _declaration(name: str, variable: Variable, *flags: str, code: str = "") -> str:
    """Return the line of a group's equations that declares ``name``."""
    equation = f"{name} = {code}" if code else name
    flagged = f" ({', '.join(flags)})" if flags else ""
    meaning = f"  # {variable.meaning}" if variable.meaning not in ("", name) else ""
    return f"{equation} : {dimension_of(variable.unit)}{flagged}{meaning}"


def _constant(variable: Variable) -> bool:
    """Return True for a parameter of the whole circuit."""
    return variable.per == "circuit" and variable.role == "parameter"


def _call(part: str) -> str:
    """Return the Python name of a part's group."""
    return f"{part}_group" if part in _TAKEN else part


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else f"float('{float(value)}')"


def _written(values: np.ndarray) -> str:
    """Return flat values, as one number where they are equal."""
    if np.all(values == values[0]):
        return _number(values[0])
    return f"np.array({_listed(values)})"


def _listed(values: np.ndarray) -> str:
    """Return all of ``values`` as a list, exact to the last digit, in lines."""
    text = ", ".join(map(repr, np.ravel(values).tolist()))
    lines = textwrap.fill(text, 94, initial_indent="    ", subsequent_indent="    ")
    return f"[{text}]" if len(text) < 60 else f"[\n{lines},\n]"
