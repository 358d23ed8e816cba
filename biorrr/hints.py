"""Hints at what the user may have meant, to end an error with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a hint at the known name that is most like ``name``, to end a clause with; nothing
    where none is.
    """
    near = difflib.get_close_matches(name, [*known], n=1, cutoff=cutoff)
    return f"; did you mean {near[0]!r}?" if near else ""


def did_you_transpose(x: tuple[int, ...], y: tuple[int, ...]) -> str:
    """Return a hint at which of X and Y to transpose, given their shapes ``x`` and ``y``, so that
    both have a row for each sample; nothing where that does not help.
    """
    if len(x) != 2 or len(y) != 2:
        return ""
    single = [name for name, fits in (("X.T", x[1] == y[0]), ("Y.T", y[1] == x[0])) if fits]
    if single:
        return f"; did you mean {' or '.join(single)}?"
    return "; did you mean X.T and Y.T?" if x[1] == y[1] else ""
