"""What a user can watch: any variable, weights, windows, snapshots, own monitors, two circuits in
one network.
"""

import dataclasses

import brian2
import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.circuit.simulation.saving import Saving, recording_of
from biorrr.models import Leaky

ENGINES = ["numpy", "cpp"]


@pytest.fixture(scope="module")
def few(data):
    return data[0][:60], data[1][:60]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("replay", [0, 2])
def test_weights_are_traced_after_the_plasticity_of_their_sample(engine, replay, few, make_circuit):
    settings = {"ridge": 0.1, "replay": replay} if replay else {}
    circuit = make_circuit(engine, s=0.3, **settings)
    chosen = {"Vx": [(3, 0), (5, 1)], "Q": [(1, 2)], "plateau": True, "z": [1]}
    run = circuit.run(
        *few, order="sequential", record=chosen, every=1, snapshots=range(61), progress=False
    )
    assert run.data["Vx_trace"].dims == ("sample", "Vx_trace_synapse")
    assert run.data["Vx_trace_source"].values.tolist() == [3, 5]
    assert run.data["Vx_trace_target"].values.tolist() == [0, 1]
    assert run.data["seen"].values.tolist() == list(range(61))
    if not replay:  # a snapshot is what a sample and the replay after it have left
        np.testing.assert_array_equal(run.data["Vx_trace"][:, 0], run.data["Vx"][1:, 3, 0])
        np.testing.assert_array_equal(run.data["Q_trace"][:, 0], run.data["Q"][1:, 1, 2])
    x, plateau = few[0][0], run.data["plateau"].values[0]
    change = circuit.rates.x(0) * x[5] * plateau[1]
    assert run.data["Vx_trace"].values[0, 1] == pytest.approx(
        circuit.regression.initial["Vx"][5, 1] + change, abs=1e-14
    )
    whole = circuit.run(*few, order="sequential", record=("Vx", "z"), every=1, progress=False)
    assert whole.data["Vx_trace"].dims == ("sample", "input", "pyramidal")
    np.testing.assert_array_equal(
        whole.data["Vx_trace"].values[:, 3, 0], run.data["Vx_trace"].values[:, 0]
    )
    np.testing.assert_array_equal(whole.data["z"].values[:, [1]], run.data["z"].values)


def test_a_held_weight_is_traced_once_per_sample(few):
    circuit = Microcircuit(2, departures=(Leaky(hold=8, dt=2),), engine="numpy")
    run = circuit.run(
        few[0][:10],
        few[1][:10],
        record={"R": True, "calcium": [0]},
        every=1,
        centre=True,
        progress=False,
    )
    assert run.data["R_trace"].dims == ("sample", "interneuron", "pyramidal")
    assert run.data["calcium"].dims == ("sample", "time", "calcium_cell")
    np.testing.assert_array_equal(run.data["R_trace"].values[-1], run.R)


@pytest.mark.parametrize("engine", ENGINES)
def test_windows_are_stretches_of_consecutive_samples(engine, few, make_circuit):
    circuit = make_circuit(engine, s=0.3)
    every = circuit.run(*few, order="sequential", record="plateau", every=1, progress=False)
    run = circuit.run(
        *few, order="sequential", record="plateau", every=[(50, 60), (3, 7)], progress=False
    )
    assert run.data["sample"].values.tolist() == [3, 4, 5, 6, *range(50, 60)]
    np.testing.assert_array_equal(
        run.data["plateau"], every.data["plateau"].sel(sample=run.data["sample"])
    )


def test_windows_reach_over_segments(few, make_circuit, monkeypatch):
    circuit = make_circuit("cpp", s=0.3)
    options = {
        "order": "sequential",
        "record": "plateau",
        "every": [(3, 20), (31, 60)],
        "progress": False,
    }
    straight = circuit.run(*few, **options)
    monkeypatch.setattr("biorrr.circuit.simulation.simulate._FIRST_SEGMENT", 7)
    monkeypatch.setattr("biorrr.circuit.simulation.simulate._SEGMENT_SECONDS", 0.0)
    np.testing.assert_array_equal(
        circuit.run(*few, **options).data["plateau"], straight.data["plateau"]
    )


def test_snapshots_in_log_time_linear_or_as_asked(few, make_circuit):
    circuit = make_circuit("numpy", s=0.3)

    def seen(snapshots):
        return (
            circuit.run(*few, record=(), snapshots=snapshots, progress=False)
            .data["seen"]
            .values.tolist()
        )

    assert seen(("linear", 6)) == [0, 10, 20, 30, 40, 50, 60]
    assert seen([5, 50]) == [0, 5, 50, 60]
    assert seen(4) == [0, 1, 4, 15, 60]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"record": {"Vx": [(6, 0)]}},
            r"Vx must be True or a list of \(row, column\) pairs within its shape \(6, 2\)",
        ),
        (
            {"record": {"Vx": 3}},
            r"record: Vx must be True or a list of \(row, column\) pairs within .*\(got 3\)",
        ),
        (
            {"record": {"z": [0, 2]}},
            r"record: z must be True or a list of cells in \[0, 1\] \(got \[0, 2\]\)",
        ),
        (
            {"record": 3},
            (
                r"record: must be names of variables, or a dict of them \(got 3\); \(\) records"
                r" nothing"
            ),
        ),
        ({"every": [(5, 3)]}, "every: windows must not be empty and must not overlap"),
        ({"every": [(0, 10), (5, 20)]}, "every: windows must not be empty and must not overlap"),
        ({"every": [(50, 70)]}, r"every: windows must lie in \[0, 60\], the samples of this run"),
        ({"every": [3, 5]}, r"every: must be a whole number or a list of windows"),
        ({"snapshots": [70]}, r"snapshots: sample counts must be whole numbers in \[0, 60\]"),
        (
            {"weights": {"W": np.ones((2, 2))}},
            "weights: there is no matrix called 'W'; there are Vx, Vy, Q, R",
        ),
    ],
)
def test_errors_say_what_to_do(options, text, few, make_circuit):
    with pytest.raises((TypeError, ValueError), match=text):
        make_circuit("numpy", s=0.3).run(*few, progress=False, **options)


def test_a_name_that_two_parts_have_must_be_qualified(few):
    from biorrr.models import Spiking

    circuit = Microcircuit(2, departures=[Spiking()], engine="numpy")
    with pytest.raises(
        ValueError,
        match=r"record: 'filtered' exists in several parts; write 'pyramidal.filtered' or",
    ):
        circuit.run(*few, record="filtered", progress=False)
    run = circuit.run(*few, record="interneurons.filtered", progress=False)
    assert run.data["interneurons_filtered"].dims == ("sample", "interneuron")


def test_what_does_not_fit_memory_is_refused_with_its_size(make_circuit):
    blueprint = make_circuit("numpy", s=0.3).blueprint(6, 4)
    with pytest.raises(
        ValueError, match=r"record: would take 112.0 GB of memory, and .* GB are free; record fewer"
    ):
        recording_of(Saving("Vx", 1), blueprint, 0, 10**9 - 125_000_000)


def test_a_run_may_override_seed_and_weights(few, make_circuit):
    circuit = make_circuit("numpy", s=0.3)
    other = make_circuit("numpy", s=0.3, seed=9)
    np.testing.assert_array_equal(
        circuit.run(*few, seed=9, progress=False).Vx, other.run(*few, progress=False).Vx
    )
    assert circuit.seed == 0
    Vx0 = np.full((6, 2), 0.1)
    np.testing.assert_array_equal(
        circuit.run(*few, weights={"Vx": Vx0}, progress=False).data["Vx"][0], Vx0
    )
    rates = circuit.rates.times(0.5)
    run = dataclasses.replace(circuit, rates=rates).run(*few, record="z", progress=False)
    assert run.data["eta_x"].values[0] == pytest.approx(rates.x(0))


def test_own_monitors_see_the_tick_they_are_in(few):
    """As `circuit.network` says: looking at the end of a tick."""
    X, Y = few
    circuit = Microcircuit(2, engine="numpy", name="one").build(6, 4)
    monitor = brian2.StateMonitor(
        circuit.network["one_pyramidal"], "plateau", record=True, when="end", order=1
    )
    circuit.network.add(monitor)
    run = circuit.run(X, Y, order="sequential", record="plateau", every=1, progress=False)
    np.testing.assert_allclose(monitor.plateau.T, run.data["plateau"], rtol=1e-12)


@pytest.mark.slow
def test_two_circuits_fit_into_one_network():
    one, two = (Microcircuit(2, engine="numpy", name=name).build(4, 3) for name in ("one", "two"))
    network = brian2.Network(one.network.objects, two.network.objects)
    for name, x in (("one", 1.0), ("two", 2.0)):  # whoever runs it sets the inputs
        network[f"{name}_sensory"].x = x
    weights = np.array(network["one_proximal"].w).reshape(4, 2)
    network.run(1 * brian2.second, namespace={})
    np.testing.assert_allclose(network["one_pyramidal"].z, weights.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(network["two_pyramidal"].z, 2 * weights.sum(axis=0), rtol=1e-14)


def test_inputs_with_a_physical_unit_are_refused(few):
    X, Y = few
    with pytest.raises(
        TypeError, match=r"X: carries a physical unit \(.*\), and a circuit learns .* X / mV"
    ):
        Microcircuit(2).run(X * brian2.mV, Y)
    Microcircuit(2, engine="numpy").run(brian2.Quantity(X), Y, progress=False)


def test_masked_values_are_refused(few):
    X, Y = few
    with pytest.raises(
        ValueError, match="X: has masked values, which would be learned as if they were data"
    ):
        Microcircuit(2).run(np.ma.masked_greater(X, 2), Y)


def test_data_frames_keep_the_names_of_their_columns(few):
    pandas = pytest.importorskip("pandas")
    X, Y = few
    names = [f"neuron {i}" for i in range(6)]
    run = Microcircuit(2, engine="numpy").run(pandas.DataFrame(X, columns=names), Y, progress=False)
    assert run.data["input"].values.tolist() == names
    assert "instruction" not in run.data.coords


def test_nwb_holds_parts_of_one_s_own(few, tmp_path):
    pynwb = pytest.importorskip("pynwb")
    circuit = Microcircuit(2, departures=(Leaky(hold=8, dt=2),), engine="numpy")
    run = circuit.run(
        few[0][:10], few[1][:10], record=("calcium", "z"), every=1, centre=True, progress=False
    )
    run.to_nwb(tmp_path / "run.nwb")
    with pynwb.NWBHDF5IO(tmp_path / "run.nwb", "r") as io:
        series = io.read().processing["simulation"]["calcium"]
        np.testing.assert_array_equal(series.data[:], run.data["calcium"].values.reshape(-1, 2))
        assert series.description == "the plateau as it rises and decays"
