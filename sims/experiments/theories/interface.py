"""A brain-computer interface: half of the neurons help the outcome, half hurt it, and dendrites
hear the error.

Inputs fluctuate slowly, and the outcome, a sum of outputs with the sign of each neuron's role, is
to reach a fixed target. Plateaus are signed, or rectified above a resting level, and dendrites may
receive extra inhibition.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from biorrr.sims.lab import Job, Lab, completed
from biorrr.sims.lazy import circuits, models, np, theories, xr

CELLS, INPUTS = 8, 20
FRAMES, SLOW = 6000, 20  # length of a recording, and frames over which inputs change
RATE = 1e-4  # constant: the error falls to about half within the recording
RESTING = {
    "signed": 1e9,
    "rectified, rest 0.5": 0.5,
    "rectified, rest 0": 0.0,
}  # level, in units of the target
INHIBITION = (0.0, 1.0)  # extra inhibition of the dendrite, in units of the target
ROLE = (1.0, -1.0) * (CELLS // 2)  # of each neuron, in the outcome
AXES = {
    "inhibition": list(INHIBITION),
    "group": ["helpful", "hurtful"],
    "phase": ["falling", "rising"],
}


def every_interfaced() -> list[theories.Theory]:
    """Return the theories whose dendrites hear an error, with feedback that knows the roles."""
    rate, t = models.Rate(RATE), theories
    return [
        t.FeedbackAlignment(k=CELLS, rate=rate, feedback="fixed"),
        t.Sacramento(k=CELLS, rate=rate, learned=False),
        t.BurstDependent(k=CELLS, rate=rate, learned=False),
        t.BioRRR(k=CELLS, rate=rate),
    ]


@dataclass(frozen=True)
class Interface:
    """A theory at the interface, with plateaus of one shape and some extra inhibition, from one
    seed.
    """

    theory: theories.Theory
    shape: str
    inhibition: float
    seed: int

    def circuit(self, engine: str) -> circuits.Circuit:
        """Return the circuit of the theory, in which the apical signal is inhibited and cut off
        below.
        """
        apical, parts = self.theory.apical, self.theory.parts(1)
        level = RESTING[self.shape]
        cells = parts["pyramidal"].adding(
            models.Variable(
                "resting_level", "level from which plateaus rise", "population", "parameter", level
            ),
            models.Variable(
                "extra",
                "extra inhibition of the dendrite",
                "population",
                "parameter",
                self.inhibition,
            ),
            models.Step("plateau shape", f"{apical} = clip({apical} - extra, -resting_level, inf)"),
        )
        parts = parts.having(cells)
        return circuits.Circuit(
            parts.populations,
            parts.pathways,
            inputs=self.theory.ports,
            engine=engine,
            seed=self.seed,
        )


def put_at_interface(lab: Lab) -> xr.Dataset:
    """Return apical signals of each theory at the interface, by shape, inhibition, group and phase,
    means over seeds.

    They are in units of the change between phases that signed plateaus of the theory show without
    extra inhibition.
    """
    every, seeds = every_interfaced(), lab.settings.every_seed
    items = [Interface(*one) for one in product(every, RESTING, INHIBITION, seeds)]
    found = np.array([one["apical"] for one in lab.map(record, items).values()])
    mean = found.reshape(len(every), len(RESTING), len(INHIBITION), len(seeds), 2, 2).mean(axis=3)
    unit = np.abs(np.diff(mean[:, :1, :1], axis=-1)).mean(axis=-2, keepdims=True)
    return xr.Dataset(
        {"apical": (("theory", "shape", *AXES), mean / unit)},
        {"theory": [theory.name for theory in every], "shape": list(RESTING), **AXES},
    )


def record(job: Job, item: Interface) -> dict[str, Any]:
    """Return the mean apical signal, (groups, phases), less its mean over the recording."""
    theory, role = item.theory, np.array(ROLE)
    start = theory.start(INPUTS, 1, item.seed)
    outcome, feedback = role[None] / CELLS, role[None]
    known = {
        "U": outcome,
        "P": outcome,
        "B": feedback,
        "S": feedback,
        "Vy": feedback,
    }  # all weights know the roles
    weights = (
        start | {"Vx": start["Vx"] / CELLS} | {name: known[name] for name in start if name in known}
    )
    fixed = [models.Freeze(0, name) for name in ("U", "B", "Vy") if name in start]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of the constant input and the constant target, which are meant
        run = completed(
            item.circuit(job.settings.engine).run(
                _inputs(item.seed),
                np.ones((FRAMES, 1)),
                order="sequential",
                weights=weights,
                snapshots=1,
                every=1,
                record=("z", theory.apical),
                events=fixed,
                progress=False,
            )
        )
    apical = run.data[theory.apical].values
    rising = np.diff(np.abs(1 - run.data["z"].values @ role / CELLS)) > 0
    deviation = (apical - apical.mean(axis=0))[1:]
    means = [
        [deviation[when][:, role == sign].mean() for when in (~rising, rising)] for sign in (1, -1)
    ]
    return {"apical": np.array(means)}


def _inputs(seed: int) -> np.ndarray:
    """Return inputs (frames, inputs) that fluctuate slowly, and one that is constant."""
    rng = np.random.default_rng(seed)
    kept = np.exp(-1 / SLOW)
    X = rng.standard_normal((FRAMES, INPUTS)) * np.sqrt(1 - kept**2)
    for before, frame in pairwise(X):
        frame += kept * before
    X[:, 0] = 1.0
    return X
