"""How much each number of the policy of rates "auto" matters.

``python tests/circuit/numbers_of_rates.py`` makes one number after another a third smaller and a
half larger, and counts the runs that miss on eight problems, k = 1, 3 and 5, s = 0 and
1, one seed, 100,000 samples. It prints the table of docs/rates.md.
"""

from __future__ import annotations

import warnings
from unittest.mock import patch

import numpy as np
import problems_for_rates as rates

from biorrr.models import auto_rates

PROBLEMS = (
    "white, 300 to 40",
    "uneven scales, 40 to 20",
    "sparse, 50 to 20",
    "spike counts, 60 to 25",
    "steep spectrum, 50 to 25",
    "image patches, 32 to 32",
    "v1v2",
    "mediamill",
)
SEED = 1
# Names in models/auto_rates.py, with the place in a tuple of numbers that are varied apart.
NUMBERS = (
    ("PROXIMAL", None),
    ("INTERNEURON", None),
    ("DISTAL", None),
    ("TOWARDS_STRONGEST", None),
    ("SPREAD", None),
    ("CROWD", None),
    ("MANY", None),
    ("SINGLE_X", 0),
    ("SINGLE_X", 1),
    ("SINGLE", None),
    ("LEAST", None),
    ("TOLERATED", None),
    ("OUTLIERS", None),
    ("START", 0),
    ("START", 1),
    ("START", 2),
    ("LEAST_GAIN", None),
)


def measure():
    """Return how many runs miss, and the geometric mean of their excess."""
    found = []
    for name in PROBLEMS:
        X, Y = rates.drawn(name, rates.PROBLEMS[name][1], SEED)
        found += [rates.reached(X, Y, k, s, SEED) for k in (1, 3, 5) for s in (0, 1)]
    found = np.array(found)
    missed = (found > (0.02, 0.02, 5)).any(axis=1).sum()
    return f"{missed} of {len(found)}, {100 * np.exp(np.log(found[:, 0]).mean()):.3f} %"


def times(value, factor, place):
    """Return a number, or those of a tuple (only that at ``place`` unless None), times a factor."""
    if isinstance(value, tuple):
        return tuple(v * factor if place in (None, i) else v for i, v in enumerate(value))
    return value * factor


def main():
    """Print a row for each number."""
    warnings.filterwarnings("ignore")
    print("as it is:", measure(), flush=True)
    for name, place in NUMBERS:
        value = getattr(auto_rates, name)
        row = []
        for factor in (2 / 3, 3 / 2):
            with patch.object(auto_rates, name, times(value, factor, place)):
                row.append(measure())
        shown = value if place is None else value[place]
        print(f"| `{name}` | {shown} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
