"""Brian2, imported and used so that it takes over nothing of the caller's process.

The engines use more of it than its documentation promises. Where the installed Brian2 does not have
that, or translates an expression in an unknown way, :class:`Brian2Changed` is raised: nothing is
built on a guess.
"""

from __future__ import annotations

import builtins
import functools
import importlib.metadata
import inspect
import io
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.simulation.progress import notice
from biorrr.errors import InputError, RunError
from biorrr.models.expressions import names_in
from biorrr.models.random_draws import DRAWS
from biorrr.models.validation import dimension_of

TESTED = (
    "2.9",
    "2.10",
    "2.11",
)  # Brian2's versions with which all engines were seen to agree with a plain loop
# Translations that the C++ program relies on: its own functions have these names.
_KNOWN_TRANSLATIONS = {
    "a + b * (c - 1.0)": "a + (b * (c - 1.0))",
    "-a / (b + 2.5e-07)": "1.0f*(- a)/(b + 2.5e-07)",
    "a ** 2.0 % b // c": "_brian_floordiv(_brian_mod(_brian_pow(a, 2.0), b), c)",
    "f(a, inf) * (b >= c)": "f(a, INFINITY) * (b >= c)",
    "a < b and not c == d": "(a < b) && (! (c == d))",
}
# Brian2's own values of preferences that a caller may have set for simulations of their own, and
# that a circuit cannot be built or run with, or that would change its numbers. Redirecting what is
# printed would swallow what other threads say meanwhile.
_NEEDED = {
    "codegen.target": "numpy",
    "logging.std_redirection": False,
    "core.default_float_dtype": np.float64,
    "core.default_integer_dtype": np.int32,
    # Brian2 would write 1 - s + s * ridge as 1 + s * ridge - s, which loses a small ridge at s = 1.
    "codegen.loop_invariant_optimisations": False,
    "legacy.refractory_timing": False,
    "core.network.default_schedule": ["start", "groups", "thresholds", "synapses", "resets", "end"],
}
# Device and preferences belong to the process: threads take turns.
_LOCK = threading.RLock()


@functools.cache
def brian2_version() -> str:
    """Return the version of Brian2 that is installed."""
    return importlib.metadata.version("brian2")


class Brian2Changed(RunError):
    """The installed Brian2 lacks something that the engines rely on."""


def _refusal(what: object) -> Brian2Changed:
    return Brian2Changed(
        f"Brian2 {brian2_version()}: {what}; install one of the tested versions"
        f" ({', '.join(TESTED)})"
    )


@contextmanager
def refuse_changes() -> Iterator[None]:
    """Refuse a Brian2 that does not have what is used of it meanwhile."""
    try:
        yield
    except (ImportError, AttributeError) as error:
        raise _refusal(f"lacks what the engines rely on ({error})") from error


@functools.cache
@refuse_changes()
def cpp_translator() -> Callable[[str], str]:
    """Return Brian2's translator of expressions to C++, after a check that it translates as
    expected.
    """
    from brian2.parsing.rendering import CPPNodeRenderer

    translate = CPPNodeRenderer().render_expr
    for expression, expected in _KNOWN_TRANSLATIONS.items():
        if (found := translate(expression)) != expected:
            raise _refusal(f"must translate {expression!r} to {expected!r} (got {found!r})")
    return translate


@functools.cache
def draws() -> dict[str, Any]:
    """Return the random draws as Brian2 functions, by name."""
    import brian2

    made = {}
    for name, draw in DRAWS.items():
        units = [1] * len(inspect.signature(draw).parameters)
        made[name] = brian2.Function(draw, arg_units=units, return_unit=1, stateless=True)
        made[name].implementations.add_implementation("numpy", draw)
    return made


@refuse_changes()
def check_units(circuit: Blueprint) -> None:
    """Refuse statements whose two sides have different dimensions, by Brian2's own check, in one
    sentence.
    """
    import brian2
    from brian2.core.functions import DEFAULT_CONSTANTS, DEFAULT_FUNCTIONS
    from brian2.core.variables import Variable
    from brian2.equations.unitcheck import check_units_statements

    language = {**DEFAULT_CONSTANTS, **DEFAULT_FUNCTIONS, **draws()}

    def variable(name: str, key: str) -> Variable:
        dimension = dimension_of(circuit.by_key[key].variable.unit)
        one = 1.0 if dimension == "1" else getattr(brian2, dimension)
        return Variable(name, brian2.get_dimensions(one))

    for operation in circuit.program.operations:
        part, names = circuit.parts[operation.part], names_in(operation.code)
        if all(variable.unit == "1" for variable in part.variables):
            continue
        known = {**language, "i": Variable("i"), "j": Variable("j")}
        for name in (*names.read, *names.written):
            if found := circuit.meanings.find(part, name):
                known[name] = variable(name, found.key)
        code = operation.code
        if operation.fills:
            (filled,) = operation.writes
            code = f"{operation.fills}_post = {code}"
            known[f"{operation.fills}_post"] = variable("sum", filled)
        try:
            check_units_statements(code, known)
        except brian2.DimensionMismatchError as error:
            raise InputError(
                f"{operation.part}: units do not agree in phase {operation.phase!r}: {error}"
            ) from error


def import_brian2() -> None:
    """Import Brian2 from whatever thread, such as a Dask worker's.

    Importing it installs a handler for Ctrl-C, which Python allows in the main thread alone and
    which would fail where Ctrl-C is ignored, as in the background of a shell script: it is not
    installed. It also takes all warnings and uncaught errors for its log, and begins that log and a
    copy of the script in the temporary folder, and evaluates as Python the files of preferences in
    the current folder and the user's home: in their place it reads that it keeps no log.
    """
    read: list[Any] = []

    def open_others(file: Any, *how: Any, **options: Any) -> Any:
        if not str(file).endswith(("brian_preferences", "user_preferences")):
            return open_any(file, *how, **options)
        read.append(file)
        return io.StringIO("logging.file_log = False\nlogging.save_script = False")

    with _LOCK:
        if "brian2" in sys.modules:
            return
        notice("Importing Brian2")
        handle, hook, open_any = signal.signal, sys.excepthook, builtins.open
        signal.signal, builtins.open = (lambda *_: None), open_others  # type: ignore[assignment]
        try:
            import brian2  # noqa: F401
        finally:
            signal.signal, sys.excepthook, builtins.open = handle, hook, open_any
        logging.captureWarnings(False)
    if len(read) != 2:
        raise _refusal(f"must open 2 files of preferences when it is imported (got {len(read)})")


@contextmanager
def borrow_brian2() -> Iterator[None]:
    """Let Brian2 simulate in this process, in NumPy; the caller's device and preferences come back
    after.
    """
    import_brian2()
    import brian2

    with _LOCK:
        before = {name: brian2.prefs[name] for name in _NEEDED}
        brian2.set_device("runtime")
        try:
            for name, value in _NEEDED.items():
                brian2.prefs[name] = value
            yield
        finally:
            for name, value in before.items():
                brian2.prefs[name] = value
            brian2.devices.reset_device()
