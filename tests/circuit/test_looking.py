"""The circuit as graph, as text, and the verdict on its rules: all made from the objects that are
simulated.
"""

from dataclasses import replace

import networkx as nx
import pytest

from biorrr.circuit import Microcircuit
from biorrr.circuit.results.locality import locality
from biorrr.models import ProximalSynapses, Rate, Rates


@pytest.fixture(scope="module")
def circuit():
    return Microcircuit(2, interneurons=3)


def test_wiring(circuit):
    graph = circuit.wiring(6, 4)
    sizes = {name: facts["size"] for name, facts in graph.nodes(data=True)}
    assert sizes == {"sensory": 6, "instructive": 4, "pyramidal": 2, "interneurons": 3}
    pathways = {
        facts["weight"]: (source, target, facts["sign"], facts["synapses"])
        for source, target, facts in graph.edges(data=True)
    }
    assert pathways == {
        "Vx": ("sensory", "pyramidal", +1, 12),
        "Vy": ("instructive", "pyramidal", +1, 8),
        "Q": ("interneurons", "pyramidal", -1, 6),
        "R": ("pyramidal", "interneurons", +1, 6),
    }
    assert {f["weight"]: f["rule"] for _, _, f in graph.edges(data=True)}[
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
            *map(str, (pathway.change, pathway.replay)),
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
