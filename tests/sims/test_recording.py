"""A learned circuit recorded with departures: spikes above, traces below, and both in run.nc."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from biorrr.circuit import Microcircuit
from biorrr.sims.data import load
from biorrr.sims.experiment import Problem
from biorrr.sims.experiments.helpers.recording import SHOWN_SAMPLES, as_variables, record_learned
from biorrr.sims.experiments.plateau import PlateauSettings

DATA = "synthetic:samples=60,m=6,n=5,latents=2"


@pytest.fixture(scope="module")
def learned():
    data = load(DATA)
    run = Microcircuit(2, engine="numpy").run(data.X, data.Y, centre=True, progress=False)
    return run, Problem(PlateauSettings(), data, exact=None)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def spikes_of(raster):
    (line,) = (line for line in raster.lines if line.get_marker() == "|")
    return line.get_data()


def test_milliseconds_and_a_raster(learned):
    recording = record_learned(*learned, amplitude=1.0, spiking=5, leaky=True)
    raster, *neurons = recording.plot_raster()
    assert neurons[-1].get_xlabel() == "time (ms)"
    assert [panel.get_ylabel() for panel in neurons] == ["neuron 1", "neuron 2"]
    names = [tick.get_text() for tick in neurons[0].get_yticklabels()]
    assert names == ["plateau", "distal current $a$", "inhibition $Qn$", "output $z$"]
    time = max((line.get_xdata() for line in neurons[0].lines), key=len)
    assert time[0] == 2
    assert time[-1] == SHOWN_SAMPLES * 200
    spiked, cells = spikes_of(raster)
    assert 0 < spiked.min() <= spiked.max() <= SHOWN_SAMPLES * 200
    assert set(np.asarray(cells)) == set(range(10))
    assert len(cells) == recording.data["spikes"].values.sum()


def test_spikes_of_a_sample_are_spread_over_it(learned):
    recording = record_learned(*learned, amplitude=0.0, spiking=5, leaky=False)
    raster, *neurons = recording.plot_raster()
    spiked = spikes_of(raster)[0] - recording.data["sample"].values[0]
    assert neurons[-1].get_xlabel() == "sample"
    assert set(np.floor(spiked)) == set(range(SHOWN_SAMPLES))
    assert 0.1 < (spiked % 1).mean() < 0.9
    assert (spiked % 1).std() > 0.2


def test_graded_plateaus_without_spikes_have_no_raster(learned):
    recording = record_learned(*learned, amplitude=0.0, spiking=0, leaky=True)
    assert len(recording.plot_raster()) == 2


def test_what_was_recorded_is_kept(learned):
    recording = record_learned(*learned, amplitude=0.0, spiking=5, leaky=True)
    kept = xr.Dataset(as_variables(recording))
    assert kept["recording_time"].attrs["units"] == "ms"
    assert kept["recording_time"].values[[0, -1]].tolist() == [2, SHOWN_SAMPLES * 200]
    assert kept["recording_onset"].values[1] == 200
    for name in ("plateau", "a", "inhibition", "z", "spikes"):
        values = recording.data[name].values
        np.testing.assert_array_equal(kept[f"recording_{name}"].values.reshape(values.shape), values)
