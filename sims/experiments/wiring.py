"""Draw the circuit with the weights it has learned.

Pyramidal cells are triangles with a proximal and a distal dendrite, interneurons circles; where an axon crosses a
dendrite there is a synapse, an arrowhead if it raises its target and a bar if it lowers it, as large as it is strong.
wiring.graphml holds populations, pathways and learning rules,
synapses.graphml every cell and every learned weight; for each further seed there is a drawing and a graph more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from biorrr.sims.experiment import Findings, Found, Problem
from biorrr.sims.lab.training import Training, TrainingSettings, heading
from biorrr.sims.lazy import nx


class Wiring(Training[TrainingSettings]):
    """``biorrr wiring``: the circuit drawn with the weights it has learned, and as a graph for other programs."""

    settings = TrainingSettings
    shows = "the circuit, with the weights it has learned"
    takes = "6 s"
    paper = "Fig. 1"
    not_swept = "learns as learn does, and draws"
    figures = {
        "wiring": "The circuit after learning. Triangles are pyramidal cells, each between its basal dendrites (below) "
        "and its apical dendrite (above); circles are interneurons. Horizontal lines are the axons of inputs and of "
        "interneurons; beside each pyramidal cell rises its own axon, which crosses the dendrites of interneurons "
        "(black). Where an axon crosses a dendrite there is a synapse: an arrowhead if activity in the axon raises the "
        "target, a bar if it lowers it. Its size is the strength of the synapse; the legend gives the largest of each "
        "pathway, and Q and R share a scale. Since R becomes Q transposed while inhibition has a minus sign, each "
        "arrowhead of R has a bar of Q as its mirror image, and each bar an arrowhead."
    }

    def conclude(self, problem: Problem[TrainingSettings], found: Found) -> Findings:
        """Spell out the graph of each seed's circuit, and sum up the first one's weights."""
        from biorrr.circuit.results.graph import cell_graph

        settings, data = problem.settings, problem.data
        circuit = settings.make_circuit(k=settings.k, s=settings.s, ridge=settings.ridge, seed=settings.seed)
        populations = circuit.wiring(data.X.shape[1], data.Y.shape[1])
        first = next(iter(found.values()))
        figures: dict[str, Callable[[], Any]] = {}
        files: dict[str, Callable[[Any], Any]] = {"wiring.graphml": partial(nx.write_graphml, populations)}
        for seed, run in zip(settings.every_seed, found.values(), strict=True):
            suffix = "" if settings.seeds == 1 else f"-{seed}"
            cells = cell_graph(run)
            files[f"synapses{suffix}.graphml"] = partial(nx.write_graphml, cells)
            figures[f"wiring{suffix}"] = run.plot_wiring
        numbers, rows = heading(problem), {}
        for source, target, pathway in populations.edges(data=True):
            name, weights = pathway["weight"], abs(first.data[pathway["weight"]].values[-1])
            numbers |= {
                f"{name}_synapses": pathway["synapses"],
                f"{name}_rms": float((weights**2).mean() ** 0.5),
                f"{name}_strongest": float(weights.max()),
            }
            raise_it = float((pathway["sign"] * first.data[name].values[-1] > 0).mean())
            rows[f"{name}, {source} to {target}"] = (
                f"{pathway['synapses']} synapses, of which {raise_it:.0%} raise their target and {1 - raise_it:.0%} "
                f"lower it, r.m.s. {numbers[f'{name}_rms']:.3g}"
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


EXPERIMENT = Wiring()
