"""The engines a circuit can run on: which one, and each built once."""

from __future__ import annotations

import functools
import threading
from collections.abc import Collection
from typing import Any

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines import brian2_import, brian2_private, compiler
from biorrr.circuit.stimulus.data_checks import warn
from biorrr.errors import RunError

ENGINES = ("auto", "numpy", "cpp")
# Work, in ticks, above which compiling pays: Brian2's numpy target takes 0.3 ms a tick and
# compiling 10 s.
_WORTH_COMPILING = 30_000


def choose(wanted: str, ticks: int) -> str:
    """Return the name of the engine meant by ``wanted``, for a run of so many ``ticks``."""
    if wanted != "auto":
        return wanted
    if ticks <= _WORTH_COMPILING:
        return "numpy"
    if (found := obstacle("cpp")) is not None:
        _say_once(
            f"engine 'auto': {found[0]}, so this runs on Brian2's numpy target, about 100 times"
            f" slower; to change that, {found[1]}"
        )
        return "numpy"
    return "cpp"


class EngineUnavailable(RunError):
    """An engine that cannot be used on this machine, with what to do."""


def obstacle(engine: str) -> tuple[str, str] | None:
    """Return what keeps ``engine`` from being used here, with its remedy; None if nothing does."""
    if engine != "cpp":
        return None
    if compiler.find_compiler() is None:
        return "no C++ compiler found", compiler.HOW_TO_INSTALL
    version = brian2_private.installed_brian2()
    if not brian2_private.is_tested(version):
        tested = ", ".join(brian2_private.TESTED)
        return (
            f"Brian2 {version} has not been tested with engine 'cpp' ({tested} have)",
            "install one of those",
        )
    return None


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
                if (found := obstacle(name)) is not None:
                    raise EngineUnavailable(
                        f"engine '{name}': {found[0]}; {found[1]}, or use engine='numpy'"
                    )
                # Brian2 takes seconds to import, and a compiled circuit from the cache does not
                # need it.
                if name == "cpp":
                    from biorrr.circuit.engines.cpp_kernel import CppEngine

                    self._built[key] = CppEngine(blueprint)
                else:
                    brian2_import.import_brian2()
                    from biorrr.circuit.engines.runtime import RuntimeEngine

                    self._built[key] = RuntimeEngine(blueprint, self._circuit)
        return self._built[key]

    def networks(self, codes: Collection[Blueprint]) -> list[Any]:
        """Return the Brian2 Networks that were built in this process for one of ``codes``."""
        return [
            e.built.network
            for (name, code), e in self._built.items()
            if name != "cpp" and code in codes
        ]


@functools.cache
def _say_once(text: str) -> None:
    warn(text)
