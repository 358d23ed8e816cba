"""The C++ source of a circuit: one file, written from the circuit's own description.

The circuit is built as a Brian2 network first, as for the other engines: Brian2 checks its
equations and their units. Each operation of its program is then one C++ function, whose expressions
Brian2 translates, and each block calls its operations in order.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jinja2

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.brian2_import import borrow_brian2
from biorrr.circuit.engines.brian2_private import cpp_translator
from biorrr.circuit.engines.cpp_functions import CppFunction, Translator, array_of
from biorrr.circuit.engines.memory import ELEMENT_TYPES, LINE, Memory
from biorrr.models import random_draws

TEMPLATES = Path(__file__).parent / "templates"
# Functions of one number that are applied to each of several runs.
_ELEMENTWISE = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "exp", "expm1"),
    *("log", "log10", "log1p", "sqrt", "ceil", "floor", "fabs", "_int"),
)
_HEADERS = ("algorithm", "cmath", "cstddef", "cstdint", "vector")


def write_source(circuit: Blueprint, lanes: int = 1) -> str:
    """Return the C++ source of ``circuit``, of which so many ``lanes`` run side by side."""
    with borrow_brian2("numpy"):
        from biorrr.circuit.engines.network import build_network

        build_network(circuit).never_run()
    translator, program = Translator(circuit, cpp_translator()), circuit.program
    functions = {one: translator.function(one) for one in program.operations}
    sample = [
        (f"sample_{name}", [functions[one] for one in block]) for name, block in program.sample
    ]
    replay = [
        (f"replay_{name}", [_in_replay(circuit, functions[one]) for one in block])
        for name, block in program.replay
    ]
    blocks = [*sample, *replay]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("circuit.cpp").render(
        headers=_HEADERS,
        memory=Memory(circuit, lanes),
        lanes=lanes,
        elementwise=_ELEMENTWISE,
        # Loops over vectors are not made into vectors.
        simd="#pragma omp simd" if lanes == 1 else "",
        line=LINE,
        random=random_draws,
        functions={one.name: one for _, block in blocks for one in block}.values(),
        blocks=blocks,
        counts_ticks=circuit.parts["clock"].has("elapsed"),
        ports=[
            {
                "population": port.population,
                "variable": port.variable,
                "array": array_of(port.population, port.variable),
                "size": circuit.parts[port.population].size,
                "moves": port.name in circuit.moving_ports,
                "replayed": port is circuit.replayed_port,
            }
            for port in circuit.ports
        ],
        watched=[
            (array_of(part, variable), circuit.parts[part].size)
            for part, variable in circuit.watched
        ],
        element_types=list(enumerate(ELEMENT_TYPES.values())),
    )


def _in_replay(circuit: Blueprint, function: CppFunction) -> CppFunction:
    """Return what ``function`` is while one input is presented alone."""
    port = circuit.replayed_port
    if function.driver is None:
        return function
    if function.driver == (port.population, port.variable):
        return replace(function, name=f"{function.name}_alone", alone=True)
    # Other inputs are silent.
    name, each = f"{function.name}_silent", [f"{function.total}[_i] = 0;"] if function.total else []
    return CppFunction(name, [], {}, [], each, function.cells)
