"""Theories that learn the same samples: their rate is searched, and their circuits are probed and lesioned."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Job
from biorrr.sims.lazy import analysis, circuits, data_sets, models, np

if TYPE_CHECKING:
    from biorrr.models.theories import Theory

RIDGE = 0.1  # of data of mean square 1, as noise of the fibres
NOT_LEARNED = 1.0  # excess of filters that explain nothing: what a circuit that diverged is given
SEARCH_SEEDS = (1000, 1001)  # beyond the seed of the experiment: the search has not seen the runs that are judged
EARLY = 100  # "during" learning is after this part of the samples
SILENCED = 3000  # samples for which learning goes on without inhibition
PROBED = 1000  # samples that probes show, with learning off
STAGES, REGRESSORS = ("before", "during", "after"), ("y", "x", "y - y~")
MANIPULATIONS = ("silenced", "cut", "inverted")


def every_theory(k: int) -> tuple[Theory, ...]:
    """Return the contestants, each with ``k`` cells."""
    from biorrr.models import theories as t

    feedbacks = [t.FeedbackAlignment(k=k, feedback=kind) for kind in ("backprop", "learned", "fixed")]  # type: ignore
    return (
        *feedbacks, t.Sacramento(k=k), t.Sacramento(k=k, learned=False), t.BurstDependent(k=k),
        t.BurstDependent(k=k, cancelling=False), t.UrbanczikSenn(k=k), t.UrbanczikSenn(k=k, teacher="Hebbian"),
        t.BioCCA(k=k), t.BioRRR(k=k),
    )  # fmt: skip


@dataclass(frozen=True)
class Contest:
    """A theory that learns from one seed, for a number of samples, at a rate of ``relative``/m at first."""

    theory: Theory
    relative: float
    samples: int
    seed: int

    def circuit(self, data: data_sets.Dataset, engine: str) -> tuple[Theory, circuits.Circuit]:
        """Return the theory at its rate, and its circuit."""
        rate = models.Rate(self.relative / data.X.shape[1], self.samples / 20)
        theory = replace(self.theory, rate=rate, ridge=RIDGE)
        return theory, circuits.Circuit(**theory.layout(data.Y.shape[1]), engine=engine, seed=self.seed)


def scaled(data: data_sets.Dataset) -> data_sets.Dataset:
    """Return the data, centred and of mean square 1."""
    X, Y = (one - one.mean(axis=0) for one in (np.asarray(data.X, dtype=float), np.asarray(data.Y, dtype=float)))
    return replace(data, X=X / np.sqrt(np.square(X).mean()), Y=Y / np.sqrt(np.square(Y).mean()))


def learned(job: Job, contest: Contest, data: data_sets.Dataset) -> tuple[Theory, circuits.Run | None]:
    """Return the theory at its rate and its run; None if it diverged."""
    theory, circuit = contest.circuit(data, job.settings.engine)
    (T, m), n = data.X.shape, data.Y.shape[1]
    order = np.random.default_rng(contest.seed).integers(T, size=contest.samples)
    early = max(contest.samples // EARLY, 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that say nothing: the same for all theories
            return theory, job.run(
                circuit, data.X, data.Y, order=order, weights=theory.start(m, n, contest.seed), record=(),
                snapshots=[early, contest.samples],
            )  # fmt: skip
    except circuits.Diverged:
        return theory, None


def predicted(contest: Contest, data: data_sets.Dataset) -> float:
    """Return the excess that law 1 predicts where feedback is fixed; NaN for other theories."""
    if "fixed" not in contest.theory.name:
        return float("nan")
    B = contest.theory.start(data.X.shape[1], data.Y.shape[1], contest.seed)["B"]
    return analysis.fixed_feedback_law(B, data.X, data.Y, RIDGE).excess


def try_rate(job: Job, contest: Contest, data: data_sets.Dataset) -> dict[str, Any]:
    """Return how far a theory ends from its prediction: from law 1 where that holds, else from the optimum."""
    theory, run = learned(job, contest, data)
    excess = _excess(theory, run, data)
    return {"distance": abs(excess - np.nan_to_num(predicted(contest, data)))}


def measure(job: Job, contest: Contest, data: data_sets.Dataset) -> dict[str, Any]:
    """Return scores of a theory after learning, what its dendrites carry, and what lesions do."""
    from biorrr.analysis.laws import explained

    theory, run = learned(job, contest, data)
    scores: dict[str, Any] = {
        "excess": _excess(theory, run, data), "law": predicted(contest, data), "participation": np.nan,
        "whitening": np.nan, "carries": np.full((3, 3), np.nan), "silenced_excess": np.nan, "soma_by_y": np.nan,
        "shown": np.full((3, 3), np.nan), "change": np.full(3, np.nan),
    }  # fmt: skip
    if run is None:
        return scores
    exact = analysis.Yardstick(data.X, data.Y, theory.s, RIDGE)
    gram = exact.gram(run.weights[theory.filters])
    scores |= {
        "participation": analysis.participation_ratio(gram),
        "whitening": float(exact.whitening_error(run.weights[theory.filters])),
    }
    rows = np.random.default_rng(contest.seed).permutation(len(data.X))[:PROBED]
    probe = _Probe(theory, data.X[rows], data.Y[rows], job.settings.engine)
    residual = analysis.fixed_feedback_law(np.eye(data.Y.shape[1]), data.X, data.Y, RIDGE).filters
    by = [probe.Y, probe.X, probe.Y - probe.X @ residual]
    stages = [{name: run.data[name].values[place] for name in run.weights} for place in (0, 1, -1)]
    scores["carries"] = np.array([[explained(probe.show(one)[1], each) for each in by] for one in stages])
    z, intact = probe.show(stages[-1])
    scores["soma_by_y"] = explained(z, np.hstack([probe.X, probe.Y])) - explained(z, probe.X)
    for place, lesion in enumerate(MANIPULATIONS):
        shown = probe.lesioned(stages[-1], lesion)
        if shown is not None:
            scores["shown"][place] = [explained(shown, each) for each in by]
            scores["change"][place] = np.sqrt(np.square(shown - intact).sum() / np.square(intact).sum())
    scores["silenced_excess"] = _relearned(job, contest, theory, run, data)
    return scores


def _excess(theory: Theory, run: circuits.Run | None, data: data_sets.Dataset) -> float:
    if run is None:
        return NOT_LEARNED
    return min(
        float(analysis.Yardstick(data.X, data.Y, theory.s, RIDGE).excess(run.weights[theory.filters])), NOT_LEARNED
    )


def _silencing(theory: Theory, at: int) -> tuple[Theory, list[Any]] | None:
    """Return the theory, and the events, by which inhibition of its dendrites falls silent; None if it has none."""
    from biorrr.models.theories import BioRRR, BurstDependent, Sacramento

    if isinstance(theory, BurstDependent) and theory.cancelling:
        return replace(theory, cancelling=False), []
    return (theory, [models.Silence(at)]) if isinstance(theory, Sacramento | BioRRR) else None


def _relearned(job: Job, contest: Contest, theory: Theory, run: circuits.Run, data: data_sets.Dataset) -> float:
    """Return the excess after learning has gone on without inhibition, at the rate it had in the middle."""
    silencing = _silencing(theory, 0)
    if silencing is None:
        return np.nan
    lesioned, events = silencing
    middle = models.Rate(theory.rate(contest.samples // 2))
    lesioned = replace(lesioned, rate=middle)
    circuit = circuits.Circuit(**lesioned.layout(data.Y.shape[1]), engine=job.settings.engine, seed=contest.seed)
    order = np.random.default_rng([contest.seed, 1]).integers(len(data.X), size=SILENCED)
    try:
        after = circuit.run(
            data.X, data.Y, order=order, weights=run.weights, events=events, progress=False, record=(), snapshots=1
        )
    except circuits.Diverged:
        return NOT_LEARNED
    return _excess(theory, after, data)


class _Probe:
    """Samples that are shown to a theory without noise and without learning."""

    def __init__(self, theory: Theory, X: np.ndarray, Y: np.ndarray, engine: str) -> None:
        self.theory, self.X, self.Y, self.engine = replace(theory, ridge=0.0), X, Y, engine

    def show(
        self, weights: dict[str, np.ndarray], cut: bool = False, silencing: tuple[Theory, list[Any]] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return outputs and apical signals, (n_samples, k) each."""
        theory, events = silencing or (self.theory, [])
        circuit = circuits.Circuit(**theory.layout(self.Y.shape[1]), engine=self.engine)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constant columns
            run = circuit.run(
                self.X, 0 * self.Y if cut else self.Y, order="sequential", weights=weights, plastic=False,
                record=("z", theory.apical), every=1, snapshots=1, progress=False, events=events,
            )  # fmt: skip
        return run.data["z"].values, run.data[theory.apical].values

    def lesioned(self, weights: dict[str, np.ndarray], lesion: str) -> np.ndarray | None:
        """Return apical signals without inhibition, without instruction, or with the readout inverted.

        The inverted readout is one that the outcome of the task depends on: theories without such a readout never
        hear of it. None where a theory has nothing to lesion.
        """
        if lesion == "silenced":
            silencing = _silencing(self.theory, 0)
            return None if silencing is None else self.show(weights, silencing=silencing)[1]
        if lesion == "inverted" and "U" in weights:
            inverted = ["U", "B"] if self.theory.name == "backprop" else ["U"]
            weights = weights | {name: -weights[name] for name in inverted}
        return self.show(weights, cut=lesion == "cut")[1]
