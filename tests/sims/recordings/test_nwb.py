"""NWB files in the layouts of those who publish them: every spike is found where it is, and nothing
else is opened.
"""

import dataclasses
import json
import subprocess
import sys
import uuid

import h5py
import numpy as np
import pytest

from biorrr.sims.data import DataError
from biorrr.sims.recordings import Recording

BIN, BINS = 0.1, 5
UNITS = {"VISp": 14, "VISl": 8}


@pytest.mark.parametrize("layout", ["allen", "ibl", "steinmetz"])
def test_counts_are_those_of_the_spikes_that_were_written(layout, request, counted):
    held = request.getfixturevalue(layout)
    options = dict(held.options)
    recording = Recording.from_nwb(held.path, trials=options.pop("trials", None))
    data = recording.pair("VISp", "VISl", bin=BIN, minimum_rate=0, **options)
    assert sum(map(len, held.trains["VISp"] + held.trains["VISl"])) > 5000
    np.testing.assert_array_equal(data.X, counted(held.trains["VISp"], held.onsets))
    np.testing.assert_array_equal(data.Y, counted(held.trains["VISl"], held.onsets))
    np.testing.assert_array_equal(data.groups, np.repeat(np.arange(len(held.onsets)), BINS))
    code = np.unique(held.conditions, return_inverse=True)[1]
    np.testing.assert_array_equal(data.strata, (code[:, None] * BINS + np.arange(BINS)).ravel())
    np.testing.assert_allclose(data.x_rates, data.X.mean(axis=0) / BIN)
    assert any("1 of" in note and "not of good quality" in note for note in data.notes)


@pytest.mark.parametrize("layout", ["allen", "ibl", "steinmetz", "imaging"])
def test_fixtures_are_good_nwb(layout, request):
    """By the field's own inspector: nothing critical in them."""
    nwbinspector = pytest.importorskip("nwbinspector")
    held = request.getfixturevalue(layout)
    found = list(nwbinspector.inspect_nwbfile(nwbfile_path=held.path))
    worst = [
        message
        for message in found
        if message.importance.name in ("ERROR", "PYNWB_VALIDATION", "CRITICAL")
    ]
    assert worst == []


def test_spike_times_are_those_that_pynwb_reads(allen, pynwb):
    recording = Recording.from_nwb(allen.path, trials="drifting_gratings")
    with pynwb.NWBHDF5IO(allen.path, "r") as io:
        units = io.read().units
        for unit in range(len(units)):
            np.testing.assert_array_equal(
                recording.activity[0].read(unit), units["spike_times"][unit]
            )


def test_areas_by_layer_and_by_another_column(ibl):
    assert Recording.from_nwb(ibl.path).units_of_areas() == UNITS
    by_layer = Recording.from_nwb(ibl.path, area="location")
    assert set(by_layer.areas) == set(ibl.layers)
    data = by_layer.pair(
        "VISp", "VISl2/3", align="stimulus", window=(0, 0.5), minimum_rate=0, quality="all"
    )
    assert data.X.shape[1] == UNITS["VISp"]
    assert "VISp is VISp1, VISp2/3, VISp5, VISp6a together" in data.notes


def test_localization_beside_the_electrodes(ibl, pynwb, tmp_path):
    """As in IBL's later files: regions are in a table of their own, which points at electrodes."""
    from hdmf.common import DynamicTable, DynamicTableRegion, VectorData

    path, hidden = tmp_path / "localized.nwb", tmp_path / "hidden.nwb"
    hidden.write_bytes(ibl.path.read_bytes())
    with h5py.File(hidden, "a") as file:
        electrodes = file["general/extracellular_ephys/electrodes"]
        beryl = [one.decode() for one in electrodes["beryl_location"][:]]
        del electrodes["beryl_location"]
        names = electrodes.attrs["colnames"]
        electrodes.attrs["colnames"] = [name for name in names if name != "beryl_location"]
    order = np.random.default_rng(0).permutation(len(beryl))
    with pynwb.NWBHDF5IO(hidden, "r") as read, pynwb.NWBHDF5IO(path, "w") as written:
        file = read.read()
        entity = DynamicTableRegion(
            name="localized_entity", data=order, description="Of it.", table=file.electrodes
        )
        places = VectorData(
            name="beryl_location", description="Region.", data=[beryl[i] for i in order]
        )
        table = DynamicTable(
            name="ElectrodesIBLBregma", description="Places.", columns=[entity, places]
        )
        file.create_processing_module(name="localization", description="Places.").add(table)
        written.export(read, file)
    assert Recording.from_nwb(path).areas.tolist() == Recording.from_nwb(ibl.path).areas.tolist()


def test_fluorescence_is_averaged_within_bins(imaging):
    recording = Recording.from_nwb(imaging.path)
    assert recording.units_of_areas() == {"VISp": 6, "VISl": 5}
    data = recording.pair("VISp", "VISl", window=(0.0, 0.4), bin=0.2)
    kept = {"VISp": [0, 2, 3, 4, 5], "VISl": [0, 3, 4]}  # one is no cell, one has a missing value
    assert data.X.shape == (120, 5)
    assert data.Y.shape == (120, 3)
    for area, view in (("VISp", data.X), ("VISl", data.Y)):
        values, times = imaging.data[area]
        expected = [
            [
                values[(times >= start - 1e-9) & (times < start + 0.2 - 1e-9), cell].mean()
                for cell in kept[area]
            ]
            for onset in imaging.onsets
            for start in (onset, onset + 0.2)
        ]
        np.testing.assert_allclose(view, expected, rtol=1e-12)
    assert "1 of 4 target units left out, with missing values (NaN) in the windows" in data.notes
    assert data.x_rates is None
    raw = Recording.from_nwb(imaging.path, series="raw_VISp")
    assert raw.units_of_areas() == {"VISp": 6}


def test_the_order_of_trials_does_not_matter_to_fluorescence(imaging):
    recording = Recording.from_nwb(imaging.path)
    shuffled = np.random.default_rng(0).permutation(len(imaging.onsets))
    trials = type(recording.trials)(
        {name: times[shuffled] for name, times in recording.trials.times.items()}
    )
    recording = dataclasses.replace(recording, trials=trials)
    other = recording.pair("VISp", "VISl", window=(0.0, 0.4), bin=0.2)
    straight = Recording.from_nwb(imaging.path).pair("VISp", "VISl", window=(0.0, 0.4), bin=0.2)
    np.testing.assert_array_equal(
        other.X.reshape(60, 2, -1), straight.X.reshape(60, 2, -1)[shuffled]
    )


def test_a_lag_moves_the_target(allen, counted):
    options = {"bin": BIN, "minimum_rate": 0} | allen.options
    recording = Recording.from_nwb(allen.path, trials=options.pop("trials"))
    data = recording.pair("VISp", "VISl", lag=0.03, **options)
    np.testing.assert_array_equal(data.X, counted(allen.trains["VISp"], allen.onsets))
    np.testing.assert_array_equal(data.Y, counted(allen.trains["VISl"], allen.onsets + 0.03))


@pytest.mark.parametrize(
    "kind", ["external link", "soft link", "external storage", "virtual dataset"]
)
def test_numbers_from_other_files_are_refused(allen, tmp_path, put_outside, kind, files_opened):
    """As in results: no file but the one that was named is opened."""
    path, other = tmp_path / "sent.nwb", tmp_path / "secret.h5"
    path.write_bytes(allen.path.read_bytes())
    with h5py.File(other, "w") as file:
        file["Vx"] = np.ones((3, 2))
    with h5py.File(path, "a") as file:
        file["Vx"] = np.zeros((3, 2))
    put_outside(path, kind, other)
    with (
        files_opened() as opened,
        pytest.raises(DataError, match="must be held in the file itself"),
    ):
        Recording.from_nwb(path, trials="drifting_gratings")
    assert str(other) not in opened


def test_spikes_on_an_edge_belong_to_the_bin_that_begins_there():
    """Whatever division makes of them: 0.3 / 0.1 is less than 3."""
    from biorrr.sims.recordings.activity import SpikeTrains, bin_edges

    rng = np.random.default_rng(0)
    edges = bin_edges(rng.permutation(50) * 1.7 + 0.3, bins=11, width=0.1)
    times = np.concatenate(
        [edges.ravel(), np.nextafter(edges, -np.inf).ravel(), rng.uniform(-1, 90, 500)]
    )
    expected = [
        np.sum((times >= row[b]) & (times < row[b + 1])) for row in edges for b in range(11)
    ]
    (counts,) = SpikeTrains(lambda unit: times, units=1).columns([0], edges)
    np.testing.assert_array_equal(counts, expected)


WATCHED = """
import json, pathlib, sys
from biorrr.sims.recordings import nwb
from biorrr.sims.recordings.nwb import open_nwb
known, path = map(pathlib.Path, sys.argv[1:])
open_nwb(known).read_io.close()  # what is imported late is imported
nwb.check_hdf5(path)  # in a process of its own
nwb.check_hdf5 = lambda path: None
events = []
sys.addaudithook(lambda name, given: events.append((name, str(given[0]) if given else "")))
file = open_nwb(path)
names = [type(one).__name__ for one in file.objects.values()]
print(json.dumps([names, list(events)]))
"""
DANGEROUS = ("exec", "compile", "import", "socket.", "subprocess.", "os.", "pickle.", "urllib.")


def test_definitions_in_a_sent_file_run_nothing_and_open_nothing(allen, tmp_path):
    """Files hold the definitions of their types, from which pynwb makes classes."""
    path, outside = tmp_path / "sent.nwb", tmp_path / "outside.yaml"
    outside.write_text("groups: []")
    path.write_bytes(allen.path.read_bytes())
    version, code = "1.0.0", "__import__('os').system('touch /tmp/never')"
    sources = [{"namespace": "core"}, {"source": "types"}]
    namespace = {"name": "sent", "version": version, "doc": code, "schema": sources}
    field = {"name": "rate", "dtype": "float64", "doc": code, "required": False}
    made = {"neurodata_type_def": "Sent", "neurodata_type_inc": "LabMetaData", "doc": code}
    types = {"groups": [made | {"attributes": [field, field | {"name": "a b(c)"}]}]}
    with h5py.File(path, "a") as file:
        group = file.create_group(f"specifications/sent/{version}")
        group["namespace"], group["types"] = (
            json.dumps({"namespaces": [namespace]}),
            json.dumps(types),
        )
        sent = file["general"].create_group("sent")
        sent.attrs.update(neurodata_type="Sent", namespace="sent", object_id=str(uuid.uuid4()))
    names, events = _watched(allen.path, path)
    assert "Sent" in names
    assert events
    assert [one for one in events if one[0].startswith(DANGEROUS)] == []
    assert {opened for name, opened in events if name == "open"} <= {str(path)}
    sources[1] = {"source": str(outside)}
    with h5py.File(path, "a") as file:
        del file[f"specifications/sent/{version}/namespace"]
        file[f"specifications/sent/{version}/namespace"] = json.dumps({"namespaces": [namespace]})
    with pytest.raises(DataError, match="not a readable NWB file"):
        Recording.from_nwb(path)


def _watched(known, path):
    """Return the types of objects in an NWB file, and the audit events while it is read."""
    command = [sys.executable, "-W", "ignore", "-c", WATCHED, str(known), str(path)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
