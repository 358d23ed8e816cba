"""Rates of one's own: what suggested ones learn, and what a run says of those that do not suit."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from biorrr.analysis import ExactSolution
from biorrr.circuit import Diverged, Microcircuit
from biorrr.models import Rates
from biorrr.sims.data import load


def gaussian(rng, scale_x=1.0, scale_y=1.0):
    X = rng.standard_normal((2000, 12))
    Y = X @ rng.standard_normal((12, 6)) / 3 + rng.standard_normal((2000, 6))
    return scale_x * X, scale_y * Y


def tailed(rng):
    latents = rng.standard_t(3, (5000, 5))
    X = latents @ rng.standard_normal((5, 20)) + 0.5 * rng.standard_normal((5000, 20))
    return X, latents @ rng.standard_normal((5, 8)) + 0.5 * rng.standard_normal((5000, 8))


def white(rng):
    """White data of 200 dimensions: filters grow slowly, and faster inhibition would fade."""
    X = rng.standard_normal((5000, 200))
    return X, X[:, :3] @ rng.standard_normal((3, 10)) + 2 * rng.standard_normal((5000, 10))


PROBLEMS = {
    "Gaussian": gaussian,
    "in large units": lambda rng: gaussian(rng, 1e3, 1e-3),
    "in small units": lambda rng: gaussian(rng, 1e-3, 1e3),
    "t-tailed": tailed,
    "white": white,
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("k", "s"), [(1, 0.0), (2, 1.0), (5, 0.0), (5, 1.0)])
def test_suggested_rates_learn(name, k, s):
    X, Y = PROBLEMS[name](np.random.default_rng(1))
    rates = Rates.suggested(X, Y, k, s)
    order = np.random.default_rng(2).integers(len(X), size=100_000)
    run = Microcircuit(k, s=s, rates=rates, engine="cpp").run(
        X, Y, order=order, record=(), progress=False
    )
    assert ExactSolution(X, Y, s).excess(run.Vx) < 0.1
    assert run.r_minus_qt[-1] < 0.2 * np.linalg.norm(run.Q)


def test_weights_begin_as_large_as_the_rates_assume():
    X, Y = gaussian(np.random.default_rng(0))

    def begun(rates):
        options = {"order": np.arange(3), "record": (), "progress": False}
        run = Microcircuit(2, rates=rates, engine="numpy").run(X, Y, **options)
        return {name: run.data[name].values[0] for name in ("Vx", "Vy", "Q", "R")}

    as_printed = begun(Rates(0.001))
    assert np.std(as_printed["Vx"]) == pytest.approx(0.01, rel=0.4)
    larger = begun(Rates(0.001, start=(0.02, 0.3, 4 / 3)))
    for name, factor in {"Vx": 2, "Vy": 3, "Q": 4, "R": 4}.items():
        np.testing.assert_allclose(larger[name], factor * as_printed[name], rtol=1e-12)


def learn(X, Y, k, rates, samples=100_000, **arguments):
    order = np.random.default_rng(0).integers(len(X), size=samples)
    circuit = Microcircuit(k, rates=rates, engine="cpp", **arguments)
    return circuit.run(X, Y, order=order, record=(), progress=False)


def test_a_run_that_diverges_names_the_rate_that_is_wrong():
    """Here Q and Vy are too fast. A lower eta_x only puts it off, and is not what is asked for."""
    X, Y = gaussian(np.random.default_rng(0))
    rates = {"x": 0.01, "y": 0.01, "q": 0.01}
    suggested = Rates.suggested(X, Y, 2)
    with pytest.raises(Diverged, match=r": lower eta_[yq] \(rates.[yq]\) first") as caught:
        learn(X, Y, 2, Rates(**rates))
    named = str(caught.value).split("rates.")[-1][0]
    rates[named] = getattr(suggested, named)
    assert learn(X, Y, 2, Rates(**rates)).ended == "done"
    with pytest.raises(Diverged, match=r"lower eta_x \(rates.x\) first$"):
        learn(X, Y, 2, replace(suggested, x=10.0))
    with pytest.raises(Diverged, match=r"lower eta_x \(rates.x\) first, then eta_y and eta_q$"):
        learn(X, Y, 2, Rates(0.1, 0.01, 0.01))
    with pytest.raises(Diverged, match="initial weights are too large; begin with its start"):
        learn(X, Y, 2, Rates(0.001, start=(0.01, 0.1, 100.0)))


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_advice_on_wide_data_is_that_of_the_rates_that_are_suggested(spread):
    """Many features are exchanged for fewer before rates are compared."""
    rng = np.random.default_rng(0)
    latents = rng.standard_normal((6000, 5)) * [5, 3, 2, 2, 1]
    X = latents @ rng.standard_normal((5, 400)) + spread * rng.standard_normal((6000, 400))
    Y = latents[:, ::-1] + 0.1 * rng.standard_normal((6000, 5))
    suggested = Rates.suggested(X, Y, 2)
    with pytest.raises(Diverged) as caught:
        learn(X, Y, 2, Rates(1.0))
    for path in ("x", "y", "q"):
        told = float(re.search(rf"eta_{path} ([-+.e0-9]*[0-9])", str(caught.value))[1])
        assert told == pytest.approx(1 / getattr(suggested, path).eta0, rel=0.25)


def test_a_run_whose_inhibition_faded_says_so():
    data = load("digits").centred()
    with pytest.warns(
        UserWarning,
        match=r"inhibition has faded: \|\|Q\|\| fell from 0.4.* to .*e-.*, outputs of unit"
        r" variance need 0.*, and their largest variance is .*; eta_q/eta_x is 1,.00"
        r" times that of Rates.suggested\(X, Y, 2, 0\): raise eta_x \(rates.x\), or lower eta_q",
    ):
        learn(data.X, data.Y, 2, Rates(1e-4, 0.01, 0.003), samples=10_000)
    with pytest.warns(UserWarning, match="outputs have died: their largest"):
        learn(data.X, data.Y, 2, Rates(1e-6, 1e-6, 1e-6), samples=10_000)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*(faded|died)")
        learn(data.X, data.Y, 2, Rates(1e-6, 1e-6, 1e-6), samples=1000)  # too short to tell
        learn(data.X, data.Y, 2, Rates.suggested(data.X, data.Y, 2), samples=20_000)


@pytest.mark.parametrize(
    ("given", "died"),
    [((1e-4, 1e-2, 1e-3), "along 1 of 2 directions"), ((1e-3, 1e-2, 1e-4), ": their largest")],
)
def test_outputs_that_die_of_fast_distal_synapses_are_told_and_live_by_the_remedy(given, died):
    X, Y = gaussian(np.random.default_rng(0))
    with pytest.warns(UserWarning, match=rf"outputs have died.*{died}.*lower eta_y") as told:
        learn(X, Y, 2, Rates(*given), samples=36_000)
    (text,) = (str(one.message) for one in told if "died" in str(one.message))
    times = float(re.search(r"eta_y/eta_q is ([0-9.,]+) times", text)[1].replace(",", ""))
    x, y, q = given
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*(faded|died)")
        run = learn(X, Y, 2, Rates(x, y / times, q), samples=100_000)
    assert ExactSolution(X, Y).excess(run.Vx) < 0.05


def test_silent_directions_that_are_worth_more_samples_are_told_apart():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 8))
    Y = X[:, :4] * [1, 1, 1, 0.3] + 0.1 * rng.standard_normal((3000, 4))
    X[:, 3] /= 100  # one direction that is weak in x, not in what it says of y
    with pytest.warns(
        UserWarning,
        match=r"k: the outputs are silent along 1 of 4 directions .* they are .* % of what 4"
        " outputs can find: present more samples",
    ):
        learn(X, Y, 4, "auto", samples=10_000)


def test_a_run_that_finds_nothing_says_so():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, 2))
    Y = np.sign(X[:, :1] * X[:, 1:])  # exclusive-or, which no linear cell can tell
    with pytest.warns(
        UserWarning,
        match=r"all outputs are silent \(their largest variance is .*e-.*, and 1 is due\): what x"
        " and y share is too weak .* in 90000 samples; present more, or check",
    ):
        Microcircuit(1, ridge=0.001).run(X, Y, epochs=30, centre=True, record=(), progress=False)
