"""Let two instructive areas teach one.

Each area has a distal current and a rule of its own, V2 by RRMSE (s = 0) and MT by CCA (s = 1). The
cells maximise the sum of the areas' objectives: `joint_instruction` gives the exact solution.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Circuit, Rate, Rates, models
from biorrr.analysis import ExactSolution, joint_instruction

AREAS = {"V2": (0.0, 0.0), "MT": (1.0, 0.1)}  # s and ridge
RATES = Rates(x=Rate(0.003, 10_000), y=Rate(0.01, 10_000), q=Rate(0.01, 10_000))


def two_instructive_areas(k, engine="auto"):
    paper = models.microcircuit_parts(k, k, RATES)
    currents = [models.Variable(f"a_{area}", f"distal current from {area}") for area in AREAS]
    total = models.Step("membrane", "a = a_V2 + a_MT", replays=True)
    paper = paper.having(paper["pyramidal"].adding(*currents, total))
    populations = [part for part in paper.populations if part.name != "instructive"]
    pathways = [part for part in paper.pathways if part.name != "distal"]
    for area, (s, ridge) in AREAS.items():
        populations.append(
            replace(models.InstructiveInput(), name=f"fibres_{area}", dimension=area)
        )
        rule = f"eta_y * (y_pre * (z_post - {s} * a_{area}_post) - {1 - s + s * ridge} * w)"
        names = {
            "name": f"distal_{area}",
            "weight": f"Vy_{area}",
            "source": f"fibres_{area}",
            "drives": f"a_{area}",
        }
        pathways.append(replace(models.DistalSynapses(), change=rule, **names))
    ports = {"x": "sensory.x"} | {area: f"fibres_{area}.y" for area in AREAS}
    return Circuit(populations, pathways, ports, engine=engine)


def views():
    rng = np.random.default_rng(
        0
    )  # both areas hear x_0, weakly, and MT alone hears x_1, better than x_0
    X, noise = rng.standard_normal((1000, 5)), rng.standard_normal((1000, 6))
    V2 = noise[:, :3] * [1.2, 1, 1] + X[:, :1] * [1, 0, 0]
    MT = noise[:, 3:] * [1.2, 0.8, 1] + X[:, :2] @ [[1, 0, 0], [0, 1, 0]]
    return {name: values - values.mean(0) for name, values in (("x", X), ("V2", V2), ("MT", MT))}


if __name__ == "__main__":
    data = views()
    s, ridge = zip(*AREAS.values(), strict=True)
    exact = ExactSolution(data["x"], joint_instruction([data["V2"], data["MT"]], s=s, ridge=ridge))
    run = two_instructive_areas(k=1).run(
        data, epochs=60, weights={"Q": np.eye(1), "R": np.eye(1)}, progress=False
    )
    plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
    plt.loglog(run.data["seen"][1:], 100 * exact.excess(run.data["Vx"].values)[1:])
    plt.gca().set(xlabel="samples", ylabel="excess over the joint optimum (%)")
    plt.show()
