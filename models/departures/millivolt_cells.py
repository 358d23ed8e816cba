"""Cells in millivolts: bursting pyramidal cells and somatostatin-like interneurons.

The pyramidal cell has two compartments, and its dendrite makes calcium spikes (Naud & Sprekeler,
"Sparse bursts optimize information transmission in a multiplexed neural code", PNAS 115:E6329,
2018). A spike travels back into the dendrite, and where the dendrite is depolarised enough
it answers with a regenerative current, which makes the soma fire a burst. So the rate of events
(spikes and bursts alike) follows the somatic current, and the share of events that are bursts
follows the dendritic one::

    C_s dVs/dt = -C_s/tau_s (Vs - E_L) + g_s sigma(Vd) - b_s w_s + I_s
    C_d dVd/dt = -C_d/tau_d (Vd - E_L) + g_d sigma(Vd) + c_d K(t - spike) - a_d w_d + I_d
    sigma(Vd) = 1/(1 + exp(-(Vd - E_d)/D_d)),  K = 1 from 0.5 to 2.5 ms after a spike
    tau_wd dw_d/dt = Vd - E_L - w_d,  tau_ws dw_s/dt = -w_s,  w_s grows by 1 with each spike

Each tick is a step of exponential Euler, of first order in the tick. Increments of the noise are
uniform: over the noise's time constant they add up to what Gaussian ones do.

The interneuron is a leaky integrate-and-fire cell::

    C dV/dt = -C/tau (V - E_L) + I_in,  a spike at V_T, then V_r for the refractory time

Under the noise of background synapses the firing rate is almost linear in the current. Values are
round numbers of the order that reviews report for somatostatin cells (resting near -60 mV, input
resistance tau/C of 200 MOhm, membrane time constants of 20 ms: Urban-Ciecko & Barth 2016, Nat. Rev.
Neurosci. 17:401); they are not fitted to any one cell.
"""

from __future__ import annotations

from biorrr.models.parts import Population, Step, Variable, parameter
from biorrr.models.random_draws import Stream

# Values are those of Naud & Sprekeler 2018, and of the same cell in Payeur et al. 2021 (Nat.
# Neurosci. 24:1010), where no other source is named.
_PARAMETERS = (
    parameter("C_s", "capacitance of the soma", 370.0, "pF"),
    parameter("tau_s", "membrane time constant of the soma", 16.0, "ms"),
    parameter("C_d", "capacitance of the dendrite", 170.0, "pF"),
    parameter("tau_d", "membrane time constant of the dendrite", 7.0, "ms"),
    parameter("E_L", "resting potential of both compartments", -70.0, "mV"),
    parameter("V_T", "threshold of a spike", -50.0, "mV"),
    parameter("V_r", "potential to which a spike resets the soma", -70.0, "mV"),
    parameter("t_ref", "time after a spike for which the soma rests at V_r", 3.0, "ms"),
    parameter("g_s", "current of the dendrite's calcium spike that reaches the soma", 1300.0, "pA"),
    parameter("g_d", "regenerative calcium current of the dendrite", 1200.0, "pA"),
    parameter("E_d", "potential at which half of the calcium current flows", -38.0, "mV"),
    parameter("D_d", "sharpness of its onset", 6.0, "mV"),
    parameter("c_d", "current of the back-propagating spike in the dendrite", 2600.0, "pA"),
    parameter("c_delay", "time from a spike to its arrival in the dendrite", 0.5, "ms"),
    parameter("c_lasts", "time for which it lasts there", 2.0, "ms"),
    parameter("b_s", "current by which each spike makes the soma tired", 200.0, "pA"),
    parameter("tau_ws", "time constant of that adaptation", 100.0, "ms"),
    parameter("a_d", "conductance of the dendrite's adaptation", 13.0, "nS"),
    parameter("tau_wd", "time constant of that adaptation", 30.0, "ms"),
    parameter("burst_gap", "interval below which two spikes belong to one burst", 16.0, "ms"),
    # Of background synapses. Payeur et al. choose them so that Vs fluctuates by about 4 mV
    # (Destexhe et al. 2003).
    parameter("sigma_s", "standard deviation of the background current of the soma", 300.0, "pA"),
    parameter(
        "sigma_d", "standard deviation of the background current of the dendrite", 300.0, "pA"
    ),
    parameter("tau_noise", "time constant of background currents", 2.0, "ms"),
)
_PER_TICK = (
    parameter("step_s", "relaxation of the soma per tick", "relaxation(tau_s)"),
    parameter("step_d", "relaxation of the dendrite per tick", "relaxation(tau_d)"),
    parameter("step_ws", "decay of the soma's adaptation per tick", "relaxation(tau_ws)"),
    parameter("step_wd", "relaxation of the dendrite's adaptation per tick", "relaxation(tau_wd)"),
    parameter(
        "keep_noise",
        "what is left of background currents after a tick",
        "1 - relaxation(tau_noise)",
    ),
    # Uniform numbers on an interval of length 1 have the variance 1/12.
    parameter(
        "fresh_noise",
        "size of what is new in them, in units of theirs",
        "sqrt(12 * (1 - keep_noise**2))",
    ),
)
_BEGIN = f"uniform_draw(seed, {Stream.SOMA_NOISE}, -1, i)"


def BurstingCells(size: int | None = None) -> Population:
    """Return cells with a calcium spike in the dendrite; `with_values(BurstingCells(), g_d=0.0)`
    takes it away.
    """
    return Population(
        size,
        name="bursting_cells",
        variables=(
            Variable("I_s", "current into the soma", unit="pA"),
            Variable("I_d", "current into the dendrite", unit="pA"),
            Variable(
                "Vs",
                "membrane potential of the soma",
                role="memory",
                value=f"E_L + 15 * {_BEGIN}",
                unit="mV",
            ),
            Variable(
                "Vd", "membrane potential of the dendrite", role="memory", value="E_L", unit="mV"
            ),
            Variable("w_s", "adaptation of the soma, in spikes", role="memory"),
            Variable("w_d", "adaptation of the dendrite", role="memory", unit="mV"),
            Variable("noise_s", "background current of the soma", role="memory", unit="pA"),
            Variable("noise_d", "background current of the dendrite", role="memory", unit="pA"),
            Variable("since", "time since the last spike", role="memory", value=1000.0, unit="ms"),
            Variable("bursting", "1 once the last event has become a burst", role="memory"),
            Variable("calcium", "regenerative calcium current of the dendrite", unit="pA"),
            Variable("spike", "1 where the cell fires in this tick"),
            Variable("event", "1 where that begins an event, a lone spike or a burst"),
            Variable("burst", "1 where that makes a burst of an event"),
            *_PARAMETERS,
            *_PER_TICK,
        ),
        steps=(
            Step(
                "cells",
                f"""
                drawn = uniform_draw(seed, {Stream.SOMA_NOISE}, moment, i)
                rest_of_drawn = 67108864.0 * drawn - floor(67108864.0 * drawn)
                noise_s = keep_noise * noise_s + sigma_s * fresh_noise * (drawn - 0.5)
                noise_d = keep_noise * noise_d + sigma_d * fresh_noise * (rest_of_drawn - 0.5)
                open_channels = 1 / (1 + exp(-(Vd - E_d) / D_d))
                calcium = g_d * open_channels
                arrived = int(since + tick / 2 > c_delay) * int(since + tick / 2 < c_delay + c_lasts)
                soma_goal = E_L + tau_s / C_s * (g_s * open_channels - b_s * w_s + I_s + noise_s)
                dendrite_goal = E_L + tau_d / C_d * (calcium + c_d * arrived - a_d * w_d + I_d + noise_d)
                w_d += step_wd * (Vd - E_L - w_d)
                w_s -= step_ws * w_s
                Vd += step_d * (dendrite_goal - Vd)
                since += tick
                able = int(since + tick / 2 > t_ref)
                Vs = able * (Vs + step_s * (soma_goal - Vs)) + (1 - able) * V_r
                spike = int(Vs > V_T)
                event = spike * int(since + tick / 2 > burst_gap)
                burst = (spike - event) * (1 - bursting)
                bursting = (1 - event) * (bursting + burst)
                w_s += spike
                Vs = (1 - spike) * Vs + spike * V_r
                since = (1 - spike) * since
                """,
            ),
        ),
        meaning=(
            "Pyramidal cells of two compartments, whose dendrite makes calcium spikes (Naud &"
            " Sprekeler 2018)."
        ),
        dimension="bursting_cell",
        shape="triangle",
    )


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
