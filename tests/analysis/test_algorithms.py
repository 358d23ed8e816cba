"""What holds for every algorithm: it reaches its optimum and never beats it, and it is a good
scikit-learn citizen.
"""

import contextlib
import pickle

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from biorrr.analysis import (
    IQMD,
    MSGCCA,
    SAA,
    CappedMSG,
    CCALin,
    ExactSolution,
    OfflineBioRRR,
    OnlineBioRRR,
    RankCV,
    ReducedRankRegression,
    TwoLayerANN,
    r2,
)
from biorrr.analysis.algorithms.kernel import kernel

BATCH = [OfflineBioRRR, TwoLayerANN, IQMD, CCALin, SAA]
ONLINE = [OnlineBioRRR, TwoLayerANN, IQMD, MSGCCA, CappedMSG]
BATCH_EXCESS, STOCHASTIC_EXCESS = 1e-3, 0.03


def made(cls, online, **options):
    """An estimator of either setting; ANN and IQMD have both."""
    return cls(online=online, **options) if cls in (TwoLayerANN, IQMD) else cls(**options)


def centred(A):
    return A - A.mean(axis=0)


def draw_problem(rng, max_size=20, condition=30.0):
    """Centred X (n_samples, m) and Y (n_samples, n) of unit scale, and k: well-conditioned,
    otherwise of any kind.
    """
    m, n = rng.integers(2, max_size + 1, size=2)
    k, rank = rng.integers(1, min(m, n, 4) + 1), rng.integers(1, min(m, n) + 1)
    n_samples = int(rng.choice([400, 1000, 3000]))
    axes, _ = np.linalg.qr(rng.standard_normal((m, m)))
    deviations = np.sqrt(np.exp(rng.uniform(0, np.log(condition), m)))
    sources = (
        rng.standard_normal((n_samples, m))
        if rng.random() < 0.5
        else rng.standard_t(5, (n_samples, m))
    )
    X = sources @ (axes * deviations).T
    signal = X @ rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    Y = signal / signal.std() * rng.choice([0.5, 1.0, 2.0]) + rng.standard_normal((n_samples, n))
    if rng.random() < 0.3:
        Y = (Y > 0).astype(float)
    X, Y = centred(X), centred(Y)
    return X / X.std(), Y / Y.std(), int(k)


def check_reaches_optimum(estimator, X, Y, s, bound):
    if "s" in estimator.get_params():
        estimator.set_params(s=s)
    excess = ExactSolution(X, Y, estimator.s, estimator.ridge).excess(estimator.fit(X, Y).Vx_)
    assert -1e-9 <= excess < bound, estimator


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cls", BATCH)
def test_batch_algorithms_reach_their_optimum_by_default(cls, seed):
    X, Y, k = draw_problem(np.random.default_rng(seed))
    check_reaches_optimum(
        made(cls, False, k=k, random_state=seed), X, Y, [0.0, 1.0, 0.5, 1.0][seed], BATCH_EXCESS
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cls", ONLINE)
def test_online_algorithms_reach_their_optimum_by_default(cls, seed):
    X, Y, k = draw_problem(np.random.default_rng(seed))
    estimator = made(cls, True, k=k, random_state=seed, ridge=[0.0, 0.1][seed % 2])
    check_reaches_optimum(estimator, X, Y, [0.0, 1.0, 0.5][seed], STOCHASTIC_EXCESS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
@pytest.mark.parametrize(
    ("cls", "online"), [(c, False) for c in BATCH] + [(c, True) for c in ONLINE]
)
def test_they_do_so_on_many_more_problems(cls, online, seed):
    X, Y, k = draw_problem(np.random.default_rng(seed), max_size=30)
    estimator = made(cls, online, k=k, random_state=seed, ridge=[0.0, 0.1][seed % 2])
    check_reaches_optimum(
        estimator, X, Y, [0.0, 0.5, 1.0][seed % 3], STOCHASTIC_EXCESS if online else BATCH_EXCESS
    )


@given(
    st.sampled_from([(cls, False) for cls in BATCH] + [(cls, True) for cls in ONLINE]),
    st.integers(0, 2**32 - 1),
    st.floats(0, 1),
    st.one_of(st.just(0.0), st.floats(1e-3, 10), st.tuples(st.floats(1e-3, 1), st.floats(1e-3, 1))),
)
@settings(max_examples=60, deadline=None)
def test_no_algorithm_beats_the_optimum_on_its_way(algorithm, seed, s, ridge):
    X, Y, k = draw_problem(np.random.default_rng(seed), max_size=8)
    estimator = made(*algorithm, k=k, ridge=ridge, random_state=0, steps=300, snapshots=10)
    if "s" in estimator.get_params():
        estimator.set_params(s=s)
    estimator.fit(X, Y)
    excess = ExactSolution(X, Y, estimator.s, ridge).excess(estimator.path_.Vx)
    assert (excess >= -1e-9).all()
    assert (excess <= 1 + 1e-9).all()


@parametrize_with_checks(
    [
        OfflineBioRRR(steps=500, random_state=0),
        OnlineBioRRR(steps=2000, random_state=0),
        TwoLayerANN(steps=2000, random_state=0),
        TwoLayerANN(online=False, steps=500, random_state=0),
        IQMD(random_state=0),
        IQMD(online=False, random_state=0),
        CCALin(random_state=0),
        SAA(steps=20, random_state=0),
        CappedMSG(steps=400, random_state=0),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


ALL = [made(cls, False, k=2, random_state=0) for cls in BATCH] + [
    made(cls, True, k=2, random_state=0) for cls in ONLINE
]


@pytest.fixture
def data(rng):
    X = rng.standard_normal((300, 6)) + 2
    return X, X[:, :3] @ rng.standard_normal((3, 4)) + rng.standard_normal((300, 4)) - 1


@pytest.mark.parametrize("estimator", ALL, ids=str)
def test_transform_predict_and_score(estimator, data):
    X, Y = data
    estimator = clone(estimator)
    with pytest.raises(NotFittedError):
        estimator.predict(X)
    estimator.fit(X, Y)
    exact = ReducedRankRegression(k=2, s=estimator.s).fit(X, Y)
    np.testing.assert_allclose(estimator.transform(X), (X - X.mean(axis=0)) @ estimator.Vx_)
    np.testing.assert_allclose(estimator.predict(X).mean(axis=0), Y.mean(axis=0), atol=1e-12)
    assert estimator.score(X, Y) == pytest.approx(exact.score(X, Y), abs=0.02)
    with pytest.raises(ValueError, match=r"X has 5 features, but .* is expecting 6 features"):
        estimator.transform(X[:, :5])
    with pytest.raises(
        ValueError, match=r"k: must be a whole number from 1 to min\(m, n\) = 4 \(got 5\)"
    ):
        clone(estimator).set_params(k=5).fit(X, Y)
    with pytest.raises(ValueError, match=r"ridge: must be .* \(got -1\)"):
        clone(estimator).set_params(ridge=-1).fit(X, Y)
    with pytest.raises(ValueError, match=r"steps: must be a whole number >= 1 \(got 0\)"):
        clone(estimator).set_params(steps=0).fit(X, Y)


@pytest.mark.parametrize("estimator", ALL, ids=str)
def test_filters_along_the_way(estimator, data):
    X, Y = data
    steps = 200
    estimator = clone(estimator).set_params(steps=steps, snapshots=[0, 5, 150])
    if "tol" in estimator.get_params():
        estimator.set_params(tol=0.0)
    path = estimator.fit(X, Y).path_
    assert path.t.tolist() == [0, 5, 150, 200]
    assert path.Vx.shape == (4, 6, 2)
    assert path.seconds[0] == 0
    assert (np.diff(path.seconds) >= 0).all()
    np.testing.assert_array_equal(path.Vx[-1], estimator.Vx_)
    # Looking does not change what is learned.
    alone = clone(estimator).set_params(snapshots=1).fit(X, Y)
    np.testing.assert_allclose(alone.Vx_, estimator.Vx_, rtol=1e-9, atol=1e-12)
    assert alone.path_.t.tolist() == [200]
    for snapshots in (0, 1.5, [300], [0, 5, 300], [-1], [0.5]):
        with pytest.raises(ValueError, match="snapshots: must be"):
            clone(estimator).set_params(snapshots=snapshots).fit(X, Y)


@pytest.mark.parametrize("estimator", [e for e in ALL if hasattr(e, "partial_fit")], ids=str)
def test_partial_fit_in_pieces_equals_one_go_and_survives_pickling(estimator, data):
    X, Y = data
    # The first piece sets the scale of initial weights; how the rest is cut does not matter.
    whole, pieces = (
        clone(estimator).partial_fit(X[:40], Y[:40]),
        clone(estimator).partial_fit(X[:40], Y[:40]),
    )
    whole.partial_fit(X[40:], Y[40:])
    for start, stop in ((40, 41), (41, 140), (140, 300)):
        pieces = pickle.loads(pickle.dumps(pieces)).partial_fit(X[start:stop], Y[start:stop])
    assert whole.t_ == pieces.t_ == 300
    assert np.linalg.matrix_rank(whole.Vx_) == 2
    np.testing.assert_allclose(whole.Vx_, pieces.Vx_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(whole.x_mean_, 0)
    with pytest.raises(ValueError, match=r"y: must have 4 columns, as before \(got 3\)"):
        whole.partial_fit(X, Y[:, :3])


def test_offline_there_is_no_partial_fit(data):
    assert not hasattr(IQMD(online=False), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        TwoLayerANN(online=False).partial_fit(*data)


@pytest.mark.parametrize("cls", [OnlineBioRRR, TwoLayerANN])
def test_the_readout_of_a_stream_follows_its_filters(cls, rng):
    X = rng.standard_normal((30_000, 5))
    Y = X @ rng.standard_normal((5, 4)) + rng.standard_normal((30_000, 4))
    streaming = cls(k=3, random_state=0)
    for start in range(0, len(X), 500):
        streaming.partial_fit(X[start : start + 500], Y[start : start + 500])
    Z = streaming.transform(X)
    best = r2(Y, LinearRegression().fit(Z, Y).predict(Z), baseline=0)
    assert best - 0.01 < streaming.score(X, Y) < best + 1e-3


def test_in_a_pipeline_and_under_cross_validation(data):
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), OnlineBioRRR(k=2, steps=20_000, random_state=0))
    assert cross_val_score(pipeline, X, Y, cv=3).min() > 0.3
    pipeline.set_params(onlinebiorrr__k=1)
    assert pipeline.fit(X, Y)[:-1].transform(X).shape == (300, 6)
    assert pipeline.transform(X).shape == (300, 1)


@pytest.mark.parametrize("cls", [OnlineBioRRR, OfflineBioRRR, TwoLayerANN])
def test_rates_that_follow_the_data_do_so_at_any_scale(cls, rng):
    X, Y, k = draw_problem(rng)
    learned = cls(k=k, random_state=0).fit(X, Y)
    scaled = cls(k=k, random_state=0).fit(1e-3 * X, 1e4 * Y)
    # For s = 0 the whole trajectory is the same, in other units.
    np.testing.assert_allclose(
        1e-3 * scaled.Vx_, learned.Vx_, rtol=1e-4, atol=1e-6 * np.abs(learned.Vx_).max()
    )


def test_inner_loops_are_compiled_where_nothing_can_be_kept(monkeypatch):
    """As in a container whose package and home folders cannot be written."""

    def njit(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compiled(**options)

    compiled = numba.njit
    monkeypatch.setattr(numba, "njit", njit)
    assert kernel(lambda x: 2 * x)(3.0) == 6


@pytest.mark.parametrize("cls", [*BATCH, *ONLINE, ReducedRankRegression, RankCV])
def test_masked_values_are_refused(cls, rng):
    """The mask was ignored, and what it hid was learned."""
    X, Y = rng.standard_normal((2, 30, 3))
    masked = np.ma.masked_greater(X, 2)
    for data, name in (((masked, Y), "X"), ((X, masked), "y")):
        with pytest.raises(
            ValueError,
            match=rf"{name}: must have no masked values, which would count as data \(got \d+\)",
        ):
            cls().fit(*data)
        with (
            contextlib.suppress(AttributeError),
            pytest.raises(ValueError, match="must have no masked values"),
        ):
            cls().partial_fit(*data)
    fitted = ReducedRankRegression(k=1).fit(np.ma.array(X), Y)
    for use in (
        fitted.transform,
        fitted.predict,
        lambda X: fitted.score(X, Y),
        lambda Y: fitted.score(X, Y),
    ):
        with pytest.raises(ValueError, match="must have no masked values"):
            use(masked)
