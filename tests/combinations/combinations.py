"""Every departure in every kind of circuit: the table that docs show and tests check."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biorrr.circuit import Hierarchy, Microcircuit
from biorrr.errors import InputError
from biorrr.models import (
    AllOrNone,
    ApicalDrive,
    DalesLaw,
    Departure,
    Eligibility,
    HomeostaticScaling,
    LateInstruction,
    Leaky,
    LoopDelay,
    Millivolts,
    Rate,
    Rates,
    Rectified,
    Settled,
    Sign,
    SparseConnections,
    Spiking,
    TransmissionNoise,
)

RATES = Rates(x=Rate(0.01, 900), y=Rate(0.02, 700), q=Rate(0.01, 1500), r=Rate(0.009, 1100))
MEMBRANES = Leaky(hold=10.0, dt=2.0)
CELLS = Millivolts(population=3, interneuron_population=2, hold=20.0, latency=5.0)
# Weights of areas are weak here, so that outputs come to an equilibrium whatever departs; only few
# ticks are needed.
SETTLED = Settled(40, tolerance=1.0)

Make = Callable[..., Microcircuit | Hierarchy]


def _microcircuit(*own: Departure, **settings) -> Make:
    return lambda *departures, engine="numpy": Microcircuit(
        2, rates=RATES, departures=(*departures, *own), engine=engine, **settings
    )


def _areas(*own: Departure) -> Make:
    return lambda *departures, engine="numpy": Hierarchy(
        (2, 2), (1.0, 0.8, 0.6), rates=RATES, departures=(*departures, *own), engine=engine
    )


CIRCUITS: dict[str, Make] = {
    "microcircuit": _microcircuit(),
    "leaky": _microcircuit(MEMBRANES),
    "leaky, spiking": _microcircuit(MEMBRANES, Spiking(10)),
    'cell="millivolts"': _microcircuit(CELLS),
    "feedback=, settled": _microcircuit(SETTLED, feedback=0.5),
    "feedback=, leaky": _microcircuit(MEMBRANES, feedback=0.5),
    "two areas, settled": _areas(SETTLED),
    "two areas, leaky": _areas(MEMBRANES),
}
DEPARTURES: dict[str, Departure] = {
    "AllOrNone": AllOrNone(0.3),
    "Sign": Sign(0.3),
    "Rectified": Rectified(0.2),
    "Leaky": MEMBRANES,
    "Settled": SETTLED,
    "Millivolts": CELLS,
    "Spiking": Spiking(10),
    "TransmissionNoise": TransmissionNoise(0.2),
    "LoopDelay in samples": LoopDelay(2),
    "LoopDelay in ticks": LoopDelay(ticks=2),
    "LateInstruction in samples": LateInstruction(1),
    "LateInstruction in ticks": LateInstruction(ticks=2),
    "SparseConnections": SparseConnections(0.7, 0.7),
    "DalesLaw": DalesLaw(("Vx", "Vy", "Q", "R")),
    "ApicalDrive": ApicalDrive(0.1),
    "Eligibility": Eligibility(1.5, 0.8, 1.2),
    "HomeostaticScaling": HomeostaticScaling(),
}


def refusal(departure: str, circuit: str) -> str:
    """Return why ``circuit`` cannot have ``departure``; empty if it can."""
    try:
        CIRCUITS[circuit](DEPARTURES[departure])
    except InputError as error:
        return str(error).rpartition(": ")[2]
    return ""


def data() -> tuple[np.ndarray, np.ndarray]:
    """Return 24 samples of two views, each followed by its opposite; X (24, 5), Y (24, 3)."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((12, 5)) * [2.0, 1.5, 1.0, 0.7, 0.5]
    Y = X @ rng.standard_normal((5, 3)) * 0.4 + 0.3 * rng.standard_normal((12, 3))
    return tuple(np.stack([half, -half], axis=1).reshape(24, -1) for half in (X, Y))


def weights(areas: int) -> dict[str, np.ndarray]:
    """Return weak initial weights by name, unrelated to one another; without areas those of a
    microcircuit.
    """
    rng = np.random.default_rng(3)
    found = {}
    for area in range(1, max(areas, 1) + 1):
        names = [f"{name}{area}" for name in "WAQR"] if areas else ["Vx", "Vy", "Q", "R"]
        below, above = (5 if area == 1 else 2), (3 if area == max(areas, 1) else 2)
        found |= dict(
            zip(
                names,
                (
                    0.3 * rng.standard_normal((below, 2)),
                    0.3 * rng.standard_normal((above, 2)),
                    0.6 * np.eye(2) + 0.1 * rng.standard_normal((2, 2)),
                    0.6 * np.eye(2) + 0.1 * rng.standard_normal((2, 2)),
                ),
                strict=True,
            )
        )
    return found


def table() -> str:
    """Return the table in Markdown: "yes", or the number of the reason below it."""
    reasons: dict[str, int] = {}
    lines = ["| departure | " + " | ".join(CIRCUITS) + " |", "|---" * (len(CIRCUITS) + 1) + "|"]
    for departure in DEPARTURES:
        cells = []
        for circuit in CIRCUITS:
            reason = refusal(departure, circuit)
            cells.append(
                f"no ({reasons.setdefault(reason, len(reasons) + 1)})" if reason else "yes"
            )
        lines.append(f"| {departure} | " + " | ".join(cells) + " |")
    return "\n".join(
        [*lines, "", *(f"{number}. {_sentence(reason)}" for reason, number in reasons.items())]
    )


def _sentence(reason: str) -> str:
    return f"{reason[0].upper()}{reason[1:]}."


if __name__ == "__main__":
    print(table())
