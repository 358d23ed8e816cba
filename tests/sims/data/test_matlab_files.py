"""MATLAB files of every version: what is read, and what is said of those that cannot be."""

import os

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse

from biorrr.sims import main
from biorrr.sims.data import Arrays, Data, DataError, load

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
OLDER = {
    "4": {"format": "4"},
    "6": {"format": "5", "do_compression": False},
    "7": {"format": "5", "do_compression": True},
}
HEADER = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  5 10:00:00 2026 HDF5"


def save(path, version="7", **variables):
    """Write variables as MATLAB's ``save`` does for a version of the format."""
    if version in OLDER:
        scipy.io.savemat(path, variables, **OLDER[version])
        return path
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            write_variable(file, name, value)
    with path.open("r+b") as file:
        file.write(HEADER.ljust(116) + bytes(8) + b"\x00\x02IM")
    return path


def write_variable(file, name, value):
    """Write a variable in MATLAB's layout of HDF5, which is column by column."""
    kind = "double"
    if isinstance(value, dict):
        held, kind = file.create_group(name), "struct"
        for field, one in value.items():
            write_variable(held, field, one)
    elif scipy.sparse.issparse(value):
        held = file.create_group(name)
        held.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
        for part, numbers in (("data", value.data), ("ir", value.indices), ("jc", value.indptr)):
            held[part] = numbers
    elif isinstance(value, list):
        kind = "cell"
        refs = [file.create_dataset(f"#refs#/{i}", data=one) for i, one in enumerate(value)]
        held = file.create_dataset(name, data=[[one.ref] for one in refs], dtype=h5py.ref_dtype)
    elif isinstance(value, str):
        held, kind = file.create_dataset(name, data=[[ord(one)] for one in value]), "char"
    elif not value.size:
        held = file.create_dataset(name, data=np.array(value.shape, np.uint64))
        held.attrs["MATLAB_empty"] = np.uint8(1)
    elif np.iscomplexobj(value):
        pairs = np.empty(value.T.shape, [("real", float), ("imag", float)])
        pairs["real"], pairs["imag"] = value.T.real, value.T.imag
        held = file.create_dataset(name, data=pairs)
    else:
        logical = value.dtype == bool
        kind = "logical" if logical else "double" if value.dtype == float else str(value.dtype)
        numbers = value.T.astype(np.uint8) if logical else value.T
        held = file.create_dataset(name, data=numbers, chunks=True, compression="gzip")
    held.attrs["MATLAB_class"] = np.bytes_(kind)


def same(data):
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y, Y)
    return data.X.dtype == data.Y.dtype == np.float64


@pytest.fixture(params=[*OLDER, "7.3"])
def version(request):
    return request.param


def test_every_version_is_read(tmp_path, version):
    path = save(tmp_path / "session.mat", version, X=X, Y=Y)
    assert same(load(path))
    assert same(load(path.rename(tmp_path / "SESSION.MAT")))


def test_variables_by_name(tmp_path, version):
    path = save(tmp_path / "session.mat", version, spikes=X, licks=Y, X=Y)
    assert same(load(path, x="spikes", y="licks"))
    assert same(load({"file": str(path), "x": "spikes", "y": "licks"}))
    assert Data.made_from(path, {"x": "spikes", "y": "licks"}).plain() == {
        "file": str(path),
        "x": "spikes",
        "y": "licks",
    }


def test_on_the_command_line(tmp_path, version, capsys):
    path = save(tmp_path / "session.mat", version, spikes=X, licks=Y)
    names = ["--data", str(path), "--x", "spikes", "--y", "licks"]
    out = tmp_path / "out"
    assert main.run(["learn", *names, "--epochs", "1", "--engine", "numpy", "--out", str(out)]) == 0
    assert f"{path}" in capsys.readouterr().out.replace("\n  ", "")  # long lines are broken
    assert 'x = "spikes"' in (out / "config.toml").read_text()


def test_whole_numbers_and_truth_values(tmp_path, version):
    whole, truth = np.arange(40, dtype=np.int16).reshape(20, 2), Y > 0
    if version == "4":  # knows no truth values
        truth = truth.astype(np.uint8)
    data = load(save(tmp_path / "session.mat", version, X=whole, Y=truth))
    np.testing.assert_array_equal(data.X, whole)
    np.testing.assert_array_equal(data.Y, truth)


def test_the_published_file_of_v1_and_v2():
    folder = os.environ.get("BIORRR_DATA", "")
    path = os.path.join(folder, "v1v2", "sample_data.mat")
    if not os.path.exists(path):
        pytest.skip("needs V1-V2 in BIORRR_DATA")
    own, named = load(path, y="Y_V2"), load("v1v2")
    assert own.checksum == named.checksum
    with pytest.raises(DataError) as refused:
        load(path)
    assert str(refused.value) == (
        f"{path}: must hold the variables X and Y (got Y_V1 (4000 x 31 double), Y_V2 (4000 x 31"
        " double), X (4000 x 79 double)); choose with x=NAME and y=NAME (--x, --y)"
    )


def test_what_was_found_is_said(tmp_path, version):
    path = save(tmp_path / "session.mat", version, spikes=X, words="anything")
    with pytest.raises(DataError) as refused:
        load(path, x="spikes")
    said = str(refused.value)
    assert said.startswith(f"{path}: must hold the variables spikes and Y (got ")
    assert "spikes (20 x 3 double)" in said
    assert "char)" in said


@pytest.mark.parametrize("value", [scipy.sparse.csc_matrix(X), {"trials": X}, "words"])
def test_what_is_no_matrix_of_numbers(tmp_path, version, value):
    if version == "4" and isinstance(value, dict):
        pytest.skip("version 4 has no structures")
    path = save(tmp_path / "session.mat", version, X=X, Y=value)
    with pytest.raises(DataError, match=r"session.mat: Y must be a full .* of real numbers \(got "):
        load(path)


@pytest.mark.parametrize("version", ["7", "7.3"])
def test_cells_complex_and_empty_matrices(tmp_path, version):
    cells = [1.0, 2.0] if version == "7.3" else np.array([[1.0], [X]], dtype=object)
    for value in (cells, X + 1j, np.empty((0, 3)), rng.standard_normal((20, 2, 2))):
        path = save(tmp_path / "session.mat", version, X=X, Y=value)
        with pytest.raises(DataError, match=r"session.mat: Y must"):
            load(path)


def test_a_transposed_pair_gets_a_hint(tmp_path, version):
    for x, y, hint in (
        (X.T, Y, "did you mean X.T?"),
        (X, Y.T, "did you mean Y.T?"),
        (X, Y[:, :1].T, "did you mean Y.T?"),
        (X.T, Y.T, "did you mean X.T and Y.T?"),
    ):
        path = save(tmp_path / "session.mat", version, X=x, Y=y)
        with pytest.raises(DataError, match="must have a row for each sample") as refused:
            load(path)
        assert str(refused.value).endswith(hint)


def test_hdf5_that_is_not_marked_as_matlabs_is_read_in_its_order(tmp_path):
    with h5py.File(tmp_path / "session.mat", "w") as file:
        file["X"], file["Y"] = X.T, Y.T
    assert same(load(tmp_path / "session.mat"))


def test_options_of_other_kinds_are_refused(tmp_path):
    path = save(tmp_path / "session.mat", X=X, Y=Y)
    with pytest.raises(DataError, match=r"session.mat: no option 'source'; it takes y, x"):
        load(path, source="V1")
    assert isinstance(Data.made_from(path), Arrays)


@pytest.mark.parametrize("kept", [0, 30, 200, 900])
def test_truncated_files_are_refused(tmp_path, version, kept):
    whole = save(tmp_path / "whole.mat", version, X=X, Y=Y).read_bytes()
    part = tmp_path / "part.mat"
    part.write_bytes(whole[: min(kept, len(whole) - 50)])
    with pytest.raises(DataError, match=r"part.mat: "):
        load(part)


@pytest.mark.parametrize(
    "content",
    [b"# Created by Octave 8.4.0\n# name: X\n", b"", b"1.5,2\n3,4\n", b"PK\x03\x04\x14\0"],
)
def test_files_of_other_kinds_are_refused(tmp_path, content):
    path = tmp_path / "session.mat"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"{path}: not a readable MATLAB file"):
        load(path)


@pytest.mark.parametrize("version", ["6", "7", "7.3"])
def test_complex_matrices_are_said_to_be(tmp_path, version):
    path = save(tmp_path / "session.mat", version, X=X, Y=Y + 1j)
    with pytest.raises(DataError, match=r"Y must be .* real numbers .*(complex128|imag)"):
        load(path)


@pytest.mark.parametrize("version", ["4", "6", "7.3"])
def test_more_numbers_than_a_file_can_hold(tmp_path, version):
    """A small file may declare more numbers than fit in memory."""
    path = save(tmp_path / "session.mat", version, X=X, Y=Y)
    if version == "7.3":
        with h5py.File(path, "a") as file:
            del file["X"]
            file.create_dataset("X", (10**7, 10**4), "f8", chunks=(10, 10))
    else:
        declared, more = (np.array([rows, 3], "<i4").tobytes() for rows in (20, 2**30))
        path.write_bytes(path.read_bytes().replace(declared, more, 1))
    with pytest.raises(DataError, match=r"session.mat: (must hold|not a readable)"):
        load(path)
