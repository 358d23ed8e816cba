"""What a departure from the paper's circuit is: something that takes the parts of a circuit and gives altered ones."""

from __future__ import annotations

from collections.abc import Iterable

from biorrr.models.parts import Parts


class Departure:
    """Base of all departures: subclasses are frozen dataclasses whose fields are what a person sets.

    A departure wraps expressions of the parts it concerns, and adds variables and steps to them; it leaves the other
    parts alone. Where within a tick a step belongs is said by its phase, so departures can be combined in any order.
    Only those that wrap the same expression act one after another.
    """

    @property
    def memory(self) -> float:
        """How far back it looks, in seconds, or in samples where activity is instant; 0 within a sample."""
        return 0.0

    def alter(self, parts: Parts) -> Parts:
        """``parts`` as they are under this departure."""
        raise NotImplementedError


def departed(parts: Parts, departures: Iterable[Departure]) -> Parts:
    """``parts`` under all ``departures``, one after another."""
    for departure in departures:
        if not isinstance(departure, Departure):
            raise TypeError(f"departures: must be Departure objects (got {departure!r})")
        try:
            altered = departure.alter(parts)
        except ValueError as error:
            raise ValueError(f"{departure!r}: does not fit this circuit: {error}") from error
        if not isinstance(altered, Parts):
            raise TypeError(f"{departure!r}: alter must return the altered parts (got {altered!r})")
        parts = altered
    return parts
