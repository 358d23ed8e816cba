"""What `Rates.suggested` reaches on thirty data sets in arbitrary units.

``python tests/circuit/problems_for_suggested_rates.py 4300`` draws each data set once, multiplies X
and Y by powers of ten between -3 and 3, and runs k = 1, 2 and 5, s = 0 and 1, three seeds, no ridge
and 100,000 samples. It prints the largest excess of the three seeds, and how many runs end above 10
% so far.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from problems_for_rates import PROBLEMS, SAMPLES, drawn
from unseen_problems_for_rates import UNSEEN

from biorrr import Microcircuit
from biorrr.analysis import ExactSolution
from biorrr.circuit import Diverged
from biorrr.models import Rates

LEFT_OUT = (  # so that there are thirty; near to others, or large
    "white, 300 to 40",
    "uneven scales, 40 to 20",
    "binary, 50 to 20",
    "rare bursts, 40 to 15",
    "image patches, 32 to 32",
    "halves of MNIST, 98 to 98",
    "mediamill swapped",
    "mnist",
    "fashion-mnist",
    "cifar10",
    "cifar100",
)


def reached(X, Y, k, s, seeds):
    """Return the excess of each seed; infinite where the circuit diverges."""
    exact = ExactSolution(X, Y, s)
    circuit = Microcircuit(k, s=s, rates=Rates.suggested(X, Y, k, s), engine="cpp")
    how = {"epochs": -(-SAMPLES // len(X)), "record": (), "progress": False}
    try:
        return [exact.excess(run.Vx) for run in circuit.run(X, Y, seeds=seeds, **how)]
    except Diverged:
        pass
    found = []
    for seed in seeds:
        try:
            found.append(exact.excess(circuit.run(X, Y, seed=seed, **how).Vx))
        except Diverged:
            found.append(np.inf)
    return found


def main(seed):
    """Print a row for each data set."""
    warnings.filterwarnings("ignore")
    generated = {name: draw for name, (_, draw) in PROBLEMS.items() if name not in LEFT_OUT}
    units, every = np.random.default_rng(99), []
    for name, draw in {**UNSEEN, **generated}.items():
        X, Y = (
            10**power * data
            for power, data in zip(units.uniform(-3, 3, 2), drawn(name, draw, seed), strict=True)
        )
        row = []
        for s in (0, 1):
            for k in (1, 2, 5):
                found = reached(X, Y, k, s, range(seed, seed + 3))
                every += found
                row.append(f"{100 * max(found):.2f} %")
        missed, diverged = sum(e >= 0.1 for e in every), sum(map(np.isinf, every))
        print(
            f"| {name} | {' | '.join(row)} |",
            f"{missed} of {len(every)} above 10 %, {diverged} diverged",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
