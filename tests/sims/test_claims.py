"""A claim is a number with bounds; a run that has not converged gives no verdict."""

import json
import math

import pytest

from biorrr.sims.experiments import find_experiment
from biorrr.sims.experiments.compare import CompareSettings
from biorrr.sims.lab.carry_out import carry_out
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.folder import RunFolder
from biorrr.sims.lab.table import print_claims


def test_two_sided_claims_fail_on_both_sides():
    def at(value):
        return Claim(text="comparable", value=value, low=-0.02, high=0.02, unit="%").verdict

    assert [at(value) for value in (-0.03, -0.02, 0.0, 0.02, 0.03)] == [
        "does not hold", "holds", "holds", "holds", "does not hold",
    ]  # fmt: skip
    assert at(math.nan) == at(math.inf) == "does not hold"


def test_a_claim_without_a_bound_cannot_fail_and_is_refused():
    with pytest.raises(ValueError, match="must have a bound"):
        Claim(text="anything", value=1.0)
    with pytest.raises(ValueError, match="must have a value"):
        Claim(text="anything", high=1.0)


def test_what_is_not_testable_says_why(capsys):
    claim = Claim(text="seconds on a laptop", untestable="we have none")
    assert (claim.verdict, claim.holds) == ("not testable here", None)
    print_claims("the paper's claims", [claim])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  not testable here: seconds on a laptop",
        "      we have none",
    ]


def test_what_does_not_hold_is_printed_in_capitals(capsys):
    print_claims(
        "the paper's claims",
        [Claim(text="within 5 %", value=0.07, spread=0.01, high=0.05, unit="%", numbers={"seeds": 5})],
    )
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  DOES NOT HOLD: within 5 %",
        "      7 ± 1 %, bound: at most 5 %; seeds 5",
    ]


def test_quick_runs_give_no_verdict(tmp_path, capsys):
    settings = CompareSettings(data="synthetic:samples=60,m=6,n=5", k=(1,), steps=50, engine="numpy", quick=True)
    carry_out(find_experiment("compare"), settings, RunFolder("compare", tmp_path / "run"))
    out = capsys.readouterr().out
    assert "not judged:" in out
    assert "holds:" not in out.lower().replace("not hold", "")
    claims = json.loads((tmp_path / "run/summary.json").read_text())["claims"]
    assert claims
    assert {claim["verdict"] for claim in claims} == {"not judged"}
    assert {claim["holds"] for claim in claims} == {None}
    assert all("--quick" in claim["reason"] for claim in claims)
