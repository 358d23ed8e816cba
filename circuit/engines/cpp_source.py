"""The C++ source of a circuit: one file, written from the circuit's own description.

The circuit is built as a Brian2 network first, as for the other engines: Brian2 checks its
equations and their units. Each action of the schedule is then one C++ function, whose expressions
Brian2 translates.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from pathlib import Path

import jinja2

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.brian2_import import borrowed_brian2
from biorrr.circuit.engines.brian2_private import cpp_translator
from biorrr.circuit.engines.cpp_steps import Translator
from biorrr.models import random_draws

TEMPLATES = Path(__file__).parent / "templates"
# Types of data that the program reads as they lie on disk; others are converted first.
ELEMENT_TYPES = {
    "f8": "double",
    "f4": "float",
    "u1": "uint8_t",
    "i1": "int8_t",
    "i2": "int16_t",
    "u2": "uint16_t",
}
# Of the clock: 0 between the first and the last tick of a sample.
_FLAGS = ("onset", "closing", "fresh", "replay_closing")
_HEADERS = (
    "algorithm",
    "cerrno",
    "cmath",
    "csignal",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "string",
    "vector",
    "fcntl.h",
    "sys/mman.h",
    "sys/stat.h",
    "sys/time.h",
    "unistd.h",
    *(["sys/prctl.h"] if sys.platform == "linux" else []),
)


class Exit(IntEnum):
    """Exit codes of the program."""

    done = 0
    failed = 3
    diverged = 4
    orphaned = 5


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
        arrays=circuit.arrays,
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
                "size": circuit.parts[port.population].size,
                "lasts": (
                    port.changes == "sample"
                    and (port.population, port.variable) in translator.presented
                ),
                "replayed": place == 0,  # the first port is the one whose inputs are replayed
            }
            for place, port in enumerate(circuit.ports)
        ],
        n_weights=len(circuit.parts.weighted),
        state=circuit.state,
        quantities=circuit.quantities,
        watched=[(part, variable, circuit.parts[part].size) for part, variable in circuit.watched],
        element_types=list(enumerate(ELEMENT_TYPES.values())),
        EXIT=Exit,
    )
