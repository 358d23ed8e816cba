"""``biorrr wiring`` from end to end: the drawing, and graphs that hold what was learned."""

import json

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, Polygon

from biorrr.analysis.figures.wiring import MOST_INPUTS, SIGNS, plot_wiring
from biorrr.circuit import Microcircuit, Run
from biorrr.sims import main
from biorrr.sims.experiments.wiring import cell_graph

SMALL = ["--data", "synthetic:samples=60,m=6,n=5,latents=2", "--engine", "numpy", "--epochs", "2"]


@pytest.fixture(scope="module")
def wired(tmp_path_factory):
    """The folder of a small run; not to be changed."""
    folder = tmp_path_factory.mktemp("wiring") / "run"
    assert main.run(["wiring", *SMALL, "--out", str(folder)]) == 0
    return folder


def test_run_folder(wired):
    assert sorted(path.name for path in wired.iterdir()) == [
        "config.toml", "run.nc", "summary.json", "synapses.graphml", "wiring.graphml", "wiring.png",
    ]  # fmt: skip
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
        ("sensory 3", "pyramidal 2", run.Vx[2, 1]),
        ("instructive 5", "pyramidal 1", run.Vy[4, 0]),
        ("interneurons 2", "pyramidal 1", run.Q[0, 1]),
        ("pyramidal 2", "interneurons 1", run.R[0, 1]),
    ):
        assert cells.edges[source, target]["weight"] == pytest.approx(weight, rel=1e-12)
    populations = nx.read_graphml(wired / "wiring.graphml")
    assert {kind["shape"] for _, kind in populations.nodes(data=True)} >= {"triangle", "circle"}


def test_several_seeds_are_drawn_apart(tmp_path):
    assert main.run(["wiring", *SMALL, "--seeds", "2", "--seed", "4", "--format", "svg", "--out", str(tmp_path)]) == 0
    assert {"wiring-4.svg", "wiring-5.svg", "synapses-4.graphml", "synapses-5.graphml"} <= {
        path.name for path in tmp_path.iterdir()
    }
    first, second = (nx.read_graphml(tmp_path / f"synapses-{seed}.graphml") for seed in (4, 5))
    assert first.edges["sensory 1", "pyramidal 1"]["weight"] != second.edges["sensory 1", "pyramidal 1"]["weight"]


@pytest.fixture
def drawn():
    """A circuit with more sensory inputs than fit, drawn."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, MOST_INPUTS + 5)), rng.standard_normal((20, 4))
    circuit = Microcircuit(3, engine="numpy", interneurons=4)
    run = circuit.run(X, Y, centre=True)
    ax = plot_wiring(cell_graph(circuit.wiring(*map(len, (X.T, Y.T))), run))
    yield run, ax
    plt.close(ax.figure)


def test_synapses_are_drawn_by_sign_and_strength(drawn):
    run, ax = drawn
    lines = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    assert len(lines) == 3 * MOST_INPUTS + run.Vy.size + run.Q.size + run.R.size
    assert sum(isinstance(patch, Polygon) for patch in ax.patches) == 3  # a triangle for each pyramidal cell
    assert f"the {MOST_INPUTS} strongest of {MOST_INPUTS + 5}" in " ".join(text.get_text() for text in ax.texts)
    inhibitory = [line for line in lines if to_hex(line.get_edgecolor()) == SIGNS[-1][0].lower()]
    kept = np.sort(np.square(run.Vx).sum(axis=1).argsort()[::-1][:MOST_INPUTS])
    assert len(inhibitory) == (run.Vx[kept] < 0).sum() + (run.Vy < 0).sum() + (run.R < 0).sum() + (run.Q > 0).sum()
    widths = sorted(line.get_linewidth() for line in lines)
    assert widths[-4:] == [widths[-1]] * 4  # the strongest synapse of each pathway
