"""A claim is a number with bounds; scatter, better results and other settings have verdicts of
their own.
"""

import json
import math

import pytest

from biorrr.sims.experiments import find_experiment
from biorrr.sims.experiments.compare import CompareSettings
from biorrr.sims.lab.claims import Claim, median_interval
from biorrr.sims.lab.findings import Findings
from biorrr.sims.lab.lab import carry_out
from biorrr.sims.lab.run_folder import RunFolder


def test_two_sided_claims_fail_on_both_sides():
    def at(value):
        return Claim(text="comparable", value=value, low=-0.02, high=0.02, unit="%").verdict

    assert [at(value) for value in (-0.03, -0.02, 0.0, 0.02, 0.03)] == [
        "does not hold",
        "holds",
        "holds",
        "holds",
        "does not hold",
    ]
    assert at(math.nan) == at(math.inf) == "does not hold"


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.6, 1.5), "holds"),
        ((1.5, 2.5), "undecided"),
        ((2.1, 2.5), "does not hold"),
        ((0.3, 0.4), "better than claimed"),
        ((0.4, 0.6), "holds"),  # at least as good as claimed
        ((0.4, 2.5), "undecided"),
        ((math.inf, math.inf), "does not hold"),
    ],
)
def test_scatter_and_the_better_side(interval, verdict):
    bounds = {"low": 0.5, "high": 2.0, "better": "below"}
    claim = Claim(text="match", value=sum(interval) / 2, interval=interval, **bounds)
    assert claim.verdict == verdict
    assert claim.holds is {"holds": True, "better than claimed": True, "does not hold": False}.get(
        verdict
    )
    other = Claim(text="match", value=1.0, interval=interval, setting="fewer rows", **bounds)
    assert (other.verdict, other.holds) == ("other setting", None)


def test_the_median_of_seeds_and_its_interval():
    claim = Claim.over_seeds(
        [*range(1, 21)], text="", high=12, data="digits", s=0.5, k=4, case="ANN"
    )
    # Of 20 values the sixth and the fifteenth enclose the median with 95.9 %: 1 - 2 P(Binomial(20,
    # 1/2) <= 5).
    assert (claim.value, claim.interval) == (10.5, (6, 15))
    assert 2 * sum(math.comb(20, j) for j in range(6)) / 2**20 == pytest.approx(0.0414, abs=1e-4)
    assert claim.verdict == "undecided"
    assert claim.measured == "10.5 (6 to 15)"
    assert claim.label == "digits, s = 0.5, k = 4, ANN"
    assert median_interval([2.0, 1.0, 3.0, 5.0, 4.0]) == (1, 5)


def test_a_claim_without_a_bound_cannot_fail_and_is_refused():
    with pytest.raises(ValueError, match="must have a bound"):
        Claim(text="anything", value=1.0)
    with pytest.raises(ValueError, match="must have a value"):
        Claim(text="anything", high=1.0)
    assert Claim(text="not very sensitive", value=1.0, unjudged="no bound").verdict == "not judged"


def test_claims_as_they_are_printed(capsys):
    found = Findings(
        title="",
        claims=[
            Claim(text="seconds on a laptop", untestable="we have none"),
            Claim(
                text="within 5 %",
                k=2,
                value=0.07,
                spread=0.01,
                high=0.05,
                unit="%",
                numbers={"seeds": 5},
            ),
        ],
    )
    assert found.lines()[2:] == [
        "  not testable here: seconds on a laptop",
        "      we have none",
        "  DOES NOT HOLD: k = 2: within 5 %",
        "      7 ± 1 %, bound: at most 5 %; seeds 5",
        "the number after ± is the standard deviation over seeds",
    ]


def test_cases_of_one_claim_that_hold_are_printed_together_and_those_that_fail_alone():
    claims = [
        Claim(text="near the optimum", s=s, value=value, high=0.05, unit="%")
        for s, value in ((0.0, 0.01), (0.5, 0.07), (0.75, 0.02), (1.0, 0.03))
    ]
    assert Findings(title="", claims=claims).lines()[2:] == [
        "  holds in 3 cases: near the optimum",
        "      1 % to 3 %, bound: at most 5 %",
        "  DOES NOT HOLD: s = 0.5: near the optimum",
        "      7 %, bound: at most 5 %",
    ]


@pytest.mark.parametrize("columns", [30, 80])
def test_no_line_is_longer_than_the_terminal_is_wide(columns):
    claims = [Claim(text="a sentence of the paper " * 9, value=0.01, high=0.05)]
    rows = {"a label": "words " * 40}
    lines = Findings(title="title " * 30, rows=rows, claims=claims).lines(columns)
    assert max(map(len, lines)) <= columns
    assert " ".join(lines).split().count("words") == 40


def test_quick_runs_give_no_verdict(tmp_path, capsys):
    settings = CompareSettings(
        data='{name="synthetic", samples=60, m=6, n=5}',
        k=(1,),
        steps=50,
        engine="numpy",
        quick=True,
    )
    carry_out(find_experiment("compare"), settings, RunFolder("compare", tmp_path / "run"))
    out = capsys.readouterr().out
    assert "not judged:" in out
    assert "holds:" not in out.lower().replace("not hold", "")
    claims = json.loads((tmp_path / "run/summary.json").read_text())["claims"]
    assert claims
    assert {claim["verdict"] for claim in claims} == {"not judged"}
    assert all("--quick" in claim["reason"] for claim in claims)
