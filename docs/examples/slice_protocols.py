"""Pair distal input with somatic output, as in a slice.

The sign of the distal rule, y (z - s a) - (1 - s) Vy, tells RRMSE (s = 0) from CCA (s = 1). Where
the distal current a exceeds the output z, pairing potentiates at s = 0 and depresses at s = 1.
Distal input alone depresses only the paired pathway at s = 1. Cells have noisy synapses and two
distal pathways, of which one is paired. Test pulses before and after measure the EPSP.
"""

import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit, Rate, Rates
from biorrr.models import TransmissionNoise

CELLS, FIBRES, PULSES, PAIRINGS = 12, 10, 30, 60
PROTOCOLS = {  # distal stimulus, which makes a current of a = 1 at first, and somatic output z
    "input alone": (1, 0),
    "a > z": (1, 0.5),
    "a = z": (1, 1),
    "a < z": (1, 2),
    "output alone": (0, 1),
}
PAIRED = np.repeat([1.0, 0.0], FIBRES)  # fibres of the paired pathway, then of the other
RATES = Rates(x=Rate(0.0), y=Rate(0.001), q=Rate(0.0))  # only distal synapses learn
SILENT = np.zeros((CELLS, CELLS))  # synapses of the interneurons


def stimulate(cells, X, Y, plastic):
    with warnings.catch_warnings(action="ignore"):  # of stimuli that never change
        return cells.run(X, Y, order="sequential", record="a", every=1, plastic=plastic)


def epsps(cells):
    """Return the mean distal current (pathways, cells) in response to test pulses."""
    Y = np.repeat([PAIRED, 1 - PAIRED], PULSES, axis=0)
    tested = stimulate(cells, np.zeros((len(Y), CELLS)), Y, plastic=False)
    return tested.data["a"].values.reshape(2, PULSES, CELLS).mean(axis=1)


def pair(s, y, z, seed):
    """Return EPSPs after pairing in percent of those before, (pathways, cells)."""
    drawn = np.random.default_rng(seed).standard_normal((2 * FIBRES, CELLS))
    weights = {"Vx0": np.eye(CELLS), "Vy0": np.exp(0.2 * drawn) / FIBRES}
    options = {"departures": [TransmissionNoise(0.3)], "engine": "numpy", "seed": seed}
    cells = Microcircuit(k=CELLS, s=s, rates=RATES, Q0=SILENT, R0=SILENT, **weights, **options)
    X, Y = np.full((PAIRINGS, CELLS), z), np.tile(y * PAIRED, (PAIRINGS, 1))
    learned = stimulate(cells, X, Y, plastic=True)
    return 100 * epsps(replace(cells, Vy0=learned.Vy, seed=seed + 1)) / epsps(cells)


plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
figure, axes = plt.subplots(2, 1, figsize=(3.35, 4), sharex=True, sharey=True)
for number, s in enumerate((0.0, 0.5, 1.0)):
    after = [pair(s, y, z, 10 * i + number) for i, (y, z) in enumerate(PROTOCOLS.values())]
    places = np.arange(len(PROTOCOLS)) + 0.25 * (number - 1)
    for panel, values in zip(axes, np.moveaxis(after, 1, 0), strict=True):
        panel.bar(places, values.mean(1), 0.22, yerr=values.std(1, ddof=1), label=f"s = {s:g}")
for panel, pathway in zip(axes, ("paired pathway", "other pathway"), strict=True):
    panel.axhline(100, color="0.4", linestyle="--")
    panel.set(title=pathway, ylabel="EPSP (% of baseline)")
axes[0].legend()
axes[1].set_xticks(range(len(PROTOCOLS)), PROTOCOLS)
plt.show()
