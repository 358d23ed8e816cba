"""The circuit as a graph: populations are nodes, pathways are edges."""

from __future__ import annotations

import json
import math

import networkx as nx
import xarray as xr

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.compile.matrices import Orientation


def wiring(blueprint: Blueprint) -> nx.MultiDiGraph:
    """Return a networkx graph of ``blueprint``: all cells and all pathways with weights.

    Nodes carry size, shape and the variables that can be recorded; edges carry the name of the
    matrix, sign, number of synapses, the current and the learning rule. All attributes are plain
    text and numbers, so the graph can be written as GraphML.
    """
    graph = nx.MultiDiGraph(name="circuit")
    for population in blueprint.parts.populations:
        if population.shape:
            graph.add_node(
                population.name,
                size=population.size,
                shape=population.shape,
                traces=" ".join(
                    v.name for v in population.variables if v.role in ("activity", "input")
                ),
                meaning=population.meaning,
            )
    for pathway in blueprint.parts.weighted:
        graph.add_edge(
            pathway.source,
            pathway.target,
            key=pathway.name,
            weight=pathway.weight,
            target_by_source=pathway.target_by_source,
            drives=pathway.drives,
            sign=blueprint.parts.sign(pathway),
            synapses=math.prod(blueprint.orientations[pathway.name].shape),
            current=pathway.current,
            rule=str(pathway.change),
            equation=pathway.equation,
            meaning=pathway.meaning,
        )
    return graph


def cell_graph(data: xr.Dataset) -> nx.MultiDiGraph:
    """Return a networkx graph of the circuit that a run left, given the run's ``data``.

    It has a node for each cell, counted from 0, and an edge for each synapse with its final weight.
    """
    circuit = json.loads(data.attrs["circuit"])
    cells = nx.MultiDiGraph(name="cells of the circuit")
    size = {population["name"]: population["size"] for population in circuit["populations"]}
    for population in circuit["populations"]:
        for index in range(population["size"]):
            cells.add_node(
                f"{population['name']} {index}",
                population=population["name"],
                index=index,
                shape=population["shape"],
            )
    for pathway in circuit["pathways"]:
        orientation = Orientation(
            size[pathway["source"]], size[pathway["target"]], bool(pathway["target_by_source"])
        )
        for place, weight in enumerate(orientation.flat(data[pathway["weight"]].values[-1])):
            i, j = orientation.ends(place)
            cells.add_edge(
                f"{pathway['source']} {i}",
                f"{pathway['target']} {j}",
                key=pathway["name"],
                pathway=pathway["name"],
                matrix=pathway["weight"],
                drives=pathway["drives"],
                sign=pathway["sign"],
                weight=float(weight),
            )
    return cells
