"""Departures as descriptions: the units they take, the values they refuse, the circuits they
fit."""

import math
from dataclasses import dataclass

import brian2
import numpy as np
import pytest

from biorrr.errors import InputError
from biorrr.models import (
    AllOrNone,
    ApicalDrive,
    DalesLaw,
    Departure,
    HomeostaticScaling,
    LateInstruction,
    Leaky,
    LoopDelay,
    Parts,
    Population,
    Rectified,
    SensoryInput,
    Settled,
    Silence,
    SparseConnections,
    Spiking,
    apply_departures,
)


@pytest.mark.parametrize(
    "departure",
    [AllOrNone(1.0), Spiking(), Leaky(), ApicalDrive(0.1), LoopDelay(2), HomeostaticScaling()],
    ids=repr,
)
def test_a_circuit_that_a_departure_does_not_fit(departure):
    parts = Parts((SensoryInput(3), Population(2, "granule")), ())
    with pytest.raises(
        ValueError, match=r"needs a part of kind '\w+', and this circuit has sensory, granule"
    ):
        apply_departures(parts, [departure])


def test_what_is_not_a_departure():
    @dataclass(frozen=True)
    class Forgetful(Departure):
        def alter(self, parts):
            parts["sensory"].adding()

    parts = Parts((SensoryInput(3),), ())
    with pytest.raises(TypeError, match=r"departures: must be Departure\(...\) \(got 'noise'\)"):
        apply_departures(parts, ["noise"])
    with pytest.raises(
        TypeError, match=r"what \S*Forgetful\(\).alter returns: must be Parts\(...\) \(got None\)"
    ):
        apply_departures(parts, [Forgetful()])


def test_times_are_quantities_or_milliseconds():
    assert Leaky(tau_soma=0.02 * brian2.second, hold=100 * brian2.ms) == Leaky(
        tau_soma=20, hold=100
    )
    assert Leaky(hold=100, dt=2).duration == 50
    with pytest.raises(
        ValueError, match=r"Leaky.tau_soma: must be a time \(got 3. mV\); write for example 10\*ms"
    ):
        Leaky(tau_soma=3 * brian2.mV)
    with pytest.raises(
        ValueError, match=r"Leaky.hold: must be a whole number of ticks of dt = 3 ms \(got 100 ms\)"
    ):
        Leaky(hold=100, dt=3)
    for hold, dt in [(1e9, 1.0), (100, 1e-320)]:
        with pytest.raises(ValueError, match=r"Leaky.hold: .* upper bound is 10,000,000 ticks"):
            Leaky(hold=hold, dt=dt)


def test_a_sample_settles_in_a_number_of_ticks_that_can_be_run():
    with pytest.raises(
        ValueError,
        match=r"Settled.ticks: must be a whole number, at most 100000 \(got 1000000000\)",
    ):
        Settled(ticks=10**9)


def test_raster_has_every_spike_once():
    counts = np.array([[3, 0], [1, 200]])
    ticks, cells = Spiking(population=10).raster(counts)
    for tick in range(2):
        for population in range(2):
            assert np.sum((ticks == tick) & (cells // 10 == population)) == counts[tick, population]
    assert np.bincount(cells[ticks == 1][1:] % 10, minlength=10).max() < 20 + 4 * math.sqrt(20)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: AllOrNone(0.0),
            (
                r"AllOrNone.amplitude: must be finite and positive \(got 0\); graded plateaus are"
                r" the small limit"
            ),
        ),
        (lambda: Rectified(-1.0), "Rectified.baseline: must be finite and at least 0"),
        (lambda: Spiking(0), "Spiking.population: must be a whole number, at least 1"),
        (
            lambda: SparseConnections(1.2, 1.0),
            r"SparseConnections.proximal: must lie in \[0, 1\] \(got 1.2\)",
        ),
        (
            lambda: DalesLaw(("P",)),
            "DalesLaw.weights: must be one of 'Vx', 'Vy', 'Q', 'R' .got 'P'",
        ),
        (lambda: Silence(-1), "Silence.at: must be a whole number, at least 0"),
    ],
)
def test_errors_say_what_to_do(make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize("delay", [LoopDelay, LateInstruction])
@pytest.mark.parametrize("unit", ["samples", "ticks"])
def test_a_delay_beyond_all_memory_is_refused(delay, unit):
    with pytest.raises(
        InputError, match=rf"{delay.__name__}.{unit}: must be a whole number, at most 1000"
    ):
        delay(**{unit: 10**9})
