"""The C++ compiler: which one, its flags, and what to say when there is none."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
from pathlib import Path

# Brian2's own flags: fast arithmetic, but infinities and NaN stay what they are, so that divergence is seen.
# `#pragma omp simd` needs no threads; without it GCC turns loops over synapses inside out, at a fifth of the speed.
FLAGS = ("-w", "-O3", "-ffast-math", "-fno-finite-math-only", "-march=native", "-std=c++14", "-fopenmp-simd")

HOW_TO_INSTALL = (
    "install a C++ compiler (Debian and Ubuntu: apt install g++; Fedora: dnf install gcc-c++; "
    "macOS: xcode-select --install; conda: conda install cxx-compiler)"
)


class NoCompiler(RuntimeError):
    """No C++ compiler was found."""


@functools.cache
def find_compiler() -> str | None:
    """Path of the C++ compiler: $CXX if set, or the first of g++, clang++ and c++ that is there."""
    wanted = os.environ.get("CXX")
    for name in [wanted] if wanted else ["g++", "clang++", "c++"]:
        path = shutil.which(name)
        if path:
            return path
    return None


@functools.cache
def identity() -> dict[str, str]:
    """What of compiler and machine shapes a program: compiled for one processor, it may not run on another."""
    compiler = find_compiler()
    if compiler is None:
        return {}
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        processor = platform.processor()
    return {
        "compiler": version,
        "flags": " ".join(FLAGS),
        "machine": platform.machine(),
        "processor": hashlib.sha256(processor.encode()).hexdigest(),
    }


def compile_program(source: Path, program: Path) -> None:
    """Compile the one file ``source`` into ``program``."""
    compiler = find_compiler()
    if compiler is None:
        raise NoCompiler(f"engine 'cpp': no C++ compiler found; {HOW_TO_INSTALL}, or use engine='numpy'")
    done = subprocess.run(
        [compiler, *FLAGS, "-I.", source.name, "-o", str(program.resolve())],
        cwd=source.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"engine 'cpp': {compiler} failed with code {done.returncode}:\n{done.stderr[-2000:]}")
