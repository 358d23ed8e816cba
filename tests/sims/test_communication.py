"""``biorrr communication`` from end to end: the circuit's held-out prediction beside the exact
one."""

import json
import os

import numpy as np
import pytest
import xarray as xr
from sklearn.model_selection import GroupKFold, PredefinedSplit

from biorrr.analysis import RankCV, ReducedRankRegression
from biorrr.analysis.communication import (
    FoldMoments,
    TwoAreas,
    matched_units,
    removed_dimensions,
    shuffled_trials,
    trial_folds,
)
from biorrr.sims import main
from biorrr.sims.data import load

needs_data = pytest.mark.skipif(
    not os.environ.get("BIORRR_DATA"),
    reason="needs the real data files; set BIORRR_DATA to their folder",
)


@pytest.fixture(scope="module")
def predicted(tmp_path_factory):
    """Folder, summary and results of the exact solution and its controls, two folds; not to be
    changed.
    """
    folder = tmp_path_factory.mktemp("communication") / "run"
    args = ["--data", "v1v2", "--ranks", "1", "--folds", "2", "--ridge", "0", "--no-simulation"]
    args += ["--draws", "2", "--shuffles", "20"]
    assert main.run(["communication", *args, "--out", str(folder)]) == 0
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as results:
        return folder, json.loads((folder / "summary.json").read_text()), results.load()


def test_run_folder(tmp_path):
    """Of circuits that learn a small planted recording for an epoch, without replay."""
    folder = tmp_path / "run"
    sizes = {"trials": 20, "bins": 5, "source_units": 8, "target_units": 4, "rank": 1}
    data = [
        "planted",
        *(word for name, size in sizes.items() for word in ("--set", f"data.{name}={size}")),
    ]
    args = [
        "--ranks",
        "1",
        "--folds",
        "2",
        "--epochs",
        "1",
        "--engine",
        "numpy",
        "--ridge",
        "0",
        "--draws",
        "2",
    ]
    args += ["--shuffles", "2"]
    assert main.run(["communication", "--data", *data, *args, "--out", str(folder)]) == 0
    summary = json.loads((folder / "summary.json").read_text())
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as results:
        assert summary["circuit_r2_1"] == results["circuit_r2"].sel(rank=1).item()
        assert [results[name].values.tolist() for name in ("seed", "k", "draw_k")] == [
            [0],
            [1, 2, 3, 4],
            [1, 2, 3, 4],
        ]
    names = ("communication", "dimensionality", "lags", "removal")
    figures = {f"{name}.{kind}" for name in names for kind in ("md", "png")}
    assert {path.name for path in folder.iterdir()} == figures | {
        "config.toml",
        "inventory.json",
        "run.nc",
        "summary.json",
    }


PLANTED = {"trials": 40, "bins": 5, "source_units": 14, "target_units": 6, "rank": 2}


def explore(folder, *args, **planted):
    """Run the exact solution on a small planted recording; returns the data, the folds and the
    summary.
    """
    options = [
        word
        for name, value in (PLANTED | planted).items()
        for word in ("--set", f"data.{name}={value}")
    ]
    fixed = ["--folds", "4", "--ranks", "1", "--ranks", "2", "--shuffles", "0", "--no-simulation"]
    assert (
        main.run(
            ["communication", "--data", "planted", *options, *fixed, *args, "--out", str(folder)]
        )
        == 0
    )
    data = load("planted", **PLANTED | planted)
    folds = trial_folds(data.groups, 4, conditions=np.zeros(len(data.X)), random_state=0)
    return data, folds, json.loads((folder / "summary.json").read_text())


def test_the_within_area_control_is_that_of_plain_regressions(tmp_path):
    """Each draw's rank and its R2 at this rank, by cross-validation on the data themselves."""
    data, folds, summary = explore(tmp_path / "run", "--draws", "3")
    ranks, r2, across = [], [], []
    for draw in range(3):
        units = matched_units(data.x_rates, data.y_rates, np.random.default_rng([0, 1, draw]))
        cv = {"ridge": summary["ridge"], "cv": PredefinedSplit(folds)}
        within = RankCV(**cv).fit(
            data.X[:, units.source], data.X[:, units.within], strata=data.strata
        )
        beyond = RankCV(**cv).fit(
            data.X[:, units.source], data.Y[:, units.across], strata=data.strata
        )
        ranks.append(within.k_)
        r2.append(within.r2_[within.k_ - 1])
        across.append(beyond.r2_[beyond.k_ - 1])
    assert len(set(within.r2_)) > 3  # another rank would give another number
    assert summary["within_rank"] == np.mean(ranks)
    assert summary["within_r2"] == pytest.approx(np.mean(r2), rel=1e-9)
    assert summary["across_r2"] == pytest.approx(np.mean(across), rel=1e-9)


def test_lags_and_shuffles_are_those_of_plain_regressions(tmp_path):
    """By cross-validation on the data themselves: lags at the rank that the recording asks for,
    shuffles at the rank that each asks for.
    """
    data, folds, summary = explore(
        tmp_path / "run", "--draws", "0", "--shuffles", "6", "--lags", "1", trials=160, gain=0.8
    )
    with xr.open_dataset(tmp_path / "run/run.nc", engine="h5netcdf") as results:
        null, lag = (results[name].squeeze().values for name in ("null_r2", "lag_r2"))

    def r2(here, there):
        cv = RankCV(ridge=summary["ridge"], cv=PredefinedSplit(folds[here]))
        return cv.fit(data.X[here], data.Y[there], strata=data.strata[here])

    rows = np.arange(len(data.X))
    straight = r2(rows, rows)
    shuffled = [
        r2(rows, shuffled_trials(data.groups, np.random.default_rng([0, number])))
        for number in range(6)
    ]
    assert {one.k_ for one in shuffled} != {straight.k_}  # each shuffle chooses its own rank
    np.testing.assert_allclose(null, [one.r2_[one.k_ - 1] for one in shuffled], rtol=1e-9)
    inner = rows.reshape(160, PLANTED["bins"])[:, 1:-1].ravel()  # bins that have one on either side
    expected = [r2(inner, inner + late).r2_[straight.k_ - 1] for late in (-1, 0, 1)]
    np.testing.assert_allclose(lag, expected, rtol=1e-9)


def test_z_scores_come_from_the_training_trials(tmp_path):
    """Standard deviations of all trials would let training see how much held-out trials vary."""
    data, folds, summary = explore(
        tmp_path / "run", "--draws", "0", "--zscore", "--residual", "none", "--ridge", "0.1"
    )
    folds = trial_folds(data.groups, 4, random_state=0)
    errors, deviations = np.zeros(2), 0.0
    for fold in range(4):
        train, test = folds != fold, folds == fold
        X, Y = (
            (view - view[train].mean(axis=0)) / view[train].std(axis=0) for view in (data.X, data.Y)
        )
        deviations += np.square(Y[test]).sum()
        for i in range(2):
            predicted = (
                ReducedRankRegression(i + 1, ridge=0.1).fit(X[train], Y[train]).predict(X[test])
            )
            errors[i] += np.square(Y[test] - predicted).sum()
    np.testing.assert_allclose(
        [summary["exact_r2_1"], summary["exact_r2_2"]], 1 - errors / deviations, rtol=1e-9
    )


def test_circuits_learn_the_same_z_scores():
    data = load("planted", **PLANTED)
    areas = TwoAreas(
        X=data.X, Y=data.Y, trials=data.trials, strata=data.strata, folds=4, zscore=True
    )
    for fold in range(4):
        x_train, y_train, x_test, y_test = areas.fold(fold)
        np.testing.assert_allclose(np.hstack([x_train, y_train]).std(axis=0), 1.0)
        trained, held_out = np.hstack([x_train, y_train]), np.hstack([x_test, y_test])
        np.testing.assert_allclose(
            areas.moments.training(fold)[0], trained.T @ trained, rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(
            areas.moments.held_out(fold)[0], held_out.T @ held_out, rtol=1e-9, atol=1e-9
        )


def test_the_removed_r2_is_without_as_many_dimensions_as_the_chosen_rank(tmp_path):
    data, folds, summary = explore(tmp_path / "run", "--draws", "0", trials=160, gain=0.8)
    moments = FoldMoments.of(data.X, data.Y, folds, data.strata)
    removed = removed_dimensions(
        moments, range(14), range(14, 20), summary["rank"] + 1, ridge=summary["ridge"]
    ).r2
    assert summary["rank"] >= 2
    assert len({round(one, 3) for one in removed}) == len(removed)
    assert summary["removed_r2"] == pytest.approx(removed[summary["rank"]], rel=1e-9)


def test_ranks_that_the_data_do_not_allow_are_left_out_or_refused(tmp_path, capsys):
    data = '{name = "planted", trials = 20, source-units = 6, target-units = 3, rank = 1}'
    args = ["communication", "--data", data, "--folds", "2", "--draws", "0", "--shuffles", "0"]
    args += ["--no-simulation", "--lags", "0", "--out", str(tmp_path / "run")]
    assert main.run([*args, "--ranks", "4", "--ranks", "3"]) == 0
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert [name for name in summary if name.startswith("exact_r2_")] == ["exact_r2_3"]
    assert main.run([*args, "--force", "--ranks", "5", "--ranks", "4"]) == 2
    assert "6 in the source and 3 in the target (got 4)" in capsys.readouterr().err


def test_too_few_shuffles_are_no_verdict(tmp_path):
    _, _, summary = explore(tmp_path / "run", "--draws", "0", "--shuffles", "4", gain=1.2)
    assert summary["null_p"] == 0.2
    assert summary["notes"] == "4 shuffles are too few to find p below 0.05"


@needs_data
def test_exact_r2_is_pooled_over_whole_held_out_trials(predicted):
    """As the data's README defines it, from plain fits."""
    _, summary, _ = predicted
    data = load("v1v2")
    errors = deviations = 0.0
    for train, test in GroupKFold(2, shuffle=True, random_state=0).split(
        data.X, groups=data.groups
    ):
        assert not set(data.groups[train]) & set(data.groups[test])
        fitted = ReducedRankRegression(1).fit(data.X[train], data.Y[train])
        errors += np.square(data.Y[test] - fitted.predict(data.X[test])).sum()
        deviations += np.square(data.Y[test] - data.Y[train].mean(axis=0)).sum()
    assert summary["exact_r2_1"] == pytest.approx(1 - errors / deviations, rel=1e-9)


@needs_data
def test_controls_of_the_published_recording(predicted):
    """V2 is predicted through fewer dimensions than it has, at no lag, and not with trials shuffled
    (Semedo et al.).
    """
    _, summary, results = predicted
    assert summary["rank"] < summary["within_rank"]
    assert summary["rank"] < summary["target_dimensionality"] < summary["source_dimensionality"]
    assert summary["best_lag"] == 0
    assert summary["null_r2"] < 0 < summary["r2"]
    assert summary["null_p"] == pytest.approx(1 / 21)
    assert summary["removed_r2"] < 0.2 * summary["full_r2"]
    assert results["null_r2"].sizes == {"shuffle": 20}


@needs_data
@pytest.mark.slow
def test_circuit_learns_the_communication_subspace(tmp_path):
    args = ["--ranks", "1", "--ranks", "2", "--folds", "5", "--out", str(tmp_path / "run")]
    assert main.run(["communication", *args]) == 0
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    for rank in (1, 2):
        assert summary[f"circuit_r2_{rank}"] == pytest.approx(
            summary[f"exact_r2_{rank}"], abs=0.005
        )
    assert (
        2 <= summary["rank"] <= 4 < summary["within_rank"]
    )  # V2 sees a subspace of what V1 shares within itself
