"""The clock of a circuit, which counts samples and ticks.

All its variables are broadcast: every cell and synapse may read them.
"""

from __future__ import annotations

import math

from biorrr.models.parts import Population, broadcast, parameter


def Clock(
    duration: float | None = None, tick: float = math.inf, replay_duration: float | None = None
) -> Population:
    """Return a clock.

    Parameters
    ----------
    duration
        Ticks for which a sample is held; without it every sample is one tick, as in the paper's
        circuit.
    tick
        Length of a tick in ms; infinite where activity follows its drive at once.
    replay_duration
        Ticks for which an input is held in spontaneous replay; without it replay takes one tick.
    """
    variables = [
        broadcast("sample", "samples seen before this one", "memory", -1.0),
        broadcast(
            "moment",
            "count of the ticks of all samples, by which random numbers are drawn",
            "input",
        ),
        broadcast("seed", "seed of everything random", "parameter", "seed"),
        broadcast("duration", "ticks for which a sample is held", "parameter", duration or 1.0),
        broadcast(
            "lapse",
            "time that a tick takes for what outlasts samples: in ms, or in samples where all is"
            " instant",
            "parameter",
            tick if math.isfinite(tick) else 1.0,
        ),
        parameter(
            "tick", "length of a tick, infinite where all is instant", tick, "ms", per="circuit"
        ),
    ]
    if duration is not None:
        variables.append(
            broadcast("elapsed", "ticks since the sample or the replay came on", "input")
        )
    if replay_duration is not None:
        meaning = "ticks for which a replay is held"
        variables.append(broadcast("replay_duration", meaning, "parameter", replay_duration))
    return Population(1, "clock", tuple(variables), meaning="Counts samples and ticks.", shape="")
