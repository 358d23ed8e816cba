"""Tables of false-positive rates, power and coverage on the docs pages, compared with the stored
calibrations.
"""

import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def planned_table():
    """Return the rows of docs/distal.md: power and coverage by noise of the weights and samples
    between looks.
    """
    for one in json.loads((DOCS / "calibration" / "distal.json").read_text())["planned"]:
        yield (
            f"| {one['weight_noise']:.0%} | {one['every']} | {one['change']:.1%} |"
            f" {one['power']:.0%} | {one['covers']:.0%} |"
        )


def artefact_table():
    """Return the rows of docs/distal.md: coverage where z and a share an artefact."""
    for one in json.loads((DOCS / "calibration" / "distal.json").read_text())["artefact"]:
        yield (
            f"| {one['s']:g} | {'noise and correlation' if one['told'] else 'nothing'} |"
            f" {one['covers']:.0%} |"
        )


@pytest.mark.parametrize(
    ("page", "rows"),
    [
        ("distal.md", planned_table),
        ("distal.md", artefact_table),
    ],
)
def test_the_page_shows_what_is_stored(page, rows):
    text, rows = (DOCS / page).read_text(), list(rows())
    assert rows
    assert "\n".join(rows) in text
