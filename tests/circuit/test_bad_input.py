"""Bad input gets an error that says what was expected, what came, and what to do."""

import re
import warnings

import numpy as np
import pytest

from biorrr.analysis.checks import check_pair
from biorrr.circuit import Microcircuit
from biorrr.circuit.stimulus.data_checks import warn_of_columns
from biorrr.models import Rate, Rates

half = np.random.default_rng(0).standard_normal((2, 10, 3))
X, Y = np.concatenate([half, -half], axis=1)  # of mean zero, shapes (20, 3)


def refuses(error, text):
    return pytest.raises(error, match="^" + re.escape(text))


def spoiled(value):
    bad = X.copy()
    bad[7, 2] = value
    return bad


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"k": 0}, "k: must be a whole number, at least 1 (got 0)"),
        ({"k": 1.5}, "k: must be a whole number, at least 1 (got 1.5)"),
        ({"k": 2, "interneurons": 0}, "interneurons: must be a whole number, at least 1 (got 0)"),
        (
            {"k": 2, "interneurons": 1, "feedback": 1.0},
            "interneurons: must be a whole number, at least 2 (got 1); ",
        ),
        ({"s": 1.5}, "s: must lie in [0, 1] (got 1.5); 0 is RRMSE, 1 is CCA"),
        ({"s": -0.1}, "s: must lie in [0, 1] (got -0.1); 0 is RRMSE, 1 is CCA"),
        ({"s": np.nan}, "s: must lie in [0, 1] (got nan); 0 is RRMSE, 1 is CCA"),
        ({"ridge": -0.1}, "ridge: must be finite and at least 0 (got -0.1)"),
        ({"ridge": (0.1, -1)}, "ridge: must be finite and at least 0 (got -1)"),
        ({"ridge": np.inf}, "ridge: must be finite and at least 0 (got inf)"),
        (
            {"ridge": (1, 2, 3)},
            "ridge: must be a number or a pair, for Cxx and Cyy (got (1, 2, 3))",
        ),
        ({"replay": 0}, "replay: must be a whole number, at least 1 (got 0)"),
        (
            {"engine": "cuda"},
            "engine: must be one of 'auto', 'numpy', 'cpp' (got 'cuda')",
        ),
        ({"seed": -1}, "seed: must be a whole number, at least 0 (got -1)"),
    ],
)
def test_settings(settings, text):
    with refuses(ValueError, text):
        Microcircuit(**settings)


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: Rate(-0.1), ValueError, "Rate.eta0: must be finite and at least 0 (got -0.1)"),
        (lambda: Rate(np.nan), ValueError, "Rate.eta0: must be finite and at least 0 (got nan)"),
        (lambda: Rate(np.inf), ValueError, "Rate.eta0: must be finite and at least 0 (got inf)"),
        (
            lambda: Rate(0.1, 0),
            ValueError,
            "Rate.N: must be finite and positive (got 0), or infinite for a constant rate",
        ),
        (
            lambda: Rate(0.1, np.nan),
            ValueError,
            "Rate.N: must be finite and positive (got nan), or infinite for a constant rate",
        ),
        (
            lambda: Rates(Rate(1), "fast", Rate(1)),
            TypeError,
            "Rates.y: must be a number (got 'fast'); a rate that falls is Rate(eta0, N)",
        ),
        (
            lambda: Microcircuit(rates=0.1),
            TypeError,
            "rates: must be 'auto', Rates(...), or one Rates(...) for each area (got 0.1)",
        ),
        (
            lambda: Microcircuit(s="0.5"),
            TypeError,
            "s: must be a number (got '0.5'); 0 is RRMSE, 1 is CCA",
        ),
    ],
)
def test_rates(build, error, text):
    with refuses(error, text):
        build()


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (
            (spoiled(np.nan), Y),
            ValueError,
            "X: must be finite (got nan among the values of feature 2); drop or",
        ),
        (
            (X, spoiled(-np.inf)),
            ValueError,
            "Y: must be finite (got -inf among the values of feature 2); drop or",
        ),
        ((X, Y[:19]), ValueError, "X, Y: must have as many samples as each other (got 20 and 19)"),
        (
            (X[:, 0], Y),
            ValueError,
            "X: must be two-dimensional, (samples, features) (got shape (20,)); a single",
        ),
        (
            (X, Y[None]),
            ValueError,
            "Y: must be two-dimensional, (samples, features) (got shape (1, 20, 3)); ",
        ),
        (
            (X[:0], Y[:0]),
            ValueError,
            "X: must have at least one sample and one feature (got shape (0, 3))",
        ),
        (
            (X, Y[:, :0]),
            ValueError,
            "Y: must have at least one sample and one feature (got shape (20, 0))",
        ),
        (
            (X.astype(object), Y),
            TypeError,
            "X: must hold real numbers (got an array of object); convert it to float",
        ),
        (
            (X + 1j, Y),
            TypeError,
            "X: must hold real numbers (got an array of complex128); convert it to float",
        ),
        ((X, None), TypeError, "Y: must be an array, (samples, features) (got none)"),
        ((X.astype(str), Y), TypeError, "X: must hold real numbers (got an array of <U"),
    ],
)
def test_data(data, error, text):
    with refuses(error, text):
        Microcircuit(2, engine="numpy").run(*data)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"epochs": 0}, "epochs: must be a whole number, at least 1 (got 0)"),
        ({"every": 0}, "every: must be a whole number, at least 1 (got 0)"),
        (
            {"seeds": 3},
            "seeds: must be different whole numbers, at least one (got 3); range(3) gives 3",
        ),
        ({"snapshots": 0}, "snapshots: must be a whole number, at least 1 (got 0)"),
        ({"order": [0, 20]}, "order: must lie in [0, 19], the rows of the data (got 0 to 20)"),
        ({"order": [-1, 3]}, "order: must lie in [0, 19], the rows of the data (got -1 to 3)"),
        (
            {"order": [0.5]},
            (
                "order: an index array must be one-dimensional whole numbers, at least one (got"
                " float64"
            ),
        ),
        (
            {"order": np.array([], int)},
            "order: an index array must be one-dimensional whole numbers, at least one",
        ),
        (
            {"order": "random"},
            "order: must be 'shuffle', 'sequential' or an index array (got 'random')",
        ),
        (
            {"record": "v"},
            (
                "record: cannot record 'v'; choose from x, y, z, a, inhibition, plateau, power, n,"
                " Vx, Vy, Q, R, "
            ),
        ),
    ],
)
def test_run_settings(settings, text):
    with refuses(ValueError, text):
        Microcircuit(2, engine="numpy").run(X, Y, **settings)


def test_circuits_beyond_memory():
    """Two weights of each of a billion interneurons, either way; before, drawing them ended the
    process.
    """
    with refuses(ValueError, "circuit: would take 128.0 GB of memory, and "):
        Microcircuit(k=2, interneurons=10**9).run(X, Y)


def test_k_above_the_rank():
    with refuses(
        ValueError, "k: upper bound is min(m, n) = 3, the rank of the data (got 4); reduce k"
    ):
        Microcircuit(4).run(X, Y)


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("Vx0", (2, 3), (3, 2)),
        ("Vy0", (3,), (3, 2)),
        ("Q0", (3, 2), (2, 3)),
        ("R0", (2, 3), (3, 2)),
    ],
)
def test_initial_weights_of_the_wrong_shape(name, shape, expected):
    with refuses(ValueError, f"{name}: must have shape {expected} (got {shape})"):
        Microcircuit(2, interneurons=3, **{name: np.ones(shape)}).run(X, Y)


def test_initial_weights_that_are_not_finite():
    with refuses(ValueError, "Vx0: must be finite"):
        Microcircuit(2, Vx0=np.full((3, 2), np.nan)).run(X, Y)


def test_start_of_another_circuit():
    earlier = Microcircuit(1, engine="numpy").run(X, Y, final=False)
    with refuses(ValueError, "start.Vx: must have shape (3, 2) (got (3, 1))"):
        Microcircuit(2).run(X, Y, start=earlier)


def test_constant_columns_are_warned_of():
    constant = np.column_stack([X[:, :2] - X[:, :2].mean(0), np.full(20, 0.5)])
    with pytest.warns(
        UserWarning, match=r"^X: 1 of 3 columns are constant \(2\); they carry no information"
    ):
        Microcircuit(2, engine="numpy").run(constant, Y, centre=True)


def test_silent_columns_are_not_warned_of(recwarn):
    silent = np.column_stack([X[:, :2], np.zeros(20)])
    Microcircuit(2, engine="numpy").run(silent, Y, centre=True)
    assert not [one for one in recwarn if "columns are constant" in str(one.message)]


def test_large_means_are_warned_of():
    with pytest.warns(
        UserWarning, match=r"^Y: its mean is large beside its spread; .* or run with centre=True"
    ):
        Microcircuit(2, engine="numpy").run(X - X.mean(0), Y + 3)


def warns_of_mean(columns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_columns("X", columns.mean(0), columns.var(0), len(columns), centred=False)
    return any("its mean is large" in str(one.message) for one in caught)


@pytest.mark.parametrize("samples", [20, 100, 1000])
@pytest.mark.parametrize("features", [1, 12])
def test_a_mean_within_its_standard_error_needs_no_warning(samples, features):
    draws = [np.random.default_rng(i).standard_normal((samples, features)) for i in range(100)]
    assert sum(map(warns_of_mean, draws)) <= 1  # beyond three standard errors lie 0.3 % of means


@pytest.mark.parametrize(("samples", "mean"), [(20, 1.5), (100, 0.6), (10_000, 0.15)])
def test_a_mean_beyond_its_standard_error_is_warned_of(samples, mean):
    assert warns_of_mean(np.random.default_rng(0).standard_normal((samples, 5)) + mean)
    assert not warns_of_mean(np.random.default_rng(0).standard_normal((100_000, 5)) + 0.05)


@pytest.mark.parametrize(
    ("x", "y", "hint"),
    [
        ((5, 20), (20, 3), "; did you mean X.T?"),
        ((20, 5), (3, 20), "; did you mean Y.T?"),
        ((5, 20), (3, 20), "; did you mean X.T and Y.T?"),
        ((20, 5), (5, 20), "; did you mean X.T or Y.T?"),
        ((20, 5), (19, 3), ""),
    ],
)
def test_transposed_data_get_a_hint_where_it_fits(x, y, hint):
    said = f"(got {x[0]} and {y[0]}){hint}"
    with pytest.raises(ValueError, match=re.escape(said) + "$"):
        Microcircuit(1).run(np.eye(*x), np.eye(*y), centre=True)
    with pytest.raises(ValueError, match=re.escape(f"(got {y[0]}){hint}") + "$"):
        check_pair(np.ones(x), np.ones(y))
