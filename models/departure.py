"""Departures from the paper's circuit: values that take the parts of a circuit and return altered
ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

from biorrr.errors import InputError
from biorrr.models.parts import Parts
from biorrr.models.validation import Checked, PositiveCount, instance_of


class Departure(Checked):
    """Base of all departures: subclasses are frozen dataclasses whose fields are what the user
    sets.

    A departure finds the parts that it concerns by their kind, so it applies to every area of a
    hierarchy. It wraps expressions of those parts, and adds variables and steps to them; it leaves
    the other parts alone. A step says by its phase where within a tick it belongs, so departures
    can be combined in any order; one that gives the clock is applied last. What cannot be combined
    is declared here and checked by :func:`apply_departures`.

    A subclass defines :meth:`alter_part`, or :meth:`alter` where it changes several parts together.

    Attributes
    ----------
    alters
        Kinds of the parts that it alters: a circuit must have at least one part of each.
    gives
        What it gives to the circuit that no other departure of the circuit may give too, such as
        "clock".
    requires, excludes
        What another departure of the circuit must give, or must not give, each with the reason in
        words.
    within
        Numbers of the areas that it is limited to; every area if empty.
    memory
        Time over which it looks back, in ms, or in samples where activity is instant; 0 within
        a sample.
    """

    alters: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    requires: tuple[tuple[str, str], ...] = ()
    excludes: tuple[tuple[str, str], ...] = ()
    within: tuple[int, ...] = ()
    memory: float = 0.0

    def alter_part(self, part):
        """Return ``part``, which is of a kind that the departure alters, as it is under the
        departure.
        """
        raise NotImplementedError

    def alter(self, parts: Parts) -> Parts:
        """Return ``parts`` as they are under this departure: those of the kinds that it alters,
        :meth:`alter_part`.
        """
        return parts.having(
            *(self.alter_part(part) for kind in self.alters for part in parts.all(kind))
        )


@dataclass(frozen=True)
class InAreas(Departure):
    """A departure in some areas of a hierarchy only.

    Parameters
    ----------
    departure
        The departure that applies there.
    areas
        Numbers of the areas, from 1, the area nearest to x.

    Examples
    --------
    >>> from biorrr.models import Rectified
    >>> InAreas(Rectified(0.1), (2,))
    InAreas(departure=Rectified(baseline=0.1), areas=(2,))
    """

    departure: Departure
    areas: tuple[PositiveCount, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        instance_of("InAreas.departure", self.departure, Departure)
        if "clock" in self.departure.gives:
            raise InputError(
                f"InAreas: all areas have one clock (got {self.departure!r}); give it without"
                " InAreas"
            )
        for name in ("alters", "gives", "requires", "excludes", "memory"):
            object.__setattr__(self, name, getattr(self.departure, name))
        object.__setattr__(self, "within", self.areas)

    def alter(self, parts: Parts) -> Parts:
        """Return ``parts`` of which those in the areas are altered."""
        have = sorted({part.area for part in parts.everything} - {0})
        missing = [area for area in self.areas if area not in have]
        if missing:
            raise InputError(
                f"there is no area {missing[0]}; there are"
                f" {', '.join(map(str, have)) or 'none in this circuit'}"
            )
        return replace(self.departure.alter(replace(parts, within=self.areas)), within=())


def apply_departures(parts: Parts, departures: Iterable[Departure]) -> Parts:
    """Return ``parts`` under all ``departures``, after a check that they fit each other and the
    circuit.
    """
    departures = tuple(instance_of("departures", departure, Departure) for departure in departures)
    check_together((*parts.departures, *departures))
    for departure in sorted(departures, key=lambda departure: "clock" in departure.gives):
        for kind in departure.alters:
            if not parts.all(kind=kind):
                have = ", ".join(dict.fromkeys(part.kind for part in parts.everything))
                raise InputError(
                    f"{departure!r}: needs a part of kind {kind!r}, and this circuit has {have}"
                )
        try:
            altered = departure.alter(parts)
        except ValueError as error:
            raise InputError(f"{departure!r}: does not fit this circuit: {error}") from error
        instance_of(f"what {departure!r}.alter returns", altered, Parts)
        parts = replace(altered, departures=(*parts.departures, departure))
    return parts


def check_together(departures: tuple[Departure, ...]) -> None:
    """Check that a circuit can have all ``departures`` at once; raise with the reason otherwise."""
    for one, other in itertools.permutations(departures, 2):
        twice = [(given, f"both give the {given}; leave out one of them") for given in one.gives]
        for unwanted, reason in (*twice, *one.excludes):
            apart = one.within and other.within and not {*one.within} & {*other.within}
            if unwanted in other.gives and not apart:
                both = f"{_in_short(one)} does not go with {_in_short(other)}"
                raise InputError(f"departures: {both}: {reason}")
    for one in departures:
        for needed, reason in one.requires:
            if not any(needed in other.gives for other in departures):
                raise InputError(f"departures: {_in_short(one)}: {reason}")


def _in_short(departure: Departure) -> str:
    """Return the text by which an error refers to ``departure``."""
    text = repr(departure)
    return text if len(text) <= 60 else f"{type(departure).__name__}(...)"
