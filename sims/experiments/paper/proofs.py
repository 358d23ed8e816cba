"""Theorems of the paper, checked by number: the chapter of ``biorrr paper`` that needs no race."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from biorrr.sims.data import Samples
from biorrr.sims.lab import (
    Claim,
    ExperimentSettings,
    Findings,
    Job,
    Lab,
    Quantity,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lab.checks import check_rank
from biorrr.sims.lazy import analysis, np
from biorrr.sims.races.heats import Heat, Track, tracks_of

# Bounds, fixed before anything was run.
EQUAL = 1e-8  # two ways to the same number agree
NEAR_ONE = 0.05  # an eigenvalue of QQ' over that of M differs from 1 by less, either way
SATURATED = 0.01  # ||Vx'CxxVx - I||^2/k at the end of the offline algorithm
OPTIMAL = 0.001  # excess over the optimum at the end of the offline algorithm
STEPS, QUICK_STEPS = 20_000, 500


@dataclass(frozen=True, kw_only=True)
class TheorySettings(ExperimentSettings):
    """Problems that are solved."""

    data: Samples = option("mediamill", "name of a data set")
    k: tuple[int, ...] = option((1, 2, 4), "ranks", at_least=1)
    seeds: int = seeds_option(3)
    ridge: float = option(0.1, "added to Cxx and Cyy on the diagonal", at_least=0)
    quick: bool = option(False, "fewer iterations, without verdicts")


@dataclass(frozen=True)
class Solution:
    """The offline algorithm on one problem."""

    heat: Heat
    k: int
    seed: int


@experiment(shows="what the paper proves, checked by number", takes="10 s")
def theory(lab: Lab, settings: TheorySettings) -> Findings:
    """Check that CCA is RRR, the constraint is saturated, the rules are local and the output is feedforward."""
    data = lab.load(settings.data)
    check_rank(max(settings.k), data)
    heats = [Heat(objective, "offline", swapped) for swapped in (True, False) for objective in ("rrmse", "cca")]
    tracks = tracks_of(data, heats, settings.ridge)

    problems = [Solution(heat, k, seed) for heat in heats for k in settings.k for seed in settings.every_seed]
    ends = lab.map(solve_offline, problems, tracks)

    pairs = [
        (track.exact.eigenvalues[: max(settings.k)], canonical_correlations(track, settings) ** 2)
        for heat, track in tracks.items()
        if heat.s == 1
    ]
    circuit = {s: settings.make_circuit(k=2, s=s) for s in (0.0, 0.5, 1.0)}
    rules = [rule for one in circuit.values() for rule in one.locality()]
    what = f"{data.name}, both directions, s = 0 and 1, k = {', '.join(map(str, settings.k))}"
    claims = [
        equivalence(*map(np.concatenate, zip(*pairs, strict=True)), run=f"exact solutions, {data.name}"),
        *saturation([*ends.values()], run=f"offline algorithm on {what}, {settings.seeds} seeds"),
        local(rules, run="rules as simulated, s = 0, 1/2, 1"),
        feedforward(*outputs(circuit[0.0], tracks[heats[0]]), run=f"100 samples of {data.name}, learning off"),
    ]
    quantities = [Quantity("data", data.name), Quantity("claims", len(claims), "", "claims")]
    return Findings(title=what, quantities=quantities, claims=claims)


def solve_offline(job: Job, problem: Solution, tracks: Mapping[Heat, Track]) -> dict[str, Any]:
    """Return where the offline algorithm ends, at rates that follow the data, beside the exact solution."""
    track, settings = tracks[problem.heat], job.settings
    learner = analysis.OfflineBioRRR(
        k=problem.k,
        s=problem.heat.s,
        ridge=settings.ridge,
        steps=QUICK_STEPS if settings.quick else STEPS,
        random_state=problem.seed,
    ).fit(track.data.X, track.data.Y)
    return {
        "QQ": np.linalg.eigvalsh(learner.Q_ @ learner.Q_.T)[::-1],
        "M": track.exact.eigenvalues[: problem.k],
        "whitening_error": track.exact.whitening_error(learner.Vx_),
        "excess": track.exact.excess(learner.Vx_),
    }


def canonical_correlations(track: Track, settings: TheorySettings) -> np.ndarray:
    """Return the largest canonical correlations by the generalized eigenproblem of supplement A."""
    from scipy import linalg

    from biorrr.analysis.regression.covariance import covariances

    C = covariances(track.data.X, track.data.Y, settings.ridge)
    A = np.block([[np.zeros_like(C.xx), C.xy], [C.xy.T, np.zeros_like(C.yy)]])
    return linalg.eigh(A, linalg.block_diag(C.xx, C.yy), eigvals_only=True)[::-1][: max(settings.k)]


def outputs(circuit: Any, track: Track) -> tuple[np.ndarray, np.ndarray]:
    """Return the outputs of the circuit's neurons in one tick per sample, (100, k), and Vx'x."""
    X, Y = track.data.X[:100], track.data.Y[:100]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of samples too few to be centred: nothing is learned from them
        run = circuit.run(X, Y, order="sequential", plastic=False, record=("z",), every=1, progress=False)
    return run.data["z"].values, X @ run.Vx


def equivalence(eigenvalues: np.ndarray, correlations: np.ndarray, **claim: Any) -> Claim:
    """Judge the claim that RRR at s = 1 is CCA: M's eigenvalues are the squared canonical correlations."""
    return Claim(
        text="RRR with Sigma = Cyy^-1 is equivalent to CCA: M has the squared canonical correlations for eigenvalues",
        place='supplement A, "Equivalence of CCA and RRR"',
        value=float(np.max(np.abs(eigenvalues - correlations) / np.abs(correlations))),
        high=EQUAL,
        **claim,
    )


def saturation(ends: list[Mapping[str, np.ndarray]], **claim: Any) -> Iterator[Claim]:
    """Judge the claims on the optimum of the offline algorithm, from how each of its runs has ended."""
    place = 'supplement C, "Saturation of the Bio-RRR inequality constraint"'
    ratios = np.array([float(end["QQ"][-1] / end["M"][-1]) for end in ends])
    yield Claim(
        text="at the optimum QQ' has no zero eigenvalue: its smallest is the k-th eigenvalue of M",
        place=place,
        value=float(ratios[np.argmax(np.abs(ratios - 1))]),
        spread=float(ratios.std()),
        low=1 - NEAR_ONE,
        high=1 + NEAR_ONE,
        unit="times that of M",
        numbers={"runs": len(ratios)},
        **claim,
    )
    for text, name, bound, unit in (
        ("the inequality constraint is saturated: Vx'CxxVx = I at the optimum", "whitening_error", SATURATED, ""),
        ("the minimum is where Vx spans the top k eigenvectors of M", "excess", OPTIMAL, "%"),
    ):
        values = np.array([float(end[name]) for end in ends])
        yield Claim(
            text=text, place=place, value=float(values.max()), high=bound, unit=unit,
            numbers={"runs": len(values), "mean": float(values.mean())}, **claim,
        )  # fmt: skip


def local(rules: list[Any], **claim: Any) -> Claim:
    """Judge the claim that every rule reads only what its own synapse sees, and no weight of another."""
    foreign = [rule.pathway for rule in rules if not rule.local]
    return Claim(
        text="the synaptic learning rules are local, and no weights are reused: each reads its two neurons and its own "
        "weight only (learning rates are announced to all)",
        place='Sec. 5.1, "Neural circuit", Eqs. 9 to 11; Sec. 6, "Interpretation of calcium plateau potential"',
        value=float(len(foreign)),
        high=0.0,
        unit="rules that are not",
        numbers={"rules": len(rules)} | ({"not local": ", ".join(foreign)} if foreign else {}),
        **claim,
    )


def feedforward(z: np.ndarray, projected: np.ndarray, **claim: Any) -> Claim:
    """Judge the claim that the output is Vx'x within one tick, without recurrent equilibration."""
    return Claim(
        text="the circuit is purely feedforward: its output is Vx'x, without equilibration of recurrent activity",
        place='Sec. 5.1, "Neural circuit"',
        value=float(np.abs(z - projected).max() / np.abs(projected).max()),
        high=1e-10,
        unit="of the largest output",
        **claim,
    )


UNTESTABLE = (
    Claim(
        text="enforcing the whitening constraint by a Lagrange multiplier gives updates that are not local",
        place='supplement B, "Naive implementation of the RRR constraint"',
        untestable="it is an argument about the form of an update, not a number; no such circuit is simulated",
    ),
    Claim(
        text="run times in seconds of the RRMSE and CCA experiments",
        place='supplement E, "Numerical experiment details"',
        untestable="they are of the authors' laptop (Python) and desktop (Matlab); here only ratios within one run are "
        "judged, all learners compiled alike",
    ),
    Claim(
        text="the objective's values on MediaMill with 100 textual predictors and T = 20,000 samples",
        place='Sec. 7, "Numerical experiments"',
        untestable="the textual features are not public; the 101 concepts of the same frames stand in for them, and "
        "the figures print no values",
    ),
    Claim(
        text="the circuit resembles cortical microcircuits; distal plasticity is Hebbian in neocortex but not in "
        "hippocampus",
        place='Sec. 5.2, "Comparison with neuroscience experiments"',
        untestable="it is a comparison with experiments, not with the model's own numbers",
    ),
)
