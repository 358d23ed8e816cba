"""The circuit as a graph: populations are nodes, pathways are edges."""

from __future__ import annotations

import networkx as nx

from biorrr.circuit.blueprint import Blueprint


def wiring(blueprint: Blueprint) -> nx.MultiDiGraph:
    """A networkx graph of ``blueprint``: all cells and all pathways with weights.

    Nodes carry size, shape and the variables that can be recorded; edges carry the name of the matrix, sign, number of
    synapses, the current and the learning rule. All attributes are plain text and numbers, so the graph can be written
    as GraphML.
    """
    graph = nx.MultiDiGraph(name="circuit")
    for population in blueprint.parts.populations:
        if population.shape:
            graph.add_node(
                population.name,
                size=population.size,
                shape=population.shape,
                traces=" ".join(v.name for v in population.variables if v.role in ("activity", "input")),
                meaning=population.meaning,
            )
    for pathway in blueprint.weighted:
        sources, targets = blueprint.weight_shape(pathway)
        graph.add_edge(
            pathway.source,
            pathway.target,
            key=pathway.name,
            weight=pathway.weight,
            target_by_source=pathway.target_by_source,
            drives=pathway.drives,
            sign=pathway.sign,
            synapses=sources * targets,
            current=pathway.current,
            rule=pathway.change,
            equation=pathway.equation,
            meaning=pathway.meaning,
        )
    return graph
