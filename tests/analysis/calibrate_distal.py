"""Power, coverage and change of weights of planned experiments, written to
docs/calibration/distal.json.

Run it from the root of the repository, with the number of experiments at each point: ``python
tests/analysis/calibrate_distal.py 100``.
"""

import json
import sys
from pathlib import Path

import numpy as np

from biorrr.analysis import infer_s
from biorrr.analysis.distal.observation import between_observations
from biorrr.analysis.distal.power import Design, simulate_circuits, try_design

RESULTS = Path(__file__).parents[2] / "docs" / "calibration" / "distal.json"
EVERY, WEIGHT_NOISES, MEMBERS = (1, 10, 30), (0.01, 0.02, 0.05), (0.0, 1.0)
ARTEFACT = 0.2


def planned(every, weight_noise, experiments):
    """Return power, least coverage and largest change at s = 0 and 1: 20 synapses on 2 neurons, 50
    changes.
    """
    design = Design(20, 50, weight_noise, neurons=2, every=every)
    found = [try_design(design, s, experiments, seed=0) for s in MEMBERS]
    return {
        "every": every,
        "weight_noise": weight_noise,
        "power": min(one.tells for one in found),
        "covers": min(one.covers for one in found),
        "change": round(max(one.change for one in found), 4),
    }


def artefact(s, told, experiments):
    """Return the coverage where z and a share an artefact: 6 synapses on 2 neurons, 200 changes."""
    rng, when, covered = np.random.default_rng(1), np.arange(201), []
    fraction = ARTEFACT / np.sqrt(1 + ARTEFACT**2)
    known = {"noise": {"z": fraction, "a": fraction}, "correlation": 1.0} if told else {}
    for y, z, a, Vy in zip(*simulate_circuits(s, 6, 2, 200, experiments, seed=2), strict=True):
        shared = ARTEFACT * rng.standard_normal(z.shape)
        z, a = (one + np.sqrt(np.mean(one**2)) * shared for one in (z, a))
        found = infer_s(*between_observations(y, z, a, Vy, when), **known)
        covered.append(found.low <= s <= found.high)
    return {"s": s, "told": told, "covers": float(np.mean(covered))}


if __name__ == "__main__":
    number = int(sys.argv[1])
    stored = {"experiments": number, "planned": [], "artefact": []}
    stored["artefact"] = [
        artefact(s, told, number) for told in (False, True) for s in (0.0, 0.5, 1.0)
    ]
    for every in EVERY:
        for weight_noise in WEIGHT_NOISES:
            stored["planned"].append(planned(every, weight_noise, number))
            print(stored["planned"][-1], flush=True)
            RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
