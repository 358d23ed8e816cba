"""Correlations of bursts with the error and with the plain distal current, and of outputs with
their samples, in circuits in millivolts that have learned.

Each line has one number for each neuron and seed, in the last 1,500 of 20,000 samples that were
drawn with replacement. Samples are held for 150 ms, then for 400 ms.
"""

import numpy as np

from biorrr.circuit import Microcircuit
from biorrr.models import Millivolts
from biorrr.sims.data import load
from biorrr.sims.lab.training import default_ridge

SAMPLES, LAST, SEEDS, K = 20_000, 1_500, (60, 61), 2
CELLS = Millivolts(), Millivolts(hold=400, latency=100, event_slope=0.022)


def correlation(one, other):
    """Return the correlation of two signals, (samples, k), by neuron."""
    return [np.corrcoef(a, b)[0, 1] for a, b in zip(one.T, other.T, strict=True)]


def measured(data, cell, seed):
    """Return what is measured in one circuit: lists of one number for each neuron, by name."""
    X, Y, ridge = data.X, data.Y, default_ridge(data)
    order = np.random.default_rng(seed).integers(len(X), size=SAMPLES)
    circuit = Microcircuit(k=K, ridge=ridge, cell=cell, seed=seed)
    run = circuit.run(X, Y, order=order, record=("z", "plateau"), every=1, progress=False)
    z, bursts = (run.data[name].values[-LAST:] for name in ("z", "plateau"))
    x, y, earlier = X[order[-LAST:]], Y[order[-LAST:]], X[order[-LAST - 1 : -1]]
    W = np.linalg.solve(X.T @ X / len(X) + ridge * np.eye(X.shape[1]), X.T @ Y / len(X))
    error, distal, output = (y - x @ W) @ run.Vy, y @ run.Vy, x @ run.Vx
    slopes = []
    for i in range(K):  # of z on the error, beside this sample's output and the one before
        known = np.c_[error[:, i] / error[:, i].std(), output[:, i], (earlier @ run.Vx)[:, i]]
        slopes.append(np.linalg.lstsq(np.c_[known, np.ones(LAST)], z[:, i])[0][0])
    return {
        "bursts with the error": correlation(bursts, error),
        "bursts with the distal current": correlation(bursts, distal),
        "error with the distal current": correlation(error, distal),
        "outputs with their sample": correlation(z, output),
        "outputs with the sample before": correlation(z, earlier @ run.Vx),
        "outputs on the error of unit size, slope": slopes,
    }


for name in ("v1v2", "mediamill", "digits"):
    for cell in CELLS:
        found = [measured(load(name).centred(), cell, seed) for seed in SEEDS]
        for words in found[0]:
            print(f"{words}: {' '.join(f'{value:.3f}' for one in found for value in one[words])}")
