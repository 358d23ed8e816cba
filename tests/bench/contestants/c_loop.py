"""The hand-written C loop, with the compiler and flags of the circuit."""

from __future__ import annotations

import ctypes
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from contestants.task import Task

from biorrr.circuit.engines import compiler

array = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
indices = np.ctypeslib.ndpointer(np.int64, flags="C_CONTIGUOUS")


def compiled(source: str, constants: Mapping[str, float]):
    """The function `learn` of a C file beside this one, compiled for such ``constants``."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "loop.so"
        subprocess.run(
            [
                *shlex.split(compiler.find_compiler() or "c++"),
                *compiler.FLAGS,
                "-shared",
                "-fPIC",
                "-x",
                "c++",
                # Start-up code of -ffast-math would change the arithmetic of all of this process.
                "-nostartfiles",
                *(f"-D{name}={value}" for name, value in constants.items()),
                Path(__file__).with_name(source),
                "-o",
                library,
            ],
            check=True,
        )
        return ctypes.CDLL(str(library)).learn


def prepare(task: Task, source: str = "loop.c", cell_by_cell: bool = False):
    """Compile for the sizes of ``task``; ``cell_by_cell`` for a loop that keeps Vx and Vy so."""
    learn = compiled(source, {"M": task.m, "N": task.n, "K": task.k, "L": task.k})
    learn.argtypes = [array, array, indices, ctypes.c_int64, *6 * [array], ctypes.c_double]

    def run(order):
        Vx, Vy, Q, R = task.weights()
        Q, R = Q.T.copy(), R.T.copy()  # source by target, as the circuit keeps them
        if cell_by_cell:
            Vx, Vy = Vx.T.copy(), Vy.T.copy()
        learn(task.X, task.Y, order, len(order), Vx, Vy, Q, R, task.eta0, task.N, 0.0)
        if cell_by_cell:
            Vx, Vy = Vx.T, Vy.T
        return {"Vx": Vx, "Vy": Vy, "Q": Q.T, "R": R.T}

    return run
