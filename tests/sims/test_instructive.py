"""``biorrr instructive``: circuits and controls, every claim that can fail, and recordings of one's
own.
"""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import h5py
import numpy as np
import pytest

from biorrr.circuit.engines.compiler import find_compiler
from biorrr.sims import main
from biorrr.sims.data import DataError, Dendrites, load
from biorrr.sims.experiments.instructive import InstructiveSettings
from biorrr.sims.experiments.instructive.answer_rates import (
    BOUNDS,
    FALSE_POSITIVE_RATE,
    join,
    judge,
    summary,
)
from biorrr.sims.experiments.instructive.imaged_circuits import (
    CIRCUIT,
    DENDRITES,
    SHUFFLED,
    SOMA,
    UNRELATED,
    Learner,
    observe,
)
from biorrr.sims.experiments.instructive.own_recording import ASKED
from biorrr.sims.experiments.instructive.simulated_experiments import NOISES, ask_controls
from biorrr.sims.lab import Job, Quantity
from biorrr.sims.lab.training import default_ridge
from biorrr.sims.lab.folder.checkpoints import NOT_KEPT

WRONG = Path(__file__).parent / "wrong_circuits.py"


def quantities(**changed):
    """Return a summary in which all is as it must be, but for what is changed."""
    good = {}
    for dendrite in DENDRITES:
        for question in ASKED:
            must = dendrite.must.get(question)
            share, bound = {True: 1.0, None: 0.5, False: 0.05}[must], BOUNDS.get(must)
            name = f"{dendrite.name}_{question}_yes"
            good[name] = Quantity(name, changed.get(name, share), "%", bound=bound)
    for question in ASKED:
        name = f"error_rate_{question}"
        good[name] = Quantity(name, changed.get(name, 0.05), "%", bound=FALSE_POSITIVE_RATE)
    return good


def verdicts(**changed):
    return {claim.text: claim.holds for claim in judge(quantities(**changed))}


@pytest.mark.parametrize(
    ("wrong", "caught"),
    [
        ({"circuit_specific_yes": 0.8}, "a circuit that learns: the answer is yes"),
        ({"circuit_predictive_yes": np.nan}, "a circuit that learns: the answer is yes"),
        ({"broadcast_signed_yes": 0.2}, "a scalar broadcast signal: the answer is no"),
        ({"broadcast_informative_yes": 0.2}, "a scalar broadcast signal: the answer is yes"),
        ({"shuffled_predictive_yes": 0.2}, "plateaus shuffled across neurons: the answer is no"),
        (
            {"soma_informative_yes": 0.2},
            "dendrites that repeat the soma, with noise: the answer is no",
        ),
        (
            {"error_rate_specific": 0.1},
            "the false-positive rate of (a) specific",
        ),
        (
            {"error_rate_predictive": 0.09},
            "the false-positive rate of (d) predictive",
        ),
    ],
)
def test_every_claim_can_fail(wrong, caught):
    assert set(verdicts().values()) == {True}
    failed = [text for text, holds in verdicts(**wrong).items() if not holds]
    assert len(failed) == 1
    assert failed[0].startswith(caught)


def test_what_dendrites_carry():
    """Each control differs from the circuit in the one thing it is about."""
    rng = np.random.default_rng(0)
    z, plateau, other = rng.standard_normal((3, 400, 5))
    learner = Learner(
        z,
        plateau,
        rng.standard_normal((400, 3)),
        rng.standard_normal((5, 3)),
        rng.integers(4, size=400),
    )
    unrelated = Learner(z, other, learner.error, learner.role, learner.stimulus)

    def correlation(dendrite, signal):
        imaged = observe(learner, dendrite, 0.0, 1e-9, (0, 0), unrelated)
        seen = imaged.dendrite[:: len(imaged.dendrite) // 400]
        return np.diag(np.corrcoef(seen.T, signal.T)[:5, 5:])

    assert (correlation(CIRCUIT, plateau) > 0.6).all()
    assert (correlation(SOMA, z) > 0.999).all()
    assert (np.abs(correlation(SHUFFLED, plateau)) < 0.2).all()
    assert (correlation(SHUFFLED, np.roll(plateau, 1, axis=1)) > 0.6).all()
    assert (correlation(UNRELATED, other) > 0.6).all()


def test_rates_are_counted_over_experiments():
    """Two experiments: yes and no under the null hypothesis; p-values on either side of 5 %."""
    answer = np.zeros((len(DENDRITES), len(ASKED), 4))
    answer[..., 3] = 0.2
    answer[1, 2] = 0.3, 0.1, 0.5, 0.01
    short = np.zeros((len(NOISES), len(ASKED)))
    short[1, 3] = 1
    results = join(
        InstructiveSettings(experiments=2),
        null=[{"yes": np.ones(len(ASKED))}, {"yes": np.zeros(len(ASKED))}],
        controls=[
            {"answer": answer, "power": short},
            {"answer": np.where(answer == 0.01, 0.06, answer), "power": np.zeros_like(short)},
        ],
    )
    found = {one.name: one.value for one in summary(InstructiveSettings(experiments=2), results)}
    assert found["broadcast_signed_yes"] == 0.5
    assert found["broadcast_signed_effect"] == pytest.approx(0.3)
    assert found["circuit_signed_yes"] == found["broadcast_specific_yes"] == 0
    assert found["error_rate_specific"] == found["error_rate_max"] == 0.5
    np.testing.assert_array_equal(results["power"].sel(noise=1.0), [0, 0, 0, 0.5])
    assert float(results["power"].sum()) == 0.5


def test_a_withheld_answer_is_no_yes_and_a_diverged_circuit_gives_no_share():
    """An experiment that is left out of its share would raise it."""
    answer = np.zeros((len(DENDRITES), len(ASKED), 4))  # p = 0: yes
    withheld, diverged = answer.copy(), np.full_like(answer, np.nan)
    withheld[0, 1] = np.nan
    power = np.zeros((len(NOISES), len(ASKED)))
    said = {"answer": answer, "power": power}

    def shares(other, ran):
        controls = [said, {"answer": other, "power": power + ran}]
        null = [{"yes": np.zeros(len(ASKED))}, {"yes": np.full(len(ASKED), ran)}]
        found = summary(
            InstructiveSettings(experiments=2),
            join(InstructiveSettings(experiments=2), null, controls),
        )
        return {one.name: one.value for one in found}

    found = shares(withheld, 0)
    assert found["circuit_informative_yes"] == 0.5
    assert found["circuit_specific_yes"] == found["broadcast_informative_yes"] == 1
    found = shares(diverged, np.nan)
    assert np.isnan(
        [found["circuit_specific_yes"], found["soma_signed_yes"], found["error_rate_signed"]]
    ).all()


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
@pytest.mark.parametrize(
    ("circuit", "learns"),
    [(None, True), (f"{WRONG}:frozen_q", False), (f"{WRONG}:shuffled_y", True)],
)
def test_circuits_are_told_from_wrong_ones(circuit, learns):
    """Instruction that is shuffled teaches something else, but by the same signals: it is
    instruction all the same.
    """
    data = load("digits")
    job = Job(
        InstructiveSettings(circuit=circuit, ridge=default_ridge(data), engine="cpp"),
        "asked",
        NOT_KEPT,
    )
    found = np.stack([ask_controls(job, seed, data)["answer"][0, :, 3] for seed in range(200, 220)])
    # The claim asks for yes in 90 % of experiments. A circuit that says so gets fewer than 14 of 20
    # in 0.24 % of tries, 2 % over both circuits and four questions; one that says yes in 15 % gets
    # 14 in 5e-8. The bound was fixed before these seeds were looked at. Others, 100 to 139: (a) to
    # (d) 38, 38, 38, 40 of 40 for the circuit (two withheld), 40, 40, 40, 39 with shuffled
    # instruction, 39, 39, 17, 2 with frozen Q.
    assert ((found <= 0.05).sum(axis=0) >= 14).all() == learns


# -- recordings ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arrays():
    """Five neurons whose dendrites carry the error weighted by their role; 1200 frames."""
    rng = np.random.default_rng(0)
    calcium = np.apply_along_axis(
        np.convolve, 0, rng.standard_normal((1200, 8)), np.exp(-np.arange(20) / 5), "same"
    )
    role = rng.standard_normal((5, 3))
    soma, error = calcium[:, :5], calcium[:, 5:]
    dendrite = soma + error @ role.T + rng.standard_normal(soma.shape)
    return {
        "soma": soma + rng.standard_normal(soma.shape),
        "dendrite": dendrite,
        "rate": 10.0,
        "error": error,
        "role": role,
        "condition": np.repeat(np.arange(240) % 8, 5),
    }


@pytest.fixture(scope="module")
def npz(arrays, tmp_path_factory):
    path = tmp_path_factory.mktemp("dendrites") / "mine.npz"
    np.savez(path, **arrays)
    return path


@pytest.fixture(scope="module")
def nwb(arrays, tmp_path_factory):
    pynwb = pytest.importorskip("pynwb", reason="needs the extra nwb")
    from pynwb.ophys import Fluorescence, ImageSegmentation, OpticalChannel

    file = pynwb.NWBFile(
        session_description="Made up.",
        identifier="x",
        session_start_time=datetime(2024, 1, 1, tzinfo=UTC),
    )
    device = file.create_device(name="microscope")
    module = file.create_processing_module("ophys", "Made up.")
    fluorescence = Fluorescence(name="Fluorescence")
    module.add(fluorescence)
    for name, values in (("Soma", arrays["soma"]), ("ApicalTuft", arrays["dendrite"])):
        plane = file.create_imaging_plane(
            name=f"plane{name}",
            optical_channel=OpticalChannel(name="green", description="-", emission_lambda=500.0),
            description="-",
            device=device,
            excitation_lambda=900.0,
            indicator="GCaMP",
            location="RSC",
            imaging_rate=10.0,
        )
        segmentation = ImageSegmentation(name=f"Segmentation{name}")
        module.add(segmentation)
        table = segmentation.create_plane_segmentation(
            name=f"Rois{name}", description="-", imaging_plane=plane
        )
        table.add_column(name="causal_role", description="Sign of the drive.")
        for i in range(5):
            table.add_roi(pixel_mask=[(i, i, 1.0)], causal_role=float(arrays["role"][i, 0]))
        rois = table.create_roi_table_region(region=[*range(5)], description="-")
        fluorescence.create_roi_response_series(
            name=name, data=values, rois=rois, unit="dF/F", rate=10.0, starting_time=3.0
        )
    file.add_acquisition(
        pynwb.TimeSeries(
            name="cursor_error",
            data=arrays["error"][:, 0],
            unit="deg",
            timestamps=3.0 + np.arange(1200) / 10,
        )
    )
    file.add_trial_column("kind", "Which target.")
    for start in range(0, 1200, 5):
        file.add_trial(
            start_time=3.0 + start / 10,
            stop_time=3.0 + start / 10 + 0.4,
            kind=int(arrays["condition"][start]),
        )
    path = tmp_path_factory.mktemp("nwb") / "mine.nwb"
    with pynwb.NWBHDF5IO(path, "w") as io:
        io.write(file)
    return path


def test_a_recording_is_analysed(npz, tmp_path, capsys):
    out = tmp_path / "out"
    assert main.run(["instructive", "--data", str(npz), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "(b) informative of the error  yes, effect +0." in printed
    assert "(c) signed by causal role     yes" in printed
    assert "(d) predictive of change      no" in printed
    assert "has not seen those data" in printed
    files = {"config.toml", "run.nc", "summary.json", "inventory.json", "neurons.png"}
    assert {path.name for path in out.iterdir()} == files
    summary = json.loads((out / "summary.json").read_text())
    assert summary["signed_yes"] is True
    assert summary["signed_low"] < summary["signed_effect"] < summary["signed_high"]


def test_without_task_only_two_questions_are_asked(arrays, tmp_path, capsys):
    np.savez(tmp_path / "bare.npz", **{name: arrays[name] for name in ("soma", "dendrite", "rate")})
    assert (
        main.run(
            ["instructive", "--data", str(tmp_path / "bare.npz"), "--out", str(tmp_path / "out")]
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert "known: nothing of the task" in printed
    assert "(b) informative of the error  cannot be asked: the task’s error is not known" in printed
    assert "(a) specific to the neuron    yes" in printed


NAMES = {"dendrite": "ApicalTuft", "error": "cursor_error", "role": "causal_role"}


def test_every_format_says_the_same(arrays, npz, nwb):
    whole = Dendrites(str(npz)).load()
    np.testing.assert_array_equal(whole.recording.soma, arrays["soma"])
    held = Dendrites(str(nwb), condition="kind", **NAMES).load()
    np.testing.assert_array_equal(held.recording.soma, arrays["soma"])
    np.testing.assert_array_equal(held.recording.dendrite, arrays["dendrite"])
    np.testing.assert_array_equal(held.recording.error[:, 0], arrays["error"][:, 0])
    np.testing.assert_array_equal(held.recording.role[:, 0], arrays["role"][:, 0])
    condition = held.recording.condition
    assert (condition[4::5] == -1).all()  # between trials
    np.testing.assert_array_equal(condition[::5], arrays["condition"][::5])
    assert held.checksum not in (whole.checksum, Dendrites(str(nwb), **NAMES).load().checksum)
    assert held.used["soma"] == "processing/ophys/Fluorescence/Soma"
    assert held.used["role"] == "RoisSoma.causal_role"
    assert held.used["condition"] == "kind, every 5 frames"
    assert held.recording.period == 5  # trials come at a fixed pace


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"soma": None},
            r"must hold soma, dendrite, rate \(got condition, dendrite, error, rate, role\)",
        ),
        ({"rate": np.arange(3.0)}, "rate must have one number"),
        ({"rate": -1.0}, "rate: must be a positive number"),
        ({"dendrite": np.ones((7, 5))}, "dendrite: must have the shape of soma"),
        ({"error": np.ones(7)}, "error: must have one row per frame, 1200"),
        ({"role": np.ones(4)}, "role: must have one row per neuron"),
        ({"soma": np.full((1200, 5), np.inf)}, "soma: must be finite"),
    ],
)
def test_an_incomplete_recording_is_one_sentence(arrays, change, sentence, tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(
        path, **{name: value for name, value in (arrays | change).items() if value is not None}
    )
    with pytest.raises(DataError, match=sentence):
        Dendrites(str(path)).load()
    assert main.run(["instructive", "--data", str(path)]) == 1


def test_damaged_and_foreign_files_are_one_sentence(npz, nwb, tmp_path, capsys):
    whole = {".npz": npz.read_bytes(), ".nwb": nwb.read_bytes()}
    for suffix, content in whole.items():
        (tmp_path / f"cut{suffix}").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.nwb").write_text("not a file of numbers")
    (tmp_path / "x.csv").write_text("1,2\n3,4\n")
    for name, sentence in {
        "cut.npz": "not a readable NumPy file",
        "cut.nwb": "perhaps damaged or truncated",
        "text.nwb": "not a readable HDF5 file",
        "no.npz": "no such file",
        "x.csv": "not a readable NumPy file",
    }.items():
        assert main.run(["instructive", "--data", str(tmp_path / name)]) == 1
        err = capsys.readouterr().err
        assert sentence in err
        assert err.count("\n") == 1
    with h5py.File(tmp_path / "link.nwb", "w") as file:
        file["soma"] = h5py.ExternalLink(str(npz), "/")
    with pytest.raises(DataError, match="all of it must be held in the file itself"):
        Dendrites(str(tmp_path / "link.nwb")).load()


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            {"soma": "Axon"},
            "soma: must be one series of .* called 'Axon' .*got 0.; name one of .*Soma",
        ),
        (
            {"dendrite": None},
            "dendrite: must be one series of .* called 'dend' .*got 0.; name one of .*ApicalTuft",
        ),
        (
            {"error": "reward"},
            "error: must be one series of .* called 'reward' .*name one of .*cursor_error",
        ),
        ({"role": "colour"}, "role: no column 'colour' in RoisSoma .*causal_role"),
        ({"condition": "colour"}, "condition: no column 'colour' in trials"),
    ],
)
def test_wrong_names_in_an_nwb_file(names, sentence, nwb):
    with pytest.raises(DataError, match=sentence):
        Dendrites(str(nwb), **NAMES | names).load()


@pytest.mark.parametrize(("late", "heard"), [(1.0, "4 to 123.9 s"), (-1.0, "2 to 121.9 s")])
def test_an_error_that_does_not_cover_the_recording(late, heard, nwb, tmp_path):
    path = shutil.copy(nwb, tmp_path / "late.nwb")
    with h5py.File(path, "a") as file:
        file["acquisition/cursor_error/timestamps"][...] += late
    with pytest.raises(
        DataError, match=rf"cursor_error must cover the recording, 3 to 122.9 s .got {heard}"
    ):
        Dendrites(str(path), **NAMES).load()


def test_mistyped(npz, capsys):
    assert main.run(["instructive", "--soma", "Soma"]) == 2
    assert "soma: is chosen of a file; name it with --data" in capsys.readouterr().err
    assert main.run(["instructive", "--data", str(npz), "--soma", "Soma"]) == 1
    assert "soma: applies to NWB files only" in capsys.readouterr().err
    assert main.run(["instructive", "-k", "2"]) == 2
    assert "k: must be at least 4 (got 2)" in capsys.readouterr().err


@pytest.mark.slow
def test_command_fills_a_folder(tmp_path, capsys):
    out = tmp_path / "out"
    assert main.run(["instructive", "--quick", "--trials", "600", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "says yes: shuffled" in printed
    assert "not judged" in printed
    files = {"config.toml", "run.nc", "summary.json", "inventory.json", "answers.png", "power.png"}
    assert {path.name for path in out.iterdir()} == files
