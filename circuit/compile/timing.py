"""Time in a circuit: how long a tick lasts, and for how many ticks samples and replays are held."""

from __future__ import annotations

import math
from dataclasses import dataclass

from biorrr.models import Parts


@dataclass(frozen=True)
class Timing:
    """The timing of a circuit, read from its clock.

    Parameters
    ----------
    tick
        Length of a tick in ms; infinite where activity is instant.
    duration, replay_duration
        Ticks for which a sample and a replay are held.
    settles
        True where a sample is held until outputs settle, so that only its last tick counts.
    """

    tick: float
    duration: int = 1
    replay_duration: int = 1
    settles: bool = False

    @classmethod
    def of(cls, parts: Parts) -> Timing:
        """Return the timing that the clock among ``parts`` gives."""
        clock = {variable.name: variable.value for variable in parts["clock"].variables}
        settles = any(population.name == "settling" for population in parts.populations)
        replay_duration = int(float(clock.get("replay_duration", 1.0)))
        return cls(float(clock["tick"]), int(float(clock["duration"])), replay_duration, settles)

    @property
    def instant(self) -> bool:
        """True where activity follows its drive at once."""
        return not math.isfinite(self.tick)

    @property
    def window(self) -> float:
        """Seconds for which a sample is held; 0 where activity is instant."""
        return 0.0 if self.instant else self.duration * self.tick / 1000
