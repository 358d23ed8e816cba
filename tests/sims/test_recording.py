"""A learned circuit recorded with departures: spikes above, plateaus below."""

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.sims.data import load
from biorrr.sims.experiment import Problem
from biorrr.sims.experiments.helpers.recording import SHOWN_SAMPLES, plot_recorded
from biorrr.sims.experiments.plateau import PlateauSettings

DATA = "synthetic:samples=60,m=6,n=5,latents=2"


@pytest.fixture(scope="module")
def learned():
    data = load(DATA)
    run = Microcircuit(2, engine="numpy").run(data.X, data.Y, centre=True, progress=False)
    return run, Problem(PlateauSettings(), data, exact=None)


def test_milliseconds_and_a_raster(learned):
    raster, *plateaus = plot_recorded(*learned, amplitude=1.0, spiking=5, leaky=True)
    assert plateaus[-1].get_xlabel() == "time (ms)"
    assert len(plateaus) == 2
    time = plateaus[0].patches[-1].get_data().edges
    assert time[-1] == SHOWN_SAMPLES * 200
    spiked, cells = raster.get_lines()[SHOWN_SAMPLES].get_data()
    assert 0 < spiked.min() <= spiked.max() <= time[-1]
    assert set(np.asarray(cells)) == set(range(10))


def test_spikes_of_a_sample_are_spread_over_it(learned):
    raster, *plateaus = plot_recorded(*learned, amplitude=0.0, spiking=5, leaky=False)
    spiked = raster.get_lines()[SHOWN_SAMPLES].get_xdata()
    assert plateaus[0].patches[-1].get_data().edges.tolist() == list(range(SHOWN_SAMPLES + 1))
    assert set(np.floor(spiked)) == set(range(SHOWN_SAMPLES))
    assert 0.1 < (spiked % 1).mean() < 0.9
    assert (spiked % 1).std() > 0.2


def test_graded_plateaus_without_spikes_have_no_raster(learned):
    (first, _) = plot_recorded(*learned, amplitude=0.0, spiking=0, leaky=True)
    assert first.get_ylabel() == "plateau 1"
