"""Comparisons of learners, end to end at a small size."""

import json
from functools import partial

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import IQMD, OnlineBioRRR
from biorrr.analysis.figures.races import plot_race
from biorrr.circuit import Microcircuit
from biorrr.models import Rate, Rates
from biorrr.sims import main
from biorrr.sims.comparisons import contenders
from biorrr.sims.comparisons.contenders import (
    ASKED,
    CIRCUIT,
    FRACTIONS,
    STABLE,
    Contender,
    Problem,
    compare_learners,
    final_numbers,
    load_views,
    solve,
)
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.experiments.compare import CompareSettings, compare
from biorrr.sims.lab import Lab, Task

SMALL = {
    "data": '{name="synthetic", samples=300, m=8, n=6}',
    "k": (1, 2),
    "seeds": 2,
    "steps": 400,
    "engine": "numpy",
}


def loaded(given, **settings):
    """Return what is compared where the settings name the ``given`` data."""
    chosen = CompareSettings(k=(1,), **settings)
    return load_views(Lab(compare, chosen, given={chosen.data: given}))


def test_mediamill_is_compared_in_the_papers_direction_and_other_data_as_given():
    data, problems = small_data(), CompareSettings(all=True).problems
    assert [str(one) for one in problems] == ["RRMSE, online", "RRMSE, offline", "CCA, online"]
    for name, view, direction in (
        ("mediamill", "Y", "y_predicts_x"),
        ("digits", "X", "x_predicts_y"),
    ):
        settings = CompareSettings(all=True, data=name)
        assert settings.key_of(problems[0]) == f"rrmse_online_{direction}"
        predicting = getattr(data, view)
        np.testing.assert_array_equal(
            loaded(data, data=name).X, predicting - predicting.mean(axis=0)
        )


@pytest.mark.parametrize(
    ("settings", "learners"),
    [
        ({"objective": "rrmse"}, ["circuit", "Bio-RRMSE", "IQMD", "ANN"]),
        pytest.param(
            {"objective": "cca"},
            [
                *("circuit", "Bio-CCA", "Bio-CCA, offline"),
                *("MSG-CCA", "CCALin", "CCALin, 1 step", "SAA"),
            ],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"objective": "rrmse", "setting": "offline"},
            ["Bio-RRMSE", "IQMD", "ANN"],
            marks=pytest.mark.slow,
        ),
    ],
)
@pytest.mark.figures
def test_runs_end_to_end(settings, learners, tmp_path, capsys):
    folder = tmp_path / "run"
    chosen = SMALL | settings
    args = [
        part for name, value in chosen.items() if name != "k" for part in (f"--{name}", str(value))
    ]
    assert main.run(["compare", *args, "-k", "1", "-k", "2", "--out", str(folder)]) == 0
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as data:
        assert sorted(data["learner"].values) == sorted(learners)
        assert (data["excess"].isel(snapshot=0) > -1e-9).all()
        assert float(np.nanmin(data["excess"])) > -1e-9  # nothing beats the exact optimum
    summary = json.loads((folder / "summary.json").read_text())
    assert {"claim", "holds"} <= set(summary["claims"][0])
    assert (folder / "compare.png").stat().st_size > 10_000
    assert (folder / "constraint.png").stat().st_size > 10_000
    assert "the paper's claims" in capsys.readouterr().out


def test_the_circuit_is_warmed_up_before_its_time_is_taken(monkeypatch):
    """The first circuit paid for what every first run loads: 0.44 s instead of 0.035 s."""
    called = []
    clock = contenders.process_time
    monkeypatch.setattr(contenders, "process_time", lambda: (called.append("clock"), clock())[1])
    run = Microcircuit.run

    def spied(self, X, Y, order=None, **options):
        called.append(len(order))
        return run(self, X, Y, order=order, **options)

    monkeypatch.setattr(Microcircuit, "run", spied)
    data, problem = small_data(), Problem("rrmse", "online")
    lab = Lab(compare, CompareSettings(ridge=0.0, seeds=1, engine="numpy"))
    circuit = Contender(problem, CIRCUIT, None, 1, 5)
    compare_learners(lab, [circuit], data, solve(data, [problem], 0.0))
    assert called == [1, "clock", 5, "clock"]


@pytest.mark.parametrize(("wall", "counted"), [(1.0, 1.0), (8.0, 4.0)])
def test_a_run_that_was_cut_short_took_as_much_cpu_time_before(wall, counted, monkeypatch):
    """The rest of it took 1 s of CPU time in 2 s; all of it took ``wall`` seconds."""

    class Resumed(Task):
        def run(self, *args, **options):
            run = super().run(*args, **options)
            run.data.attrs["seconds"] = wall
            return run

    monkeypatch.setattr(contenders, "perf_counter", iter([0.0, 2.0]).__next__)
    monkeypatch.setattr(contenders, "process_time", iter([0.0, 1.0]).__next__)
    task = Resumed(CompareSettings(ridge=0.0, seeds=1, engine="numpy"))
    racer = Contender(Problem("rrmse", "online"), CIRCUIT, None, 1, 5)
    assert contenders.run_circuit(task, racer, 0, small_data())["seconds"][-1] == counted


def test_only_the_first_rows_are_used():
    data = small_data()
    assert len(loaded(data).X) == len(loaded(data, rows=500).Y) == 200
    some = loaded(data, rows=50)
    np.testing.assert_array_equal(some.X, data.X[:50] - data.X[:50].mean(axis=0))
    np.testing.assert_array_equal(some.Y, data.Y[:50] - data.Y[:50].mean(axis=0))


def test_the_figure_counts_passes_only_where_steps_differ():
    """Online, passes are samples over a constant: the row said the same as the one above it."""
    rng = np.random.default_rng(0)

    def results(rows_per_pass):
        shape = len(rows_per_pass), 1, 2, 3
        t = np.broadcast_to([1.0, 10.0, 100.0], (len(rows_per_pass), 1, 3))
        passes = np.broadcast_to(t[:, :, None] / np.reshape(rows_per_pass, (-1, 1, 1, 1)), shape)
        values = {
            name: (("learner", "k", "seed", "snapshot"), rng.random(shape))
            for name in ("excess", "seconds")
        }
        values |= {
            "passes": (("learner", "k", "seed", "snapshot"), passes),
            "t": (("learner", "k", "snapshot"), t),
        }
        return xr.Dataset(values, {"learner": ["ANN", "IQMD"], "k": [1]})

    labels = [
        [ax.get_xlabel() for ax in plot_race(results(rows)).axes] for rows in ((50, 50), (50, 1))
    ]
    assert labels == [
        ["samples", "CPU time (s)"],
        ["samples", "passes through the data", "CPU time (s)"],
    ]
    drawn = results((50, 50))
    line = plot_race(drawn).axes[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), drawn["excess"].mean("seed").values[0, 0])


def test_every_learner_has_a_line_of_its_own():
    shape, t = (9, 1, 2, 3), np.broadcast_to([1.0, 10.0, 100.0], (9, 1, 3))
    values = {
        name: (("learner", "k", "seed", "snapshot"), np.ones(shape))
        for name in ("excess", "seconds", "passes")
    }
    drawn = xr.Dataset(
        values | {"t": (("learner", "k", "snapshot"), t)}, {"learner": [*"abcdefghi"], "k": [1]}
    )
    lines = [
        line
        for line in plot_race(drawn).axes[0].lines
        if line.get_label() in drawn["learner"].values
    ]
    assert (
        len({(line.get_color(), str(line.get_linestyle()), line.get_marker()) for line in lines})
        == 9
    )


def test_k_too_large_is_refused_before_anything_is_written(tmp_path, capsys):
    args = ["--data", SMALL["data"], "-k", "7", "--out", str(tmp_path / "run")]
    assert main.run(["compare", *args]) == 2
    assert "k: must not exceed min(m, n) = 6" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def small_data():
    """Return 200 samples of five inputs and three responses."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    return Dataset("mine", X, X[:, :3] + 0.1 * rng.standard_normal((200, 3)))


def compared(steps=500):
    """Compare one learner at rates far beyond what is stable."""
    data, problem = small_data(), Problem("rrmse", "online")
    wild = Rates(Rate(0.5), Rate(0.02), Rate(0.01))
    contender = Contender(problem, "bio", OnlineBioRRR, 1, steps, wild)
    lab = Lab(compare, CompareSettings(steps=steps, seeds=2, ridge=0.0))
    return compare_learners(lab, [contender], data, solve(data, [problem], 0.0))[problem]


def test_rates_too_large_are_shown_beside_those_at_which_no_seed_diverges():
    course = compared().sel(learner="bio", k=1)
    asked, stable = course.sel(rates=ASKED), course.sel(rates=STABLE)
    assert asked["fraction"] == 1
    assert asked["diverged"].all()
    assert np.isnan(asked["excess"]).all()
    assert stable["fraction"] in FRACTIONS[1:]
    assert not stable["diverged"].any()
    assert np.isfinite(stable["excess"]).all()


def test_the_table_has_a_row_of_the_printed_rates_and_one_of_smaller_ones():
    courses = compared()
    course = courses.sel(learner="bio", k=1)
    found = {one.name: one for one in final_numbers("bio_k1", course, "bio, k = 1")}
    assert found["bio_k1_diverged"].value == 1
    assert found["bio_k1_diverged"].words == "seeds that diverge"
    assert np.isnan(found["bio_k1_excess"].value)
    slowed = found["bio_k1_slowed_excess"]
    fraction = found["bio_k1_slowed_rates_fraction"].value
    assert slowed.row == f"bio, k = 1, {fraction:g} of the rates"
    assert slowed.value == courses["excess"].sel(rates=STABLE).isel(snapshot=-1).mean()


def test_learners_of_the_same_name_belong_to_their_own_problem():
    """IQMD learns online and offline: what it did offline stood in the row of both."""
    data = small_data()
    problems = [Problem("rrmse", setting) for setting in ("online", "offline")]
    both = [
        Contender(problem, "IQMD", partial(IQMD, online=steps == 60, tol=0.0), 1, steps)
        for problem, steps in zip(problems, (60, 5), strict=True)
    ]
    lab = Lab(compare, CompareSettings(ridge=0.1, seeds=1))
    found = compare_learners(lab, both, data, solve(data, problems, 0.1))
    assert [float(found[one]["t"].max()) for one in problems] == [60, 5]
