"""Readings of cells in millivolts: an output or interneuron counts the spikes of its cells and
makes numbers of them.

An output drives the somata and dendrites of its cells, counts their events and bursts, and makes an
activity of the one and a plateau of the other. An interneuron does the same with the spikes of its
cells. Counting begins `latency` ticks after a sample came on.
"""

from __future__ import annotations

from biorrr.models.parts import Step, Variable

# Of the ticks of a sample: 1 if this one counts, and the number of those that have counted.
_COUNTS, _COUNTED = "clip(elapsed + 1 - latency, 0, 1)", "clip(elapsed + 1 - latency, 1, inf)"
# Of means that cells keep: where they begin counts as much as ten samples.
_PACE = "clip(1 / (sample + 11), 1 / homeostasis, 1)"
# Of the distal current nothing is known beforehand.
_DRIVE_PACE = "clip(1 / (sample + 1), 1 / homeostasis, 1)"
# Where means begin, in Hz: what the cells do at rest.
_REST_EVENTS, _REST_BURSTS, _REST_SPIKES = 5.0, 1.8, 20.0


OUTPUT_READINGS = (
    Variable("soma_current", "current into the somata", unit="pA"),
    Variable("dendrite_current", "current into the dendrites", unit="pA"),
    Variable("event_sum", "events of the population in this tick"),
    Variable("burst_sum", "bursts of the population in this tick"),
    Variable("event_count", "events per cell since spikes count", role="memory"),
    Variable("burst_count", "bursts per cell since spikes count", role="memory"),
    Variable("event_rate", "rate of events since spikes count", unit="Hz"),
    Variable("burst_rate", "rate of bursts since spikes count", unit="Hz"),
    Variable("drive", "distal current less inhibition"),
    Variable("heard", "output, as synapses carry it on", role="memory"),
    Variable("inhibited", "inhibition, as synapses carry it on", role="memory"),
    Variable("inhibition_sum", "inhibition, summed since spikes count", role="memory"),
    Variable("usual_events", "mean rate of events", role="memory", value=_REST_EVENTS, unit="Hz"),
    Variable("usual_bursts", "mean rate of bursts", role="memory", value=_REST_BURSTS, unit="Hz"),
    Variable(
        "usual_drive", "mean square of the distal current less inhibition", role="memory", value=1.0
    ),
    Step("input", "event_count = 0\nburst_count = 0\ninhibition_sum = 0", block="onset"),
    Step(
        "membrane",
        """
        soma_current = rest_soma + gain_soma * clip(z, -8, 8)
        pull = (a - inhibited) / sqrt(usual_drive + 1e-300)
        dendrite_current = rest_dendrite + gain_dendrite * clip(pull, -6, 6)
        """,
    ),
    Step(
        "output",
        f"""
        event_count += {_COUNTS} * event_sum / cells_each
        burst_count += {_COUNTS} * burst_sum / cells_each
        heard += filter_step * ((event_sum / cells_each / tick - usual_events) / event_gain - heard)
        z = (event_count / ({_COUNTED} * tick) - usual_events) / event_gain
        """,
    ),
    Step(
        "dendrite",
        f"""
        inhibited = inhibition
        inhibition_sum += {_COUNTS} * inhibited
        inhibition = inhibition_sum / {_COUNTED}
        """,
    ),
    Step(
        "plateau shape",
        f"""
        event_rate = event_count / ({_COUNTED} * tick)
        burst_rate = burst_count / ({_COUNTED} * tick)
        drive = plateau
        surplus = burst_rate - usual_bursts / usual_events * event_rate
        plateau = sqrt(usual_drive) * surplus / usual_events / burst_gain
        """,
    ),
    Step(
        "plateau shape",
        f"""
        usual_events += {_PACE} * (event_rate - usual_events)
        usual_bursts += {_PACE} * (burst_rate - usual_bursts)
        usual_drive += {_DRIVE_PACE} * (drive**2 - usual_drive)
        """,
        block="end",
    ),
)

INTERNEURON_READINGS = (
    Variable("strength", "sum of squares of an interneuron's weights"),
    Variable("interneuron_current", "current into the cells", unit="pA"),
    Variable("spike_sum", "spikes of the population in this tick"),
    Variable("spike_count", "spikes per cell since spikes count", role="memory"),
    Variable("spike_rate", "rate of spikes since spikes count", unit="Hz"),
    Variable("heard", "interneuron activity, as synapses carry it on", role="memory"),
    Variable("usual_spikes", "mean rate of spikes", role="memory", value=_REST_SPIKES, unit="Hz"),
    Step("input", "spike_count = 0", block="onset"),
    Step(
        "interneuron",
        """
        expected = clip(n / (sqrt(strength) + 1e-300), -5, 5)
        interneuron_current = rest_interneuron + gain_interneuron * expected
        """,
    ),
    Step(
        "interneuron output",
        f"""
        unit = (sqrt(strength) + 1e-300) / spike_gain
        spike_count += {_COUNTS} * spike_sum / cells_each
        spike_rate = spike_count / ({_COUNTED} * tick)
        heard += filter_step * (unit * (spike_sum / cells_each / tick - usual_spikes) - heard)
        n = unit * (spike_rate - usual_spikes)
        """,
    ),
    Step(
        "interneuron output",
        f"usual_spikes += {_PACE} * (spike_rate - usual_spikes)",
        block="end",
    ),
)
