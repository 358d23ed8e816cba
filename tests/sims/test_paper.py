"""``biorrr paper``: all chapters in one folder, and the page that is made of what they found."""

import json
import shutil
from pathlib import Path

import pytest

from biorrr.sims import main
from biorrr.sims.experiments.paper.page import as_record, markdown, rows, webpage
from biorrr.sims.lab.claims import FAILS, HOLDS, NOT_TESTABLE, Claim

DATA = "synthetic:samples=200,m=8,n=6"


@pytest.fixture
def chapters(monkeypatch):
    """Two short chapters in the place of all."""
    raced = {"data": DATA, "k": (1,), "steps": 200, "simulation": False}
    short = {"theory": (None, {"data": DATA, "k": (1, 2)}), "compare": ("compare", raced)}
    monkeypatch.setattr("biorrr.sims.experiments.paper.CHAPTERS", short)


def biorrr(*args):
    return main.run([*map(str, args)])


def test_the_chapters_fill_one_folder_and_a_cut_run_goes_on(chapters, tmp_path, capsys):
    folder = tmp_path / "run"
    assert biorrr("paper", "--seeds", 2, "--engine", "numpy", "--out", folder) == 0
    out = capsys.readouterr().out
    assert "holds: RRR with Sigma = Cyy^-1 is equivalent to CCA" in out
    assert {"paper.json", "paper.md", "paper.html", "compare.nc", "compare.png"} <= {p.name for p in folder.iterdir()}
    record = json.loads((folder / "paper.json").read_text())
    assert sum(record["verdicts"].values()) == len(record["claims"])
    assert {"claim", "place", "verdict"} <= set.intersection(*(set(claim) for claim in record["claims"]))
    assert all("value" in claim and "bounds" in claim and claim["run"] for claim in record["claims"][:8])
    assert "compare_rows" in json.loads((folder / "summary.json").read_text())
    assert biorrr("report", folder, "--out", tmp_path / "page.html") == 0
    page = (tmp_path / "page.html").read_text()
    assert "compare: " in page  # charts of a chapter
    assert "compare.png" in page
    shutil.copytree(folder, tmp_path / "cut")
    (tmp_path / "cut/summary.json").unlink()
    assert biorrr("resume", tmp_path / "cut") == 0
    again = json.loads((tmp_path / "cut/paper.json").read_text())
    exact = [claim for claim in record["claims"] if "CPU" not in claim["claim"] and "run time" not in claim["claim"]]
    assert all(claim in again["claims"] for claim in exact if "spread" in claim)


def test_a_chapter_without_its_data_is_not_testable(tmp_path, monkeypatch):
    missing = {"theory": (None, {"data": str(tmp_path / "none.npz")})}
    monkeypatch.setattr("biorrr.sims.experiments.paper.CHAPTERS", missing)
    assert biorrr("paper", "--out", tmp_path / "run") == 0
    first = json.loads((tmp_path / "run/paper.json").read_text())["claims"][0]
    assert (first["claim"], first["verdict"]) == ("all that theory checks", NOT_TESTABLE)
    assert "none.npz" in first["reason"]


def test_a_quick_look_judges_nothing(chapters, tmp_path):
    assert biorrr("paper", "--quick", "--engine", "numpy", "--out", tmp_path / "run") == 0
    verdicts = json.loads((tmp_path / "run/paper.json").read_text())["verdicts"]
    assert verdicts[HOLDS] == verdicts[FAILS] == 0
    assert verdicts["not judged"] > 0


CLAIMS = [
    Claim(text="k = 1: it whitens", place="Fig. a", run="data", value=0.01, high=0.05),
    Claim(text="k = 4: it whitens", place="Fig. a", run="data", value=0.07, spread=0.01, high=0.05),
    Claim(text="mnist, k = 1: it is comparable", place="Fig. b", run="data", value=0.0, low=-0.02, high=0.02, unit="%"),
    Claim(text="<b>seconds</b>", place="Fig. c", untestable="another machine"),
]


def test_ranks_share_a_row_and_failures_come_first():
    record = as_record(CLAIMS, {"run": {"seeds": 5}})
    assert record["verdicts"] == {HOLDS: 2, FAILS: 1, "not judged": 0, NOT_TESTABLE: 1}
    whitens, comparable, _ = rows(record)
    assert whitens.words == "does not hold at k = 4; holds otherwise"
    assert whitens.measured == ["✓ k = 1: 0.01", "✗ k = 4: 0.07 ± 0.01"]
    assert comparable.text == "mnist: it is comparable"
    text = markdown(record)
    order = [text.index(words) for words in ("## What does not hold", "## What holds", "another machine")]
    assert order == sorted(order)
    assert "Of 4 claims 2 hold, 1 do not hold and 1 cannot be tested here." in text


def test_the_web_page_shows_the_same_and_escapes_it():
    page = webpage(as_record(CLAIMS, {"run": {}}), {"compare.png": "the race"})
    assert "&lt;b&gt;seconds&lt;/b&gt;" in page
    assert "<b>seconds</b>" not in page
    assert '<img src="compare.png" alt="the race">' in page
    assert page.index("What does not hold") < page.index("What holds")


def test_the_page_of_the_documentation_is_made_from_a_full_run():
    text = (Path(__file__).parents[2] / "docs/paper.md").read_text(encoding="utf-8")
    assert text.startswith("# The paper, claim by claim")
    assert "## What does not hold" in text
    assert "What was not judged" not in text  # not from a quick one
