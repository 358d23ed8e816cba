"""Two instructive areas onto one: each teaches through a dendritic current of its own, with a regression of its own.

Each distal synapse sees the current of its own area, dVy_j = eta (y_j (z - s_j a_j)' - (1 - s_j + s_j ridge_j) Vy_j).
At the fixed point Vy_j = Sigma_j C_j Vx with Sigma_j^-1 = s_j (C_jj + ridge_j I) + (1 - s_j) I, and Vx maximises the
sum of the areas' own objectives: `joint_instruction` gives the exact solution. One current for both would be one
concatenated y, in which the areas' covariance with each other counts too.
"""

from dataclasses import replace

import numpy as np

from biorrr.analysis import Yardstick, joint_instruction
from biorrr.circuit import Circuit
from biorrr.models import (
    DistalSynapses,
    InstructiveInput,
    PyramidalNeurons,
    Rate,
    Rates,
    Step,
    Variable,
    microcircuit_parts,
)

AREAS = {"V2": (0.0, 0.0), "MT": (1.0, 0.1)}  # s and ridge: V2 by RRMSE, MT by CCA
RATES = Rates(x=Rate(0.003, 10_000), y=Rate(0.01, 10_000), q=Rate(0.01, 10_000))


def two_instructive_areas(k: int, engine: str = "auto") -> Circuit:
    """Return a circuit of k cells with ports x, V2 and MT."""
    cells = PyramidalNeurons(k)
    currents = tuple(Variable(f"a_{area}", f"distal current from {area}") for area in AREAS)
    total = Step("membrane", "a = " + " + ".join(current.name for current in currents), replays=True)
    cells = replace(cells, variables=(*cells.variables, *currents), steps=(total, *cells.steps))
    fibres = [InstructiveInput(name=f"fibres_{area}", dimension=area) for area in AREAS]
    distal = [
        replace(
            DistalSynapses(), name=f"distal_{area}", weight=f"Vy_{area}", source=f"fibres_{area}", drives=f"a_{area}",
            change=f"eta_y * (y_pre * (z_post - {s} * a_{area}_post) - {1 - s + s * ridge} * w)",
        )
        for area, (s, ridge) in AREAS.items()
    ]  # fmt: skip
    paper = microcircuit_parts(k, k, RATES)
    populations = [p for p in paper.populations if p.name not in ("instructive", "pyramidal")]
    pathways = [p for p in paper.pathways if p.name != "distal"]
    ports = {"x": "sensory.x"} | {area: f"fibres_{area}.y" for area in AREAS}
    return Circuit([*populations, *fibres, cells], [*pathways, *distal], ports, engine=engine)


def views() -> dict[str, np.ndarray]:
    """Return data in which both areas hear x_0, weakly, and MT alone hears x_1, better than x_0."""
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((1000, 5)), rng.standard_normal((1000, 6))
    V2 = noise[:, :3] * [1.2, 1, 1] + X[:, :1] * [1, 0, 0]
    MT = noise[:, 3:] * [1.2, 0.8, 1] + X[:, :2] @ [[1, 0, 0], [0, 1, 0]]
    return {name: values - values.mean(0) for name, values in (("x", X), ("V2", V2), ("MT", MT))}


if __name__ == "__main__":
    data = views()
    s, ridge = zip(*AREAS.values(), strict=True)
    exact = Yardstick(data["x"], joint_instruction([data["V2"], data["MT"]], s=s, ridge=ridge))
    run = two_instructive_areas(k=1).run(data, epochs=60, weights={"Q": np.eye(1), "R": np.eye(1)})
    print(f"{100 * exact.excess(run.weights['Vx']):.2f} % above the optimum of both areas together")
