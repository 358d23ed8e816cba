"""The clock of a circuit: it says whether a sample or a replay is on, and counts the samples.

What it holds is broadcast: every cell and synapse may read it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from biorrr.models.parts import Population
from biorrr.models.variables import Step, Variable

_KEPT = (
    Variable("waking", "1 while a sample is presented, 0 in spontaneous replay", per="circuit", role="input"),
    Variable("sample", "samples seen before this one", per="circuit", role="memory", value=-1.0),
    Variable("onset", "1 in the first tick of a sample", per="circuit"),
    Variable("closing", "1 in the last tick of a sample", per="circuit"),
    Variable("moment", "count of the ticks of all samples, by which random numbers are drawn", per="circuit"),
    Variable("seed", "seed of everything random", per="circuit", role="parameter", value="seed"),
    Variable("held", "ticks for which a sample is held", per="circuit", role="parameter", value=1.0),
    Variable("share", "part of a sample's time that one tick takes", per="circuit", role="parameter", value="1 / held"),
    Variable(
        "lapse", "time that a tick takes for what outlasts samples: in s, or in samples where all is instant",
        per="circuit", role="parameter", value=1.0,
    ),
    Variable(
        "sample_time", "time that a sample takes, in s, or in samples where all is instant or settles",
        per="circuit", role="parameter", value="held * lapse",
    ),
    Variable(
        "tick", "length of a tick, infinite where all is instant", per="circuit", role="parameter", value=math.inf,
        unit="ms",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Clock(Population):
    """Every sample is one tick (the paper's circuit)."""

    size: int | None = 1
    name: str = "clock"
    variables: tuple[Variable, ...] = _KEPT
    steps: tuple[Step, ...] = (
        Step(
            "input",
            """
            sample += waking
            onset = waking
            closing = waking
            moment = sample
            """,
            replays=True,
        ),
    )
    meaning: str = "Counts the samples; every sample is one tick."
    shape: str = ""


@dataclass(frozen=True)
class HoldingClock(Clock):
    """Every sample is held for many ticks; a replay still takes one."""

    variables: tuple[Variable, ...] = (
        *_KEPT,
        Variable("elapsed", "ticks since the sample came on", per="circuit", role="memory", value="held - 1"),
    )
    steps: tuple[Step, ...] = (
        Step(
            "input",
            """
            onset = waking * int(elapsed >= held - 1)
            elapsed = waking * (1 - onset) * (elapsed + 1) + (1 - waking) * elapsed
            sample += onset
            closing = waking * int(elapsed >= held - 1)
            moment = sample * held + elapsed
            """,
            replays=True,
        ),
    )
    meaning: str = "Counts the samples; every sample is held for many ticks."


@dataclass(frozen=True)
class SettlingClock(HoldingClock):
    """Every sample and every replay is held for as many ticks as outputs need to settle."""

    variables: tuple[Variable, ...] = (
        *(replace(variable, value=1.0) if variable.name == "sample_time" else variable for variable in _KEPT),
        Variable("elapsed", "ticks since the sample or the replay came on", "circuit", "memory", "held - 1"),
        Variable("replay_held", "ticks for which a replay is held", "circuit", "parameter", "held"),
        Variable("fresh", "1 in the first tick of a sample or a replay", per="circuit"),
        Variable("replay_closing", "1 in the last tick of a replay", per="circuit"),
    )
    steps: tuple[Step, ...] = (
        Step(
            "input",
            """
            fresh = int(elapsed >= held - 1)
            elapsed = (1 - fresh) * (elapsed + 1)
            onset = waking * fresh
            sample += onset
            closing = waking * int(elapsed >= held - 1)
            replay_closing = (1 - waking) * int(elapsed >= held - 1)
            moment = sample * held + elapsed
            """,
            replays=True,
        ),
    )
    meaning: str = "Counts the samples; every sample and every replay is held until outputs have settled."
