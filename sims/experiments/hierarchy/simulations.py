"""Hierarchies that learn, and hierarchies that are followed after a lesion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Job
from biorrr.sims.lab.circuits import make_circuit
from biorrr.sims.lazy import analysis, circuits, data_sets, models, np, xr

if TYPE_CHECKING:
    from biorrr.sims.experiments.hierarchy import HierarchySettings

SNAPSHOTS = 40
FOLLOWED = 0.1  # of the samples learned, for which a lesion is followed
RUNAWAY = 1e6  # variance beyond which outputs are no longer followed


@dataclass(frozen=True)
class Lesion:
    """A lesion of a hierarchy that has learned: its feedback is cut, or interneurons of the first area are silent."""

    words: str
    cuts_feedback: bool


FEEDBACK_CUT = Lesion("feedback cut", cuts_feedback=True)
INTERNEURONS_SILENT = Lesion("interneurons of area 1 silent", cuts_feedback=False)


def make_hierarchy(settings: HierarchySettings, seed: int) -> Any:
    """Make the circuit to simulate: a hierarchy, or what the user's function returns for its arguments."""
    arguments: dict[str, Any] = {
        "areas": settings.areas, "gains": settings.gains, "s": settings.s, "ridge": (settings.ridge, 0.0),
        "engine": settings.engine, "seed": seed,
    }  # fmt: skip
    if settings.circuit is not None:
        return make_circuit(settings.circuit, **arguments)
    return circuits.Hierarchy(**arguments)


def order_of(rows: int, samples: int, seed: int) -> np.ndarray:
    """Return passes over all rows, each in a random order, until there are enough samples; (samples,)."""
    rng = np.random.default_rng([seed, rows])
    return np.concatenate([rng.permutation(rows) for _ in range(-(-samples // rows))])[:samples]


def learn(job: Job, seed: int, data: data_sets.Dataset) -> circuits.Run:
    """Let a hierarchy learn the data from a seed."""
    X, Y = data.stand_in
    order = order_of(len(X), job.settings.samples, seed)
    return job.run(make_hierarchy(job.settings, seed), X, Y, order=order, snapshots=SNAPSHOTS)


def follow_lesion(job: Job, lesion: Lesion, data: data_sets.Dataset, trained: circuits.Run) -> dict[str, Any]:
    """Return samples seen since the lesion, (S,), and the mean variance of each area's outputs, (S, areas)."""
    settings, (X, Y) = job.settings, data.stand_in
    order = order_of(len(X), max(200, round(FOLLOWED * settings.samples)), settings.seed + 1000)
    weights, event = trained.weights, models.Silence(0, population="interneurons_1")
    if lesion.cuts_feedback:
        weights, event = weights | {"A1": 0 * weights["A1"]}, models.Freeze(0, "A1")
    hierarchy = make_hierarchy(settings, settings.seed)
    try:
        run = job.run(hierarchy, X, Y, order=order, weights=weights, events=[event], snapshots=20)
    except (circuits.Unsettled, circuits.Diverged) as error:
        run = error.run
    yardstick = analysis.HierarchyYardstick(X, Y, settings.gains, s=settings.s, ridge=(settings.ridge, 0.0))
    variances: list[np.ndarray] = []
    for snapshot in range(run.data.sizes["snapshot"]):
        first, *others = run.area_weights(snapshot)
        if not lesion.cuts_feedback:
            first = first._replace(Q=0 * first.Q)
        filters = models.settled_filters([first, *others], run.gains)
        with np.errstate(over="ignore", invalid="ignore"):
            variance = np.array([np.trace(yardstick.covariance(f)) / f.shape[1] for f in filters])
        variances.append(np.nan_to_num(variance, nan=RUNAWAY).clip(max=RUNAWAY))
        if variances[-1].max() >= RUNAWAY:
            break
    return {"seen": run.data["seen"].values[: len(variances)], "variances": np.array(variances)}


def lesion_courses(found: Mapping[Lesion, Mapping[str, np.ndarray]]) -> xr.Dataset:
    """Return ``since`` (lesion, step) and ``variance`` (lesion, step, area), NaN after outputs have run away."""
    each = [
        xr.Dataset(
            {"since": ("step", one["seen"]), "variance": (("step", "area"), one["variances"])},
            {"step": range(len(one["seen"]))},
        )
        for one in found.values()
    ]
    return xr.concat(each, dim="lesion", join="outer").assign_coords(lesion=[lesion.words for lesion in found])
