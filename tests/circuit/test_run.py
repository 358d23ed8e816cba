"""What a run hands back, and how one run takes up another."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
import xarray as xr

from biorrr.circuit import Microcircuit, Run, Saving
from biorrr.circuit.results.results import results
from biorrr.circuit.simulation.prepare import prepare
from biorrr.circuit.simulation.simulate import simulate
from biorrr.models import Departure, Leaky, Step

WEIGHTS = ("Vx", "Vy", "Q", "R")
SETTINGS = {"s": 0.3, "ridge": 0.1, "replay": 2}


@pytest.fixture(scope="module")
def run(data, make_circuit):
    return make_circuit("cpp", **SETTINGS).run(*data, record=("z", "plateau"))


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
@pytest.mark.parametrize("order", ["shuffle", "sequential"])
def test_two_runs_are_one_run(engine, order, data, make_circuit):
    X, Y = data[0][:90], data[1][:90]
    circuit = make_circuit(engine, **SETTINGS)
    whole = circuit.run(X, Y, epochs=3, order=order, every=10)
    first = circuit.run(X, Y, epochs=1, order=order, every=10)
    rest = circuit.run(X, Y, epochs=2, order=order, every=10, start=first)
    for name in WEIGHTS:
        np.testing.assert_array_equal(getattr(rest, name), getattr(whole, name))
    assert rest.samples == whole.samples == 270
    assert rest.data["sample"].values.tolist() == list(range(90, 270, 10))
    np.testing.assert_array_equal(
        np.concatenate([first.data["plateau"], rest.data["plateau"]]), whole.data["plateau"].values
    )


def test_fitted_rates_go_on_where_they_were(data, make_circuit):
    """Bit for bit: what the engine held goes on, not what was brought to the data's units and
    back."""
    X, Y = data
    circuit = make_circuit("cpp", l=2, s=0.3, rates="auto")
    whole = circuit.run(X, Y, epochs=2, final=False)
    rest = circuit.run(X, Y, start=circuit.run(X, Y, final=False), final=False)
    for name in WEIGHTS:
        np.testing.assert_array_equal(getattr(rest, name), getattr(whole, name))


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
@pytest.mark.parametrize("rates", ["timetable", "auto"])
def test_without_plasticity_nothing_changes(engine, rates, data, make_circuit):
    X, Y = data[0][:100], data[1][:100]
    circuit = make_circuit(
        engine, **(SETTINGS if rates == "timetable" else {"l": 2, "s": 0.3, "rates": "auto"})
    )
    learned = circuit.run(X, Y)
    run = circuit.run(X, Y, order="sequential", plastic=False, start=learned, record="z", every=1)
    for name in WEIGHTS:
        np.testing.assert_allclose(
            run.data[name].values,
            np.broadcast_to(getattr(learned, name), run.data[name].shape),
            rtol=1e-15,
        )
    np.testing.assert_allclose(run.data["z"].values, run.transform(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_callback_ends_the_run_at_its_snapshot(engine, data, make_circuit):
    heard = []

    def enough(t, weights):
        heard.append(t)
        return weights["Vx"].shape == (6, 2) and t >= 40

    run = make_circuit(engine, **SETTINGS).run(*data, callback=enough)
    assert run.ended == "stopped"
    assert run.samples == heard[-1]
    assert 40 <= run.samples < 60
    assert run.data["seen"].values.tolist() == [0, *heard]


def test_a_run_is_prepared_simulated_and_collected(data):
    """Three functions of a frozen circuit; nothing of a run is kept on it."""
    circuit, (X, Y) = Microcircuit(2, s=0.3, ridge=0.1, engine="numpy"), data
    before = {field.name: getattr(circuit, field.name) for field in fields(circuit)}
    job = prepare(circuit, X[:50], Y[:50], epochs=2, saving=Saving(("z",), every=5, snapshots=7))
    run = results(job, simulate(job))
    again = circuit.run(
        X[:50], Y[:50], epochs=2, record=("z",), every=5, snapshots=7, progress=False
    )
    for name in (*WEIGHTS, "z"):
        np.testing.assert_array_equal(run.data[name], again.data[name])
    assert {field.name: getattr(circuit, field.name) for field in fields(circuit)} == before


def test_what_is_saved_is_one_value(data):
    circuit, (X, Y) = Microcircuit(2, engine="numpy"), data
    saving = Saving({"z": [1]}, every=10, snapshots=("linear", 4))
    one = circuit.run(X[:60], Y[:60], record=saving, progress=False)
    short = {"record": {"z": [1]}, "every": 10, "snapshots": ("linear", 4)}
    other = circuit.run(X[:60], Y[:60], progress=False, **short)
    assert one.data.drop_attrs().identical(other.data.drop_attrs())
    with pytest.raises(TypeError, match="record: a Saving says what every and snapshots are too"):
        circuit.run(X[:60], Y[:60], record=saving, every=3, progress=False)


@dataclass(frozen=True)
class Receptors(Departure):
    """Fibres that cannot fire less than at rest."""

    alters = ("sensory",)

    def alter_part(self, cells):
        return cells.adding(Step("input", "x = clip(x, 0, inf)"))


@dataclass(frozen=True)
class Forgetting(Departure):
    """Synapses that transmit a part of their weight."""

    alters = ("proximal",)

    def alter_part(self, pathway):
        return replace(pathway, current=f"0.5 * ({pathway.current})")


@pytest.mark.filterwarnings("ignore:.*mean is large")
@pytest.mark.parametrize(
    ("departure", "shape", "feedback"),
    [
        (Receptors(), lambda X: np.maximum(X, 0), 0.0),
        (Receptors(), lambda X: np.maximum(X, 0), 0.5),
        (Forgetting(), lambda X: 0.5 * X, 0.0),
        pytest.param(Forgetting(), lambda X: 0.5 * X, 0.5, marks=pytest.mark.slow),
    ],
)
def test_transform_knows_what_alters_the_input(departure, shape, feedback, data):
    """Outputs are those of the circuit, whose inputs are changed on their way."""
    X, Y = data[0][:40], data[1][:40]
    plain = Microcircuit(2, feedback=feedback, engine="numpy")
    run = replace(plain, departures=[departure]).run(X, Y, progress=False)
    # The same weights in a circuit to which the changed input is shown.
    other = plain.run(shape(X), Y, weights=run.weights, plastic=False, record=(), progress=False)
    np.testing.assert_allclose(run.transform(X), other.transform(shape(X)), rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        run.predict(X), other.transform(shape(X)) @ run.data["readout"].values.T, atol=1e-7
    )
    assert np.abs(run.transform(X) - other.transform(X)).max() > 0.01


def test_transform_and_predict(run, data):
    X, Y = data
    np.testing.assert_allclose(run.transform(X), X @ run.Vx, rtol=1e-12)
    Sigma_inverse = 0.3 * (Y.T @ Y / len(Y) + 0.1 * np.eye(4)) + 0.7 * np.eye(4)
    np.testing.assert_allclose(
        run.predict(X), X @ run.Vx @ (Sigma_inverse @ run.Vy).T, rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("shape", [(7,), (4, 3)])
def test_data_of_another_width_are_refused(shape, run):
    with pytest.raises(
        ValueError,
        match=rf"X: must have shape \(n_samples, {len(run.Vx)}\), the inputs of this run",
    ):
        run.predict(np.zeros(shape))


def test_means_come_back_in_predictions(data, make_circuit):
    """Centred by the run: the means leave on the way in and return on the way out."""
    X, Y = data
    circuit = make_circuit("cpp", **SETTINGS)
    plain, moved = circuit.run(X, Y), circuit.run(X + 5, Y - 3, centre=True)
    np.testing.assert_allclose(moved.Vx, plain.Vx, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(moved.predict(X + 5), plain.predict(X) - 3, rtol=1e-9, atol=1e-9)


def test_dataset_names_its_dimensions(run):
    assert run.data["Vx"].dims == ("snapshot", "input", "pyramidal")
    assert run.data["Vy"].dims == ("snapshot", "instruction", "pyramidal")
    assert run.data["Q"].dims == ("snapshot", "pyramidal", "interneuron")
    assert run.data["R"].dims == ("snapshot", "interneuron", "pyramidal")
    assert run.data["plateau"].dims == ("sample", "pyramidal")
    assert run.data["plateau"].attrs["long_name"] == "calcium plateau potential"
    assert "n" not in run.data


def test_nothing_recorded(data, make_circuit):
    run = make_circuit("cpp", **SETTINGS).run(*data, record=())
    assert "sample" not in run.data.dims


def test_save_and_load(run, data, tmp_path):
    run.save(tmp_path / "run.nc")
    loaded = Run.load(tmp_path / "run.nc")
    xr.testing.assert_identical(loaded.data, run.data)
    np.testing.assert_array_equal(loaded.predict(data[0]), run.predict(data[0]))
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


def test_a_loaded_run_can_be_continued(run, data, make_circuit, tmp_path):
    run.save(tmp_path / "run.nc")
    circuit = make_circuit("cpp", **SETTINGS)
    rest = circuit.run(*data, start=Run.load(tmp_path / "run.nc"))
    np.testing.assert_array_equal(rest.Vx, circuit.run(*data, start=run).Vx)


def test_loading_what_is_not_a_run(tmp_path):
    (tmp_path / "cut.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(20))
    with pytest.raises(ValueError, match=r"cut\.nc: not a saved run, or damaged"):
        Run.load(tmp_path / "cut.nc")
    xr.Dataset({"Vx": ("a", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(
        ValueError,
        match=r"other\.nc: not a saved run: no circuit, traces, state_layout, ended in it",
    ):
        Run.load(tmp_path / "other.nc")
    with pytest.raises(FileNotFoundError, match=r"no such file: '.*none.nc'$"):
        Run.load(tmp_path / "none.nc")


@pytest.mark.parametrize("rows", [slice(0, 7), slice(3, 40)])
def test_outputs_of_held_samples_stand_in_the_order_of_the_rows(rows):
    """However many samples the circuit had seen: the pass with learning off begins at the first
    row.
    """
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 5)), rng.standard_normal((40, 3))
    run = Microcircuit(k=2, departures=[Leaky(hold=200, dt=5)], engine="numpy").run(
        X, Y, epochs=2, centre=True, progress=False
    )
    settled = (X[rows] - X.mean(axis=0)) @ run.Vx
    for learned, output in zip(settled.T, run.transform(X[rows]).T, strict=True):
        assert np.corrcoef(learned, output)[0, 1] > 0.95
