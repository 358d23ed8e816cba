"""A run that grows beyond bounds stops, says where and what to lower, and keeps what was
recorded."""

import numpy as np
import pytest

from biorrr.circuit import Diverged
from biorrr.models import Rate, Rates

HASTY = Rates(x=Rate(0.4), y=Rate(0.02), q=Rate(0.3))


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
@pytest.mark.parametrize("replay", [0, 2])
def test_what_is_left_of_a_diverged_run(engine, replay, data, make_circuit):
    circuit = make_circuit(
        engine, rates=HASTY, **({"ridge": 0.1, "replay": replay} if replay else {})
    )
    with pytest.raises(Diverged) as caught:
        circuit.run(*data, record=("x", "z", "plateau"), every=1, snapshots=2000)
    run = caught.value.run
    assert run.ended == "diverged"
    message = str(caught.value)
    assert message.startswith(
        f"the circuit diverged at sample {run.samples}: activity is no longer finite; rates are, as"
        " multiples of Rates.suggested(X, Y, 2, 0), eta_x"
    )
    assert message.endswith("lower eta_x (rates.x) first, then eta_y and eta_q")
    assert 0 < run.samples < 1000
    assert len(run.data["seen"]) > 1
    assert len(run.data["sample"]) == run.samples
    for name, values in run.data.items():
        assert np.isfinite(values).all(), name


def test_engines_agree_on_where(data, make_circuit):
    def end(engine):
        with pytest.raises(Diverged) as caught:
            make_circuit(engine, rates=HASTY).run(*data, snapshots=2000)
        return caught.value.run

    assert end("numpy").samples == end("cpp").samples


def test_a_lower_rate_helps(data, make_circuit):
    """What the message says to do is what to do."""
    lower = Rates(x=Rate(0.004), y=Rate(0.02), q=Rate(0.003))
    assert make_circuit("cpp", rates=lower).run(*data).ended == "done"


@pytest.mark.filterwarnings("ignore:inhibition has faded")  # its rates are too high to learn
def test_the_circuit_is_as_good_as_new_after(data, make_circuit):
    X, Y = data[0][:50], data[1][:50]
    circuit = make_circuit("numpy", rates=HASTY)
    with pytest.raises(Diverged):
        circuit.run(*data)
    assert np.isfinite(circuit.run(X * 0.01, Y * 0.01).Vx).all()
