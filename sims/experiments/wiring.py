"""Draw the circuit with the weights it has learned.

Pyramidal cells are triangles with a proximal and a distal dendrite, interneurons circles; where an
axon crosses a dendrite there is a synapse, an arrowhead if it raises its target and a bar if it
lowers it, as large as it is strong. wiring.graphml holds populations, pathways and learning rules,
synapses.graphml every cell and every learned weight; for each further seed there is a drawing and a
graph more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Dataset
from biorrr.sims.lab import (
    PERCENT,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    TrainingSettings,
    default_ridge,
    experiment,
    learned,
)
from biorrr.sims.lazy import circuits, nx


@experiment(
    shows="the circuit, with the weights it has learned",
    takes="6 s",
    paper="Fig. 1",
    not_swept="learns as learn does, and draws",
    captions={
        "wiring": (
            "The circuit after learning. Triangles are pyramidal cells, each between its basal"
            " dendrites (below) and its apical dendrite (above); circles are interneurons."
            " Horizontal lines are the axons of inputs and of interneurons; beside each pyramidal"
            " cell rises its own axon, which crosses the dendrites of interneurons. Where an axon"
            " crosses a dendrite there is a synapse: an arrowhead if activity in the axon raises"
            " the target, a bar if it lowers it. Its size is the strength of the synapse; the"
            " legend gives the largest of each pathway, and Q and R share a scale. Since R becomes"
            " Q transposed while inhibition has a minus sign, each arrowhead of R has a bar of Q as"
            " its mirror image, and each bar an arrowhead."
        )
    },
    small={"data": SMALL_DATA, "epochs": 2, "engine": "numpy"},
)
def wiring(lab: Lab, settings: TrainingSettings) -> Findings:
    """Let circuits learn, and spell out the graph of each."""
    data = lab.load(settings.data, settings.k)
    settings = lab.fill_in(ridge=default_ridge(data))

    found = lab.map(learn_from, {}, data, seeds=settings.every_seed)

    runs = dict(zip(settings.every_seed, found.values, strict=True))
    first = runs[settings.seed]
    circuit = settings.make_circuit(k=settings.k, s=settings.s, ridge=settings.ridge)
    populations = circuit.wiring(data.X.shape[1], data.Y.shape[1])
    which = {seed: "" if settings.seeds == 1 else str(seed) for seed in runs}
    graphs = {
        f"synapses{'-' if which[seed] else ''}{which[seed]}.graphml": partial(
            nx.write_graphml, run.graph()
        )
        for seed, run in runs.items()
    }
    return Findings(
        title=f"{data.name}: after {first.samples} samples",
        quantities=[
            *learned(data, settings),
            *(
                one
                for a, b, edge in populations.edges(data=True)
                for one in pathway(a, b, edge, first)
            ),
            Quantity("samples", first.samples),
            Quantity("engine", first.data.attrs["engine"]),
            Quantity("seconds", first.data.attrs["seconds"]),
        ],
        data={"run": first},
        figures=[Figure("wiring", run.plot_wiring, which[seed]) for seed, run in runs.items()],
        files={"wiring.graphml": partial(nx.write_graphml, populations)} | graphs,
    )


def learn_from(task: Task, data: Dataset, seeds: Sequence[int]) -> list[circuits.Run]:
    """Let a circuit learn the data from each of ``seeds``."""
    settings, (k, s) = task.settings, (task.settings.k, task.settings.s)
    circuit = settings.make_circuit(k=k, s=s, ridge=settings.ridge, seed=seeds[0])
    return task.run(circuit, data.X, data.Y, seeds, epochs=settings.epochs, centre=True, record=())


def pathway(source: str, target: str, edge: dict[str, Any], run: circuits.Run) -> list[Quantity]:
    """Return number, size and sign of the synapses of one pathway, as the run has learned them."""
    name = edge["matrix"]
    weights = run.data[name].values[-1]
    row = f"{name}, {source} to {target}"
    raising = float((edge["sign"] * weights > 0).mean())
    return [
        Quantity(f"{name}_synapses", edge["synapses"], "", "synapses", row=row),
        Quantity(f"{name}_raising", raising, PERCENT, "of which raise their target", row=row),
        Quantity(f"{name}_rms", float((weights**2).mean() ** 0.5), "", "r.m.s.", row=row),
        Quantity(f"{name}_strongest", float(abs(weights).max())),
    ]
