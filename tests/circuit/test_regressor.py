"""The microcircuit as a scikit-learn estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from biorrr import Microcircuit, MicrocircuitRegressor
from biorrr.analysis import ReducedRankRegression, choose_ridge
from biorrr.models import AllOrNone, SwapData


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6)) + 3.0
    return X, X[:, :2] @ rng.standard_normal((2, 4)) + 0.3 * rng.standard_normal((400, 4))


@pytest.mark.filterwarnings(
    "ignore"
)  # scikit-learn's checks give constant columns and large means on purpose
@parametrize_with_checks([MicrocircuitRegressor(epochs=3, engine="numpy")])
def test_it_follows_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_predicts_as_well_as_the_exact_solution(data):
    exact = ReducedRankRegression(k=2).fit(*data)
    learned = MicrocircuitRegressor(k=2, epochs=60, random_state=0).fit(*data)
    assert learned.score(*data) == pytest.approx(
        r2_score(data[1], exact.predict(data[0])), abs=0.002
    )
    assert learned.transform(data[0]).shape == (400, 2)
    np.testing.assert_allclose(
        learned.transform(data[0]), (data[0] - data[0].mean(0)) @ learned.run_.Vx, atol=1e-12
    )


def test_a_pipeline_a_grid_and_clones_take_it(data):
    model = MicrocircuitRegressor(
        epochs=2, engine="numpy", departures=(AllOrNone(0.1),), random_state=1
    )
    search = GridSearchCV(
        make_pipeline(PCA(4), model), {"microcircuitregressor__k": [1, 2]}, cv=2
    ).fit(*data)
    assert search.predict(data[0]).shape == (400, 4)
    assert clone(model).get_params() == model.get_params()


def test_the_ridge_is_chosen_by_held_out_prediction(data):
    X, Y = data
    model = MicrocircuitRegressor(k=1, ridge="cv", epochs=1, engine="numpy").fit(X, Y)
    assert model.ridge_ == pytest.approx(choose_ridge(X, Y, k=1).best)
    assert model.run_.data.attrs["ridge_x"] == model.ridge_


def test_mistakes_are_said_in_a_sentence(data):
    with pytest.raises(ValueError, match=r"k: upper bound is min\(m, n\) = 4"):
        MicrocircuitRegressor(k=5, epochs=1).fit(*data)


@pytest.mark.parametrize("ridge", [object(), None, (1.0, 2.0, 3.0), {"x": 1.0}, -1.0, float("nan")])
def test_a_ridge_that_is_none_is_said_in_a_sentence(data, ridge):
    with pytest.raises(ValueError, match="ridge: must be a number >= 0, or a pair of them"):
        MicrocircuitRegressor(ridge=ridge, epochs=1).fit(*data)


def stream():
    """Return three chunks of the same length, each stronger than the one before."""
    rng = np.random.default_rng(1)
    mixing = rng.standard_normal((2, 4))
    for size in (0.5, 1.0, 2.0):
        X = size * rng.standard_normal((100, 6))
        yield X, X[:, :2] @ mixing + 0.3 * rng.standard_normal((100, 4))


def learn_in_chunks(**settings):
    model = MicrocircuitRegressor(k=2, engine="numpy", random_state=3, **settings)
    for X, Y in stream():
        model.partial_fit(X, Y)
    return model


@pytest.mark.filterwarnings("ignore:inhibition")
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("s", [0.0, 1.0])
def test_chunks_are_learned_as_one_run_whose_rates_are_fitted_to_the_first(s, ridge):
    model = learn_in_chunks(s=s, ridge=ridge)
    first, *rest = stream()
    events = [SwapData(100 * place, X=X, Y=Y) for place, (X, Y) in enumerate(rest, 1)]
    seed = int(np.random.RandomState(3).randint(2**31))
    whole = Microcircuit(k=2, s=s, ridge=ridge, engine="numpy", seed=seed).run(
        *first, epochs=3, order="sequential", final=False, events=events, progress=False
    )
    assert model.run_.samples == whole.samples == 300
    for name, weights in whole.weights.items():
        np.testing.assert_allclose(model.run_.weights[name], weights, rtol=0, atol=1e-12)
    assert model.run_.data.attrs["fitted"] == whole.data.attrs["fitted"]


def test_chunks_of_any_size_are_learned_row_after_row(data):
    X, Y = data[0] - data[0].mean(0), data[1] - data[1].mean(0)
    run = Microcircuit(k=2, engine="numpy").run(X[:90], Y[:90], final=False, progress=False)
    model = MicrocircuitRegressor(k=2, engine="numpy", random_state=0)
    shown = []
    for start, stop in ((0, 90), (90, 91), (91, 160)):
        model.partial_fit(X[start:stop], Y[start:stop])
        shown.extend(start + model.run_.data["data_row"].values)
    assert model.run_.samples == 160
    assert shown == sorted(shown)
    assert 90 in shown
    assert model.run_.data.attrs["fitted"] == run.data.attrs["fitted"]


def test_data_of_chunks_are_taken_as_given_but_for_the_means_of_an_earlier_fit(data):
    X, Y = data
    model = MicrocircuitRegressor(k=2, engine="numpy", epochs=5, random_state=0)
    with pytest.warns(UserWarning, match="its mean is large"):
        model.partial_fit(X, Y)
    np.testing.assert_allclose(model.transform(X), X @ model.run_.Vx, atol=1e-12)
    model.fit(X, Y).partial_fit(X[::2], Y[::2]).partial_fit(X[1::2], Y[1::2])
    expected = (X - X.mean(0)) @ model.run_.Vx
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), expected @ model.run_.Vy.T + Y.mean(0), atol=1e-9)


def test_the_readout_of_chunks_averages_the_metric_of_y():
    model, chunks = learn_in_chunks(s=1.0), list(stream())
    X, Y = chunks[-1]  # more than a tenth of all samples
    Cyy = Y.T @ Y / 100
    np.testing.assert_allclose(model.run_.data["readout"], Cyy @ model.run_.Vy, atol=1e-12)
    before = model.run_.data["readout"].values
    model.partial_fit(X[:3], Y[:3])
    now = Y[:3].T @ (Y[:3] @ model.run_.Vy) / 3
    share = 10 * 3 / 303
    np.testing.assert_allclose(
        model.run_.data["readout"], (1 - share) * before + share * now, atol=1e-12
    )


def test_mistakes_with_chunks_are_said_in_a_sentence(data):
    X, Y = data[0] - data[0].mean(0), data[1] - data[1].mean(0)
    with pytest.raises(ValueError, match='ridge: "cv" needs all samples at once'):
        MicrocircuitRegressor(ridge="cv").partial_fit(X, Y)
    model = MicrocircuitRegressor(engine="numpy").partial_fit(X, Y)
    with pytest.raises(ValueError, match="y: must have 4 columns, as before"):
        model.partial_fit(X, Y[:, :3])
    with pytest.raises(TypeError, match=r"X: must be an array \(got a generator\).*partial_fit"):
        Microcircuit(2).run((row for row in X), Y)
