"""The engines a circuit can run on: which one, and each built once."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from biorrr.circuit import compiler
from biorrr.circuit.blueprint import Blueprint
from biorrr.circuit.interrupt import import_brian2

ENGINES = ("auto", "numpy", "cython", "cpp")
# Work, in ticks, above which compiling pays: Brian2's numpy target takes 0.3 ms a tick and compiling 10 s.
_WORTH_COMPILING = 30_000


class Engines:
    """Engines built so far, by name and blueprint."""

    def __init__(self) -> None:
        self._built: dict[tuple[str, Blueprint], Any] = {}

    def choose(self, wanted: str, ticks: int) -> str:
        """The engine meant by ``wanted`` for a run of so many ``ticks``."""
        if wanted != "auto":
            return wanted
        if any(name != "cpp" for name, _ in self._built):  # somebody asked for the network in this process
            return next(name for name, _ in self._built if name != "cpp")
        if compiler.find_compiler() is None:
            if ticks > _WORTH_COMPILING:
                _say_once(
                    f"engine 'auto': no C++ compiler found, so this runs on Brian2's numpy target, about 100 times "
                    f"slower; to change that, {compiler.HOW_TO_INSTALL}"
                )
            return "numpy"
        return "cpp" if ticks > _WORTH_COMPILING else "numpy"

    def built(self, name: str, blueprint: Blueprint) -> Any:
        """The engine called ``name``, built once for each blueprint."""
        if (name, blueprint) not in self._built:
            # Brian2 takes seconds to import, and a compiled circuit from the cache does not need it.
            if name == "cpp":
                from biorrr.circuit.standalone import StandaloneEngine

                self._built[name, blueprint] = StandaloneEngine(blueprint)
            else:
                if name == "cython" and compiler.find_compiler() is None:
                    raise compiler.NoCompiler(f"engine 'cython': no C++ compiler found; {compiler.HOW_TO_INSTALL}")
                import_brian2()
                from biorrr.circuit.runtime import RuntimeEngine

                self._built[name, blueprint] = RuntimeEngine(blueprint, name)
        return self._built[name, blueprint]

    @property
    def network(self) -> Any:
        """The Brian2 Network built in this process."""
        for engine in self._built.values():
            if hasattr(engine, "assembly"):
                return engine.assembly.network
        raise RuntimeError(
            "network: nothing is built in this process yet; call circuit.build(m, n) first, and run with "
            "engine='numpy' or 'cython' (the C++ engine's network lives in a program of its own)"
        )

    @property
    def last_blueprint(self) -> Blueprint | None:
        """The blueprint of the engine built last."""
        return next(reversed(self._built))[1] if self._built else None


@functools.cache
def _say_once(text: str) -> None:
    warnings.warn(text, stacklevel=5)
