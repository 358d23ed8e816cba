"""Which s a simulated circuit follows, told from noisy recordings of its distal plasticity."""

from functools import cache

import numpy as np
import pytest

from biorrr.analysis import eligibility_trace, infer_s
from biorrr.analysis.distal.inferred_s import InferredS
from biorrr.analysis.distal.noise import NoisyTerm, Residual
from biorrr.analysis.distal.observation import between_observations, deconvolved
from biorrr.analysis.distal.power import observed, simulate_circuits


def record(s, k, seed, noise=0.05, **circuit):
    """Recordings y, z, a, Vy, dVy of a circuit, with noise on each of a fraction of its root mean
    square.
    """
    rng = np.random.default_rng(seed)
    return [
        v + noise * np.sqrt(np.mean(v**2)) * rng.standard_normal(v.shape)
        for v in simulate(s, k, **circuit)
    ]


@cache
def simulate(s, k, n=6, m=10, samples=1000, skip=1000, N=np.inf, ridge=0.0, gated=False):
    """Activity and distal weights of the circuit's equations, sample by sample (Eqs. 9 to 11).

    ``gated`` divides each sample's distal rate by |y|^2, a broadcast gain that no schedule
    describes.
    """
    rng = np.random.default_rng(k)
    sources = rng.standard_normal((skip + samples, 3)) * [1.3, 1.0, 0.7]
    X = 0.5 * sources @ rng.standard_normal((3, m)) + 0.6 * rng.standard_normal((skip + samples, m))
    Y = 0.5 * sources @ rng.standard_normal((3, n)) + 0.6 * rng.standard_normal((skip + samples, n))
    Vx, Vy, Q = (
        0.1 * rng.standard_normal((m, k)),
        0.1 * rng.standard_normal((n, k)),
        0.3 * np.eye(k),
    )
    rows = []
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        eta = 0.003 / (1 + t / N)
        z, a = Vx.T @ x, Vy.T @ y
        interneurons = Q.T @ z
        dVy = (
            eta
            / (max(1, y @ y) if gated else 1)
            * (np.outer(y, z - s * a) - (1 - s + s * ridge) * Vy)
        )
        rows.append((y, z, a, Vy, dVy))
        Vx = Vx + 2 * eta * np.outer(x, a - Q @ interneurons)
        Vy = Vy + dVy
        Q = Q + eta * (np.outer(z, interneurons) - Q)
    return [np.array(values) for values in zip(*rows[skip:], strict=True)]


@pytest.mark.parametrize("s", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_recovers_s_within_two_hundredths(s, k):
    for seed in range(3):
        found = infer_s(*record(s, k, seed))
        assert found.s == pytest.approx(s, abs=0.02)
        assert found.can_tell
        assert found.noise == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    "circuit",
    [{"N": 300, "skip": 0}, {"gated": True}, {"ridge": 0.1}],
    ids=["decaying rate", "gated rate", "ridge"],
)
def test_the_rate_may_do_what_it_likes(s, circuit):
    found = infer_s(*record(s, 2, seed=5, **circuit), circuit.get("ridge", 0))
    assert found.s == pytest.approx(s, abs=0.02)
    # A single neuron that hardly learns says less, and its interval says so.
    alone = infer_s(*record(s, 1, seed=5, **circuit), circuit.get("ridge", 0))
    assert alone.s == pytest.approx(s, abs=0.04)
    assert alone.low - 0.01 <= s <= alone.high + 0.01


def test_exact_without_noise():
    found = infer_s(*record(0.3, 2, seed=0, samples=100, noise=0))
    assert found.s == pytest.approx(0.3, abs=1e-9)
    assert found.high - found.low < 1e-6
    assert found.unexplained < 1e-12


def test_correcting_for_noise_removes_its_bias():
    # The same recordings, the noise made three times as large: the estimate stays, its interval
    # widens.
    little, much = (
        [infer_s(*record(0.7, 2, seed, noise=noise)) for seed in range(4)] for noise in (0.05, 0.15)
    )
    assert np.mean([found.s for found in much]) == pytest.approx(0.7, abs=0.01)
    assert np.mean([f.high - f.low for f in much]) > 2 * np.mean([f.high - f.low for f in little])


def test_the_interval_holds_what_it_promises():
    found = [
        infer_s(*record(0.4, 2, seed, samples=150, skip=300), confidence=0.8) for seed in range(40)
    ]
    covered = np.mean([f.low <= 0.4 <= f.high for f in found])
    assert 0.61 <= covered <= 0.99  # three standard deviations of a binomial of 40 about 0.8


def test_the_order_of_samples_and_gaps_between_them_do_not_matter():
    recordings = record(0.6, 2, seed=3)
    chosen = np.random.default_rng(0).permutation(len(recordings[0]))[:300]
    assert infer_s(*(v[chosen] for v in recordings)).s == pytest.approx(0.6, abs=0.02)


def test_samples_without_input_are_passed_over():
    recordings = [v[:200] for v in record(0.3, 2, seed=0, noise=0)]
    y, z, a, Vy, dVy = (np.concatenate([v, v[:50]]) for v in recordings)
    y[200:], z[200:], a[200:], dVy[200:] = (
        0,
        0,
        0,
        -0.003 * 0.7 * Vy[200:],
    )  # decay alone, whatever s is
    assert infer_s(y, z, a, Vy, dVy) == infer_s(*recordings)


def test_says_when_the_data_cannot_tell():
    y, z, a, Vy, dVy = record(0.5, 1, seed=0)
    for recordings in (
        (
            y[:, :1],
            z,
            a,
            Vy[:, :1],
            dVy[:, :1],
        ),  # a lone synapse: a slow strong rule looks like a fast weak one
        (y, z, a, Vy, np.zeros_like(dVy)),  # frozen
        (
            y,
            z,
            a,
            Vy,
            np.random.default_rng(0).permutation(dVy),
        ),  # changes that belong to other samples
        (y, z, a, Vy, np.random.default_rng(0).standard_normal(dVy.shape)),  # nothing but noise
        [v[:3] for v in record(0.5, 1, seed=0, noise=0.5)],  # hardly any data
    ):
        found = infer_s(*recordings)
        assert not found.can_tell
        assert str(found).startswith("These data cannot tell: every s")


def test_says_when_another_rule_is_at_work():
    y, z, a, Vy, _ = record(0.0, 2, seed=0, noise=0)
    grown = 0.01 * (y[:, :, None] * (z - 2 * a)[:, None, :] + Vy)  # the same formula at s = 2
    found = infer_s(y, z, a, Vy, grown)
    assert found.s == pytest.approx(2)
    assert str(found).startswith(
        "No s between 0 (RRMSE) and 1 (CCA) fits: s = 2.000, 95% confidence interval"
    )


def test_reads_as_a_sentence():
    assert str(infer_s(*record(1.0, 2, seed=0))).startswith("s = ")
    assert "0 is RRMSE, 1 is CCA" in str(infer_s(*record(1.0, 2, seed=0)))


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("noisy", [0, 1, 2, 3, 4], ids=["y", "z", "a", "Vy", "dVy"])
def test_the_interval_covers_when_one_quantity_alone_is_noisy(noisy, s):
    # With the same noise assumed in all quantities, as few as 0 to 60 % of these intervals
    # contained s.
    when, rng = np.arange(101), np.random.default_rng(noisy)
    covered = []
    for circuit in zip(*simulate_circuits(s, 6, 2, 100, experiments=15, seed=noisy), strict=True):
        recordings = [*between_observations(*circuit, when)]
        recordings[noisy] = observed(recordings[noisy], 0.2, rng)
        found = infer_s(*recordings)
        covered.append(found.low <= s <= found.high)
    assert np.mean(covered) >= 0.78  # three standard deviations of a binomial of 15 below 0.95


def test_sparse_observation_of_the_weights():
    for every, within in ((1, 1e-9), (20, 0.02)):
        y, z, a, Vy = (
            values[0] for values in simulate_circuits(0.5, 6, 2, 400, experiments=1, seed=0)
        )
        when = np.arange(0, 401, every)
        assert infer_s(*between_observations(y, z, a, Vy[when], when)).s == pytest.approx(
            0.5, abs=within
        )
    with pytest.raises(
        ValueError, match="when: must be at least two sample counts in equal steps, from 0 to 400"
    ):
        between_observations(y, z, a, Vy[:3], [0, 1, 5])


def test_synapses_that_were_not_observed_do_not_matter():
    y, z, a, Vy, dVy = record(0.3, 2, seed=0, samples=100, noise=0)
    Vy, dVy = Vy.copy(), dVy.copy()
    Vy[:, :3, 0] = dVy[:, 0, 1] = Vy[:, 0, 1] = dVy[:, :3, 0] = np.nan
    assert infer_s(y, z, a, Vy, dVy).s == pytest.approx(0.3, abs=1e-9)
    dVy[7, 5, 1] = np.nan  # seen but for one sample
    with pytest.raises(ValueError, match="dVy: must be finite"):
        infer_s(y, z, a, Vy, dVy)


def test_calcium_is_deconvolved():
    y, z, a, Vy, dVy = record(0.3, 2, seed=0, samples=200, noise=0)
    through, current = eligibility_trace(z, 4.5), eligibility_trace(a, 4.5)
    assert np.std(through) < 0.7 * np.std(z)
    np.testing.assert_allclose(deconvolved(through, 4.5), z, atol=1e-12)
    assert infer_s(
        y, deconvolved(through, 4.5), deconvolved(current, 4.5), Vy, dVy
    ).s == pytest.approx(0.3)
    assert (
        abs(infer_s(y, through, current, Vy, dVy).s - 0.3) > 0.02
    )  # calcium taken for activity misleads


def test_known_noise_shows_another_rule():
    y, z, a, Vy, dVy = record(0.0, 2, seed=0, noise=0)
    oja = 0.003 * (y[:, :, None] * z[:, None, :] - z[:, None, :] ** 2 * Vy)
    found = infer_s(y, z, a, Vy, oja, noise=0.0)
    assert found.another_rule
    assert "left unexplained, more than the given noise can explain" in str(found)
    assert not infer_s(y, z, a, Vy, dVy, noise=0.0).another_rule
    assert not infer_s(*record(0.0, 2, seed=0, noise=0.1), noise=0.1).another_rule
    assert "they are mostly noise, or follow another rule" in str(infer_s(y, z, a, Vy, oja))
    noisy = infer_s(*record(0.0, 2, seed=0, noise=0.2))
    assert (
        "That is what noise of 20% in all quantities would leave. If your recordings have less"
        in str(noisy)
    )
    with pytest.raises(ValueError, match="noise: must name quantities among y, z, a, Vy, dVy"):
        infer_s(y, z, a, Vy, dVy, noise={"x": 0.1})
    with pytest.raises(
        ValueError,
        match=r"noise: must lie in \[0, 1\), a fraction of the root mean square \(got 20\)",
    ):
        infer_s(y, z, a, Vy, dVy, noise=20)


def test_says_where_it_is_weak():
    y, z, a, Vy, dVy = record(0.5, 1, seed=0)
    assert "A single synapse does not determine s" in str(
        infer_s(y[:, :1], z, a, Vy[:, :1], dVy[:, :1])
    )
    assert "only 5 informative samples" in str(infer_s(*(v[:5] for v in (y, z, a, Vy, dVy))))
    assert "With one neuron the noisy quantity cannot be identified" in str(
        infer_s(y, z, a, Vy, dVy)
    )
    shuffled = dVy[np.random.default_rng(0).permutation(len(dVy))]
    assert "they are mostly noise, or follow another rule" in str(infer_s(y, z, a, Vy, shuffled))


def test_errors_name_the_recording():
    y, z, a, Vy, dVy = record(0.5, 2, seed=0, samples=20, skip=0)
    with pytest.raises(
        ValueError, match=r"Vy: must have shape \(T, n, k\), samples first \(got \(6, 2\)\)"
    ):
        infer_s(y, z, a, Vy[0], dVy)
    with pytest.raises(
        ValueError, match=r"z: must have shape \(20, 2\) to match Vy \(got \(20, 1\)\)"
    ):
        infer_s(y, z[:, :1], a, Vy, dVy)
    with pytest.raises(ValueError, match="a: must be finite; leave out samples"):
        infer_s(y, z, np.where(a == a[0, 0], np.nan, a), Vy, dVy)
    with pytest.raises(
        ValueError, match=r"a: must have no masked values, which would count as data \(got 1\)"
    ):
        infer_s(y, z, np.ma.masked_equal(a, a[0, 0]), Vy, dVy)
    with pytest.raises(
        ValueError, match=r"confidence: must lie between 0 and 1 \(got 95\); 0.95 is usual"
    ):
        infer_s(y, z, a, Vy, dVy, confidence=95)


def test_an_artefact_that_z_and_a_share_is_allowed_for_where_it_is_known():
    rng, covered = np.random.default_rng(1), {False: [], True: []}
    for y, z, a, Vy in zip(*simulate_circuits(1.0, 6, 2, 200, experiments=15, seed=2), strict=True):
        shared = 0.2 * rng.standard_normal(z.shape)
        z, a = (one + np.sqrt(np.mean(one**2)) * shared for one in (z, a))
        recordings = between_observations(y, z, a, Vy, np.arange(201))
        fraction = 0.2 / np.sqrt(1.04)
        for told in covered:
            found = infer_s(
                *recordings, noise={"z": fraction, "a": fraction}, correlation=float(told)
            )
            covered[told].append(found.low <= 1 <= found.high)
    assert np.mean(covered[True]) >= 0.78 > 0.5 > np.mean(covered[False])
    with pytest.raises(ValueError, match="correlation: needs the noise of z and a"):
        infer_s(*recordings, correlation=0.5)
    assert "Noise of z and a is assumed to be independent." in str(infer_s(*recordings))


@pytest.mark.parametrize(
    ("low", "high", "sentence"),
    [
        (-0.2, 1.2, "These data cannot tell: every s from -0.20 to 1.20 fits"),
        (-0.2, 0.9, "s = 0.500, 95% confidence interval -0.200 to 0.900"),
        (0.1, 1.2, "s = 0.500, 95% confidence interval 0.100 to 1.200"),
        (1.1, 1.3, "No s between 0 (RRMSE) and 1 (CCA) fits"),
        (-0.4, -0.1, "No s between 0 (RRMSE) and 1 (CCA) fits"),
        (0.4, 1.0, "s = 0.500"),
        (-np.inf, np.inf, "These data cannot tell: every s fits"),
    ],
)
def test_what_the_interval_excludes_is_said(low, high, sentence):
    assert str(InferredS(0.5, low, high, 0.95, 0.1, 0.1)).startswith(sentence)


def test_no_s_is_given_where_weights_change_much_between_two_looks():
    y, z, a, Vy = (one[0] for one in simulate_circuits(1.0, 6, 2, 3000, experiments=1, seed=0))
    when = np.arange(0, 3001, 600)
    Vy = Vy[when] + np.array([0.0, 1, 0, 1, 0, 1])[:, None, None] * Vy[0]
    found = infer_s(*between_observations(y, z, a, Vy, when))
    assert np.isnan(found.s)
    assert (found.low, found.high) == (-np.inf, np.inf)
    assert "Observe them more often." in str(found)


def test_how_much_noise_the_weights_can_have_had():
    """Noise without a direction may all be of the weights: what it then was, by simulated noise in
    the rule.
    """
    rng = np.random.default_rng(0)
    T, w, n, k, s, ridge = 80, 2, 4, 3, 0.3, 0.1
    y, z, a = (
        rng.standard_normal((T, w, n)),
        rng.standard_normal((T, w, k)),
        rng.standard_normal((T, w, k)),
    )
    seen = np.ones((n, k), dtype=bool)
    seen[0, 1] = False  # a synapse that was not observed
    Vy = seen * rng.standard_normal((T, n, k))
    rule = NoisyTerm(y, z - s * a, Vy, seen, 1 - s + s * ridge, {"z": 1.0, "a": -s})
    rates = rng.uniform(0.5, 1.5, (T, 1, 1))
    residual = Residual(rule, seen * (rates * rule.value + 0.2 * rng.standard_normal((T, n, k))))

    def left_by(noise):
        """Mean sum of squares that the rate which fits best leaves of noise, (draws, T, n, k), in
        the changes.
        """
        along = np.einsum("dtij,tij->dt", noise, rule.value) / np.einsum(
            "tij,tij->t", rule.value, rule.value
        )
        return np.square(noise - along[..., None, None] * rule.value).sum(axis=(2, 3)).mean()

    def left_by_weights(at):
        error = np.sqrt(np.mean(Vy[:, seen] ** 2)) * rng.standard_normal((1000, T, n, k)) * seen
        return left_by(residual.rate[:, None, None] * w * (1 - at + at * ridge) * error)

    of_changes = (
        np.sqrt(np.mean(residual.dVy[:, seen] ** 2)) * rng.standard_normal((1000, T, n, k)) * seen
    )
    *_, of_V, of_d, _ = residual.fitted_noise
    in_all = of_V * left_by_weights(s) + of_d * left_by(of_changes)
    candidates = np.array([0.0, 0.3, 0.6])
    found = residual.possible_noise(candidates, a, Vy, ridge)[4]
    np.testing.assert_allclose(
        found[:, 3], [in_all / left_by_weights(at) for at in candidates], rtol=0.01
    )
    assert 0 < found[:, 3].max() < 0.25
    assert not found[:, 4].any()  # then none is of the changes
    assert (
        residual.possible_noise(np.array([1.0]), a, Vy, 0.0)[4, 0, 3] == 0.25
    )  # weights that do not decay: the most
