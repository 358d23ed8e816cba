"""Two commands on one folder at random moments, some killed or interrupted: nothing is lost and
nothing mixed.
"""

import json
import os
import random
import shutil
import signal
import time
import tomllib
from collections import Counter
from multiprocessing import get_context

import numpy as np
import pytest
import xarray as xr

PRELOADED = [
    "biorrr.sims.main",
    "biorrr.sims.lab.lab",
    "biorrr.sims.cli.resume",
    "biorrr.circuit.engines.brian2_network",
    "biorrr.analysis",
    "biorrr.sims.page.run",
    "matplotlib.pyplot",
    "h5netcdf",
    "scipy.signal",
]
COMMAND = """
import os, signal, sys
from biorrr.sims.start import main
# also where the tests run in the background, and Ctrl-C is ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
for stream in (1, 2):
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
sys.argv = ["biorrr", *args]
main()
"""
SETTINGS = [(1, 0), (2, 1)]  # k and seed
COUNT = 60  # pairs of commands, each at moments of its own


@pytest.fixture(scope="module")
def start():
    """Starts ``biorrr`` as a process of its own, from one that has imported all: there are hundreds
    of them.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)

    def start(said, *args):
        process = context.Process(
            target=exec, args=(COMMAND, {"said": str(said), "args": [*map(str, args)]})
        )
        process.start()
        return process

    return start


def learn(data, folder, k, seed):
    options = ("--epochs", 4, "--engine", "numpy", "--checkpoint", 0.02)
    return ("learn", "--data", data, "-k", k, "--seed", seed, *options, "--out", folder)


@pytest.fixture(scope="module")
def results(start, tmp_path_factory):
    """Data, and the folder that each of the settings fills."""
    place = tmp_path_factory.mktemp("results")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    np.savez(place / "own.npz", X=X, Y=X[:, :3] + 0.1 * rng.standard_normal((60, 3)))
    for k, seed in SETTINGS:
        process = start(place / "said", *learn(place / "own.npz", place / f"{k}-{seed}", k, seed))
        process.join()
        assert process.exitcode == 0, (place / "said").read_text()
    return place


def contents(folder):
    """What is in each file of the run, and of the user; how far an unfinished one has come is no
    part of it.
    """
    return {
        path.name: path.read_bytes()
        for path in folder.glob("[!.]*")
        if path.is_file() and path.suffix != ".html"
    }


def held(folder):
    """The settings of the run in the folder, which all files agree about, and whether it is
    finished; None if none.
    """
    if not (folder / "config.toml").exists():
        assert not contents(folder).keys() - {"notes.txt"}
        if not (folder / "unfinished/config.toml").exists():
            return None
        config = tomllib.loads((folder / "unfinished/config.toml").read_text())
        return (config["k"], config["seed"]), False
    config = tomllib.loads((folder / "config.toml").read_text())
    settings = config["k"], config["seed"]
    names = contents(folder).keys() - {"notes.txt"}
    listed = json.loads((folder / "inventory.json").read_text())["files"]
    assert names == listed.keys()
    summary = json.loads((folder / "summary.json").read_text())
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as run:
        assert (run.sizes["pyramidal"], int(run.attrs["seed"])) == settings
        assert summary["k"] == config["k"]
        assert int(run["seen"][-1]) == summary["samples"]
    return settings, summary["ended"] != "interrupted"


def assert_whole(folder, straight):
    """The folder has what the same settings give undisturbed, bit for bit and figure for figure."""
    ours, theirs = contents(folder), contents(straight)
    assert ours.keys() - {"notes.txt"} == theirs.keys()
    for name, content in theirs.items():
        if name.endswith(".png"):
            assert ours[name] == content, name
    with (
        xr.open_dataset(folder / "run.nc", engine="h5netcdf") as run,
        xr.open_dataset(straight / "run.nc", engine="h5netcdf") as other,
    ):
        for one in (run, other):
            one.attrs.pop("seconds")
        xr.testing.assert_identical(run.load(), other.load())
    configs = [tomllib.loads(files["config.toml"].decode()) for files in (ours, theirs)]
    assert configs[0] == configs[1]
    summaries = [json.loads(files["summary.json"]) | {"seconds": 0} for files in (ours, theirs)]
    assert summaries[0] == summaries[1]
    left = {path.name for path in folder.iterdir() if path.name.startswith(".") or path.is_dir()}
    assert all(
        name.endswith("-report.html") for name in left
    )  # half a page, of `report` that was killed


def interleave(rng, start, results, folder):
    """Let two commands loose on a folder, and hold what they leave against what was there and what
    was asked for.
    """
    data, said = results / "own.npz", [folder.with_suffix(f".{i}") for i in range(3)]
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    before = None
    if rng.random() < 0.6:
        before = rng.choice(SETTINGS)
        shutil.copytree(results / f"{before[0]}-{before[1]}", folder, dirs_exist_ok=True)
    old = contents(folder)
    asked = []
    for _ in range(2):
        chosen, what = (
            rng.choice(SETTINGS),
            rng.choice(["learn", "learn", "force", "force", "resume", "report"]),
        )
        args = (what, folder) if what in ("resume", "report") else learn(data, folder, *chosen)
        asked.append((what, chosen, (*args, "--force") if what == "force" else args))
    begun = time.monotonic()
    events = sorted(
        [(rng.uniform(0, 1), "start", i) for i in range(2)]
        + [
            (rng.uniform(0, 2.5), rng.choice(["SIGINT", "SIGKILL"]), i)
            for i in range(2)
            if rng.random() < 0.6
        ]
    )
    processes, hit = {}, {}
    for moment, event, i in events:
        time.sleep(max(begun + moment - time.monotonic(), 0))
        if event == "start":
            processes[i] = start(said[i], *asked[i][2])
        elif i in processes and processes[i].is_alive():
            hit[i] = event
            os.kill(processes[i].pid, getattr(signal, event))
    for process in processes.values():
        process.join(60)
        assert process.exitcode is not None, "never ended"
    codes = [processes[i].exitcode for i in range(2)]
    story = (
        f"before {before};"
        f" {[(what, chosen, hit.get(i), codes[i]) for i, (what, chosen, _) in enumerate(asked)]}"
    )
    words = [path.read_text() if path.exists() else "" for path in said]
    for i in range(2):
        # Some are at their end when they are hit.
        assert codes[i] in (0, 1, 2, {"SIGKILL": -9, "SIGINT": 130}.get(hit.get(i))), (
            story + words[i]
        )
        assert "Traceback" not in words[i], story + words[i]
        assert sum(line.startswith("biorrr: ") for line in words[i].splitlines()) <= 1, (
            story + words[i]
        )
    try:
        if (folder / "unfinished/results/inventory.json").exists():
            outcome = "cut short while moving in"
        else:
            now = held(folder)
            whole = {
                chosen
                for (what, chosen, _), code in zip(asked, codes, strict=True)
                if code == 0 and what in ("learn", "force")
            }
            forced = {chosen for what, chosen, _ in asked if what == "force"}
            begun_now = {chosen for what, chosen, _ in asked if what in ("learn", "force")}
            if before and not whole & forced:
                assert contents(folder) == old, "lost or changed without a new run that is whole"
                outcome = "kept"
            elif whole:
                assert now[1], "said to be written"
                assert now[0] in whole, "another's"
                outcome = "written"
            else:
                assert now is None or (not before and now[0] in begun_now), "out of nowhere"
                outcome = "nothing" if now is None else "unfinished"
            if forced and (outcome == "kept") and (folder / "unfinished/config.toml").exists():
                outcome = "kept, and another unfinished"
        process = start(said[2], "resume", folder)
        process.join(60)
        assert process.exitcode == (2 if outcome == "nothing" else 0), said[2].read_text()
        if outcome != "nothing":
            (k, seed), finished = held(folder)
            assert finished
            assert_whole(folder, results / f"{k}-{seed}")
            assert (k, seed) in begun_now | {before}
        assert (folder / "notes.txt").read_text() == "mine"
    except AssertionError as error:
        raise AssertionError(
            f"{error}\n{story}\n{[path.read_text() for path in said if path.exists()]}"
        ) from error
    return outcome


@pytest.mark.slow
def test_two_commands_on_one_folder(start, results, tmp_path):
    seed = int(os.environ.get("BIORRR_FUZZ_SEED", "0"))
    outcomes, failures = Counter(), []
    for number in range(COUNT):
        try:
            outcomes[
                interleave(random.Random(seed + number), start, results, tmp_path / str(number))
            ] += 1
        except AssertionError as error:
            failures.append(f"{seed + number}: {error}")
            print(failures[-1], flush=True)
    print(f"{COUNT} interleavings: {dict(outcomes)}")
    assert not failures, "\n\n".join(failures)
    assert len(outcomes) >= 5, "moments that show too little"
