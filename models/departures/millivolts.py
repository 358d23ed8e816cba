"""The circuit in millivolts: every output and every interneuron is a population of spiking cells.

What the paper's circuit writes as numbers becomes currents and spikes::

    I_s = rest_soma + gain_soma Vx'x                       into the somata of one output
    I_d = rest_dendrite + gain_dendrite (a - Qn) / r.m.s.  into their dendrites
    z = (rate of events - its mean) / event_slope          what the outputs say
    plateau = (rate of bursts - p rate of events) r.m.s. / (mean rate of events * burst_slope)

with p the mean burst probability: bursts teach by how many more there are than is usual for so many
events (Payeur et al. 2021). Rates are counted over a sample, from `latency` on, and weights change
when it ends, by the paper's rules. Means and the r.m.s. of the distal current are those of the last
samples: cells keep to their working point, as homeostasis does.

An output drives the somata and dendrites of its cells, counts their events and bursts, and makes an
activity of the one and a plateau of the other. An interneuron does the same with the spikes of its
cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

from biorrr.errors import InputError
from biorrr.models.departures.cells import Holding
from biorrr.models.departures.millivolt_cells import BurstingCells, SomatostatinCells
from biorrr.models.expressions import rename
from biorrr.models.parts import Parts, Pathway, Population, Step, Variable, parameter
from biorrr.models.validation import (
    Milliseconds,
    Picoamperes,
    Positive,
    PositiveCount,
    number_within,
)

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
    Variable("carried", "what reaches other cells"),
    Step("output", "carried = z", replays=True),  # replay is instant
    Step("output", "carried = heard"),
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
    Variable("carried", "what reaches other cells"),
    Step("interneuron output", "carried = n", replays=True),
    Step("interneuron output", "carried = heard"),
)

# Pathways to the cells that stand for each output, or each interneuron, and back from them: a name,
# what they fill with what, and when.
_OUTPUT_GROUPS = (
    ("soma_currents", {"I_s": "soma_current", "I_d": "dendrite_current"}, "cells"),
    ("output_spikes", {"event_sum": "event", "burst_sum": "burst"}, "output"),
)
_INTERNEURON_GROUPS = (
    ("interneuron_currents", {"I_in": "interneuron_current"}, "interneuron cells"),
    ("interneuron_spikes", {"spike_sum": "spike"}, "interneuron output"),
)


_BEFORE = 20  # samples in which cells find their means, before synapses learn


@dataclass(frozen=True)
class Millivolts(Holding):
    """Populations of bursting cells and of somatostatin cells, in millivolts, milliseconds and
    picoamperes.

    As the number of cells grows and gains become small, events and bursts follow the numbers of the
    paper's circuit, with an error that falls with the root of the number of cells and, beyond that,
    with the gains. Spontaneous replay stays instant. Times are Brian2 quantities, or plain numbers
    in milliseconds.

    Parameters
    ----------
    population, interneuron_population
        Number of cells that stand for one output, and for one interneuron.
    hold
        Time for which each sample is held.
    latency
        Time from the beginning of a sample after which spikes count, since cells still answer to
        the sample before.
    dt
        Length of a tick.
    filter
        Time constant of the synapses between pyramidal cells and interneurons.
    homeostasis
        Number of samples over which cells find their means.
    rest_soma, gain_soma
        Current into the soma at rest, and what one unit of output adds to it, in pA.
    rest_dendrite, gain_dendrite
        Current into the dendrite at rest, and what a distal current of the usual size adds to it,
        in pA.
    rest_interneuron, gain_interneuron
        Current into an interneuron at rest, and what outputs of the usual size add to it, in pA.
    event_slope, burst_slope, spike_slope
        What one pA more adds to the rate of events, to the burst probability and to the rate of an
        interneuron, in Hz, 1 and Hz; measured with the cells as they are (docs/millivolts.md). They
        only set the units of what is read.
    cell, interneuron
        The cells themselves, as parts that can be altered or replaced: those of outputs must have
        the variables I_s, I_d, event, burst and calcium, and those of interneurons I_in and spike.
    """

    population: PositiveCount = 100
    interneuron_population: PositiveCount = 50
    hold: Milliseconds = 150.0
    latency: Milliseconds = 30.0
    dt: Milliseconds = 0.5
    filter: Milliseconds = 10.0
    homeostasis: Annotated[float, partial(number_within, low=1)] = 500.0
    rest_soma: Picoamperes = 400.0
    gain_soma: Picoamperes = 60.0
    rest_dendrite: Picoamperes = 120.0
    gain_dendrite: Picoamperes = 70.0
    rest_interneuron: Picoamperes = 120.0
    gain_interneuron: Picoamperes = 30.0
    event_slope: Positive = 0.03
    burst_slope: Positive = 0.0021
    spike_slope: Positive = 0.5
    cell: Population = field(default_factory=BurstingCells, repr=False)
    interneuron: Population = field(default_factory=SomatostatinCells, repr=False)
    alters = ("pyramidal", "interneuron", "recruitment", "inhibitory", "neuromodulator")
    gives = ("clock", "shape of plateaus", "spikes")
    excludes = (
        ("apical drive", "the soma of a cell in millivolts feels its calcium current already"),
        (
            "apical feedback",
            "the gain of a plateau at the soma is that of the cell's own calcium current",
        ),
        (
            "loop delay",
            (
                "inhibition is carried by spikes, which synapses already pass on with a delay of"
                " their own"
            ),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.latency >= self.hold:
            raise InputError(
                f"Millivolts.latency: must be shorter than hold = {self.hold:g} ms (got"
                f" {self.latency:g} ms)"
            )

    def alter(self, parts: Parts) -> Parts:
        """Put populations of cells behind outputs and interneurons, and let weights change when a
        sample ends.
        """
        parts = super().alter(parts)
        for kind, each, behind, groups in (
            ("pyramidal", self.population, self.cell, _OUTPUT_GROUPS),
            ("interneuron", self.interneuron_population, self.interneuron, _INTERNEURON_GROUPS),
        ):
            for cells in parts.all(kind):
                ends = (cells.name, behind.name), (behind.name, cells.name)
                parts = parts.having(
                    replace(behind, size=each * int(cells.size or 1)),
                    *map(_within_groups, ends, groups),
                )
        late = f"int(sample >= {_BEFORE})"
        return parts.having(
            *(
                replace(p, change=p.change and f"{late} * ({p.change})", block="end")
                for p in parts.pathways
            )
        )

    def alter_part(self, part):
        """Let outputs and interneurons be what cells say, and pathways between them carry it."""
        if part.kind == "pyramidal":
            return _complete_at_end(part, "z", "a", "inhibition", "plateau").adding(
                *self._common(self.population),
                parameter("rest_soma", "current into the soma at rest", self.rest_soma, "pA"),
                parameter(
                    "gain_soma", "current that one unit of output adds", self.gain_soma, "pA"
                ),
                parameter(
                    "rest_dendrite", "current into the dendrite at rest", self.rest_dendrite, "pA"
                ),
                parameter(
                    "gain_dendrite",
                    "current that a distal current of usual size adds",
                    self.gain_dendrite,
                    "pA",
                ),
                parameter(
                    "event_gain",
                    "events that one unit of output adds",
                    self.event_slope * self.gain_soma,
                    "Hz",
                ),
                parameter(
                    "burst_gain",
                    "burst probability that a distal current of usual size adds",
                    self.burst_slope * self.gain_dendrite,
                ),
                *OUTPUT_READINGS,
            )
        if part.kind == "interneuron":
            rest, gain = self.rest_interneuron, self.gain_interneuron
            return _complete_at_end(part, "n").adding(
                *self._common(self.interneuron_population),
                parameter("rest_interneuron", "current into an interneuron at rest", rest, "pA"),
                parameter("gain_interneuron", "current that outputs of usual size add", gain, "pA"),
                parameter(
                    "spike_gain",
                    "spikes that outputs of usual size add",
                    self.spike_slope * gain,
                    "Hz",
                ),
                *INTERNEURON_READINGS,
            )
        if part.kind == "neuromodulator":
            rates = [name for name in part.declared if name.startswith("eta_")]
            return _complete_at_end(part, *rates)
        said = "z_pre" if part.kind == "recruitment" else "n_pre"
        carried = {said: "carried_pre"}
        sums = tuple((filled, rename(code, carried)) for filled, code in part.sums)
        # Outputs of unit variance make of an interneuron the root of the sum of squares of its
        # weights.
        strength = (("strength", "w**2"),) if part.kind == "recruitment" else ()
        return replace(part, current=rename(part.current, carried), sums=(*sums, *strength))

    def _common(self, population: int) -> tuple[Variable, ...]:
        """Return the parameters that outputs and interneurons share."""
        return (
            parameter("cells_each", "cells that stand for one", float(population)),
            parameter("latency", "ticks after which spikes count", self.latency / self.dt),
            parameter(
                "filter_step", "relaxation of synapses per tick", f"relaxation({self.filter!r})"
            ),
            parameter(
                "homeostasis", "samples over which cells find their means", float(self.homeostasis)
            ),
        )


def _complete_at_end(cells: Population, *names: str) -> Population:
    """Return ``cells`` whose variables in ``names`` are complete when a sample ends."""
    return replace(
        cells,
        variables=tuple(
            replace(v, block="end" if v.name in names else v.block) for v in cells.variables
        ),
    )


def _within_groups(ends: tuple[str, str], group: tuple[str, dict[str, str], str]) -> Pathway:
    """Return the pathway of a ``group`` between a population and the cells that stand for each of
    it: it hands variables on to them, or sums up theirs.
    """
    (source, target), (name, fills, phase) = ends, group
    first, *others = ((filled, f"{said}_pre") for filled, said in fills.items())
    return Pathway(
        name,
        source,
        target,
        *first,
        phase,
        weighted=False,
        wiring="groups",
        sums=tuple(others),
        meaning=f"between {source} and {target}",
    )
