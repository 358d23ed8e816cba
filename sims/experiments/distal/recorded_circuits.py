"""A learning circuit whose distal plasticity is recorded, as completely or as poorly as an
experiment can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from biorrr.sims.lab import Task
from biorrr.sims.lazy import analysis, data_sets, np

LEARNED, RECORDED = 1000, 1000  # samples before the recording, and in it


@dataclass(frozen=True)
class Condition:
    """A way to observe a circuit.

    Parameters
    ----------
    name, words
        Coordinate of results; words of tables and figures.
    noise
        Noise of activities, weights and changes, as a fraction of their root mean square.
    every
        Samples between observations of the weights.
    weight_noise
        Noise of one look at the weights in place of noise of weights and changes, as a fraction.
    calcium
        Time constant of calcium, in samples, where it is observed in place of z and a.
    half
        True if half of the synapses are observed.
    """

    name: str
    words: str
    noise: float = 0.1
    every: int = 1
    weight_noise: float | None = None
    calcium: float | None = None
    half: bool = False


CONDITIONS = (
    Condition("everything", "everything, without noise", noise=0.0),
    Condition("noise", "noise of 10% in all quantities"),
    Condition("half", "half of the synapses, with that noise", half=True),
    Condition(
        "sparse", "weights at every 20th sample, imaging noise of 2%", every=20, weight_noise=0.02
    ),
    Condition("calcium", "calcium of 4.5 samples in place of z and a", calcium=4.5),
)


@dataclass(frozen=True)
class RecordedCircuit:
    """A circuit that learns with one s, from one seed, observed in every condition."""

    s: float
    seed: int


def record(task: Task, data: data_sets.Dataset, s: float, seed: int) -> tuple[Any, Any, Any, Any]:
    """Record a circuit that learns: return y (RECORDED, n), z and a (RECORDED, k), and Vy (RECORDED
    + 1, n, k).
    """
    settings = task.settings
    circuit = settings.make_circuit(k=settings.k, s=s, ridge=0.0, seed=seed)
    order = np.random.default_rng(seed).integers(len(data.X), size=LEARNED + RECORDED + 1)
    run = task.run(
        circuit,
        data.X,
        data.Y,
        order=order,
        record=("y", "z", "a", "Vy"),
        every=[(LEARNED, len(order))],
        snapshots=1,
        centre=True,
    ).data
    y, z, a = (run[name].values[1:] for name in ("y", "z", "a"))
    return y, z, a, run["Vy_trace"].values.reshape(RECORDED + 1, y.shape[1], -1)


def observe(condition: Condition, y, z, a, Vy, rng: np.random.Generator) -> Any:
    """Return what a condition leaves of a recording."""
    from biorrr.analysis.distal.observation import between_observations, deconvolved
    from biorrr.analysis.distal.power import observed

    when, noise = np.arange(0, len(Vy), condition.every), condition.noise
    if not noise:
        return between_observations(y, z, a, Vy[when], when)
    if (decay := condition.calcium) is not None:
        imaged = (
            observed(analysis.eligibility_trace(one, decay), noise / 2, rng) for one in (z, a)
        )
        z, a = (deconvolved(one, decay) for one in imaged)
    else:
        z, a = (observed(one, noise, rng) for one in (z, a))
    y = observed(y, noise, rng)
    if condition.weight_noise is not None:
        return between_observations(y, z, a, observed(Vy[when], condition.weight_noise, rng), when)
    seen = between_observations(y, z, a, Vy, when)
    seen = seen._replace(
        **{name: observed(getattr(seen, name), noise, rng) for name in ("Vy", "dVy")}
    )
    if condition.half:
        half = slice(seen.y.shape[-1] // 2)
        seen = seen._replace(y=seen.y[..., half], Vy=seen.Vy[:, half], dVy=seen.dVy[:, half])
    return seen


def infer_in_every_condition(
    task: Task, item: RecordedCircuit, data: data_sets.Dataset
) -> dict[str, np.ndarray]:
    """Return the estimate and the ends of its confidence interval, (3,), by name of the
    condition.
    """
    recording = record(task, data, item.s, item.seed)
    found = {}
    for number, condition in enumerate(CONDITIONS):
        one = analysis.infer_s(
            *observe(condition, *recording, np.random.default_rng([item.seed, number]))
        )
        found[condition.name] = np.array([one.s, one.low, one.high])
    return found
