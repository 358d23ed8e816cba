"""False-positive rates of the four questions on null recordings, written to docs/calibration/instructive.json.

Run it from the root of the repository, with the number of recordings of each kind and perhaps some of the kinds:
``python tests/analysis/calibrate_instructive.py 300 drift``. 300 of each kind take about half an hour. The bounds were
fixed before the first run.
"""

import json
import sys
from pathlib import Path

import numpy as np
from null_recordings import DECAY, KINDS, draw

from biorrr.analysis.instructive import LEVEL, QUESTIONS, ask, ask_one

RESULTS = Path(__file__).parents[2] / "docs" / "calibration" / "instructive.json"
BOUNDS = (0.02, 0.08)


def rates(kind, recordings):
    """Return the share of null recordings that say yes, by question, and the share that carry a caution."""
    yes, warned = [], []
    for seed in range(recordings):
        answers = ask(draw(kind, seed), DECAY)
        broadcast = ask_one("specific", draw(kind, seed, "broadcast"), DECAY)
        yes.append([answers[question].p <= LEVEL for question in QUESTIONS] + [broadcast.p <= LEVEL])
        warned.append(bool(answers["informative"].caution))
    shares = np.mean(yes, axis=0).round(4).tolist()
    found = dict(zip((*QUESTIONS, "specific, broadcast"), shares, strict=True))
    return found | {"caution": round(float(np.mean(warned)), 4), "recordings": recordings}


if __name__ == "__main__":
    number = int(sys.argv[1])
    RESULTS.parent.mkdir(exist_ok=True)
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    stored |= {"bounds": BOUNDS, "now": stored.get("now", {})}
    for one in sys.argv[2:] or KINDS:
        stored["now"][one] = rates(one, number)
        print(one, stored["now"][one], flush=True)
        RESULTS.write_text(json.dumps(stored, indent=1) + "\n")
