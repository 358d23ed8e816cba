"""Figures draw the numbers they are given, into the axes they are given, and show nothing."""

import matplotlib
import numpy as np
import pytest
import xarray as xr

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from biorrr.analysis import (
    ExactSolution,
    audit_plateau,
    plot_eigenvalues,
    plot_filters,
    plot_learning,
    plot_plateau,
    plot_symmetry,
    plot_weights,
    stages_of_learning,
)
from biorrr.analysis.figures.agreement import plot_agreement, plot_family
from biorrr.analysis.figures.inhibition import plot_meeting
from biorrr.analysis.figures.plateaus import plot_raster
from biorrr.analysis.figures.races import plot_pictures_race, plot_sensitivity
from biorrr.analysis.figures.style import colour, styled
from biorrr.analysis.traces import halfway

SAMPLES = np.array([0, 10, 100, 1000])


@pytest.fixture(autouse=True)
def close_figures(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *_: pytest.fail("a plot must not call show"))
    yield
    plt.close("all")


def test_learning_draws_mean_and_spread_over_seeds_and_the_optimum(rng):
    objective = -1 + np.array([0.9, 0.5, 0.2, 0.1]) + 0.01 * rng.standard_normal((5, 4))
    ax = plot_learning(SAMPLES, objective, optimum=-1.0, label="circuit")
    curve, optimum = ax.lines
    np.testing.assert_allclose(curve.get_ydata(), objective.mean(axis=0))
    np.testing.assert_array_equal(curve.get_xdata(), SAMPLES)
    assert ax.get_xscale() == "symlog"  # logarithmic, with a place for 0
    assert optimum.get_ydata() == [-1, -1]
    assert ax.get_xticks()[0] == 0
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx((objective.mean(axis=0) + objective.std(axis=0)).max())
    plot_learning(SAMPLES, objective[0], optimum=-1.0, label="another", ax=ax)
    (legend,) = ax.figure.legends  # one for both
    assert [text.get_text() for text in legend.get_texts()] == [
        f"circuit: {100 * (objective[:, -1].mean() + 1):.0f} % above the optimum in the end",
        "standard deviation over 5 seeds",
        "optimum",
        f"another: {100 * (objective[0, -1] + 1):.0f} % above the optimum in the end",
    ]


def test_learning_without_an_optimum_is_excess_on_a_logarithmic_axis():
    excess = np.array([[1.0, 0.1, 0.01, 0.001], [3.0, 0.3, 0.03, 0.0001]])
    ax = plot_learning(SAMPLES, excess)
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "excess over the optimum"
    assert ax.yaxis.get_major_formatter()(0.012, 0) == "1.2 %"
    assert ax.collections[0].get_paths()[0].vertices[:, 1].min() > 0
    words = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert words[0] == "circuit: 0.055 % above the optimum in the end"


def test_pictures_race_has_a_panel_for_each_data_set(rng):
    excess = 0.1 + rng.random((2, 2, 3, 4))
    results = xr.Dataset(
        {
            "excess": (("data", "learner", "seed", "snapshot"), excess),
            "t": (("data", "learner", "snapshot"), np.broadcast_to(SAMPLES, (2, 2, 4))),
        },
        {"data": ["mnist", "cifar10"], "learner": ["circuit", "ANN"]},
    )
    mnist, cifar = plot_pictures_race(results).axes
    circuit, ann = mnist.lines[:2]
    assert [circuit.get_label(), ann.get_label()] == ["circuit", "ANN"]
    np.testing.assert_allclose(
        circuit.get_ydata(), excess[0, 0].mean(axis=0)[1:]
    )  # t = 0 has no place
    assert ann.get_color() == cifar.lines[1].get_color() != circuit.get_color()
    assert ann.get_marker() != circuit.get_marker()
    assert mnist.get_yscale() == "log"


def test_meeting_of_runs_that_end_at_different_samples():
    seen = np.array([[0.0, 10, 100, np.nan], [0, 10, np.nan, np.nan]])
    ratio = np.array([[1.0, 0.5, 0.1, np.nan], [1, 0.7, np.nan, np.nan]])
    course = ("eigenvalues", "eta", "start", "snapshot")
    drawn = {"seen": seen, "ratio": ratio, "inhibition": 2 * ratio, "excess": 0.3 * ratio}
    results = xr.Dataset(
        {name: (course, [[values], [values]]) for name, values in drawn.items()},
        {"eigenvalues": ["positive", "negative"], "eta": [0.1]},
    )
    meeting, inhibition, excess = plot_meeting(results, 2e-7)
    np.testing.assert_array_equal(meeting.lines[1].get_ydata(), ratio[1])
    np.testing.assert_array_equal(meeting.lines[1].get_xdata(), 0.1 * seen[1])
    theory = meeting.lines[4]
    assert theory.get_label() == "theory"
    np.testing.assert_allclose(theory.get_ydata(), 0.9 ** (theory.get_xdata() / 0.1))
    np.testing.assert_array_equal(inhibition.lines[0].get_ydata(), 2 * ratio[0])
    np.testing.assert_array_equal(excess.lines[2].get_ydata(), 0.3 * ratio[0])
    assert [line.get_linestyle() for line in excess.lines] == ["-", "-", ":", ":"]


def signals_of(panel):
    return [line for line in panel.lines if line.get_drawstyle() == "steps-mid"]


def test_plateau_has_a_row_for_each_neuron_and_a_column_for_each_stage(rng):
    traces = dict(
        zip(("plateau", "a", "inhibition", "z"), rng.standard_normal((4, 50, 3)), strict=True)
    )
    stages = {"start": traces, "end": {name: 2 * trace for name, trace in traces.items()}}
    axes = plot_plateau(stages, at={"start": np.arange(50), "end": np.arange(1500, 1550)})
    assert axes.shape == (3, 2)
    start, end = axes[1]
    assert [panel.get_title(loc="left") for panel in axes[0]] == ["start", "end"]
    np.testing.assert_array_equal(signals_of(end)[0].get_xdata(), np.arange(1500, 1550))
    expected = styled(colour)
    assert [line.get_color() for line in signals_of(start)] == [
        expected(quantity) for quantity in ("plateau", "distal", "Q", "proximal")
    ]
    # Signals of the distal dendrite keep their proportions, and stages share their scales.
    first, last = (
        [line.get_ydata() + level for level, line in enumerate(signals_of(panel))]
        for panel in (start, end)
    )
    np.testing.assert_allclose(first[0] * traces["a"][:, 1], first[1] * traces["plateau"][:, 1])
    np.testing.assert_allclose(last, 2 * np.array(first), atol=1e-12)


def test_a_transient_does_not_flatten_the_end_and_is_marked_where_it_is_cut(rng):
    usual = rng.choice([-1.0, 1.0], size=(50, 1))
    axes = plot_plateau({"start": {"plateau": 100 * usual}, "end": {"plateau": usual}})
    heights = signals_of(axes[0, 1])[0].get_ydata()
    np.testing.assert_allclose(
        heights, usual[:, 0] / 6.3
    )  # three times as large would fill the lane
    up, down = (
        [line for line in axes[0, 0].lines if line.get_marker() == marker] for marker in "^v"
    )
    assert len(up[0].get_xdata()) == (usual > 0).sum()
    assert len(down[0].get_xdata()) == (usual < 0).sum()
    assert "cut off" in [text.get_text() for text in up[0].figure.legends[0].get_texts()]


def test_samples_that_do_not_follow_one_another_are_not_joined(rng):
    (panel,) = plot_plateau(
        {"end": {"plateau": rng.standard_normal((20, 1))}}, at={"end": np.arange(0, 2000, 100)}
    )[0]
    assert not signals_of(panel)
    assert panel.get_xlabel() == "sample\n(one in 100)"


def test_stages_lie_at_the_start_halfway_and_at_the_end():
    samples = np.r_[0:50, 100:101, 200:250, 1000:1050, 4000:4001, 5000:5050]
    plateau = samples[:, None].astype(float)
    seen, course = np.array([0, 220, 990, 5050]), np.array([0.0, 0.2, 0.6, 1.0])
    V = course[:, None, None] ** 0.5 * np.ones((1, 1, 1))
    stages = stages_of_learning(samples, {"plateau": plateau}, seen, V, V)
    assert [(title, *stage.samples[[0, -1]]) for title, stage in stages.items()] == [
        ("start", 0, 49),
        ("halfway", 1000, 1049),
        ("end", 5000, 5049),
    ]
    assert all((np.diff(stage.samples) == 1).all() for stage in stages.values())
    sparse = stages_of_learning(samples[::60], {"plateau": plateau[::60]}, seen, V, V)
    assert not any((np.diff(stage.samples) == 1).any() for stage in sparse.values())


@pytest.mark.parametrize(
    ("before", "after"), [(0.49, 0.51), (0.4, 0.6), (0.1, 0.9)], ids=lambda share: f"{share:g}"
)
def test_halfway_is_half_of_the_distance_of_the_prediction(before, after, rng):
    """The prediction travels along a line, past its half and back before it stays there."""
    travelled = np.array([0, before, 0.9, before, after, 1])
    Vx, Vy = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    course = np.repeat(Vx[None], 6, axis=0), travelled[:, None, None] * Vy
    assert halfway(*course) == 4
    assert halfway(course[0][:1], course[1][:1]) is None
    assert halfway(course[0], np.full_like(course[1], np.inf)) is None


def test_no_stage_is_called_halfway_that_was_recorded_elsewhere():
    """The README's windows: learning is halfway at 18,628, but only its beginning and its end were
    recorded.
    """
    samples = np.r_[500:601, 107_000:107_100]
    seen, course = np.array([0, 18_000, 18_628, 107_820]), np.array([0.0, 0.45, 0.55, 1.0])
    V = course[:, None, None] ** 0.5 * np.ones((1, 1, 1))
    traces = {"plateau": samples[:, None].astype(float)}
    stages = stages_of_learning(samples, traces, seen, V, V)
    assert {title: stage.samples[0] for title, stage in stages.items()} == {
        "start": 500,
        "end": 107_050,
    }
    near = np.r_[500:601, 18_600:18_700, 107_000:107_100]
    traces = {"plateau": near[:, None].astype(float)}
    assert stages_of_learning(near, traces, seen, V, V)["halfway"].samples[0] == 18_650


def test_a_run_that_does_not_move_is_nowhere_halfway():
    samples, V = np.arange(1000), np.ones((3, 2, 1))
    stages = stages_of_learning(samples, {"plateau": samples[:, None]}, [0, 500, 1000], V, V)
    assert [*stages] == ["start", "end"]


def test_theory_of_a_stage_is_the_error_carried_back_by_its_own_distal_weights(rng):
    X, Y = rng.standard_normal((80, 4)), rng.standard_normal((80, 3))
    exact = ExactSolution(X, Y, ridge=0.1)
    samples, V = np.arange(60), np.ones((2, Y.shape[1], 1))
    start, end = stages_of_learning(
        samples,
        {"plateau": samples[:, None]},
        [0, 30],
        np.ones((2, X.shape[1], 1)),
        V * [[[1.0]], [[2.0]]],
        shown=30,
        data=(X[:60], Y[:60]),
        exact=exact,
    ).values()
    audit = audit_plateau(X, Y, np.ones((X.shape[1], 1)), V[0], np.ones((1, 1)), ridge=0.1)
    np.testing.assert_allclose(start.theory["plateau"], audit.error[:30], atol=1e-12)
    np.testing.assert_allclose(end.theory["inhibition"], 2 * audit.prediction[30:60], atol=1e-12)


def test_deviation_of_each_plateau_from_theory_stands_above_it(rng):
    plateau = rng.standard_normal((50, 2))
    stages = {"start": {"plateau": plateau}, "end": {"plateau": plateau}}
    theory = {"start": {"plateau": 2 * plateau}, "end": {"plateau": plateau / 1.03}}
    axes = plot_plateau(stages, theory)
    titles = [[panel.get_title(loc="left") for panel in row] for row in axes]
    assert titles == [
        ["start\ndeviation 50 %", "end\ndeviation 3.0 %"],
        ["deviation 50 %", "deviation 3.0 %"],
    ]
    assert "Deviation: r.m.s." in axes[0, 0].figure.legends[0].get_title().get_text()
    assert [row[0].get_ylabel() for row in axes] == ["neuron 0", "neuron 1"]
    given = plot_plateau(stages, theory, deviations={"end": [0.01, 0.2]})
    assert given[1, 1].get_title(loc="left") == "deviation 20 %"


def test_exponential_meeting_is_a_straight_line_beside_inhibition_and_its_optimum():
    measured, predicted = np.exp(-SAMPLES / 100), np.exp(-SAMPLES / 101)
    inhibition = np.outer(1 - measured, [0.4, 0.3])
    distance, strength = plot_symmetry(SAMPLES, measured, inhibition, predicted, [0.41, 0.3])
    assert (distance.get_xscale(), distance.get_yscale()) == ("linear", "log")
    dots, line = distance.lines
    np.testing.assert_array_equal(dots.get_xydata(), np.transpose([SAMPLES, measured]))
    np.testing.assert_array_equal(line.get_ydata(), predicted)
    assert (
        distance.get_title(loc="left") == "in the end R equals $Q'$ to 4.5e-05 of $\\Vert Q \\Vert$"
    )
    first, second, norm, *exact = strength.lines
    np.testing.assert_array_equal(np.transpose([first.get_ydata(), second.get_ydata()]), inhibition)
    np.testing.assert_allclose(norm.get_ydata(), 0.5 * (1 - measured))
    assert [one.get_ydata()[0] for one in exact] == [0.41, 0.3, pytest.approx(np.hypot(0.41, 0.3))]
    assert strength.get_title(loc="left").endswith("= 0.5, exact 0.508")


def test_symmetry_without_prediction_and_with_rounding_error():
    distance, strength = plot_symmetry(
        SAMPLES, [1.0, 1e-3, 1e-13, 0.0], np.ones((4, 1)), rounding=4 * [1e-12]
    )
    labels = distance.get_legend_handles_labels()[1]
    assert labels == ["measured", "rounding error may show"]
    assert distance.get_ylim()[0] < 1e-13
    assert strength.get_title(loc="left").endswith("= 1")
    met, _ = plot_symmetry(SAMPLES, np.zeros(4), np.ones((4, 1)))
    assert met.get_title(loc="left") == "R is $Q'$ from the start, and stays it"


def test_filters_as_pictures_and_as_curves(rng):
    learned, exact = rng.standard_normal((2, 12, 3))
    pictures = plot_filters(learned, exact, (3, 4))
    assert pictures.shape == (2, 3)
    np.testing.assert_array_equal(pictures[1, 2].images[0].get_array(), exact[:, 2].reshape(3, 4))
    for panel in pictures[:, 0]:  # learned and exact can be compared: they share a scale
        low, high = panel.images[0].get_clim()
        assert -low == high == max(np.abs(learned[:, 0]).max(), np.abs(exact[:, 0]).max())
    assert len(pictures[0, 0].figure.axes) == 6 + 3  # a colour bar for each filter
    curves = plot_filters(learned, exact)
    assert curves.shape == (1, 3)
    np.testing.assert_array_equal(curves[0, 1].lines[0].get_ydata(), learned[:, 1])
    colour = (
        plot_filters(rng.standard_normal((12, 1)), pixels=(3, 2, 2))[0, 0].images[0].get_array()
    )
    assert colour.shape == (2, 2, 3)
    assert colour.min() >= 0
    assert colour.max() <= 1


def test_eigenvalues_side_by_side():
    ax = plot_eigenvalues([0.5, 0.3, 0.1], [0.49, 0.31])
    assert [bar.get_height() for bar in ax.patches] == [0.5, 0.3, 0.1]
    (found,) = (line for line in ax.lines if line.get_marker() == "D")
    np.testing.assert_array_equal(found.get_ydata(), [0.49, 0.31])


def test_weights_as_pictures(rng):
    weights = {"Vx": rng.standard_normal((6, 2)), "Q": rng.standard_normal((2, 3))}
    first, second = plot_weights(weights)
    np.testing.assert_array_equal(first.images[0].get_array(), weights["Vx"])
    assert (second.get_ylabel(), second.get_xlabel()) == ("pyramidal neuron", "interneuron")


def test_settings_of_the_user_win_and_ours_fill_in_the_rest():
    own = {"font.size": 12.0, "figure.figsize": [5.0, 3.0], "lines.linewidth": 4.0}
    colours = matplotlib.cycler("color", ["#111111", "#222222", "#333333"])
    with plt.rc_context(own | {"axes.prop_cycle": colours, "text.color": "red"}):
        ax = plot_learning(SAMPLES, SAMPLES)
        (traces,) = plot_plateau({"end": {"plateau": np.ones((9, 1)), "z": np.ones((9, 1))}})[0]
    assert tuple(ax.figure.get_size_inches()) == (5.0, 3.0)
    assert traces.figure.get_size_inches()[0] == 5.0
    assert ax.xaxis.label.get_size() == ax.get_xticklabels()[0].get_size() == 12
    assert (ax.lines[0].get_color(), ax.lines[0].get_linewidth()) == ("#111111", 4.0)
    assert [line.get_color() for line in signals_of(traces)] == ["red", "#111111"]
    assert not ax.spines["top"].get_visible()  # which the user has not touched
    ours = plot_learning(SAMPLES, SAMPLES)
    assert ours.figure.get_size_inches()[0] == pytest.approx(8.5 / 2.54, abs=1e-3)
    assert ours.xaxis.label.get_size() == 7


def test_our_style_can_be_loaded_by_its_name():
    with plt.style.context("biorrr.analysis.figures.paper"):
        assert plt.rcParams["font.size"] == 7
        axes = plot_plateau({"a": {"plateau": np.ones((9, 1))}, "b": {"plateau": np.ones((9, 1))}})
    assert axes[0, 0].figure.get_size_inches()[0] == pytest.approx(17.5 / 2.54)


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_text_stays_text_in_a_file(tmp_path, kind):
    ax = plot_learning(SAMPLES, SAMPLES)
    plt.savefig(tmp_path / f"figure.{kind}")  # as a user does, outside of our style
    written = (tmp_path / f"figure.{kind}").read_bytes()
    assert (f">{ax.get_xlabel()}<".encode() if kind == "svg" else b"/Type42") in written or (
        b"/FontFile2" in written
    )


def test_axes_of_ones_own_get_our_style_and_leave_none_behind():
    before = dict(plt.rcParams)
    _, axes = plt.subplots(1, 2)
    assert plot_eigenvalues([0.5, 0.3], ax=axes[0]) is axes[0]
    assert plot_learning(SAMPLES, SAMPLES, ax=axes[1]) is axes[1]
    assert len(plt.get_fignums()) == 1
    assert dict(plt.rcParams) == before
    assert not axes[1].spines["top"].get_visible()
    own = plot_learning(SAMPLES, SAMPLES)
    assert axes[1].get_legend().get_texts()[0].get_text().startswith("circuit")
    assert axes[1].lines[0].get_color() == own.lines[0].get_color()
    assert axes[1].xaxis.label.get_size() == own.xaxis.label.get_size()


def test_axes_of_another_shape_are_refused(rng):
    _, axes = plt.subplots(1, 2)
    trace = {"plateau": rng.standard_normal((20, 3))}
    with pytest.raises(
        ValueError, match=r"ax: must be axes of shape \(3, 1\), one row for each neuron, one"
    ):
        plot_plateau({"end": trace}, ax=axes)
    with pytest.raises(
        ValueError, match=r"ax: must be one axes \(got an array of shape \(2,\)\); pass one of them"
    ):
        plot_learning(SAMPLES, SAMPLES, ax=axes)
    with pytest.raises(
        TypeError, match=r"ax: must be axes of matplotlib \(got 3\); plt.subplots makes them"
    ):
        plot_learning(SAMPLES, SAMPLES, ax=3)


def test_raster_puts_each_spike_at_its_time_and_cell_above_the_traces(rng):
    time = np.arange(1.0, 9.0)
    traces = {"plateau": rng.standard_normal((8, 2)), "z": rng.standard_normal((8, 2))}
    fired, cells = [1.0, 3.0, 8.0], [0, 4, 5]
    spikes = (fired, cells, 3)  # three cells stand for each neuron
    raster, *panels = plot_raster(
        time, traces, onsets=[0.0, 4.0], unit="time (ms)", spikes=spikes, neurons=["A", "B"]
    )
    (drawn,) = (line for line in raster.lines if line.get_marker() == "|")
    np.testing.assert_array_equal(drawn.get_xydata(), np.transpose([fired, cells]))
    assert [tick.get_text() for tick in raster.get_yticklabels()] == ["A,\n3 cells", "B,\n3 cells"]
    np.testing.assert_array_equal(
        raster.get_yticks(), [1, 4]
    )  # the middle one of each neuron's cells
    assert raster.get_ylim() == (5.5, -0.5)  # from the top, half a cell around
    borders = [line for line in raster.lines if line.get_linestyle() == "-"]
    assert [one.get_ydata()[0] for one in borders if one.get_ydata()[0] == one.get_ydata()[-1]] == [
        2.5
    ]  # between A and B
    assert raster.get_ylabel() == "spikes of"
    ratios = raster.get_gridspec().get_height_ratios()
    assert ratios[0] == pytest.approx(0.35 + 2 * 0.5)  # inches: half of one for each neuron
    words = [text.get_text() for text in raster.figure.legends[0].get_texts()]
    assert words == ["a new sample", "scale, in units of the data"]
    assert len(panels) == 2
    assert panels[-1].get_xlabel() == "time (ms)"
    for panel in (raster, *panels):
        upright = [line for line in panel.lines if np.ptp(line.get_ydata()) == 1]
        onsets = [line.get_xdata()[0] for line in upright if np.ptp(line.get_xdata()) == 0]
        assert onsets == [0, 4]


def test_raster_without_spikes_has_a_panel_for_each_neuron(rng):
    axes = plot_raster(np.arange(5), {"plateau": rng.standard_normal((5, 3))}, onsets=[0])
    assert [panel.get_ylabel() for panel in axes] == ["neuron 0", "neuron 1", "neuron 2"]


def test_agreement_is_the_median_over_seeds_and_neurons_in_a_band_of_all(rng):
    sizes = {"seed": 4, "snapshot": 3, "stage": 2, "row": 50, "pyramidal": 2}
    sizes |= {"signal": 1, "comparison": 1, "measure": 2, "null": 2}
    scores, trace = ("seed", "measure", "comparison"), ("stage", "row", "pyramidal")
    shapes = {
        "course": (*scores, "snapshot", "pyramidal"),
        "recorded": ("signal", *trace),
        "expected": ("comparison", *trace),
        "agreement": (*scores, "stage", "pyramidal"),
        "null_error": ("seed", "null", "pyramidal"),
    }
    drawn = {
        name: (dims, rng.uniform(0.1, 1, [sizes[dim] for dim in dims]))
        for name, dims in shapes.items()
    }
    known = {"signal": ["plateau"], "comparison": ["plateau"]}
    known |= {"measure": ["correlation", "relative_error"], "seen": ("snapshot", [10, 100, 1000])}
    results = xr.Dataset(drawn, known | {"s": 0.0})
    one = results.squeeze(("signal", "comparison"))
    scatter, correlation, error, nulls = plot_agreement(results, 0.25)
    assert scatter.get_ylabel() == "plateau $a - Qn$"
    for panel, name in ((correlation, "correlation"), (error, "relative_error")):
        values = one["course"].sel(measure=name).transpose("snapshot", ...).values.reshape(3, 8)
        expected = np.transpose([results["seen"], np.median(values, axis=1)])
        np.testing.assert_allclose(panel.lines[0].get_xydata(), expected)
        band = panel.collections[0].get_paths()[0].vertices[:, 1]
        assert (band.min(), band.max()) == pytest.approx((values.min(), values.max()))
    words = [text.get_text() for text in scatter.figure.legends[0].get_texts()]
    assert "25 %: plateau and error count as equal" in words
    conditions = ["as it is", "none", "of other\nsamples"]
    assert [tick.get_text() for tick in nulls.get_xticklabels()] == conditions
    ends = one["agreement"].sel(measure="relative_error").isel(stage=-1)
    after = [ends, *(one["null_error"].isel(null=place) for place in (0, 1))]
    for place, (line, values) in enumerate(zip(nulls.lines[:3], after, strict=True)):
        np.testing.assert_array_equal(
            line.get_xydata(), [[place, value] for value in values.values.ravel()]
        )
    last = one.isel(stage=-1)
    wrong = last["recorded"] - last["expected"]
    off = float(np.sqrt((wrong**2).sum() / (last["expected"] ** 2).sum()))
    titles = [
        f"after learning: deviation {100 * off:.0f} %",
        "through learning",
        "through learning",
    ]
    assert [panel.get_title(loc="left") for panel in (scatter, correlation, error)] == titles
    labels = ["correlation with theory", "relative r.m.s. deviation", "relative r.m.s. deviation"]
    assert [panel.get_ylabel() for panel in (correlation, error, nulls)] == labels


def test_family_puts_each_number_at_its_s(rng):
    s = [0.0, 0.5, 1.0]
    shapes = {
        "excess": ("s", "seed"),
        "plateau_relative_error": ("s", "seed", "pyramidal"),
        "own_current": ("s",),
        "decay": ("s",),
        "own_current_exact": ("s",),
        "decay_exact": ("s",),
        "eigenvalues_M": ("s", "component"),
        "eigenvalues_QQ": ("s", "seed", "component"),
        "plateau": ("s", "row", "pyramidal"),
        "error": ("s", "row", "pyramidal"),
    }
    sizes = {"s": 3, "seed": 2, "pyramidal": 2, "component": 2, "row": 70}
    drawn = {
        name: (dims, rng.uniform(0.5, 1, [sizes[dim] for dim in dims]))
        for name, dims in shapes.items()
    }
    results = xr.Dataset(drawn, {"s": s})
    *above, eigenvalues, excess, error, rule = plot_family(results)
    assert [panel.get_title(loc="left") for panel in above] == ["s = 0", "s = 0.5", "s = 1"]
    for panel, plateau, wrong in zip(above, results["plateau"], results["error"], strict=True):
        lines = {line.get_label(): line.get_ydata() for line in panel.lines}
        np.testing.assert_array_equal(lines["plateau"], plateau[:60, 0])
        np.testing.assert_array_equal(lines["back-propagated error"], wrong[:60, 0])
    worst = float(results["plateau_relative_error"].max())
    below = {
        "eigenvalues": eigenvalues,
        f"excess,\nat most {100 * float(results['excess'].max()):.0f} %": excess,
        f"error of plateaus,\nat most {100 * worst:.0f} %": error,
        "coefficients of the\ndistal rule": rule,
    }
    for title, panel in below.items():
        assert panel.get_title(loc="left") == title
        assert panel.get_xlabel() == "$s$ (0: RRMSE, 1: CCA)"
    for panel, name in ((excess, "excess"), (error, "plateau_relative_error")):
        seen = np.transpose([line.get_ydata() for line in panel.lines])
        np.testing.assert_array_equal(seen, results[name].values.reshape(3, -1))
    lines = {line.get_label(): line.get_ydata() for line in rule.lines}
    np.testing.assert_array_equal(lines["own current $a$"], results["own_current"])
    np.testing.assert_array_equal(lines["decay of $V_y$"], results["decay"])


def test_sensitivity_writes_each_excess_in_percent_where_its_rates_are():
    dims = "algorithm", "k", "decade"
    excess = np.array([[[[0.01, 0.5], [np.nan, 0.002], [np.nan, np.nan]]], [[[0.1, 0.1]] * 3]])
    results = xr.Dataset(
        {
            "excess": ((*dims, "N", "seed"), np.stack([excess, excess], axis=-1)),
            "eta0": (
                dims,
                [[[0.1, 0.2, np.nan]], [[1.0, 3.0, 10.0]]],
            ),  # of the first only two values were stable
        },
        {"algorithm": ["Bio-RRR", "ANN"], "k": [1], "N": [10.0, 2000.0]},
    )
    first, second, bar = plot_sensitivity(results).axes
    texts = {text.get_position(): text.get_text() for text in first.texts}  # at (N, eta0)
    assert texts == {(0, 0): "1", (1, 0): "50", (0, 1): "–", (1, 1): "0.2"}
    assert [tick.get_text() for tick in first.get_xticklabels()] == ["10", "2,000"]
    assert [[tick.get_text() for tick in one.get_yticklabels()] for one in (first, second)] == [
        ["0.1", "0.2"],
        ["1", "3", "10"],
    ]
    assert [one.get_title(loc="left") for one in (first, second)] == [
        "Bio-RRR, $k = 1$",
        "ANN, $k = 1$",
    ]
    assert (first.get_xlabel(), first.get_ylabel()) == ("$N$ (samples)", "$\\eta_0$ of $V_x$")
    assert bar.get_ylabel() == "excess over the optimum (%)"


def test_theory_beside_a_run_is_that_of_centred_data(rng):
    """A run that centres its data is compared with theory for the centred data, whatever their
    means.
    """
    from biorrr.analysis.figures.runs import stages
    from biorrr.circuit import Microcircuit

    X, Y = rng.standard_normal((40, 4)), rng.standard_normal((40, 3))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    drawn = []
    for shift in (0.0, 5.0):
        circuit = Microcircuit(2, engine="numpy", ridge=0.0, seed=1)
        how = {
            "record": ("plateau", "a", "inhibition", "z"),
            "every": 1,
            "centre": True,
            "progress": False,
        }
        run = circuit.run(X + shift, Y - shift, **how)
        drawn.append(stages(run.data, X + shift, Y - shift))
    assert [*drawn[0]] == [*drawn[1]]
    for centred, shifted in zip(drawn[0].values(), drawn[1].values(), strict=True):
        assert centred.theory
        for name, values in centred.theory.items():
            np.testing.assert_allclose(shifted.theory[name], values, rtol=1e-6, atol=1e-8)
