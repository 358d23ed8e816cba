"""Every mistake of a first user is one sentence that says what is there."""

import re

import h5py
import numpy as np
import pytest

from biorrr.sims import main
from biorrr.sims.data import DataError, load
from biorrr.sims.recordings import Recording

RNG = np.random.default_rng(0)


def tensor(trials=8, bins=4, units=6, **options):
    return Recording.from_tensor(
        RNG.poisson(2, (trials, bins, units)), ["V1"] * 3 + ["V2"] * 3, **options
    )


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [  # the beginning of each
        (
            {"source": "VISP"},
            "source: no units in area 'VISP' of {path}; did you mean 'VISp'?; there are VISp (14",
        ),
        (
            {"target": "nowhere"},
            "target: no units in area 'nowhere' of {path}; there are VISp (14 units), VISl",
        ),
        (
            {"align": "reward"},
            (
                "align: no event 'reward' in trials; there are start_time, stop_time,"
                " stim_on_time, go_"
            ),
        ),
        (
            {"align": "time"},
            (
                "align: 'time' may be start_time, stop_time, stim_on_time, go_cue_time; name one of"
                " them"
            ),
        ),
        (
            {"condition": "contrast"},
            "condition: no column 'contrast' in trials; did you mean 'contrast_left'?; there",
        ),
        (
            {"bin": 0.6, "window": (0, 0.5)},
            "window: must hold a whole number of bins (got 0 to 0.5 s, and bins of 0.6 s); end it",
        ),
        (
            {"bin": 0.3, "window": (0, 0.5)},
            "window: must hold a whole number of bins (got 0 to 0.5 s, and bins of 0.3 s); end it",
        ),
        (
            {"bin": 0.0},
            "{path}: bin: must be at least 0.0001 (got 0.0); width of a time bin in seconds",
        ),
        ({"window": (0.5, 0)}, "window: must hold a whole number of bins (got 0.5 to 0 s"),
        (
            {"window": (1,)},
            "{path}: window: must be 2 values (got (1,)); begin and end of the window",
        ),
        (
            {"window": (-1, 1)},
            "window: trials must not overlap, or held-out spikes are seen in training (got 59 of",
        ),
        (
            {"target": "VISp"},
            "target: must share no unit with the source (got 13 in both, VISp and VISp)",
        ),
        (
            {"area": "where"},
            "area: no column 'where' of units or electrodes in {path} holds the areas of units",
        ),
        (
            {"trials": "gratings"},
            "trials: no table of intervals is called 'gratings' in {path}; there are trials (60)",
        ),
        (
            {"series": "dff"},
            "series: no series 'dff' with one column per unit in {path}; there are none",
        ),
        (
            {"minimum_rate": 1e3},
            "source: must have at least two units to be a population (got 0 of 13: 13 left out",
        ),
        ({"quality": "fair"}, "{path}: quality: must be one of good, all (got 'fair')"),
        ({"scale": "log"}, "{path}: scale: must be one of none, sqrt (got 'log')"),
        (
            {"source": ""},
            "source: choose an area of {path}; there are VISp (14 units), VISl (8 units)",
        ),
        ({"sauce": "VISp"}, "{path}: no option 'sauce'; did you mean 'source'?"),
    ],
)
def test_questions_a_file_has_no_answer_to(ibl, asked, sentence):
    options = {"source": "VISp", "target": "VISl", "window": (0, 0.5)} | asked
    with pytest.raises(DataError) as error:
        load(str(ibl.path), **options)
    assert str(error.value).startswith(sentence.format(path=ibl.path))
    assert "\n" not in str(error.value)


def test_several_tables_of_trials(allen):
    with pytest.raises(
        DataError,
        match=re.escape("there are drifting_gratings_presentations (60), flashes_presentati"),
    ):
        Recording.from_nwb(allen.path)


def changed(path, folder, change):
    copy = folder / "changed.nwb"
    copy.write_bytes(path.read_bytes())
    with h5py.File(copy, "a") as file:
        change(file)
    return copy


def no_trials(file):
    del file["intervals"]


def empty_trials(file):
    group = file["intervals/trials"]
    for name in list(group):
        values = group[name][:0]
        attrs = dict(group[name].attrs)
        del group[name]
        group[name] = values
        group[name].attrs.update(attrs)


def no_activity(file):
    del file["units"]


def nan_spikes(file):
    file["units/spike_times"][5] = np.nan


def version_1(file):
    file.attrs["nwb_version"] = "1.0.6"


def not_nwb(file):
    del file.attrs["nwb_version"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (no_trials, "trials: no table of intervals is called 'trials' in "),
        (empty_trials, "must hold trials (got none in trials)"),
        (
            no_activity,
            "series: no spike times, nor series with one column per unit in ",
        ),
        (nan_spikes, "unit 0: spike times must be finite (got 1 that are not); export them again"),
        (version_1, "NWB version 1.0.6 not supported"),
        (
            not_nwb,
            "not a readable NWB file of version 2",
        ),
    ],
)
def test_files_that_lack_something(ibl, tmp_path, change, sentence):
    path = changed(ibl.path, tmp_path, change)
    with pytest.raises(DataError, match=re.escape(sentence)):
        Recording.from_nwb(path).pair("VISp", "VISl", window=(0, 0.5), quality="all")


def test_files_that_are_none(tmp_path):
    (tmp_path / "text.nwb").write_text("not HDF5")
    (tmp_path / "zarr.nwb").mkdir()
    for name, sentence in (
        ("text", "not a readable HDF5 file"),
        ("zarr", "must be a regular file .got a folder; export Zarr to HDF5"),
        ("no", "no such file"),
    ):
        with pytest.raises(DataError, match=sentence):
            Recording.from_nwb(tmp_path / f"{name}.nwb")


def test_arrays_of_wrong_shapes():
    with pytest.raises(
        DataError,
        match=re.escape(
            "activity must be numbers, trials by bins by units (got shape (4, 3), float64)"
        ),
    ):
        Recording.from_tensor(np.ones((4, 3)), ["V1"] * 3)
    with pytest.raises(DataError, match="areas must be a name for each of 6 units"):
        Recording.from_tensor(np.ones((4, 3, 6)), ["V1"])
    with pytest.raises(DataError, match="must have one entry per trial"):
        tensor(conditions=[1, 2])


def test_what_is_left_out_is_said():
    counts = np.random.default_rng(0).poisson(2, (12, 4, 6)).astype(float)
    counts[:, :, 1] = 0
    counts[0, 0, 4] = np.nan
    recording = Recording.from_tensor(
        counts,
        ["V1"] * 3 + ["V2"] * 3,
        conditions={"angle": [0, 0, 0, 0, 1, 1, 1, 1, 2, np.nan, 0, 1.0]},
    )
    data = recording.pair("V1", "V2", condition="angle")
    assert (data.X.shape, data.Y.shape) == ((40, 2), (40, 2))
    assert data.notes == (
        "window is 0 to 0.4 s from start_time, up to the end of the shortest trial",
        "1 of 12 trials left out, without a value of angle",
        "1 of 12 trials left out, the only ones of their angle",
        "1 of 3 source units left out, that never change within the windows",
        "1 of 3 target units left out, with missing values (NaN) in the windows",
    )


def test_one_sentence_on_the_command_line(ibl, capsys):
    args = [
        "communication",
        "--data",
        str(ibl.path),
        "--source",
        "VISX",
        "--target",
        "VISl",
        "--window",
        "0",
        "0.5",
    ]
    assert main.run(args) == 1
    err = capsys.readouterr().err
    assert err.startswith(
        f"biorrr: source: no units in area 'VISX' of {ibl.path}; did you mean 'VISp'?"
    )
    assert err.count("\n") == 1
    assert (
        main.run(
            [
                *args[:3],
                "--folds",
                "80",
                "--source",
                "VISp",
                "--target",
                "VISl",
                "--window",
                "0",
                "0.5",
            ]
        )
        == 2
    )
    assert (
        capsys.readouterr().err
        == "biorrr: folds: must not exceed the number of trials, 60 (got 80)\n"
    )
    assert main.run(["communication", "--source", "V1"]) == 1
    assert capsys.readouterr().err == (
        "biorrr: planted: no option 'source'; did you mean 'source-units'?\n"
    )
