"""Gives every parameter in the reference its own type and default (an extension of griffe).

Parameters that are documented together would all be shown with the type and default of the first,
and types with the functions that check their values.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any, get_args, get_type_hints

import griffe

MODULES = re.compile(r"\b(?:[a-z_]\w*\.)+")  # before the name of a class: collections.abc.Sequence
OPTIONAL = re.compile(r"Optional\[(.*?)\]$")


class DocumentedParameters(griffe.Extension):
    """Fills in types and defaults as Python has them, once the package has been read."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called by griffe for a package that was read."""
        for documented in _documented(pkg):
            _fill_in(documented)


def _documented(owner: griffe.Object | griffe.Alias):
    """Yield the classes and functions of a module or class that have a docstring."""
    for member in owner.members.values():
        if member.is_alias:
            continue
        if (member.is_class or member.is_function) and member.docstring:
            yield member
        if member.is_module or member.is_class:
            yield from _documented(member)


def _fill_in(documented: griffe.Class | griffe.Function) -> None:
    """Set types and defaults in the parameters that a docstring lists."""
    found = _found(documented.path)
    if found is None:
        return
    documented.docstring.parser = griffe.Parser.numpy
    documented.docstring.parser_options = {"warnings": False}
    for section in documented.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for listed in section.value:
                _correct(listed, found)


def _found(path: str) -> Any:
    """Return the class or function of a path in the package; None if there is none at run time."""
    parts = path.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        for name in parts[split:]:
            found = getattr(found, name, None)
        return found
    return None


def _correct(listed: griffe.DocstringParameter, found: Any) -> None:
    """Set type and default of one parameter of the class or function ``found``."""
    try:
        parameters = inspect.signature(found).parameters
        hints = get_type_hints(found.__init__ if _plain(found) else found)
    except (TypeError, ValueError, NameError):  # names that only type checkers import
        return
    parameter = parameters.get(listed.name.lstrip("*"))
    if parameter is None:
        return
    # ArrayLike and NDArray stay as they were written: in full they fill a page.
    if parameter.name in hints and not re.search("ArrayLike|NDArray", str(listed.annotation)):
        listed.annotation = in_words(hints[parameter.name])
    listed.value = None if parameter.default is parameter.empty else _shown(parameter.default)


def _plain(found: Any) -> bool:
    """Return True for a class whose parameters are those of its ``__init__``, not its fields."""
    return inspect.isclass(found) and "__init__" in vars(found) and not get_type_hints(found)


def in_words(hint: Any) -> str:
    """Return a type as its name, without the modules and checks behind it."""
    if hint is type(None):
        return "None"
    said = hint.__name__ if inspect.isclass(hint) and not get_args(hint) else str(hint)
    return OPTIONAL.sub(r"\1 | None", MODULES.sub("", said))


def _shown(default: Any) -> str:
    """Return a default as one would write it; fields that are made anew have none to show."""
    said = repr(default)
    return "" if "object at" in said or "factory" in said else said
