"""Somatostatin-like interneurons as leaky integrate-and-fire cells in millivolts.

    C dV/dt = -C/tau (V - E_L) + I_in,  a spike at V_T, then V_r for the refractory time

Under the noise of background synapses the firing rate is almost linear in the current. Values are
round numbers of the order that reviews report for somatostatin cells (resting near -60 mV, input
resistance tau/C of 200 MOhm, membrane time constants of 20 ms: Urban-Ciecko & Barth 2016, Nat. Rev.
Neurosci. 17:401); they are not fitted to any one cell.
"""

from __future__ import annotations

from biorrr.models.parts import Population, Step, Variable, parameter
from biorrr.models.random_draws import Stream


def SomatostatinCells(size: int | None = None) -> Population:
    """Return leaky integrate-and-fire cells that inhibit the distal dendrite."""
    return Population(
        size,
        name="somatostatin_cells",
        variables=(
            Variable("I_in", "current into the cell", unit="pA"),
            Variable(
                "V",
                "membrane potential",
                role="memory",
                unit="mV",
                value=f"E_L + 15 * uniform_draw(seed, {Stream.INTERNEURON_NOISE}, -1, i)",
            ),
            Variable("noise", "background current", role="memory", unit="pA"),
            Variable("since", "time since the last spike", role="memory", value=1000.0, unit="ms"),
            Variable("spike", "1 where the cell fires in this tick"),
            parameter("C", "capacitance", 100.0, "pF"),
            parameter("tau", "membrane time constant", 20.0, "ms"),
            parameter("E_L", "resting potential", -60.0, "mV"),
            parameter("V_T", "threshold of a spike", -40.0, "mV"),
            parameter("V_r", "potential to which a spike resets the cell", -55.0, "mV"),
            parameter("t_ref", "time after a spike for which the cell rests at V_r", 2.0, "ms"),
            parameter("sigma", "standard deviation of the background current", 100.0, "pA"),
            parameter("tau_noise", "time constant of the background current", 2.0, "ms"),
            parameter("step", "relaxation of the membrane per tick", "relaxation(tau)"),
            parameter(
                "keep_noise",
                "what is left of the background current after a tick",
                "1 - relaxation(tau_noise)",
            ),
            parameter(
                "fresh_noise",
                "size of what is new in it, in units of it",
                "sqrt(12 * (1 - keep_noise**2))",
            ),
        ),
        steps=(
            Step(
                "interneuron cells",
                f"""
                drawn = uniform_draw(seed, {Stream.INTERNEURON_NOISE}, moment, i)
                noise = keep_noise * noise + sigma * fresh_noise * (drawn - 0.5)
                since += tick
                able = int(since + tick / 2 > t_ref)
                V = able * (V + step * (E_L + tau / C * (I_in + noise) - V)) + (1 - able) * V_r
                spike = int(V > V_T)
                V = (1 - spike) * V + spike * V_r
                since = (1 - spike) * since
                """,
            ),
        ),
        meaning="Somatostatin-like interneurons: leaky integrate-and-fire cells.",
        dimension="somatostatin_cell",
    )
