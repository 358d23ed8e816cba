"""What happens within a tick: the order Brian2 itself reports, and circuits whose order cannot be
satisfied.
"""

import brian2
import pytest


@pytest.mark.parametrize("rates", ["timetable", "auto"])
def test_order_within_a_tick(rates, make_circuit):
    settings = {"rates": "auto"} if rates == "auto" else {}
    circuit = make_circuit("numpy", 2, s=0.3, **settings).build(6, 4)
    entries = brian2.scheduling_summary(circuit.network).entries
    order = [
        entry.name
        for entry in sorted(entries, key=lambda e: (_slot(circuit, e.when), e.order, e.name))
    ]

    def place(*names):
        return [order.index(name) for name in names]

    z, a, n, inhibition = place(
        "proximal_summed_variable_z_post",
        "distal_summed_variable_a_post",
        "recruitment_summed_variable_n_post",
        "inhibitory_summed_variable_inhibition_post",
    )
    (plateau,) = place("pyramidal_plateau_0")
    plasticity = place(
        "proximal_change", "distal_change", "recruitment_change", "inhibitory_change"
    )
    assert max(z, a) < n < inhibition < plateau < min(plasticity)
    assert place("clock_input_0")[0] < min(z, a)
    if rates == "auto":
        (fitted,) = place("neuromodulator_modulation_0")
        assert (
            max(place("loop_gain_summed_variable_trace_q_post")[0], plateau)
            < fitted
            < min(plasticity)
        )
    else:
        assert place("clock_input_0")[0] < place("neuromodulator_input_0")[0] < min(z, a)


def _slot(circuit, when):
    slots = circuit.network.schedule
    bare = when.removeprefix("before_").removeprefix("after_")
    return slots.index(bare) + {"before_": -0.5, "after_": 0.5}.get(when.removesuffix(bare), 0)
