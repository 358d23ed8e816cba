"""Planned experiments on distal plasticity: circuits, power, and the smallest number that suffices."""

from dataclasses import replace

import numpy as np
import pytest

from biorrr.analysis.distal import power
from biorrr.analysis.distal.power import Design


@pytest.mark.parametrize("s", [0.0, 0.7])
def test_circuits_follow_the_rule(s):
    y, z, a, Vy = power.simulate_circuits(s, 5, 2, 20, experiments=3, seed=0)
    before = Vy[:, :-1]
    rule = y[..., None] * (z - s * a)[..., None, :] - (1 - s) * before
    np.testing.assert_allclose(np.diff(Vy, axis=1), power.RATE * rule, atol=1e-15)
    np.testing.assert_allclose(a, np.einsum("eti,etij->etj", y, before), atol=1e-12)
    assert np.std(Vy[:, 0]) > 0.05  # no two experiments are the same


def test_more_samples_and_synapses_tell_more():
    few, many = Design(5, 4, 0.01, every=10), Design(5, 60, 0.01, every=10)
    assert power.power_of(few, 20, seed=0) < 0.3 < 0.6 < power.power_of(many, 20, seed=0)
    assert power.power_of(replace(many, synapses=1), 10, seed=0) == 0  # a single synapse never tells


def test_outcomes_of_a_hopeless_and_of_an_easy_design():
    hopeless = power.try_design(Design(2, 3, 0.05), 1.0, 20, seed=0)
    assert (hopeless.tells, hopeless.width) == (0, np.inf)
    easy = power.try_design(Design(10, 60, 0.001, 0.02, 0.02, 0.02, neurons=2, every=10), 0.5, 10, seed=0)
    assert (easy.tells, easy.misleads) == (1, 0)
    assert easy.covers > 0.7


def test_the_smallest_number_suffices_and_a_smaller_one_does_not(monkeypatch):
    monkeypatch.setattr(power, "power_of", lambda design, experiments, seed: float(design.samples >= 37))
    found, tried = power.smallest(Design(5, 200, 0.1), "samples", 0.95, 1000, 10, 0)
    assert found in (37, 38)
    assert all((number >= 37) == (share == 1) for number, share in tried.items())
    assert power.smallest(Design(5, 200, 0.1), "samples", 0.95, 32, 10, 0)[0] is None


def test_noise_of_the_weights_is_that_of_a_look():
    """Weights known to 5 %, which change by less between two looks, tell nothing; looking rarely tells."""
    often = power.try_design(Design(20, 50, 0.05, neurons=2), 1.0, 10, seed=0)
    assert often.change < 0.03
    assert often.tells <= 0.2
    rarely = power.try_design(Design(20, 50, 0.01, neurons=2, every=30), 1.0, 10, seed=0)
    assert 0.03 < rarely.change < 0.25
    assert rarely.tells >= 0.8
