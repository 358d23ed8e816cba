"""What a person in a notebook sees: tables, figures, errors."""

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.models import DalesLaw, Leaky, LoopDelay, Rate, Rates, Rectified

RATES = Rates(Rate(0.02, 500), Rate(0.01), Rate(0.02, 300))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 5))
    return X, X @ rng.standard_normal((5, 3)) / 3 + 0.1 * rng.standard_normal((300, 3))


@pytest.fixture(scope="module")
def run(data):
    X, Y = data
    circuit = Microcircuit(2, rates=RATES, ridge=0.1, replay=1, engine="numpy")
    record = ("z", "a", "inhibition", "plateau")
    return circuit.run(X + 4, Y, epochs=2, record=record, every=1, centre=True)


def test_a_circuit_is_a_table():
    circuit = Microcircuit(2, s=1, interneurons=3, ridge=(0.1, 0), rates=RATES)
    assert repr(circuit).splitlines() == [
        "Microcircuit",
        "  inputs        x, y",
        "  cells         2 pyramidal, 3 interneurons",
        "  regression    s = 1 (CCA)",
        "  ridge         0.1 on Cxx, by replay",
        f"  rates         {RATES!r}",
        "  departures    none",
        "  engine, seed  auto, 0",
    ]
    assert circuit._repr_html_().count("<tr>") == 7
    departing = repr(Microcircuit(2, departures=[LoopDelay(1), Rectified()]))
    assert "  departures    LoopDelay(samples=1, ticks=0); Rectified(" in departing
    assert (
        "DalesLaw(weights=(&#x27;Q&#x27;, "
        in Microcircuit(2, departures=[DalesLaw(("Q", "R"))])._repr_html_()
    )


def test_a_run_is_a_table(run):
    lines = repr(run).splitlines()
    assert lines[0] == "Run: 600 samples on numpy, done"
    assert lines[1].split("  ")[-1] == "5 sensory, 3 instructive"
    assert lines[-1].endswith(
        "z, a, inhibition, plateau, eta_x, eta_y, eta_q, eta_r, of 600 samples"
    )
    assert run._repr_html_().count("<tr>") == len(lines) - 1


def test_learning_is_drawn_on_data_as_the_run_saw_them(run, data):
    """The run centred its data itself: whoever draws hands over the same data."""
    from biorrr.analysis import objective

    X, Y = data
    curve = run.plot_learning(X + 4, Y).lines[0]
    expected = objective(run.Vx, X - X.mean(0), Y - Y.mean(0), ridge=0.1)
    assert curve.get_ydata()[-1] == pytest.approx(expected, rel=1e-12)


def test_plateaus_are_drawn_with_what_was_recorded(run, data):
    signals = [
        line
        for line in run.plot_plateau(shown=20)[1, 0].lines
        if line.get_drawstyle() == "steps-mid"
    ]
    assert len(signals) == 4
    plain = Microcircuit(1, engine="numpy").run(*data, record="plateau", order=np.arange(30))
    axes = plain.plot_plateau()
    assert axes.shape == (1, 1)
    (signal,) = (line for line in axes[0, 0].lines if line.get_drawstyle() == "steps-mid")
    recorded = plain.data["plateau"].values[:, 0]
    np.testing.assert_allclose(
        signal.get_ydata(), recorded / (2.1 * np.abs(recorded).max()), rtol=1e-12
    )


def test_by_default_what_a_figure_needs_is_recorded(data):
    run = Microcircuit(2, engine="numpy").run(
        *data, order=np.arange(2000) % len(data[0]), progress=False
    )
    axes = run.plot_plateau(*data)
    assert axes.shape == (2, 3)
    assert [line.get_drawstyle() for line in axes[0, 0].lines].count(
        "steps-mid"
    ) == 4 + 2  # and theory behind two
    samples = run.data["sample"].values
    assert samples[:50].tolist() == list(range(50))
    assert samples[-50:].tolist() == list(range(1950, 2000))
    np.testing.assert_array_equal(run.data["data_row"], samples % len(data[0]))


@pytest.mark.parametrize("neurons", [[3], [-1], []])
def test_neurons_that_are_not_there_cannot_be_drawn(run, neurons):
    with pytest.raises(ValueError, match=r"neurons: must lie in \[0, 1\] \(got"):
        run.plot_plateau(neurons=neurons)


def test_time_is_in_milliseconds_where_samples_are_held(data):
    held = Microcircuit(1, departures=(Leaky(),), engine="numpy").run(
        *data, order=np.arange(20), progress=False
    )
    panel = held.plot_plateau()[0, -1]
    assert panel.get_xlabel() == "time (ms)"
    trace = max((line.get_xdata() for line in panel.lines), key=len)
    assert trace[-1] == 8 * 200  # since the stretch began


def test_symmetry_is_drawn_with_its_prediction(run):
    measured, predicted = run.plot_symmetry()[0].lines
    np.testing.assert_allclose(measured.get_ydata(), predicted.get_ydata(), rtol=1e-9)


def test_what_was_not_recorded_cannot_be_drawn(data):
    run = Microcircuit(1, engine="numpy").run(*data, record=())
    with pytest.raises(
        ValueError,
        match=r"plateau: was not recorded in this run; run again with record=\('plateau'",
    ):
        run.plot_plateau()


def test_symmetry_is_drawn_without_prediction_where_rates_differ(data):
    unequal = Rates(0.01, 0.001, 0.002, 0.001)
    run = Microcircuit(1, rates=unequal, engine="numpy").run(*data)
    distance, strength = run.plot_symmetry(*data)
    (measured,) = distance.lines
    np.testing.assert_array_equal(measured.get_ydata(), run.r_minus_qt_relative)
    np.testing.assert_allclose(
        strength.lines[1].get_ydata(), np.square(run.data["Q"].values).sum(axis=(1, 2))
    )


@pytest.mark.slow
def test_a_notebook_shows_tables_and_every_figure(tmp_path):
    """In a real kernel, which sets up its figures when the first is drawn; nothing else stands
    between the cells.
    """
    nbclient = pytest.importorskip("nbclient", reason="needs the extra docs")
    pytest.importorskip("ipykernel", reason="needs the extra docs")
    from nbformat.v4 import new_code_cell, new_notebook

    begin = (
        "import numpy as np; from biorrr.circuit import Microcircuit; X ="
        " np.random.default_rng(0).normal(size=(40, 3))"
    )
    cells = [
        f"{begin}; circuit = Microcircuit(1, engine='numpy'); circuit",
        "run = circuit.run(X, X[:, :2], centre=True, every=1, progress=False); run",
        "run.plot_learning(X, X[:, :2]);",
        "run.plot_plateau();",
        "run.plot_symmetry();",
    ]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        [sorted(output.get("data", {"text": 0})) for output in cell.outputs]
        for cell in notebook.cells
    ]
    assert shown == [[["text/html", "text/plain"]]] * 2 + [[["image/png", "text/plain"]]] * 3


@pytest.mark.parametrize(
    ("ridge", "said"),
    [
        (0.0, "none"),
        ((0, 0.1), "0.1 on Cyy"),
        ((0.2, 0), "0.2 on Cxx, by replay"),
        (0.1, "0.1 on Cxx, by replay; 0.1 on Cyy"),
    ],
)
def test_only_the_ridge_on_x_is_made_by_replay(ridge, said):
    assert f"  ridge         {said}\n" in repr(Microcircuit(2, ridge=ridge))
