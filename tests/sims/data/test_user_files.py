"""The user's own files: what is read, and what is refused with which words."""

import os
import pickle

import numpy as np
import pytest

from biorrr.sims.data import DataError, Dataset, load

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))


def same(data):
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y, Y)
    assert data.X.dtype == data.Y.dtype == np.float64
    return True


def test_npz(tmp_path):
    np.savez(tmp_path / "both.npz", X=X, Y=Y, other=1)
    assert same(load(tmp_path / "both.npz"))
    np.savez(tmp_path / "names.npz", spikes=X, licks=Y)
    assert same(load(tmp_path / "names.npz", x="spikes", y="licks"))


def test_npy_pair_is_mapped_not_read(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    data = load(tmp_path / "x.npy", tmp_path / "y.npy")
    assert same(data)
    assert isinstance(data.X, np.memmap)
    assert not data.X.flags.writeable


def test_whole_numbers_become_float64(tmp_path):
    np.savez(tmp_path / "both.npz", X=np.arange(6).reshape(3, 2), Y=np.ones((3, 1), bool))
    data = load(tmp_path / "both.npz")
    assert data.X.dtype == data.Y.dtype == np.float64


@pytest.mark.parametrize("header", ["", "a,b,c\n", '"a","b","c"\n', "\ufeffa,b,c\n"])
def test_csv_with_and_without_header(tmp_path, header):
    rows = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    (tmp_path / "x.csv").write_text(header + rows + "\n", encoding="utf-8")
    np.savetxt(tmp_path / "y.csv", Y, delimiter=",", fmt="%.17g")
    assert same(load(tmp_path / "x.csv", tmp_path / "y.csv"))


def test_file_with_a_comma_in_its_name(tmp_path):
    np.savez(tmp_path / "mine, yours.npz", X=X, Y=Y)
    assert same(load(tmp_path / "mine, yours.npz"))


class Trap:
    def __reduce__(self):
        return print, ("this must never run",)


def test_objects_are_refused_and_nothing_runs(tmp_path, capsys):
    traps = np.array([[Trap()]], dtype=object)
    np.savez(tmp_path / "trap.npz", X=traps, Y=Y)
    with pytest.raises(
        DataError, match=r"trap.npz: holds Python objects, which can run code and are never read"
    ):
        load(tmp_path / "trap.npz")
    np.save(tmp_path / "x.npy", traps)
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(DataError, match=r"x.npy: holds Python objects"):
        load(tmp_path / "x.npy", tmp_path / "y.npy")
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(DataError, match=r"pickle.npz: not a readable NumPy file"):
        load(tmp_path / "pickle.npz")
    assert "this must never run" not in capsys.readouterr().out


def broken(array, value):
    array = array.copy()
    array[3, 1] = value
    return array


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (
            broken(X, np.nan),
            Y,
            r"X must be finite \(got nan at row 3, column 1, counted from 0\); drop or fill",
        ),
        (X, broken(Y, -np.inf), r"Y must be finite \(got -inf at row 3, column 1"),
        (
            X,
            broken(Y, 1e51),
            r"Y must lie within 1e\+50 of 0 \(got 1e\+51 at row 3, column 1, .*\); rescale it",
        ),
        (
            X[:10],
            Y,
            r"X and Y must have a row for each sample \(got 10 and 20 rows\)$",
        ),
        (
            X.T,
            Y.T,
            (
                r"X and Y must have a row for each sample \(got 3 and 2 rows\); did you mean X.T"
                r" and Y.T\?"
            ),
        ),
        (
            X[:, 0],
            Y,
            r"X must be two-dimensional, samples .* \(got shape \(20,\)\); a single column",
        ),
        (X, Y[:0], r"Y must be .*, with at least one of each \(got shape \(0, 2\)\)"),
        (X[:, :0], Y, r"X must be .*, with at least one of each \(got shape \(20, 0\)\)"),
        (X.astype(complex), Y, r"X must be a full array of real numbers \(got complex128\)"),
        (X.astype("U8"), Y, r"X must be a full array of real numbers \(got <U8\)"),
        (X.tolist(), Y, r"X must be a full array of real numbers \(got list\)"),
    ],
)
def test_arrays_that_cannot_be_used(X, Y, message):
    with pytest.raises(DataError, match="mine: " + message):
        Dataset("mine", X, Y)


def test_nan_far_into_a_long_array_is_found():
    long = np.zeros((10_000, 2))
    long[9_000, 1] = np.nan
    with pytest.raises(DataError, match="at row 9000, column 1"):
        Dataset("mine", long, long)


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(
        DataError, match=r"nowhere.npz: no such file; data are a name that `biorrr data` lists"
    ):
        load("nowhere.npz")
    np.savez(tmp_path / "names.npz", x=X, y=Y)
    with pytest.raises(DataError, match=r"names.npz: must hold X, Y \(got x, y\)"):
        load(tmp_path / "names.npz")
    np.savez(tmp_path / "both.npz", X=X, Y=Y)
    with pytest.raises(DataError, match=r"both.npz: no option 'swap'; it takes y, x"):
        load(tmp_path / "both.npz", swap=True)
    (tmp_path / "table.txt").write_text("1,2")
    with pytest.raises(
        DataError,
        match=r"y: .*table.txt is no .npz or .mat file with X and Y; if it holds X .*--y",
    ):
        load(tmp_path / "table.txt")
    with pytest.raises(
        DataError, match=r"names.npz: must hold one array beside another file \(got .npz"
    ):
        load(tmp_path / "table.txt", tmp_path / "names.npz")
    with pytest.raises(DataError, match=r"must be a regular file \(got a folder"):
        load(tmp_path)


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
@pytest.mark.parametrize("kept", [0, 1, 60, 200])
def test_truncated_files_are_refused(tmp_path, suffix, kept):
    whole = tmp_path / f"whole{suffix}"
    if suffix == ".npz":
        np.savez_compressed(whole, X=X, Y=Y)
    else:
        np.save(whole, X)
    part = tmp_path / f"part{suffix}"
    part.write_bytes(whole.read_bytes()[:kept])
    with pytest.raises(DataError, match=f"part{suffix}: "):
        load(part, whole) if suffix == ".npy" else load(part)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1,2\n3\n",
            r"x.csv: must be numbers separated by commas, as many in each row, .* from 2 to 1",
        ),
        ("1,2\n3,\n", r"x.csv: must be numbers .* string '' to float64 at row 1, column 2"),
        ("a,b\n\n1,2\n3,four\n", "string 'four' to float64 at row 1, column 2"),
        ("1,two\n3,4\n", "string 'two' to float64 at row 0"),  # a slip is no header
        ("1,2\n1_000,4\n", "string '1_000' to float64"),
        ("1;2\n3;4\n", r"x.csv: must be numbers separated by commas, .* string '3;4' to float64"),
        ("a,b,c\n1,2\n", r"\(got 2 below 3 names\)"),
        ("a,b\n", "X must be two-dimensional, samples by columns, with at least one"),
        ("", "X must be two-dimensional, samples by columns, with at least one"),
        ("1,2\n3,nan\n", r"X must be finite \(got nan at row 1, column 1"),
        ("\xff\xfe", "x.csv: must be numbers"),
    ],
)
def test_bad_csv(tmp_path, text, message):
    (tmp_path / "x.csv").write_bytes(text.encode("latin-1"))
    (tmp_path / "y.csv").write_text("1\n2\n")
    with pytest.raises(DataError, match=message):
        load(tmp_path / "x.csv", tmp_path / "y.csv")


def test_centred():
    data = Dataset("mine", X + 5, Y - 3).centred()
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(data.Y.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(data.X, X - X.mean(axis=0), atol=1e-14)


@pytest.mark.parametrize("samples", [7, 10_000])
def test_stand_in_of_large_data_has_their_covariances(samples, monkeypatch, tmp_path):
    """Few made-up samples for many, read in pieces; fewer samples than channels too."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((samples, 6)) @ rng.standard_normal((6, 6)) + 3
    Y = X[:, :4] + rng.standard_normal((samples, 4))
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    data = load(tmp_path / "x.npy", tmp_path / "y.npy")
    np.testing.assert_array_equal(data.stand_in[0], X - X.mean(axis=0))

    monkeypatch.setattr("biorrr.sims.data.dataset.LOADED", 0)
    x, y = load(tmp_path / "x.npy", tmp_path / "y.npy").stand_in
    assert len(x) == len(y) == min(samples, 10)
    both, expected = np.hstack([x, y]), np.cov(X, Y, rowvar=False, ddof=0)
    np.testing.assert_allclose(
        both.T @ both / len(both), expected, rtol=0, atol=1e-13 * np.abs(expected).max()
    )


def test_checksum_follows_the_values():
    data = Dataset("mine", X, Y)
    assert data.checksum == Dataset("other name", X.copy(), np.asfortranarray(Y)).checksum
    assert data.checksum != Dataset("mine", X + 1e-15, Y).checksum
    assert (
        Dataset("a", np.zeros((2, 3)), np.zeros((2, 1))).checksum
        != Dataset("a", np.zeros((2, 1)), np.zeros((2, 3))).checksum
    )


def test_masked_values_are_refused():
    with pytest.raises(
        DataError, match=r"mine: Y must have no masked values \(got 3\); drop or fill them"
    ):
        Dataset("mine", X, np.ma.array(Y, mask=np.arange(40).reshape(20, 2) < 3))
    assert same(Dataset("mine", np.ma.array(X), Y))
    assert type(Dataset("mine", np.ma.array(X), Y).X) is np.ndarray


def test_a_name_that_is_not_utf_8(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.npz")
    np.savez(path, X=X, Y=Y)
    with pytest.raises(
        DataError, match=r"\\xff.npz': the name of a data file must be UTF-8, .*; rename it"
    ):
        load(path)


def test_repr_shows_shapes_and_no_numbers():
    assert repr(Dataset("mine", X, Y)) == "<Dataset mine: X (20, 3), Y (20, 2)>"
