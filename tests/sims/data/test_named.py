"""Facts of the named data sets, and what happens to files that are absent, damaged or truncated."""

import gzip
import hashlib
import shutil
import tarfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest
import scipy.io

from biorrr.sims.data import CATALOGUE, DataError, load, pictures, published


def test_digits():
    data = load("digits")
    assert data.X.shape == (1797, 64)
    assert data.Y.shape == (1797, 10)
    assert (data.X.min(), data.X.max()) == (0, 1)
    assert (data.Y.sum(axis=1) == 1).all()
    assert data.pixels == (8, 8)
    assert np.sum(np.ptp(data.X, axis=0) == 0) == 3  # inputs that never change


def test_synthetic_has_the_canonical_correlations_it_promises():
    data = load("synthetic", samples=200_000, m=8, n=6, latents=3, signal=2.0, noise=1.0)
    Cxx, Cyy, Cxy = data.X.T @ data.X, data.Y.T @ data.Y, data.X.T @ data.Y
    M = np.linalg.solve(Cxx, Cxy) @ np.linalg.solve(Cyy, Cxy.T)
    correlations = np.sqrt(np.sort(np.linalg.eigvals(M).real)[::-1][:4].clip(0))
    g2 = (2.0 * np.array([1, 2 / 3, 1 / 3])) ** 2
    np.testing.assert_allclose(
        correlations[:3], g2 / (g2 + 1), atol=0.01
    )  # standard error below 1/sqrt(200000)
    assert correlations[3] < 0.02


def test_synthetic_is_set_by_its_options_and_its_seed():
    data = load('{name="synthetic", samples=50, m=4, n=3, latents=2, signal=1, noise=0.5, seed=7}')
    assert data.X.shape == (50, 4)
    assert data.Y.shape == (50, 3)
    again = load("synthetic", samples=50, m=4, n=3, latents=2, signal=1.0, noise=0.5, seed=7)
    assert data.checksum == again.checksum
    assert (
        data.checksum
        != load("synthetic", samples=50, m=4, n=3, latents=2, signal=1, noise=0.5, seed=8).checksum
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ('{name="synthetic", samples=0}', r"synthetic: samples: must be at least 1 \(got 0\)"),
        (
            '{name="synthetic", m=2, latents=3}',
            r"synthetic latents: must not exceed m and n \(got 3 for m = 2, n = 20\)",
        ),
        ('{name="synthetic", noise=nan}', r"synthetic: noise: must be a finite number \(got nan\)"),
        ('{name="synthetic", signal=-1}', r"synthetic: signal: must be at least 0 \(got -1.0\)"),
        ('{name="synthetic", seed=-1}', r"synthetic: seed: must be at least 0 \(got -1\)"),
        ('{name="synthetic", m="two"}', r"synthetic: m: must be a whole number \(got 'two'\)"),
        ('{name="synthetic", nois=1}', "synthetic: no option 'nois'; did you mean 'noise'"),
        ('{name="digits", m=1}', "digits: no option 'm'; it takes no options"),
        ('{name="v1v2", target="V4"}', r"v1v2: target: must be one of V1, V2 \(got 'V4'\)"),
        ('{name="mnist", split="all"}', r"mnist: split: must be one of test, train \(got 'all'\)"),
        (
            '{name="cifar10", split="all"}',
            r"cifar10: split: must be one of test, train \(got 'all'\)",
        ),
        ("digts", "digts: no such data set or file; did you mean 'digits'"),
    ],
)
def test_bad_options(spec, message):
    with pytest.raises(DataError, match=message):
        load(spec)


def test_keyword_options_are_checked_too():
    with pytest.raises(DataError, match="v1v2: no option 'goal'; it takes target"):
        load("v1v2", goal="V1")


def test_v1v2(real_data):
    data = load("v1v2")
    assert data.X.shape == (4000, 79)
    assert data.Y.shape == (4000, 31)
    assert np.bincount(data.groups).tolist() == [10] * 400
    assert (np.diff(data.groups) >= 0).all()  # trial-major
    V1 = load('{name="v1v2", target="V1"}')
    assert V1.Y.shape == (4000, 31)
    assert not np.array_equal(V1.Y, data.Y)
    assert np.array_equal(V1.X, data.X)


@pytest.mark.parametrize(
    ("whole_trials", "expected"),
    [
        (False, (0.107, 0.125, 0.127, 0.127, 0.118)),
        (True, (0.106, 0.125, 0.126, 0.126, 0.118)),
    ],
)
def test_v1v2_predicts_as_published(real_data, whole_trials, expected):
    """Plain RRR in 10 folds, R2 pooled over neurons and folds, at ranks 1 to 4 and at full rank."""
    data = load("v1v2")
    rng = np.random.default_rng(0)
    folds = (rng.permutation(400)[data.groups] if whole_trials else rng.permutation(4000)) % 10
    ranks = (1, 2, 3, 4, 31)
    error, deviation = np.zeros(len(ranks)), 0.0
    for fold in range(10):
        X, Y = data.X[folds != fold], data.Y[folds != fold]
        x_mean, y_mean = X.mean(axis=0), Y.mean(axis=0)
        Cxx, Cxy = (X - x_mean).T @ (X - x_mean), (X - x_mean).T @ (Y - y_mean)
        B = np.linalg.solve(Cxx, Cxy)
        V = np.linalg.eigh(B.T @ Cxx @ B)[1][:, ::-1]
        held_out_X, held_out_Y = data.X[folds == fold] - x_mean, data.Y[folds == fold] - y_mean
        for i, rank in enumerate(ranks):
            error[i] += ((held_out_Y - held_out_X @ B @ V[:, :rank] @ V[:, :rank].T) ** 2).sum()
        deviation += (held_out_Y**2).sum()
    # The folds are drawn at random: two draws differ by about 0.001.
    np.testing.assert_allclose(1 - error / deviation, expected, atol=0.002)


def test_mediamill(real_data):
    data = load("mediamill")
    assert data.X.shape == (4387, 120)
    assert data.Y.shape == (4387, 101)
    assert (data.X.min(), data.X.max()) == (0.002492, 0.777353)
    assert round(data.Y.sum(axis=1).mean(), 3) == 4.364
    assert data.swapped().direction == "101 concepts → 120 visual features, 4,387 rows"
    assert np.array_equal(data.swapped().X, data.Y)
    assert np.array_equal(data.swapped().Y, data.X)


@pytest.mark.parametrize(
    ("name", "m", "n", "mean", "pixels"),
    [
        ("mnist", 784, 10, 0.132515, (28, 28)),
        ("fashion-mnist", 784, 10, 0.286849, (28, 28)),
        ("cifar10", 3072, 10, None, (3, 32, 32)),
        ("cifar100", 3072, 100, None, (3, 32, 32)),
    ],
)
def test_pictures(real_data, name, m, n, mean, pixels):
    data = load(name, split="test")
    assert data.X.shape == (10_000, m)
    assert data.Y.shape == (10_000, n)
    assert (data.X.min(), data.X.max()) == (0, 1)
    assert (data.Y.sum(axis=1) == 1).all()
    assert (data.Y.sum(axis=0) > 0).all()
    assert data.pixels == pixels
    if name != "mnist":
        assert (data.Y.sum(axis=0) == 10_000 / n).all()
    if mean:
        assert round(data.X.mean(), 6) == mean


def write_idx(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    header = bytes([0, 0, 8, array.ndim]) + b"".join(
        size.to_bytes(4, "big") for size in array.shape
    )
    with gzip.open(path, "wb") as file:
        file.write(header + array.astype(np.uint8).tobytes())


def test_training_pictures_are_taken_when_asked_for(empty_cache):
    for prefix, count in (("t10k", 3), ("train", 5)):
        write_idx(
            empty_cache / f"mnist/{prefix}-images-idx3-ubyte.gz", np.full((count, 28, 28), 51)
        )
        write_idx(empty_cache / f"mnist/{prefix}-labels-idx1-ubyte.gz", np.arange(count))
    assert len(load("mnist", split="train").X) == 5
    assert len(load('{name="mnist", split="test"}').X) == 3
    assert load("mnist").checksum == load("mnist", split="test").checksum
    assert load("mnist").X[0, 0] == 0.2
    assert load("mnist", split="train").Y[4].argmax() == 4


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


def test_damaged_idx_is_refused(tmp_path):
    path = tmp_path / "images.gz"
    write_idx(path, np.zeros((4, 28, 28)))
    cut(path, path.stat().st_size - 9)
    contents = (
        path.read_bytes(),
        gzip.compress(b"\0\0\x08\x01" + (9).to_bytes(4, "big") + b"abc"),
        gzip.compress(b"PK and more"),
        b"not gzip",
    )
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"images.gz: not an idx file of bytes, perhaps"):
            pictures.read_idx(path)


def test_labels_that_do_not_fit_are_refused(empty_cache):
    write_idx(empty_cache / "mnist/t10k-images-idx3-ubyte.gz", np.zeros((3, 28, 28)))
    write_idx(empty_cache / "mnist/t10k-labels-idx1-ubyte.gz", np.zeros(2))
    with pytest.raises(
        DataError,
        match=r"28 x 28 pictures with a label each \(got shapes \(3, 28, 28\) and \(2,\)\)",
    ):
        load("mnist")
    write_idx(empty_cache / "mnist/t10k-labels-idx1-ubyte.gz", np.array([0, 1, 10]))
    with pytest.raises(DataError, match=r"labels must lie below 10 \(got 10\)"):
        load("mnist")
    write_idx(empty_cache / "mnist/t10k-images-idx3-ubyte.gz", np.zeros((3, 8, 8)))
    with pytest.raises(DataError, match="must hold 28 x 28 pictures"):
        load("mnist")


def test_truncated_cifar_is_refused(empty_cache):
    path = empty_cache / "cifar10/test_batch.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(3073 * 9_999))
    with pytest.raises(
        DataError, match=r"must be 10000 pictures of 3073 bytes \(got 30726927 bytes\)"
    ):
        load("cifar10")
    path.write_bytes(b"\xff" + bytes(3073 * 10_000 - 1))
    with pytest.raises(DataError, match=r"labels must lie below 10 \(got 255\); it is damaged"):
        load("cifar10")


HEADER = "".join(f"@ATTRIBUTE Att{i} NUMERIC\n" for i in range(120)) + "".join(
    f"@ATTRIBUTE Class{i} {{0, 1}}\n" for i in range(101)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEADER + "@DATA\n",
            r"must have rows of 120 features and 101 classes \(got shape \(0, 0\)",
        ),
        (HEADER + "@DATA\n{3 1, 7 1}\n", "perhaps damaged or truncated"),
        (
            HEADER + "@DATA\n" + ",".join(["0"] * 221) + "\n" + ",".join(["0"] * 80),
            "perhaps damaged or truncated",
        ),
        (HEADER + "@DATA\n" + ",".join(["0"] * 220), r"got shape \(1, 220\)"),
        (
            HEADER + "@DATA\n" + ",".join(["0"] * 220 + ["2"]),
            "classes must be 0 or 1; the file is damaged",
        ),
        (
            HEADER + "@DATA\n" + ",".join(["0"] * 220 + ["import os"]),
            "perhaps damaged or truncated",
        ),
        (HEADER[:400] + "\n@DATA\n1,2\n", r"got shape \(1, 2\)\); another set, or truncated"),
        ("@ATTRIBUTE a string\n@DATA\nb\n", "perhaps damaged or truncated"),
    ],
)
def test_damaged_arff_is_refused(empty_cache, text, message):
    path = empty_cache / "mediamill/mediamill.arff"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        load("mediamill")


def test_truncated_v1v2_is_refused(real_data, empty_cache):
    path = empty_cache / "v1v2/sample_data.mat"
    path.parent.mkdir(parents=True)
    shutil.copyfile(real_data / "v1v2/sample_data.mat", path)
    path.chmod(0o644)
    cut(path, 300_000)
    with pytest.raises(
        DataError,
        match=r"sample_data.mat: not a readable MATLAB file, perhaps damaged or truncated",
    ):
        load("v1v2")


@pytest.mark.parametrize("rows", [(10, 10), (10, 4000), (4000, 10)])
def test_v1v2_of_other_sizes_is_refused(empty_cache, rows):
    path = empty_cache / "v1v2/sample_data.mat"
    path.parent.mkdir(parents=True)
    scipy.io.savemat(path, {"X": np.ones((rows[0], 79)), "Y_V2": np.ones((rows[1], 31))})
    got = rf"\(got \({rows[0]}, 79\) and \({rows[1]}, 31"
    with pytest.raises(DataError, match=rf"must hold X \(4000, 79\) and Y_V2 \(4000, 31\) {got}"):
        load("v1v2")


def test_biorrr_data_comes_before_the_cache(empty_cache, tmp_path, monkeypatch):
    file = published.SourceFile("set/file", "https://example.invalid/file", "0" * 64)
    assert file.found() is None
    for folder in (empty_cache, tmp_path / "named"):
        (folder / "set").mkdir(parents=True)
        (folder / "set/file").touch()
    assert file.found() == empty_cache / "set/file"
    monkeypatch.setenv("BIORRR_DATA", str(tmp_path / "named"))
    assert file.found() == tmp_path / "named/set/file"


def test_every_download_has_a_checksum_or_none_happens(empty_cache):
    for one in CATALOGUE.values():
        for file in one.origin.files:
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
    with pytest.raises(
        DataError, match="not found, and has no published checksum to download it by; get https"
    ):
        load("mediamill")


def test_without_network_one_sentence_says_what_to_put_where(empty_cache, monkeypatch):
    def no_network(*args, **kwargs):
        raise ConnectionError("unreachable")

    monkeypatch.setattr("pooch.retrieve", no_network)
    with pytest.raises(DataError) as error:
        load("mnist")
    url = "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz"
    assert (
        str(error.value)
        == "mnist/t10k-images-idx3-ubyte.gz: not found, and the download failed (ConnectionError); "
        f"get {url} and put it at {empty_cache}/mnist/t10k-images-idx3-ubyte.gz "
        "or at $BIORRR_DATA/mnist/t10k-images-idx3-ubyte.gz"
    )


@pytest.fixture
def served(tmp_path):
    """A folder whose files are served on a port of this machine, and the address of it."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = lambda *args: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_download_is_checked_against_its_checksum(empty_cache, served):
    folder, address = served
    (folder / "file").write_bytes(b"the file")
    right = published.SourceFile(
        "set/file", f"{address}/file", hashlib.sha256(b"the file").hexdigest()
    )
    wrong = published.SourceFile("set/other", f"{address}/file", "0" * 64)
    absent = published.SourceFile("set/absent", f"{address}/absent", "0" * 64)
    with pytest.raises(
        DataError, match=r"set/other: http.*/file returned a different file from the one expected"
    ):
        wrong.fetch()
    assert not (empty_cache / "set/other").exists()
    with pytest.raises(
        DataError, match=r"set/absent: not found, and the download failed \(HTTPError\); get http"
    ):
        absent.fetch()
    assert right.fetch().read_bytes() == b"the file"
    (folder / "file").unlink()
    assert right.fetch() == empty_cache / "set/file"  # now found, not downloaded again


def test_file_out_of_a_downloaded_archive(empty_cache, served):
    folder, address = served
    (folder / "inside.bin").write_bytes(b"pictures")
    with tarfile.open(folder / "all.tar.gz", "w:gz") as archive:
        archive.add(folder / "inside.bin", "deep/inside.bin")
        archive.add(folder, "deep/folder", recursive=False)
    sha256 = hashlib.sha256((folder / "all.tar.gz").read_bytes()).hexdigest()
    file = published.SourceFile(
        "set/inside.bin", f"{address}/all.tar.gz", sha256, "deep/inside.bin"
    )
    assert file.fetch().read_bytes() == b"pictures"
    for member in ("deep/other.bin", "deep/folder"):
        absent = published.SourceFile("set/other.bin", f"{address}/all.tar.gz", sha256, member)
        with pytest.raises(
            DataError,
            match=r"set/other.bin: not found, and the download failed \(IndexError\); get deep",
        ):
            absent.fetch()
