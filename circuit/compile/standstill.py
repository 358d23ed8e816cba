"""Variables that stand still while a sample is held, found from the code of a circuit's parts.

A variable stands still if it is computed from nothing but what stands still, if it changes only when the sample comes
on, such as ``v = (1 - onset) * v + onset * x``, or if it changes only when the sample ends, as weights do by
``closing * ...``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from biorrr.circuit.compile.schedule import Action
from biorrr.models.algebra import assignments, reduced
from biorrr.models.expressions import names_in
from biorrr.models.meanings import Meanings

Place = tuple[int, int]  # of an assignment: the number of its action, and its line there
_AFTER_ONSET = {"waking": 1, "onset": 0}  # the clock while a sample is held, but for the first tick
_BETWEEN = {**_AFTER_ONSET, "closing": 0}  # and but for the last


@dataclass(frozen=True)
class _Assignment:
    """One assignment of an action.

    Parameters
    ----------
    place
        Where it is.
    variable, reads
        The variable that it assigns to and those that it reads, as "part.variable", or "action:name" for a name that
        lives within the code alone.
    changes
        When it changes its variable: at most in the first tick of a sample, "onset"; at most in the first and the
        last, "end"; in any "tick".
    """

    place: Place
    variable: str
    reads: frozenset[str]
    changes: str


class Standstill:
    """The variables and actions that stand still while a sample is held.

    Parameters
    ----------
    meanings, actions
        Meanings of names in the circuit, and what happens in a tick, in order.
    presented
        Variables that the presentation of a sample sets, as "population.variable".

    Attributes
    ----------
    moving
        Variables, as "part.variable", that are not the same from the first tick of a sample to its last.
    """

    def __init__(self, meanings: Meanings, actions: list[Action], presented: frozenset[str]) -> None:
        self.actions = actions
        self._lines = [list(_assignments(meanings, place, action)) for place, action in enumerate(actions)]
        self._assigned: dict[str, list[_Assignment]] = {}
        for line in (line for lines in self._lines for line in lines):
            self._assigned.setdefault(line.variable, []).append(line)
        declared = [(f"{part}.{v.name}", v) for part, own in meanings.declared.items() for v in own.values()]
        inputs = {key for key, variable in declared if variable.role == "input"} - {"clock.waking"}
        # An input that is not presented may change in any tick; so may one that a step works on.
        self.moving = {key for key in inputs if key in self._assigned or key not in presented}
        while found := {key for key in self._assigned if key not in self.moving and self._moves(key)}:
            self.moving |= found

    def _moves(self, key: str) -> bool:
        """Return True if an assignment to the variable ``key`` makes it move, given what is known to move."""
        lines = self._assigned[key]
        if all(line.changes == "end" for line in lines):
            return False
        return len(lines) > 1 or not (lines[0].changes == "onset" or self._repeats(lines[0]))

    def _repeats(self, line: _Assignment) -> bool:
        """Return True if ``line`` assigns the same value in every tick of a sample."""
        return line.variable not in line.reads and all(self.of(key, line.place) for key in line.reads)

    def of(self, key: str, place: Place) -> bool:
        """Return True if the variable ``key``, read at ``place``, is the same in every tick of a sample.

        It must have been set before it is read, or, if it changes when the sample ends, be changed after.
        """
        return key not in self.moving and all(
            place <= line.place if line.changes == "end" else line.place < place for line in self._assigned.get(key, ())
        )

    def of_action(self, number: int) -> bool:
        """Return True if an action need not be done again after the first tick of a sample."""
        action, lines = self.actions[number], self._lines[number]
        onset_known = max(line.place for line in self._assigned["clock.onset"]) < (number, 0)
        if action.addend or not lines or not onset_known:
            return False
        return all(self._repeats(line) and (action.drives or line.variable not in self.moving) for line in lines)


def _assignments(meanings: Meanings, number: int, action: Action) -> Iterator[_Assignment]:
    """Yield the assignments that an action makes while a sample is held."""
    if action.gate == "replaying":
        return
    part = meanings.parts[action.part]
    if action.drives:
        (filled,) = action.writes
        named = [(filled, action.code)]
    elif action.addend:  # a weight is within its bound already
        named = [("w", f"w + {action.addend}")]
    else:
        named = list(assignments(action.code))
    keys = {name: f"{action.name}:{name}" for name, _ in named}
    for name in {*keys, *(read for _, value in named for read in names_in(value).read)}:
        found = meanings.find(part, name)
        keys |= {name: found.key} if found else {}
    for line, (name, value) in enumerate(named):
        reads = frozenset(keys[read] for read in names_in(value).read if read in keys)
        after, between = (reduced(value, clock) == name for clock in (_AFTER_ONSET, _BETWEEN))
        changes = "onset" if after else "end" if between or action.gate == "closing" else "tick"
        yield _Assignment((number, line), name if action.drives else keys[name], reads, changes)
