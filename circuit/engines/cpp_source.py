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
from biorrr.circuit.engines.cpp_steps import Step, Translator, array_of
from biorrr.circuit.engines.memory import ELEMENT_TYPES, LINE, Memory
from biorrr.models import random_draws

TEMPLATES = Path(__file__).parent / "templates"
# Functions of one number that are applied to each of several runs.
_FUNCTIONS = (
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
    steps = {one: translator.step(one) for one in program.operations}
    sample = [(f"sample_{name}", [steps[one] for one in block]) for name, block in program.sample]
    replay = [
        (f"replay_{name}", [_in_replay(circuit, steps[one]) for one in block])
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
        functions=_FUNCTIONS,
        # Loops over vectors are not made into vectors.
        simd="#pragma omp simd" if lanes == 1 else "",
        line=LINE,
        random=random_draws,
        steps={step.name: step for _, block in blocks for step in block}.values(),
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


def _in_replay(circuit: Blueprint, step: Step) -> Step:
    """Return what ``step`` is while one input is presented alone."""
    port = circuit.replayed_port
    if step.driver is None:
        return step
    if step.driver == (port.population, port.variable):
        return replace(step, name=f"{step.name}_alone", alone=True)
    # Other inputs are silent.
    name, each = f"{step.name}_silent", [f"{step.total}[_i] = 0;"] if step.total else []
    return Step(name, [], {}, [], each, step.cells)
