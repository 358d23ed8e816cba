"""Sweeps: every point once, finished points never again, failed ones with their reason, the same on
any workers.
"""

import json
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from biorrr.circuit import Diverged
from biorrr.sims import main, sweep
from biorrr.sims.lab import Findings, Quantity, items
from biorrr.sims.lab.settings import SettingsError
from biorrr.sims.sweeps import points as points_of
from biorrr.sims.sweeps.plan import make_plan, read_plan
from biorrr.sims.sweeps.points import TABLE, Table, path_of

FIXED = {"epochs": 1, "engine": "numpy"}


# -- plans -----------------------------------------------------------------------------------------


def test_grid_times_seeds():
    plan = make_plan(grid={"k": [1, 2], "s": [0.0, 0.5, 1.0]}, fixed={"epochs": 3}, seeds=2)
    assert [(p.k, p.s, p.seed) for p in plan.points] == [
        (k, s, seed) for k in (1, 2) for s in (0.0, 0.5, 1.0) for seed in (0, 1)
    ]
    assert {p.epochs for p in plan.points} == {3}
    assert plan.varied == ("k", "s")


def test_list_and_chosen_seeds():
    plan = make_plan(list=[{"k": 1, "s": 0}, {"k": 3}, {"k": 3}], seeds=[7, 5, 7])
    assert [(p.k, p.s, p.seed) for p in plan.points] == [
        (1, 0.0, 7),
        (1, 0.0, 5),
        (3, 0.0, 7),
        (3, 0.0, 5),
    ]


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ({}, "sweep: must have either grid or list (got none)"),
        (
            {"grid": {"k": [1]}, "list": [{"k": 1}]},
            "sweep: must have either grid or list (got both)",
        ),
        ({"grid": {"kk": [1]}}, "kk: no such setting, in grid"),
        ({"grid": {"k": 1}}, "k: must be a list of values, in grid (got 1)"),
        ({"grid": {"k": [0]}}, "k: must be at least 1 (got 0)"),
        (
            {"grid": {"seed": [0]}},
            "seed: is no part of grid; the sweep's own seeds says how many, or which",
        ),
        ({"grid": {"k": [1]}, "fixed": {"k": 2}}, "k: is both fixed and varied; keep one of them"),
        ({"grid": {"k": [1]}, "seeds": 0}, "seeds: must be a whole number in [1, 1000000] (got 0)"),
        (
            {"grid": {"k": [1]}, "seeds": [-1]},
            "seeds: must be a number of seeds, or a list of whole numbers from 0 on",
        ),
        (
            {"grid": {"k": [1] * 2000, "s": [0] * 2000}},
            "grid: must be a whole number in [1, 1000000] (got 4000000)",
        ),
        ({"list": []}, "list: must be a list of points, each a table of settings (got [])"),
        ({"list": [3]}, "list: must be a table of settings (got 3)"),
        (
            {"experiment": "os", "grid": {"k": [1]}},
            (
                "must be one of communication, compare, family, hierarchy,"
                " interneurons, learn, plateau, robustness, symmetry, theories, timing"
                " (got 'os')"
            ),
        ),
        (
            {"experiment": "wiring", "grid": {"k": [1]}},
            "(got 'wiring', which learns as learn does, and draws)",
        ),
        (
            {"experiment": ["learn"], "grid": {"k": [1]}},
            "experiment: must be one of communication, compare",
        ),
        (
            {"grid": {"seeds": [1, 2]}},
            "seeds: is no part of grid; the sweep's own seeds says how many, or which",
        ),
        (
            {"grid": {"format": ["png", "pdf"]}},
            "format: changes no number, so there is nothing to vary; put it under",
        ),
    ],
)
def test_bad_plans_say_what_is_wrong(plan, sentence):
    with pytest.raises(SettingsError) as caught:
        make_plan(**plan)
    assert sentence in str(caught.value)


def test_unknown_key_in_a_file(tmp_path):
    (tmp_path / "sweep.toml").write_text("gird = {k = [1]}")
    with pytest.raises(
        SettingsError, match=r"gird: no such key, in .*; a sweep has experiment, seeds"
    ):
        read_plan(tmp_path / "sweep.toml")


@pytest.mark.parametrize(
    "told",
    [
        {
            "grid": {"k": [1, 2], "s": (0.0, 1.0)},
            "fixed": {"epochs": 3, "ridge": None},
            "seeds": [4, 7],
        },
        {"grid": {"ridge": [None, 0.5], "k": [1, 2]}, "measure": "r_minus_qt"},
        {"list": [{"k": 1}, {"k": 3, "s": 1.0}]},
    ],
)
def test_plan_is_kept_as_a_file_that_makes_it_again(tmp_path, told):
    import tomli_w

    plan = make_plan(**told)
    (tmp_path / "sweep.toml").write_text(
        tomli_w.dumps({**plan.source, "provenance": {"biorrr": "0"}})
    )
    again = read_plan(tmp_path / "sweep.toml")
    assert (again.points, again.measure, set(again.varied)) == (
        plan.points,
        plan.measure,
        set(plan.varied),
    )


# -- carrying them out -----------------------------------------------------------------------------


@pytest.fixture
def measured(monkeypatch):
    """What ``learn`` would measure, without a circuit: quick, and fails at k = 3."""
    seen = []

    def evaluate(experiment, settings, data):
        assert experiment.name == "learn"
        seen.append(settings)
        if settings.k == 3:
            raise Diverged("the circuit diverged at sample 7")
        excess = abs(settings.s - 0.5) + settings.k + 0.001 * settings.seed
        return Findings(
            quantities=[Quantity("excess", excess, "%"), Quantity("ended", "done")], title=""
        )

    monkeypatch.setattr(points_of, "evaluate", evaluate)
    return seen


def test_finished_points_are_never_computed_again(own_data, tmp_path, measured):
    told = {"fixed": FIXED | {"data": str(own_data)}, "out": tmp_path / "sweep", "workers": 0}
    table = sweep(grid={"k": [1, 2], "s": [0.0, 0.5]}, seeds=2, **told)
    assert len(table) == len(measured) == 8
    assert not table.duplicated(["k", "s", "seed"]).any()
    assert table.loc[table["excess"].idxmin(), ["k", "s", "seed"]].tolist() == [1, 0.5, 0]
    measured.clear()
    assert sweep(grid={"k": [1, 2], "s": [0.0, 0.5]}, seeds=2, **told).equals(table)
    assert measured == []
    more = sweep(grid={"k": [1, 2], "s": [0.0, 0.5, 1.0]}, seeds=2, **told)
    assert len(more) == 12
    assert {point.s for point in measured} == {1.0}


def test_changed_data_are_computed_again(own_data, tmp_path, measured):

    told = {
        "fixed": FIXED | {"data": str(own_data)},
        "out": tmp_path / "sweep",
        "workers": 0,
        "grid": {"k": [1]},
    }
    sweep(**told)
    np.savez(own_data, X=np.eye(5), Y=np.eye(5))
    sweep(**told)
    assert len(measured) == 2


def test_failed_points_are_recorded_and_tried_again_only_if_told(own_data, tmp_path, measured):
    told = {
        "fixed": FIXED | {"data": str(own_data)},
        "out": tmp_path / "sweep",
        "workers": 0,
        "grid": {"k": [1, 3]},
    }
    table = sweep(**told)
    assert table["status"].tolist() == ["done", "failed"]
    assert table["reason"].tolist()[1] == "the circuit diverged at sample 7"
    sweep(**told)
    assert len(measured) == 2
    sweep(**told, retry=True)
    assert [point.k for point in measured] == [1, 3, 3]


@pytest.mark.parametrize("folders", [False, True])
def test_interrupted_point_is_no_result(own_data, tmp_path, monkeypatch, folders):
    """Ctrl-C ends the sweep: half a run is neither a number nor a failure."""
    from biorrr.circuit import Microcircuit

    complete = Microcircuit.run

    def interrupted(self, *args, **options):
        run = complete(self, *args, **options)
        run.data.attrs["ended"] = "interrupted"
        return run

    monkeypatch.setattr(Microcircuit, "run", interrupted)
    told = {"fixed": FIXED | {"data": str(own_data)}, "grid": {"k": [1, 2]}, "folders": folders}
    with pytest.raises(KeyboardInterrupt):
        sweep(out=tmp_path / "sweep", workers=0, **told)
    assert not (tmp_path / "sweep/points").exists()
    assert (tmp_path / "sweep/sweep.toml").exists()


def test_damaged_files_lose_one_point_at_most(own_data, tmp_path, measured):
    told = {
        "fixed": FIXED | {"data": str(own_data)},
        "out": tmp_path / "sweep",
        "workers": 0,
        "grid": {"k": [1, 2]},
    }
    table = sweep(**told)
    (tmp_path / "sweep/sweep.csv").write_bytes(b"k,exc")
    plan = make_plan(fixed=told["fixed"], grid=told["grid"])
    path_of(plan, tmp_path / "sweep", measured[0]).write_bytes(b"\x89HDF")
    assert sweep(**told).equals(table)
    assert [point.k for point in measured] == [1, 2, 1]
    assert pd.read_csv(tmp_path / "sweep/sweep.csv")["excess"].tolist() == table["excess"].tolist()


def test_command_table_figure_and_status(own_data, tmp_path, measured, capsys):
    file = tmp_path / "small.toml"
    file.write_text(f"seeds = 2\n[fixed]\ndata = '{own_data}'\nepochs = 1\n[grid]\nk = [1, 2, 3]\n")
    args = ["sweep", str(file), "--out", str(tmp_path / "out")]
    assert main.run([*args, "--status"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/out: 6 points: 0 done, 0 failed, 6 left\n"
    assert main.run([*args, "--workers", "0"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out == [
        f"{tmp_path}/out: 6 points: 4 done, 2 failed, 0 left",
        "  failed 2 times: the circuit diverged at sample 7",
        "  lowest excess of a single point 150 % at k 1, seed 0",
        "  lowest excess of a single point 250 % at k 2, seed 0",
        f"  table {tmp_path}/out/sweep.csv",
    ]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "points",
        "sweep.csv",
        "sweep.md",
        "sweep.png",
        "sweep.toml",
    ]
    assert len((tmp_path / "out/sweep.csv").read_text().splitlines()) == 7


@pytest.mark.slow
def test_run_folders_on_request(own_data, tmp_path):
    told = {"fixed": FIXED | {"data": str(own_data)}, "workers": 0, "grid": {"k": [1]}}
    plain = sweep(out=tmp_path / "plain", **told)
    table = sweep(out=tmp_path / "folders", folders=True, **told)
    (run,) = (tmp_path / "folders/runs").iterdir()
    assert {"config.toml", "run.nc", "summary.json"} <= {path.name for path in run.iterdir()}
    assert (
        table["excess"].tolist()
        == plain["excess"].tolist()
        == [json.loads((run / "summary.json").read_text())["excess"]]
    )


V1V2 = pytest.mark.skipif(
    not os.environ.get("BIORRR_DATA"), reason="needs the real data files; set BIORRR_DATA"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "fixed", "grid"),
    [
        ("plateau", {"epochs": 1}, {"s": [[0.0], [1.0]]}),
        ("symmetry", {"etas": [0.1]}, {"k": [1, 2]}),
        ("compare", {"steps": 60, "k": [1]}, {"ridge": [0.1, 0.2]}),
        ("robustness", {"samples": 60, "departures": ["delay"], "quick": True}, {"k": [1, 2]}),
        pytest.param(
            "communication",
            {"folds": 2, "epochs": 1, "ridge": 0.0},
            {"ranks": [[1], [2]]},
            marks=V1V2,
        ),
    ],
)
def test_other_experiments(experiment, fixed, grid, own_data, tmp_path):
    """A point has the numbers that the experiment by itself puts into its summary, in a folder or
    without.
    """
    if experiment != "communication":
        fixed = fixed | {"data": [str(own_data)] if experiment == "robustness" else str(own_data)}
    told = {
        "experiment": experiment,
        "fixed": fixed | {"engine": "numpy"},
        "grid": grid,
        "workers": 0,
    }
    table = sweep(out=tmp_path / "plain", **told)
    assert table["status"].tolist() == ["done", "done"], table["reason"].tolist()
    measure = make_plan(**{name: told[name] for name in ("experiment", "fixed", "grid")}).measure
    assert table[measure].notna().all()
    assert (tmp_path / "plain/sweep.png").exists()
    in_folders = sweep(out=tmp_path / "folders", folders=True, **told)
    assert without_seconds(table).equals(without_seconds(in_folders))
    for path in (tmp_path / "plain/points").iterdir():
        with xr.open_dataset(tmp_path / "folders/points" / path.name, engine="h5netcdf") as beside:
            numbers = {name: one.item() for name, one in beside.items()}
        summary = json.loads((tmp_path / "folders/runs" / path.stem / "summary.json").read_text())
        for judged in ("claims", "own_tests"):
            summary.pop(judged, None)
        assert numbers == {name: value for name, value in summary.items() if value is not None}


def test_resume_of_a_finished_sweep_and_of_one_whose_data_changed(
    own_data, tmp_path, measured, capsys
):

    out = tmp_path / "sweep"
    sweep(fixed=FIXED | {"data": str(own_data)}, out=out, workers=0, grid={"k": [1, 2]})
    assert main.run(["resume", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: finished; nothing to resume\n"
    next((out / "points").iterdir()).unlink()
    np.savez(own_data, X=np.eye(5), Y=np.eye(5))
    assert main.run(["resume", str(out)]) == 2
    assert (
        capsys.readouterr().err
        == f"biorrr: data: changed since the sweep in {out} began (another checksum); put back what"
        f" they were, or compute all points again: biorrr sweep {out}/sweep.toml --out {out}\n"
    )
    assert len(measured) == 2


@pytest.mark.parametrize("link", ["runs", "runs/*", "points", "points/*", "sweep.toml"])
def test_links_in_a_sweep_that_was_sent_are_refused(own_data, tmp_path, measured, capsys, link):
    """Resuming it neither writes nor reads anywhere else."""
    out, elsewhere = tmp_path / "sent", tmp_path / "elsewhere"
    sweep(fixed=FIXED | {"data": str(own_data)}, out=out, workers=0, grid={"k": [1, 2]})
    (out / TABLE).unlink()
    for point in (out / "points").iterdir():
        (out / "runs" / point.stem).mkdir(parents=True)
        (out / "runs" / point.stem / "config.toml").touch()
    if not link.startswith("points"):
        next((out / "points").iterdir()).unlink()
    (linked,) = (
        [*out.glob(link)][:1]
        if link != "runs/*"
        else [path for path in out.glob(link) if not (out / "points" / f"{path.name}.nc").exists()]
    )
    linked.rename(elsewhere)
    linked.symlink_to(elsewhere)
    before = sorted((path, path.stat().st_mtime_ns) for path in (elsewhere, *elsewhere.rglob("*")))
    assert main.run(["resume", str(out)]) == 2
    assert (
        capsys.readouterr().err
        == f"biorrr: {linked}: must be a file in the folder itself (got a link, which may lead"
        " anywhere); delete it, or put a copy there\n"
    )
    assert (
        sorted((path, path.stat().st_mtime_ns) for path in (elsewhere, *elsewhere.rglob("*")))
        == before
    )


def test_without_dask_one_sentence(monkeypatch, tmp_path, capsys):
    (tmp_path / "sweep.toml").write_text("grid = {k = [1]}")
    monkeypatch.setitem(sys.modules, "distributed", None)
    options = ["--scheduler", "tcp://here:1"]
    assert (
        main.run(["sweep", str(tmp_path / "sweep.toml"), "--out", str(tmp_path / "out"), *options])
        == 2
    )
    assert (
        capsys.readouterr().err
        == "biorrr: scheduler: needs distributed, which is not installed; pip install"
        " 'biorrr[cluster]'\n"
    )


def test_figure_marks_the_best_mean():
    plan = make_plan(
        "timing", grid={"samples": [1000, 2000], "trace": [0.1, 0.2]}, measure="excess", seeds=2
    )
    rows = [
        {
            "samples": p.samples,
            "trace": p.trace,
            "seed": p.seed,
            "excess": (
                p.samples / 1000
                + p.trace
                + (3 if (p.samples, p.trace, p.seed) == (1000, 0.1, 1) else 0)
            ),
        }
        for p in plan.points
    ]
    assert Table(plan, rows, "").means[1000, 0.1] == pytest.approx(2.6)
    ax = Table(plan, rows, "").plot()
    assert note_of(ax) == "Lowest: 120 % at samples 1000, trace 0.2."
    assert ax.figure.axes[1].get_ylabel() == "excess over the optimum,\nmean of 2 seeds"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("trace", "samples")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0.1", "0.2"]
    assert Table(make_plan(grid={"epochs": [1]}), [], "").plot() is None


def test_figure_compares_only_points_of_one_problem():
    """The excess of k = 1 says nothing about that of k = 2."""
    plan = make_plan(grid={"k": [1, 2], "epochs": [1, 2, 3]})
    rows = [
        {"k": p.k, "epochs": p.epochs, "seed": 0, "excess": p.k + abs(p.epochs - p.k - 1)}
        for p in plan.points
    ]
    ax = Table(plan, rows, "").plot()
    where = "100 % at k 1, epochs 2; 200 % at k 2, epochs 3"
    assert note_of(ax) == f"Lowest at each k, a problem of its own: {where}."
    # Epochs 2 for k = 1, 3 for k = 2.
    (stars,) = ax.get_lines()
    assert stars.get_xydata().tolist() == [[1, 0], [2, 1]]
    plan = make_plan(grid={"k": [1, 2]})
    ax = Table(plan, [{"k": p.k, "seed": 0, "excess": p.k} for p in plan.points], "").plot()
    assert note_of(ax) == "Each k is a problem of its own: values are not compared."


def test_caption_states_the_means():
    rows = [
        {"k": k, "seed": seed, "status": "done", "excess": k + seed}
        for k in (1, 2)
        for seed in (0, 1)
    ]
    caption = Table(make_plan(grid={"k": [1, 2]}, seeds=2), rows, "%").caption
    assert "large points are means over seeds, small grey ones single seeds." in caption
    assert "Means: 150 % at k 1; 250 % at k 2." in caption


def note_of(ax):
    """Return the sentence below a figure."""
    return ax.figure.legends[0].get_title().get_text().replace("\n", " ")


# -- on workers ------------------------------------------------------------------------------------


@pytest.fixture
def distributed():
    return pytest.importorskip("distributed", reason="needs the extra `cluster`")


def without_seconds(table):
    return table[[name for name in table if "seconds" not in name]]


@pytest.mark.slow
def test_local_workers_give_what_one_process_gives(own_data, tmp_path, compiled_code):
    told = {"fixed": FIXED | {"data": str(own_data)}, "grid": {"k": [1, 2]}, "seeds": 2}
    spread = sweep(out=tmp_path / "spread", workers=2, **told)
    alone = sweep(out=tmp_path / "alone", workers=0, **told)
    assert without_seconds(spread).equals(without_seconds(alone))


@pytest.mark.slow
def test_200_points_with_a_worker_killed_twice(own_data, tmp_path, compiled_code):
    """200 rows, none twice, equal to what one process computes."""
    told = {
        "fixed": {"data": str(own_data), "engine": "cpp", "epochs": 2, "k": 2},
        "grid": {
            "s": [place / 10 for place in range(10)],
            "ridge": [0.1 * place for place in range(1, 11)],
        },
        "seeds": 2,
    }
    out = tmp_path / "killed"
    killed = []

    def kill_after(points):
        while len(list(out.glob("points/*.nc"))) < points:
            time.sleep(0.05)
        worker = multiprocessing.active_children()[0]
        worker.kill()
        killed.append(worker.pid)

    threads = [
        threading.Thread(target=kill_after, args=(points,), daemon=True) for points in (20, 90)
    ]
    for thread in threads:
        thread.start()
    table = sweep(out=out, workers=2, **told)
    assert len(killed) == 2
    assert len(table) == 200
    assert not table.duplicated(["s", "ridge", "seed"]).any()
    assert set(table["status"]) == {"done"}
    alone = sweep(out=tmp_path / "alone", workers=0, **told)
    assert without_seconds(table).equals(without_seconds(alone))


@pytest.mark.slow
def test_killed_sweep_is_resumed(own_data, tmp_path, start_biorrr, run_biorrr):
    """kill -9 of the sweep itself: its workers end with it, and resume computes what was not
    finished and no more.
    """
    import psutil

    file, out = tmp_path / "small.toml", tmp_path / "out"
    file.write_text(
        f"seeds = 40\n[fixed]\ndata = '{own_data}'\nengine = 'cpp'\nepochs = 200\n[grid]\nk = [1,"
        " 2]\n"
    )
    process = start_biorrr("sweep", file, "--out", out, "--workers", 2)
    deadline = time.monotonic() + 120
    while len(list(out.glob("points/[!.]*.nc"))) < 5:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
    finished = {path: path.stat().st_mtime_ns for path in out.glob("points/[!.]*.nc")}
    assert 5 <= len(finished) < 80
    file.unlink()  # the sweep's folder has the plan
    code, printed, err = run_biorrr("resume", out)
    assert code == 0, err
    assert "80 points: 80 done, 0 failed, 0 left" in printed
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert len((out / "sweep.csv").read_text().splitlines()) == 81
    assert run_biorrr("resume", out) == (0, f"{out}: finished; nothing to resume\n", "")


@pytest.mark.slow
def test_scheduler_killed_midway_loses_nothing_finished(
    distributed, own_data, tmp_path, start_biorrr, run_biorrr
):
    file = tmp_path / "sweep.toml"
    file.write_text(
        f"seeds = 60\n[fixed]\ndata = '{own_data}'\nengine = 'cpp'\nepochs = 100\n[grid]\ns = [0.0,"
        " 0.5, 1.0]\n"
    )
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    address_file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*dask, "--scheduler-file", str(address_file)], **quiet)
    deadline = time.monotonic() + 60
    while not address_file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    address = json.loads(address_file.read_text())["address"]
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            address,
            "--nthreads",
            "1",
            "--no-dashboard",
        ],
        **quiet,
    )
    try:
        out = tmp_path / "out"
        process = start_biorrr("sweep", file, "--out", out, "--scheduler", address)
        deadline = time.monotonic() + 120
        while len(list(out.glob("points/*.nc"))) < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        scheduler.kill()
        _, err = process.communicate(timeout=120)
    finally:
        for started in (scheduler, worker):
            started.kill()
            started.wait()
    finished = len(list(out.glob("points/*.nc")))
    assert 5 <= finished < 180
    assert process.returncode == 1
    assert (
        "biorrr: the scheduler is gone; what is finished is kept; the same command goes on with the"
        " rest" in err
    )
    assert "Traceback" not in err
    code, printed, err = run_biorrr("sweep", file, "--out", out, "--workers", 2)
    assert code == 0, err
    assert "180 points: 180 done, 0 failed, 0 left" in printed


def test_a_sweep_killed_after_its_last_point_is_not_finished(tmp_path, monkeypatch):
    """Ctrl-C leaves the table of some points; the next run is killed when all points are done and
    the table is not.
    """
    out = tmp_path / "sweep"
    points = {
        "grid": {"k": [1, 2]},
        "fixed": {**FIXED, "data": '{name="synthetic", samples=40, m=5, n=4}'},
    }
    keep = items.keep_result

    def interrupted(place, *args):
        keep(place, *args)
        if place is not None:  # the items of a point are not kept
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(items, "keep_result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sweep(out=out, workers=0, **points)
    assert len(pd.read_csv(out / TABLE)) == 1

    def killed(*_):
        raise SystemExit("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Table, "write", killed)
        with pytest.raises(SystemExit):
            sweep(out=out, workers=0, **points)
    assert main.run(["resume", str(out)]) == 0
    assert len(pd.read_csv(out / TABLE)) == 2
    assert (out / "sweep.png").exists()


@pytest.mark.parametrize(
    "address", ["nonsense", "tcp://", "nonsense:x", "127.0.0.1:9", "no-such-host.invalid:8786"]
)
def test_an_address_without_a_scheduler_is_refused_at_once(own_data, tmp_path, capsys, address):
    (tmp_path / "plan.toml").write_text(f"[fixed]\ndata = '{own_data}'\n[grid]\nk = [1]\n")
    began = time.monotonic()
    args = ["sweep", tmp_path / "plan.toml", "--scheduler", address, "--out", tmp_path / "out"]
    assert main.run([*map(str, args)]) == 2
    assert time.monotonic() - began < 10
    err = capsys.readouterr().err
    assert err.startswith("biorrr: scheduler: ")
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_relative_paths_hold_for_workers_in_another_folder(
    distributed, own_data, tmp_path, monkeypatch, capsys
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        monkeypatch.chdir(tmp_path)
        Path("own.py").write_text(
            "from biorrr.circuit import Microcircuit\ndef make(**a): return Microcircuit(**a)\n"
        )
        Path("plan.toml").write_text(
            "[fixed]\ndata = 'own.npz'\nepochs = 1\nengine = 'numpy'\n[grid]\nk = [1]\n"
        )
        address = cluster.scheduler_address
        args = ["--scheduler", address, "--circuit", "own.py:make", "--folders", "--out", "out"]
        assert main.run(["sweep", "plan.toml", *args]) == 0
    assert "1 done, 0 failed" in capsys.readouterr().out
    assert [path.parent.parent for path in Path("out").glob("runs/*/summary.json")] == [
        Path("out/runs")
    ]
    assert [*elsewhere.rglob("summary.json")] == []


def test_a_sweep_of_which_every_point_fails_fails(own_data, tmp_path, monkeypatch, capsys):
    """A circuit function that calls sys.exit(0) has failed too."""
    monkeypatch.chdir(tmp_path)
    Path("leaves.py").write_text("import sys\ndef make(**a): sys.exit(0)\n")
    Path("plan.toml").write_text(
        "[fixed]\ndata = 'own.npz'\nepochs = 1\nengine = 'numpy'\n[grid]\nk = [1, 2]\n"
    )
    assert (
        main.run(
            ["sweep", "plan.toml", "--circuit", "leaves.py:make", "--workers", "0", "--out", "out"]
        )
        == 1
    )
    out, err = capsys.readouterr()
    assert "0 done, 2 failed" in out
    assert "circuit: leaves.py:make failed (SystemExit: 0)" in out
    assert err.endswith("biorrr: sweep: all 2 points failed; correct the cause and add --retry\n")
    assert (
        main.run(["learn", "--data", "own.npz", "--circuit", "leaves.py:make", "--out", "run"]) == 1
    )
    assert "circuit: leaves.py:make failed (SystemExit: 0)" in capsys.readouterr().err


def test_points_of_different_problems_are_not_compared(own_data, tmp_path, capsys):
    (tmp_path / "plan.toml").write_text(
        f"[fixed]\ndata = '{own_data}'\nengine = 'numpy'\n[grid]\nk = [1, 2]\nepochs = [1, 2]\n"
    )
    assert (
        main.run(
            ["sweep", str(tmp_path / "plan.toml"), "--workers", "0", "--out", str(tmp_path / "out")]
        )
        == 0
    )
    lowest = [line for line in capsys.readouterr().out.splitlines() if "lowest excess" in line]
    assert [re.search(r"k (\d)", line)[1] for line in lowest] == ["1", "2"]
