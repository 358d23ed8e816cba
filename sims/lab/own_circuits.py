"""The circuit that an experiment simulates: the paper's, or the one that a function of the user
returns.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from biorrr.errors import InputError
from biorrr.sims.lab.settings import SettingsError


class CircuitError(InputError):
    """A function of the user's that does not give a circuit."""


def make_circuit(named: str, **arguments: Any) -> Any:
    """Make the circuit that the function ``named`` returns for the arguments.

    Parameters
    ----------
    named
        ``module:function`` or ``path/to/file.py:function``, as the user has named it.
    arguments
        Those of :class:`~biorrr.circuit.Microcircuit`; the function is called with them.
    """
    function = circuit_function(named)
    try:
        circuit = function(**arguments)
    except (Exception, SystemExit) as error:  # sys.exit would end the run as if it had succeeded
        raise CircuitError(f"circuit: {named} failed ({type(error).__name__}: {error})") from error
    if isinstance(circuit, type) or not callable(getattr(circuit, "run", None)):
        got = circuit.__name__ if isinstance(circuit, type) else type(circuit).__name__
        raise CircuitError(
            f"circuit: {named} must return a circuit, such as a Microcircuit (got {got})"
        )
    return circuit


def check_circuit(what: str, used: str | None, given: str | None) -> None:
    """Refuse to go on with ``what`` unless the user has ``given`` the function that it has ``used``
    once more.
    """
    if used is None and given is not None:
        raise SettingsError(
            f"circuit: {what} has used none of your own (got {given}); leave --circuit out"
        )
    if used != given:
        got = "" if given is None else f" (got {given})"
        raise SettingsError(
            f"circuit: {what} has used {used}{got}, which is run only if you name it: add"
            f" --circuit {used}"
        )


@functools.cache
def circuit_function(named: str) -> Callable[..., Any]:
    """Import the function that ``named`` names. This runs the user's code: only what the user has
    named comes here.
    """
    place, _, name = named.rpartition(":")
    if not place or not name:
        raise SettingsError(
            f"circuit: must be module:function or path/to/file.py:function (got {named!r})"
        )
    is_file = place.endswith(".py")
    if is_file and not Path(place).is_file():
        raise SettingsError(f"circuit: no such file: {place}")
    try:
        module = _import(place)
    except (Exception, SystemExit) as error:
        remedy = "a module must be importable wherever the circuit runs, also by workers elsewhere"
        raise CircuitError(
            f"circuit: {place} cannot be imported ({type(error).__name__}: {error})"
            f"{'' if is_file else f'; {remedy}'}"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise SettingsError(f"circuit: there is no function {name!r} in {place}")
    return function


def _import(place: str) -> Any:
    """Import a module, or a file under a name of its own, so that it can stand in for no other."""
    if not place.endswith(".py"):
        sys.path.append("")  # modules in the folder one works in, after all others
        try:
            return importlib.import_module(place)
        finally:
            sys.path.remove("")
    spec = importlib.util.spec_from_file_location(f"circuit_of_the_user_{Path(place).stem}", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def absolute(named: str | None, folder: str) -> str | None:
    """Return what is ``named`` in a folder as processes find it that work in another one."""
    place, colon, name = (named or "").rpartition(":")
    return f"{Path(folder) / place}{colon}{name}" if place.endswith(".py") else named
