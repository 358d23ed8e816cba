"""Names, numbers and foreign errors in the words of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

SHOWN = 12  # names that are listed in an error
LONGEST = 160  # characters of a foreign error, or of a name from a file


def as_text(value: Any) -> Any:
    """Return bytes as str, whatever is in them; anything else as it is."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def as_key(name: str) -> str:
    """Return a name, perhaps the path of a data file, that a variable of a NetCDF file may have."""
    return name.replace("/", "-")


def snake(*names: object) -> str:
    """Return names and numbers as one key of a summary: ``Bio-CCA, 2`` is ``bio_cca_2``."""
    return "_".join(re.sub(r"\W+", "_", str(name).lower()).strip("_") for name in names)


def counted(number: int, thing: str) -> str:
    """Return a number of things in words: ``1 unit``, ``14 units``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def listed(names: Iterable[object]) -> str:
    """Return names in words, not too many of them, each as :func:`printable`."""
    shown = [printable(name) for name in names]
    if not shown:
        return "none"
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return ", ".join(shown[:SHOWN]) + more


def in_full(number: float) -> str:
    """Return a number with all its digits: ``1``, ``0.25``, ``0.3333333``."""
    return str(int(number)) if number == int(number) else repr(float(number))


def printable(text: object) -> str:
    """Return text from a file without control characters, which could forge lines on a terminal,
    and not too long.
    """
    kept = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in str(text))
    return kept if len(kept) <= LONGEST else kept[: LONGEST - 3] + "..."


def brief(error: object) -> str:
    """Return what a library says of an error, on one line."""
    said = printable(" ".join(str(error).split()))
    return said or type(error).__name__
