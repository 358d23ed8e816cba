"""What happens in which order while a sample is presented."""

import pytest


@pytest.mark.parametrize("rates", ["timetable", "auto"])
def test_order_of_a_sample(rates, make_circuit):
    settings = {"rates": "auto"} if rates == "auto" else {}
    program = make_circuit("numpy", 2, s=0.3, **settings).blueprint(6, 4).program
    order = [operation.name for block in program.sample.values() for operation in block]

    def place(*names):
        return [order.index(name) for name in names]

    z, a, n, inhibition = place("proximal_z", "distal_a", "recruitment_n", "inhibitory_inhibition")
    (plateau,) = place("pyramidal_plateau_0")
    plasticity = place(
        "proximal_change", "distal_change", "recruitment_change", "inhibitory_change"
    )
    assert max(z, a) < n < inhibition < plateau < min(plasticity)
    if rates == "auto":
        (fitted,) = place("neuromodulator_modulation_1")
        assert max(place("loop_gain_trace_q")[0], plateau) < fitted < min(plasticity)
    else:
        assert place("neuromodulator_input_0")[0] < min(z, a)
