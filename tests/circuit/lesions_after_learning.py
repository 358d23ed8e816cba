"""What lesions after learning cost: ``python tests/circuit/lesions_after_learning.py``.

Excess (%) of three seeds, k = 2, s = 0, 60,000 samples before the lesion and as many after it. It
prints the numbers of docs/robustness.md.
"""

from __future__ import annotations

import warnings

import numpy as np

from biorrr.analysis import ExactSolution
from biorrr.circuit import Microcircuit
from biorrr.models import CutInstruction, Freeze, Silence, SwapData
from biorrr.sims.data import load
from biorrr.sims.lab.training import default_ridge

SAMPLES, SEEDS = 60_000, range(3)


def main():
    """Print a row for each lesion on each data set."""
    warnings.filterwarnings("ignore")
    for name in ("digits", "v1v2"):
        data = load(name).centred()
        ridge, mixed = default_ridge(data), np.random.default_rng(0).permutation(data.X.shape[1])
        lesions = {
            "none": ([], data.X),
            "R frozen": ([Freeze(SAMPLES, "R")], data.X),
            "Vy frozen": ([Freeze(SAMPLES, "Vy")], data.X),
            "Q frozen": ([Freeze(SAMPLES, "Q")], data.X),
            "inputs exchanged": (
                [SwapData(SAMPLES, X=data.X[:, mixed], Y=data.Y)],
                data.X[:, mixed],
            ),
            "interneurons silent": ([Silence(SAMPLES)], data.X),
            "instruction cut": ([CutInstruction(SAMPLES)], data.X),
        }
        for lesion, (events, X) in lesions.items():
            exact, found = ExactSolution(X, data.Y, 0.0, ridge), []
            for seed in SEEDS:
                order = np.random.default_rng(seed).integers(len(X), size=2 * SAMPLES)
                circuit = Microcircuit(k=2, ridge=ridge, seed=seed, engine="cpp")
                how = {"events": events, "record": (), "progress": False, "final": False}
                found.append(exact.excess(circuit.run(data.X, data.Y, order=order, **how).Vx))
            print(f"{name}, {lesion}: {', '.join(f'{100 * one:.2f}' for one in found)}", flush=True)


if __name__ == "__main__":
    main()
