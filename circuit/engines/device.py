"""A Brian2 C++ device for circuits whose pathways are all-to-all.

Brian2's own C++ reaches every synapse through index arrays and asks the system for the time at every tick. Where it is
known that all cells of two populations are connected, plain nested loops do the same sums in the same order and
vectorise; one clock needs no search for the next; one file for the compiler lets it see the whole tick at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from brian2 import Network
from brian2.codegen.generators.cpp_generator import CPPCodeGenerator, c_data_type
from brian2.devices.cpp_standalone.codeobject import CPPStandaloneCodeObject
from brian2.devices.cpp_standalone.device import CPPStandaloneDevice, CPPWriter
from brian2.parsing.sympytools import str_to_sympy
from brian2.utils.stringtools import stripped_deindented_lines
from sympy import Expr, Symbol

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.schedule import Action
from biorrr.circuit.engines.function_calls import calls_first, lines_of

_WAKING, _LATER = "_waking", "_later"  # whether a sample is on, and whether in another tick than its first
_OBJECTS = """#pragma once
#include <array>
#include <climits>
#include <cmath>
#include "brianlib/common_math.h"
#include "brianlib/stdint_compat.h"
namespace brian {{
{arrays}
}}
namespace {{
{helpers}
}}
{ranges}
static bool _recorded;
"""
# Aligned, since a vector that straddles two lines of the cache costs two look-ups.
_ARRAY = "alignas(64) static {type} {name}[{size}];"
_SYNAPTIC_ARRAY = "alignas(64) static std::array<{type}, {size}> {name};"
_TICKS = """static const bool _holds = {holds};  // samples for more than one tick

// What happens while a sample is held, between its first tick and its last.
__attribute__((flatten)) static void _tick_between()
{{
    {between}
}}

int main()
{{
    {start}
    // The step that presents samples ends the program after the last one. Nothing reads Brian2's own time.
    bool _waking, _later;
    for (;;)
    {{
        _run_{presenting}();
        _waking = {waking};
        {first}
        _later = _waking && !({onset});
        if (_holds && _later && !({closing}) && !_recorded)
        {{
            _tick_between();
            continue;
        }}
        {rest}
    }}
}}
"""
_BROADCAST = re.compile(r"\s*const double \w+ = _ptr_array_\w+\[0\];\s*$")
_MANY = 8  # cells, from which on a loop over them is worth vectorising
_DENSE = {"summed_variable": "dense_summed_variable", "stateupdate": "dense_stateupdate"}


@dataclass(frozen=True)
class _Loops:
    """What our templates need to know of a step of synapses.

    Parameters
    ----------
    targets
        Cells of the target population.
    begin, end
        The sources that have anything to say in this tick, as C++.
    source_index, target_index
        C++ names of Brian2's index arrays.
    """

    targets: int
    begin: str
    end: str
    source_index: str
    target_index: str

    def broadcast(self, code) -> str:
        """The lines of ``code`` that fetch what is broadcast: the same for all synapses, so once is enough."""
        return "\n".join(line for line in lines_of(code) if _BROADCAST.match(line))

    def direct(self, code) -> str:
        """The other lines, with the look-ups of a synapse's two cells replaced by the loop counters."""
        inner = "\n".join(line for line in lines_of(code) if not _BROADCAST.match(line))
        return inner.replace(f"{self.source_index}[_idx]", "_source").replace(f"{self.target_index}[_idx]", "_target")


class DenseCodeObject(CPPStandaloneCodeObject):
    """Brian2's C++ code object with our templates before its own."""

    templater = CPPStandaloneCodeObject.templater.derive("biorrr.circuit.engines")


class DenseDevice(CPPStandaloneDevice):
    """Brian2's C++ standalone device with index-free loops and one fixed tick.

    Parameters
    ----------
    blueprint
        The circuit: what happens when, and which activities only the presentation of samples sets.
    dense
        Whether pathways get plain nested loops; otherwise they keep Brian2's own.
    """

    def __init__(self, blueprint: Blueprint, dense: bool) -> None:
        super().__init__()
        self.dense = dense
        self.parts = blueprint.parts
        self.stage = blueprint.stage
        self.due: dict[str, list[str]] = {}
        self.actions = {
            f"{action.part}_summed_variable_{action.drives}_post" if action.drives else action.name: action
            for action in blueprint.program.actions
        }
        # Outside `_active_<population>`, a range of cells that the presentation keeps up to date, such activity is 0.
        # Fibres that change it themselves may speak where nothing was presented.
        self.ports = blueprint.ports
        written = {name for action in blueprint.schedule for name in action.writes}
        self.presented = {p.population: p.variable for p in self.ports if f"{p.population}.{p.variable}" not in written}

    def code_object_class(self, codeobj_class=None, fallback_pref=None):
        """Our code objects."""
        return codeobj_class or DenseCodeObject

    def code_object(self, owner, name, abstract_code, variables, template_name, variable_indices, **kwds):
        """Brian2's, with our template where all of a step's synapses are there, or where it is a step of many cells."""
        step = _step(name)
        action = self.actions.get(step)
        group = getattr(owner, "synapses", owner)
        if action is not None:
            self.due[step] = self._due(group, action, variable_indices)
            more: dict[str, object] = {}
            if hasattr(group, "summed_updaters") and self.dense and template_name in _DENSE:
                template_name, more = _DENSE[template_name], {"loops": self._loops(group, action)}
            elif template_name == "stateupdate" and self.dense and len(group) >= _MANY:
                template_name, more = "cell_stateupdate", {"calls_first": calls_first}
            kwds["template_kwds"] = {**(kwds.get("template_kwds") or {}), **more}
        return super().code_object(owner, name, abstract_code, variables, template_name, variable_indices, **kwds)

    def _value(self, group, name: str) -> str:
        """What a group has one of, or hears, in C++."""
        return f"brian::{self.get_array_name(group.variables[name])}[0]"

    def _due(self, group, action: Action, variable_indices) -> list[str]:
        """C++ conditions without which ``action`` changes nothing."""
        due = {"": [], "waking": [_WAKING], "replaying": [f"!{_WAKING}"]}[action.gate]
        due += {"": [], "onset": [f"!{_LATER}"], "recorded": ["_recorded"]}[action.when]
        if action.addend:
            # A step whose addend is 0 changes nothing: a weight is within its bound already.
            addend = _symbolic(action.addend)
            factors = [name for name, at in variable_indices.items() if at == "0" and _vanishes(addend, name)]
            due += [f"{self._value(group, name)} != 0" for name in ("plastic", *factors)]
        return due

    def _loops(self, synapses, action: Action) -> _Loops:
        source = self.parts[synapses.source.name]
        activity = self.presented.get(source.name)
        added = action.code if action.drives else action.addend
        ranged = activity is not None and added != "" and _vanishes(_symbolic(added), f"{activity}_pre")

        def pointer(name: str) -> str:
            return f"_ptr{self.get_array_name(synapses.variables[name])}"

        return _Loops(
            targets=len(synapses.target),
            begin=f"_active_{source.name}.begin" if ranged else "0",
            end=f"_active_{source.name}.end" if ranged else str(len(synapses.source)),
            source_index=pointer("_synaptic_pre"),
            target_index=pointer("_synaptic_post"),
        )

    def synapses_connect(self, synapses) -> None:
        """Nothing to do: everyone is connected to everyone, in arrays whose sizes are known."""

    def write_program(self, network: Network, folder: Path) -> Path:
        """Write ``network``, which has been run on this device, as C++ into ``folder``; the file to compile."""
        writer = CPPWriter(str(folder))
        for name in ("code_objects", "brianlib"):
            (folder / name).mkdir()
        self.copy_source_files(writer, str(folder))
        helpers = "\n".join(
            f"    {line}" for line in stripped_deindented_lines(CPPCodeGenerator.universal_support_code)
        )
        self._write_objects(writer, helpers)
        for codeobj in self.code_objects.values():
            codeobj.code.cpp_file = codeobj.code.cpp_file.replace(helpers, "")  # in `objects.h` already
        self.generate_codeobj_source(writer)
        runs = [codeobj.name for step in network.sorted_objects for codeobj in step._code_objects]
        self._write_ticks(writer, runs)
        # More helpers that Brian2 repeats wherever they are called: each file gets its own.
        repeated = ("_clip", "_sign")
        steps = "".join(
            "".join(f"#define {helper} {helper}_{i}\n" for helper in repeated)
            + f'#include "code_objects/{run}.cpp"\n'
            + "".join(f"#undef {helper}\n" for helper in repeated)
            for i, run in enumerate(runs)
        )
        writer.write("circuit.cpp", f'#include "objects.h"\n{steps}#include "ticks.cpp"\n')
        return folder / "circuit.cpp"

    def _write_objects(self, writer: CPPWriter, helpers: str) -> None:
        """All variables of all parts, as arrays of the program."""
        arrays = [
            _ARRAY.format(type=c_data_type(variable.dtype), name=name, size=variable.size)
            for variable, name in self.arrays.items()
            if variable not in self.dynamic_arrays
        ]
        arrays += [
            _SYNAPTIC_ARRAY.format(type=c_data_type(variable.dtype), name=name, size=self._size(variable))
            for variable, name in self.dynamic_arrays.items()
        ]
        ranges = [f"static struct {{ int begin, end; }} _active_{port.population};" for port in self.ports]
        writer.write("objects.h", _OBJECTS.format(arrays="\n".join(arrays), helpers=helpers, ranges="\n".join(ranges)))

    def _size(self, variable) -> int:
        """How many numbers a synaptic variable holds; nested loops need no indices."""
        unused = self.dense and variable.name in ("_synaptic_pre", "_synaptic_post")
        return 0 if unused else len(variable.owner.source) * len(variable.owner.target)

    def _start(self) -> list[str]:
        """C++ for what Brian2's own program does before the first tick: number the cells, connect them."""
        lines = [
            f"for (int i = 0; i < {variable.size}; i++) brian::{name}[i] = {start} + i;"
            for variable, name, start in self.arange_arrays
        ]
        for synapses in [] if self.dense else sorted(self.synapses, key=lambda one: one.name):
            targets, count = len(synapses.target), len(synapses.source) * len(synapses.target)
            pre, post = (self.dynamic_arrays[synapses.variables[f"_synaptic_{end}"]] for end in ("pre", "post"))
            lines += [
                f"{self._value(synapses, 'N')} = {count};",
                f"for (int i = 0; i < {count}; i++) brian::{pre}[i] = i / {targets}, brian::{post}[i] = i % {targets};",
            ]
        return lines

    def _write_ticks(self, writer: CPPWriter, runs: list[str]) -> None:
        """One clock, one fixed sequence: the loop calls each step by name, so the compiler can inline them all."""
        names = [_step(run) for run in runs]
        clock, stage = self.stage
        begun = 1 + max(
            i for i, n in enumerate(names) if n in self.actions and f"{clock}.onset" in self.actions[n].writes
        )

        def call(name: str, known: tuple[str, ...] = ()) -> str:
            due = " && ".join(condition for condition in self.due[name] if condition not in known)
            run = f"_run_{runs[names.index(name)]}();"
            return f"if ({due}) {run}" if due else run

        # In most ticks of a held sample little happens.
        closing = f"brian::_array_{clock}_closing[0] != 0"
        resting = {f"!{_LATER}", "_recorded", f"!{_WAKING}", closing}
        holds = any(action.when for action in self.actions.values())
        between = [name for name in names[begun:] if holds and resting.isdisjoint(self.due[name])]
        writer.write(
            "ticks.cpp",
            _TICKS.format(
                start="\n    ".join(self._start()),
                waking=f"brian::_array_{clock}_{stage}[0] != 0",
                onset=f"brian::_array_{clock}_onset[0] != 0",
                closing=closing,
                holds=str(holds).lower(),
                between="\n    ".join(call(name, (_WAKING,)) for name in between),
                presenting=runs[0],
                first="\n        ".join(call(name) for name in names[1:begun]),
                rest="\n        ".join(call(name) for name in names[begun:]),
            ),
        )


def _step(code_object: str) -> str:
    """What a code object carries out, from its name."""
    return code_object.split("_codeobject")[0]


def _symbolic(expression: str) -> Expr | None:
    """``expression`` for sympy; None where that cannot read it, such as a product with a comparison."""
    try:
        return str_to_sympy(expression)
    except SyntaxError:
        return None


def _vanishes(addend: Expr | None, name: str) -> bool:
    """Whether ``addend`` reads ``name``, and is 0 wherever that is."""
    symbol = Symbol(name, real=True)
    return addend is not None and symbol in addend.free_symbols and addend.subs(symbol, 0) == 0
