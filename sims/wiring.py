"""``biorrr wiring``: the circuit drawn with the weights it has learned, and as a graph for other programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from biorrr.sims import experiment
from biorrr.sims.checkpoints import Checkpoints
from biorrr.sims.folder import RESULTS, RunFolder
from biorrr.sims.learn import fit
from biorrr.sims.settings import config_text
from biorrr.sims.table import print_table
from biorrr.sims.training import TrainingSettings, train

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    import networkx as nx

    from biorrr.circuit import Run


@dataclass(frozen=True, kw_only=True)
class WiringSettings(TrainingSettings):
    """What can be set of ``biorrr wiring``."""


def wiring(settings: WiringSettings, folder: RunFolder) -> None:
    """Draw the circuit with the weights it has learned.

    Pyramidal cells are triangles with a proximal and a distal compartment, interneurons circles; synapses are coloured
    by sign and as wide as they are strong. wiring.graphml holds populations, pathways and learning rules,
    synapses.graphml every cell and every learned weight; for each further seed there is a drawing and a graph more.
    """
    import networkx as nx

    from biorrr.analysis.diagram import plot_wiring
    from biorrr.circuit import Microcircuit
    from biorrr.sims.data import load

    data = load(settings.data)
    settings, _ = fit(settings, data)
    m, n = data.X.shape[1], data.Y.shape[1]
    origin = experiment.provenance("wiring", data_sha256=data.checksum)
    populations = Microcircuit(settings.k, settings.s, ridge=settings.ridge).wiring(m, n)
    with folder.opened(config_text(settings, origin)):
        runs = train(settings, data, Checkpoints.of(folder, settings.checkpoint), record=())

    first = runs[settings.seed]
    folder.write_config(config_text(replace(settings, engine=first.data.attrs["engine"]), origin))
    with folder.writing(RESULTS) as path:
        first.save(path)
    with folder.writing("wiring.graphml") as path:
        nx.write_graphml(populations, path)
    for seed, run in runs.items():
        suffix = "" if settings.seeds == 1 else f"-{seed}"
        cells = cell_graph(populations, run)
        with folder.writing(f"synapses{suffix}.graphml") as path:
            nx.write_graphml(cells, path)
        folder.write_figure(f"wiring{suffix}", settings.format, plot_wiring(cells))
    numbers = {"data": data.name, "k": settings.k, "s": settings.s, "ridge": settings.ridge}
    for *_, pathway in populations.edges(data=True):
        weights = abs(first.data[pathway["weight"]].values[-1])
        numbers |= {
            f"{pathway['weight']}_synapses": pathway["synapses"],
            f"{pathway['weight']}_rms": float((weights**2).mean() ** 0.5),
            f"{pathway['weight']}_strongest": float(weights.max()),
        }
    numbers |= {"samples": first.samples, "engine": first.data.attrs["engine"], "seconds": first.data.attrs["seconds"]}
    folder.write_summary(numbers)
    rows = {
        f"{pathway['weight']}, {source} to {target}": f"{pathway['synapses']} synapses, "
        f"{'excitatory' if pathway['sign'] > 0 else 'inhibitory'}, rms {numbers[pathway['weight'] + '_rms']:.3g}"
        for source, target, pathway in populations.edges(data=True)
    }
    print_table(f"{data.name}: after {first.samples} samples", rows | {"written to": folder.path})


def cell_graph(populations: nx.MultiDiGraph, run: Run) -> nx.DiGraph:
    """Spell out the graph of ``populations``: a node for each cell, an edge with its final weight for each synapse."""
    import networkx as nx
    import numpy as np

    cells = nx.DiGraph(name="cells of the microcircuit")
    for population, part in populations.nodes(data=True):
        for index in range(1, part["size"] + 1):
            cells.add_node(f"{population} {index}", population=population, index=index, shape=part["shape"])
    for source, target, name, pathway in populations.edges(keys=True, data=True):
        matrix = run.data[pathway["weight"]].values[-1]
        # Vx and Vy are source by target, Q and R target by source.
        by_source = matrix.T if pathway["weight"] in ("Q", "R") else matrix
        for (i, j), weight in np.ndenumerate(by_source):
            cells.add_edge(
                f"{source} {i + 1}", f"{target} {j + 1}",
                pathway=name, matrix=pathway["weight"], sign=pathway["sign"], weight=float(weight),
            )  # fmt: skip
    return cells


command = experiment.command(WiringSettings, wiring)
