"""Recordings in an order or a form that once gave wrong numbers without a word."""

import json

import numpy as np
import pytest

from biorrr.sims import main
from biorrr.sims.data import Pair


@pytest.fixture
def session(tmp_path, write_session):
    """A function that writes a session of two areas, with trials in any order."""
    return lambda order, **areas: write_session(
        tmp_path / f"session-{order[0]}.nwb", order, **areas
    )


def test_the_order_of_trials_in_the_file_does_not_matter_to_spikes(session):
    options = {"source": "V1", "target": "V2", "window": (0, 0.5), "condition": "kind"}
    straight = Pair(str(session(np.arange(60))), **options).load()
    order = np.random.default_rng(0).permutation(60)
    shuffled = Pair(str(session(order)), **options).load()
    np.testing.assert_array_equal(shuffled.X.reshape(60, 5, 3), straight.X.reshape(60, 5, 3)[order])
    np.testing.assert_array_equal(
        shuffled.strata.reshape(60, 5), straight.strata.reshape(60, 5)[order]
    )


def test_an_event_that_is_not_there_is_refused(session, capsys):
    path = session(np.arange(60))
    args = [
        "communication",
        "--data",
        str(path),
        "--source",
        "V1",
        "--target",
        "V2",
        "--align",
        "stimulus",
    ]
    assert main.run(args) == 1
    assert (
        "align: no event 'stimulus' in trials; there are start_time, stop_time"
        in capsys.readouterr().err
    )


def test_what_was_used_is_printed_and_in_the_summary(session, tmp_path, capsys):
    """With areas whose names have commas, colons and equal signs."""
    areas = ("Primary visual area, layer 5", "a:target=b,align=c")
    path, out = session(np.arange(60), areas=areas), tmp_path / "run"
    args = [
        "communication",
        "--data",
        str(path),
        "--source",
        areas[0],
        "--target",
        areas[1],
        "--no-simulation",
    ]
    assert (
        main.run([*args, "--folds", "3", "--draws", "0", "--shuffles", "0", "--out", str(out)]) == 0
    )
    printed, summary = capsys.readouterr().out, json.loads((out / "summary.json").read_text())
    assert (summary["source"], summary["target"]) == areas
    assert summary["data_align"] == "start_time"
    assert summary["data_window"] == "0 to 0.5 s, 5 bins of 0.1 s"
    assert summary["data_trials"] == "60 of 60 in trials"
    assert summary["data_source"] == f"{areas[0]}, 3 units"
    for text in ("start_time", "0 to 0.5 s, 5 bins of 0.1 s", f"{areas[1]}, 3 units"):
        assert text in printed
    again = tmp_path / "again"
    assert (
        main.run(["communication", "--config", str(out / "config.toml"), "--out", str(again)]) == 0
    )
    repeated = json.loads((again / "summary.json").read_text())
    assert repeated | {"seconds": 0} == summary | {"seconds": 0}


def test_a_column_with_a_plus_in_its_name(session):
    path = session(np.arange(60))
    options = {"source": "V1", "target": "V2", "window": (0, 0.5)}
    assert len(np.unique(Pair(str(path), condition="a+b", **options).load().strata)) == 10
    assert len(np.unique(Pair(str(path), condition="kind", **options).load().strata)) == 20
