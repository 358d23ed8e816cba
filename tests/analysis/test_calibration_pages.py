"""Tables of error rates, power and coverage on the docs pages: each is what the stored calibration says."""

import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
QUESTIONS = ("specific", "specific, broadcast", "informative", "signed", "predictive")


def instructive_table():
    """Return the rows of docs/instructive.md: false-positive rates before and now."""
    stored = json.loads((DOCS / "calibration" / "instructive.json").read_text())
    for kind, now in stored["now"].items():
        before = stored["before"][kind]
        cells = [f"{before[one]:.0%} → {now[one]:.0%}" for one in QUESTIONS]
        yield f"| {kind} | {' | '.join(cells)} | {now['caution']:.0%} | {now['recordings']} |"


def planned_table():
    """Return the rows of docs/distal.md: power and coverage by noise of the weights and samples between looks."""
    for one in json.loads((DOCS / "calibration" / "distal.json").read_text())["planned"]:
        yield (
            f"| {one['weight_noise']:.0%} | {one['every']} | {one['change']:.1%} | {one['power']:.0%} | "
            f"{one['covers']:.0%} |"
        )


def artefact_table():
    """Return the rows of docs/distal.md: coverage where z and a share an artefact."""
    for one in json.loads((DOCS / "calibration" / "distal.json").read_text())["artefact"]:
        yield f"| {one['s']:g} | {'noise and correlation' if one['told'] else 'nothing'} | {one['covers']:.0%} |"


@pytest.mark.parametrize(
    ("page", "rows"),
    [("instructive.md", instructive_table), ("distal.md", planned_table), ("distal.md", artefact_table)],
)
def test_the_page_shows_what_is_stored(page, rows):
    text, rows = (DOCS / page).read_text(), list(rows())
    assert rows
    assert "\n".join(rows) in text
