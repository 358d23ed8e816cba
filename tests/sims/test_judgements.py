"""Every judgement says no to what is wrong: a frozen Q, a shuffled Y, a handicapped rival, a learner out of step."""

import numpy as np
import pytest

from biorrr.analysis import IQMD, OfflineBioRRR, OnlineBioRRR, TwoLayerANN, Yardstick
from biorrr.circuit import Microcircuit
from biorrr.circuit.results.locality import Locality
from biorrr.models import Rate, Rates
from biorrr.sims.experiments.compare.claims import check_claims
from biorrr.sims.experiments.images import BACKPROP, BIO, ImagesSettings, parity
from biorrr.sims.experiments.paper import proofs
from biorrr.sims.experiments.sensitivity import largest_stable
from biorrr.sims.races.curves import Curve, score
from biorrr.sims.races.heats import Heat
from biorrr.sims.races.judgements import arrivals, comparable, fewest, insensitive, matching, white

T = np.array([1, 10, 100, 1000, 10_000])


def curve(*excess, seconds=1e-6, whitening=0.01, t=T):
    """A learner of which every row of ``excess`` is one seed."""
    excess = np.atleast_2d(np.array(excess, dtype=float))
    each = np.ones((len(excess), 1))
    return Curve(t, t / 1000 * each, seconds * t * each, excess - 1, excess, np.full_like(excess, whitening))


FAST = curve([0.5, 0.04, 0.005, 0.001, 0.001])
SLOW = curve([0.9, 0.5, 0.2, 0.04, 0.005])
NEVER = curve([0.9, 0.8, 0.7, 0.6, 0.5])


def test_arrival_is_when_the_excess_stays_small():
    assert arrivals(curve([0.5, 0.01, 0.2, 0.04, 0.04]), "t", 0.05) == [1000]  # not at its first visit
    assert arrivals(curve([0.5, 0.2, np.nan, 0.04, 0.04]), "t", 0.05) == [1000]
    assert arrivals(NEVER, "t", 0.05) == [np.inf]
    assert arrivals(FAST, "passes", 0.05) == [0.01]
    assert arrivals(FAST, "seconds after preparation", 0.05) == pytest.approx([9e-6])


def test_the_fastest_must_be_fastest_at_both_thresholds():
    learners = {"a": FAST, "b": SLOW, "never": NEVER}
    assert fewest(learners, "a", ("b", "never"), "t", text="").holds is True
    assert fewest(learners, "b", ("a",), "t", text="").holds is False
    early = curve([0.9, 0.04, 0.04, 0.04, 0.005])  # within 5 % as soon as the fast one, within 1 % much later
    claim = fewest({"a": FAST, "early": early}, "early", ("a",), "t", text="")
    assert (claim.holds, claim.value) == (False, 100)
    assert fewest(learners, "never", ("a",), "t", text="").holds is False
    claim = fewest({"never": NEVER, "neither": NEVER}, "never", ("neither",), "t", text="")
    assert (claim.verdict, claim.unjudged) == ("not judged", "no learner came within 5 % of the optimum")


def test_matching_and_comparable_fail_on_both_sides():
    twin = curve([0.5, 0.045, 0.004, 0.001, 0.001])
    assert matching({"a": FAST, "b": twin}, "a", "b", "t", text="").holds is True
    for one, other in (("a", "b"), ("b", "a")):  # a handicapped rival makes nobody's claim true
        assert matching({"a": FAST, "b": SLOW}, one, other, "t", text="").holds is False
    worse = curve([0.9, 0.5, 0.2, 0.1, 0.06])
    assert comparable(FAST, twin, ("a", "b"), text="").holds is True
    assert comparable(worse, FAST, ("a", "b"), text="").holds is False
    assert comparable(FAST, worse, ("a", "b"), text="").holds is False


def test_no_bound_loosens_with_noise():
    noisy = curve(*([0.5, 0.2, 0.1, 0.1, end] for end in (0.0, 0.1, 0.2)))
    claim = comparable(noisy, FAST, ("a", "b"), text="")
    assert claim.spread > 0.05
    assert claim.holds is False


def test_a_handicapped_backprop_is_not_comparable():
    settings = ImagesSettings()
    assert parity("mnist", {BIO: SLOW, BACKPROP: SLOW}, settings).holds is True
    assert parity("mnist", {BIO: SLOW, BACKPROP: NEVER}, settings).holds is False
    assert parity("mnist", {BIO: NEVER, BACKPROP: SLOW}, settings).holds is False


def test_half_of_the_rates_must_do():
    grid = np.full((5, 5, 2), 0.3)
    grid[:2] = 0.01
    assert insensitive(grid, text="").holds is False
    grid[2] = 0.05
    assert insensitive(grid, text="").holds is True
    grid[1] = np.nan  # what diverged is not near
    assert insensitive(grid, text="").holds is False
    rows = [np.array([[0.1, np.nan]]), np.array([[0.1, 0.2]]), np.array([[0.1, 0.2]])]
    assert largest_stable(rows) == 1


@pytest.fixture(scope="module")
def learned():
    """Data, the exact solution, and the offline algorithm on them as it should be."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    Y = X[:, :3] @ np.diag([1.0, 0.8, 0.6]) + 0.5 * rng.standard_normal((400, 3))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    return X, Y, Yardstick(X, Y, 1.0, 0.1)


def end_of(X, Y, exact, **options):
    learner = OfflineBioRRR(k=2, s=1.0, ridge=0.1, random_state=0, **options).fit(X, Y)
    return {
        "QQ": np.linalg.eigvalsh(learner.Q_ @ learner.Q_.T)[::-1],
        "M": exact.eigenvalues[:2],
        "whitening_error": exact.whitening_error(learner.Vx_),
        "excess": exact.excess(learner.Vx_),
    }


def test_saturation_fails_for_a_frozen_q_and_for_a_shuffled_y(learned):
    X, Y, exact = learned
    assert [claim.holds for claim in proofs.saturation([end_of(X, Y, exact)])] == [True, True, True]
    frozen = end_of(X, Y, exact, rates=Rates(Rate(0.1), Rate(0.1), Rate(0.0)), Q0=np.eye(2))
    assert [claim.holds for claim in proofs.saturation([frozen])][:2] == [False, False]
    shuffled = end_of(X, np.random.default_rng(1).permutation(Y), exact)
    multiplier, _, optimal = proofs.saturation([shuffled])
    assert (multiplier.holds, optimal.holds) == (False, False)


def test_equivalence_fails_for_a_shuffled_y(learned):
    X, Y, exact = learned
    correlations = np.sqrt(exact.eigenvalues[:2])
    assert proofs.equivalence(exact.eigenvalues[:2], correlations**2).holds is True
    other = Yardstick(X, np.random.default_rng(1).permutation(Y), 1.0, 0.1)
    assert proofs.equivalence(other.eigenvalues[:2], correlations**2).holds is False


def test_whitening_fails_for_a_frozen_q(learned):
    X, Y, _ = learned
    exact = Yardstick(X, Y, 0.0, 0.0)

    def raced(rates):
        path = OnlineBioRRR(k=2, rates=rates, steps=20_000, snapshots=5, random_state=0).fit(X, Y).path_
        return score([path._asdict()], exact, 1.0)

    assert white(raced("auto"), text="").holds is True
    assert white(raced(Rates(Rate(0.05, 1000), Rate(0.02, 1000), Rate(0.0))), text="").holds is False


def test_a_rule_that_reads_from_elsewhere_is_not_local():
    rules = Microcircuit(k=2).locality()
    assert proofs.local(rules).holds is True
    foreign = Locality("Vx", "Lambda * Vx", (), (), ("w",), (), ("Lambda",))
    claim = proofs.local([*rules, foreign])
    assert claim.holds is False
    assert claim.numbers["not local"] == "Vx"


def test_an_output_with_recurrent_input_is_not_feedforward():
    z = np.random.default_rng(0).standard_normal((10, 2))
    assert proofs.feedforward(z, z).holds is True
    assert proofs.feedforward(z + 0.1 * z[:, ::-1], z).holds is False


def test_every_claim_of_a_race_can_fail():
    """With one learner out of step, whichever it is, some claims fail, and every claim is among them."""
    races = {
        ("rrmse", "online"): ("circuit (Brian2)", "Bio-RRMSE", "IQMD", "ANN"),
        ("rrmse", "offline"): ("Bio-RRMSE", "IQMD", "ANN"),
        ("cca", "online"): ("circuit (Brian2)", "Bio-CCA", "Bio-CCA, offline", "MSG-CCA", "CCALin", "SAA"),
        ("cca", "offline"): ("Bio-CCA", "CCALin", "SAA"),
    }
    wrong = curve([0.9, 0.5, 0.2, 0.04, 0.04], seconds=1e-3, whitening=0.5)
    for race, learners in races.items():
        alike = {(name, 1): FAST for name in learners}
        assert {claim.holds for claim in check_claims(alike, Heat(*race), (1,))} == {True}
        failed = {
            claim.text
            for name in learners
            for claim in check_claims(alike | {(name, 1): wrong}, Heat(*race), (1,))
            if claim.holds is False
        }
        assert failed == {claim.text for claim in check_claims(alike, Heat(*race), (1,))}


def test_rivals_start_alike_and_see_the_same_samples(learned):
    X, Y, _ = learned
    rates = Rates(Rate(1e-9), Rate(1e-9), Rate(1e-9))
    options = {"k": 2, "steps": 1, "random_state": 3}
    bio, ann = OnlineBioRRR(rates=rates, **options).fit(X, Y), TwoLayerANN(rates=rates, **options).fit(X, Y)
    np.testing.assert_allclose(bio.Vx_, ann.Vx_, atol=1e-7)
    np.testing.assert_allclose(bio.Vy_, ann.Vy_, atol=1e-7)
    assert bio.Vx_.std() == pytest.approx(0.01, rel=0.5)
    assert bio.Vy_.std() == pytest.approx(0.1, rel=0.7)
    seen = {}
    for name, cls in (("bio", OnlineBioRRR), ("ann", TwoLayerANN), ("iqmd", IQMD)):
        learner = cls(k=2, steps=30, random_state=3)
        present = learner._present
        learner._present = lambda X, Y, order, name=name, present=present: (
            seen.setdefault(name, []).extend(order), present(X, Y, order)
        )  # fmt: skip
        learner.fit(X, Y)
    assert seen["bio"] == seen["ann"] == seen["iqmd"]
