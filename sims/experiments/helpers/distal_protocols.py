"""Protocols of distal plasticity, as in a slice: test pulses, pairings, test pulses, in two pathways."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from biorrr.sims.lab.circuits import completed
from biorrr.sims.lazy import models, np

FIBRES = 10  # distal fibres in each pathway: one is stimulated in pairings, the other only tested
PULSES = 30  # test pulses to each pathway, before and after
RATE = 0.001  # of distal plasticity: pairings change synapses by tens of percent, as they do in slices
WEIGHT_SPREAD = 0.2  # standard deviation of the logarithm of initial weights, over synapses and cells


@dataclass(frozen=True)
class Protocol:
    """What each pairing consists of.

    Parameters
    ----------
    words
        In tables and figures.
    y
        Strength of the stimulus to the distal pathway: 1 causes a distal current of 1 on average, before plasticity.
    z
        Somatic output, evoked at the soma.
    """

    words: str
    y: float
    z: float


PROTOCOLS = {
    "instruction": Protocol("instruction alone", 1, 0),
    "weaker": Protocol("with weaker output\n(a > z)", 1, 0.5),
    "equal": Protocol("with equal output\n(a = z)", 1, 1),
    "stronger": Protocol("with stronger output\n(a < z)", 1, 2),
    "output": Protocol("output alone", 0, 1),
}


def initial_weights(cells: int, seed: int) -> np.ndarray:
    """Distal weights before pairing, (2 FIBRES, cells), those of the paired pathway first."""
    drawn = np.random.default_rng([seed, 1]).standard_normal((2 * FIBRES, cells))
    return np.exp(WEIGHT_SPREAD * drawn - WEIGHT_SPREAD**2 / 2) / FIBRES


def run_protocol(settings: Any, protocol: Protocol, s: float, options: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """EPSPs after pairing in percent of those before, (cells,), of the paired and of the other pathway.

    Beside them what the rule predicts of the same cells without noise, (2, cells).

    Each cell is driven through an electrode of its own. Its interneurons are silent: they act on proximal plasticity,
    and nothing proximal is to change.
    """
    k, none = settings.cells, models.Rate(0.0)
    # Cells of its own for each protocol and s.
    seed = 10 * (1000 * (100 * settings.seed + [*PROTOCOLS.values()].index(protocol)) + round(100 * s))
    Vy0 = initial_weights(k, seed)
    circuit = settings.make_circuit(
        k=k, s=s, rates=models.Rates(x=none, y=models.Rate(RATE), q=none), ridge=0.0, seed=seed,
        departures=[models.TransmissionNoise(settings.transmission_noise)] if settings.transmission_noise else (),
        Vx0=np.eye(k), Vy0=Vy0,
        Q0=np.zeros((k, k)), R0=np.zeros((k, k)),
    )  # fmt: skip
    paired = np.repeat([1.0, 0.0], FIBRES)
    pulses = np.concatenate([np.tile(paired, (PULSES, 1)), np.tile(1 - paired, (PULSES, 1))])

    def run(name: str, X: np.ndarray, Y: np.ndarray, **more: Any) -> Any:
        kept = dict(options)
        if kept.get("checkpoint") is not None:
            path = kept["checkpoint"].path
            kept["checkpoint"] = replace(kept["checkpoint"], path=path.with_name(f"{name}-{path.name}"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constant columns and large means: stimuli are as they should be
            return completed(circuit.run(X, Y, order="sequential", record=("a",), every=1, snapshots=1, **more, **kept))

    def epsps(name: str, **more: Any) -> np.ndarray:
        """Mean response to test pulses, (2, cells)."""
        tested = run(name, np.zeros((len(pulses), k)), pulses, plastic=False, **more)
        return tested.data["a"].values.reshape(2, PULSES, k).mean(axis=1)

    before = epsps("before")
    X = np.full((settings.pairings, k), protocol.z)
    pairings = run("pairings", X, np.tile(protocol.y * paired, (settings.pairings, 1)), seed=seed + 1)
    after = epsps("after", weights={"Vy": pairings.Vy}, seed=seed + 2)  # each has noise of its own
    theory = predicted(protocol, s, settings.pairings, Vy0.reshape(2, FIBRES, k).sum(axis=1))
    return dict(zip(("paired", "other"), 100 * after / before, strict=True)) | {"predicted": theory}


def predicted(protocol: Protocol, s: float, pairings: int, before: np.ndarray) -> np.ndarray:
    """EPSPs after pairing in percent of those before, (2, cells), of either pathway, by the rule without noise.

    ``before`` (2, cells) are EPSPs before pairing, without noise: sums over the weights of a pathway.
    """
    paired, other = before
    for _ in range(pairings):
        paired = paired + RATE * (FIBRES * protocol.y * (protocol.z - s * protocol.y * paired) - (1 - s) * paired)
        other = other * (1 - RATE * (1 - s))
    return 100 * np.stack([paired, other]) / before


def cells_needed(difference: float, spread: float, power: float = 0.95, level: float = 0.05) -> int | None:
    """Cells in each of two groups that a two-sided t test needs to tell two means apart; None if more than 10,000.

    Parameters
    ----------
    difference, spread
        Of the means, and standard deviation in each group.
    power, level
        Of the test.
    """
    from scipy.stats import nct, t

    effect = abs(difference) / spread

    def suffice(cells: int) -> bool:
        freedom, shift = 2 * cells - 2, effect * np.sqrt(cells / 2)
        # Beyond a shift of 30 the distribution cannot be evaluated, and nothing is left to be wrong.
        return shift > 30 or 1 - nct.cdf(t.ppf(1 - level / 2, freedom), freedom, shift) >= power

    low, high = 1, 10_000
    if not suffice(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffice(middle) else (middle, high)
    return high
