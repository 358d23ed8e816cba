"""The engines a circuit can run on: which one, and each built once."""

from __future__ import annotations

import functools
import threading
from collections.abc import Collection, Iterator
from typing import Any

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines import brian2_import, compiler
from biorrr.circuit.stimulus.data_checks import warn

ENGINES = ("auto", "numpy", "cython", "cpp")
# Work, in ticks, above which compiling pays: Brian2's numpy target takes 0.3 ms a tick and compiling 10 s.
_WORTH_COMPILING = 30_000


def choose(wanted: str, ticks: int) -> str:
    """Return the name of the engine meant by ``wanted``, for a run of so many ``ticks``."""
    if wanted != "auto":
        return wanted
    if ticks <= _WORTH_COMPILING:
        return "numpy"
    for obstacle, remedy in _obstacles():
        _say_once(
            f"engine 'auto': {obstacle}, so this runs on Brian2's numpy target, about 100 times slower; to change "
            f"that, {remedy}"
        )
        return "numpy"
    return "cpp"


class Engines:
    """Engines built so far, by name and by what shapes their code.

    They are kept to save time: what an engine has run before does not change what it runs next.

    Parameters
    ----------
    circuit
        Name of the circuit, which begins the names of its Brian2 objects.
    """

    def __init__(self, circuit: str = "") -> None:
        self._circuit = circuit
        self._built: dict[tuple[str, Blueprint], Any] = {}
        self._turn = threading.RLock()

    def built(self, name: str, blueprint: Blueprint) -> Any:
        """Return the engine called ``name``, built once for each code."""
        key = name, blueprint.code
        with self._turn:
            if key not in self._built:
                # Brian2 takes seconds to import, and a compiled circuit from the cache does not need it.
                if name == "cpp":
                    from biorrr.circuit.engines.standalone import StandaloneEngine

                    self._built[key] = StandaloneEngine(blueprint)
                else:
                    if name == "cython" and compiler.find_compiler() is None:
                        raise compiler.NoCompiler(f"engine 'cython': no C++ compiler found; {compiler.HOW_TO_INSTALL}")
                    brian2_import.import_brian2()
                    from biorrr.circuit.engines.runtime import RuntimeEngine

                    self._built[key] = RuntimeEngine(blueprint, name, self._circuit)
        return self._built[key]

    def networks(self, codes: Collection[Blueprint]) -> list[Any]:
        """Return the Brian2 Networks that were built in this process for one of ``codes``."""
        return [e.built.network for (name, code), e in self._built.items() if name != "cpp" and code in codes]


def _obstacles() -> Iterator[tuple[str, str]]:
    """Yield what keeps the C++ engine from being used here, with its remedy."""
    if compiler.find_compiler() is None:
        yield "no C++ compiler found", compiler.HOW_TO_INSTALL
    version = brian2_import.installed_brian2()
    if not brian2_import.is_tested(version):
        tested = ", ".join(brian2_import.TESTED)
        yield f"Brian2 {version} has not been tested with engine 'cpp' ({tested} have)", "install one of those"


@functools.cache
def _say_once(text: str) -> None:
    warn(text)
