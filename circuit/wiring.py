"""The circuit as a graph: populations are nodes, pathways are edges."""

from __future__ import annotations

import networkx as nx

from biorrr.circuit.blueprint import Blueprint


def wiring(blueprint: Blueprint) -> nx.MultiDiGraph:
    """A networkx graph of ``blueprint``.

    Nodes carry size, shape and the traces they offer; edges carry the paper's matrix, sign, number of synapses, the
    current and the learning rule. All attributes are plain text and numbers, so the graph can be written as GraphML.
    """
    graph = nx.MultiDiGraph(name="microcircuit")
    for p in blueprint.populations:
        graph.add_node(p.name, size=p.size, shape=p.shape, traces=" ".join(p.traces), meaning=_summary(p))
    for pathway in blueprint.pathways:
        sources, targets = blueprint.weight_shape(pathway)
        graph.add_edge(
            pathway.source,
            pathway.target,
            key=pathway.name,
            weight=pathway.weight,
            sign=pathway.sign,
            synapses=sources * targets,
            current=pathway.current,
            rule=pathway.rule,
            equation=pathway.equation,
            meaning=_summary(pathway),
        )
    return graph


def _summary(part) -> str:
    return (type(part).__doc__ or "").strip().splitlines()[0]
