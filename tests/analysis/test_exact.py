"""The exact solution: what the theory says of it, for random sizes, ranks, s and ridge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from biorrr.analysis import ExactSolution, ReducedRankRegression
from biorrr.analysis.regression.exact_solution import covariances, sigma_inverse, symmetric_power

S_VALUES = st.floats(0, 1, allow_subnormal=False)
RIDGES = st.one_of(
    st.just(0.0), st.floats(1e-3, 10), st.tuples(st.floats(1e-3, 1), st.floats(1e-3, 1))
)


def centred(A):
    return A - A.mean(axis=0)


@st.composite
def problems(draw, ridges=RIDGES, s=S_VALUES):
    """X (n_samples, m), Y (n_samples, n), k, s, ridge; centred, of full rank."""
    m, n = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_samples = m + n + draw(st.integers(5, 60))
    X = rng.standard_normal((n_samples, m)) @ rng.standard_normal((m, m)) + 3
    Y = X @ rng.standard_normal((m, n)) / m + rng.standard_normal((n_samples, n))
    return centred(X), centred(Y), draw(st.integers(1, min(m, n))), draw(s), draw(ridges)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_filters_are_white_and_ordered_and_reach_the_optimum(problem):
    X, Y, k, s, ridge = problem
    C = covariances(X, Y, ridge)
    rrr = ReducedRankRegression(k, s=s, ridge=ridge).fit(X, Y)
    np.testing.assert_allclose(rrr.Vx_.T @ C.xx @ rrr.Vx_, np.eye(k), atol=1e-9)
    root = symmetric_power(C.xx, -0.5) @ C.xy  # M as supplement C writes it
    M = root @ linalg.solve(sigma_inverse(C.yy, s), root.T, assume_a="pos")
    np.testing.assert_allclose(
        rrr.eigenvalues_, linalg.eigvalsh(M)[::-1][: len(rrr.eigenvalues_)], atol=1e-9 * len(M)
    )
    np.testing.assert_allclose(
        sigma_inverse(C.yy, s) @ rrr.Vy_, C.xy.T @ rrr.Vx_, atol=1e-9 * np.abs(C.xy).max()
    )
    np.testing.assert_allclose(rrr.readout_, C.xy.T @ rrr.Vx_, atol=1e-9 * np.abs(C.xy).max())
    assert rrr.objective_ == pytest.approx(
        ExactSolution(X, Y, s, ridge).objective(rrr.Vx_), rel=1e-9
    )
    assert rrr.objective_ == pytest.approx(-rrr.eigenvalues_[:k].sum())


@given(problems(), st.integers(0, 2**32 - 1), st.floats(-8, 1))
@settings(max_examples=60, deadline=None)
def test_no_filters_beat_the_optimum(problem, seed, log_step):
    X, Y, k, s, ridge = problem
    solution = ExactSolution(X, Y, s, ridge)
    best = solution.Vx(k)
    others = best + 10**log_step * np.random.default_rng(seed).standard_normal((20, *best.shape))
    assert (solution.excess(others) >= -1e-9).all()


@given(problems(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_no_rank_k_regression_predicts_better(problem, seed):
    # The same optimum seen from Eq. 1: ||Y - PX||^2 in the Sigma_s norm over all P of rank k, ridge
    # included.
    X, Y, k, s, ridge = problem
    C = covariances(X, Y, ridge)
    rrr = ReducedRankRegression(k, s=s, ridge=ridge).fit(X, Y)
    P = rrr.readout_ @ rrr.Vx_.T
    rng = np.random.default_rng(seed)

    def loss(P):
        errors = P @ C.xx @ P.T - P @ C.xy - C.xy.T @ P.T
        return np.trace(linalg.solve(sigma_inverse(C.yy, s), errors, assume_a="pos"))

    for step in (1e-4, 1e-2, 1.0):
        readout = rrr.readout_ + step * rng.standard_normal(rrr.readout_.shape)
        other = readout @ (rrr.Vx_ + step * rng.standard_normal(rrr.Vx_.shape)).T
        assert loss(other) >= loss(P) - 1e-9 * abs(loss(P))


@given(problems(s=st.just(0.0)))
@settings(max_examples=30, deadline=None)
def test_rotations_of_Y_leave_rrmse_as_it_is(problem):
    X, Y, k, s, ridge = problem
    rotation = linalg.qr(np.random.default_rng(k).standard_normal((Y.shape[1],) * 2))[0]
    rrr, rotated = (ReducedRankRegression(k, s=s, ridge=ridge).fit(X, Z) for Z in (Y, Y @ rotation))
    np.testing.assert_allclose(rotated.eigenvalues_, rrr.eigenvalues_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(rotated.predict(X), rrr.predict(X) @ rotation, atol=1e-6)


@given(problems(ridges=st.just(0.0), s=st.just(1.0)), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_invertible_maps_of_Y_leave_cca_as_it_is(problem, seed):
    X, Y, k, s, ridge = problem
    n = Y.shape[1]
    change = np.random.default_rng(seed).standard_normal((n, n)) + 3 * np.eye(n)
    rrr, mapped = (ReducedRankRegression(k, s=s, ridge=ridge).fit(X, Z) for Z in (Y, Y @ change))
    np.testing.assert_allclose(mapped.eigenvalues_, rrr.eigenvalues_, atol=1e-8)
    assert rrr.eigenvalues_.max() <= 1 + 1e-12  # squared correlations


@given(problems())
@settings(max_examples=40, deadline=None)
def test_full_rank_is_least_squares(problem):
    X, Y, _, s, ridge = problem
    ridge_x = np.ravel(ridge)[0]
    full = ReducedRankRegression(min(X.shape[1], Y.shape[1]), s=s, ridge=ridge).fit(X, Y)
    expected = Ridge(alpha=ridge_x * len(X)) if ridge_x else LinearRegression()
    np.testing.assert_allclose(
        full.predict(X), expected.fit(X, Y).predict(X).reshape(Y.shape), atol=1e-6
    )


@pytest.mark.parametrize("ridge", [0.0, (0.1, 0.3)])
def test_s_one_solves_the_generalized_eigenproblem_of_cca(ridge, rng):
    # Supplement A: [0 Cxy; Cyx 0] W = [Cxx 0; 0 Cyy] W Lambda, with Lambda^2 the eigenvalues of M.
    X = centred(rng.standard_normal((300, 7)))
    Y = centred(X[:, :4] @ rng.standard_normal((4, 5)) + rng.standard_normal((300, 5)))
    C = covariances(X, Y, ridge)
    cross = np.block([[np.zeros((7, 7)), C.xy], [C.xy.T, np.zeros((5, 5))]])
    correlations, W = linalg.eigh(cross, linalg.block_diag(C.xx, C.yy))
    rrr = ReducedRankRegression(3, s=1.0, ridge=ridge).fit(X, Y)
    np.testing.assert_allclose(np.sqrt(rrr.eigenvalues_), correlations[::-1][:5], atol=1e-10)
    for i in range(3):
        canonical = W[:7, -1 - i]
        length = np.sqrt(canonical @ C.xx @ canonical)
        assert abs(canonical @ C.xx @ rrr.Vx_[:, i]) == pytest.approx(length, rel=1e-8)


def test_s_zero_is_classical_reduced_rank_regression(rng):
    # Izenman 1975: least squares, then the predictions' leading principal components.
    X, Y = centred(rng.standard_normal((200, 8))), centred(rng.standard_normal((200, 6)))
    fitted = X @ linalg.lstsq(X, Y)[0]
    components = linalg.svd(fitted, full_matrices=False)[2][:2]
    predicted = ReducedRankRegression(2).fit(X, Y).predict(X)
    np.testing.assert_allclose(predicted, fitted @ components.T @ components, atol=1e-10)


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0])
def test_an_ill_conditioned_Cxx_costs_no_accuracy(s, rng):
    # X has condition number 1e7, Cxx 1e14: covariances inverted in double precision would be noise.
    m, n = 8, 4
    sources = centred(rng.standard_normal((400, m)))
    mixing = linalg.qr(rng.standard_normal((m, m)))[0] * np.logspace(0, -7, m)
    Y = centred(sources[:, -3:] @ rng.standard_normal((3, n)) + 0.1 * rng.standard_normal((400, n)))
    # Invertible maps of X change no prediction, so the well-conditioned sources give the reference.
    reference = ReducedRankRegression(2, s=s).fit(sources, Y)
    rrr = ReducedRankRegression(2, s=s).fit(sources @ mixing.T, Y)
    np.testing.assert_allclose(rrr.eigenvalues_, reference.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(
        rrr.predict(sources @ mixing.T), reference.predict(sources), atol=1e-7
    )


@pytest.mark.parametrize("s", [0.0, 0.4, 1.0])
def test_more_inputs_than_samples_with_ridge(s, rng):
    X, Y = centred(rng.standard_normal((15, 40))), centred(rng.standard_normal((15, 20)))
    C = covariances(X, Y, 0.1)
    rrr = ReducedRankRegression(20, s=s, ridge=0.1).fit(X, Y)
    np.testing.assert_allclose(rrr.Vx_.T @ C.xx @ rrr.Vx_, np.eye(20), atol=1e-10)
    np.testing.assert_allclose(
        rrr.predict(X), X @ linalg.solve(C.xx, C.xy) + Y.mean(axis=0), atol=1e-10
    )


@pytest.mark.parametrize("s", [0.0, 0.4, 1.0])
def test_a_singular_Cxx_without_ridge_takes_the_pseudo_inverse(s, rng):
    sources = rng.standard_normal((100, 4))
    X = centred(sources @ rng.standard_normal((4, 9)))  # nine channels, rank four
    Y = centred(
        sources @ rng.standard_normal((4, 6))
    )  # six channels, rank four: Cyy is singular too
    C = covariances(X, Y)
    rrr = ReducedRankRegression(4, s=s).fit(X, Y)
    assert np.abs(rrr.Vx_).max() < 1e3
    np.testing.assert_allclose(rrr.Vx_.T @ C.xx @ rrr.Vx_, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(
        rrr.Vx_, linalg.pinv(X) @ (X @ rrr.Vx_), atol=1e-10
    )  # nothing in the null space
    np.testing.assert_allclose(rrr.predict(X), Y, atol=1e-10)
    # Beyond the rank of Cxx there is no white filter to be had, and none is made up.
    assert not ReducedRankRegression(6, s=s).fit(X, Y).Vx_[:, 4:].any()


def test_means_are_kept_and_new_data_is_centred_by_them(rng):
    X, Y = rng.standard_normal((60, 4)) + 5, rng.standard_normal((60, 3)) - 2
    rrr, centred_rrr = (
        ReducedRankRegression(2).fit(X, Y),
        ReducedRankRegression(2).fit(centred(X), centred(Y)),
    )
    np.testing.assert_allclose(
        rrr.predict(X[:3]), centred_rrr.predict(X[:3] - X.mean(0)) + Y.mean(0), atol=1e-12
    )


@parametrize_with_checks([ReducedRankRegression(ridge=0.01)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_clone_pipeline_and_names(rng):
    X, Y = rng.standard_normal((50, 4)), rng.standard_normal((50, 3))
    rrr = ReducedRankRegression(2, s=0.3, ridge=(0.1, 0.2))
    assert clone(rrr).get_params() == {"k": 2, "s": 0.3, "ridge": (0.1, 0.2)}
    pipeline = make_pipeline(StandardScaler(), rrr).fit(X, Y)
    assert pipeline.transform(X).shape == (50, 2)
    assert pipeline.score(X, Y) > 0
    assert list(rrr.get_feature_names_out()) == ["reducedrankregression0", "reducedrankregression1"]
    with pytest.raises(
        ValueError, match="X has 3 features, but ReducedRankRegression is expecting 4"
    ):
        rrr.transform(X[:, :3])
    with pytest.raises(NotFittedError):
        clone(rrr).predict(X)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        (
            {"k": 4},
            (
                r"k: must be a whole number from 1 to min\(m, n\) = 3 \(got 4\); X has m = 5"
                r" columns and Y has n = 3"
            ),
        ),
        ({"k": 1.5}, r"k: must be a whole number .* \(got 1.5\)"),
        ({"s": 1.5}, r"s: must lie in \[0, 1\] \(got 1.5\); 0 is RRMSE, 1 is CCA"),
        (
            {"ridge": -1},
            r"ridge: must be a number >= 0, or a pair of them for Cxx and Cyy \(got -1\)",
        ),
        ({"ridge": (1, 2, 3)}, r"ridge: must be a number >= 0, or a pair"),
    ],
)
def test_errors_name_the_limit_the_value_and_the_remedy(settings_, message, rng):
    with pytest.raises(ValueError, match=message):
        ReducedRankRegression(**settings_).fit(
            rng.standard_normal((20, 5)), rng.standard_normal((20, 3))
        )


@pytest.mark.parametrize("s", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(("n_samples", "m", "n"), [(200, 9, 5), (200, 5, 9), (12, 30, 20)])
def test_factor_covariances_and_factored_data_agree(monkeypatch, rng, s, n_samples, m, n):
    X, Y = rng.standard_normal((n_samples, m)), rng.standard_normal((n_samples, n))
    k, filters = 4, rng.standard_normal((6, m, 4))
    fast = ExactSolution(X, Y, s, ridge=0.1)
    monkeypatch.setattr(
        "biorrr.analysis.regression.exact_solution._factor_covariances", lambda *_: None
    )
    sound = ExactSolution(X, Y, s, ridge=0.1)
    np.testing.assert_allclose(fast.eigenvalues, sound.eigenvalues, atol=1e-12)
    np.testing.assert_allclose(fast.objective(filters), sound.objective(filters), rtol=1e-10)
    np.testing.assert_allclose(
        fast.whitening_error(filters), sound.whitening_error(filters), rtol=1e-10
    )
    np.testing.assert_allclose(fast.Vx(k) @ fast.Vy(k).T, sound.Vx(k) @ sound.Vy(k).T, atol=1e-9)
    np.testing.assert_allclose(
        fast.Vx(k) @ fast.readout(k).T, sound.Vx(k) @ sound.readout(k).T, atol=1e-9
    )


def test_a_ridge_too_small_to_help_is_no_less_exact(rng):
    # The ridge is 1e-16 of the largest variance: covariances cannot hold it, singular vectors of
    # the data can.
    X = centred(rng.standard_normal((100, 6))) * np.logspace(0, -7, 6)
    Y = centred(X[:, -2:] / np.logspace(0, -7, 6)[-2:] + 0.1 * rng.standard_normal((100, 2)))
    rrr = ReducedRankRegression(2, ridge=(1e-16, 0)).fit(X, Y)
    stacked = np.vstack(
        [X / 10, 1e-8 * np.eye(6)]
    )  # ridge regression as least squares, without Cxx
    expected = X @ linalg.lstsq(stacked, np.vstack([Y / 10, np.zeros((6, 2))]), cond=0)[0]
    np.testing.assert_allclose(rrr.predict(X), expected, atol=1e-6)
