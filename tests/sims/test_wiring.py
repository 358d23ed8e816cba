"""``biorrr wiring`` from end to end: the drawing, and graphs that hold what was learned."""

import json

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest

from biorrr.analysis.figures.circuit_drawing import MOST_CELLS
from biorrr.analysis.figures.style import colour, styled
from biorrr.circuit import Microcircuit, Run
from biorrr.sims import main

PATHWAYS = {
    name: styled(colour)(quantity)
    for name, quantity in {"Vx": "proximal", "Vy": "distal", "Q": "Q", "R": "R"}.items()
}
SMALL = [
    "--data",
    '{name="synthetic", samples=60, m=6, n=5, latents=2}',
    "--engine",
    "numpy",
    "--epochs",
    "2",
]


@pytest.fixture(scope="module")
def wired(tmp_path_factory):
    """The folder of a small run; not to be changed."""
    folder = tmp_path_factory.mktemp("wiring") / "run"
    assert main.run(["wiring", *SMALL, "--out", str(folder)]) == 0
    return folder


def test_run_folder(wired):
    assert sorted(path.name for path in wired.iterdir()) == [
        "config.toml",
        "inventory.json",
        "run.nc",
        "summary.json",
        "synapses.graphml",
        "wiring.graphml",
        "wiring.md",
        "wiring.png",
    ]
    summary = json.loads((wired / "summary.json").read_text())
    run = Run.load(wired / "run.nc")
    for name in ("Vx", "Vy", "Q", "R"):
        weights = getattr(run, name)
        assert summary[f"{name}_synapses"] == weights.size
        assert summary[f"{name}_rms"] == pytest.approx(np.sqrt(np.mean(weights**2)))


def test_every_synapse_is_in_the_graph(wired):
    run = Run.load(wired / "run.nc")
    cells = nx.read_graphml(wired / "synapses.graphml")
    assert cells.number_of_nodes() == 6 + 5 + 2 + 2
    assert cells.number_of_edges() == run.Vx.size + run.Vy.size + run.Q.size + run.R.size
    for source, target, weight in (
        ("sensory 2", "pyramidal 1", run.Vx[2, 1]),
        ("instructive 4", "pyramidal 0", run.Vy[4, 0]),
        ("interneurons 1", "pyramidal 0", run.Q[0, 1]),
        ("pyramidal 1", "interneurons 0", run.R[0, 1]),
    ):
        assert cells.edges[source, target]["weight"] == pytest.approx(weight, rel=1e-12)
    populations = nx.read_graphml(wired / "wiring.graphml")
    assert {kind["shape"] for _, kind in populations.nodes(data=True)} >= {"triangle", "circle"}


@pytest.mark.slow
def test_several_seeds_are_drawn_apart(tmp_path):
    assert (
        main.run(
            [
                "wiring",
                *SMALL,
                "--seeds",
                "2",
                "--seed",
                "4",
                "--format",
                "svg",
                "--out",
                str(tmp_path),
            ]
        )
        == 0
    )
    assert {"wiring-4.svg", "wiring-5.svg", "synapses-4.graphml", "synapses-5.graphml"} <= {
        path.name for path in tmp_path.iterdir()
    }
    first, second = (nx.read_graphml(tmp_path / f"synapses-{seed}.graphml") for seed in (4, 5))
    assert (
        first.edges["sensory 0", "pyramidal 0"]["weight"]
        != second.edges["sensory 0", "pyramidal 0"]["weight"]
    )


def drawn(k, interneurons=None, inputs=MOST_CELLS + 5):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, max(inputs, k))), rng.standard_normal((40, max(4, k)))
    run = Microcircuit(k, engine="numpy", interneurons=interneurons).run(
        X, Y, centre=True, progress=False
    )
    return run, run.plot_wiring()


def synapses(ax, matrix, *markers):
    lines = [
        line
        for line in ax.lines
        if line.get_color() == PATHWAYS[matrix] and line.get_marker() in markers
    ]
    return [line for line in lines if len(line.get_xdata())]  # without those of the legend


def test_a_synapse_that_raises_is_an_arrowhead_and_one_that_lowers_a_bar():
    run, ax = drawn(k=3, interneurons=4)
    triangles = [line for line in ax.lines if line.get_marker() == "^"]
    assert len(triangles) == 3  # one for each pyramidal cell
    assert f"{MOST_CELLS} strongest of {MOST_CELLS + 5}" in " ".join(
        text.get_text() for text in ax.texts
    )
    kept = np.sort(np.square(run.Vx).sum(axis=1).argsort()[::-1][:MOST_CELLS])
    effects = {
        "Vx": run.Vx[kept],
        "Vy": run.Vy,
        "Q": -run.Q,
        "R": run.R,
    }  # inhibition is subtracted
    for matrix, effect in effects.items():
        assert len(synapses(ax, matrix, 5, 6)) == (effect > 0).sum()
        assert len(synapses(ax, matrix, "|", "_")) == (effect < 0).sum()
    plt.close(ax.figure)


def test_q_and_r_share_a_scale():
    run, ax = drawn(k=2)
    largest = max(abs(run.Q).max(), abs(run.R).max())
    for matrix in ("Q", "R"):
        sizes = [line.get_markersize() ** 2 for line in synapses(ax, matrix, 5, 6, "|", "_")]
        strongest = abs(getattr(run, matrix)).max() / largest
        assert max(sizes) == pytest.approx(81 * strongest)
    plt.close(ax.figure)


def test_the_legend_names_each_matrix_beside_its_colour_and_its_largest_synapse():
    run, ax = drawn(k=2)
    shared = max(abs(run.Q).max(), abs(run.R).max())
    largest = {"$V_x$": abs(run.Vx).max(), "$V_y$": abs(run.Vy).max(), "$Q$": shared, "$R$": shared}
    handles, labels = ax.get_legend_handles_labels()
    named = {label: handle.get_color() for handle, label in zip(handles, labels, strict=True)}
    assert named == {
        f"{symbol}, largest {weight:.2g}": PATHWAYS[symbol.strip("$").replace("_", "")]
        for symbol, weight in largest.items()
    } | {"raises its target": "0.3", "lowers its target": "0.3"}
    plt.close(ax.figure)


@pytest.mark.parametrize("k", [1, 5, MOST_CELLS])
def test_every_cell_is_in_the_picture(k):
    _, ax = drawn(k)
    left, right = ax.get_xlim()
    low, high = ax.get_ylim()
    for line in ax.lines:
        assert all(left <= x <= right for x in line.get_xdata())
        assert all(low <= y <= high for y in line.get_ydata())
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert sorted(map(int, numbers)) == sorted(2 * [*range(k)])  # pyramidal cells and interneurons
    plt.close(ax.figure)


def test_of_more_cells_than_can_be_told_apart_the_strongest_are_drawn():
    k = MOST_CELLS + 3
    run, ax = drawn(k, inputs=k)
    assert sum(line.get_marker() == "^" for line in ax.lines) == MOST_CELLS
    said = [text.get_text() for text in ax.texts]
    assert sum(f"{MOST_CELLS} strongest of {k}" in text for text in said) == 4  # of each kind
    strengths = {
        "pyramidal": np.square(run.R).sum(axis=0),
        "interneurons": np.square(run.Q).sum(axis=0),
    }
    shown = [strength.argsort()[::-1][:MOST_CELLS] for strength in strengths.values()]
    assert sorted(int(text) for text in said if text.isdigit()) == sorted(np.concatenate(shown))
    plt.close(ax.figure)
