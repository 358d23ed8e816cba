"""Every judgement says no to what is wrong: a frozen Q, a shuffled Y, a handicapped rival, a
learner out of step.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import IQMD, ExactSolution, OfflineBioRRR, OnlineBioRRR, TwoLayerANN
from biorrr.circuit import Microcircuit
from biorrr.circuit.results.description import Locality
from biorrr.models import Rate, Rates
from biorrr.sims.comparisons.contenders import ASKED, STABLE, Problem
from biorrr.sims.comparisons.judgements import (
    arrivals,
    check_claims,
    comparable,
    competitive,
    fewest,
    matching,
    within_variance,
)
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.experiments.paper import long_runs, theorems
from biorrr.sims.experiments.paper.images import BACKPROP, BIO, ImagesSettings, parity
from biorrr.sims.experiments.paper.sensitivity import (
    HALF_DECADES,
    decades,
    from_largest_stable,
    tolerance,
)

T = np.array([1, 10, 100, 1000, 10_000])


def curve(*excess, seconds=1e-6, whitening=0.01, t=T):
    """Return a learner of which every row of ``excess`` is one seed."""
    excess, dims = np.atleast_2d(np.array(excess, dtype=float)), ("seed", "snapshot")
    each = np.ones((len(excess), 1))
    return xr.Dataset(
        {
            "t": ("snapshot", t),
            "passes": (dims, t / 1000 * each),
            "seconds": (dims, seconds * t * each),
            "excess": (dims, excess),
            "whitening_error": (dims, np.full_like(excess, whitening)),
        }
    )


def together(**learners):
    """Return the courses of several learners."""
    return xr.concat(learners.values(), "learner", data_vars="all").assign_coords(
        learner=[*learners]
    )


def at_one_rank(learners):
    """Return the courses of several learners at rank 1; none diverges."""
    courses = together(**learners)
    courses["diverged"] = xr.zeros_like(courses["excess"].isel(snapshot=0), dtype=bool)
    courses["fraction"] = xr.ones_like(courses["learner"], dtype=float)
    return courses.expand_dims(k=[1]).expand_dims(rates=[ASKED, STABLE])


FAST = curve([0.5, 0.04, 0.005, 0.001, 0.001])
SLOW = curve([0.9, 0.5, 0.2, 0.04, 0.005])
NEVER = curve([0.9, 0.8, 0.7, 0.6, 0.5])


def test_arrival_is_when_the_excess_stays_small():
    assert arrivals(curve([0.5, 0.01, 0.2, 0.04, 0.04]), "t") == [1000]  # not at its first visit
    assert arrivals(curve([0.5, 0.2, np.nan, 0.04, 0.04]), "t") == [1000]
    assert arrivals(NEVER, "t") == [np.inf]
    assert arrivals(FAST, "passes") == [0.01]
    assert arrivals(FAST, "seconds after preparation") == pytest.approx([9e-6])


def test_the_fastest_must_be_fastest():
    learners = together(a=FAST, b=SLOW, never=NEVER)
    claim = fewest(learners, "b", ("a", "never"), "t", text="")
    assert (claim.holds, claim.value, claim.unit) == (False, 100, "times a's")
    assert claim.numbers == {"b (steps)": 1000, "a (steps)": 10, "never (steps)": "never"}
    assert fewest(learners, "a", ("b", "never"), "t", text="").holds is True
    assert fewest(learners, "never", ("a",), "t", text="").holds is False
    claim = fewest(together(never=NEVER, neither=NEVER), "never", ("neither",), "t", text="")
    assert (claim.verdict, claim.unjudged) == (
        "not judged",
        "no learner came within 5 % of the optimum",
    )


def test_matching_and_comparable_have_a_worse_and_a_better_side():
    twin = together(a=FAST, b=curve([0.5, 0.045, 0.004, 0.001, 0.001]))
    slow = together(a=FAST, b=SLOW)
    assert matching(twin, "a", ("b",), "t", text="").verdict == "holds"
    assert matching(slow, "a", ("b",), "t", text="").verdict == "better than claimed"
    assert matching(slow, "b", ("a",), "t", text="").verdict == "does not hold"
    pair = together(good=FAST, worse=curve([0.9, 0.5, 0.2, 0.1, 0.06]))
    assert comparable(twin, "a", ("b",), text="").verdict == "holds"
    assert comparable(pair, "good", ("worse",), text="").verdict == "better than claimed"
    assert comparable(pair, "worse", ("good",), text="").verdict == "does not hold"
    assert comparable(pair, "worse", ("good",), text="").value == pytest.approx(0.059)
    assert competitive(pair, "good", ("worse",), text="").verdict == "holds"
    assert (
        competitive(pair, "worse", ("good", "worse"), text="").verdict == "does not hold"
    )  # with the best of them


def test_no_bound_loosens_with_noise():
    noisy = curve(*([0.5, 0.2, 0.1, 0.1, end] for end in (0.0, 0.1, 0.2)))
    claim = comparable(
        together(a=noisy, b=curve(*3 * [FAST["excess"].values[0]])), "a", ("b",), text=""
    )
    assert (claim.verdict, claim.value) == ("undecided", pytest.approx(0.099))


def test_within_variance_means_that_the_interval_includes_0():
    def judged(*ends):
        bio = curve(*([0.5, 0.04, 0.01, 0.01, end] for end in ends))
        ann = curve(*([0.5, 0.04, 0.01, 0.01, 0.01] for _ in ends))
        return within_variance(together(bio=bio, ann=ann), "bio", "ann", text="")

    claim = judged(0.011, 0.012, 0.013)
    assert (claim.verdict, claim.value) == ("does not hold", pytest.approx(0.001))
    assert claim.numbers["median difference in %"] == pytest.approx(0.2)
    assert claim.numbers["bio (passes)"] == 0.01
    assert judged(0.009, 0.012, 0.013).verdict == "holds"
    assert judged(0.007, 0.008, 0.009).verdict == "better than claimed"


def test_a_handicapped_backprop_is_not_comparable():
    def verdict(bio, backprop):
        return parity("mnist", together(**{BIO: bio, BACKPROP: backprop}), ImagesSettings()).verdict

    assert verdict(SLOW, SLOW) == "holds"
    assert verdict(SLOW, NEVER) == "better than claimed"
    assert verdict(NEVER, SLOW) == "does not hold"


def test_decades_of_rates_that_do():
    grid = np.full((5, 3, 2), 0.3)
    grid[:3, 0], grid[1:3, 1] = 0.01, 0.04
    grid[2, 1, 0] = np.nan  # what diverged does not do
    assert decades(grid).tolist() == [1.0, 0.0, 0.0]
    claim = tolerance(
        xr.Dataset({"excess": (("decade", "N", "seed"), grid)}, {"algorithm": "ANN", "k": 2})
    )
    assert (claim.verdict, claim.value, claim.label) == ("not judged", 0.0, "k = 2, ANN")


def test_rates_are_shown_from_the_largest_stable_one_downwards():
    """Of three algorithms: one diverges once at the largest rate, one only at the smallest, and one
    everywhere.
    """
    excess = np.arange(3 * 7 * 2.0).reshape(3, 1, 7, 1, 2)
    excess[0, 0, 0, 0, 1] = excess[1, 0, 6] = excess[2, 0, :, 0, 0] = np.nan
    found = xr.Dataset(
        {
            "excess": (("algorithm", "k", "half_decades", "N", "seed"), excess),
            "eta0": (("algorithm", "k", "half_decades"), [[range(7, 0, -1)]] * 3),
        },
        {"half_decades": [*HALF_DECADES]},
    )
    shown = from_largest_stable(found)
    assert shown["eta0"].isel(algorithm=0, k=0).values.tolist() == [6, 5, 4, 3, 2]
    assert shown["eta0"].isel(algorithm=1, k=0).values.tolist() == [7, 6, 5, 4, 3]
    np.testing.assert_array_equal(shown["eta0"].isel(algorithm=2, k=0), [1, *[np.nan] * 4])
    np.testing.assert_array_equal(shown["excess"].values[0, 0, :, 0], excess[0, 0, 1:6, 0])
    np.testing.assert_array_equal(shown["excess"].values[1, 0, :, 0], excess[1, 0, :5, 0])


@pytest.fixture(scope="module")
def data():
    """Return centred data with three responses of different strength."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    return Dataset(
        "mine", X, X[:, :3] @ np.diag([1.0, 0.8, 0.6]) + 0.5 * rng.standard_normal((400, 3))
    ).centred()


def end_of(data, shuffled=False, **options):
    """Return how the offline algorithm ends, on responses of other samples if they are shuffled."""
    exact = ExactSolution(data.X, data.Y, 1.0, 0.1)
    Y = np.random.default_rng(1).permutation(data.Y) if shuffled else data.Y
    learner = OfflineBioRRR(k=2, s=1.0, ridge=0.1, random_state=0, **options).fit(data.X, Y)
    return {
        "multiplier": np.linalg.eigvalsh(learner.Q_ @ learner.Q_.T)[0] / exact.eigenvalues[1],
        "whitening_error": exact.whitening_error(learner.Vx_),
        "excess": exact.excess(learner.Vx_),
    }


def test_saturation_fails_for_a_frozen_q_and_for_a_shuffled_y(data):
    assert [claim.holds for claim in long_runs.saturation(end_of(data))] == [True, True, True]
    frozen = end_of(data, rates=Rates(Rate(0.1), Rate(0.1), Rate(0.0)), Q0=np.eye(2))
    assert [claim.holds for claim in long_runs.saturation(frozen)][:2] == [False, False]
    multiplier, _, optimal = long_runs.saturation(end_of(data, shuffled=True))
    assert (multiplier.holds, optimal.holds) == (False, False)


def test_algebra_fails_where_something_else_is_solved(data, monkeypatch):
    settings = SimpleNamespace(k=2, ridge=0.1, seed=0)
    assert theorems.equivalence(data, settings).holds is True
    assert theorems.every_sigma(data, settings).holds is True
    other = ExactSolution(data.X, np.random.default_rng(1).permutation(data.Y), 1.0, 0.1)
    monkeypatch.setattr(theorems.analysis, "ExactSolution", lambda *args: other)
    assert theorems.equivalence(data, settings).holds is False


def test_the_circuit_is_the_algorithm_and_another_circuit_is_not(data):
    settings = theorems.LearnerSettings(engine="numpy", ridge=0.1)
    assert theorems.implemented(data, settings, 0.5).holds is True

    class Other:
        k, seed = 2, 0

        def make_circuit(self, s, **arguments):
            return settings.make_circuit(s=s / 2, **arguments)

    assert theorems.implemented(data, Other(), 0.5).holds is False


def test_a_rule_that_reads_from_elsewhere_is_not_local():
    rules = Microcircuit(k=2).locality()
    assert theorems.local(rules).holds is True
    claim = theorems.local([*rules, Locality("Vx", "Lambda * Vx", (), (), ("w",), (), ("Lambda",))])
    assert (claim.holds, claim.numbers["not local"]) == (False, "Vx")


def test_an_output_with_recurrent_input_is_not_feedforward():
    z = np.random.default_rng(0).standard_normal((10, 2))
    assert theorems.feedforward(z, z).holds is True
    assert theorems.feedforward(z + 0.1 * z[:, ::-1], z).holds is False


def test_every_claim_of_a_race_can_fail():
    """With one learner out of step, whichever it is, some claims fail, and every claim is among
    them.
    """
    races = {
        ("rrmse", "online"): ("circuit", "Bio-RRMSE", "IQMD", "ANN"),
        ("rrmse", "offline"): ("Bio-RRMSE", "IQMD", "ANN"),
        ("cca", "online"): (
            "circuit",
            "Bio-CCA",
            "Bio-CCA, offline",
            "MSG-CCA",
            "CCALin",
            "CCALin, 1 step",
            "SAA",
        ),
        ("cca", "offline"): ("Bio-CCA", "CCALin", "CCALin, 1 step", "SAA"),
    }
    wrong = curve([0.9, 0.5, 0.2, 0.1, 0.09], seconds=1e-3)
    for race, learners in races.items():
        alike = dict.fromkeys(learners, FAST)

        def judged(curves, race=race):
            return [*check_claims(at_one_rank(curves), Problem(*race), rows=20_000)]

        assert {claim.holds for claim in judged(alike)} == {True}
        failed = {
            (one.text, one.case)
            for name in learners
            for one in judged(alike | {name: wrong})
            if one.holds is False
        }
        assert failed == {(one.text, one.case) for one in judged(alike)}


def test_a_seed_that_diverges_is_said_and_smaller_rates_are_a_case_of_their_own():
    seeds = [FAST["excess"].values[0]] * 4
    learners = {name: curve(*seeds) for name in ("Bio-RRMSE", "IQMD", "ANN")}
    courses = at_one_rank(learners)
    lost = {"rates": ASKED, "learner": "Bio-RRMSE", "seed": 2}
    courses = courses.assign_coords(seed=range(4)).copy(deep=True)
    courses["excess"].loc[lost] = np.nan
    courses["diverged"].loc[lost] = True
    courses["fraction"].loc[{"rates": STABLE, "learner": "Bio-RRMSE"}] = 0.8
    courses["excess"].loc[{"rates": STABLE, "learner": "Bio-RRMSE"}] = 0.3
    claims = [*check_claims(courses, Problem("rrmse", "online"), rows=20_000)]
    competitive = [one for one in claims if "perform competitively" in one.text]
    assert [(one.case, one.verdict) for one in competitive] == [
        ("printed rates, seeds that do not diverge", "holds"),
        ("Bio-RRMSE at 0.8 of the printed rates", "does not hold"),
    ]
    assert competitive[0].numbers["seeds of Bio-RRMSE that diverge"] == "1 of 4"
    assert "seeds of Bio-RRMSE that diverge" not in competitive[1].numbers


def test_the_fastest_of_all_depends_on_the_rows():
    learners = ("Bio-CCA", "Bio-CCA, offline", "MSG-CCA", "CCALin", "CCALin, 1 step", "SAA")
    *_, fastest = check_claims(
        at_one_rank(dict.fromkeys(learners, FAST)), Problem("cca", "online"), rows=4387
    )
    assert fastest.verdict == "other setting"
    assert "4,387 rows here, 20,000 in the paper" in fastest.setting
    assert "take 0.001 ms here" in fastest.setting  # FAST's seconds at its first snapshot


def test_rivals_start_alike_and_see_the_same_samples(data):
    X, Y = data.X, data.Y
    rates = Rates(Rate(1e-9), Rate(1e-9), Rate(1e-9))
    options = {"k": 2, "steps": 1, "random_state": 3}
    bio, ann = (
        OnlineBioRRR(rates=rates, **options).fit(X, Y),
        TwoLayerANN(rates=rates, **options).fit(X, Y),
    )
    np.testing.assert_allclose(bio.Vx_, ann.Vx_, atol=1e-7)
    np.testing.assert_allclose(bio.Vy_, ann.Vy_, atol=1e-7)
    assert bio.Vx_.std() == pytest.approx(0.01, rel=0.5)
    assert bio.Vy_.std() == pytest.approx(0.1, rel=0.7)
    seen = {}
    for name, cls in (("bio", OnlineBioRRR), ("ann", TwoLayerANN), ("iqmd", IQMD)):
        learner = cls(k=2, steps=30, random_state=3)
        present = learner._present
        learner._present = lambda X, Y, order, name=name, present=present: (
            seen.setdefault(name, []).extend(order),
            present(X, Y, order),
        )
        learner.fit(X, Y)
    assert seen["bio"] == seen["ann"] == seen["iqmd"]
