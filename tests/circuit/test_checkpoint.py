"""Checkpoints: a run cut anywhere ends bit for bit where the straight one ends; a file that does
not fit is refused.
"""

import functools
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from biorrr.circuit import Checkpoint, CheckpointError, Microcircuit
from biorrr.circuit.engines import cpp_kernel
from biorrr.circuit.engines.compiler import find_compiler
from biorrr.circuit.simulation import simulate
from biorrr.models import ApicalDrive, CutInstruction, Freeze, LoopDelay, Silence, TransmissionNoise

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
ENGINES = [
    "numpy",
    pytest.param("cpp", marks=needs_compiler),
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    Y = X[:, :3] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((120, 4))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


@functools.cache
def circuit(engine, **changes):
    """A small circuit, built once."""
    return Microcircuit(
        **({"k": 2, "s": 0.5, "ridge": 0.1, "replay": 2, "engine": engine, "seed": 3} | changes)
    )


def assert_same(run, other):
    """All that was recorded is the same, to the last bit."""
    assert set(run.data.variables) == set(other.data.variables)
    for name in run.data.variables:
        np.testing.assert_array_equal(run.data[name].values, other.data[name].values, err_msg=name)
    attrs = {key: value for key, value in run.data.attrs.items() if key != "seconds"}
    assert attrs == {key: other.data.attrs[key] for key in attrs}


def cut(path, samples, engine, data, monkeypatch, **options):
    """Leave at ``path`` the checkpoint of a run that was interrupted after ``samples`` or a little
    more.
    """

    def interrupt(t, weights):
        if t >= samples:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(simulate, "_FIRST_SEGMENT", 37)
        patch.setattr(simulate, "_SEGMENT_SECONDS", 0.0)  # one sample after another from there on
        with pytest.warns(UserWarning, match="interrupted after"):
            run = circuit(engine).run(*data, checkpoint=path, callback=interrupt, **options)
    assert samples <= run.samples < 240
    return run.samples


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_cut_anywhere_ends_where_the_straight_one_ends(engine, data, tmp_path, monkeypatch):
    options = {"epochs": 2, "every": 7, "record": ("plateau", "z"), "snapshots": 60}
    straight = circuit(engine).run(*data, **options)
    cuts = [
        cut(tmp_path / "c.npz", after, engine, data, monkeypatch, **options)
        for after in (50, 100, 150)
    ]
    assert cuts == sorted(set(cuts))
    resumed = circuit(engine).run(*data, checkpoint=tmp_path / "c.npz", **options)
    assert_same(resumed, straight)
    assert resumed.data.attrs["seconds"] > 0
    # Once done, the file holds the whole run.
    assert_same(circuit(engine).run(*data, checkpoint=tmp_path / "c.npz", **options), straight)
    assert os.listdir(tmp_path) == ["c.npz"]


@pytest.mark.parametrize(
    ("changes", "events"),
    [
        ({"departures": (LoopDelay(2), TransmissionNoise(0.1), ApicalDrive(0.1))}, ()),
        ({}, (Silence(at=60, cells=(1,)), Freeze(at=90, weight="Vx"))),
    ],
    ids=["departures", "lesions"],
)
def test_departures_and_lesions_survive_a_cut(data, tmp_path, monkeypatch, changes, events):
    built = circuit("numpy", **changes)
    straight = built.run(*data, events=events)
    for samples in (40, 75, 100):

        def interrupt(t, weights, samples=samples):
            if t >= samples:
                os.kill(os.getpid(), signal.SIGINT)

        with pytest.warns(UserWarning, match="interrupted after"):
            built.run(*data, events=events, checkpoint=tmp_path / "c.npz", callback=interrupt)
    assert_same(built.run(*data, events=events, checkpoint=tmp_path / "c.npz"), straight)
    with pytest.raises(CheckpointError, match="events"):
        built.run(*data, events=(CutInstruction(at=60),), checkpoint=tmp_path / "c.npz")


@needs_compiler
@pytest.mark.parametrize("first", [1, 13, 100])
def test_results_do_not_depend_on_where_segments_are_cut(data, monkeypatch, first):
    straight = circuit("cpp").run(*data, epochs=2, every=7)
    monkeypatch.setattr(simulate, "_FIRST_SEGMENT", first)
    monkeypatch.setattr(simulate, "_SEGMENT_SECONDS", 0.02)
    assert_same(circuit("cpp").run(*data, epochs=2, every=7), straight)


@needs_compiler
def test_segments_stay_short_however_rare_traces_are(data, monkeypatch):
    monkeypatch.setattr(simulate, "_FIRST_SEGMENT", 150)  # ticks, of which a sample has three
    lengths = []
    advance = cpp_kernel.CompiledRun.advance
    monkeypatch.setattr(
        cpp_kernel.CompiledRun,
        "advance",
        lambda self, start, stop, recorder: (
            lengths.append(stop - start) or advance(self, start, stop, recorder)
        ),
    )
    run = circuit("cpp").run(*data, every=10**6)
    assert lengths[0] == 50
    assert run.data["sample"].values.tolist() == [0]


def test_stopped_by_a_callback_stays_stopped(data, tmp_path):
    stopped = circuit("numpy").run(
        *data, callback=lambda t, weights: t > 20, checkpoint=tmp_path / "c.npz"
    )
    assert stopped.ended == "stopped"
    again = circuit("numpy").run(
        *data, callback=lambda t, weights: t > 20, checkpoint=tmp_path / "c.npz"
    )
    assert_same(again, stopped)
    # A run that nobody stops any more is not done: it goes on, and ends where the straight one
    # ends.
    whole = circuit("numpy").run(*data, checkpoint=tmp_path / "c.npz")
    assert_same(whole, circuit("numpy").run(*data))


@pytest.mark.parametrize(
    ("what", "changes", "options"),
    [
        ("engine", {"engine": "cpp"}, {}),
        ("circuit", {"interneurons": 3}, {}),
        ("settings or initial weights", {"s": 0.25}, {}),
        ("epochs, order or seed", {"seed": 4}, {}),
        ("epochs, order or seed", {}, {"epochs": 3}),
        ("epochs, order or seed", {}, {"order": "sequential"}),
        ("what is recorded", {}, {"every": 8}),
    ],
)
def test_another_run_is_refused(data, tmp_path, monkeypatch, what, changes, options):
    if changes.get("engine") == "cpp" and find_compiler() is None:
        pytest.skip("needs a C++ compiler")
    cut(tmp_path / "c.npz", 30, "numpy", data, monkeypatch, epochs=2)
    with pytest.raises(
        CheckpointError, match=rf"c\.npz: belongs to another run \(what differs: .*{what}"
    ):
        circuit(**({"engine": "numpy"} | changes)).run(
            *data, **({"epochs": 2} | options), checkpoint=tmp_path / "c.npz"
        )


def test_changed_data_are_refused(data, tmp_path, monkeypatch):
    cut(tmp_path / "c.npz", 30, "numpy", data, monkeypatch, epochs=2)
    X = data[0].copy()
    X[[0, 1]] = X[[1, 0]]
    # With rates fitted to the data the initial weights may differ too.
    with pytest.raises(
        CheckpointError,
        match=r"\(what differs: data\b.*\); give what it was made with, or delete it to start",
    ):
        circuit("numpy").run(X, data[1], epochs=2, checkpoint=tmp_path / "c.npz")


@pytest.mark.parametrize(
    "damage", ["empty", "text", "truncated", "flipped", "member missing", "pickle", "shape"]
)
def test_damaged_file_is_refused_and_nothing_in_it_is_run(data, tmp_path, monkeypatch, damage):
    path = tmp_path / "c.npz"
    cut(path, 30, "numpy", data, monkeypatch, epochs=2)
    whole = path.read_bytes()
    with np.load(path) as held:
        members = dict(held)
    if damage == "empty":
        path.write_bytes(b"")
    elif damage == "text":
        path.write_text("weights")
    elif damage == "truncated":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "flipped":
        at = whole.index(members["state/proximal.w"].tobytes()[:16])
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    elif damage == "member missing":
        del members["state/proximal.w"]
        np.savez(path, **members)
    elif damage == "shape":
        members["state/proximal.w"] = members["state/proximal.w"][:-1]
        np.savez(path, **members)
    else:

        class Bomb:
            def __reduce__(self):
                return (os.mkdir, (str(tmp_path / "exploded"),))

        members["state/proximal.w"] = np.array([Bomb()], dtype=object)
        np.savez(path, **members)
    with pytest.raises(CheckpointError, match=r"c\.npz: .*damaged.*; delete it to start over"):
        circuit("numpy").run(*data, epochs=2, checkpoint=path)
    assert not (tmp_path / "exploded").exists()


def test_disk_full_is_said_and_the_run_goes_on(data, tmp_path, monkeypatch):
    cut(tmp_path / "c.npz", 30, "numpy", data, monkeypatch, epochs=2)
    good = (tmp_path / "c.npz").read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(
        UserWarning,
        match=r"c\.npz: no checkpoint at sample \d+ \(No space left on device\); the run goes on",
    ):
        run = circuit("numpy").run(*data, epochs=2, checkpoint=tmp_path / "c.npz")
    assert run.samples == 240
    assert (tmp_path / "c.npz").read_bytes() == good
    assert os.listdir(tmp_path) == ["c.npz"]


def test_checkpoints_come_as_often_as_told(data, tmp_path, monkeypatch):
    saved = []
    savez = np.savez
    monkeypatch.setattr(
        np,
        "savez",
        lambda file, **arrays: saved.append(int(arrays["samples"])) or savez(file, **arrays),
    )
    monkeypatch.setattr(simulate, "_FIRST_SEGMENT", 1)
    monkeypatch.setattr(simulate, "_SEGMENT_SECONDS", 0.0)
    circuit("numpy").run(*data, checkpoint=Checkpoint(tmp_path / "a.npz", every=0))
    assert saved == [*range(1, 121), 120]
    saved.clear()
    circuit("numpy").run(*data, checkpoint=Checkpoint(tmp_path / "b.npz", every=3600))
    assert saved == [120]
    with pytest.raises(ValueError, match=r"Checkpoint\.every"):
        circuit("numpy").run(*data, checkpoint=Checkpoint(tmp_path / "b.npz", every=-1))


SCRIPT = """
import sys, numpy as np
from biorrr.circuit import Checkpoint, Microcircuit
rng = np.random.default_rng(0)
X = rng.standard_normal((120, 5))
Y = X[:, :3] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((120, 4))
X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
circuit = Microcircuit(k=2, s=0.5, ridge=0.1, replay=2, engine=sys.argv[1], seed=3)
circuit.run(X, Y, epochs=int(sys.argv[2]), every=7, checkpoint=Checkpoint(sys.argv[3], every=0.05))
"""


def facts(path):
    with np.load(path) as held:
        return int(held["samples"]), json.loads(str(held["facts"]))["ended"]


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(("engine", "epochs"), [("cpp", 10_000), ("numpy", 60)])
def test_killed_and_run_again(engine, epochs, data, tmp_path):
    straight = circuit(engine).run(*data, epochs=epochs, every=7)
    path = tmp_path / "c.npz"
    command = [sys.executable, "-c", SCRIPT, engine, str(epochs), str(path)]
    reached = []
    for _ in range(2):
        process = subprocess.Popen(command)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if path.exists() and facts(path)[0] > max(reached, default=0):
                break
            time.sleep(0.01)
        process.kill()
        process.wait()
        reached.append(facts(path)[0])
    assert 0 < reached[0] < reached[1] < 120 * epochs, "killed too late to show anything"
    resumed = circuit(engine).run(*data, epochs=epochs, every=7, checkpoint=path)
    assert facts(path) == (120 * epochs, "done")
    assert_same(resumed, straight)


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_a_run_killed_after_its_last_sample_is_done(engine, data, tmp_path, monkeypatch):
    """It went on beyond its end, for ever."""
    path = tmp_path / "run.npz"
    circuit = Microcircuit(2, engine=engine)
    whole = circuit.run(*data, progress=False)

    def die(recorder, outcome):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("biorrr.circuit.simulation.recorder.Recorder.take", die)
        with pytest.raises(MemoryError):
            circuit.run(*data, progress=False, checkpoint=Checkpoint(path, every=0))
    again = circuit.run(*data, progress=False, checkpoint=path)
    assert again.ended == "done"
    assert again.samples == whole.samples
    np.testing.assert_array_equal(again.Vx, whole.Vx)
