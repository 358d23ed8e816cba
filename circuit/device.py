"""A Brian2 C++ device for circuits whose pathways are all-to-all.

Brian2's own C++ reaches every synapse through index arrays and asks the system for the time at every tick. Where it is
known that all cells of two populations are connected, plain nested loops do the same sums in the same order and
vectorise; one clock needs no search for the next; one file for the compiler lets it see the whole tick at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from brian2.codegen.generators.cpp_generator import CPPCodeGenerator
from brian2.devices.cpp_standalone.codeobject import CPPStandaloneCodeObject
from brian2.devices.cpp_standalone.device import CPPStandaloneDevice
from brian2.utils.stringtools import stripped_deindented_lines

_DENSE = {"summed_variable": "dense_summed_variable", "stateupdate": "dense_stateupdate"}


@dataclass(frozen=True)
class _Dense:
    """What the dense templates need to know of a pathway."""

    sources: int
    targets: int
    source_index: str
    target_index: str
    silent_source: str = ""

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
    """

    def __init__(self, dense: frozenset[str]) -> None:
        super().__init__()
        self.dense = dense

    def code_object_class(self, codeobj_class=None, fallback_pref=None):
        """Our code objects."""
        return codeobj_class or DenseCodeObject

    def code_object(self, owner, name, abstract_code, variables, template_name, variable_indices, **kwds):
        """Brian2's, with a dense template where the pathway allows it."""
        synapses = getattr(owner, "synapses", owner)
        if template_name in _DENSE and synapses.name in self.dense:
            template_name = _DENSE[template_name]
            kwds["template_kwds"] = {**(kwds.get("template_kwds") or {}), "dense": self._dense(synapses, abstract_code)}
        return super().code_object(owner, name, abstract_code, variables, template_name, variable_indices, **kwds)

    def _dense(self, synapses, abstract_code) -> _Dense:
        pointer = {
            name: "_ptr" + self.get_array_name(synapses.variables[name]) for name in ("_synaptic_pre", "_synaptic_post")
        }
        return _Dense(len(synapses.source), len(synapses.target), pointer["_synaptic_pre"], pointer["_synaptic_post"])

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
void Network::add(Clock *clock, codeobj_func func) {{}}
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
        # Two more helpers that Brian2 repeats, where synapses are created: each file gets its own.
        unit = '#define _rand _rand_{0}\n#define _randn _randn_{0}\n#include "{1}"\n#undef _rand\n#undef _randn\n'
        sources = sorted(writer.source_files)
        writer.write("circuit.cpp", "".join(unit.format(i, name) for i, name in enumerate(sources)))
