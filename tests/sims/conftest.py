"""Fixtures shared by the tests of sims/."""

import base64
import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def real_data():
    """Folder of the real data files; a test that needs them is skipped where there are none."""
    folder = os.environ.get("BIORRR_DATA")
    if not folder:
        pytest.skip("needs the real data files; set BIORRR_DATA to their folder")
    return Path(folder)


@pytest.fixture(autouse=True)
def figures_of_one_pixel(request, monkeypatch, save_pixel):
    """Draw the figures of commands, but save one pixel: files take longer than small circuits.

    Tests marked ``figures`` look at the files. The figures of every experiment are looked at in
    test_experiments.py.
    """
    if request.node.get_closest_marker("figures") is None:
        monkeypatch.setattr("biorrr.sims.lab.run_folder.save_figure", save_pixel)


@pytest.fixture(scope="session")
def save_pixel():
    """A function that saves one pixel in place of the figure of axes, and closes that."""
    import matplotlib.image
    import matplotlib.pyplot as plt

    def save(axes, path):
        matplotlib.image.imsave(path, np.zeros((1, 1)))
        plt.close(np.ravel(axes)[0].figure)

    return save


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """An empty data folder in place of the user's cache, and no $BIORRR_DATA."""
    cache = tmp_path / "cache"
    monkeypatch.delenv("BIORRR_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: cache)
    return cache / "data"


@pytest.fixture
def own_data(tmp_path):
    """A small data file of one's own: X (120, 5), Y (120, 4)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    np.savez(
        tmp_path / "own.npz",
        X=X,
        Y=X[:, :3] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((120, 4)),
    )
    return tmp_path / "own.npz"


@pytest.fixture
def start_biorrr():
    """Starts ``biorrr <arguments>`` as a process of its own; what still runs at the end of the test
    is killed.
    """
    started = []

    def start(*args, **options):
        command = [
            sys.executable,
            "-c",
            "from biorrr.sims.start import main; main()",
            *map(str, args),
        ]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, **(pipes | options)))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run_biorrr(start_biorrr):
    """Runs ``biorrr <arguments>`` as a process of its own to its end; its exit code, output and
    errors.
    """

    def run(*args, timeout=300, **options):
        process = start_biorrr(*args, **options)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err

    return run


_opened: list[str] | None = None


def _note_opened(event, args):
    """Note what is opened; a link that was not to be followed as itself, for it cannot be
    opened."""
    if event == "open" and _opened is not None and isinstance(args[0], str | bytes | os.PathLike):
        folder, name = os.path.split(os.fsdecode(args[0]))
        followed = not args[2] & os.O_NOFOLLOW
        _opened.append(
            os.path.realpath(args[0]) if followed else os.path.join(os.path.realpath(folder), name)
        )


@functools.cache
def _watch():
    sys.addaudithook(_note_opened)  # for good: Python has no way to take it off


@pytest.fixture
def item_names(tmp_path):
    """Returns the names of the items that a run with the config in ``folder`` computes."""
    from biorrr.sims import main
    from biorrr.sims.lab import Lab

    def names_of(folder):
        place, names, name_item = tmp_path / "names", [], Lab.name_item

        def noted(lab, function, item):
            names.append(name_item(lab, function, item))
            return names[-1]

        place.mkdir()
        shutil.copy(folder / "config.toml", place)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Lab, "name_item", noted)
            main.run(["resume", str(place)])
        shutil.rmtree(place)
        assert names
        return names

    return names_of


@pytest.fixture(scope="session")
def write_point():
    """Keeps numbers of a point of a sweep, in percent, as the sweep would."""
    import xarray as xr

    from biorrr.sims.lab.items import keep_result
    from biorrr.sims.sweeps.points import path_of

    def write(plan, out, settings, status="done", reason="", **numbers):
        path = path_of(plan, out, settings)
        found = {name: ((), value, {"units": "%"}) for name, value in numbers.items()}
        keep_result(
            path.parent, path.stem, xr.Dataset(found, attrs={"status": status, "reason": reason})
        )
        return path

    return write


@pytest.fixture
def files_opened():
    """A block in which the files that are opened are listed, each by its real path."""

    @contextlib.contextmanager
    def listed():
        global _opened
        _watch()
        _opened = opened = []
        try:
            yield opened
        finally:
            _opened = None

    return listed


@pytest.fixture
def decoded():
    """The text of a page with that of its figures."""

    def decode(path):
        text = path.read_text(encoding="utf-8")
        return text + "".join(
            base64.b64decode(one).decode("latin-1") for one in re.findall(';base64,([^"]+)', text)
        )

    return decode


@pytest.fixture
def put_outside():
    """Makes the numbers of ``Vx`` in an HDF5 file come from another file, in one of four ways."""
    import h5py

    def put(path, kind, other):
        with h5py.File(path, "a") as file:
            shape = file["Vx"].shape
            del file["Vx"]
            if kind == "soft link":
                file["hidden"] = h5py.ExternalLink(str(other), "/")
                file["Vx"] = h5py.SoftLink("/hidden/Vx")
            elif kind == "external storage":
                file.create_dataset(
                    "Vx", shape, "f8", external=[(str(other), 0, h5py.h5f.UNLIMITED)]
                )
            elif kind == "external link":
                file["Vx"] = h5py.ExternalLink(str(other), "/Vx")
            else:
                layout = h5py.VirtualLayout(shape, "f8")
                layout[:] = h5py.VirtualSource(str(other), "Vx", shape)
                file.create_virtual_dataset("Vx", layout)

    return put


# -- the circuit's rules, averaged over all samples ------------------------------------------------

# Vx fast, Vy slow: otherwise they circle the optimum.
AVERAGE_RATES = {"x": 0.3, "y": 0.01, "q": 0.02, "r": 0.02}


@pytest.fixture
def settled_weights():
    """Where the circuit's four rules lead, found in a moment, whatever is wrong with them."""
    from biorrr.analysis.regression.exact_solution import covariances, sigma_inverse

    def settle(X, Y, s=0.0, k=2, shuffled=False, R0=None, Q0=None, steps=8000, **rates):
        """Weights Vx, Vy, Q, R by name after many steps.

        ``rates`` replace those of the pathways x, y, q and r; 0 freezes one. ``shuffled`` is Y that
        belongs to other samples.
        """
        rng = np.random.default_rng(0)
        C = covariances(X, Y[rng.permutation(len(Y))] if shuffled else Y, 0.0)
        eta = AVERAGE_RATES | rates
        Vx, Vy = (
            0.1 * rng.standard_normal((X.shape[1], k)),
            0.1 * rng.standard_normal((Y.shape[1], k)),
        )
        Q = np.eye(k) / 3 if Q0 is None else Q0
        R = Q.T if R0 is None else R0
        decay = sigma_inverse(C.yy, s)
        for _ in range(steps):
            Czz = Vx.T @ C.xx @ Vx
            Vx, Vy, Q, R = (
                Vx + eta["x"] * (C.xy @ Vy - C.xx @ Vx @ (Q @ R).T),
                Vy + eta["y"] * (C.xy.T @ Vx - decay @ Vy),
                Q + eta["q"] * (Czz @ R.T - Q),
                R + eta["r"] * (R @ Czz - R),
            )
        return {"Vx": Vx, "Vy": Vy, "Q": Q, "R": R}

    return settle


@pytest.fixture
def easy_pair():
    """X (400, 6) and Y (400, 5), centred, near unit variance, of which two directions are well
    predicted.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6))
    Y = X[:, :2] @ rng.standard_normal((2, 5)) + 0.7 * rng.standard_normal((400, 5))
    return X - X.mean(axis=0), 0.6 * (Y - Y.mean(axis=0))
