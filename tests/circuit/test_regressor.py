"""The microcircuit as a scikit-learn estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from biorrr import MicrocircuitRegressor
from biorrr.analysis import ReducedRankRegression, choose_ridge
from biorrr.models import AllOrNone


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
