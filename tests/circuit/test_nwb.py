"""Runs as NWB files: what is in them is what was recorded, and the inspector finds nothing that
counts.
"""

import sys

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.models import Leaky


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    return rng.standard_normal((60, 4)), rng.standard_normal((60, 3))


@pytest.fixture(scope="module")
def run(data):
    return Microcircuit(2, engine="numpy").run(
        *data, record=("x", "y", "z", "plateau"), every=3, centre=True
    )


def test_traces_and_stimulus(run, tmp_path):
    pynwb = pytest.importorskip("pynwb", reason="needs the extra nwb")
    run.to_nwb(tmp_path / "run.nwb")
    assert [path.name for path in tmp_path.iterdir()] == ["run.nwb"]
    with pynwb.NWBHDF5IO(tmp_path / "run.nwb", "r") as io:
        file = io.read()
        assert set(file.stimulus) == {"x", "y"}
        np.testing.assert_array_equal(file.stimulus["x"].data[:], run.data["x"].values)
        plateau = file.processing["simulation"]["plateau"]
        np.testing.assert_array_equal(plateau.data[:], run.data["plateau"].values)
        assert (plateau.starting_time, plateau.rate) == (
            0,
            1 / 3,
        )  # every third sample, of one second each
        assert plateau.description == "calcium plateau potential"


def test_held_samples_have_their_duration(data, tmp_path):
    pynwb = pytest.importorskip("pynwb", reason="needs the extra nwb")
    X, Y = (view[:6] - view[:6].mean(0) for view in data)
    run = Microcircuit(1, engine="numpy", departures=(Leaky(hold=40.0, dt=2.0),)).run(X, Y, every=2)
    run.to_nwb(tmp_path / "run.nwb")
    with pynwb.NWBHDF5IO(tmp_path / "run.nwb", "r") as io:
        plateau = io.read().processing["simulation"]["plateau"]
        assert plateau.data.shape == (3 * 20, 1)
        np.testing.assert_allclose(plateau.timestamps[:21], [*(0.002 * np.arange(20)), 0.08])


def test_the_inspector_finds_nothing_that_counts(run, tmp_path):
    inspector = pytest.importorskip("nwbinspector", reason="needs nwbinspector")
    run.to_nwb(tmp_path / "run.nwb")
    counts = inspector.Importance.BEST_PRACTICE_VIOLATION
    found = inspector.inspect_nwbfile(
        nwbfile_path=tmp_path / "run.nwb", importance_threshold=counts
    )
    assert [finding.message for finding in found] == [
        "Subject species is missing."
    ]  # a simulation has none


def test_nothing_to_write(data, tmp_path):
    pytest.importorskip("pynwb", reason="needs the extra nwb")
    run = Microcircuit(1, engine="numpy").run(*data, record=(), centre=True)
    with pytest.raises(
        ValueError, match="to_nwb: the run recorded no traces; run again with record="
    ):
        run.to_nwb(tmp_path / "run.nwb")


def test_without_pynwb(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynwb", None)
    with pytest.raises(ImportError, match=r"to_nwb: needs pynwb; pip install 'biorrr\[nwb\]'"):
        run.to_nwb(tmp_path / "run.nwb")
