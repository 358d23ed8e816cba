"""The circuit as graph, as text, and the verdict on its rules: all made from the objects that are
simulated.
"""

from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

from biorrr.circuit import Hierarchy, Microcircuit, Run
from biorrr.circuit.results.description import locality
from biorrr.models import ProximalSynapses, Rate, Rates


@pytest.fixture(scope="module")
def circuit():
    return Microcircuit(2, interneurons=3)


def test_wiring(circuit):
    graph = circuit.wiring(6, 4)
    sizes = {name: facts["size"] for name, facts in graph.nodes(data=True)}
    assert sizes == {"sensory": 6, "instructive": 4, "pyramidal": 2, "interneurons": 3}
    pathways = {
        facts["matrix"]: (source, target, facts["sign"], facts["synapses"])
        for source, target, facts in graph.edges(data=True)
    }
    assert pathways == {
        "Vx": ("sensory", "pyramidal", +1, 12),
        "Vy": ("instructive", "pyramidal", +1, 8),
        "Q": ("interneurons", "pyramidal", -1, 6),
        "R": ("pyramidal", "interneurons", +1, 6),
    }
    assert {f["matrix"]: f["rule"] for _, _, f in graph.edges(data=True)}[
        "Vx"
    ] == "eta_x * x_pre * plateau_post"


def test_wiring_can_be_written(circuit, tmp_path):
    nx.write_graphml(circuit.wiring(6, 4), tmp_path / "wiring.graphml")
    assert set(nx.read_graphml(tmp_path / "wiring.graphml").nodes) == set(
        circuit.wiring(6, 4).nodes
    )


def test_sizes_that_only_data_can_say_are_left_open(circuit):
    """A circuit does not know how many inputs it is going to have, or had."""
    text = circuit.describe()
    assert "  sensory (m):" in text
    assert "proximal, Vx: sensory (m) to pyramidal (2)" in text
    assert "distal, Vy: instructive (n) to pyramidal (2)" in text
    assert "  sensory (64):" in circuit.describe(64, 10)


def test_description_holds_every_equation(circuit):
    text = circuit.describe(6, 4)
    blueprint = circuit.blueprint(6, 4)
    for part in blueprint.parts.populations:
        assert f"{part.name} ({part.size})" in text
    for pathway in blueprint.parts.pathways:
        for said in (
            pathway.current,
            pathway.change,
            pathway.replay,
            pathway.equation,
        ):
            assert said in text
    # In the order of a tick: what drives the soma comes before what inhibits the dendrite.
    assert (
        text.index("  proximal, Vx")
        < text.index("  recruitment, R")
        < text.index("  inhibitory, Q")
    )


@pytest.mark.parametrize(
    "rates", [Rates(Rate(1), Rate(1), Rate(1)), "auto"], ids=["timetable", "auto"]
)
def test_every_rule_is_local(rates):
    verdicts = {v.pathway: v for v in Microcircuit(2, rates=rates).locality()}
    assert all(v.local for v in verdicts.values())
    assert {name: (v.pre, v.post, v.own) for name, v in verdicts.items()} == {
        "proximal": (("x",), ("plateau",), ("w",)),
        "distal": (("y",), ("a", "z"), ("w",)),
        "recruitment": (("z",), ("n",), ("w",)),
        "inhibitory": (("n",), ("z",), ("w",)),
    }
    # The rates are the same for all synapses of a pathway, and reported as that.
    assert verdicts["proximal"].broadcast == ("eta_x", "replay_gain")
    assert str(verdicts["proximal"]).startswith(
        "proximal: local; reads pre x; post plateau; own w; broadcast eta_x"
    )


def test_the_naive_rule_is_not_local():
    """The rule that follows from a Lagrange multiplier multiplies two sets of weights (supplement
    B).
    """
    naive = replace(ProximalSynapses(), change="eta_x * x_pre * (a_post - x * Vx * Lagrange)")
    verdict = locality(Microcircuit(2).parts, naive)
    assert not verdict.local
    assert verdict.elsewhere == ("Lagrange", "Vx", "x")
    assert "NOT local: reads Lagrange, Vx, x" in str(verdict)


def test_circuit_reports_on_itself(circuit):
    assert [v.pathway for v in circuit.locality()] == [
        "proximal",
        "distal",
        "inhibitory",
        "recruitment",
    ]


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 6)), rng.standard_normal((40, 4))
    return Microcircuit(2, interneurons=3, engine="numpy").run(X, Y, progress=False)


def test_graph_of_cells(run):
    graph = run.graph()
    assert type(graph) is nx.DiGraph
    assert graph.number_of_nodes() == 6 + 4 + 2 + 3
    assert graph.number_of_edges() == sum(matrix.size for matrix in run.weights.values())
    assert graph.nodes["interneurons 1"] == {
        "population": "interneurons",
        "kind": "interneuron",
        "area": 0,
        "index": 1,
        "shape": "circle",
    }
    for (source, target), weight, pathway in (
        (("sensory 5", "pyramidal 1"), run.Vx[5, 1], "proximal"),
        (("instructive 3", "pyramidal 0"), run.Vy[3, 0], "distal"),
        (("interneurons 2", "pyramidal 0"), run.Q[0, 2], "inhibitory"),
        (("pyramidal 1", "interneurons 0"), run.R[0, 1], "recruitment"),
    ):
        edge = graph.edges[source, target]
        assert type(edge["weight"]) is float
        assert (edge["weight"], edge["strength"]) == (weight, abs(weight))
        assert (edge["pathway"], edge["kind"], edge["area"]) == (pathway, pathway, 0)
    assert nx.to_numpy_array(graph).sum() == pytest.approx(
        sum(matrix.sum() for matrix in run.weights.values())
    )


def same_graph(one, other):
    assert type(one) is type(other)
    assert dict(one.nodes(data=True)) == dict(other.nodes(data=True))
    assert sorted(one.edges(data=True), key=str) == sorted(other.edges(data=True), key=str)
    return True


def test_graph_of_cells_through_files(run, tmp_path):
    """GraphML keeps every digit, and a run that was read from its file has the same graph."""
    nx.write_graphml(run.graph(), tmp_path / "cells.graphml")
    assert same_graph(nx.read_graphml(tmp_path / "cells.graphml"), run.graph())
    run.save(tmp_path / "run.nc")
    assert same_graph(Run.load(tmp_path / "run.nc").graph(), run.graph())


def test_weights_are_numbers_for_readers_of_graphml(run, tmp_path):
    """Gephi takes the attribute `weight` of an edge as its weight if it is declared a number."""
    nx.write_graphml(run.graph(), tmp_path / "cells.graphml")
    keys = ElementTree.parse(tmp_path / "cells.graphml").getroot().iterfind("{*}key")
    types = {(key.get("for"), key.get("attr.name")): key.get("attr.type") for key in keys}
    assert types["edge", "weight"] == types["edge", "strength"] == "double"
    assert types["edge", "area"] == types["node", "area"] == "long"
    assert types["edge", "pathway"] == types["edge", "kind"] == types["node", "kind"] == "string"


def test_graph_of_a_hierarchy_says_areas():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 5)), rng.standard_normal((30, 3))
    graph = Hierarchy((2, 1), engine="numpy").run(X, Y, progress=False).graph()
    pyramidal = [facts for _, facts in graph.nodes(data=True) if facts["kind"] == "pyramidal"]
    assert [facts["area"] for facts in pyramidal] == [1, 1, 2]
    assert {facts["area"] for *_, facts in graph.edges(data=True)} == {1, 2}


def test_two_synapses_between_two_cells_are_both_in_the_graph():
    again = replace(ProximalSynapses(), name="again", weight="W", change="")
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    run = Microcircuit(1, pathways=[again], engine="numpy").run(
        X, Y, weights={"W": np.full((3, 1), 0.25)}, progress=False
    )
    graph = run.graph()
    assert type(graph) is nx.MultiDiGraph
    both = graph["sensory 2"]["pyramidal 0"]
    assert {key: facts["weight"] for key, facts in both.items()} == {
        "proximal": run.Vx[2, 0],
        "again": 0.25,
    }


def test_description_and_locality_are_shown_as_they_stand():
    circuit = Microcircuit(k=2)
    text, verdicts = circuit.describe(), circuit.locality()
    assert repr(text) == str(text)
    assert "<pre>Cells\n" in text._repr_html_()
    _, *rows = str(verdicts).splitlines()
    assert rows[0].split(maxsplit=1) == [
        "proximal",
        "local; reads pre x; post plateau; own w; broadcast eta_x, replay_gain",
    ]
    assert [row.split()[0] for row in rows] == [one.pathway for one in verdicts]
    assert verdicts._repr_html_().count("<tr>") == 4
