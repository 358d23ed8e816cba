"""The clock of a circuit, which counts samples and says whether a sample or a replay is on.

All its variables are broadcast: every cell and synapse may read them.
"""

from __future__ import annotations

import math

from biorrr.models.parts import Population
from biorrr.models.variables import Step, Variable, broadcast, parameter

_KEPT = (
    broadcast("waking", "1 while a sample is presented, 0 in spontaneous replay", "input"),
    broadcast("sample", "samples seen before this one", "memory", -1.0),
    broadcast("onset", "1 in the first tick of a sample"),
    broadcast("closing", "1 in the last tick of a sample"),
    broadcast("moment", "count of the ticks of all samples, by which random numbers are drawn"),
    broadcast("seed", "seed of everything random", "parameter", "seed"),
    broadcast("held", "ticks for which a sample is held", "parameter", 1.0),
    broadcast("share", "part of a sample's time that one tick takes", "parameter", "1 / held"),
    broadcast(
        "lapse",
        "time that a tick takes for what outlasts samples: in ms, or in samples where all is"
        " instant",
        "parameter",
        1.0,
    ),
    parameter(
        "tick", "length of a tick, infinite where all is instant", math.inf, "ms", per="circuit"
    ),
)


def _clock(meaning: str, code: str, *further: Variable) -> Population:
    """Return a clock with ``further`` variables that runs ``code`` in every tick."""
    step = Step("input", code, replays=True)
    return Population(1, "clock", (*_KEPT, *further), (step,), meaning, shape="")


def Clock() -> Population:
    """Return a clock for which every sample is one tick (the paper's circuit)."""
    return _clock(
        "Counts the samples; every sample is one tick.",
        """
        sample += waking
        onset = waking
        closing = waking
        moment = sample
        """,
    )


def HoldingClock() -> Population:
    """Return a clock that holds every sample for many ticks; a replay still takes one."""
    return _clock(
        "Counts the samples; every sample is held for many ticks.",
        """
        onset = waking * int(elapsed >= held - 1)
        elapsed = waking * (1 - onset) * (elapsed + 1) + (1 - waking) * elapsed
        sample += onset
        closing = waking * int(elapsed >= held - 1)
        moment = sample * held + elapsed
        """,
        broadcast("elapsed", "ticks since the sample came on", "memory", "held - 1"),
    )


def SettlingClock() -> Population:
    """Return a clock that holds every sample and every replay for as many ticks as outputs need to
    settle.
    """
    return _clock(
        "Counts the samples; every sample and every replay is held until outputs have settled.",
        """
        fresh = int(elapsed >= held - 1)
        elapsed = (1 - fresh) * (elapsed + 1)
        onset = waking * fresh
        sample += onset
        closing = waking * int(elapsed >= held - 1)
        replay_closing = (1 - waking) * int(elapsed >= held - 1)
        moment = sample * held + elapsed
        """,
        broadcast("elapsed", "ticks since the sample or the replay came on", "memory", "held - 1"),
        broadcast("replay_held", "ticks for which a replay is held", "parameter", "held"),
        broadcast("fresh", "1 in the first tick of a sample or a replay"),
        broadcast("replay_closing", "1 in the last tick of a replay"),
    )
