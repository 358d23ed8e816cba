"""``biorrr plateau`` from end to end: recorded traces, agreement with theory, and that wrong
circuits are found out.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import Agreement, ExactSolution, ReducedRankRegression, objective
from biorrr.analysis.plateau import compare_with_theory, null_agreements
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.experiments.plateau import judge

DATA = '{name="synthetic", samples=200, m=6, n=5, latents=2}'
SMALL = ["--data", DATA, "--engine", "cpp", "--epochs", "12", "--seeds", "1", "--ridge", "0"]
WRONG = Path(__file__).with_name("wrong_circuits.py")


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The folder of a small run at s = 0 and 1; not to be changed."""
    folder = tmp_path_factory.mktemp("plateau") / "run"
    assert main.run(["plateau", *SMALL, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def summary(audited):
    return json.loads((audited / "summary.json").read_text())


@pytest.fixture
def members(audited):
    """Return the results at s = 0 and 1."""
    found = []
    for name in ("run.nc", "run-s-1.nc"):
        with xr.open_dataset(audited / name, engine="h5netcdf") as results:
            found.append(results.load())
    return found


@pytest.fixture(params=[0, 1])
def results(members, request):
    return members[request.param]


def test_run_folder(audited, members, summary):
    assert sorted(path.name for path in audited.iterdir()) == [
        "audit-s-1.md",
        "audit-s-1.png",
        "audit.md",
        "audit.png",
        "config.toml",
        "inventory.json",
        "plateau-s-1.md",
        "plateau-s-1.png",
        "plateau.md",
        "plateau.png",
        "run-s-1.nc",
        "run.nc",
        "summary.json",
    ]
    for results in members:
        assert results.sizes["seed"] == 1
        assert results["stage_samples"].values[0, [0, -1]].tolist() == [0, 2400]
    for name in ("plateau", "inhibition", "network"):
        known = [
            one["course"].sel(comparison=name, seed=0) for one in members if name in one.comparison
        ]
        course = xr.concat(known, "s").transpose("measure", "snapshot", ...)
        assert course.sizes["s"] == (1 if name == "network" else 2)  # the network is of s = 0 alone
        for measure, values in zip(("correlation", "relative_error"), course.values, strict=True):
            for place, when in ((0, "start"), (-1, "end")):
                assert summary[f"{name}_{measure}_{when}"] == pytest.approx(
                    np.median(values[place]), rel=1e-9
                )
        worst = course[1, -1].max().item()
        assert summary[f"{name}_relative_error_max"] == pytest.approx(worst, rel=1e-9)


def test_checkpoints_of_seeds_and_of_recordings_are_different_files(tmp_path):
    """Learning of seed 2 and the second run of the item were both kept as NAME-2.npz."""
    few = ["--data", DATA, "--engine", "cpp", "--epochs", "2", "--seeds", "3", "-s", "0"]
    assert main.run(["plateau", *few, "--checkpoint", "0", "--out", str(tmp_path)]) == 0


def test_the_worst_whitening_and_excess_are_those_of_all_circuits(audited, summary):
    """From the learned filters: ||Vx' Cxx Vx - I||^2 / k, and what they lack in the objective, over
    s = 0 and 1.
    """
    data, errors, lacking = load(DATA).centred(), [], []
    for name in ("run.nc", "run-s-1.nc"):
        with xr.open_dataset(audited / name, engine="h5netcdf") as results:
            Vx, s = results["Vx"].isel(seed=0, snapshot=-1).values, results["s"].item()
        k = Vx.shape[1]
        errors.append(np.square(Vx.T @ np.cov(data.X.T, bias=True) @ Vx - np.eye(k)).sum() / k)
        best = ReducedRankRegression(k, s=s).fit(data.X, data.Y)
        optimum = objective(best.Vx_, data.X, data.Y, s)
        lacking.append((objective(Vx, data.X, data.Y, s) - optimum) / abs(optimum))
    assert summary["whitening_error_max"] == pytest.approx(max(errors), rel=1e-6)
    assert summary["excess_max"] == pytest.approx(max(lacking), rel=1e-6)


def test_learning_brings_the_plateau_to_the_error(summary):
    for name in ("plateau", "inhibition"):
        assert summary[f"{name}_correlation_end"] > 0.8 > summary[f"{name}_correlation_start"]
        assert summary[f"{name}_relative_error_end"] < 0.5 * summary[f"{name}_relative_error_start"]
    assert (
        summary["plateau_relative_error_no_inhibition"]
        > 1.5 * summary["plateau_relative_error_end"]
    )


def test_a_short_run_gives_no_verdict(summary):
    assert len(summary["claims"]) == 9  # five at s = 0, where there is a network, and four at s = 1
    assert {claim["verdict"] for claim in summary["claims"]} == {"not judged"}
    assert "2,400 samples are too few" in summary["claims"][0]["reason"]


def test_traces_are_the_circuit_s_own(results):
    """Recorded with learning off on every sample, in the order of the data: the equations at the
    saved weights.
    """
    data = load(DATA).centred()
    for stage, snapshot in ((0, 0), (-1, -1)):
        Vx, Vy, Q, R = (
            results[name].isel(seed=0, snapshot=snapshot).values for name in ("Vx", "Vy", "Q", "R")
        )
        recorded = {
            name: results["recorded"].sel(signal=name).isel(stage=stage).values
            for name in ("z", "a", "inhibition")
        }
        np.testing.assert_allclose(recorded["z"], data.X @ Vx, atol=1e-12)
        np.testing.assert_allclose(recorded["a"], data.Y @ Vy, atol=1e-12)
        np.testing.assert_allclose(recorded["inhibition"], data.X @ Vx @ R.T @ Q.T, atol=1e-12)


def test_nulls_are_what_independent_signals_give():
    """Independent a = e + p with plateau e: errors of p and of p + p' over that of e."""
    rng = np.random.default_rng(0)
    error, prediction = rng.standard_normal((2, 200_000, 1)) * [[[1.0]], [[2.0]]]
    nulls = null_agreements(error + prediction, prediction, error)
    expected = {"no_inhibition": 2.0, "other_inhibition": 8**0.5}
    for name, value in expected.items():
        assert nulls[name].relative_error == pytest.approx(value, rel=0.02)
    assert nulls["no_inhibition"].correlation == pytest.approx(1 / 5**0.5, abs=0.01)


def test_correlation_is_blind_to_scale_and_the_relative_error_is_not():
    signal = np.random.default_rng(0).standard_normal((100, 2))
    found = Agreement.between(0.7 * signal, signal)
    assert found.correlation == pytest.approx([1, 1])
    assert found.relative_error == pytest.approx([0.3, 0.3])


def compared(weights, X, Y, s=0.0):
    """Compare a circuit that has these weights throughout with theory, as ``follow`` does a
    simulated one.
    """

    def show(snapshot):
        z, a = X @ weights["Vx"], Y @ weights["Vy"]
        inhibition = z @ weights["R"].T @ weights["Q"].T
        return {"z": z, "a": a, "inhibition": inhibition, "plateau": a - inhibition}

    run = {name: weight[None] for name, weight in weights.items()} | {"seen": [0]}
    found = compare_with_theory(run, Dataset("own", X, Y), ExactSolution(X, Y, s, 0.0), show)
    known = found.dropna("comparison", how="all", subset=["agreement"])
    return known.expand_dims("seed").assign_coords(s=s)


def judged(weights, X, Y, s=0.0):
    """Verdicts on a circuit with these weights, by what is claimed."""
    results = compared(weights, X, Y, s)
    names = ["excess", "whitening", *results["comparison"].values]
    return dict(zip(names, (claim.verdict for claim in judge(results, "")), strict=True))


def test_claims_rest_on_the_worst_neuron_of_each_seed():
    """Errors of two neurons from two seeds, before and after learning; the circuits are at the
    optimum.
    """
    errors = np.array([[[9.0, 9.0], [0.01, 0.02]], [[9.0, 9.0], [0.03, 0.01]]])
    scores = np.stack([1 - errors, errors], axis=1)[:, :, None]
    results = xr.Dataset(
        {
            "agreement": (("seed", "measure", "comparison", "stage", "pyramidal"), scores),
            "excess": (("seed", "snapshot"), [[0.5, 0.001], [0.5, 0.0005]]),
            "whitening_error": (("seed", "snapshot"), [[0.5, 0.002], [0.5, 0.001]]),
            "null_error": (("seed", "null", "pyramidal"), [[[1.0, 0.7]] * 2, [[1.0, 1.0]] * 2]),
        },
        {"s": 0.5, "comparison": ["plateau"], "measure": ["correlation", "relative_error"]},
    )
    excess, white, plateau = judge(results, "", data="digits")
    assert (excess.value, white.value) == (pytest.approx(0.00075), pytest.approx(0.0015))
    assert (plateau.value, plateau.interval, plateau.s) == (pytest.approx(0.025), (0.02, 0.03), 0.5)
    assert plateau.run == "excess at most 1.0e-03, whitening error at most 2.0e-03"
    assert plateau.numbers == {
        "lowest correlation": 0.97,
        "least error without the right inhibition": 0.7,
    }
    assert plateau.label == "digits, s = 0.5"


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0])
def test_the_right_circuit_passes(settled_weights, easy_pair, s):
    assert set(judged(settled_weights(*easy_pair, s), *easy_pair, s).values()) == {"holds"}


@pytest.mark.parametrize("s", [0.0, 1.0])
@pytest.mark.parametrize("wrong", [{"x": 0.0}, {"shuffled": True}], ids=["frozen Vx", "shuffled Y"])
def test_wrong_circuits_are_found_out(settled_weights, easy_pair, wrong, s):
    found = judged(settled_weights(*easy_pair, s, **wrong), *easy_pair, s)
    assert {found[name] for name in ("excess", "inhibition", "plateau")} == {"does not hold"}


@pytest.mark.parametrize("s", [0.0, 1.0])
@pytest.mark.parametrize(
    "wrong",
    [
        {"r": 0.0, "R0": np.array([[1.0, 0.4], [-0.2, 0.5]])},
        {"q": 0.0, "r": 0.0, "Q0": 2 * np.eye(2), "steps": 2000},
    ],
    ids=["random R", "frozen Q"],
)
def test_wrong_inhibition_is_found_out_though_plateaus_equal_errors(
    settled_weights, easy_pair, wrong, s
):
    """That plateau and error are equal follows from proximal plasticity standing still, whatever Q
    and R are.
    """
    found = judged(settled_weights(*easy_pair, s, **wrong), *easy_pair, s)
    assert found["inhibition"] == "holds"
    assert found["whitening"] == "does not hold"
    assert found.get("network", "does not hold") in ("does not hold", "not judged")


def test_data_that_cannot_tell_give_no_verdict(settled_weights):
    """Where y cannot be predicted, the distal current alone is the error, and the plateau is right
    by itself.
    """
    rng = np.random.default_rng(0)
    X, Y = (
        one - one.mean(axis=0)
        for one in (rng.standard_normal((5000, 3)), rng.standard_normal((5000, 2)))
    )
    found = judged(settled_weights(X, Y, k=1), X, Y)
    assert {found[name] for name in ("plateau", "network")} == {"not judged"}


@pytest.mark.slow
@pytest.mark.parametrize("circuit", ["shuffled_y", "frozen_vx", "frozen_q"])
def test_wrong_circuits_are_found_out_from_end_to_end(circuit, tmp_path, monkeypatch):
    monkeypatch.setattr("biorrr.sims.lab.training.JUDGED_SAMPLES", 1000)
    args = [
        "--data",
        DATA,
        "--engine",
        "cpp",
        "--epochs",
        "20",
        "--seeds",
        "1",
        "--ridge",
        "0",
        "-s",
        "0",
    ]
    assert (
        main.run(
            ["plateau", *args, "--circuit", f"{WRONG}:{circuit}", "--out", str(tmp_path / "run")]
        )
        == 0
    )
    claims = json.loads((tmp_path / "run/summary.json").read_text())["claims"]
    assert {claim["verdict"] for claim in claims[2:]} == {"does not hold"}


@pytest.mark.slow
def test_config_repeats_the_run(audited, results, tmp_path):
    assert (
        main.run(
            ["plateau", "--config", str(audited / "config.toml"), "--out", str(tmp_path / "again")]
        )
        == 0
    )
    name = "run.nc" if results["s"] == 0 else "run-s-1.nc"
    with xr.open_dataset(tmp_path / "again" / name, engine="h5netcdf") as again:
        for name in ("Vx", "recorded", "course"):
            np.testing.assert_array_equal(again[name], results[name])


@pytest.mark.slow
@pytest.mark.parametrize("data", ["digits", "v1v2"])
def test_plateau_is_the_backpropagated_error_on_real_data(real_data, tmp_path, data):
    assert (
        main.run(["plateau", "--data", data, "--seeds", "2", "--out", str(tmp_path / "run")]) == 0
    )
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert {claim["verdict"] for claim in summary["claims"]} == {"holds"}
    assert (
        summary["plateau_relative_error_max"]
        < 0.05
        < summary["plateau_relative_error_no_inhibition"]
    )
    assert summary["network_relative_error_max"] < 0.10


def test_values_of_s_that_are_close_have_files_and_claims_of_their_own(tmp_path):
    values = ("0", "0.3333333", "0.3333334")
    args = ["--data", DATA, "--epochs", "1", "--seeds", "1", "--engine", "cpp"]
    args += [word for s in values for word in ("-s", s)]
    assert main.run(["plateau", *args, "--out", str(tmp_path / "run")]) == 0
    claims = json.loads((tmp_path / "run/summary.json").read_text())["claims"]
    assert [claim["s"] for claim in claims] == 5 * [0.0] + 4 * [0.3333333] + 4 * [0.3333334]
    for s, name in zip(values, ("run", "run-s-0.3333333", "run-s-0.3333334"), strict=True):
        with xr.open_dataset(tmp_path / f"run/{name}.nc", engine="h5netcdf") as results:
            assert float(results["s"]) == float(s)
