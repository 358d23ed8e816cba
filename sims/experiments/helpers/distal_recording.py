"""A learning circuit whose distal plasticity is recorded, as completely or as poorly as an experiment can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biorrr.sims.experiment import Problem
from biorrr.sims.lab.circuits import completed
from biorrr.sims.lazy import analysis, np

LEARNED, RECORDED = 1000, 1000  # samples before the recording, and in it
ACTIVITY_NOISE, IMAGING_NOISE = 0.1, 0.02  # of activities and of weights, as fractions of their root mean square
EVERY, CALCIUM = 20, 4.5  # samples between observations of the weights; time constant of calcium, in samples
CONDITIONS = {
    "everything": "everything, without noise",
    "noise": f"noise of {ACTIVITY_NOISE:.0%} in all quantities",
    "half": "half of the synapses, with that noise",
    "sparse": f"weights at every {EVERY}th sample, imaging noise of {IMAGING_NOISE:.0%}",
    "calcium": f"calcium of {CALCIUM:g} samples in place of z and a",
}
CONTROLS = {
    "shuffled": "changes that belong to other samples",
    "frozen": "weights that do not change, imaged with noise",
    "oja": "Oja's rule, dVy = eta (yz' - z²Vy)",
}


def record(
    problem: Problem[Any], s: float, seed: int, options: Mapping[str, Any], **further: Any
) -> tuple[Any, Any, Any, Any]:
    """Activities (RECORDED, n), (RECORDED, k), (RECORDED, k) of a circuit that learns; weights (RECORDED + 1, n, k)."""
    settings, data = problem.settings, problem.data
    circuit = settings.make_circuit(k=settings.k, s=s, ridge=0.0, seed=seed, **further)
    order = np.random.default_rng(seed).integers(len(data.X), size=LEARNED + RECORDED + 1)
    run = completed(
        circuit.run(
            data.X, data.Y, order=order, record=("y", "z", "a", "Vy"), every=[(LEARNED, len(order))], snapshots=1,
            centre=True, **options,
        )
    ).data  # fmt: skip
    y, z, a = (run[name].values[1:] for name in ("y", "z", "a"))
    return y, z, a, run["Vy_trace"].values.reshape(RECORDED + 1, y.shape[1], -1)


def observe(condition: str, y, z, a, Vy, rng: np.random.Generator) -> Any:
    """What is left of a recording in one of the conditions."""
    from biorrr.analysis.distal.observation import between_observations, calcium, deconvolved
    from biorrr.analysis.distal.power import observed

    every = EVERY if condition == "sparse" else 1
    when = np.arange(0, len(Vy), every)
    if condition == "everything":
        return between_observations(y, z, a, Vy[when], when)
    if condition == "calcium":
        z, a = (deconvolved(observed(calcium(one, CALCIUM), ACTIVITY_NOISE / 2, rng), CALCIUM) for one in (z, a))
    else:
        z, a = (observed(one, ACTIVITY_NOISE, rng) for one in (z, a))
    y = observed(y, ACTIVITY_NOISE, rng)
    if condition == "sparse":
        return between_observations(y, z, a, observed(Vy[when], IMAGING_NOISE, rng), when)
    seen = between_observations(y, z, a, Vy, when)
    seen = seen._replace(**{name: observed(getattr(seen, name), ACTIVITY_NOISE, rng) for name in ("Vy", "dVy")})
    if condition == "half":
        half = slice(seen.y.shape[-1] // 2)
        seen = seen._replace(y=seen.y[..., half], Vy=seen.Vy[:, half], dVy=seen.dVy[:, half])
    return seen


def infer_in_every_condition(recording: tuple[Any, Any, Any, Any], seed: int) -> dict[str, np.ndarray]:
    """Estimate, ends of its interval and what is left unexplained, (4,), by condition."""
    found = {}
    for number, condition in enumerate(CONDITIONS):
        one = analysis.infer_s(*observe(condition, *recording, np.random.default_rng([seed, number])))
        found[condition] = np.array([one.s, one.low, one.high, one.unexplained])
    return found


def run_control(problem: Problem[Any], control: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What is inferred where there is no s to be found."""
    from dataclasses import replace

    from biorrr.models import DistalSynapses

    seed = problem.settings.seed
    if control == "oja":
        rule = replace(DistalSynapses(), change="eta_y * (y_pre * z_post - z_post**2 * w)")
        recording = record(problem, 0.0, seed, options, pathways=[rule])
        seen = observe("everything", *recording, np.random.default_rng(seed))
    elif control == "frozen":
        still = replace(DistalSynapses(), change="")
        recording = record(problem, 0.0, seed, options, pathways=[still])
        seen = observe("sparse", *recording, np.random.default_rng(seed))
    else:
        seen = observe("noise", *record(problem, 0.0, seed, options), np.random.default_rng(seed))
        seen = seen._replace(dVy=seen.dVy[np.random.default_rng(seed).permutation(len(seen.dVy))])
    found = analysis.infer_s(*seen, noise=0.0 if control == "oja" else None)
    return {"fooled": found.can_tell and not found.another_rule, "words": str(found)}
