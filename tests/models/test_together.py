"""Departures that go together and departures that do not: declared by them, checked once over the
final list.
"""

import re
from dataclasses import replace

import pytest

from biorrr.circuit import Hierarchy, Microcircuit
from biorrr.errors import InputError
from biorrr.models import (
    AllOrNone,
    ApicalDrive,
    DalesLaw,
    Eligibility,
    HomeostaticScaling,
    InAreas,
    LateInstruction,
    Leaky,
    LoopDelay,
    Millivolts,
    ProximalSynapses,
    Rate,
    Rates,
    Rectified,
    Settled,
    Sign,
    SparseConnections,
    Spiking,
    TransmissionNoise,
)

RATES = Rates(Rate(0.01), Rate(0.01), Rate(0.01))
BOUNDED = replace(ProximalSynapses(), change="eta_x * x_pre * (1 - w)", bound="clip(w, 0, 1)")
UNRELATED = replace(ProximalSynapses(), change="-eta_x * w")
PLATEAUS = [AllOrNone(1.0), Sign(1.0), Rectified(0.1)]


def alone(departures, **settings):
    return Microcircuit(2, rates=RATES, departures=departures, **settings)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: alone([Leaky(), Millivolts()]), "both give the clock; leave out one of them"),
        (lambda: alone([Leaky(), Leaky(hold=100.0)]), "both give the clock"),
        (lambda: alone([Leaky()], cell="millivolts"), "both give the clock"),
        (lambda: alone([Leaky(), Settled()], feedback=0.5), "both give the clock"),
        (
            lambda: alone([Settled()]),
            "outputs settle only with apical feedback; give feedback=c, c > 0, or use Hierarchy",
        ),
        (lambda: alone([Rectified(0.1), AllOrNone(1.0)]), "both give the shape of plateaus"),
        (lambda: alone([AllOrNone(1.0)], cell="millivolts"), "both give the shape of plateaus"),
        (
            lambda: alone([HomeostaticScaling(), HomeostaticScaling()]),
            "both give the scale of proximal weights",
        ),
        (lambda: alone([Spiking()], cell="millivolts"), "both give the spikes"),
        (lambda: alone([LoopDelay(2)], cell="millivolts"), "inhibition is carried by spikes"),
        (lambda: alone([ApicalDrive(0.1)], cell="millivolts"), "feels its calcium current already"),
        (
            lambda: alone([Spiking()], feedback=0.5),
            "spikes are drawn anew in every tick, so outputs never settle; use Leaky(...)",
        ),
        (
            lambda: alone([Millivolts()], feedback=0.5),
            "the gain of a plateau at the soma is that of the cell's own calcium current",
        ),
        (
            lambda: alone([ApicalDrive(0.1)], feedback=0.5),
            "feedback brings the plateau to the soma already",
        ),
        (lambda: alone([AllOrNone(1.0)], feedback=0.5), "plateaus are drawn anew in every tick"),
        (lambda: alone([Sign(1.0)], feedback=0.5), "keeps outputs from settling"),
        (
            lambda: alone([TransmissionNoise(0.1)], feedback=0.5),
            "noise is drawn anew in every tick",
        ),
        (
            lambda: alone([LoopDelay(ticks=2)], feedback=0.5),
            "not time; give the delay in samples, or use Leaky",
        ),
        (
            lambda: Hierarchy((2, 2), departures=[LateInstruction(ticks=1)]),
            "not time; give the delay in samples",
        ),
        (lambda: Hierarchy((2, 2), departures=[Spiking()]), "spikes are drawn anew in every tick"),
        (
            lambda: Hierarchy((2, 2), departures=[InAreas(Rectified(), (3,))]),
            "there is no area 3; there are 1, 2",
        ),
        (
            lambda: alone([InAreas(Rectified(), (1,))]),
            "there is no area 1; there are none in this circuit",
        ),
        (lambda: InAreas(Leaky(), (1,)), "all areas have one clock"),
        (lambda: alone([DalesLaw("Vx")], pathways=[BOUNDED]), "have a bound already"),
        (
            lambda: alone([Eligibility(1.0)], pathways=[UNRELATED]),
            "the rule of proximal does not read x_pre",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_for_a_reason(make, reason):
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_order_of_departures_does_not_matter():
    some = [Leaky(), SparseConnections(0.5, 0.5), Eligibility(1.0), Spiking()]
    parts = alone(some, pathways=[BOUNDED]).parts
    other = alone([some[1], some[2], some[3], some[0]], pathways=[BOUNDED]).parts
    assert parts == other
    assert parts.departures[-1] == some[0]
    assert "connected *" in str(
        parts["proximal"].change
    )  # also where the rule itself has been replaced


def test_departures_in_different_areas_may_differ():
    rectified, other = InAreas(Rectified(0.1), (1,)), InAreas(Rectified(0.3), (2,))
    parts = Hierarchy((2, 2), departures=[rectified, other]).parts
    assert parts["pyramidal_1"].variable("baseline").value == 0.1
    assert parts["pyramidal_2"].variable("baseline").value == 0.3
    with pytest.raises(ValueError, match="both give the shape of plateaus"):
        Hierarchy((2, 2), departures=[rectified, Rectified(0.3)])


def test_a_departure_applies_to_every_area():
    parts = Hierarchy((2, 2), departures=[DalesLaw(("Q", "R")), SparseConnections(0.5, 0.5)]).parts
    for area in (1, 2):
        assert all(
            parts[f"{name}_{area}"].bound == "clip(w, 0, inf)"
            for name in ("inhibitory", "recruitment")
        )
        assert all(parts[f"{name}_{area}"].variable("connected") for name in ("proximal", "distal"))
    drawn = {parts[f"proximal_{area}"].variable("connected").value for area in (1, 2)}
    assert len(drawn) == 2  # areas have streams of their own


def test_random_streams_of_a_first_area_are_those_of_a_microcircuit():
    noise = [TransmissionNoise(0.1), Leaky()]
    one = alone(noise, feedback=0.5).parts["pyramidal"]
    areas = Hierarchy((2, 2), rates=RATES, departures=noise).parts
    codes = [
        [step.code for step in areas[f"pyramidal_{i}"].steps if "gaussian_draw" in step.code]
        for i in (1, 2)
    ]
    assert codes[0] == [step.code for step in one.steps if "gaussian_draw" in step.code]
    assert len(codes[0]) == 3
    assert not set(codes[0]) & set(codes[1])
