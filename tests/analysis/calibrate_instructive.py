"""False-positive rates of the four questions on null recordings: docs/calibration/instructive.json
and its table.

Run it from the root of the repository, with the number of recordings of each kind: ``python
tests/analysis/calibrate_instructive.py 300``. That takes two minutes of processor time. The bounds
were fixed before the first run. The method was chosen on seeds below 300,000; the seeds here are
others.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
from null_recordings import DECAY, KINDS, draw

from biorrr.analysis.instructive import QUESTIONS, ask

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, PAGE = DOCS / "calibration" / "instructive.json", DOCS / "instructive.md"
BOUNDS = (0.02, 0.08)
FIRST_SEED = 500_000
COLUMNS = (
    "specific",
    "specific, broadcast",
    "informative",
    "signed",
    "predictive",
    "withheld",
    "caution",
)
TABLE = re.compile(r"(?<=\|---\|---\|---\|---\|---\|---\|---\|---\|\n)(\|.*\n)+")


def rates(kind, recordings):
    """Return the share of null recordings that say yes, by question, that withhold (b), and that
    carry a caution.
    """
    said = []
    for seed in range(FIRST_SEED, FIRST_SEED + recordings):
        answers = ask(draw(kind, seed), DECAY)
        answers["specific, broadcast"] = ask(draw(kind, seed, "broadcast"), DECAY, ["specific"])[
            "specific"
        ]
        informative = answers["informative"]
        yes = {
            question: answers[question].yes is True
            for question in (*QUESTIONS, "specific, broadcast")
        }
        said.append(
            yes | {"withheld": bool(informative.unasked), "caution": bool(informative.caution)}
        )
    return {name: round(float(np.mean([one[name] for one in said])), 4) for name in COLUMNS}


def table(stored):
    """Return the rows of the table in docs/instructive.md."""
    rows = (
        f"| {kind} | {' | '.join(f'{one[c]:.0%}' for c in COLUMNS)} |\n"
        for kind, one in stored["kinds"].items()
    )
    return "".join(rows)


if __name__ == "__main__":
    number = int(sys.argv[1])
    found = {"bounds": BOUNDS, "first_seed": FIRST_SEED, "recordings": number, "kinds": {}}
    for kind in KINDS:
        found["kinds"][kind] = rates(kind, number)
        print(kind, found["kinds"][kind], flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    PAGE.write_text(TABLE.sub(lambda _: table(found), PAGE.read_text(), count=1))
