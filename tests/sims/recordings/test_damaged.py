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
from biorrr.sims.data import DataError, load
from biorrr.sims.experiments import find_experiment
from biorrr.sims.lab.lab import Lab
from biorrr.sims.lab.settings import resolve
from biorrr.sims.recordings.contents import describe

LONGEST = 10.0  # seconds


def base(path):
    """An NWB file with spikes of two areas, trials, and fluorescence of two areas with ROIs."""
    rng = np.random.default_rng(0)

    def series(file, name, values, kind="TimeSeries"):
        group = file.create_group(name)
        group.attrs["neurodata_type"] = kind
        group["data"], group["starting_time"] = values, 0.0
        group["starting_time"].attrs["rate"] = 10.0
        return group

    with h5py.File(path, "w") as file:
        file.attrs["nwb_version"] = "2.6.0"
        units, trials = file.create_group("units"), file.create_group("intervals/trials")
        units["id"] = np.arange(6)
        units["spike_times"] = np.tile(np.sort(rng.uniform(0, 62, 600)), 6) + rng.uniform(
            0, 1e-3, 3600
        )
        units["spike_times_index"] = 600 * np.arange(1, 7)
        units["location"] = [b"V1"] * 3 + [b"V2"] * 3
        units.attrs["colnames"] = ["spike_times", "location"]
        trials["id"], trials["start_time"] = np.arange(60), np.arange(60.0)
        trials["stop_time"], trials["kind"] = np.arange(60.0) + 0.9, np.arange(60) % 3
        trials.attrs["colnames"] = ["start_time", "stop_time", "kind"]
        planes = file.create_group("processing/ophys/planes")
        planes["id"] = np.arange(3)
        planes.attrs["colnames"] = np.zeros(0, "S1")
        for name in ("soma", "dendrite"):
            group = series(
                file, f"processing/ophys/{name}", rng.standard_normal((600, 3)), "RoiResponseSeries"
            )
            group["rois"] = np.arange(3)
            group["rois"].attrs["table"] = planes.ref
    return path


def findings(name, path, **options):
    """Return what an experiment finds in a file, without a run folder and without figures."""
    experiment = find_experiment(name)
    return Lab(
        experiment, resolve(experiment.settings, given={"data": str(path)} | options)
    ).findings()


AREAS = {"source": "V1", "target": "V2", "window": (0, 0.5), "condition": "kind"}
ROIS = {"series": "ophys", "source": "soma", "target": "dendrite"}
EXACT = {"simulation": False, "folds": 2, "ranks": (1,), "shuffles": 1, "draws": 1, "lags": 1}
COMMANDS = {
    "communication": lambda path: findings("communication", path, **AREAS, **EXACT),
    "fluorescence": lambda path: findings("communication", path, **AREAS | ROIS, **EXACT),
    "data --check": describe,
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


def test_the_undamaged_file_can_be_read(tmp_path):
    said = read_all(base(tmp_path / "good.nwb"))
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


COMPOUND = np.zeros(60, dtype=[("a", "f8"), ("b", "i4")])
INDEX, STARTS, SOMA = (
    "units/spike_times_index",
    "intervals/trials/start_time",
    "processing/ophys/soma",
)
PLANES = {"table": lambda file: file["processing/ophys/planes"].ref}
# What is wrong, who must refuse it, and a part of the sentence.
BAD = {
    "index descends": (
        put(INDEX, [600, 1800, 1200, 2400, 3000, 3600]),
        "communication",
        "not ascending",
    ),
    "index negative": (
        put(INDEX, [-5, 600, 1200, 1800, 2400, 3000]),
        "communication",
        "not ascending",
    ),
    "index short": (put(INDEX, [600, 1200]), "communication", "an end for each of 6 rows"),
    "index beyond": (put(INDEX, 700 * np.arange(1, 7)), "communication", "up to 3600 entries"),
    "index missing": (
        drop(INDEX),
        "communication",
        "/units/spike_times_index must be a dataset (got nothing)",
    ),
    "index text": (put(INDEX, [b"a"] * 6), "communication", "must be a list of numbers"),
    "index a group": (as_group(INDEX), "communication", "must be a dataset (got a group)"),
    "spikes two-dimensional": (
        put("units/spike_times", np.ones((60, 60))),
        "communication",
        "must be a list of times",
    ),
    "spikes compound": (
        put("units/spike_times", COMPOUND),
        "communication",
        "must be a list of times",
    ),
    "spikes a loop": (
        put("units/spike_times", h5py.SoftLink("/units/spike_times")),
        "communication",
        "cannot be read",
    ),
    "spikes dangling": (
        put("units/spike_times", h5py.SoftLink("/nowhere")),
        "communication",
        "cannot be read",
    ),
    "units a dataset": (
        put("units", np.ones(3)),
        "communication",
        "/units must be a group (got a dataset)",
    ),
    "units without id": (
        drop("units/id"),
        "communication",
        "/units/id must be a dataset (got nothing)",
    ),
    "id two-dimensional": (put("units/id", np.ones((6, 2))), "communication", "one entry per row"),
    "id scalar": (put("units/id", 3), "communication", "one entry per row"),
    "areas compound": (
        put("units/location", COMPOUND[:6]),
        "communication",
        "holds the areas of units",
    ),
    "areas of references": (
        put("units/location", lambda f: np.array([f["units"].ref] * 6, h5py.ref_dtype)),
        "communication",
        "holds the areas of units",
    ),
    "colnames a number": (
        attribute("units", "colnames", 7),
        "communication",
        "holds the areas of units",
    ),
    "trials without id": (
        drop("intervals/trials/id"),
        "communication",
        "/trials/id must be a dataset",
    ),
    "starts NaN": (
        put(STARTS, np.full(60, np.nan)),
        "communication",
        "start_time of trials must hold times",
    ),
    "starts text": (
        put(STARTS, [b"now"] * 60),
        "communication",
        "start_time of trials must be numbers",
    ),
    "starts two-dimensional": (
        put(STARTS, np.ones((60, 2))),
        "communication",
        "one number or text for each of 60",
    ),
    "starts compound": (
        put(STARTS, COMPOUND),
        "communication",
        "one number or text for each of 60",
    ),
    "starts a group": (as_group(STARTS), "communication", "must hold a table of trials"),
    "intervals a dataset": (put("intervals", 1.0), "communication", "/intervals must be a group"),
    "no spikes": (put("units/spike_times", np.zeros(0)), "communication", "up to 0 entries"),
    "an external link": (
        put("more", h5py.ExternalLink("other.h5", "/")),
        "communication",
        "held in the file itself",
    ),
    "rois of fractions": (put(SOMA + "/rois", [0.5, 1, 2], **PLANES), "fluorescence", "(got 0.5)"),
    "rois point nowhere": (put(SOMA + "/rois", [0, 1, 2]), "fluorescence", "must lead to a group"),
    "rois point at text": (
        put(SOMA + "/rois", [0, 1, 2], table="x"),
        "fluorescence",
        "must lead to",
    ),
    "rois of a series negative": (
        put(SOMA + "/rois", [-1, 0, 1], **PLANES),
        "fluorescence",
        "0 to 2 (got -1)",
    ),
    "rois of a series beyond": (
        put(SOMA + "/rois", [0, 1, 7], **PLANES),
        "fluorescence",
        "(got 7)",
    ),
    "rate missing": (
        put(SOMA + "/starting_time", 0.0),
        "fluorescence",
        "a positive rate (got 0 s, rate nan",
    ),
    "rate 0": (attribute(SOMA + "/starting_time", "rate", 0.0), "fluorescence", "a positive rate"),
    "rate negative": (
        attribute(SOMA + "/starting_time", "rate", -3.0),
        "fluorescence",
        "a positive rate",
    ),
    "rate text": (
        attribute(SOMA + "/starting_time", "rate", "ten"),
        "fluorescence",
        "attribute rate of",
    ),
    "rate two numbers": (
        attribute(SOMA + "/starting_time", "rate", [1.0, 2.0]),
        "fluorescence",
        "rate of",
    ),
    "start infinite": (
        put(SOMA + "/starting_time", np.inf, rate=10.0),
        "fluorescence",
        "a finite time",
    ),
    "no times": (
        drop(SOMA + "/starting_time"),
        "fluorescence",
        "must have timestamps, or a starting_time",
    ),
    "timestamps empty": (
        put(SOMA + "/timestamps", np.zeros(0)),
        "fluorescence",
        "an ascending time for",
    ),
    "timestamps two-dimensional": (
        put(SOMA + "/timestamps", np.ones((600, 1))),
        "fluorescence",
        "must be a list of numbers",
    ),
    "timestamps descend": (
        put(SOMA + "/timestamps", -np.arange(600.0)),
        "fluorescence",
        "ascending time",
    ),
    "timestamps NaN": (
        put(SOMA + "/timestamps", np.full(600, np.nan)),
        "fluorescence",
        "ascending time",
    ),
    "data a claim": (
        lambda file: (
            file.__delitem__(SOMA + "/data"),
            file.create_dataset(SOMA + "/data", (10**7, 10**4), "f8", chunks=(10, 10)),
        ),
        "fluorescence",
        "must hold the numbers it declares",
    ),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Bytes of the undamaged file."""
    return base(tmp_path_factory.mktemp("whole") / "whole.nwb").read_bytes()


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


def test_a_command_says_it_in_one_sentence(tmp_path, capsys):
    path = base(tmp_path / "bad.nwb")
    with h5py.File(path, "a") as file:
        BAD["index descends"][0](file)
    assert main.run(["communication", "--data", str(path), "--source", "V1", "--target", "V2"]) == 1
    assert capsys.readouterr().err.startswith(
        f"biorrr: {path}: /units/spike_times_index must have an end for each of 6"
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
    "seeds", [range(4), pytest.param(range(4, 500), marks=pytest.mark.slow)], ids=["few", "500"]
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
    "y": np.ones((9, 3)),
    "z": np.ones((9, 2)),
    "a": np.ones((9, 2)),
    "Vy": np.random.default_rng(3).random((10, 3, 2)),
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
    for sentence in read_all(Path("/dev/zero")).values():
        assert "/dev/zero: must be a regular file" in sentence
    with pytest.raises(DataError, match=r"X.npy: must be a regular file"):
        load(tmp_path / "X.npy", tmp_path / "pipe.nwb")
