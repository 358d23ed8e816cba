"""``--cell millivolts`` from end to end."""

import json

import pytest

from biorrr.sims import main

DATA = '{name="synthetic", samples=60, m=6, n=5, latents=2}'


def test_cells_have_two_names(capsys):
    assert main.run(["learn", "--cell", "milivolts"]) == 2
    assert (
        "must be one of algebraic, millivolts (got 'milivolts'); did you mean"
        in capsys.readouterr().err
    )


@pytest.mark.slow
def test_plateaus_in_millivolts_fill_a_folder(tmp_path, capsys):
    out = tmp_path / "out"
    args = ["--data", DATA, "--cell", "millivolts", "--epochs", "2", "--seeds", "1", "-s", "0"]
    assert main.run(["plateau", *args, "--out", str(out)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "not judged" in printed
    assert "the paper's claims are about algebraic cells, and these are millivolts" in printed
    assert {"plateau.png", "audit.png", "run.nc"} <= {path.name for path in out.iterdir()}
    summary = json.loads((out / "summary.json").read_text())
    assert summary["plateau_correlation_end"] > summary["plateau_correlation_start"]
    assert main.run(["report", str(out)]) == 0
