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
    if used == given:
        return
    if used is None:
        raise SettingsError(
            f"circuit: {what} has used none of your own (got {given}); leave --circuit out"
        )
    if given is None:
        raise SettingsError(
            f"circuit: {what} has used {used}, which is run only if you name it: add --circuit"
            f" {used}"
        )
    raise SettingsError(f"circuit: {what} has used {used} (got {given}); name the same one")


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
        module = _import_file(Path(place)) if is_file else _import_module(place)
    except (Exception, SystemExit) as error:
        where = (
            ""
            if is_file
            else (
                "; a module must be importable wherever the circuit runs, also by workers elsewhere"
            )
        )
        raise CircuitError(
            f"circuit: {place} cannot be imported ({type(error).__name__}: {error}){where}"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        raise SettingsError(f"circuit: there is no function {name!r} in {place}")
    return function


def _import_file(path: Path) -> Any:
    # Under a name of its own, so that it can stand in for no other module.
    spec = importlib.util.spec_from_file_location(f"circuit_of_the_user_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _import_module(name: str) -> Any:
    before = [*sys.path]
    sys.path.append("")  # modules in the folder one works in, after all others
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = before


def absolute(named: str | None, folder: str) -> str | None:
    """Return what is ``named`` in a folder as processes find it that work in another one."""
    place, colon, name = (named or "").rpartition(":")
    return f"{Path(folder) / place}{colon}{name}" if place.endswith(".py") else named
