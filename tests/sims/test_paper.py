"""``biorrr paper``: all chapters in one folder, and the page that is made of what they found."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from biorrr.sims import main
from biorrr.sims.experiments import find_experiment
from biorrr.sims.experiments.paper import CHAPTERS, PaperSettings, apical_drive, chapters_of
from biorrr.sims.experiments.paper.page import markdown, record, sentences
from biorrr.sims.lab import Claim, Findings

DOCS = Path(__file__).parents[2] / "docs"
DATA = '{name="synthetic", samples=60, m=6, n=5, latents=2}'
RACED = {"data": DATA, "k": (1,), "steps": 100, "simulation": False}
SHORT = {
    "algebra": ("algebra", {"data": DATA}),
    "compare": ("compare", RACED),
}
SLOW = SHORT | {
    "compare": ("compare", RACED | {"all": True}),
    "symmetry": ("symmetry", find_experiment("symmetry").small),
    "convergence": (
        "convergence",
        {"data": DATA, "k": (1,), "online_steps": 100, "offline_steps": 100},
    ),
    "plateau-digits": ("plateau", find_experiment("plateau").small),
    "family": ("family", find_experiment("family").small),
    "robustness": (
        "robustness",
        find_experiment("robustness").small
        | {
            "departures": ("all_or_none", "apical_events"),
            "quick": False,
        },
    ),
}


def biorrr(*args):
    return main.run([*map(str, args)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a run with short chapters."""
    path = tmp_path_factory.mktemp("paper") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("biorrr.sims.experiments.paper.CHAPTERS", SHORT)
        assert biorrr("paper", "--seeds", 1, "--engine", "numpy", "--out", path) == 0
    return path


def test_every_sentence_has_one_number_and_one_verdict(folder):
    page = json.loads((folder / "paper.json").read_text())
    assert len(page["sentences"]) == 9
    assert moved_bounds(page) == {}
    assert len({one["quote"] for one in page["sentences"]}) == len(page["sentences"])
    assert all(
        one["place"] and one["cases"][0]["number"] and one["cases"][0]["verdict"]
        for one in page["sentences"]
    )
    assert {"paper.md", "compare.nc"} <= {path.name for path in folder.iterdir()}
    assert (folder / "paper.md").read_text() == markdown(page)
    claims = json.loads((folder / "summary.json").read_text())["claims"]
    assert [one["claim"] for one in claims] == [one["quote"] for one in page["sentences"]]


@pytest.mark.slow
def test_every_chapter_bears_on_its_sentences(tmp_path, monkeypatch):
    """The small runs of all chapters have what the page reads from them."""
    monkeypatch.setattr("biorrr.sims.experiments.paper.CHAPTERS", SLOW)
    assert biorrr("paper", "--seeds", 1, "--engine", "numpy", "--out", tmp_path / "run") == 0
    record = json.loads((tmp_path / "run/paper.json").read_text())
    assert len(record["sentences"]) == 26
    assert record["not run"] == {}
    assert moved_bounds(record) == {}


def moved_bounds(record):
    """Return the bounds of sentences that are not those of the page, by sentence: they were fixed
    before the runs.
    """
    page = json.loads((DOCS / "numbers/paper.json").read_text())

    def bounds(one):
        # Which rival is the best one depends on the data.
        told = (case["bounds"] for case in one["cases"] if case["bounds"])
        return {re.sub(r" times .+'s$", " times a rival's", bound) for bound in told}

    stored = {one["quote"]: bounds(one) for one in page["sentences"]}
    found = {one["quote"]: bounds(one) - stored[one["quote"]] for one in record["sentences"]}
    return {quote: moved for quote, moved in found.items() if moved}


def test_it_is_reported_and_a_cut_run_goes_on(folder, tmp_path, monkeypatch):
    assert biorrr("report", folder, "--out", tmp_path / "page.html") == 0
    page = (tmp_path / "page.html").read_text()
    assert "compare" in page  # figures of a chapter
    assert "perform competitively" in page
    monkeypatch.setattr("biorrr.sims.experiments.paper.CHAPTERS", SHORT)
    shutil.copytree(folder, tmp_path / "cut")
    (tmp_path / "cut/summary.json").unlink()
    assert biorrr("resume", tmp_path / "cut") == 0
    first, again = (
        json.loads((path / "paper.json").read_text()) for path in (folder, tmp_path / "cut")
    )
    untimed = [one for one in first["sentences"] if "runtime" not in one["quote"]]
    assert len(untimed) == 8
    assert all(one in again["sentences"] for one in untimed)


def test_chapters_are_chosen_and_a_cut_run_keeps_to_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("biorrr.sims.experiments.paper.CHAPTERS", SHORT)
    run, options = tmp_path / "run", ("--only", "compare", "--seeds", 1, "--engine", "numpy")
    assert biorrr("paper", *options, "--out", run) == 0
    assert "without --only" in capsys.readouterr().out
    (run / "summary.json").unlink()
    assert biorrr("resume", run) == 0
    record = json.loads((run / "paper.json").read_text())
    assert [*record["run"]] == ["compare", "processor time"]
    assert "without --only" in record["rest"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--only", "image"), "did you mean 'images'?"),
        (
            ("--quick", "--only", "images"),
            "only: must be among algebra, symmetry with --quick (got images)",
        ),
    ],
)
def test_chapters_that_cannot_be_chosen_are_refused(options, said, tmp_path, capsys):
    assert biorrr("paper", *options, "--out", tmp_path / "run") == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("BIORRR_DATA"), reason="needs the real data files")
def test_pictures_and_learning_rates_are_chapters(tmp_path, monkeypatch):
    small = {
        "images": ("images", {"data": ("mnist",), "steps": 200}),
        "sensitivity": ("sensitivity", {"k": (1,), "steps": 200}),
    }
    monkeypatch.setattr("biorrr.sims.experiments.paper.CHAPTERS", small)
    run = tmp_path / "run"
    assert biorrr("paper", "--only", "images", "--only", "sensitivity", "--out", run) == 0
    files = json.loads((run / "inventory.json").read_text())["files"]
    figures = [name for name, kind in files.items() if kind == "figure"]
    assert figures == ["images.png", "sensitivity.png"]
    assert all((run / one).with_suffix(".md").read_text() for one in figures)
    summary = json.loads((run / "summary.json").read_text())
    assert summary["images_mnist_bio_excess"] > 0
    assert summary["sensitivity_bio_rrmse_k1_median_excess"] > 0


def test_a_chapter_without_its_data_is_left_out(tmp_path, monkeypatch, capsys):
    missing = {"algebra": ("algebra", {"data": str(tmp_path / "none.npz")})}
    monkeypatch.setattr("biorrr.sims.experiments.paper.CHAPTERS", missing)
    assert biorrr("paper", "--out", tmp_path / "run") == 0
    record = json.loads((tmp_path / "run/paper.json").read_text())
    assert record["sentences"] == []
    assert "none.npz" in record["not run"]["algebra"]
    assert "none.npz" in capsys.readouterr().out


def test_a_quick_look_judges_what_needs_no_learning_and_ends_with_the_summary(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("biorrr.sims.experiments.paper.CHAPTERS", SHORT)
    assert (
        biorrr("paper", "--quick", "--engine", "numpy", "--seeds", 1, "--out", tmp_path / "run")
        == 0
    )
    *_, summary, rest, _ = capsys.readouterr().out.splitlines()
    assert summary == "holds: all that was judged"
    assert "without --quick" in rest
    record = json.loads((tmp_path / "run/paper.json").read_text())
    assert {case["verdict"] for one in record["sentences"] for case in one["cases"]} == {"holds"}
    assert [*record["run"]] == ["algebra", "processor time"]


def test_chapters_use_the_rows_of_the_paper():
    chosen = {name: settings for name, (_, settings) in chapters_of(PaperSettings(seeds=3)).items()}
    assert [*chosen] == [*CHAPTERS]
    assert {name for name, one in chosen.items() if getattr(one, "rows", None) == 20_000} == {
        "convergence",
        "compare",
        "sensitivity",
    }
    assert max(one.seeds for one in chosen.values()) == 3


CASES = [
    Claim(text="it whitens", place="Fig. a", k=1, value=0.01, high=0.05),
    Claim(text="it whitens", place="Fig. a", k=4, value=0.07, high=0.05, numbers={"largest": 0.2}),
    Claim(text="it whitens", place="Fig. a", k=2, value=0.08, interval=(0.04, 0.1), high=0.05),
    Claim(text="match", place="Fig. b", value=0.2, low=0.5, high=2, better="below"),
    Claim(text="match", place="Fig. b", value=1.0, low=0.5, high=2, better="below"),
    Claim(text="fast | slow", place="Fig. c", value=3.0, high=1, setting="fewer rows"),
]


def test_the_worst_case_decides_a_sentence():
    whitens, match, fast = (record(cases) for cases in sentences(CASES))
    assert [case["case"] for case in whitens["cases"]] == ["k = 4", "k = 2", "k = 1"]
    assert [case["verdict"] for case in whitens["cases"]] == ["does not hold", "undecided", "holds"]
    assert (match["cases"][0]["verdict"], match["cases"][0]["value"]) == (
        "better than claimed",
        0.2,
    )
    assert (fast["cases"][0]["verdict"], fast["cases"][0]["reason"]) == (
        "other setting",
        "fewer rows",
    )
    page = markdown(
        {"sentences": [whitens, match, fast], "run": {"seeds": 5}, "not run": {}, "rest": ""}
    )
    assert (
        "“it whitens”<br><small>Fig. a</small> | 0.07<br><small>k = 4</small> | at most 0.05 |"
        " **does not hold** in 1 of 3 cases; **undecided** in 1 of 3 cases; **holds** in 1 of 3"
        " cases" in page
    )
    assert "fast &#124; slow" in page
    assert "| k = 4 | 0.07 | does not hold | largest 0.2 |" in page


def test_apical_drive_is_judged_where_plateaus_are_sparse_beside_the_same_plateaus_without_it():
    drive, none = np.full((1, 2, 3), 0.3), np.full((1, 3, 3), 0.2)
    drive[0, 1], none[0, 2] = (0.3, 0.4, 0.6), (0.1, 0.3, 0.3)  # differences 0.2, 0.1, 0.3
    found = xr.Dataset(
        {
            "apical_events": (("data", "apical_events_value", "seed"), drive),
            "all_or_none": (("data", "all_or_none_value", "seed"), none),
        },
        {"data": ["digits"], "apical_events_value": [2, 8], "all_or_none_value": [1, 2, 8]},
    )
    (claim,) = apical_drive(Findings(title="", data={"run": found}))
    assert claim.value == pytest.approx(0.2)
    assert claim.interval == pytest.approx((0.1, 0.3))
    assert claim.numbers == {
        "median excess with apical drive in %": pytest.approx(40.0),
        "median excess without apical drive in %": pytest.approx(30.0),
    }
    assert (claim.verdict, claim.label) == ("does not hold", "digits, plateaus of 8 r.m.s.")
    found["all_or_none"].loc[{"all_or_none_value": 8}] = drive[0, 1]  # dear, but not by the drive
    (claim,) = apical_drive(Findings(title="", data={"run": found}))
    assert (claim.verdict, claim.value) == ("holds", 0)


def test_the_page_of_the_documentation_is_made_from_its_numbers():
    """To renew both: ``biorrr paper --out run``, then copy run/paper.json to docs/numbers and
    run/paper.md to docs.
    """
    record = json.loads((DOCS / "numbers/paper.json").read_text(encoding="utf-8"))
    assert (DOCS / "paper.md").read_text(encoding="utf-8") == markdown(record)
    assert record["rest"] == ""
