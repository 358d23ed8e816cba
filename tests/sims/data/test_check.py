"""``biorrr data --check``: what is in data of any kind, and a command to run on them."""

import re
import shlex

import numpy as np
import pytest
import scipy.io

from biorrr.sims import main

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((20, 3)), rng.integers(0, 9, (20, 2)).astype(float)


def checked(capsys, *args):
    code = main.run(["data", "--check", *map(str, args)])
    out, err = capsys.readouterr()
    return (code, out, err)


@pytest.fixture(params=["npz", "npy", "csv", "mat", "renamed.mat"])
def own(request, tmp_path):
    """Arguments that name X and Y in files of a kind."""
    path = tmp_path / f"mine.{request.param}"
    if request.param == "npz":
        np.savez(path, X=X, Y=Y)
        return [path]
    if request.param == "mat":
        scipy.io.savemat(path, {"X": X, "Y": Y})
        return [path]
    if request.param == "renamed.mat":
        scipy.io.savemat(path, {"spikes": X, "licks": Y})
        return [path, "--y", "licks", "--x", "spikes"]
    other = tmp_path / f"other one.{request.param}"
    for file, values in ((path, X), (other, Y)):
        if request.param == "npy":
            np.save(file, values)
        else:
            np.savetxt(file, values, delimiter=",")
    return [path, "--y", other]


def test_what_load_reads_is_described_with_a_command_that_runs(own, capsys, tmp_path):
    code, out, err = checked(capsys, *own)
    assert (code, err) == (0, "")
    assert re.search(r"X +20 samples x 3 inputs, from -\d\.\d+ to \d\.\d+\n", out)
    assert re.search(r"Y +20 samples x 2 targets, from 0 to 8\n", out)
    assert re.search(r"to note +nothing\n", out)
    command = shlex.split(out.split("  run ")[1])
    assert command == ["biorrr", "learn", "--data", *map(str, own)]
    quick = ["--epochs", "1", "--engine", "numpy", "-k", "1", "--out", str(tmp_path / "out")]
    assert main.run([*command[1:], *quick]) == 0


def test_constant_columns_and_few_samples_are_noted(tmp_path, capsys):
    still = X.copy()
    still[:, 1] = 3.0
    np.savez(tmp_path / "mine.npz", X=still[:2], Y=Y[:2])
    code, out, _ = checked(capsys, tmp_path / "mine.npz")
    assert code == 0
    assert "1 of 3 columns of X constant; fewer samples than columns of X" in out


def test_the_command_has_a_rank_that_the_data_allow(tmp_path, capsys):
    np.savez(tmp_path / "mine.npz", X=X, Y=Y[:, :1])
    out = checked(capsys, tmp_path / "mine.npz")[1]
    command = shlex.split(out.split("  run ")[1])
    assert command[-2:] == ["-k", "1"]
    quick = ["--epochs", "1", "--engine", "numpy", "--out", str(tmp_path / "out")]
    assert main.run([*command[1:], *quick]) == 0


def test_named_data(capsys):
    code, out, _ = checked(capsys, "digits")
    assert code == 0
    assert re.search(r"X +1797 samples x 64 inputs, from 0 to 1\n", out)
    assert "biorrr learn --data digits\n" in out


def test_arrays_of_a_recording_are_described_as_one(tmp_path, capsys):
    areas = ["A"] * 12 + ["B"] * 11
    np.savez(tmp_path / "r.npz", activity=rng.poisson(4, (12, 4, 23)), areas=areas)
    code, out, _ = checked(capsys, tmp_path / "r.npz")
    assert code == 0
    assert "biorrr communication --data" in out


def test_what_cannot_be_read_is_said(tmp_path, capsys):
    np.savez(tmp_path / "mine.npz", x=X, y=Y)
    assert checked(capsys, tmp_path / "mine.npz") == (
        1,
        "",
        f"biorrr: {tmp_path / 'mine.npz'}: must hold X, Y (got x, y);"
        " np.savez saves arrays as X=..., Y=...\n",
    )
    scipy.io.savemat(tmp_path / "mine.mat", {"spikes": X})
    code, _, err = checked(capsys, tmp_path / "mine.mat")
    assert code == 1
    assert "spikes (20 x 3 double)" in err
