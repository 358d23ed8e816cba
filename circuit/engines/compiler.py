"""The C++ compiler: which one, its flags, and what to say when there is none."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from biorrr.circuit.engines.cache import cache_folder
from biorrr.errors import RunError

# Fast arithmetic, but infinities and NaN stay what they are, so that divergence is seen, and no
# expression is rearranged: 1 - s + s * ridge as 1 + s * (ridge - 1) would lose a small ridge at
# s = 1. Loops that add up say so. `#pragma omp simd` needs no threads; without it GCC turns loops
# over synapses inside out, at a fifth of the speed. With files of its own that start a
# program, GCC would let -ffast-math change how the whole process computes.
FLAGS = (
    "-w",
    "-O3",
    "-ffast-math",
    "-fno-finite-math-only",
    "-fno-associative-math",
    "-march=native",
    "-std=c++14",
    "-fopenmp-simd",
    "-shared",
    "-fPIC",
    "-nostartfiles",
)

HOW_TO_INSTALL = (
    "install a C++ compiler (Debian and Ubuntu: apt install g++; Fedora: dnf install gcc-c++; "
    "macOS: xcode-select --install; conda: conda install cxx-compiler)"
)


class CompileFailed(RunError):
    """The C++ compiler did not make a library of the circuit."""


@functools.cache
def find_compiler() -> str | None:
    """Return the C++ compiler as a shell calls it: $CXX, or the first of g++, clang++ and c++; None
    without any.

    $CXX may come with words of its own, such as "ccache g++".
    """
    wanted = os.environ.get("CXX", "").strip()
    for name in [wanted] if wanted else ["g++", "clang++", "c++"]:
        # The path of a program may have spaces in it: the whole is tried first.
        program, *words = [name] if shutil.which(name) else shlex.split(name)
        path = shutil.which(program)
        if path:
            return shlex.join([path, *words])
    return None


@functools.cache
def identity() -> dict[str, str]:
    """Return the properties of compiler and machine that shape a library: on another processor it
    may not run.
    """
    compiler = find_compiler()
    if compiler is None:
        return {}
    asked = subprocess.run(
        [*shlex.split(compiler), "--version"], capture_output=True, text=True, check=False
    )
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        processor = platform.processor()
    return {
        "compiler": asked.stdout or compiler,  # one may not tell its version
        "flags": " ".join(FLAGS),
        "machine": platform.machine(),
        "processor": hashlib.sha256(processor.encode()).hexdigest(),
    }


def compile_library(source: Path, library: Path) -> None:
    """Compile the one file ``source`` into ``library``; what a failing compiler says is kept in the
    cache folder.
    """
    compiler = find_compiler() or "c++"
    command = [*shlex.split(compiler), *FLAGS, source.name, "-o", str(library.resolve())]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        log = cache_folder() / "compiler.log"
        with suppress(OSError):  # a full disk may be why the compiler failed
            log.write_text(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
        first = next(
            (line.strip() for line in done.stderr.splitlines() if "error" in line.lower()),
            "no word of why",
        )
        raise CompileFailed(
            f"engine 'cpp': {compiler} must compile the circuit (got exit code {done.returncode},"
            f" {first[:200]}); all it said is in {log}; name another compiler in $CXX, or use"
            " engine='numpy'"
        )
