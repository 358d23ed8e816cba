"""The circuit as a graph: populations are nodes, pathways are edges."""

from __future__ import annotations

import json
import math

import networkx as nx
import xarray as xr

from biorrr.circuit.compile.blueprint import Blueprint, Orientation


def wiring(blueprint: Blueprint) -> nx.MultiDiGraph:
    """Return a networkx graph of ``blueprint``: all cells and all pathways with weights.

    Nodes carry kind, area, size, shape and the variables that can be recorded; edges carry the
    name of the matrix, kind, area, sign, number of synapses, the current and the learning rule. All
    attributes are plain text and numbers, so the graph can be written as GraphML. Cells and weights
    are in :meth:`biorrr.circuit.Run.graph`.
    """
    graph = nx.MultiDiGraph(name="circuit")
    for population in blueprint.parts.populations:
        if population.shape:
            graph.add_node(
                population.name,
                kind=population.kind,
                area=population.area,
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
            matrix=pathway.weight,
            kind=pathway.kind,
            area=pathway.area,
            target_by_source=pathway.target_by_source,
            drives=pathway.drives,
            sign=blueprint.parts.sign(pathway),
            synapses=math.prod(blueprint.orientations[pathway.name].shape),
            current=pathway.current,
            rule=pathway.change,
            equation=pathway.equation,
            meaning=pathway.meaning,
        )
    return graph


def cell_graph(data: xr.Dataset) -> nx.DiGraph:
    """Return a networkx graph of the circuit that a run left, given the run's ``data``; see
    :meth:`biorrr.circuit.Run.graph`.
    """
    circuit = json.loads(data.attrs["circuit"])
    populations = {population["name"]: population for population in circuit["populations"]}
    ends = [(pathway["source"], pathway["target"]) for pathway in circuit["pathways"]]
    parallel = len(set(ends)) < len(ends)  # two pathways between the same cells
    cells = (nx.MultiDiGraph if parallel else nx.DiGraph)(name="cells of the circuit")
    for name, population in populations.items():
        facts = {"population": name} | {key: population[key] for key in ("kind", "area", "shape")}
        cells.add_nodes_from(
            (f"{name} {index}", facts | {"index": index}) for index in range(population["size"])
        )
    for pathway in circuit["pathways"]:
        source, target = pathway["source"], pathway["target"]
        orientation = Orientation(
            populations[source]["size"],
            populations[target]["size"],
            bool(pathway["target_by_source"]),
        )
        facts = {"pathway": pathway["name"], "matrix": pathway["weight"]}
        facts |= {key: pathway[key] for key in ("kind", "area", "drives", "sign")}
        weights = orientation.flat(data[pathway["weight"]].values[-1]).tolist()
        for place, weight in enumerate(weights):
            i, j = orientation.ends(place)
            key = {"key": pathway["name"]} if parallel else {}
            cells.add_edge(
                f"{source} {i}",
                f"{target} {j}",
                **key,
                **facts,
                weight=weight,
                strength=abs(weight),
            )
    return cells
