"""Lesions in the middle of a run."""

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.models import (
    CutInstruction,
    Freeze,
    Pathway,
    Population,
    Rate,
    Rates,
    Silence,
    SwapData,
    Variable,
)

WEIGHTS = ("Vx", "Vy", "Q", "R")


@pytest.fixture(scope="module")
def run(data, make_circuit):
    """A short run with events, 150 samples in the order of the data."""
    X, Y = data[0][:150], data[1][:150]

    def run(events, engine="numpy", record=("n", "a"), **settings):
        circuit = make_circuit(engine, s=0.3, **settings)
        return circuit.run(
            X,
            Y,
            order="sequential",
            record=record,
            every=1,
            snapshots=40,
            events=events,
            progress=False,
        )

    return run


def test_events_that_change_nothing_leave_the_run_as_it_is(run, data):
    X, Y = data[0][:150], data[1][:150]
    cut, straight = run([SwapData(75, X=X, Y=Y)]), run([])
    assert cut.data["sample"].values.tolist() == list(range(150))
    for name in (*WEIGHTS, "seen", "n"):
        np.testing.assert_allclose(
            cut.data[name], straight.data[name], rtol=0, atol=1e-13, err_msg=name
        )


def test_silenced_interneurons_say_nothing(run):
    n = run([Silence(60, cells=(1,)), Silence(100)]).data["n"].values
    assert (n[:60] != 0).all()
    assert (n[60:, 1] == 0).all()
    assert (n[60:100, [0, 2]] != 0).all()
    assert (n[100:] == 0).all()


@pytest.mark.parametrize("weight", WEIGHTS)
def test_frozen_plasticity_stands_still_and_the_others_go_on(run, weight):
    data = run([Freeze(60, weight)]).data
    after = data.isel(snapshot=data["seen"].values >= 60)
    for name in WEIGHTS:
        moved = not np.array_equal(after[name][0], after[name][-1])
        assert moved == (name != weight)


def test_without_instruction_the_distal_dendrite_hears_nothing(run):
    a = run([CutInstruction(60)]).data["a"].values
    assert (a[:60] != 0).all()
    assert (a[60:] == 0).all()


@pytest.mark.slow
def test_swapped_data_are_learned_like_those_of_a_run_that_goes_on(data, run, make_circuit):
    X, Y = data[0][150:220], data[1][150:220] @ np.diag([1, -1, 1, -1])
    swapped = run([SwapData(100, X=X, Y=Y)])
    circuit = make_circuit("numpy", s=0.3)
    first = circuit.run(data[0][:100], data[1][:100], order="sequential", progress=False)
    later = circuit.run(X, Y, order=np.arange(100, 150) % len(X), start=first, progress=False)
    for name in WEIGHTS:
        np.testing.assert_allclose(
            getattr(swapped, name), getattr(later, name), rtol=0, atol=1e-12, err_msg=name
        )


def test_rows_of_the_data_are_those_that_were_presented(data, make_circuit):
    """Before the data are swapped for others of another length, and after."""
    X, Y = data[0][:30], data[1][:30]
    others = X[:7] + 100, Y[:7] + 100
    run = make_circuit("numpy", s=0.3).run(
        X,
        Y,
        epochs=2,
        record=("x",),
        every=1,
        progress=False,
        events=[SwapData(40, X=others[0], Y=others[1])],
        plastic=False,
    )
    rows = run.data["data_row"].values
    np.testing.assert_array_equal(run.data["x"].values[:40], X[rows[:40]])
    np.testing.assert_array_equal(run.data["x"].values[40:], others[0][rows[40:]])


@pytest.mark.parametrize(
    ("engine", "feedback"),
    [
        ("numpy", 0.0),
        ("cpp", 0.0),
        pytest.param("numpy", 0.5, marks=pytest.mark.slow),
        pytest.param("cpp", 0.5, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    ("population", "said", "heard"),
    [
        ("pyramidal", "z", "R"),
        ("sensory", "x", "Vx"),
        ("instructive", "y", "Vy"),
        ("vip", "v", "V"),
        ("interneurons", "n", "Q"),
    ],
)
def test_any_cells_can_fall_silent(population, said, heard, engine, feedback, data):
    """A silent cell says 0, in replay too, and what it teaches by itself stops."""
    X, Y = data[0][:60], data[1][:60]
    vip = Population(2, "vip", [Variable("v", "activity")])
    excite = Pathway(
        "excite",
        "pyramidal",
        "vip",
        drives="v",
        current="w * z_pre",
        weight="U",
        phase="recruitment",
    )
    relieve = Pathway(
        "relieve",
        "vip",
        "interneurons",
        drives="n",
        current="w * v_pre",
        weight="V",
        phase="interneuron",
        change="0.001 * v_pre * n_post",
        replay="0.001 * v_pre * n_post",
    )
    circuit = Microcircuit(
        2,
        ridge=0.1,
        replay=2,
        feedback=feedback,
        engine=engine,
        populations=[vip],
        pathways=[excite, relieve],
        rates=Rates(Rate(1e-4), Rate(1e-4), Rate(1e-4)),
    )
    run = circuit.run(
        X,
        Y,
        order="sequential",
        record=(said,),
        every=1,
        snapshots=range(60),
        progress=False,
        events=[Silence(30, cells=(1,), population=population)],
    )
    activity, weights = run.data[said].values, run.data[heard].values[30:]
    assert (activity[:30, 1] != 0).all()
    assert (activity[30:, 1] == 0).all()
    assert (activity[30:, 0] != 0).all()
    sources = weights if weights.shape[1] == activity.shape[1] else weights.transpose(0, 2, 1)
    if heard in ("Vx", "V"):  # whose rules have no decay
        assert not np.diff(sources[:, 1], axis=0).any()
    with pytest.raises(ValueError, match=r"Silence.population: must be cells of this circuit"):
        circuit.run(X, Y, events=[Silence(3, population="clock")])


def test_a_callback_ends_a_run_between_two_events(data, make_circuit):
    X, Y = data[0][:150], data[1][:150]
    done = make_circuit("numpy", s=0.3).run(
        X,
        Y,
        events=[Freeze(10, "Q"), Freeze(20, "R")],
        callback=lambda t, weights: t >= 10,
        progress=False,
    )
    assert done.data.attrs["ended"] == "stopped"
    assert 10 <= done.samples < 20


@pytest.mark.slow
def test_lesions_are_the_same_on_the_compiled_circuit(run):
    events = [Silence(40, cells=(0,)), Freeze(60, "Vy"), CutInstruction(100)]
    one, other = run(events), run(events, "cpp")
    for name in (*WEIGHTS, "n", "a"):
        np.testing.assert_allclose(
            one.data[name], other.data[name], rtol=0, atol=1e-12, err_msg=name
        )


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (
            Freeze(150, "Q"),
            r"events: must lie in \[0, 149\], the samples of this run \(got Freeze\(at=150",
        ),
        (
            Silence(3, cells=(7,)),
            r"Silence.cells: must lie in \[0, 2\], the cells of interneurons \(got \(7,\)\)",
        ),
        (
            SwapData(3, X=np.ones((5, 2)), Y=np.ones((5, 4))),
            "SwapData: must have as many features as the data before",
        ),
        ("silence", "events: must be Silence, Freeze, CutInstruction or SwapData .got 'silence'"),
    ],
)
def test_errors_say_what_to_do(run, event, text):
    with pytest.raises((TypeError, ValueError), match=text):
        run([event])
