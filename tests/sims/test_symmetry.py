"""``biorrr symmetry`` from end to end: R meets Q' as the theory says, and circuits may run away
until it does.
"""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import ExactSolution, symmetry_decay
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.experiments.symmetry import (
    SMALLEST_RATIO,
    SNAPSHOTS,
    TOLERANCE,
    SymmetrySettings,
    decay,
    summary,
    unrelated,
)

SAMPLES = 1025  # until (1 - 0.02)^samples is a tenth of SMALLEST_RATIO
DATA = '{name="synthetic", samples=100, m=6, n=5, latents=3}'


@pytest.fixture(scope="module")
def met(tmp_path_factory):
    """Folder and results of a small run; not to be changed."""
    folder = tmp_path_factory.mktemp("symmetry") / "run"
    args = ["--data", DATA, "--engine", "cpp", "--seeds", "1", "--etas", "0.01", "--etas", "0.005"]
    assert main.run(["symmetry", *args, "--out", str(folder)]) == 0
    with xr.open_dataset(folder / "run.nc", engine="h5netcdf") as results:
        return folder, results.load()


def test_decay_is_the_predicted_one(met):
    _, results = met
    for eta in (0.005, 0.01):
        one = results.sel(eigenvalues="positive", eta=eta)
        ratio, seen = one["ratio"].values[0], one["seen"].values[0]
        compared = ratio > SMALLEST_RATIO
        assert compared.any()
        assert np.nanmin(ratio) < SMALLEST_RATIO  # so that all of the range was seen
        np.testing.assert_allclose(ratio[compared], ((1 - eta) ** seen)[compared], rtol=TOLERANCE)


def test_summary_and_claims(met):
    folder, results = met
    assert {path.name for path in folder.iterdir()} == {
        "config.toml",
        "inventory.json",
        "run.nc",
        "summary.json",
        "symmetry.md",
        "symmetry.png",
    }
    summary = json.loads((folder / "summary.json").read_text())
    (claim,) = summary["claims"]
    assert claim["holds"] is True
    assert claim["low"] == -claim["high"]
    assert claim["largest relative error"] >= max(
        summary["relative_error_0.005"], summary["relative_error_0.01"]
    )
    runaways, distance, excess = summary["own_tests"]
    assert runaways["value"] == int(results["diverged"].sel(eigenvalues="negative").sum())
    assert runaways["holds"] is (runaways["value"] == 0)
    for test, name in ((distance, "distance"), (excess, "excess")):
        assert test["value"] == summary[f"{name}_max"]
        assert test["value"] == results[name].isel(snapshot=-1).max()
        assert test["holds"] is True
    assert claim["||R - Q'|| / ||Q|| in the end"] == summary["distance_max"] < 1e-4
    assert claim["excess in the end"] == summary["excess_max"] < 0.05


def test_circuits_whose_inhibition_fades_are_found_out(tmp_path, monkeypatch):
    """R and Q both fade as (1 - eta/tau)^T: the decay is the predicted one, and means nothing."""
    monkeypatch.setattr("biorrr.sims.experiments.symmetry.PROXIMAL", 1e-3)
    args = ["--data", DATA, "--engine", "cpp", "--seeds", "1", "--etas", "0.01"]
    assert main.run(["symmetry", *args, "--out", str(tmp_path / "run")]) == 0
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["relative_error_max"] < TOLERANCE
    assert summary["distance_max"] > 0.1
    (claim,) = summary["claims"]
    assert claim["holds"] is False
    assert [one["holds"] for one in summary["own_tests"]] == [True, False, False]


def judged(eta_r, eta_q=0.02):
    """The claim about a circuit whose R learns at ``eta_r``, driven by random activity, and how it
    deviates.
    """
    settings = SymmetrySettings(data=DATA, etas=(eta_q,), seeds=1)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2):
        seen = np.unique(np.geomspace(1, SAMPLES, SNAPSHOTS + 1).astype(int))
        q, r = ([start] for start in rng.standard_normal((2, 2, 2)))
        for z in rng.standard_normal((seen[-1], 2)):
            Q, R = q[-1], r[-1]
            n = R @ z
            q.append(Q + eta_q * (np.outer(z, n) - Q))
            r.append(R + eta_r * (np.outer(n, z) - R))
        course = symmetry_decay(np.array(q)[seen], np.array(r)[seen], seen, eta_q)
        ratio, predicted = (
            course.measured / course.measured[0],
            course.predicted / course.measured[0],
        )
        rounding = course.rounding / course.measured[0]
        courses = {"seen": seen, "ratio": ratio, "predicted": predicted, "rounding": rounding}
        courses = {name: ("snapshot", one) for name, one in courses.items()}
        learned = {name: ("snapshot", 0 * ratio) for name in ("distance", "excess")}
        courses |= learned | {"power": courses["ratio"], "diverged": 0}
        found.append(xr.Dataset(courses))
    results = xr.concat(found, "eigenvalues").expand_dims({"eta": [eta_q], "start": [0]})
    results = results.assign_coords(eigenvalues=["positive", "negative"])
    return decay(settings, DATA, summary(results))


def test_equal_rates_pass():
    assert judged(eta_r=0.02).verdict == "holds"


@pytest.mark.parametrize("eta_r", [0.0, 0.01, 0.019, 0.021, 0.04])
def test_rates_that_differ_are_found_out(eta_r):
    """A decay that is not the predicted one fails, on whichever side it lies."""
    claim = judged(eta_r=eta_r)
    assert claim.verdict == "does not hold"


def test_a_decay_that_is_too_fast_is_found_out(met):
    """What is compared is chosen by what theory says, not by what is left of ||Q' - R||."""
    _, results = met
    settings = SymmetrySettings(data=DATA, etas=(0.01, 0.005), seeds=1)
    faster = results.assign(ratio=results["ratio"] ** 1.5)
    claim = decay(settings, DATA, summary(faster))
    assert claim.verdict == "does not hold"
    assert claim.value < -0.99


@pytest.mark.filterwarnings("error")
def test_nothing_known_is_no_warning(met):
    """Of circuits whose R is Q' from the start, or that diverge at once, no ratio is known."""
    from biorrr.analysis.figures.inhibition import plot_meeting

    _, results = met
    settings = SymmetrySettings(data=DATA, etas=(0.01, 0.005), seeds=1)
    unknown = results.assign(ratio=results["ratio"] * np.nan)
    claim = decay(settings, DATA, summary(unknown))
    assert claim.verdict == "does not hold"
    plot_meeting(unknown, 2e-7)


def test_starts_have_the_eigenvalues_asked_for():
    data = load(DATA).centred()
    solution = ExactSolution(data.X, data.Y)
    for seed in range(5):
        for negative in (False, True):
            drawn = unrelated(seed, 3, solution, negative)
            assert (np.linalg.eigvals(drawn["Q0"] @ drawn["R0"]).real.min() < 0) == negative


def test_divergence_is_a_result(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "biorrr.sims.experiments.symmetry.PROXIMAL", 50.0
    )  # far above what is stable
    args = [
        "--data",
        DATA,
        "--engine",
        "cpp",
        "--seeds",
        "1",
        "--etas",
        "0.1",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main.run(["symmetry", *args]) == 0
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["diverged"] == summary["negative_diverged"] == 1
    assert [one["holds"] for one in (*summary["claims"], *summary["own_tests"])] == 4 * [False]
