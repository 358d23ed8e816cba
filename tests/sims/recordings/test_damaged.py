"""Damaged and hand-made bad files: a right result or one sentence that names the file, and never
anything else.
"""

import os
import time
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest

from biorrr.errors import InputError
from biorrr.sims import main
from biorrr.sims.data import Data, DataError, load
from biorrr.sims.data.look import describe
from biorrr.sims.experiments import find_experiment
from biorrr.sims.lab.lab import Lab
from biorrr.sims.lab.settings import resolve

LONGEST = 10.0  # seconds


def findings(name, path, **options):
    """Return what an experiment finds in a file, without a run folder and without figures."""
    experiment = find_experiment(name)
    return Lab(
        experiment, resolve(experiment.settings, given={"data": str(path)} | options)
    ).findings()


AREAS = {"source": "V1", "target": "V2", "window": (0, 0.5), "condition": "kind"}
ROIS = {"series": "processing/ophys", "source": "soma", "target": "dendrite"}
EXACT = {"simulation": False, "folds": 2, "ranks": (1,), "shuffles": 1, "draws": 1, "lags": 1}
COMMANDS = {
    "communication": lambda path: findings("communication", path, **AREAS, **EXACT),
    "fluorescence": lambda path: findings("communication", path, **AREAS | ROIS, **EXACT),
    "data --check": lambda path: describe(Data.made_from(path)),
    "learn": load,
}


def read_all(path, commands=tuple(COMMANDS)):
    """Give a file to every command that reads one, or to some; returns what each said.

    Fails on anything but a result or one sentence of ours within ten seconds: warnings of NumPy are
    failures too.
    """
    said = {}
    for name in commands:
        begun = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                COMMANDS[name](path)
            said[name] = ""
        except InputError as error:
            said[name] = str(error)
            assert "\n" not in said[name]
        assert time.monotonic() - begun < LONGEST, name
    return said


def test_the_undamaged_file_can_be_read(tmp_path, write_session):
    said = read_all(write_session(tmp_path / "good.nwb"))
    assert {name for name, sentence in said.items() if not sentence} == {
        "communication",
        "fluorescence",
        "data --check",
    }
    assert said["learn"].startswith("source: choose an area of ")


# -- hand-made bad files ---------------------------------------------------------------------------


def put(name, value, **attributes):
    def change(file):
        if name in file:
            del file[name]
        file[name] = value(file) if callable(value) else value
        for key, one in attributes.items():
            file[name].attrs[key] = one(file) if callable(one) else one

    return change


def drop(*names):
    def change(file):
        for name in names:
            del file[name]

    return change


def attribute(name, key, value):
    def change(file):
        file[name].attrs[key] = value

    return change


def as_group(name):
    def change(file):
        del file[name]
        file.create_group(name)

    return change


INDEX, STARTS, SOMA = (
    "units/spike_times_index",
    "intervals/trials/start_time",
    "processing/ophys/soma",
)


def values(name, value):
    """Exchange the values of a dataset and keep its attributes."""

    def change(file):
        kept = dict(file[name].attrs)
        put(name, value, **kept)(file)

    return change


def claim(file):
    kept = dict(file[SOMA + "/data"].attrs)
    del file[SOMA + "/data"]
    file.create_dataset(SOMA + "/data", (10**7, 10**4), "f8", chunks=(10, 10)).attrs.update(kept)


# What is wrong, who must refuse it, and a part of the sentence.
BAD = {
    "index descends": (
        values(INDEX, [1000, 3000, 2000, 4000, 5000, 6000]),
        "communication",
        "spike_times_index must ascend, from 0 to at most 6000 entries",
    ),
    "index negative": (values(INDEX, [-5, 1, 2, 3, 4, 5]), "communication", "must ascend"),
    "index short": (values(INDEX, [600, 1200]), "communication", "not a readable NWB file"),
    "index beyond": (values(INDEX, 1100 * np.arange(1, 7)), "communication", "6000 entries"),
    "index text": (values(INDEX, [b"a"] * 6), "communication", "not a readable NWB file"),
    "index missing": (drop(INDEX), "communication", "not a readable NWB file"),
    "spikes text": (values("units/spike_times", [b"a"] * 6000), "communication", "cannot be read"),
    "spikes a loop": (
        put("units/spike_times", h5py.SoftLink("/units/spike_times")),
        "communication",
        "not a readable NWB file",
    ),
    "units a dataset": (put("units", np.ones(3)), "communication", "no units in area 'V1'"),
    "areas missing": (drop("units/location"), "communication", "not a readable NWB file"),
    "starts NaN": (
        values(STARTS, np.full(60, np.nan)),
        "communication",
        "start_time and stop_time of trials must hold times",
    ),
    "starts text": (values(STARTS, [b"now"] * 60), "communication", "must hold times"),
    "starts a group": (as_group(STARTS), "communication", "not a readable NWB file"),
    "an external link": (
        put("more", h5py.ExternalLink("other.h5", "/")),
        "communication",
        "held in the file itself",
    ),
    "rois negative": (values(SOMA + "/rois", [-1, 0, 1]), "fluorescence", "rows of somas, 0 to 2"),
    "rois beyond": (values(SOMA + "/rois", [0, 1, 7]), "fluorescence", "rows of somas, 0 to 2"),
    "rois of fractions": (values(SOMA + "/rois", [0.5, 1, 2]), "fluorescence", "rows of somas"),
    "rois too few": (values(SOMA + "/rois", [0, 1]), "fluorescence", "one column per ROI"),
    "rate 0": (
        attribute(SOMA + "/starting_time", "rate", 0.0),
        "fluorescence",
        "soma",
    ),
    "rate text": (attribute(SOMA + "/starting_time", "rate", "ten"), "fluorescence", "soma"),
    "start infinite": (values(SOMA + "/starting_time", np.inf), "fluorescence", "a finite time"),
    "no times": (drop(SOMA + "/starting_time"), "fluorescence", "soma"),
    "data a claim": (claim, "fluorescence", "must hold all numbers it declares"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory, write_session):
    """Bytes of the undamaged file."""
    return write_session(tmp_path_factory.mktemp("whole") / "whole.nwb").read_bytes()


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["one", "all"]
)
@pytest.mark.parametrize("what", BAD)
def test_hand_made_bad_files(what, every, whole, tmp_path):
    """The command that needs the damaged object refuses it; in the slow test all commands read the
    file.
    """
    change, reader, sentence = BAD[what]
    path = tmp_path / "bad.nwb"
    path.write_bytes(whole)
    with h5py.File(path, "a") as file:
        change(file)
    said = read_all(path, COMMANDS if every else [reader])
    assert sentence in said[reader]
    assert str(path) in said[reader]


def test_a_command_says_it_in_one_sentence(tmp_path, capsys, write_session):
    path = write_session(tmp_path / "bad.nwb")
    with h5py.File(path, "a") as file:
        BAD["index descends"][0](file)
    assert main.run(["communication", "--data", str(path), "--source", "V1", "--target", "V2"]) == 1
    assert capsys.readouterr().err.startswith(
        f"biorrr: {path}: spike_times_index must ascend, from 0 to at most 6000 entries"
    )


# -- random damage ---------------------------------------------------------------------------------


def damaged(content, rng):
    """Bytes with random ones in places, a stretch of zeros, their end cut off, or a stretch copied
    elsewhere.
    """
    content = bytearray(content)

    def place():
        return int(rng.integers(len(content)))

    kind = rng.integers(4)
    if kind == 0:
        for _ in range(rng.integers(1, 30)):
            content[place()] = int(rng.integers(256))
    elif kind == 1:
        start = place()
        content[start : start + 200] = bytes(len(content[start : start + 200]))
    elif kind == 2:
        del content[place() :]
    else:
        start, end = place(), place()
        piece = content[start : start + 64]
        content[end : end + len(piece)] = piece
    return bytes(content)


@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 500), marks=pytest.mark.slow)], ids=["few", "500"]
)
def test_randomly_damaged_nwb(seeds, whole, tmp_path):
    for seed in seeds:
        path = tmp_path / f"damaged-{seed}.nwb"
        path.write_bytes(damaged(whole, np.random.default_rng([7, seed])))
        read_all(path)
        path.unlink()


NPZ = {
    "activity": np.random.default_rng(0).poisson(3, (12, 4, 6)),
    "areas": np.array(["V1"] * 3 + ["V2"] * 3),
}
WRONG = (
    np.zeros(0),
    np.ones(3),
    np.ones((2, 2, 2, 2)),
    np.array("text"),
    np.array(["a", "b"]),
    np.full((12, 4, 6), np.nan),
    np.array(1 + 2j),
    np.datetime64("2024-01-01"),
    np.zeros(4, dtype=[("a", "f8")]),
    np.array(-1.0),
    np.array(np.inf),
)


@pytest.mark.parametrize("name", [*NPZ, "bin", "conditions", "counts"])
def test_bad_npz_recordings(name, tmp_path):
    for number, wrong in enumerate(WRONG):
        path = tmp_path / f"bad-{number}.npz"
        np.savez(path, **NPZ | {name: wrong})
        read_all(path)


@pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(10, 100), marks=pytest.mark.slow)], ids=["few", "100"]
)
def test_randomly_damaged_npz(seeds, tmp_path):
    np.savez_compressed(tmp_path / "whole.npz", **NPZ)
    whole = (tmp_path / "whole.npz").read_bytes()
    for seed in seeds:
        path = tmp_path / f"damaged-{seed}.npz"
        path.write_bytes(damaged(whole, np.random.default_rng([9, seed])))
        read_all(path)


def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.nwb")
    os.mkfifo(tmp_path / "X.npy")
    for sentence in read_all(tmp_path / "pipe.nwb").values():
        assert "pipe.nwb: must be a regular file (got a pipe, socket or device)" in sentence
    for sentence in read_all(Path("/dev/zero"), ["data --check", "learn"]).values():
        assert "/dev/zero: must be a regular file" in sentence
    with pytest.raises(DataError, match=r"X.npy: must be a regular file"):
        load(tmp_path / "X.npy", tmp_path / "pipe.nwb")
