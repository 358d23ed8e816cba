"""``--cell millivolts`` from end to end, and what is counted of its cells."""

import json

import numpy as np
import pytest

from biorrr.analysis.figures.millivolts import plot_cell, plot_firing
from biorrr.circuit import Run
from biorrr.models import RUNGS
from biorrr.sims import main
from biorrr.sims.experiments.plateau.millivolts import plateaus
from biorrr.sims.lab.training import CELLS

DATA = "synthetic:samples=60,m=6,n=5,latents=2"


def test_cells_are_the_rungs_of_the_ladder(capsys):
    assert tuple(RUNGS) == CELLS
    assert main.run(["learn", "--cell", "milivolts"]) == 2
    assert (
        "must be one of algebraic, leaky, spiking, millivolts (got 'milivolts'); did you mean"
        in capsys.readouterr().err
    )


def test_plateaus_are_counted():
    Vd = np.full((1000, 2), -70.0)  # 500 ms of two cells
    Vd[100:180, 0] = -20  # 40 ms
    Vd[300:304, 0] = -20  # too short
    Vd[500:560, 1] = -20  # 30 ms
    found = plateaus(Vd, dt=0.5)
    assert found["plateau_rate"] == pytest.approx(2.0)
    assert found["plateau_duration"] == pytest.approx(35.0)
    assert np.isnan(plateaus(np.full((10, 1), -70.0), 0.5)["plateau_duration"])


def test_figures_of_cells():
    rng = np.random.default_rng(0)
    signals = {name: rng.standard_normal(40) for name in ("Vs", "Vd", "calcium", "fired", "distal", "inhibitory")}
    signals |= {"time": np.arange(1.0, 41.0), "event": rng.random((40, 5)) < 0.2, "burst": rng.random((40, 5)) < 0.1}
    axes = plot_cell({"one": signals, "two": signals}, onsets={"one": [0, 20], "two": [0, 20]},
                     errors={"one": [2, 0], "two": [-2, 0]})  # fmt: skip
    assert axes.shape == (6, 2)
    assert axes[-1, 0].get_xlabel() == "time (ms)"
    assert [text.get_text() for text in axes[1, 0].texts] == ["+"]
    assert [text.get_text() for text in axes[1, 1].texts] == ["–"]
    found = {"event_rate": [1, 2], "burst_probability": [0.1, 0.2]}
    axes = plot_firing([0, 100], found, [200, 300], found, rest=(250, 50))
    assert axes[0, 0].get_ylabel() == "rate of events (Hz)"
    assert axes[1, 1].get_xlabel() == "somatic current (pA)"


@pytest.mark.slow
def test_plateaus_in_millivolts_fill_a_folder(tmp_path, capsys):
    out = tmp_path / "out"
    args = ["--data", DATA, "--cell", "millivolts", "--epochs", "2", "--seeds", "1", "-s", "0"]
    assert main.run(["plateau", *args, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "a cell at rest" in printed
    assert "not judged" in printed
    assert "the paper's claims are about algebraic cells, and these are millivolts" in printed
    files = {"cell.png", "firing.png", "plateau.png", "audit.png", "cells-before.nc", "cells-after.nc", "run.nc"}
    assert files <= {path.name for path in out.iterdir()}
    summary = json.loads((out / "summary.json").read_text())
    assert 3 < summary["rest_event_rate"] < 8
    assert 0.2 < summary["rest_burst_probability"] < 0.5
    assert 20 < summary["rest_plateau_duration"] < 80  # ms
    run = Run.load(out / "cells-after.nc")
    assert run.data["Vd"].attrs["units"] == "mV"
    pynwb = pytest.importorskip("pynwb")
    run.to_nwb(tmp_path / "cells.nwb")
    with pynwb.NWBHDF5IO(tmp_path / "cells.nwb", "r") as io:
        written = io.read().processing["simulation"]
        assert written["Vd"].unit == "volts"
        assert written["Vd"].conversion == pytest.approx(1e-3)
        np.testing.assert_array_equal(written["Vd"].data[:], run.trace("Vd"))
        assert len(written["z"].data) == run.data.sizes["sample"]
    assert main.run(["report", str(out)]) == 0
