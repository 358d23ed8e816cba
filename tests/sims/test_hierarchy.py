"""`biorrr hierarchy`: its claims can fail, its mistakes are said, and a small run fills its
folder."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import ExactHierarchy, HierarchyOptimum
from biorrr.models import AreaWeights, equilibrium
from biorrr.sims.data import load
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.experiments import find_experiment
from biorrr.sims.experiments.hierarchy import (
    CLAIMS,
    HierarchySettings,
    learning_quantities,
    plateau_errors,
    plateaus,
    prediction_quantities,
    prediction_scores,
)
from biorrr.sims.lab import Claim, Lab
from biorrr.sims.main import run


def judged(excess=0.004, untrained=1.0, residual=1e-12, plateaus=(0.2, 0.05), meeting=0.01):
    """Return the quantities whose claims fail for areas with these scores, by default of areas that
    have learned.
    """
    scores = xr.Dataset(
        {
            "excess": (("seed", "snapshot"), [[untrained, excess]]),
            "meeting": (("seed", "snapshot", "link"), [[[0.3], [meeting]]]),
            "plateau_error": (("seed", "area"), [plateaus]),
            "worst_residual": ("seed", [residual]),
        }
    )
    best = HierarchyOptimum([], 1.0, np.ones(2), [np.full(4, 2.0), np.full(2, 2.0)])
    found = learning_quantities((4, 2), scores, best)
    return [one.name for one in found if one.name in CLAIMS and not Claim.about(one, "").holds]


@pytest.mark.parametrize(
    ("wrong", "failed"),
    [
        ({"excess": 0.9}, "excess"),  # an untrained hierarchy
        ({"untrained": 0.01}, "excess_untrained"),
        ({"residual": float("nan")}, "worst_residual"),
        ({"plateaus": (0.9, 0.05)}, "plateau_error_max"),
        ({"plateaus": (0.2, 0.9)}, "plateau_error_max"),
        ({"meeting": 0.4}, "meeting"),
    ],
)
def test_every_claim_can_fail(wrong, failed):
    assert judged() == []
    assert judged(**wrong) == [failed]


def test_y_is_predicted_from_the_outputs_of_the_last_area_without_y():
    """Each R2 against a regression of its own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    Y = X[:, :2] @ rng.standard_normal((2, 3)) + 0.5 * rng.standard_normal((80, 3))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    outputs = {"without": X[:, :1] + 0.3 * X[:, 1:2], "with": X[:, :1] + 0.1 * Y[:, :1]}

    class Trained:
        def infer(self, X, Y=None):
            return [X[:, :3], outputs["without" if Y is None else "with"]]

    settings = HierarchySettings(areas=(3, 1), gains=(1.0, 1.0, 1e-6), samples=1000)
    solution = ExactHierarchy(X, Y, settings.gains)
    optimum = solution.weights(solution.solve((3, 1)).filters)
    data = Dataset("own", X, Y)
    scores = xr.Dataset(prediction_scores(Trained(), data)).expand_dims("seed")
    known = {one.name: one for one in prediction_quantities(settings, scores, data, optimum)}
    found = {name: one.value for name, one in known.items()}

    def explained(Z):
        projected = Z @ np.linalg.pinv(Z) @ Y
        return 1 - np.square(Y - projected).sum() / np.square(Y).sum()

    full = X @ np.linalg.pinv(X) @ Y
    assert found["r2_circuit"] == pytest.approx(explained(outputs["without"]))
    assert found["r2_rrr"] == pytest.approx(np.linalg.svd(full)[1][0] ** 2 / np.square(Y).sum())
    assert found["r2_exact"] == pytest.approx(
        found["r2_rrr"], abs=1e-5
    )  # without feedback it is the regression
    assert found["inference_correlation"] == pytest.approx(
        np.corrcoef(outputs["without"].ravel(), outputs["with"].ravel())[0, 1]
    )
    assert found["r2_below_backprop"] == found["r2_backprop"] - found["r2_circuit"] > 0.02
    assert not Claim.about(known["r2_below_backprop"], CLAIMS["r2_below_backprop"]).holds


def test_plateaus_are_compared_area_by_area():
    theory = np.array([[1.0, 2.0, 2.0], [1.0, -2.0, 1.0]])
    found = xr.Dataset(
        {
            "plateau": (("row", "cell"), theory * [1.1, 1.5, 1.5]),
            "plateau_theory": (("row", "cell"), theory),
        },
        {"cell_area": ("cell", [1, 2, 2])},
    )
    assert plateau_errors(found) == pytest.approx([0.1, 0.5])


def test_plateaus_of_the_exact_solution_are_those_of_theory():
    """With gains that differ, so that no ratio of them can be upside down."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    Y = X[:, :3] @ rng.standard_normal((3, 4)) + 0.5 * rng.standard_normal((300, 4))
    X, Y, gains = X - X.mean(axis=0), Y - Y.mean(axis=0), (1.0, 2.0, 0.5)
    exact = ExactHierarchy(X, Y, gains)
    optimum = exact.weights(exact.solve((3, 2)).filters)
    areas = [AreaWeights(**weights, R=weights["Q"].T) for weights in optimum]

    class Trained:
        def infer(self, X, Y):
            return equilibrium(areas, gains, X, Y)

        def area_weights(self):
            return areas

    Trained.gains = gains
    assert plateau_errors(plateaus(Trained(), X, Y)) == pytest.approx([0, 0], abs=1e-6)


def test_data_that_do_not_fit_into_memory_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("biorrr.sims.data.dataset.LOADED", 1000)
    data = '{name="synthetic", samples=400, m=6, n=4, latents=2}'
    options = ["--data", data, "--samples", "1000", "--seeds", "1", "--engine", "numpy"]
    assert run(["hierarchy", *options, "--out", str(tmp_path / "run")]) == 1
    assert "must fit into memory, at most 2 GiB (got 0.0); take fewer" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_gains_let_the_variance_of_y_count_as_one(monkeypatch):
    class MappedError(Exception):
        pass

    def stop(*_):
        raise MappedError

    monkeypatch.setattr(Lab, "map", stop)
    data = '{name="synthetic", samples=400, m=6, n=4, latents=2}'
    lab = Lab(find_experiment("hierarchy"), HierarchySettings(data=data, areas=(3, 2)))
    with pytest.raises(MappedError):
        lab.findings()
    assert lab.settings.gains == (
        1,
        1,
        pytest.approx(1 / load(data).Y.var(axis=0).mean(), rel=0.005),
    )


def test_mistakes_are_said(capsys):
    assert run(["hierarchy", "--gains", "1", "--gains", "1", "--out", "nowhere"]) == 2
    assert (
        "gains: must be 3 numbers, one for each link from x to the first of 2 areas up to y (got 2)"
        in (capsys.readouterr().err)
    )


@pytest.mark.slow
def test_a_small_run_fills_its_folder(tmp_path, capsys):
    data = '{name="synthetic", samples=400, m=6, n=4, latents=2}'
    options = [
        "--samples",
        "20000",
        "--seeds",
        "2",
        "--engine",
        "cpp",
        "--areas",
        "3",
        "--areas",
        "2",
    ]
    assert run(["hierarchy", "--data", data, *options, "--out", str(tmp_path / "run")]) == 0
    numbers = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert 0 <= numbers["excess"] < 0.1 < numbers["excess_untrained"]
    for name in ("learning", "plateaus"):
        assert (tmp_path / "run" / f"{name}.png").exists()
    assert "A meets W'" in capsys.readouterr().out


@pytest.mark.slow
def test_a_single_area_has_no_other_to_meet(tmp_path):
    data = '{name="synthetic", samples=400, m=6, n=4, latents=2}'
    options = ["--samples", "1000", "--seeds", "1", "--engine", "cpp", "--areas", "2"]
    assert run(["hierarchy", "--data", data, *options, "--out", str(tmp_path / "run")]) == 0
    numbers = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert "meeting" not in numbers
    assert numbers["used_area_1"] > 0
