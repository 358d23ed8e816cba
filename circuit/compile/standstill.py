"""Variables that stand still while a sample is held, found from what the actions of a tick read and
write.

A variable stands still if nothing but the presentation of a sample sets it, if it changes only when
a sample ends, as weights do, or if a single action computes it from nothing but what stands still.
"""

from __future__ import annotations

from biorrr.circuit.compile.schedule import Action
from biorrr.models.algebra import vanishes
from biorrr.models.meanings import Meanings

_CHANGED_AT_ONSET = frozenset({"clock.waking", "clock.sample"})


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
        Variables, as "part.variable", that are not the same from the first tick of a sample to its
        last.
    """

    def __init__(
        self, meanings: Meanings, actions: list[Action], presented: frozenset[str]
    ) -> None:
        self.actions = actions
        self._writers: dict[str, list[int]] = {}
        for number, action in enumerate(actions):
            for key in action.writes if action.gate != "replaying" else ():
                self._writers.setdefault(key, []).append(number)
        declared = [
            (f"{part}.{name}", v.role)
            for part, own in meanings.declared.items()
            for name, v in own.items()
        ]
        inputs = {key for key, role in declared if role == "input"} - _CHANGED_AT_ONSET
        # An input that is not presented may change in any tick; so may one that a step works on.
        self.moving = {key for key in inputs if key in self._writers or key not in presented}
        while found := {
            key for key in self._writers if key not in self.moving and self._moves(key)
        }:
            self.moving |= found

    def _moves(self, key: str) -> bool:
        """Return True if the actions that write the variable ``key`` make it move, given what is
        known to move.
        """
        writers = self._writers[key]
        if key in _CHANGED_AT_ONSET or all(map(self._at_end, writers)):
            return False
        return len(writers) > 1 or not self._repeats(writers[0])

    def _at_end(self, number: int) -> bool:
        """Return True if an action changes something only when a sample ends."""
        action = self.actions[number]
        return action.gate == "closing" or bool(
            action.addend and vanishes(action.addend, "closing")
        )

    def _repeats(self, number: int) -> bool:
        """Return True if an action has the same result in every tick of a sample."""
        action = self.actions[number]
        return action.reads.isdisjoint(action.writes) and all(
            self.of(key, number) for key in action.reads
        )

    def of(self, key: str, number: int) -> bool:
        """Return True if the variable ``key``, as action ``number`` reads it, is the same in every
        tick of a sample.

        It must have been set before it is read, or, if it changes when the sample ends, be changed
        after.
        """
        return key not in self.moving and all(
            number <= writer if self._at_end(writer) else writer < number
            for writer in self._writers.get(key, ())
        )

    def of_action(self, number: int) -> bool:
        """Return True if an action need not be done again after the first tick of a sample."""
        action = self.actions[number]
        onset_known = max(self._writers["clock.onset"]) < number
        writes_still = bool(action.drives) or action.writes.isdisjoint(self.moving)
        return onset_known and action.gate != "replaying" and writes_still and self._repeats(number)
