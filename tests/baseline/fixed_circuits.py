"""Fixed circuits, one for every kind of circuit and departure, and a few numbers of what each has
learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from fixed_data import regression

from biorrr.circuit import Circuit, Hierarchy, Microcircuit, Run
from biorrr.models import (
    AllOrNone,
    ApicalDrive,
    DalesLaw,
    Departure,
    DistalSynapses,
    Eligibility,
    Freeze,
    LateInstruction,
    Leaky,
    LoopDelay,
    Millivolts,
    Pathway,
    Population,
    Rate,
    Rates,
    Rectified,
    SensoryInput,
    Sign,
    Silence,
    SparseConnections,
    Spiking,
    TransmissionNoise,
    Variable,
)

RATES = Rates(x=Rate(0.01, 900), y=Rate(0.02, 700), q=Rate(0.01, 1500))
SLOW = Rates(x=Rate(0.001), y=Rate(0.002), q=Rate(0.001))  # with these no circuit runs away
IN_SEQUENCE = {"order": "sequential"}  # for departures that reach back to earlier samples
FEW = {"samples": 20, "epochs": 1}  # for cells in milliseconds


def learned(circuit: Any, samples: int = 300, epochs: int = 2, **options: Any) -> Run:
    """Let a circuit learn the small regression and return its run."""
    data = regression(samples)
    return circuit.run(data["X"], data["Y"], epochs=epochs, progress=False, **options)


def microcircuit(
    *departures: Departure, run: Mapping[str, Any] | None = None, **settings: Any
) -> Callable[[], Run]:
    """Return a function that makes a microcircuit with these departures and lets it learn."""
    settings = {"k": 2, "engine": "numpy", "seed": 3} | settings
    return lambda: learned(Microcircuit(departures=departures, **settings), **(run or {}))


def continued() -> Run:
    """Continue a run on other samples."""
    circuit = Microcircuit(k=2, ridge=0.1, engine="numpy")
    return learned(circuit, samples=200, epochs=1, start=learned(circuit, epochs=1, final=False))


def hierarchy(**settings: Any) -> Callable[[], Run]:
    """Return a function that lets areas of three and of two cells learn."""
    return lambda: learned(Hierarchy((3, 2), engine="cpp", **settings), epochs=1)


def oja() -> Run:
    """Let one cell of a plain circuit learn the first principal component of x by Oja's rule."""
    rule = Pathway(
        "oja",
        "sensory",
        "cell",
        drives="z",
        current="w * x_pre",
        phase="drive",
        change="0.01 * z_post * (x_pre - z_post * w)",
    )
    circuit = Circuit(
        [SensoryInput(), Population(1, "cell", [Variable("z", "output")])], [rule], engine="numpy"
    )
    return circuit.run({"x": regression()["X"]}, progress=False)


def own_distal_rule() -> Run:
    """Let a microcircuit learn whose distal synapses follow Oja's rule."""
    distal = replace(DistalSynapses(), change="eta_y * (y_pre * z_post - z_post**2 * w)")
    return learned(Microcircuit(k=2, pathways=[distal], engine="numpy"))


LEAKY = Leaky(hold=200, dt=10)
CIRCUITS: dict[str, Callable[[], Run]] = {
    "s-0": microcircuit(),
    "s-1": microcircuit(s=1.0),
    "s-half": microcircuit(s=0.5),
    "cpp": microcircuit(s=0.5, engine="cpp"),
    "ridge-by-replay": microcircuit(s=0.5, ridge=(0.1, 0.2), replay=4),
    "rates": microcircuit(rates=RATES),
    "rates-ridge": microcircuit(rates=RATES, s=1.0, ridge=0.1),
    "more-interneurons": microcircuit(interneurons=4),
    "in-sequence": microcircuit(run=IN_SEQUENCE),
    "continued": continued,
    "leaky": microcircuit(LEAKY, engine="cpp"),
    "spiking": microcircuit(Spiking(20), LEAKY, engine="cpp", run={"samples": 100}),
    "millivolts": microcircuit(
        cell=Millivolts(population=20, interneuron_population=10), engine="cpp", run=FEW
    ),
    "all-or-none": microcircuit(AllOrNone(1.0)),
    "sign": microcircuit(Sign(0.5)),
    "rectified": microcircuit(Rectified(0.5)),
    "transmission-noise": microcircuit(TransmissionNoise(0.3)),
    "sparse-connections": microcircuit(SparseConnections(0.7, 0.8)),
    "dales-law": microcircuit(DalesLaw(("Q", "R", "Vx"))),
    "loop-delay": microcircuit(LoopDelay(1), rates=SLOW, run=IN_SEQUENCE),
    "loop-delay-ticks": microcircuit(LoopDelay(ticks=3), LEAKY, engine="cpp"),
    "late-instruction": microcircuit(LateInstruction(2), rates=SLOW, run=IN_SEQUENCE),
    "eligibility": microcircuit(
        LateInstruction(2), Eligibility(4.0, 0.0, 4.0), rates=SLOW, run=IN_SEQUENCE
    ),
    "apical-drive": microcircuit(ApicalDrive(0.05)),
    "several": microcircuit(
        SparseConnections(0.8, 0.8), TransmissionNoise(0.1), DalesLaw(("Q", "R")), ridge=0.1
    ),
    "feedback": microcircuit(feedback=0.5, engine="cpp"),
    "feedback-ridge": microcircuit(feedback=0.5, rho=0.7, ridge=0.1, engine="cpp"),
    "two-areas": hierarchy(),
    "two-areas-gains": hierarchy(gains=(1.0, 0.5, 0.2), s=0.5, ridge=0.1),
    "silenced": microcircuit(run={"events": [Freeze(at=300, weight="Vy"), Silence(at=580)]}),
    "oja": oja,
    "own-distal-rule": own_distal_rule,
}


def measure_circuit(name: str) -> dict[str, float]:
    """Run a circuit; return norm, first and last entry of each final weight matrix, and the norm of
    its plateaus.
    """
    run = CIRCUITS[name]()
    found = {}
    for weight, values in sorted(run.weights.items()):
        entries = np.asarray(values).ravel()
        found[f"{weight}.norm"] = float(np.linalg.norm(entries))
        found[f"{weight}.first"], found[f"{weight}.last"] = float(entries[0]), float(entries[-1])
    for trace in run.data:
        if trace.startswith("plateau"):
            found[f"{trace}.norm"] = float(np.linalg.norm(run.data[trace].values))
    return found
