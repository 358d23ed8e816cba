"""``biorrr distal``: protocols, inference from files, plans, and circuits that are caught with
other rules.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import infer_s
from biorrr.circuit import Microcircuit
from biorrr.circuit.engines.compiler import find_compiler
from biorrr.models import DistalSynapses
from biorrr.sims import main
from biorrr.sims.data import DataError, Plasticity, load
from biorrr.sims.experiments import distal
from biorrr.sims.experiments.distal import recorded_circuits, results
from biorrr.sims.experiments.distal import slice_protocols as protocols
from biorrr.sims.experiments.distal.results import at_ends
from biorrr.sims.experiments.distal.slice_protocols import PROTOCOLS, SliceExperiment, pair
from biorrr.sims.lab import Claim, Job
from biorrr.sims.lab.folder.checkpoints import NOT_KEPT

_, WEAKER, *_, OUTPUT = PROTOCOLS
DATA = '{name="synthetic", samples=200, m=5, n=6, latents=3}'


def settings(**given):
    return distal.DistalSettings(task=DATA, engine="numpy", **{"cells": 2, "pairings": 5} | given)


def job(**given):
    return Job(settings(**given), "tested", NOT_KEPT)


def test_cells_without_noise_do_what_the_rule_predicts():
    found = pair(job(transmission_noise=0.0), SliceExperiment(WEAKER, 0.3))
    np.testing.assert_allclose([found["paired"], found["other"]], found["predicted"], rtol=1e-9)


def test_predictions_of_a_mean_cell():
    """After one pairing: growth y z over the weight, less s times the cell's own current, less
    decay.
    """
    step = 100 * protocols.RATE
    for s, change in ((0.0, 0.5 * protocols.FIBRES - 1), (1.0, -0.5 * protocols.FIBRES)):
        after = protocols.predicted(WEAKER, s, 1, np.ones((2, 1)))
        np.testing.assert_allclose(after[:, 0], [100 + step * change, 100 - step * (1 - s)])


@pytest.mark.slow
def test_noise_makes_cells_differ():
    found = pair(job(cells=6), SliceExperiment(WEAKER, 0.0))
    assert 0.5 < np.std(found["paired"]) < 20


def test_cells_needed():
    assert protocols.cells_needed(1.0, 1.0, power=0.8) == 17  # Cohen (1988), Table 2.4.1
    assert protocols.cells_needed(0.5, 1.0, power=0.8) == 64
    assert protocols.cells_needed(54.0, 0.1) == 2
    assert protocols.cells_needed(0.0, 1.0) is None


def other_rule(change):
    """Makes circuits whose distal synapses follow another rule."""
    return lambda **arguments: Microcircuit(
        pathways=[replace(DistalSynapses(), change=change)], **arguments
    )


GOOD = {
    "weaker_paired_s_0": 123.0,
    "weaker_paired_s_1": 77.0,
    "instruction_paired_s_1": 55.0,
    "instruction_other_s_1": 100.0,
    "instruction_paired_s_0": 94.0,
    "instruction_other_s_0": 94.0,
    "output_paired_s_0": 94.0,
    "output_paired_s_1": 100.0,
}


def failed(**wrong):
    """Claims about the ends of the family that fail where cells did something else, by the quantity
    that decides.
    """
    return [
        one.name for one in at_ends(GOOD | wrong) if one.bound and not Claim.about(one, "").holds
    ]


@pytest.mark.parametrize(
    ("change", "protocol", "s", "caught"),
    [
        pytest.param(
            "eta_y * (y_pre * a_post - w)", WEAKER, 1.0, "weaker_opposite", marks=pytest.mark.slow
        ),
        pytest.param("", WEAKER, 1.0, "weaker_opposite"),
        pytest.param(
            "-eta_y * y_pre * a_post", OUTPUT, 0.0, "output_weakens", marks=pytest.mark.slow
        ),
    ],
    ids=["dendrite", "frozen", "no decay"],
)
def test_cells_with_another_rule_are_caught(change, protocol, s, caught, monkeypatch):
    monkeypatch.setattr(
        "biorrr.sims.lab.own_circuits.circuit_function", lambda named: other_rule(change)
    )
    found = pair(job(circuit="own.py:other", cells=3, pairings=60), SliceExperiment(protocol, s))
    assert failed(**{f"{protocol.name}_paired_s_{s:g}": found["paired"].mean()}) == [caught]


@pytest.mark.parametrize(
    ("wrong", "caught"),
    [
        ({"weaker_paired_s_1": 104.0}, "weaker_opposite"),
        ({"weaker_paired_s_0": 97.0}, "weaker_opposite"),
        ({"instruction_other_s_1": 57.0}, "instruction_depresses"),
        ({"instruction_paired_s_0": 70.0}, "instruction_spares"),
        ({"output_paired_s_0": 100.0}, "output_weakens"),
        ({"output_paired_s_1": 90.0}, "output_spares"),
    ],
)
def test_every_claim_about_the_ends_can_fail(wrong, caught):
    assert not failed()
    assert failed(**wrong) == [caught]


def some_results(**changes):
    """Results as theory predicts them, of two cells and two circuits at s = 0 and 1, with
    changes."""
    every_s = [0.0, 1.0]
    epsp = np.full((2, len(protocols.PROTOCOLS), 2), 100.0)
    inferred = np.array([[[[s, s - 0.1, s + 0.1]] * 2] * 5 for s in every_s])
    values = {
        "paired": (("s", "protocol", "cell"), epsp),
        "other": (("s", "protocol", "cell"), epsp.copy()),
        "predicted": (
            ("s", "protocol", "pathway", "cell"),
            np.full((*epsp.shape[:2], 2, 2), 100.0),
        ),
        "inferred": (("s", "condition", "seed", "quantity"), inferred),
    }
    for name, (place, value) in changes.items():
        values[name][1][place] = value
    names = [one.name for one in protocols.PROTOCOLS]
    coords = {
        "s": every_s,
        "protocol": names,
        "pathway": ["paired", "other"],
        "quantity": ["s", "low", "high"],
    }
    return xr.Dataset(values, coords)


@pytest.mark.parametrize(
    ("changes", "name", "value", "holds"),
    [
        ({"paired": ((0, 1), (112.0, 106.0))}, "deviation_from_rule", 9.0, False),
        ({"other": ((1, 2), 94.0)}, "deviation_from_rule", 6.0, False),
        ({"inferred": ((1, slice(2), 0, 1), 1.2)}, "contained", 0.9, True),
        ({"inferred": ((0, slice(4), 0, 2), -0.2)}, "contained", 0.8, False),
        ({"paired": ((0, 1), 123.0)}, "difference_weaker", 23.0, None),
    ],
)
def test_numbers_of_the_summary(changes, name, value, holds):
    settled = distal.DistalSettings(task=DATA, s=(0.0, 1.0), cells=2)
    found = {one.name: one for one in results.summary(settled, some_results(**changes))}
    assert found[name].value == pytest.approx(value)
    if holds is not None:
        assert Claim.about(found[name], distal.CLAIMS[name]).holds is holds
    assert set(distal.CLAIMS) <= set(found)


@pytest.fixture(scope="module")
def run():
    """A circuit at s = 0.5 whose distal plasticity was recorded throughout."""
    data = load(DATA).centred()
    return Microcircuit(k=2, s=0.5, engine="numpy").run(
        data.X, data.Y, record=("y", "z", "a", "Vy"), every=1, snapshots=1, progress=False
    )


def test_learning_circuits_are_told_in_every_condition(run, monkeypatch):
    y, z, a = (run.data[name].values[1:] for name in ("y", "z", "a"))
    recording = y, z, a, run.data["Vy_trace"].values
    monkeypatch.setattr(recorded_circuits, "record", lambda job, data, s, seed: recording)
    found = recorded_circuits.infer_in_every_condition(
        job(), recorded_circuits.RecordedCircuit(0.5, 0), None
    )
    for condition, (s, low, high) in found.items():
        assert s == pytest.approx(0.5, abs=0.25 if condition == "sparse" else 0.1)
        assert low <= 0.5 <= high


def as_arrays(run):
    return {name: run.data[name].values[1:] for name in ("y", "z", "a")} | {
        "Vy": run.data["Vy_trace"].values
    }


def test_a_file_of_arrays_can_be_read(run, tmp_path):
    np.savez(tmp_path / "all.npz", **as_arrays(run))
    assert infer_s(*Plasticity(str(tmp_path / "all.npz")).load().recording).s == pytest.approx(
        0.5, abs=1e-6
    )


def test_sparse_weights_of_files(run, tmp_path):
    arrays = as_arrays(run)
    gaps = arrays["Vy"].copy()
    gaps[np.arange(len(gaps)) % 5 > 0] = np.nan
    when = np.arange(0, len(gaps), 5)
    np.savez(tmp_path / "gaps.npz", **arrays | {"Vy": gaps})
    np.savez(tmp_path / "when.npz", **arrays | {"Vy": gaps[when], "when": when})
    for name in ("gaps", "when"):
        found = Plasticity(str(tmp_path / f"{name}.npz")).load().recording
        assert found.y.shape[1] == 5
        assert infer_s(*found).s == pytest.approx(0.5, abs=0.05)


def broken(**changes):
    """Arrays of a recording, with changes; None takes one out."""
    rng = np.random.default_rng(0)
    arrays = {
        "y": rng.random((9, 3)),
        "z": rng.random((9, 2)),
        "a": rng.random((9, 2)),
        "Vy": rng.random((10, 3, 2)),
    }
    return {name: values for name, values in (arrays | changes).items() if values is not None}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"a": None}, "must hold y, z, a, Vy (got Vy, y, z)"),
        ({"z": np.ones((8, 2))}, "y, z and a must have one row per sample"),
        (
            {"Vy": np.ones((10, 2, 3))},
            "Vy must be (rows, 3, 2), with a weight for each input of y and neuron of z",
        ),
        ({"Vy": np.ones((4, 3, 2))}, "Vy must have a row before each of 9 samples"),
        ({"y": np.full((9, 3), np.inf)}, "y must be finite numbers"),
        ({"y": np.array(["a"] * 9)}, "y must be real numbers (got <U1)"),
        ({"z": np.ones(9)}, "z must have two axes, and not be empty (got shape (9,))"),
        (
            {"Vy": np.ones((3, 3, 2)), "when": np.array([0, 1, 7])},
            "when: must be at least two sample counts in equal",
        ),
    ],
)
def test_incomplete_files_are_refused_in_a_sentence(changes, sentence, tmp_path):
    np.savez(tmp_path / "mine.npz", **broken(**changes))
    with pytest.raises(DataError) as error:
        Plasticity(str(tmp_path / "mine.npz")).load()
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("suffix", ["npz", "nwb", "txt"])
def test_damaged_files_are_refused_in_a_sentence(suffix, run, tmp_path, capsys):
    path = tmp_path / f"mine.{suffix}"
    for content in (b"", b"no such thing", b"\x89HDF\r\n\x1a\n" + bytes(200)):
        path.write_bytes(content)
        assert main.run(["distal", "--data", str(path), "--out", str(tmp_path / "out")]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"biorrr: {path}: ")
        assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_recording_is_answered_with_a_verdict(run, tmp_path, capsys):
    np.savez(tmp_path / "record.npz", **as_arrays(run))
    out = tmp_path / "out"
    assert main.run(["distal", "--data", str(tmp_path / "record.npz"), "--out", str(out)]) == 0
    assert "verdict        s = 0.500" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        "config.toml",
        "summary.json",
        "inventory.json",
    }
    assert json.loads((out / "summary.json").read_text())["s"] == pytest.approx(0.5, abs=1e-6)
    # By this `resume` and `--config` know whether the recording has changed.
    assert Plasticity(str(tmp_path / "record.npz")).checksum() in (out / "config.toml").read_text()


def test_a_plan_is_answered_in_a_sentence(tmp_path, capsys):
    args = [
        "--synapses",
        "5",
        "--samples",
        "4",
        "--weight-noise",
        "0.002",
        "--every",
        "10",
        "--experiments",
        "10",
    ]
    assert main.run(["distal", "--plan", *args, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert (
        "5 synapses on 1 neuron, 4 changes of each, weights known to 0.2%, observed at every 10th"
        in printed
    )
    assert "and it takes 95%" in printed
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["suffices"] is False


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--plan", "--data", "x.npz"], "plan: infers nothing from a record"),
        (["--calcium", "3"], "calcium: is chosen of a file; name it with --data"),
        (
            ["--known-noise", "0.1"],
            "known-noise: is of a record of distal plasticity; name it with --data",
        ),
        (["--weight-noise", "20"], "weight-noise: must lie in [0, 0.9] (got 20.0)"),
    ],
)
def test_mistyped(args, sentence, capsys):
    assert main.run(["distal", *args]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
def test_command_fills_a_folder(tmp_path, capsys):
    out = tmp_path / "out"
    args = ["--task", DATA, "--engine", "cpp", "--seeds", "1", "-s", "0.5", "--cells", "2"]
    assert main.run(["distal", *args, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "with weaker output (a > z)" in printed
    assert "noisy cells change as the rule says" in printed
    figures = {"protocols.png", "inference.png"}
    files = {"config.toml", "run.nc", "summary.json", "inventory.json"}
    assert {path.name for path in out.iterdir()} == files | figures
