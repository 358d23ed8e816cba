"""Parts that are wrong in random ways, made from right ones: any field may hold junk, any code may
be garbled.
"""

from __future__ import annotations

import random
import re

import numpy as np

from biorrr.circuit import Circuit
from biorrr.models import Pathway, Population, Step, Variable

RIGHT = {
    "memory": {
        "name": "u",
        "per": "cell",
        "role": "memory",
        "value": "0.1 * g",
        "unit": "1",
    },
    "parameter": {
        "name": "g",
        "per": "population",
        "role": "parameter",
        "value": 0.5,
        "block": "tick",
    },
    "activity": {"name": "v", "meaning": "activity", "per": "cell", "role": "activity"},
    "step": {
        "phase": "output",
        "code": "u = 0.5 * u + tanh(v)\nlocal = clip(u, -1, g)\nv += local * int(u > 0)",
        "replays": False,
        "block": "tick",
    },
    "cells": {
        "size": 2,
        "name": "cells",
        "meaning": "",
        "dimension": "",
        "shape": "circle",
        "kind": "",
        "area": 0,
    },
    "synapse": {"name": "trace", "per": "synapse", "role": "memory", "value": 0.0},
    "gathering": {"phase": "eligibility", "code": "trace += 0.1 * (x_pre * v_post - trace)"},
    "up": {
        "name": "up",
        "source": "fibres",
        "target": "cells",
        "drives": "v",
        "current": "w * x_pre",
        "phase": "drive",
        "change": "0.01 * (trace - g_post * w)",
        "replay": "",
        "block": "tick",
        "wiring": "all",
        "bound": "clip(w, -2, 2)",
        "start": "0.5 * w",
        "sums": (),
        "weight": "W",
        "weighted": True,
        "target_by_source": False,
        "spread": 0.1,
        "meaning": "",
        "kind": "",
        "area": 0,
    },
}
FIELDS = [(part, field) for part, fields in RIGHT.items() for field in fields]
CODES = [
    ("memory", "value"),
    ("step", "code"),
    ("step", "code"),
    ("gathering", "code"),
    *(
        ("up", field)
        for field in ("current", "change", "change", "replay", "bound", "start", "sums")
    ),
]
JUNK = (
    None,
    True,
    0,
    -1,
    3,
    2.5,
    float("nan"),
    float("inf"),
    10**400,
    1j,
    "",
    " ",
    "\n",
    "\0",
    "π",
    "a b",
    b"w",
    (),
    [],
    {},
    ("v",),
    (("v", "w"),),
    (("v", 3),),
    [("u", "w * x_pre")],
    object(),
    np.ones(3),
    np.float64(0.5),
    print,
)
NAMES = (
    "v",
    "u",
    "g",
    "w",
    "x_pre",
    "v_post",
    "trace",
    "i",
    "j",
    "t",
    "dt",
    "N",
    "xi",
    "lastspike",
    "refractory",
    "e",
    "inf",
    "pi",
    "nan",
    "mV",
    "ms",
    "second",
    "double",
    "template",
    "M_PI",
    "this",
    "None",
    "lambda",
    "class",
    "_x",
    "plastic",
    "pending",
    "sample",
    "onset",
    "elapsed",
    "seed",
    "moment",
    "duration",
    "clock",
    "cells",
    "fibres",
    "up",
    "numpy",
    "brian2",
    "_idx",
    "not_refractory",
    "rand",
    "exec",
    "eta_x",
    "v_by_up",
    "vx",
    "I",
    "E",
    "size",
    "std",
)
CODE = (
    "sin(v)",
    "rand()",
    "randn()",
    "poisson(3)",
    "exp(v, v)",
    "clip(v)",
    "clip(v, 1, -1)",
    "int(v > 0)",
    "v > 0",
    "9**9**9",
    "1/0",
    "0**-1",
    "1e400",
    "v.real",
    "v[0]",
    "f'{v}'",
    "lambda: v",
    "v if v else u",
    "[v]",
    "(v, u)",
    "not v",
    "v and u",
    "~v",
    "v @ u",
    "v << 2",
    "__import__('os')",
    "sqrt(-1)",
    "log(0)",
    "abs()",
    "sign(u, v)",
    "timestep(v, u)",
    "exprel(v)",
    "ceil(v)",
    "uniform_draw(seed, 1000, moment, i)",
    "gaussian_draw(1, 2)",
    "int(v)",
    "cells('cells')",
    "relaxation(3)",
    "v % 0",
    "v // 0.5",
    "v ** 0.5",
    "v = 1",
    "v **= 2",
    "v := 1",
    "# note",
    "'v'",
    "3 * mV",
    "v * ms",
    "arctan(v)",
    "atan(v)",
    "floor(v)",
    "max(v, u)",
    "v == u",
    "int(0 < v < 1)",
    "-" * 300 + "v",
    "(" * 250 + "v" + ")" * 250,
    "+".join(["v"] * 400),
    "0x10",
    "1_000",
    "1e-400",
    "5e-324",
    "00",
    "01",
    "v;u",
    "True",
)
WORDS = (
    "input",
    "output",
    "drive",
    "plateau",
    "onset",
    "end",
    "groups",
    "noon",
    "cell",
    "synapse",
    "circuit",
    "population",
    "pathway",
    "activity",
    "memory",
    "parameter",
    "x",
    "1 / x",
    "x**2",
    "q",
    "1",
    "mV",
    "pA",
    "kg",
    "triangle",
    "square",
)


def garbled(code: str, rng: random.Random) -> str:
    """Return ``code`` with a token deleted, doubled, exchanged or put in."""
    tokens = re.findall(r"\w+|\*\*|//|\s+|.", code) or [""]
    place = rng.randrange(len(tokens))
    signs = (*"+-*/%()[],.=<>!&|^~@:;'\"\\#\n\t 019", "**", "//", "+=", "==", "and", "if")
    new = rng.choice(rng.choice((NAMES, CODE, signs)))
    tokens[place] = rng.choice(
        ("", tokens[place] * 2, new, new, new, tokens[place] + new, new + tokens[place])
    )
    return "".join(tokens)


def wrong(number: int) -> dict[str, dict]:
    """Return what the parts of a circuit are given, with one to three mistakes; always the same for
    a ``number``.
    """
    rng = random.Random(number)
    given = {part: dict(fields) for part, fields in RIGHT.items()}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        part, field = rng.choice(CODES) if rng.random() < 0.6 else rng.choice(FIELDS)
        old, chance = given[part][field], rng.random()
        if chance < 0.15:
            given[part][field] = rng.choice(JUNK)
        elif isinstance(old, str) and chance < 0.8:
            given[part][field] = garbled(old, rng)
        else:
            given[part][field] = rng.choice((*CODE, *NAMES, *WORDS))
    return given


def run(given: dict[str, dict], engine: str):
    """Make a circuit of the parts that are described and let it learn from a few samples."""
    variables = [Variable(**given[name]) for name in ("memory", "parameter", "activity")]
    cells = Population(variables=variables, steps=[Step(**given["step"])], **given["cells"])
    fibres = Population(3, "fibres", [Variable("x", role="input")])
    steps = [Step(**given["gathering"])]
    up = Pathway(variables=[Variable(**given["synapse"])], steps=steps, **given["up"])
    X = np.random.default_rng(0).standard_normal((6, 3))
    circuit = Circuit([fibres, cells], [up], engine=engine, seed=1)
    return circuit.run(
        {"x": X - X.mean(axis=0)}, order="sequential", record=("u", "v"), every=1, progress=False
    )
