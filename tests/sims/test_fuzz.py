"""Whatever is in a config, on a command line or in a file: one sentence and an exit code, never a
traceback.
"""

import contextlib
import io
import json
import os
import random
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biorrr.circuit import CheckpointError, Microcircuit
from biorrr.circuit.simulation import recorder
from biorrr.errors import InputError
from biorrr.sims import main
from biorrr.sims.data import DataError, load
from biorrr.sims.lab.settings import SettingsError
from biorrr.sims.sweeps.plan import KEYS, make_plan, read_plan
from biorrr.sims.sweeps.points import read_point

# More where there is time: BIORRR_FUZZ=2000 makes a night of it.
fuzz = settings(
    max_examples=int(os.environ.get("BIORRR_FUZZ", "25")), suppress_health_check=[*HealthCheck]
)


@pytest.fixture(autouse=True)
def no_simulation(monkeypatch):
    """Simulating is not what is tested here, and 10**9 epochs would take long."""

    def refuse(*_, **__):
        raise InputError("would simulate")

    for name in (
        "learn.learn_from",
        "wiring.learn_from",
    ):
        monkeypatch.setattr(f"biorrr.sims.experiments.{name}", refuse)


def biorrr(*args):
    """Run a command line in an empty folder; its code and errors, which must be fit for a user."""
    err, before = io.StringIO(), Path.cwd()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stderr(err),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        code = main.run([*args])
    assert Path.cwd() == before
    assert code in (0, 1, 2, 130), code
    assert "Traceback" not in err.getvalue()
    assert "biorrr: unexpected" not in err.getvalue(), err.getvalue()  # foreseen, each of them
    assert (code == 0) or err.getvalue().startswith("biorrr: "), err.getvalue()
    return code, err.getvalue()


# No "/" or ".": what is drawn may name an output folder, and stays within the test's.
words = st.text(st.characters(codec="utf-8", exclude_characters="/.\x00"), max_size=12)
numbers = st.one_of(st.integers(), st.floats(), st.sampled_from([0, 1, 2, 2**63, -(2**63), 1e308]))
values = st.recursive(
    st.one_of(st.booleans(), numbers, words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=6,
)
keys = st.one_of(
    st.sampled_from(
        [
            "data",
            "k",
            "s",
            "epochs",
            "ridge",
            "engine",
            "seed",
            "checkpoint",
            "format",
            "provenance",
        ]
    ),
    words,
)


def as_toml(table):
    try:
        return tomli_w.dumps(table)
    except (TypeError, ValueError):  # what TOML itself cannot say
        return None


@fuzz
@given(table=st.dictionaries(keys, values, max_size=6))
def test_configs(table, tmp_path):
    text = as_toml(table)
    if text is not None:
        (tmp_path / "c.toml").write_text(text, encoding="utf-8")
        assert biorrr("learn", "--config", str(tmp_path / "c.toml"))[0] in (1, 2)


@fuzz
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(lambda text: text.encode("utf-8", "ignore")),
    )
)
def test_configs_of_any_bytes(content, tmp_path):
    (tmp_path / "c.toml").write_bytes(content)
    biorrr("learn", "--config", str(tmp_path / "c.toml"))
    (tmp_path / "config.toml").write_bytes(content)
    assert biorrr("resume", str(tmp_path))[0] == 2
    biorrr("sweep", str(tmp_path / "c.toml"), "--status")


tokens = st.one_of(
    st.sampled_from(
        [
            "--data",
            "--k",
            "-k",
            "-s",
            "--epochs",
            "--ridge",
            "--engine",
            "--seed",
            "--checkpoint",
            "--format",
            "--out",
            "--force",
            "--config",
            "--set",
            "k=2",
            "k=",
            "=",
            "seed=-1",
            "s=nan",
            "digits",
            '{name="synthetic", m=0}',
            '{name="synthetic", m="x"}',
            "numpy",
            "png",
            "1",
            "-1",
            "1e9",
            "nan",
            "inf",
            "--status",
            "--workers",
            "--scheduler",
            "--",
            "-",
            "",
        ]
    ),
    words,
)


@fuzz
@given(
    command=st.sampled_from(["learn", "learn", "resume", "sweep", "data", "lern", ""]),
    rest=st.lists(tokens, max_size=6),
)
def test_command_lines(command, rest):
    biorrr(command, *rest)


def mutated(whole):
    """Draws ``whole`` with some bytes changed, or cut short."""
    changes = st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=4)

    def apply(drawn):
        cut, changed = drawn
        content = bytearray(whole)
        for at, byte in changed:
            content[at] = byte
        return bytes(content[:cut])

    return st.tuples(st.one_of(st.just(len(whole)), st.integers(0, len(whole))), changes).map(apply)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


WHOLE = npz(X=np.arange(12.0).reshape(4, 3), Y=np.arange(8.0).reshape(4, 2) ** 2)


@fuzz
@given(
    suffix=st.sampled_from([".npz", ".npy", ".mat", ".csv", ""]),
    content=st.one_of(
        st.binary(max_size=300),
        mutated(WHOLE),
        st.text('0123456789.,-einfa\n" ', max_size=60).map(str.encode),
    ),
)
def test_data_files(suffix, content, tmp_path):
    x, y = tmp_path / f"x{suffix}", tmp_path / f"y{suffix}"
    for path in (x, y):
        path.write_bytes(content)
    more = {"y": str(y)} if suffix in (".npy", ".csv") else {}
    with contextlib.suppress(DataError):
        assert np.isfinite(load(x, **more).X).all()
    code, err = biorrr(
        "learn", "--data", str(x), *(f"--{name}={value}" for name, value in more.items()), "-k", "1"
    )
    assert code in (1, 2)
    assert str(tmp_path) in err or "would simulate" in err


@fuzz
@given(table=st.dictionaries(st.one_of(st.sampled_from(KEYS), words), values, max_size=5))
def test_sweep_files(table, tmp_path):
    text = as_toml(table)
    if text is not None:
        (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
        with contextlib.suppress(SettingsError):
            read_plan(tmp_path / "sweep.toml")


@fuzz
@given(data=st.data())
def test_points_of_a_sweep(data, tmp_path, write_point):
    plan = make_plan(grid={"k": [1]})
    path = write_point(plan, tmp_path, plan.points[0], excess=0.1, engine="cpp")
    path.write_bytes(data.draw(st.one_of(st.binary(max_size=100), mutated(path.read_bytes()))))
    point = read_point(plan, tmp_path, plan.points[0])
    assert point is None or point.attrs["status"] in ("done", "failed")


@pytest.fixture(scope="module")
def checkpointed(tmp_path_factory):
    """A checkpoint file's path and content, and a function that reads it as its run would."""
    path = tmp_path_factory.mktemp("checkpoint") / "c.npz"
    seen = []

    class Spy(recorder.Recorder):
        def __init__(self, job, *others):
            seen.append(job)
            super().__init__(job, *others)

    rng = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("biorrr.circuit.simulation.simulate.Recorder", Spy)
        X, Y = rng.standard_normal((6, 3)), rng.standard_normal((6, 2))
        Microcircuit(k=1, engine="numpy").run(X, Y, centre=True, checkpoint=path)
    (job,) = seen

    def read():
        made = recorder.Recorder(job, "numpy", recorder.Checkpoint(path))
        return made.outcome, made

    return path, path.read_bytes(), read


@fuzz
@given(data=st.data())
def test_checkpoints(data, checkpointed):
    """A damaged checkpoint is refused, or nothing that is read from it was damaged."""
    path, whole, read = checkpointed
    path.write_bytes(data.draw(st.one_of(mutated(whole), st.binary(max_size=100))))
    with contextlib.suppress(CheckpointError):
        outcome, recorder = read()
        path.write_bytes(whole)
        expected, other = read()
        assert outcome.samples == expected.samples
        for name in expected.state:
            np.testing.assert_array_equal(outcome.state[name], expected.state[name])
        np.testing.assert_array_equal(recorder.traces.samples, other.traces.samples)


SECRET = "the-quokka-sleeps-at-noon"


@pytest.fixture(scope="module")
def strangers(tmp_path_factory, write_point):
    """A run folder and a sweep's, whole, and a folder of the user's own that has files to fall
    for."""
    place = tmp_path_factory.mktemp("strangers")
    run, swept, private = (place / name for name in ("run", "swept", "private"))
    for folder in (run, swept, private):
        folder.mkdir()
    X, Y = np.random.default_rng(0).standard_normal((2, 20, 3))
    Microcircuit(k=1, engine="numpy").run(X, Y, centre=True, record="plateau").save(run / "run.nc")
    (run / "config.toml").write_text("data = 'own.npz'\n[provenance]\nexperiment = 'learn'\n")
    (run / "summary.json").write_text('{"ended": "done", "excess": 0.1}')
    (run / "x.svg").write_text("<svg/>")
    kinds = {"run.nc": "run", "x.svg": "figure", "x.png": "figure"}
    (run / "inventory.json").write_text(json.dumps({"files": kinds}))
    np.savez(run / "own.npz", X=X, Y=Y)
    (swept / "sweep.toml").write_text("[grid]\nk = [1, 2]\n[provenance]\nexperiment = 'sweep'\n")
    plan = read_plan(swept / "sweep.toml")
    for point in plan.points:
        write_point(plan, swept, point, excess=0.5)
    (swept / "runs").mkdir()
    for name in sorted(
        {path.name for folder in (run, swept) for path in folder.rglob("*") if path.is_file()}
    ):
        (private / name).write_text(f'# {SECRET}\ndata = "{SECRET}"\n')
    (private / "page.json").write_text(
        f'{{"{SECRET}": "{SECRET}", "status": "done", "numbers": {{"{SECRET}": 1}}}}'
    )
    shutil.copy(run / "run.nc", private / "results.nc")
    return run, swept, private


LINKS = {
    "file": "private/config.toml",
    "json": "private/page.json",
    "results": "private/results.nc",
    "folder": "private",
    "nothing": "private/nothing",
    "passwd": "/etc/passwd",
}
SHAPES = [*LINKS, "loop", "pipe", "directory", "not utf-8", "cut"]
STORED = ["external storage", "external link", "soft link", "virtual dataset"]


def reshape(path, shape, private):
    """Put something of another shape in place of ``path``."""
    content = path.read_bytes() if path.is_file() else b""
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if shape in LINKS:
        path.symlink_to(private.parent / LINKS[shape])
    elif shape == "loop":
        path.symlink_to(path)
    elif shape == "pipe":
        os.mkfifo(path)
    elif shape == "directory":
        path.mkdir()
    else:
        path.write_bytes(
            b"\xff\xfe" + content if shape == "not utf-8" else content[: len(content) // 2]
        )


@fuzz
@given(data=st.data())
def test_folders_of_strangers(
    data, strangers, tmp_path, monkeypatch, files_opened, put_outside, decoded
):
    """Links, pipes, damage and storage elsewhere: only the folder is read, and only the page is
    written.
    """
    *sent, private = strangers
    folder = tmp_path / "sent"
    page, aside = folder / "report.html", folder / f".{os.getpid()}-report.html"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(data.draw(st.sampled_from(sent)), folder)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    names += [page.name, aside.name, "x.png", "inventory.json", "sweep.toml", "config.toml"]
    for name in data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True)):
        path, shape = (
            folder / name,
            data.draw(st.sampled_from(SHAPES + STORED * (name == "run.nc"))),
        )
        if path.parent.is_symlink() or not path.parent.is_dir():
            continue  # an earlier change has taken its place away
        if shape in STORED:
            put_outside(path, shape, private / "results.nc")
        else:
            reshape(path, shape, private)

    def listing():
        found = {*folder.rglob("*"), *private.rglob("*")} - {page, aside}
        return {
            path: (os.lstat(path).st_ino, os.lstat(path).st_mtime_ns)
            for path in found
            if path.parent != page
        }

    before = listing()
    with files_opened() as opened:
        code, err = biorrr("report", str(folder))
    assert listing() == before
    assert not [path for path in opened if path.startswith((str(private), "/etc/passwd"))]
    assert SECRET not in err
    if code == 0:
        assert not page.is_symlink()
        assert SECRET not in decoded(page)
        assert "root:x:" not in decoded(page)


def damage(folder, rng, private):
    """Damage one to three files of a folder: bytes changed, cut or added, or something else in
    their place.
    """
    places = [path for path in sorted(folder.rglob("*")) if not path.is_symlink()]
    for path in rng.sample(places, min(len(places), rng.randint(1, 3))):
        if not path.parent.is_dir() or path.parent.is_symlink() or not os.path.lexists(path):
            continue  # an earlier change has taken its place away
        if path.is_dir() or rng.random() < 0.4:
            reshape(path, rng.choice(SHAPES), private)
            continue
        content = bytearray(path.read_bytes())
        for _ in range(rng.randint(1, 20)):
            if content:
                content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(bytes(content) + rng.randbytes(rng.choice((0, 0, 50))))


@pytest.mark.parametrize("count", [30, pytest.param(500, marks=pytest.mark.slow)])
def test_damaged_folders_give_a_result_or_one_sentence(count, strangers, tmp_path, monkeypatch):
    """Reported, resumed and asked for their state, each within ten seconds."""
    for module in ("items", "workers"):
        monkeypatch.setattr(f"biorrr.sims.lab.{module}.submit_here", lambda *_: iter(()))
    run, swept, private = strangers
    for seed in range(count):
        rng = random.Random(seed)
        folder = tmp_path / f"folder-{seed}"
        shutil.copytree(rng.choice((run, swept)), folder)
        if rng.random() < 0.5:  # cut short, with something to go on from
            (folder / "summary.json").unlink(missing_ok=True)
            (folder / "unfinished/checkpoints").mkdir(parents=True)
            np.savez(folder / "unfinished/checkpoints/learn_from-0.npz", facts=np.array("{}"))
        plan = folder.with_suffix(".toml")
        shutil.copy(swept / "sweep.toml", plan)
        damage(folder, rng, private)
        for command in (
            ("report", folder),
            ("sweep", plan, "--status", "--out", folder),
            ("resume", folder),
        ):
            began = time.process_time()
            code, err = biorrr(*map(str, command))
            assert time.process_time() - began < 10, (seed, command)
            assert code == 0 or len(err.splitlines()) == 1, (seed, command, err)
            assert SECRET not in err, (seed, command)
        shutil.rmtree(folder)
