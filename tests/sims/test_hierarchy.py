"""`biorrr hierarchy`: its claims can fail, its mistakes are said, and a small run fills its folder."""

import json

import pytest

from biorrr.sims.experiments.hierarchy import RUNAWAY, HierarchySettings, check_claims
from biorrr.sims.main import run

LEARNED = {
    "excess": 0.004, "excess_spread": 0.001, "excess_untrained": 1.0, "worst_residual": 1e-12, "plateau_error_1": 0.2,
    "plateau_error_2": 0.05, "r2_backprop": 0.189, "r2_circuit": 0.188, "meeting": 0.01,
}  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "claim"),
    [
        ({"excess": 0.9}, "local rules bring all areas to their joint optimum"),  # an untrained hierarchy
        ({"excess_untrained": 0.01}, "an untrained hierarchy does not count as learned"),
        ({"worst_residual": float("nan")}, "every sample comes to its equilibrium"),
        ({"plateau_error_1": 0.9}, "plateaus carry the error of what comes from above, in the worst area"),
        ({"r2_circuit": 0.1}, "y is predicted as well as by backprop through a linear network of the same sizes"),
        ({"meeting": 0.4}, "A meets W' between areas by itself"),
    ],
)
def test_every_claim_can_fail(wrong, claim):
    settings = HierarchySettings()
    assert all(each.holds for each in check_claims(settings, LEARNED))
    failed = [each.text for each in check_claims(settings, LEARNED | wrong) if not each.holds]
    assert failed == [claim]


def test_mistakes_are_said(capsys):
    assert run(["hierarchy", "--gains", "1", "--gains", "1", "--out", "nowhere"]) == 2
    assert "gains: must be 3 numbers, one for each link from x to the first of 2 areas up to y (got 2)" in (
        capsys.readouterr().err
    )


@pytest.mark.slow
def test_a_small_run_fills_its_folder(tmp_path, capsys):
    data = "synthetic:samples=400,m=6,n=4,latents=2"
    options = ["--samples", "20000", "--seeds", "2", "--engine", "cpp", "--areas", "3", "--areas", "2"]
    assert run(["hierarchy", "--data", data, *options, "--out", str(tmp_path / "run")]) == 0
    numbers = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert 0 <= numbers["excess"] < 0.1 < numbers["excess_untrained"]
    assert numbers["variance_feedback_cut"] < 1 < numbers["variance_interneurons_silent"] <= RUNAWAY
    for name in ("hierarchy", "learning", "plateaus", "lesions"):
        assert (tmp_path / "run" / f"{name}.png").exists()
    assert "A meets W'" in capsys.readouterr().out
