"""Data on disk are read as they lie there and give what the same data in memory give."""

import numpy as np
import pytest

SETTINGS = {"s": 0.3, "ridge": 0.1, "replay": 2}


@pytest.fixture
def learn(data, make_circuit):
    """Final weights with ``X`` in the first view's place, on an engine."""
    _, Y = data

    def weights(X, engine="cpp"):
        run = make_circuit(engine, **SETTINGS).run(X, Y[: len(X)], record=(), centre=True)
        return np.concatenate([w.ravel() for w in (run.Vx, run.Vy, run.Q, run.R)])

    return weights


@pytest.fixture
def on_disk(data, tmp_path):
    """The first view as a float32 .npy file."""
    path = tmp_path / "X.npy"
    np.save(path, data[0].astype(np.float32))
    return path


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
@pytest.mark.parametrize("rows", [slice(None), slice(100, 400), slice(300, None, -3)])
def test_float32_file(engine, rows, learn, on_disk):
    rows = slice(0, 300) if engine == "numpy" and rows == slice(None) else rows
    on_map = np.load(on_disk, mmap_mode="r")[rows]
    assert isinstance(on_map, np.memmap)
    np.testing.assert_array_equal(learn(on_map, engine), learn(np.array(on_map), engine))


@pytest.mark.parametrize("kind", ["uint8", "int16", "float16", "int64", ">f4", "bool"])
def test_other_types(kind, learn, data, tmp_path):
    """Types that the compiled program reads as they are, and types that are converted first."""
    X = np.round(2 * np.abs(data[0][:200])).astype(kind)
    np.save(tmp_path / "X.npy", X)
    expected = learn(X.astype(np.float64))
    np.testing.assert_array_equal(learn(X), expected)
    np.testing.assert_array_equal(learn(np.load(tmp_path / "X.npy", mmap_mode="r")), expected)


def test_raw_file_with_an_offset(learn, data, tmp_path):
    X = data[0][:200]
    (tmp_path / "X.raw").write_bytes(b"h" * 5000 + X.tobytes())
    raw = np.memmap(tmp_path / "X.raw", dtype=np.float64, mode="r", offset=5000, shape=X.shape)
    np.testing.assert_array_equal(learn(raw), learn(X))


def test_every_other_column(learn, data, tmp_path):
    """A view that is not contiguous."""
    np.save(tmp_path / "X.npy", np.repeat(data[0][:200], 2, axis=1))
    view = np.load(tmp_path / "X.npy", mmap_mode="r")[:, ::2]
    np.testing.assert_array_equal(learn(view), learn(data[0][:200]))


def test_changes_that_are_not_on_disk(learn, on_disk):
    """A copy-on-write map holds what the file does not."""
    changed = np.load(on_disk, mmap_mode="c")
    changed *= 0.5
    np.testing.assert_array_equal(learn(changed), learn(np.array(changed)))


def test_copies_of_a_map_are_in_memory(learn, on_disk):
    """NumPy keeps the type of a map for copies of it, which lie in no file."""
    copied = np.load(on_disk, mmap_mode="r").astype(np.float64)
    np.testing.assert_array_equal(learn(copied), learn(np.array(copied)))
