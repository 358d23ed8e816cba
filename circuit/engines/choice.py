"""The engines a circuit can run on: which one, and each built once."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Collection
from typing import Any

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines import brian2_private, cache, compiler
from biorrr.circuit.stimulus.data_checks import warn
from biorrr.errors import RunError

ENGINES = ("auto", "numpy", "cpp")
# Costs in ticks of Brian2's numpy target, measured on circuits from 64x10x2 to 3072x100x8, held
# samples, cells in millivolts and two areas: building and compiling C++ takes as long as 2,500 to
# 4,000 of them, and what Brian2 does before a run as long as 1,250.
_COMPILING = 3_000
_STARTING = 1_250


class EngineUnavailable(RunError):
    """An engine that cannot be used on this machine, with what to do."""


# Ticks that each circuit has cost on engine numpy in this process, and would have.
_spent: Counter[Blueprint] = Counter()


class Engines:
    """Engines built so far, by name and by what shapes their code.

    They are kept to save time: what an engine has run before does not change what it runs next.
    Engine "auto" remembers what each circuit has cost on engine numpy, so that many short runs are
    compiled too.

    Parameters
    ----------
    circuit
        Name of the circuit, which begins the names of its Brian2 objects.
    """

    def __init__(self, circuit: str = "") -> None:
        self._circuit = circuit
        self._built: dict[tuple[str, Blueprint, int], Any] = {}
        self._lock = threading.RLock()

    def choose(self, wanted: str, blueprint: Blueprint, ticks: int, lanes: int = 1) -> str:
        """Return the engine meant by ``wanted`` for a run of so many ``ticks``, or for several in
        ``lanes`` with as many together.

        "auto" is cpp where that is compiled already, or where compiling costs less than the runs so
        far and this one on engine numpy.
        """
        if wanted != "auto":
            return wanted
        if ("cpp", blueprint.code, lanes) in self._built:
            return "cpp"
        cost = _STARTING + ticks
        if compiler.find_compiler() is None:
            if cost > _COMPILING:
                _say_once(
                    "engine 'auto': no C++ compiler found, so this runs on Brian2's numpy target,"
                    f" about 100 times slower; to change that, {compiler.HOW_TO_INSTALL}"
                )
            return "numpy"
        from biorrr.circuit.engines.cpp_kernel import key_of

        _spent[blueprint.code] += cost
        worth = _spent[blueprint.code] > _COMPILING
        return "cpp" if worth or cache.find(key_of(blueprint.code, lanes)) else "numpy"

    def get(self, name: str, blueprint: Blueprint, lanes: int = 1) -> Any:
        """Return the engine called ``name``, built once for each code and number of ``lanes``."""
        key = name, blueprint.code, lanes
        with self._lock:
            if key not in self._built:
                # Brian2 takes seconds to import, and a compiled circuit from the cache does not
                # need it.
                if name == "cpp":
                    if compiler.find_compiler() is None:
                        raise EngineUnavailable(
                            f"engine 'cpp': no C++ compiler found; {compiler.HOW_TO_INSTALL}, or"
                            " use engine='numpy'"
                        )
                    from biorrr.circuit.engines.cpp_kernel import CppEngine

                    self._built[key] = CppEngine(blueprint, lanes)
                else:
                    brian2_private.import_brian2()
                    from biorrr.circuit.engines.brian2_network import NumpyEngine

                    self._built[key] = NumpyEngine(blueprint, self._circuit)
        return self._built[key]

    def networks(self, codes: Collection[Blueprint]) -> list[Any]:
        """Return the Brian2 Networks that were built in this process for one of ``codes``."""
        return [
            e.network
            for (name, code, _), e in self._built.items()
            if name != "cpp" and code in codes
        ]


@functools.cache
def _say_once(text: str) -> None:
    warn(text)
