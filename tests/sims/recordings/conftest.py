"""Recordings of two areas as NWB files, in the layouts of those who publish them."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

TRIALS, BINS, BIN = 60, 5, 0.1
PERIOD = 1.0  # seconds from one trial to the next
UNITS = {"VISp": 14, "VISl": 8}
RATE = 20.0  # spikes per second


def spikes(rng):
    """Spike times of each unit, over all trials and a second before and after."""
    duration = TRIALS * PERIOD + 2
    shared = rng.gamma(4, 0.25, TRIALS + 2)  # all units are more or less active in a trial
    trains = []
    for _ in range(sum(UNITS.values())):
        times = np.sort(rng.uniform(0, duration, rng.poisson(2 * RATE * duration)))
        kept = rng.uniform(0, 2, len(times)) < shared[
            np.minimum(times.astype(int), TRIALS + 1)
        ] * rng.uniform(0.3, 1.0)
        trains.append(times[kept])
    return trains


@pytest.fixture(scope="session")
def counted():
    """Counts (trials * bins, units) of spike trains, each bin by itself: what a reader has to
    find."""

    def count(trains, onsets):
        counts = [
            [
                np.sum((train >= start + BIN * b) & (train < start + BIN * (b + 1)))
                for train in trains
            ]
            for start in onsets
            for b in range(BINS)
        ]
        return np.array(counts, dtype=float)

    return count


@pytest.fixture(scope="session")
def pynwb():
    return pytest.importorskip("pynwb", reason="needs the extra nwb")


def empty_file(pynwb, identifier):
    return pynwb.NWBFile(
        session_description="Made-up recording of two areas.",
        identifier=identifier,
        session_start_time=datetime(2024, 1, 1, 12, tzinfo=UTC),
        experimenter=["Doe, Jane"],
        experiment_description="None: numbers are drawn at random.",
        institution="none",
        keywords=["test"],
        subject=pynwb.file.Subject(
            subject_id="none", species="Mus musculus", sex="U", age="P90D", description="Made up."
        ),
    )


def add_electrodes(file, locations, **columns):
    device = file.create_device(name="probe", description="Made-up probe.")
    group = file.create_electrode_group(
        name="probe", description="Made-up probe.", location="visual cortex", device=device
    )
    for name, (description, _) in columns.items():
        file.add_electrode_column(name=name, description=description)
    for i, location in enumerate(locations):
        more = {name: values[i] for name, (_, values) in columns.items()}
        file.add_electrode(id=1000 + 7 * i, location=location, group=group, **more)


def write(pynwb, file, path):
    with pynwb.NWBHDF5IO(path, "w") as io:
        io.write(file)
    return path


@pytest.fixture(scope="session")
def write_session(pynwb):
    """A function that writes spikes and fluorescence of two areas, and trials in any order."""
    from pynwb.ophys import ImageSegmentation, OpticalChannel, RoiResponseSeries

    def written(path, order=None, areas=("V1", "V2")):
        rng, file = np.random.default_rng(1), empty_file(pynwb, "session")
        start, order = 0.7 * np.arange(60), np.arange(60) if order is None else order
        for name in ("kind", "a+b"):
            file.add_trial_column(name=name, description="Of the stimulus.")
        for trial in order:
            more = {"kind": float(trial % 4), "a+b": float(trial % 2)}
            file.add_trial(start_time=start[trial], stop_time=start[trial] + 0.5, **more)
        file.add_unit_column("location", "Area of the unit.")
        for unit in range(6):
            times = np.sort(rng.uniform(0, 42, 1000))
            file.add_unit(spike_times=times, location=areas[unit // 3])
        module = file.create_processing_module("ophys", "Fluorescence.")
        segmentation = ImageSegmentation()
        module.add(segmentation)
        channel = OpticalChannel(name="green", description="Green.", emission_lambda=500.0)
        plane = file.create_imaging_plane(
            name="plane",
            description="Made up.",
            device=file.create_device(name="microscope", description="Made up."),
            location="V1",
            indicator="GCaMP6f",
            optical_channel=channel,
            excitation_lambda=920.0,
        )
        for name in ("soma", "dendrite"):
            table = segmentation.create_plane_segmentation(
                name=f"{name}s", description="Cells.", imaging_plane=plane
            )
            table.add_column(name="area", description="Area of the cell.")
            for cell in range(3):
                table.add_roi(pixel_mask=[(cell, cell, 1.0)], area=name)
            series = RoiResponseSeries(
                name=name,
                description="Fluorescence.",
                data=rng.standard_normal((420, 3)),
                rois=table.create_roi_table_region(region=[0, 1, 2], description="All cells."),
                unit="a.u.",
                starting_time=0.0,
                rate=10.0,
            )
            module.add(series)
        return write(pynwb, file, path)

    return written


@pytest.fixture(scope="session")
def allen(pynwb, tmp_path_factory):
    """Units with peak_channel_id, electrodes with a location, presentations of two stimuli, and
    quality.
    """
    rng = np.random.default_rng(1)
    trains, onsets = spikes(rng), 1.0 + PERIOD * np.arange(TRIALS)
    areas = np.repeat(list(UNITS), list(UNITS.values()))
    file = empty_file(pynwb, "allen")
    add_electrodes(
        file, [*areas, "CA1"], local_index=("Place on the probe.", np.arange(len(areas) + 1))
    )
    file.add_unit_column(
        "peak_channel_id", "Identifier of the electrode at which the unit is largest."
    )
    file.add_unit_column("quality", "Of spike sorting.")
    order = rng.permutation(len(areas))
    quality = np.where(np.arange(len(areas)) == order[0], "noise", "good")
    for i, unit in enumerate(order):
        file.add_unit(
            spike_times=trains[unit],
            peak_channel_id=1000 + 7 * unit,
            quality=quality[i],
            id=500 + i,
        )
    file.add_unit(
        spike_times=trains[0] + 0.001, peak_channel_id=1000 + 7 * len(areas), quality="good", id=999
    )
    orientation = np.resize([0.0, 45.0, 90.0], TRIALS)
    table = pynwb.epoch.TimeIntervals(
        name="drifting_gratings_presentations", description="Presentations of gratings."
    )
    table.add_column(name="orientation", description="Of the grating, in degrees.")
    table.add_column(name="stimulus_name", description="Which stimulus.")
    for onset, angle in zip(onsets, orientation, strict=True):
        table.add_row(
            start_time=onset,
            stop_time=onset + 0.5,
            orientation=angle,
            stimulus_name="drifting_gratings",
        )
    file.add_time_intervals(table)
    other = pynwb.epoch.TimeIntervals(
        name="flashes_presentations", description="Presentations of flashes."
    )
    for onset in onsets[:7]:
        other.add_row(start_time=onset + 0.6, stop_time=onset + 0.7)
    file.add_time_intervals(other)
    path = write(pynwb, file, tmp_path_factory.mktemp("allen") / "session.nwb")
    in_file = [trains[unit] for unit in order]
    good = quality == "good"
    chosen = {
        area: [in_file[i] for i in range(len(order)) if areas[order[i]] == area and good[i]]
        for area in UNITS
    }
    return SimpleNamespace(
        path=path,
        trains=chosen,
        onsets=onsets,
        conditions=orientation,
        every=in_file,
        options={
            "trials": "drifting_gratings",
            "align": "start",
            "window": (0.0, 0.5),
            "condition": "orientation",
        },
    )


@pytest.fixture(scope="session")
def ibl(pynwb, tmp_path_factory):
    """Units with their electrodes, these with location (layers) and beryl_location; trials with
    several events.
    """
    rng = np.random.default_rng(2)
    trains, starts = spikes(rng), 1.0 + PERIOD * np.arange(TRIALS)
    beryl = np.repeat(list(UNITS), list(UNITS.values()))
    layers = [
        f"{area}{layer}"
        for area, layer in zip(beryl, np.resize(["1", "2/3", "5", "6a"], len(beryl)), strict=True)
    ]
    file = empty_file(pynwb, "ibl")
    add_electrodes(file, layers, beryl_location=("Region of the Beryl atlas.", beryl))
    file.add_unit_column("ibl_quality_score", "Fraction of quality criteria that are met.")
    for unit, train in enumerate(trains):
        file.add_unit(
            spike_times=train, electrodes=[unit], ibl_quality_score=1.0 if unit else 2 / 3
        )
    onsets = starts + rng.uniform(0.1, 0.15, TRIALS)
    onsets[3] = np.nan  # a trial without stimulus
    columns = {
        "stim_on_time": ("When the stimulus comes on.", onsets),
        "go_cue_time": ("When the cue is heard.", onsets + 0.01),
        "contrast_left": ("Of the stimulus.", np.resize([0.0, 0.25, 1.0, 1.0], TRIALS)),
        "choice": ("Which side.", np.resize(["left", "right"], TRIALS)),
    }
    for name, (description, _) in columns.items():
        file.add_trial_column(name=name, description=description)
    for i, start in enumerate(starts):
        more = {name: values[i] for name, (_, values) in columns.items()}
        file.add_trial(start_time=start, stop_time=start + 0.9, **more)
    path = write(pynwb, file, tmp_path_factory.mktemp("ibl") / "session.nwb")
    chosen = {
        area: [train for i, train in enumerate(trains) if beryl[i] == area and i] for area in UNITS
    }
    return SimpleNamespace(
        path=path,
        trains=chosen,
        onsets=np.delete(onsets, 3),
        layers=layers,
        conditions=np.delete(columns["contrast_left"][1], 3),
        options={"align": "stimulus", "window": (0.0, 0.5), "condition": "contrast_left"},
    )


@pytest.fixture(scope="session")
def steinmetz(pynwb, tmp_path_factory):
    """Units with several electrodes each, annotations for quality, and an event without _time in
    its name.
    """
    rng = np.random.default_rng(3)
    trains, starts = spikes(rng), 1.0 + PERIOD * np.arange(TRIALS)
    areas = np.repeat(list(UNITS), list(UNITS.values()))
    file = empty_file(pynwb, "steinmetz")
    add_electrodes(file, np.repeat(areas, 3))
    file.add_unit_column("phy_annotations", "1 is MUA, 2 good, 3 unsorted.")
    for unit, train in enumerate(trains):
        near = [
            max(3 * unit - 1, 0),
            3 * unit,
            3 * unit + 1,
            3 * unit + 2,
        ]  # one of them may lie in the next area
        file.add_unit(
            spike_times=train, electrodes=near, phy_annotations=1 if unit == 0 else 2 + unit % 2
        )
    file.add_trial_column(name="visual_stimulus_time", description="When the stimulus comes on.")
    file.add_trial_column(name="go_cue", description="When the cue is heard.")
    file.add_trial_column(name="visual_stimulus_left_contrast", description="Of the stimulus.")
    for i, start in enumerate(starts):
        file.add_trial(
            start_time=start,
            stop_time=start + 0.9,
            visual_stimulus_time=start + 0.1,
            go_cue=start + 0.3,
            visual_stimulus_left_contrast=[0.0, 0.5][i % 2],
        )
    path = write(pynwb, file, tmp_path_factory.mktemp("steinmetz") / "session.nwb")
    chosen = {
        area: [train for i, train in enumerate(trains) if areas[i] == area and i] for area in UNITS
    }
    return SimpleNamespace(
        path=path,
        trains=chosen,
        onsets=starts + 0.1,
        conditions=np.resize([0.0, 0.5], TRIALS),
        options={
            "align": "visual_stimulus",
            "window": (0.0, 0.5),
            "condition": "visual_stimulus_left_contrast",
        },
    )


@pytest.fixture(scope="session")
def imaging(pynwb, tmp_path_factory):
    """DF/F of two planes in two areas, sampled at other moments, one cell with missing values, one
    that is none.
    """
    from pynwb.ophys import (
        DfOverF,
        Fluorescence,
        ImageSegmentation,
        OpticalChannel,
        RoiResponseSeries,
    )

    rng = np.random.default_rng(4)
    file = empty_file(pynwb, "imaging")
    device = file.create_device(name="microscope", description="Made-up microscope.")
    module = file.create_processing_module("ophys", "Processed fluorescence.")
    segmentation, dff, raw = ImageSegmentation(), DfOverF(), Fluorescence()
    for container in (segmentation, dff, raw):
        module.add(container)
    rate, data = 30.0, {}
    for area, cells in (("VISp", 6), ("VISl", 5)):
        plane = file.create_imaging_plane(
            name=f"plane_{area}",
            description="Made-up plane.",
            device=device,
            location=area,
            indicator="GCaMP6f",
            optical_channel=OpticalChannel(
                name="green", description="Green.", emission_lambda=500.0
            ),
            excitation_lambda=920.0,
            imaging_rate=rate,
        )
        table = segmentation.create_plane_segmentation(
            name=f"cells_{area}", description="Cells.", imaging_plane=plane
        )
        table.add_column(name="valid_roi", description="Whether it is a cell.")
        for cell in range(cells):
            table.add_roi(pixel_mask=[(cell, cell, 1.0)], valid_roi=cell != 1)
        values = rng.standard_normal((int(rate * (TRIALS + 2)), cells))
        if area == "VISl":
            values[100, 2] = np.nan
        times = np.arange(len(values)) / rate + (0.004 if area == "VISl" else 0.0)
        data[area] = values, times
        region = table.create_roi_table_region(region=list(range(cells)), description="All cells.")
        when = {"timestamps": times} if area == "VISl" else {"starting_time": 0.0, "rate": rate}
        dff.add_roi_response_series(
            RoiResponseSeries(
                name=f"dff_{area}",
                description="dF/F.",
                data=values,
                rois=region,
                unit="ratio",
                **when,
            )
        )
        raw.add_roi_response_series(
            RoiResponseSeries(
                name=f"raw_{area}",
                description="Fluorescence.",
                data=values + 5,
                rois=region,
                unit="a.u.",
                **when,
            )
        )
    for i in range(TRIALS):
        file.add_trial(start_time=1.0 + i, stop_time=1.9 + i)
    path = write(pynwb, file, tmp_path_factory.mktemp("imaging") / "session.nwb")
    return SimpleNamespace(path=path, data=data, onsets=1.0 + np.arange(TRIALS))


@pytest.fixture
def published(pynwb, tmp_path, real_data):
    """The residual counts of V1 and V2 as time series, one column per neuron, and their trials."""
    from biorrr.sims.data import load

    V2, V1 = load("v1v2"), load("v1v2", target="V1")
    file = empty_file(pynwb, "v1v2")
    module = file.create_processing_module(
        "ecephys", "Binned counts, without the response to the stimulus."
    )
    for name, values in {"V1_source": V2.X, "V2": V2.Y, "V1_target": V1.Y}.items():
        module.add(
            pynwb.TimeSeries(
                name=name,
                description="Residual spike counts.",
                data=values,
                unit="residual count",
                rate=10.0,
                starting_time=0.0,
            )
        )
    for trial in range(400):
        file.add_trial(start_time=float(trial), stop_time=float(trial + 1))
    return Path(write(pynwb, file, tmp_path / "v1v2.nwb"))
