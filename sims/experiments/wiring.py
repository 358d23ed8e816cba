"""Draw the circuit with the weights it has learned.

Pyramidal cells are triangles with a proximal and a distal compartment, interneurons circles; synapses are coloured
by sign and as wide as they are strong. wiring.graphml holds populations, pathways and learning rules,
synapses.graphml every cell and every learned weight; for each further seed there is a drawing and a graph more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from biorrr.sims.experiment import Findings, Found, Problem
from biorrr.sims.lazy import circuits, np, nx
from biorrr.sims.training import Training, TrainingSettings, heading


class Wiring(Training[TrainingSettings]):
    """``biorrr wiring``: the circuit drawn with the weights it has learned, and as a graph for other programs."""

    settings = TrainingSettings
    shows = "the circuit, with the weights it has learned"
    takes = "6 s"
    paper = "Fig. 1"
    not_swept = "learns as learn does, and draws"
    figures = {"wiring": "the circuit, with synapses as wide as they are strong"}

    def conclude(self, problem: Problem[TrainingSettings], found: Found) -> Findings:
        """Spell out the graph of each seed's circuit, and sum up the first one's weights."""
        from biorrr.analysis.figures.wiring import plot_wiring

        settings, data = problem.settings, problem.data
        circuit = settings.make_circuit(k=settings.k, s=settings.s, ridge=settings.ridge, seed=settings.seed)
        populations = circuit.wiring(data.X.shape[1], data.Y.shape[1])
        first = next(iter(found.values()))
        figures: dict[str, Callable[[], Any]] = {}
        files: dict[str, Callable[[Any], Any]] = {"wiring.graphml": partial(nx.write_graphml, populations)}
        for seed, run in zip(settings.every_seed, found.values(), strict=True):
            suffix = "" if settings.seeds == 1 else f"-{seed}"
            cells = cell_graph(populations, run)
            files[f"synapses{suffix}.graphml"] = partial(nx.write_graphml, cells)
            figures[f"wiring{suffix}"] = partial(plot_wiring, cells)
        numbers, rows = heading(problem), {}
        for source, target, pathway in populations.edges(data=True):
            name, weights = pathway["weight"], abs(first.data[pathway["weight"]].values[-1])
            numbers |= {
                f"{name}_synapses": pathway["synapses"],
                f"{name}_rms": float((weights**2).mean() ** 0.5),
                f"{name}_strongest": float(weights.max()),
            }
            kind = "excitatory" if pathway["sign"] > 0 else "inhibitory"
            rows[f"{name}, {source} to {target}"] = (
                f"{pathway['synapses']} synapses, {kind}, rms {numbers[f'{name}_rms']:.3g}"
            )
        attrs = first.data.attrs
        return Findings(
            numbers=numbers | {"samples": first.samples, "engine": attrs["engine"], "seconds": attrs["seconds"]},
            title=f"{data.name}: after {first.samples} samples",
            rows=rows,
            results={"run": first},
            figures=figures,
            files=files,
        )


def cell_graph(populations: nx.MultiDiGraph, run: circuits.Run) -> nx.MultiDiGraph:
    """Spell out the graph of ``populations``: a node for each cell, an edge with its final weight for each synapse."""
    cells = nx.MultiDiGraph(name="cells of the microcircuit")
    for population, part in populations.nodes(data=True):
        for index in range(1, part["size"] + 1):
            cells.add_node(f"{population} {index}", population=population, index=index, shape=part["shape"])
    for source, target, name, pathway in populations.edges(keys=True, data=True):
        matrix = run.data[pathway["weight"]].values[-1]
        by_source = matrix.T if pathway["target_by_source"] else matrix
        for (i, j), weight in np.ndenumerate(by_source):
            cells.add_edge(
                f"{source} {i + 1}", f"{target} {j + 1}", key=name, pathway=name, matrix=pathway["weight"],
                drives=pathway["drives"], sign=pathway["sign"], weight=float(weight),
            )  # fmt: skip
    return cells


EXPERIMENT = Wiring()
