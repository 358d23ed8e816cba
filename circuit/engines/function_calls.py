"""Calls such as exp in a loop of their own: they do not vectorise, and keep the loop that they stand in from it.

Nothing is computed twice or otherwise. A call can go first where all it needs is there when the loop begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FUNCTIONS = "exp|expm1|log|log10|log1p|sin|cos|tan|sinh|cosh|tanh|asin|acos|atan"
_CALL = re.compile(rf"(?<![\w.])(?:{_FUNCTIONS})\(")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_FETCHED = re.compile(r"\s*(?:const )?\w+ (\w+) = _ptr_array_\w+\[\w+\];\s*$")
_ASSIGNED = re.compile(r"\s*(?:(?:const )?\w+ )?(\w+) [-+*/]?= ")


@dataclass(frozen=True)
class CallsFirst:
    """The lines of a loop over cells in two.

    Parameters
    ----------
    calls
        Of a loop that comes first: what they need, and the calls.
    rest
        Of the loop as it was, with `_called_0[_idx]` and so on in place of the calls.
    count
        How many calls there are.
    """

    calls: list[str]
    rest: list[str]
    count: int


def lines_of(code: str | list[str]) -> list[str]:
    """Lines of C++ that Brian2 has made, one statement each."""
    return code.splitlines() if isinstance(code, str) else list(code)


def calls_first(code: str | list[str]) -> CallsFirst:
    """Take from ``code``, the statements of a loop over cells in C++, the calls that can go first."""
    fetched: dict[str, str] = {}
    changed: set[str] = set()
    needed: dict[str, None] = {}
    calls: list[str] = []
    rest: list[str] = []
    for line in lines_of(code):
        at = 0
        while call := _CALL.search(line, at):
            at = call.end()
            end = _closing(line, at)
            names = set(_NAME.findall(line[at:end]))
            if names & changed or re.search(r"\w\(", line[at:end]):
                continue
            whole = line[call.start() : end + 1]
            needed |= dict.fromkeys(fetched[name] for name in fetched if name in names)
            place = f"_called_{len(calls)}[_idx]"
            calls.append(f"{place} = {whole};")
            line = line[: call.start()] + place + line[end + 1 :]
            at = call.start() + len(place)
        rest.append(line)
        if found := _FETCHED.match(line):
            fetched[found[1]] = line
        elif found := _ASSIGNED.match(line):
            changed.add(found[1])
    return CallsFirst([*needed, *calls], rest, len(calls))


def _closing(line: str, begin: int) -> int:
    """Where the bracket closes that opens before ``begin``."""
    depth = 1
    for place in range(begin, len(line)):
        depth += {"(": 1, ")": -1}.get(line[place], 0)
        if depth == 0:
            return place
    return len(line)
