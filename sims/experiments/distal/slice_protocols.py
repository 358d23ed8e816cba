"""Protocols of distal plasticity, as in a slice: test pulses, pairings, test pulses, in two
pathways.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from biorrr.sims.lab import Task
from biorrr.sims.lazy import circuits, models, np

FIBRES = 10  # distal fibres in each pathway: one is stimulated in pairings, the other only tested
PULSES = 30  # test pulses to each pathway, before and after
RATE = (
    0.001  # of distal plasticity: pairings change synapses by tens of percent, as they do in slices
)
WEIGHT_SPREAD = (
    0.2  # standard deviation of the logarithm of initial weights, over synapses and cells
)


@dataclass(frozen=True)
class Protocol:
    """A pairing of distal input and somatic output.

    Parameters
    ----------
    name
        Coordinate of results, and part of the names of quantities.
    words
        In tables and figures.
    y
        Strength of the stimulus to the distal pathway: 1 causes a distal current of 1 on average,
        before plasticity.
    z
        Somatic output, evoked at the soma.
    """

    name: str
    words: str
    y: float
    z: float


PROTOCOLS = (
    Protocol("instruction", "instruction alone", 1, 0),
    Protocol("weaker", "with weaker output\n(a > z)", 1, 0.5),
    Protocol("equal", "with equal output\n(a = z)", 1, 1),
    Protocol("stronger", "with stronger output\n(a < z)", 1, 2),
    Protocol("output", "output alone", 0, 1),
)


@dataclass(frozen=True)
class SliceExperiment:
    """Cells of a slice that undergo a protocol, with distal synapses that follow the rule of s."""

    protocol: Protocol
    s: float


def pair(task: Task, item: SliceExperiment) -> dict[str, Any]:
    """Return EPSPs after pairing in percent of those before, (cells,), of the paired and of the
    other pathway.

    Beside them stands the prediction of the rule for the same cells without noise, (2, cells).

    Each cell is driven through an electrode of its own. Its interneurons are silent: they act on
    proximal plasticity, and nothing proximal is to change.
    """
    settings, protocol = task.settings, item.protocol
    k, none = settings.cells, models.Rate(0.0)
    # Each protocol and s has cells of its own.
    seed = 10 * (1000 * (100 * settings.seed + PROTOCOLS.index(protocol)) + round(100 * item.s))
    Vy0 = initial_weights(k, seed)
    noise = settings.transmission_noise
    circuit = settings.make_circuit(
        k=k,
        s=item.s,
        rates=models.Rates(x=none, y=models.Rate(RATE), q=none),
        ridge=0.0,
        seed=seed,
        departures=[models.TransmissionNoise(noise)] if noise else (),
        Vx0=np.eye(k),
        Vy0=Vy0,
        Q0=np.zeros((k, k)),
        R0=np.zeros((k, k)),
    )
    paired = np.repeat([1.0, 0.0], FIBRES)
    before = epsps(task, circuit, paired)
    X = np.full((settings.pairings, k), protocol.z)
    pairings = stimulate(
        task, circuit, X, np.tile(protocol.y * paired, (settings.pairings, 1)), seed=seed + 1
    )
    after = epsps(
        task, circuit, paired, weights={"Vy": pairings.Vy}, seed=seed + 2
    )  # each has noise of its own
    theory = predicted(protocol, item.s, settings.pairings, Vy0.reshape(2, FIBRES, k).sum(axis=1))
    return dict(zip(("paired", "other"), 100 * after / before, strict=True)) | {"predicted": theory}


def initial_weights(cells: int, seed: int) -> np.ndarray:
    """Draw distal weights before pairing, (2 FIBRES, cells), those of the paired pathway first."""
    drawn = np.random.default_rng([seed, 1]).standard_normal((2 * FIBRES, cells))
    return np.exp(WEIGHT_SPREAD * drawn - WEIGHT_SPREAD**2 / 2) / FIBRES


def epsps(task: Task, circuit: Any, paired: np.ndarray, **more: Any) -> np.ndarray:
    """Return the mean response to test pulses, (2, cells), of the paired and of the other
    pathway.
    """
    pulses = np.concatenate([np.tile(paired, (PULSES, 1)), np.tile(1 - paired, (PULSES, 1))])
    k = task.settings.cells
    tested = stimulate(task, circuit, np.zeros((len(pulses), k)), pulses, plastic=False, **more)
    return tested.data["a"].values.reshape(2, PULSES, k).mean(axis=1)


def stimulate(task: Task, circuit: Any, X: np.ndarray, Y: np.ndarray, **more: Any) -> circuits.Run:
    """Apply stimuli one after another, and record distal currents."""
    with warnings.catch_warnings(
        action="ignore"
    ):  # of constant columns and large means: stimuli are as they should be
        return task.run(
            circuit, X, Y, order="sequential", record=("a",), every=1, snapshots=1, **more
        )


def predicted(protocol: Protocol, s: float, pairings: int, before: np.ndarray) -> np.ndarray:
    """Return EPSPs after pairing in percent of those before, (2, cells), of either pathway, by the
    rule without noise.

    ``before`` (2, cells) are EPSPs before pairing, without noise: sums over the weights of a
    pathway.
    """
    paired, other = before
    for _ in range(pairings):
        paired = paired + RATE * (
            FIBRES * protocol.y * (protocol.z - s * protocol.y * paired) - (1 - s) * paired
        )
        other = other * (1 - RATE * (1 - s))
    return 100 * np.stack([paired, other]) / before


def cells_needed(
    difference: float, spread: float, power: float = 0.95, level: float = 0.05
) -> int | None:
    """Return the number of cells in each of two groups that a two-sided t test needs; None if more
    than 10,000.

    Parameters
    ----------
    difference, spread
        Difference of the means, and standard deviation in each group.
    power, level
        Power and level of the test.
    """
    from scipy.stats import nct, t

    cells = np.arange(2, 10_001)
    freedom, shift = 2 * cells - 2, abs(difference) / spread * np.sqrt(cells / 2)
    # Beyond a shift of 30 the distribution cannot be evaluated, and nothing is left to be wrong.
    suffice = (shift > 30) | (
        1 - nct.cdf(t.ppf(1 - level / 2, freedom), freedom, np.minimum(shift, 30)) >= power
    )
    return int(cells[suffice.argmax()]) if suffice.any() else None
