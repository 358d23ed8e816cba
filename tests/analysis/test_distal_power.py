"""Planned experiments on distal plasticity: circuits, and the shares of them that tell, cover and
mislead.
"""

import numpy as np
import pytest

from biorrr.analysis import infer_s
from biorrr.analysis.distal import power
from biorrr.analysis.distal.power import Design
from biorrr.errors import InputError


@pytest.mark.parametrize("s", [0.0, 0.7])
def test_circuits_follow_the_rule(s):
    y, z, a, Vy = power.simulate_circuits(s, 5, 2, 20, experiments=3, seed=0)
    before = Vy[:, :-1]
    rule = y[..., None] * (z - s * a)[..., None, :] - (1 - s) * before
    np.testing.assert_allclose(np.diff(Vy, axis=1), power.RATE * rule, atol=1e-15)
    np.testing.assert_allclose(a, np.einsum("eti,etij->etj", y, before), atol=1e-12)
    assert np.std(Vy[:, 0]) > 0.05  # no two experiments are the same


def loop(design, s, experiments, seed):
    """Return tells, misleads and covers of a design at s = 0 or 1, observed and inferred in a plain
    loop.
    """
    rng, found = np.random.default_rng(seed), []
    n, steps = max(power.FIBRES, design.synapses), design.samples * design.every
    y, z, a, Vy = power.simulate_circuits(s, n, design.neurons, steps, experiments, seed)
    for e in range(experiments):
        clean = y[e, :, : design.synapses], z[e], a[e], Vy[e, :: design.every, : design.synapses]
        noises = (*[design.activity_noise] * 3, design.weight_noise)
        noisy = [
            one + noise * np.sqrt(np.mean(one**2)) * rng.standard_normal(one.shape)
            for one, noise in zip(clean, noises, strict=True)
        ]
        signals = [one.reshape(design.samples, design.every, -1) for one in noisy[:3]]
        looks = noisy[3]
        found.append(infer_s(*signals, (looks[1:] + looks[:-1]) / 2, np.diff(looks, axis=0)))
    excludes = {0.0: [one.low > 0 for one in found], 1.0: [one.high < 1 for one in found]}
    covers = [one.low <= s <= one.high for one in found]
    return np.mean(excludes[1 - s]), np.mean(excludes[s]), np.mean(covers)


@pytest.mark.parametrize("s", [0.0, 1.0])
def test_shares_are_those_of_a_plain_loop(s):
    """Forty experiments against forty others: shares of a binomial differ by at most 0.3, in three
    standard errors.
    """
    for design in (Design(5, 12, 0.002, every=10), Design(5, 4, 0.01, every=10)):
        found = power.try_design(design, s, 40, seed=0)
        tells, misleads, covers = loop(design, s, 40, seed=1)
        assert found.tells == pytest.approx(tells, abs=0.3)
        assert found.misleads == pytest.approx(misleads, abs=0.12)
        assert found.covers == pytest.approx(covers, abs=0.15)


def test_more_samples_and_synapses_tell_more():
    few, many, single = (
        power.try_design(design, 1.0, 20, seed=0).tells
        for design in (
            Design(5, 4, 0.01, every=10),
            Design(5, 60, 0.01, every=10),
            Design(1, 60, 0.01, every=10),
        )
    )
    assert few < 0.3 < 0.6 < many
    assert single == 0  # a single synapse never tells


def test_an_s_between_the_ends_is_told_from_either():
    easy = power.try_design(Design(10, 60, 0.001, 0.02, neurons=2, every=10), 0.5, 10, seed=0)
    assert (easy.tells, easy.misleads) == (1, 0)
    assert easy.covers > 0.7


def test_a_design_that_is_too_large_is_refused():
    with pytest.raises(
        InputError,
        match=r"design: synapses \(at least 40\) times samples times every times neurons",
    ):
        Design(20, 5000, 0.05, every=100)


def test_noise_of_the_weights_is_that_of_a_look():
    """Weights known to 5 %, which change by less between two looks, tell nothing; looking rarely
    tells.
    """
    often = power.try_design(Design(20, 50, 0.05, neurons=2), 1.0, 10, seed=0)
    assert often.change < 0.03
    assert often.tells <= 0.2
    rarely = power.try_design(Design(20, 50, 0.01, neurons=2, every=30), 1.0, 10, seed=0)
    assert 0.03 < rarely.change < 0.25
    assert rarely.tells >= 0.8
