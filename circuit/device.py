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
_DENSE = {"summed_variable": "dense_summed_variable", "stateupdate": "dense_stateupdate"}


@dataclass(frozen=True)
class _Dense:
    """What the dense templates need to know of a step.

    Parameters
    ----------
    targets
        Cells of the target population.
    begin, end
        The sources that have anything to say in this tick, as C++.
    gates
        Broadcast quantities, as C++; the step changes nothing while one of them is 0.
    source_index, target_index
        C++ names of Brian2's index arrays.
    """

    targets: int
    begin: str
    end: str
    gates: tuple[str, ...]
    source_index: str
    target_index: str

    def direct(self, code):
        """``code`` with the look-ups of a synapse's two cells replaced by the loop counters."""
        lines = code if isinstance(code, str) else "\n".join(code)
        return lines.replace(f"{self.source_index}[_idx]", "_source").replace(f"{self.target_index}[_idx]", "_target")


class DenseCodeObject(CPPStandaloneCodeObject):
    """Brian2's C++ code object with our templates before its own."""

    templater = CPPStandaloneCodeObject.templater.derive("biorrr.circuit")


class DenseDevice(CPPStandaloneDevice):
    """Brian2's C++ standalone device with index-free loops and one fixed tick.

    Parameters
    ----------
    dense
        Names of the pathways known to be all-to-all; the others keep Brian2's own loops.
    presented
        Populations whose activity only the presentation of samples sets, and the name of that activity. Outside
        `_active_<population>`, a range of cells that the presentation keeps up to date, it is 0.
    """

    def __init__(self, dense: frozenset[str], presented: dict[str, str]) -> None:
        super().__init__()
        self.dense, self.presented = dense, presented

    def code_object_class(self, codeobj_class=None, fallback_pref=None):
        """Our code objects."""
        return codeobj_class or DenseCodeObject

    def code_object(self, owner, name, abstract_code, variables, template_name, variable_indices, **kwds):
        """Brian2's, with a dense template where the pathway allows it."""
        synapses = getattr(owner, "synapses", owner)
        if template_name in _DENSE and synapses.name in self.dense:
            kwds["template_kwds"] = {
                **(kwds.get("template_kwds") or {}),
                "dense": self._dense(synapses, template_name, abstract_code, variable_indices),
            }
            template_name = _DENSE[template_name]
        return super().code_object(owner, name, abstract_code, variables, template_name, variable_indices, **kwds)

    def _dense(self, synapses, template_name, abstract_code, variable_indices) -> _Dense:
        (statements,) = abstract_code.values()
        addend = _addend(statements, "+=" if template_name == "stateupdate" else "=")
        activity = self.presented.get(synapses.source.name)
        ranged = activity is not None and _vanishes(addend, f"{activity}_pre")

        def pointer(name: str) -> str:
            return f"_ptr{self.get_array_name(synapses.variables[name])}"

        return _Dense(
            targets=len(synapses.target),
            begin=f"_active_{synapses.source.name}.begin" if ranged else "0",
            end=f"_active_{synapses.source.name}.end" if ranged else str(len(synapses.source)),
            gates=tuple(
                f"{pointer(name)}[0]" for name, at in variable_indices.items() if at == "0" and _vanishes(addend, name)
            ),
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
        """All sources in one file, for :func:`biorrr.circuit.compiler.compile_program`."""
        # More helpers that Brian2 repeats wherever they are called: each file gets its own.
        repeated = ("_rand", "_randn", "_clip", "_sign")
        units = "".join(
            "".join(f"#define {helper} {helper}_{i}\n" for helper in repeated)
            + f'#include "{name}"\n'
            + "".join(f"#undef {helper}\n" for helper in repeated)
            for i, name in enumerate(sorted(writer.source_files))
        )
        ranges = "".join(f"static struct {{ int begin, end; }} _active_{name};\n" for name in self.presented)
        writer.write("circuit.cpp", _ALIGNED_MEMORY + ranges + units)


def _addend(statements: str, operator: str) -> Expr | None:
    """What a single statement `variable <operator> addend` adds; None for anything else."""
    single = re.fullmatch(rf"\s*\w+\s*{re.escape(operator)}([^=\n]+)\s*", statements)
    return single and str_to_sympy(single[1].strip())


def _vanishes(addend: Expr | None, name: str) -> bool:
    """Whether ``addend`` is 0 wherever ``name`` is."""
    return addend is not None and addend.subs(Symbol(name, real=True), 0) == 0
