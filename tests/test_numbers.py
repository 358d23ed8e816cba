"""Numbers on the pages are those of stored summaries, and summaries are those of the commands."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from biorrr.sims.data import CATALOGUE

ROOT = Path(__file__).parents[1]
quoted = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "quoted.py")))


def lacks_data(command):
    """Return True if a command needs a data set that is not on this machine."""
    return any(
        name in command and not all(file.found() for file in made.origin.files)
        for name, made in CATALOGUE.items()
    )


@pytest.mark.parametrize(
    "quote", quoted.quotes(), ids=lambda quote: f"{quote.page}: {quote.words[:40]}"
)
def test_a_page_prints_what_the_summary_says(quote):
    found = quote.find((ROOT / quote.page).read_text())
    assert list(found.groups()) == quote.numbers(quoted.stored())


def test_summaries_hold_what_is_quoted_and_nothing_else():
    for name, summary in quoted.stored().items():
        assert summary
        assert quoted.reduced(name, summary) == summary
        assert (
            json.loads((quoted.FOLDER / f"{name}.json").read_text())["command"]
            == quoted.commands()[name]
        )


def test_a_wrong_number_is_found_and_corrected():
    quote = quoted.Quote("page.md", "excess of {learn[excess]:.2%} in {learn[seeds]!z} runs")
    summaries = {"learn": {"excess": 0.0123, "seeds": [3, 5]}}
    page = "It has an excess\nof 9.9 % in 5 runs."
    assert list(quote.find(page).groups()) != quote.numbers(summaries)
    assert quote.corrected(page, summaries) == "It has an excess\nof 1.23 % in 5 runs."
    with pytest.raises(LookupError, match="expected exactly one passage"):
        quote.find("It has no excess.")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(quoted.commands()))
def test_commands_still_give_these_numbers(name, tmp_path, monkeypatch):
    if lacks_data(quoted.commands()[name]):
        pytest.skip("needs data that must be fetched")
    monkeypatch.setenv("MPLBACKEND", "agg")
    again = quoted.stored() | {name: quoted.run(name, tmp_path / "run")}
    moved = [
        f"{quote.page}: {quote.words}: {quote.numbers(again)}"
        for quote in quoted.quotes()
        if name in dict(quote.keys()) and quote.numbers(again) != quote.numbers(quoted.stored())
    ]
    assert moved == []
