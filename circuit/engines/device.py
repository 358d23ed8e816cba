"""A Brian2 C++ device for circuits whose pathways are all-to-all.

Brian2's own C++ reaches every synapse through index arrays and asks the system for the time at every tick. Where it is
known that all cells of two populations are connected, plain nested loops do the same sums in the same order and
vectorise; one clock needs no search for the next; one file for the compiler lets it see the whole tick at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from brian2.codegen.generators.cpp_generator import CPPCodeGenerator
from brian2.devices.cpp_standalone.codeobject import CPPStandaloneCodeObject
from brian2.devices.cpp_standalone.device import CPPStandaloneDevice
from brian2.parsing.sympytools import str_to_sympy
from brian2.utils.stringtools import stripped_deindented_lines
from sympy import Expr, Symbol

from biorrr.circuit.blueprint import Blueprint
from biorrr.circuit.schedule import Action

# A vector that straddles two lines of the cache costs two look-ups.
_ALIGNED_MEMORY = """#include <stdlib.h>
#include <new>
void *operator new(std::size_t size)
{
    void *memory;
    if (posix_memalign(&memory, 64, size)) throw std::bad_alloc();
    return memory;
}
void operator delete(void *memory) noexcept { free(memory); }
void operator delete(void *memory, std::size_t) noexcept { free(memory); }
"""
# What happens once, before the first tick: to optimise it would take longer than to compile all else.
_ONCE = """#pragma GCC push_options
#pragma GCC optimize ("O0")
#include "{name}"
#pragma GCC pop_options
"""
_BROADCAST = re.compile(r"\s*const double \w+ = _ptr_array_\w+\[0\];\s*$")
_DENSE = {"summed_variable": "dense_summed_variable", "stateupdate": "dense_stateupdate"}


@dataclass(frozen=True)
class _Loops:
    """What our templates need to know of a step.

    Parameters
    ----------
    targets
        Cells of the target population.
    begin, end
        The sources that have anything to say in this tick, as C++.
    gates
        C++ conditions under which the step changes nothing.
    source_index, target_index
        C++ names of Brian2's index arrays.
    """

    gates: tuple[str, ...]
    targets: int = 0
    begin: str = ""
    end: str = ""
    source_index: str = ""
    target_index: str = ""

    def broadcast(self, code) -> str:
        """The lines of ``code`` that fetch what is broadcast: the same for all synapses, so once is enough."""
        return "\n".join(line for line in _lines(code) if _BROADCAST.match(line))

    def direct(self, code) -> str:
        """The other lines, with the look-ups of a synapse's two cells replaced by the loop counters."""
        inner = "\n".join(line for line in _lines(code) if not _BROADCAST.match(line))
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
        """Brian2's, with our template where a step has gates or synapses that are all there."""
        step = name.split("_codeobject")[0]
        action = self.actions.get(step)
        synapses = getattr(owner, "synapses", owner)
        synaptic = hasattr(synapses, "summed_updaters")
        loops = None
        if action is not None and synaptic and self.dense and template_name in _DENSE:
            template, loops = _DENSE[template_name], self._loops(synapses, action, variable_indices)
        elif action is not None and (action.gate or action.when) and template_name == "stateupdate":
            template, loops = "gated_stateupdate", _Loops(self._gates(owner, action))
        if loops is not None:
            kwds["template_kwds"] = {**(kwds.get("template_kwds") or {}), "loops": loops}
            template_name = template
        return super().code_object(owner, name, abstract_code, variables, template_name, variable_indices, **kwds)

    def _gates(self, group, action: Action) -> tuple[str, ...]:
        """Where ``action`` does not happen: not in this kind of tick, not again, or not with plasticity off."""
        clock, stage = self.stage
        waking, onset = (f"brian::_array_{clock}_{name}[0]" for name in (stage, "onset"))
        gates = [f"{waking} {'==' if action.gate == 'waking' else '!='} 0"] if action.gate else []
        if action.when:
            gates.append({"onset": f"{waking} != 0 && {onset} == 0", "recorded": "!_recorded"}[action.when])
        if action.addend:
            gates.append(f"brian::{self.get_array_name(group.variables['plastic'])}[0] == 0")
        return tuple(gates)

    def _loops(self, synapses, action: Action, variable_indices) -> _Loops:
        # A step whose addend is 0 changes nothing: a weight is within its bound already.
        added = action.code if action.drives else action.addend
        addend = _symbolic(added) if added else None
        source = self.parts[synapses.source.name]
        activity = self.presented.get(source.name)
        ranged = activity is not None and _vanishes(addend, f"{activity}_pre")

        def pointer(name: str) -> str:
            return f"_ptr{self.get_array_name(synapses.variables[name])}"

        return _Loops(
            gates=(
                *self._gates(synapses, action),
                *(
                    f"{pointer(name)}[0] == 0"
                    for name, at in variable_indices.items()
                    if at == "0" and not action.drives and _vanishes(addend, name)
                ),
            ),
            targets=len(synapses.target),
            begin=f"_active_{source.name}.begin" if ranged else "0",
            end=f"_active_{source.name}.end" if ranged else str(len(synapses.source)),
            source_index=pointer("_synaptic_pre"),
            target_index=pointer("_synaptic_post"),
        )

    def generate_network_source(self, writer, compiler):
        """One clock, one fixed sequence: the loop calls each step by name, so the compiler can inline them all."""
        super().generate_network_source(writer, compiler)
        (steps,) = ([c for c in netcode if ".add(" in c] for f, (_, netcode) in self._networks())
        names = [line.split(", _run_")[1].split(")")[0] for line in steps]
        includes = "\n".join(f'#include "code_objects/{name}.h"' for name in names)
        calls = "\n        ".join(f"_run_{name}();" for name in names)
        (clock,) = self.clocks
        writer.write(
            "network.cpp",
            f"""#include "objects.h"
#include "network.h"
{includes}
double Network::_last_run_time = 0.0;
double Network::_last_run_completed_fraction = 0.0;
bool Network::_globally_stopped = false;
bool Network::_globally_running = false;
Network::Network() {{ t = 0.0; }}
void Network::clear() {{ objects.clear(); }}
// Of Clocks in Brian2 2.9, of BaseClocks since.
void Network::add(decltype(Network::objects)::value_type::first_type, codeobj_func) {{}}
void Network::run(const double, void (*)(const double, const double, const double, const double), const double)
{{
    // The step that presents samples ends the program after the last one.
    for (;;)
    {{
        {calls}
        brian::{clock.name}.tick();
    }}
}}
""",
        )

    def _networks(self):
        return [(func, args) for func, args in self.main_queue if func == "run_network"]

    def generate_codeobj_source(self, writer):
        """Brian2's, with the helper functions that it repeats in every file stated once."""
        helpers = "\n".join(
            f"    {line}" for line in stripped_deindented_lines(CPPCodeGenerator.universal_support_code)
        )
        writer.write("helpers.h", f"#pragma once\n{helpers}\n")
        for codeobj in self.code_objects.values():
            codeobj.code.cpp_file = codeobj.code.cpp_file.replace(helpers, '#include "helpers.h"')
        super().generate_codeobj_source(writer)

    def generate_makefile(self, writer, *args, **kwds):
        """All sources in one file, for :func:`biorrr.circuit.engines.compiler.compile_program`."""
        # More helpers that Brian2 repeats wherever they are called: each file gets its own.
        repeated = ("_rand", "_randn", "_clip", "_sign")
        units = "".join(
            "".join(f"#define {helper} {helper}_{i}\n" for helper in repeated)
            + (_ONCE.format(name=name) if name in ("main.cpp", "objects.cpp") else f'#include "{name}"\n')
            + "".join(f"#undef {helper}\n" for helper in repeated)
            for i, name in enumerate(sorted(writer.source_files))
        )
        ranges = "".join(f"static struct {{ int begin, end; }} _active_{port.population};\n" for port in self.ports)
        writer.write("circuit.cpp", _ALIGNED_MEMORY + ranges + "static bool _recorded;\n" + units)


def _lines(code) -> list[str]:
    return code.splitlines() if isinstance(code, str) else list(code)


def _symbolic(expression: str) -> Expr | None:
    """``expression`` for sympy; None where that cannot read it, such as a product with a comparison."""
    try:
        return str_to_sympy(expression)
    except SyntaxError:
        return None


def _vanishes(addend: Expr | None, name: str) -> bool:
    """Whether ``addend`` is 0 wherever ``name`` is."""
    return addend is not None and addend.subs(Symbol(name, real=True), 0) == 0
