"""R meets Q' by itself, exactly as fast as the theory says (supplement D, "Decoupling the
interneuron synapses").
"""

import numpy as np
import pytest

from biorrr.models import Rate, Rates

ENGINES = ["numpy", "cpp"]
CONSTANT = Rates(x=Rate(0.003), y=Rate(0.01), q=Rate(0.02))
DECAYING = Rates(x=Rate(0.003, 500), y=Rate(0.02, 500), q=Rate(0.03, 300))


def assert_follows(run, retained):
    """||Q' - R|| at each snapshot is ``retained`` (snapshot,) of its start."""
    start = run.r_minus_qt[0]
    assert start > 0.1
    np.testing.assert_allclose(run.r_minus_qt, retained * start, rtol=0, atol=1e-9 * start)
    measurable = retained > 1e-8
    np.testing.assert_allclose(run.r_minus_qt[measurable], retained[measurable] * start, rtol=1e-6)


def product(rate, seen):
    """Product of (1 - eta_q) over the samples before each of ``seen``."""
    retained = np.concatenate([[1.0], np.cumprod(1 - rate(np.arange(seen[-1])))])
    return retained[seen]


@pytest.mark.parametrize("engine", ENGINES)
def test_constant_rate(engine, data, make_circuit):
    run = make_circuit(engine, rates=CONSTANT).run(*data)
    assert_follows(run, (1 - 0.02) ** run.data["seen"].values)
    assert run.r_minus_qt[-1] < 1e-9 * run.r_minus_qt[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_decaying_rate(engine, data, make_circuit):
    run = make_circuit(engine, rates=DECAYING).run(*data)
    assert_follows(run, product(DECAYING.q, run.data["seen"].values))


@pytest.mark.parametrize("engine", ENGINES)
def test_replay_counts_for_nothing(engine, data, make_circuit):
    """Replay moves Q and R alike: only real samples bring them together."""
    X, Y = data
    run = make_circuit(engine, rates=DECAYING, ridge=0.2, replay=3).run(X[:700], Y[:700])
    assert_follows(run, product(DECAYING.q, run.data["seen"].values))


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_fitted_rates(engine, data, make_circuit):
    """With rates="auto" the run says how much must be left: exp(log_retained)."""
    X, Y = data
    circuit = make_circuit(engine, l=2, rates="auto", ridge=0.1, replay=2, s=0.3)
    run = circuit.run(X[:700], Y[:700], every=1)
    retained = np.exp(run.data.attrs["log_retained"])
    assert 0 < retained < 0.9
    assert run.r_minus_qt[-1] / run.r_minus_qt[0] == pytest.approx(retained, rel=1e-6)
    # The rates it recorded tell the same.
    assert np.prod(1 - run.data["eta_q"].values) == pytest.approx(retained, rel=1e-9)
    np.testing.assert_array_equal(run.data["eta_q"], run.data["eta_r"])


def test_a_continued_run_counts_what_is_left_from_its_own_first_snapshot(data, make_circuit):
    X, Y = data
    circuit = make_circuit("numpy", rates="auto")
    earlier = circuit.run(X[:200], Y[:200], final=False)
    run = circuit.run(X[:200], Y[:200], start=earlier)
    retained = np.exp(run.data.attrs["log_retained"])
    assert run.r_minus_qt[0] == pytest.approx(earlier.r_minus_qt[-1], rel=1e-12)
    assert run.r_minus_qt[-1] / run.r_minus_qt[0] == pytest.approx(retained, rel=1e-6)
    assert retained < 0.9


def test_different_rates_do_not_meet(data, make_circuit):
    """The theory asks for one rate: with two, R does not settle on Q'."""
    apart = Rates(x=Rate(0.003), y=Rate(0.01), q=Rate(0.02), r=Rate(0.01))
    run = make_circuit("cpp", rates=apart).run(*data)
    assert run.r_minus_qt[-1] > 1e-3 * run.r_minus_qt[0]
