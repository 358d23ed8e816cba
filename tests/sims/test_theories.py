"""The experiment on rival theories: the same samples for all, predictions of law 1, lesions, and
verdicts.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import fixed_feedback_law
from biorrr.models import Rate
from biorrr.models.theories import BioRRR, BurstDependent, FeedbackAlignment, UrbanczikSenn
from biorrr.sims.data import load
from biorrr.sims.experiments.theories import (
    NAMES,
    TheoriesSettings,
    contests,
    imaged_theories,
    measures,
    theories,
    verdicts,
)
from biorrr.sims.experiments.theories import interface as interfaces
from biorrr.sims.lab import Job, SettingsError
from biorrr.sims.lab.folder.checkpoints import NOT_KEPT


@pytest.fixture(scope="module")
def data():
    return contests.scaled(load('{name="synthetic", samples=200, m=6, n=4, latents=3}'))


@pytest.fixture
def job():
    return Job(SimpleNamespace(engine="numpy", trials=200), "theories", NOT_KEPT)


def test_data_are_centred_and_of_mean_square_one(data):
    for one in (data.X, data.Y):
        assert np.abs(one.mean(axis=0)).max() < 1e-12
        assert np.square(one).mean() == pytest.approx(1)


def test_law_1_is_predicted_for_fixed_feedback_alone(data):
    fixed = contests.Contest(FeedbackAlignment(feedback="fixed"), 0.1, 100, seed=3)
    B = fixed.theory.start(6, 4, 3)["B"]
    assert (
        contests.predicted(fixed, data)
        == fixed_feedback_law(B, data.X, data.Y, contests.RIDGE).excess
        > 0.02
    )
    assert np.isnan(contests.predicted(contests.Contest(BioRRR(), 0.1, 100, 3), data))
    bounded = [name for name in NAMES if "fixed" in name]
    assert all(verdicts.EXCESS[name] == (0.02, np.inf) for name in bounded)
    assert len(bounded) == 3


def test_a_theory_that_diverges_has_learned_nothing(job, data):
    found = measures.measure(job, contests.Contest(FeedbackAlignment(), 1e6, 100, 0), data)
    assert found["excess"] == contests.NOT_LEARNED
    assert np.isnan(found["carries"]).all()


def test_lesions_do_what_the_equations_say(job, data):
    """Silenced, Bio-RRR's dendrite shows y; cut, a teacher is silent; nothing of Bio-RRR hears of a
    readout.
    """
    rrr = measures.measure(job, contests.Contest(BioRRR(), 0.1, 3000, 0), data)
    silenced, cut, inverted = range(3)
    assert rrr["shown"][silenced, 0] == pytest.approx(1)
    assert rrr["shown"][cut, 1] == pytest.approx(1)
    assert rrr["change"][inverted] == 0
    assert np.isfinite(rrr["silenced_excess"])
    teacher = measures.measure(job, contests.Contest(UrbanczikSenn(), 0.1, 1000, 0), data)
    assert np.isnan(teacher["change"][silenced])
    assert teacher["change"][cut] == 1
    assert teacher["carries"][:, 0] == pytest.approx(1)
    assert teacher["soma_by_y"] > 0.01
    bursts = measures.measure(job, contests.Contest(BurstDependent(), 0.1, 1000, 0), data)
    assert bursts["change"][inverted] > 0.1
    assert bursts["change"][silenced] > 0.1


def test_y_may_have_more_features_than_x(job):
    """The full regression of y on x has more columns than there can be filters."""
    wide = contests.scaled(load('{name="synthetic", samples=100, m=4, n=9, latents=2}'))
    found = measures.measure(job, contests.Contest(BioRRR(), 0.1, 500, 0), wide)
    assert np.isfinite(found["carries"]).all()


def test_an_unknown_theory_is_refused():
    with pytest.raises(
        SettingsError, match=r"theories: must be one of all, backprop, .* \(got 'phlogiston'\)"
    ):
        TheoriesSettings(theories=("phlogiston",))
    assert TheoriesSettings(theories=("Bio-RRR", "bursts")).chosen == ("bursts", "Bio-RRR")
    assert TheoriesSettings().chosen == NAMES


def test_a_circuit_of_one_s_own_is_refused():
    with pytest.raises(
        SettingsError, match=r"circuit: theories bring their own circuits \(got 'own.py:make'\)"
    ):
        theories(None, TheoriesSettings(circuit="own.py:make"))


def test_bounds_are_judged_once_learning_has_converged(data):
    theory = "Urbanczik-Senn, Hebbian"
    settings = SimpleNamespace(samples=10, every_seed=(0,), seed=0, rates=(0.1,))
    scores = {name: np.zeros([3] * len(axes)) for name, axes in measures.MEASURES.items()} | {
        "law": np.nan
    }

    def answer(function, items, data):
        return {item: scores | {"distance": 0.0} for item in items}

    for participation, samples, verdict in (
        (1.05, 300_000, True),
        (1.2, 300_000, False),
        (1.05, 1000, None),
    ):
        scores["participation"] = participation
        joined = measures.compete(
            SimpleNamespace(settings=settings, map=answer), [UrbanczikSenn(teacher="Hebbian")], data
        )
        results = joined.expand_dims(data=["digits"]).assign_attrs(k=2, samples=samples)
        assert results["carries"].shape == (1, 1, 1, 3, 3)
        found = {("digits", theory): [*verdicts.measured(results, "digits", theory)]}
        (claim,) = verdicts.judge(results, found)
        assert claim.holds is verdict


@pytest.mark.parametrize(
    ("shape", "extra"), [("signed", 0.0), ("rectified, rest 0.5", 0.0), ("rectified, rest 0", 1.0)]
)
def test_apical_signals_at_the_interface_are_those_of_a_plain_loop(job, shape, extra):
    theory = interfaces.every_interfaced()[0]
    assert theory.name == "fixed feedback"
    role, rest = np.array(interfaces.ROLE), interfaces.RESTING[shape]
    V = theory.start(interfaces.INPUTS, 1, seed=4)["Vx"] / interfaces.CELLS
    apical, error = [], []
    for x in interfaces._inputs(4):
        miss = 1 - V.T @ x @ role / interfaces.CELLS
        error.append(abs(miss))
        apical.append(np.maximum(role * miss - extra, -rest))
        V = V + interfaces.RATE * np.outer(x, apical[-1])
    rising = np.diff(error) > 0
    deviation = (np.array(apical) - np.mean(apical, axis=0))[1:]
    expected = [
        [deviation[when][:, role == sign].mean() for when in (~rising, rising)] for sign in (1, -1)
    ]
    found = interfaces.record(job, interfaces.Interface(theory, shape, extra, 4))["apical"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    if shape == "signed":
        assert found[0] == pytest.approx(-found[1])
        assert abs(found).min() > 1e-3


def test_a_question_separates_theories_whose_shares_differ():
    """Of 10 experiments, 10 against 2 differ by Fisher's test, 10 against 6 and 6 against 2 do
    not."""
    yes = np.zeros((3, 10, 2, 3, 4))
    for theory, number in enumerate((10, 6, 2)):
        yes[theory, :number, :, :, 0] = 1
    yes[1, 0, 0, 0, 1] = np.nan  # diverged, or not asked
    answers = imaged_theories.shares(["one", "two", "three"], (500, 2000), yes)
    assert answers["yes"].sel(question="specific", trials=500, noise=2).values.tolist() == [
        1.0,
        0.6,
        0.2,
    ]
    assert (answers["separated"].sel(question="specific") == 1).all()
    assert (answers["separated"].sel(question="informative") == 0).all()


def test_answers_and_signals_are_quantities():
    """A share, a number of pairs and a change at the interface are found in the summary under their
    names.
    """
    answers = imaged_theories.shares(["one", "two"], (500, 2000), np.ones((2, 10, 2, 3, 4)))
    found = {one.name: one.value for one in verdicts.answered(answers)}
    assert found["yes_two_signed"] == 1
    assert found["separated_predictive_500_4"] == 0
    apical = np.arange(8.0).reshape(1, 1, 2, 2, 2) ** 2
    signals = xr.Dataset(
        {"apical": (("theory", "shape", *interfaces.AXES), apical)},
        {"theory": ["one"], "shape": ["rectified, rest 0"], **interfaces.AXES},
    )
    changes = {one.name: one.value for one in verdicts.at_interface(signals)}
    assert changes == {
        "interface_one_rectified_rest_0_helpful": 1.0,
        "interface_one_rectified_rest_0_hurtful": 5.0,
        "interface_one_rectified_rest_0_helpful_inhibited": 9.0,
        "interface_one_rectified_rest_0_hurtful_inhibited": 13.0,
    }


def test_the_rate_heeds_the_larger_of_both_views(data):
    """Synapses of n top cells take n steps of one sample, as those of m inputs do."""
    wide = replace(data, X=data.X[:, :2])
    assert contests.rate_of(0.1, data) == Rate(0.1 / 6)
    assert contests.rate_of(0.1, wide) == Rate(0.1 / 4)
