"""``biorrr communication`` on recordings of one's own: from file to table, and several sessions at
once.
"""

import json

import numpy as np
import pytest

from biorrr.sims import main, sweep
from biorrr.sims.data import load

EXACT = ("--ranks", "1", "--folds", "3", "--draws", "3", "--shuffles", "4", "--no-simulation")


def run(folder, *args):
    assert (
        main.run(["communication", *EXACT, *map(str, args), "--out", str(folder)]) == 0
    )  # later options win
    return json.loads((folder / "summary.json").read_text())


@pytest.fixture(scope="module")
def of_allen(allen, tmp_path_factory):
    folder = tmp_path_factory.mktemp("communication") / "run"
    options = (
        "--trials",
        "drifting_gratings",
        "--align",
        "start",
        "--window",
        0,
        0.5,
        "--condition",
        "orientation",
    )
    return folder, run(
        folder, "--data", allen.path, "--source", "VISp", "--target", "VISl", *options
    )


def test_from_file_to_table(of_allen):
    folder, summary = of_allen
    assert (summary["source"], summary["target"], summary["trials"]) == ("VISp", "VISl", 60)
    assert (summary["source_units"], summary["target_units"]) in ((14, 7), (13, 8))  # one is noise
    assert summary["draws"] == 3
    assert summary["within_r2"] > 0.03 > 0 > summary["null_r2"]  # all units follow one variable
    assert summary["rank"] == 1
    assert "left out, not of good quality" in summary["notes"]
    assert {path.stem for path in folder.glob("*.png")} == {
        "communication",
        "dimensionality",
        "lags",
        "removal",
    }
    assert "shortfall" not in summary  # no circuit was simulated


def test_a_config_repeats_it(of_allen, tmp_path):
    folder, summary = of_allen
    assert (
        main.run(
            [
                "communication",
                "--config",
                str(folder / "config.toml"),
                "--out",
                str(tmp_path / "again"),
            ]
        )
        == 0
    )
    again = json.loads((tmp_path / "again/summary.json").read_text())
    assert {**again, "seconds": 0} == {**summary, "seconds": 0}


def test_several_sessions_are_rows_of_a_sweep(allen, tmp_path):
    areas = {
        "source": "VISp",
        "target": "VISl",
        "trials": "drifting_gratings",
        "window": [0.0, 0.5],
    }
    fixed = {"simulation": False, "draws": 2, "shuffles": 2, "folds": 3}
    second = tmp_path / "second.nwb"
    second.write_bytes(allen.path.read_bytes())
    table = sweep(
        experiment="communication",
        fixed=fixed,
        out=tmp_path / "sweep",
        workers=0,
        grid={"data": [{"file": str(path), **areas} for path in (allen.path, second)]},
    )
    assert table["status"].tolist() == ["done", "done"]
    assert table["data"].tolist() == [f"{path}, VISp to VISl" for path in (allen.path, second)]
    assert table["r2"].nunique() == 1  # the same session
    assert {"rank", "source_dimensionality", "within_r2", "null_p"} <= set(table.columns)


def test_an_npz_file_with_areas(tmp_path):
    rng = np.random.default_rng(0)
    data = load('{name="planted", trials=30, source_units=8, target_units=5, bins=5}')
    activity = np.hstack([data.X, data.Y]).reshape(30, 5, 13)
    np.savez(
        tmp_path / "own.npz",
        activity=activity,
        areas=["A"] * 8 + ["B"] * 5,
        bin=0.1,
        conditions=rng.integers(0, 2, 30),
    )
    loaded = load(tmp_path / "own.npz", source="A", target="B", condition="condition")
    np.testing.assert_array_equal(loaded.X, data.X)
    np.testing.assert_array_equal(loaded.x_rates, data.x_rates)
    summary = run(
        tmp_path / "run", "--data", tmp_path / "own.npz", "--source", "A", "--target", "B"
    )
    assert summary["trials"] == 30


@pytest.mark.parametrize(
    "circuits", ["no circuits", pytest.param("circuits", marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_the_published_recording_as_nwb_gives_the_same_numbers_bit_for_bit(
    published, tmp_path, circuits
):
    simulated = ("--draws", 0, *(("--simulation", "--epochs", 2) if circuits == "circuits" else ()))
    options = (
        "--residual",
        "none",
        "--bin",
        0.1,
        "--data",
        published,
        "--source",
        "V1_source",
        *simulated,
    )
    for target, in_file in (("V2", "V2"), ("V1", "V1_target")):
        named = run(tmp_path / f"named-{target}", "--data", "v1v2", "--target", target, *simulated)
        read = run(tmp_path / in_file, *options, "--target", in_file)
        same = {
            name
            for name in named
            if name.startswith(("exact", "circuit", "null", "removed", "lag", "rank"))
        }
        assert len(same) > 4
        assert {name: read[name] for name in same} == {name: named[name] for name in same}


def test_check_says_what_is_there_and_a_command_that_runs(allen, capsys, tmp_path, monkeypatch):
    assert main.run(["data", "--check", str(allen.path)]) == 0
    said = capsys.readouterr().out
    for text in (
        "VISp (14 units), VISl (8 units), CA1 (1 unit)",
        "22 of good quality",
        "60 in drifting_gratings",
        "orient",
    ):
        assert text in said
    (command,) = (line.partition("biorrr ")[2] for line in said.splitlines() if "biorrr " in line)
    assert main.run([*command.split(), *EXACT, "--out", str(tmp_path / "run")]) == 0


def test_square_roots_of_counts(allen):
    """Noise of the square root of a Poisson count does not depend on its rate."""
    counts, roots = (
        load(
            allen.path,
            source="VISp",
            target="VISl",
            trials="drifting_gratings",
            align="start",
            window=(0, 0.5),
            scale=scale,
        )
        for scale in ("none", "sqrt")
    )
    assert counts.X.max() > 1
    for view in ("X", "Y"):
        np.testing.assert_array_equal(getattr(roots, view), np.sqrt(getattr(counts, view)))
    np.testing.assert_array_equal(roots.x_rates, counts.x_rates)
