"""The C++ source of a circuit: one file, written from the circuit's own description.

The circuit is built as a Brian2 network first, as for the other engines: Brian2 checks its
equations and their units. Each action of the schedule is then one C++ function, whose expressions
Brian2 translates.
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
# Of the clock: 0 between the first and the last tick of a sample.
_FLAGS = ("onset", "closing", "fresh", "replay_closing")
_HEADERS = ("algorithm", "cmath", "cstddef", "cstdint")


def write_source(circuit: Blueprint) -> str:
    """Return the C++ source of ``circuit``."""
    with borrowed_brian2("numpy"):
        from biorrr.circuit.engines.network import build_network

        build_network(circuit).never_run()
    translator, actions = Translator(circuit, cpp_translator()), circuit.program
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
        steps=[translator.step(action) for action in actions],
        # The steps that tell which tick of a sample this is come first.
        begun=1
        + max(place for place, action in enumerate(actions) if "clock.onset" in action.writes),
        flags=[name for name in _FLAGS if circuit.parts["clock"].has(name)],
        holds=any(action.gate in ("onset", "presented") for action in actions),
        ports=[
            {
                "population": port.population,
                "variable": port.variable,
                "array": array_of(port.population, port.variable),
                "active": active_of(port.population, port.variable),
                "size": circuit.parts[port.population].size,
                "lasts": (
                    port.changes == "sample"
                    and (port.population, port.variable) in translator.presented
                ),
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
