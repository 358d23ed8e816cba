"""``biorrr family``: every member between RRMSE and CCA, and that wrong circuits are found out."""

import json
from itertools import cycle

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import ExactSolution, excess
from biorrr.analysis.laws import fit_distal_rule
from biorrr.sims import main
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.experiments.family import compare, judge, summary
from biorrr.sims.lab.items import Grid

DATA = '{name="synthetic", samples=200, m=6, n=5, latents=2}'


def joined(X, Y, weights, rule):
    """Results of circuits with these weights, lists over seeds by s, whose distal ``rule`` depends
    on s.
    """
    data = Dataset("own", X, Y)
    found = [
        xr.concat(
            [compare(one, data, ExactSolution(X, Y, s, 0.0)) for one in each],
            "seed",
            coords="minimal",
        )
        for s, each in weights.items()
    ]
    rules = [
        xr.Dataset(dict(zip(("own_current", "decay"), rule(s), strict=True))).assign(
            unexplained=0.0, own_current_exact=s, decay_exact=1 - s
        )
        for s in weights
    ]
    results = xr.concat(found, "s").merge(xr.concat(rules, "s")).assign_coords(s=[*weights])
    return results.assign(eigenvalues_M=results["eigenvalues_M"].isel(seed=0))


def judged(settled_weights, X, Y, s=(0.0, 0.5, 1.0), rule=lambda s: (s, 1 - s), **wrong):
    """Verdicts on circuits that have settled, which may be ``wrong``: the set over s, by what is
    claimed.
    """
    results = joined(X, Y, {one: [settled_weights(X, Y, one, **wrong)] for one in s}, rule)
    names = ("excess", "whitening", "eigenvalues", "plateau", "distal rule")
    verdicts = np.reshape([claim.verdict for claim in judge(results, "")], (len(s), len(names)))
    return {name: set(column) for name, column in zip(names, verdicts.T, strict=True)}


def test_the_right_circuit_passes(settled_weights, easy_pair):
    assert set.union(*judged(settled_weights, *easy_pair).values()) == {"holds"}


def test_a_shuffled_y_is_found_out(settled_weights, easy_pair):
    found = judged(settled_weights, *easy_pair, shuffled=True)
    assert set.union(*(found[name] for name in ("excess", "eigenvalues", "plateau"))) == {
        "does not hold"
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"q": 0.0, "r": 0.0, "Q0": 2 * np.eye(2), "steps": 2000},
        {"r": 0.0, "R0": np.array([[1.0, 0.4], [-0.2, 0.5]])},
    ],
    ids=["frozen Q", "random R"],
)
def test_wrong_inhibition_is_found_out(settled_weights, easy_pair, wrong):
    found = judged(settled_weights, *easy_pair, **wrong)
    assert all("does not hold" in found[name] for name in ("whitening", "eigenvalues"))


def test_every_number_is_beside_its_s_and_seed(easy_pair):
    X, Y = easy_pair
    rng = np.random.default_rng(1)
    s, seeds = (0.0, 1.0), (3, 4)
    shapes = {"Vx": (6, 2), "Vy": (5, 2), "Q": (2, 2), "R": (2, 2)}
    weights = {
        one: [{name: rng.standard_normal(shape) for name, shape in shapes.items()} for _ in seeds]
        for one in s
    }
    results = joined(X, Y, weights, rule=lambda s: (s + 0.1, 0.2)).assign_coords(seed=[*seeds])
    for one in s:
        for number, seed in enumerate(seeds):
            Vx, Q = weights[one][number]["Vx"], weights[one][number]["Q"]
            here = results.sel(s=one, seed=seed)
            assert here["excess"] == pytest.approx(excess(Vx, X, Y, s=one))
            np.testing.assert_allclose(here["eigenvalues_QQ"], np.linalg.svd(Q)[1] ** 2)
    assert {one.name: one.value for one in summary(results)}[
        "distal_rule_deviation"
    ] == pytest.approx(0.2 - 1)
    np.testing.assert_allclose(results["decay_exact"], [1, 0])


def test_another_distal_rule_is_found_out(settled_weights, easy_pair):
    """A decay that is a hundred-thousandth too large."""
    found = judged(settled_weights, *easy_pair, rule=lambda s: (s, (1 - s) * (1 + 1e-5)))
    assert found["distal rule"] == {"does not hold", "holds"}  # at s = 1 there is no decay
    assert found["excess"] == {"holds"}


def test_the_rule_is_read_off_its_changes():
    rng = np.random.default_rng(0)
    T, n, k = 50, 4, 2
    y, z, a = (rng.standard_normal((T, size)) for size in (n, k, k))
    eta = rng.uniform(0.01, 0.02, T)
    Vy = np.empty((T, n, k))
    Vy[0] = rng.standard_normal((n, k))
    for t in range(1, T):
        rule = np.outer(y[t], z[t]) - 0.3 * np.outer(y[t], a[t]) - 0.71 * Vy[t - 1]
        Vy[t] = Vy[t - 1] + 5 * eta[t] * rule
    found = fit_distal_rule(y, z, a, Vy, eta)
    assert (found["own_current"], found["decay"]) == (pytest.approx(0.3), pytest.approx(0.71))
    assert found["unexplained"] < 1e-20
    assert fit_distal_rule(y, z, a, Vy**3, eta)["unexplained"] > 0.01


def test_command_fills_a_folder(tmp_path, capsys):
    args = [
        "--data",
        DATA,
        "--engine",
        "numpy",
        "--epochs",
        "1",
        "--seeds",
        "1",
        "-s",
        "0",
        "-s",
        "0.4",
    ]
    assert main.run(["family", *args, "--ridge", "0.1", "--out", str(tmp_path / "run")]) == 0
    assert "not judged in 2 cases: we derive novel algorithms" in capsys.readouterr().out
    assert {"family.png", "run.nc", "summary.json"} <= {
        path.name for path in (tmp_path / "run").iterdir()
    }
    claims = json.loads((tmp_path / "run/summary.json").read_text())["claims"]
    verdicts = np.reshape([claim["verdict"] for claim in claims], (2, 5))
    assert set(verdicts[:, :4].flat) == {"not judged"}  # 200 samples
    assert set(verdicts[:, 4]) == {"holds"}  # the distal rule
    with xr.open_dataset(tmp_path / "run/run.nc", engine="h5netcdf") as results:
        assert results["eigenvalues_QQ"].sizes == {"s": 2, "seed": 1, "component": 2}
        np.testing.assert_allclose(results["own_current"], [0, 0.4], atol=1e-9)
        np.testing.assert_allclose(results["decay"], [1, 0.64], rtol=1e-9)


def test_engine_auto_may_differ_between_circuits(tmp_path, monkeypatch):
    """It chooses by what a circuit has cost so far: the first ones may have run on numpy."""
    engines, join = cycle(["numpy", "cpp"]), Grid.join

    def join_mixed(grid, results):
        mixed = [one.assign_attrs(dict.fromkeys(one.attrs, next(engines))) for one in results]
        return join(grid, mixed)

    monkeypatch.setattr(Grid, "join", join_mixed)
    args = ["--data", DATA, "--epochs", "1", "--out", str(tmp_path / "out")]
    assert main.run(["family", *args]) == 0
    assert json.loads((tmp_path / "out/summary.json").read_text())["engine"] == "auto"
