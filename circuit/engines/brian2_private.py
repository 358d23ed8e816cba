"""Brian2, imported and used so that it takes over nothing of the caller's process, and all uses of
it that its documentation does not promise.

Each of the latter is a function with a meaning of its own. A name that the installed Brian2 does
not have, or an expression that it translates in an unknown way, raises :class:`Brian2Changed`:
nothing is built on a guess.
"""

from __future__ import annotations

import builtins
import functools
import importlib.metadata
import logging
import operator
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from biorrr.circuit.simulation.progress import notice
from biorrr.errors import RunError
from biorrr.models.expressions import CONSTANTS, names_in

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
    "logging.std_redirection": False,
    "core.default_float_dtype": np.float64,
    "core.default_integer_dtype": np.int32,
    # Brian2 would write 1 - s + s * ridge as 1 + s * ridge - s, which loses a small ridge at s = 1.
    "codegen.loop_invariant_optimisations": False,
    "codegen.generators.cpp.flush_denormals": False,
    "legacy.refractory_timing": False,
    "core.network.default_schedule": ["start", "groups", "thresholds", "synapses", "resets", "end"],
    "devices.cpp_standalone.openmp_threads": 0,
}
# Device and preferences belong to the process: threads take turns.
_LOCK = threading.RLock()


@functools.cache
def brian2_version() -> str:
    """Return the version of Brian2 that is installed."""
    return importlib.metadata.version("brian2")


def is_tested(version: str) -> bool:
    """Return True if Brian2's ``version``, such as "2.10.1", is among those tested."""
    return ".".join(version.split(".")[:2]) in TESTED


class Brian2Changed(RunError):
    """The installed Brian2 lacks something that the engines rely on."""


def _refusal(what: str) -> Brian2Changed:
    return Brian2Changed(
        f"Brian2 {brian2_version()}: {what}; install one of the tested versions"
        f" ({', '.join(TESTED)})"
    )


def _private(owner: Any, path: str) -> Any:
    """Return what Brian2 calls ``path`` in ``owner``, an object or the name of a module."""
    try:
        return operator.attrgetter(path)(
            importlib.import_module(owner) if isinstance(owner, str) else owner
        )
    except (ImportError, AttributeError):
        called = owner if isinstance(owner, str) else type(owner).__name__
        raise _refusal(f"{called} must have {path}, which the engines rely on (got none)") from None


@contextmanager
def replace_attribute(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Let ``name`` of ``owner`` be ``value`` for a while."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def without_preference_files() -> Iterator[None]:
    """Let Brian2 be imported without its files of preferences, in which every value is evaluated as
    Python.
    """
    unread = []

    def open_others(file: Any, *how: Any, **options: Any) -> Any:
        if str(file).endswith(("brian_preferences", "user_preferences")):
            unread.append(file)
            raise FileNotFoundError(file)
        return open_any(file, *how, **options)

    open_any = builtins.open
    with replace_attribute(builtins, "open", open_others):
        yield
    if len(unread) != 2:
        raise _refusal(f"must open 2 files of preferences when it is imported (got {len(unread)})")


@functools.cache
def cpp_translator() -> Callable[[str], str]:
    """Return Brian2's translator of expressions to C++, after a check that it translates as
    expected.
    """
    translate = _private("brian2.parsing.rendering", "CPPNodeRenderer")().render_expr
    for expression, expected in _KNOWN_TRANSLATIONS.items():
        if (found := translate(expression)) != expected:
            raise _refusal(f"must translate {expression!r} to {expected!r} (got {found!r})")
    return translate


def check_dimensions(part: Any, code: str, driven: str = "") -> None:
    """Check that both sides of each statement agree in dimension.

    Parameters
    ----------
    part
        Brian2's group.
    code
        Statements; an expression where ``driven`` names the variable that it is added to.

    Raises
    ------
    brian2.DimensionMismatchError
        If they do not.
    """
    import brian2

    names = names_in(code)
    own = {name for name in (*names.read, *names.written) if name in part.variables}
    constants = {name for name in CONSTANTS if name in code}
    known = _private(part, "resolve_all")(own | constants | set(names.called), run_namespace={})
    if driven:
        found = _private("brian2.parsing.expressions", "parse_expression_dimensions")(code, known)
        brian2.fail_for_dimension_mismatch(
            brian2.Quantity(1, dim=found),
            brian2.Quantity(1, dim=part.variables[driven].dim),
            "what a synapse adds and what it adds to",
        )
    else:
        _private("brian2.equations.unitcheck", "check_units_statements")(code, known)


def array_of(group: Any, name: str) -> Any:
    """Return the array behind a variable, for reading and writing in place."""
    return _private(group.variables[name], "get_value")()


def let_hear(part: Any, name: str, holder: Any, variable: str, place: str) -> None:
    """Let the code of ``part`` read, as ``name``, a variable of ``holder``: the group of its "pre"
    or "post" cells, or one of one cell.
    """
    index = {"pre": "_presynaptic_idx", "post": "_postsynaptic_idx"}.get(place, "0")
    _private(part.variables, "add_reference")(name, holder, variable, index=index)


def summing_step(synapses: Any, variable: str) -> Any:
    """Return the step that sums over ``synapses`` into ``variable`` of the target cells."""
    return _private(synapses, "summed_updaters")[f"{variable}_post"]


def deactivate(group: Any) -> None:
    """Keep Brian2 from running the steps of ``group``."""
    for step in _private(group, "contained_objects"):
        step.active = False


def prepare(step: Any) -> Callable[[], None]:
    """Return the function that does ``step``, whose code is generated."""
    _private(step, "before_run")({})
    return _private(step, "run")


def mark_as_run(parts: Iterable[Any], network: Any) -> None:
    """Keep Brian2 from warning that no network has run ``parts``."""
    for part in parts:
        _private(part, "_network")
        part._network = network.id


def end_log() -> None:
    """End the log that Brian2 keeps in files, and delete those."""
    logger = _private("brian2.utils.logger", "BrianLogger")
    if (handler := _private(logger, "file_handler")) is not None:
        handler.close()
        logging.getLogger("brian2").removeHandler(handler)
        logger.file_handler = None
    for path in (_private(logger, "tmp_log"), _private(logger, "tmp_script")):
        if path is not None:
            with suppress(OSError):
                os.remove(path)
    logger.tmp_log = logger.tmp_script = None


def import_brian2() -> None:
    """Import Brian2 from whatever thread, such as a Dask worker's.

    Importing it installs a handler for Ctrl-C, which Python allows in the main thread alone and
    which would fail where Ctrl-C is ignored, as in the background of a shell script: it is not
    installed. It also takes all warnings and uncaught errors for its log, and begins that log and a
    copy of the script in the temporary folder: that is undone. And it evaluates the files of
    preferences in the current folder and the user's home: neither is read.
    """
    with _LOCK:
        if "brian2" in sys.modules:
            return
        notice("Importing Brian2")
        with (
            replace_attribute(signal, "signal", lambda *_: None),
            replace_attribute(sys, "excepthook", sys.excepthook),
            without_preference_files(),
        ):
            import brian2  # noqa: F401
        logging.captureWarnings(False)
        end_log()


@contextmanager
def borrow_brian2(target: str, device: Any = "runtime", **options) -> Iterator[None]:
    """Make ``device`` Brian2's, set up by ``options``; the caller's device and preferences come
    back after.

    Code is generated in the language ``target``.
    """
    import_brian2()
    import brian2

    needed = {**_NEEDED, "codegen.target": target}
    with _LOCK:
        before = {name: brian2.prefs[name] for name in needed}
        brian2.set_device(device, **options)
        try:
            for name, value in needed.items():
                brian2.prefs[name] = value
            yield
        finally:
            for name, value in before.items():
                brian2.prefs[name] = value
            brian2.devices.reset_device()
