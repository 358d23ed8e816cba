"""Figures draw the numbers they are given, into the axes they are given, and show nothing."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from biorrr.analysis import (
    plot_eigenvalues,
    plot_filters,
    plot_learning,
    plot_plateau,
    plot_symmetry,
)
from biorrr.analysis.figures.races import plot_pictures_race
from biorrr.analysis.figures.robustness import plot_departures
from biorrr.analysis.figures.style import COLOURS
from biorrr.analysis.figures.symmetry import plot_meeting

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
    np.testing.assert_array_equal(curve.get_xdata(), [5, 10, 100, 1000])  # 0 has no place on a logarithmic axis
    assert optimum.get_ydata() == [-1, -1]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx((objective.mean(axis=0) + objective.std(axis=0)).max())
    plot_learning(SAMPLES, objective[0], optimum=-1.0, label="another", ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["circuit", "optimum", "another"]


def test_learning_without_an_optimum_is_excess_on_a_logarithmic_axis():
    excess = np.array([[1.0, 0.1, 0.01, 0.001], [3.0, 0.3, 0.03, 0.0001]])
    ax = plot_learning(SAMPLES, excess)
    assert ax.get_yscale() == "log"
    assert ax.get_ylabel() == "excess over the optimum"
    assert ax.collections[0].get_paths()[0].vertices[:, 1].min() > 0
    assert ax.get_legend() is None


def test_pictures_race_has_a_panel_for_each_data_set(rng):
    curve = SAMPLES, 0.1 + rng.random((3, 4))
    curves = {"mnist": {"circuit": curve, "ANN": curve}, "cifar10": {"ANN": curve}}
    mnist, cifar = plot_pictures_race(curves, {"mnist": 10, "cifar10": 4}).axes
    circuit, ann = mnist.lines[:2]
    assert [circuit.get_label(), ann.get_label()] == ["circuit", "ANN"]
    np.testing.assert_allclose(circuit.get_ydata(), 100 * curve[1].mean(axis=0)[1:])  # t = 0 has no place
    assert ann.get_color() == cifar.lines[0].get_color() != circuit.get_color()
    assert ann.get_marker() != circuit.get_marker()
    assert mnist.get_yscale() == "log"


def test_departures_leave_no_empty_panel():
    panel = [1, 2], np.array([[[0.01], [0.2]]])
    axes = plot_departures({str(n): panel for n in range(5)}, set(), {"digits": 0.004}, 0.05)
    assert [ax.get_visible() for ax in axes] == 5 * [True]
    hidden = [ax for ax in axes[0].figure.axes if not ax.get_visible()]
    assert len(hidden) == len(axes[0].figure.axes) - 5 > 0


def test_meeting_of_runs_that_end_at_different_samples():
    seen = np.array([[0.0, 10, 100, np.nan], [0, 10, np.nan, np.nan]])
    ratio = np.array([[1.0, 0.5, 0.1, np.nan], [1, 0.7, np.nan, np.nan]])
    axes = plot_meeting(
        {0.1: (seen, ratio)}, {2.0: (seen, ratio)}, {"usual": (seen, ratio), "other": (seen, ratio)}, 0.1, 0.1
    )
    median = axes[1].lines[0]
    np.testing.assert_array_equal(median.get_xdata(), [0, 10, 100])
    np.testing.assert_allclose(median.get_ydata(), [1, 0.6, 0.1])
    crosses = [line for line in axes[2].lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert [line.get_xdata()[0] for line in crosses] == [10, 10]  # of the two that ended before the longest


def test_plateau_has_a_row_for_each_neuron_and_a_column_for_each_end(rng):
    traces = rng.standard_normal((4, 200, 3))
    axes = plot_plateau(np.arange(0, 2000, 10), *traces, shown=50)
    assert axes.shape == (3, 2)
    early, late = axes[1]
    np.testing.assert_array_equal(late.lines[1].get_xdata(), np.arange(1500, 2000, 10))
    signals = [line for line in early.lines if line.get_drawstyle() == "steps-mid"]
    assert [line.get_color() for line in signals] == [COLOURS[c] for c in ("plateau", "distal", "Q", "proximal")]
    # Signals of the distal dendrite keep their proportions.
    heights = [line.get_ydata() + level for level, line in enumerate(signals)]
    np.testing.assert_allclose(heights[0] * traces[1, :50, 1], heights[1] * traces[0, :50, 1])


def test_one_outlier_does_not_flatten_a_plateau(rng):
    trace = rng.choice([-1.0, 1.0], size=(200, 1))
    trace[3] = 100.0
    early, _ = plot_plateau(np.arange(200), trace, shown=50)[0]
    heights = early.lines[1].get_ydata()
    assert heights.max() == heights[3] == 0.5  # where its lane ends
    np.testing.assert_allclose(heights[4:], trace[4:50, 0] / 4.2)


def test_symmetry_is_logarithmic():
    ax = plot_symmetry(SAMPLES, np.exp(-SAMPLES / 100), np.exp(-SAMPLES / 101))
    assert ax.get_yscale() == "log"
    predicted, measured = ax.lines
    np.testing.assert_allclose(measured.get_ydata() / predicted.get_ydata(), np.exp(-SAMPLES / 100 + SAMPLES / 101))


def test_filters_as_pictures_and_as_curves(rng):
    learned, exact = rng.standard_normal((2, 12, 3))
    pictures = plot_filters(learned, exact, (3, 4))
    assert pictures.shape == (2, 3)
    np.testing.assert_array_equal(pictures[1, 2].images[0].get_array(), exact[:, 2].reshape(3, 4))
    low, high = pictures[0, 0].images[0].get_clim()
    assert -low == high == np.abs(learned[:, 0]).max()
    curves = plot_filters(learned, exact)
    assert curves.shape == (1, 3)
    np.testing.assert_array_equal(curves[0, 1].lines[0].get_ydata(), learned[:, 1])
    colour = plot_filters(rng.standard_normal((12, 1)), pixels=(3, 2, 2))[0, 0].images[0].get_array()
    assert colour.shape == (2, 2, 3)
    assert colour.min() >= 0
    assert colour.max() <= 1


def test_eigenvalues_side_by_side():
    ax = plot_eigenvalues([0.5, 0.3, 0.1], [0.49, 0.31])
    assert [bar.get_height() for bar in ax.patches] == [0.5, 0.3, 0.1]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0.49, 0.31])


def test_axes_of_ones_own_and_no_style_left_behind():
    before = dict(plt.rcParams)
    _, axes = plt.subplots(1, 2)
    assert plot_eigenvalues([0.5, 0.3], ax=axes[0]) is axes[0]
    assert plot_learning(SAMPLES, SAMPLES, ax=axes[1]) is axes[1]
    assert len(plt.get_fignums()) == 1
    assert dict(plt.rcParams) == before
