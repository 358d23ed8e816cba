"""The C++ source of a circuit: one file, written from the circuit's own description.

The circuit is built as a Brian2 network first, as for the other engines: Brian2 checks its
equations and their units. Each operation of its program is then one C++ function, whose expressions
Brian2 translates, and each block calls its operations in order.
"""

from __future__ import annotations

from pathlib import Path

import jinja2

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.brian2_import import borrowed_brian2
from biorrr.circuit.engines.brian2_private import cpp_translator
from biorrr.circuit.engines.cpp_steps import Translator, active_of, array_of
from biorrr.circuit.engines.memory import ELEMENT_TYPES, LINE, Memory
from biorrr.models import random_draws

TEMPLATES = Path(__file__).parent / "templates"
_HEADERS = ("algorithm", "cmath", "cstddef", "cstdint")


def write_source(circuit: Blueprint) -> str:
    """Return the C++ source of ``circuit``."""
    with borrowed_brian2("numpy"):
        from biorrr.circuit.engines.network import build_network

        build_network(circuit).never_run()
    translator, program = Translator(circuit, cpp_translator()), circuit.program
    steps = {one: translator.step(one) for one in program.operations}
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("circuit.cpp").render(
        headers=_HEADERS,
        memory=Memory(circuit),
        line=LINE,
        draws="\n".join(random_draws.SOURCES),
        steps=steps.values(),
        blocks=[
            (f"{presented}_{name}", [steps[one] for one in block])
            for presented in ("sample", "replay")
            for name, block in getattr(program, presented)
        ],
        counts_ticks=circuit.parts["clock"].has("elapsed"),
        ports=[
            {
                "population": port.population,
                "variable": port.variable,
                "array": array_of(port.population, port.variable),
                "active": active_of(port.population, port.variable),
                "size": circuit.parts[port.population].size,
                "moves": port.name in circuit.moving_ports,
                "replayed": place == 0,  # the first port is the one whose inputs are replayed
            }
            for place, port in enumerate(circuit.ports)
        ],
        watched=[
            (array_of(part, variable), circuit.parts[part].size)
            for part, variable in circuit.watched
        ],
        element_types=list(enumerate(ELEMENT_TYPES.values())),
    )
