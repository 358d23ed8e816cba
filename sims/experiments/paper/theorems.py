"""Sentences of the paper that need no learning: algebra, locality, and the circuit beside the
algorithm.
"""

from __future__ import annotations

import warnings
from typing import Any

from biorrr.sims.data import Dataset
from biorrr.sims.experiments.plateau import PLACE as INTERPRETATION
from biorrr.sims.lab import (
    Claim,
    Findings,
    Lab,
    LearnerSettings,
    Quantity,
    default_ridge,
    experiment,
)
from biorrr.sims.lazy import analysis, models, np

# Bounds.
EQUAL = 1e-8  # two ways to the same number agree, relative to its size
SAME_CIRCUIT = 1e-10  # weights of circuit and algorithm, relative to the largest
MEMBERS = (0.0, 0.5, 1.0)  # values of s
PRESENTED = 300  # samples to circuit and algorithm
NEURAL_CIRCUIT = 'Sec. 5.1, "Neural circuit"'


@experiment(shows="the paper's algebra, checked by number", takes="5 s")
def algebra(lab: Lab, settings: LearnerSettings) -> Findings:
    """Check that CCA is RRR, rules are local, the output is feedforward and the circuit is the
    algorithm.
    """
    data = lab.load(settings.data, settings.k)
    settings = lab.fill_in(ridge=default_ridge(data))
    centred = data.centred()

    circuits = {s: settings.make_circuit(k=settings.k, s=s) for s in MEMBERS}
    about: dict[str, Any] = {"data": data.name}
    claims = [
        equivalence(centred, settings, **about),
        every_sigma(centred, settings, **about),
        local([rule for circuit in circuits.values() for rule in circuit.locality()]),
        feedforward(*outputs(circuits[0.0], centred), **about),
        *(implemented(centred, settings, s, **about) for s in MEMBERS),
    ]
    return Findings(
        title=f"{data.name}, k = {settings.k}",
        quantities=[Quantity("data", data.name)],
        claims=claims,
    )


def equivalence(centred: Dataset, settings: LearnerSettings, **about: Any) -> Claim:
    """Judge that M has the squared canonical correlations for eigenvalues at s = 1.

    The correlations come from the generalized eigenproblem of supplement A, the eigenvalues from
    the exact solution.
    """
    from scipy import linalg

    from biorrr.analysis.regression.exact_solution import covariances

    assert settings.ridge is not None
    C = covariances(centred.X, centred.Y, settings.ridge)
    A = np.block([[np.zeros_like(C.xx), C.xy], [C.xy.T, np.zeros_like(C.yy)]])
    correlations = linalg.eigh(A, linalg.block_diag(C.xx, C.yy), eigvals_only=True)[::-1]
    eigenvalues = analysis.ExactSolution(centred.X, centred.Y, 1.0, settings.ridge).eigenvalues
    deviations = np.abs(eigenvalues[: settings.k] / correlations[: settings.k] ** 2 - 1)
    return Claim(
        text="the objective is equivalent to Canonical Correlation Analysis (for Sigma = Cyy^-1)",
        place='Sec. 3.1, "Problem formulation"; supplement A, "Equivalence of CCA and RRR"',
        value=float(deviations.max()),
        high=EQUAL,
        run="eigenvalues of M beside squared canonical correlations, relative deviation",
        **about,
    )


def every_sigma(centred: Dataset, settings: LearnerSettings, **about: Any) -> Claim:
    """Judge that the rank-unconstrained regression, and with it y~, is the same for every Sigma.

    With Sigma = L'L the objective is ||LY - LWX||^2: LY is regressed on X, and the solution is
    taken back by L^-1.
    """
    assert settings.ridge is not None
    (T, m), n = centred.X.shape, centred.Y.shape[1]
    # The ridge as further samples with y = 0.
    X = np.vstack([centred.X, np.sqrt(T * settings.ridge) * np.eye(m)])
    Y = np.vstack([centred.Y, np.zeros((m, n))])
    Cyy = centred.Y.T @ centred.Y / T + settings.ridge * np.eye(n)
    drawn = np.random.default_rng(settings.seed).standard_normal((n, 2 * n))
    estimates = []
    for Sigma in (np.eye(n), np.linalg.inv(Cyy), drawn @ drawn.T):
        L = np.linalg.cholesky(Sigma).T
        W = np.linalg.solve(L, np.linalg.lstsq(X, Y @ L.T)[0].T)
        estimates.append(centred.X @ W.T)  # y~, (T, n)
    deviations = [np.abs(one - estimates[0]).max() for one in estimates[1:]]
    return Claim(
        text=(
            "y~ is the best estimate of y in every Sigma-norm (Cyx Cxx^-1 = argmin ||Y -"
            " WX||^2_Sigma)"
        ),
        place=INTERPRETATION,
        value=float(max(deviations) / np.abs(estimates[0]).max()),
        high=EQUAL,
        run="y~ with Sigma = I, Cyy^-1 and one drawn at random, largest relative deviation",
        **about,
    )


def local(rules: list[Any], **about: Any) -> Claim:
    """Judge that every rule reads only what its own synapse sees, and no weight of another."""
    foreign = [rule.pathway for rule in rules if not rule.local]
    return Claim(
        text=(
            "weight updates are proportional to quantities available to the synapse locally; no"
            " weights are reused"
        ),
        place=f"{NEURAL_CIRCUIT}; {INTERPRETATION}",
        value=float(len(foreign)),
        high=0.0,
        unit="rules that are not local",
        numbers={"rules": len(rules)} | ({"not local": ", ".join(foreign)} if foreign else {}),
        run="rules as simulated, s = 0, 1/2, 1; learning rates are announced to all synapses",
        **about,
    )


def outputs(circuit: Any, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the outputs of the circuit's neurons in one tick per sample, (100, k), and Vx'x."""
    X, Y = data.X[:100], data.Y[:100]
    # Of samples too few to be centred: nothing is learned from them.
    with warnings.catch_warnings(action="ignore"):
        run = circuit.run(
            X, Y, order="sequential", plastic=False, record=("z",), every=1, progress=False
        )
    return run.data["z"].values, X @ run.Vx


def feedforward(z: np.ndarray, projected: np.ndarray, **about: Any) -> Claim:
    """Judge that the output is Vx'x within one tick, without recurrent equilibration."""
    return Claim(
        text="the output computation does not require equilibration of recurrent activity",
        place=NEURAL_CIRCUIT,
        value=float(np.abs(z - projected).max() / np.abs(projected).max()),
        high=SAME_CIRCUIT,
        run="output in one tick beside Vx'x, relative deviation",
        **about,
    )


def implemented(centred: Dataset, settings: LearnerSettings, s: float, **about: Any) -> Claim:
    """Judge that the circuit, synapse by synapse, learns what Alg. 2 learns from the same samples.

    Without a ridge: the paper adds one to the algorithm, and replay, by which the circuit has one,
    is not the paper's.
    """
    rng = np.random.default_rng(settings.seed)
    X, Y = (view / np.sqrt(np.square(view).sum(axis=1).mean()) for view in (centred.X, centred.Y))
    order = rng.integers(len(X), size=PRESENTED)
    x, y, q = (models.Rate(eta0, 1_000) for eta0 in (0.1, 0.05, 0.02))
    k, rates = settings.k, models.Rates(x, y, q)
    start: dict[str, Any] = {
        "Vx0": rng.standard_normal((X.shape[1], k)) / 10,
        "Vy0": rng.standard_normal((Y.shape[1], k)) / 10,
        "Q0": np.eye(k) / 3,
        "R0": np.eye(k) / 3,
    }
    with warnings.catch_warnings(action="ignore"):  # of constant columns
        circuit = settings.make_circuit(k=k, s=s, rates=rates, ridge=0.0, **start)
        run = circuit.run(X, Y, order=order, snapshots=1, record=(), progress=False)
    algorithm = analysis.OnlineBioRRR(k, s=s, rates=rates, ridge=0.0, **start).partial_fit(
        X[order], Y[order]
    )
    pairs = [(run.weights[name], getattr(algorithm, f"{name}_")) for name in ("Vx", "Vy", "Q", "R")]
    return Claim(
        text="the algorithm for online RRR can be implemented in a neural circuit",
        place=f"{NEURAL_CIRCUIT}; Fig. 1",
        value=max(float(np.abs(one - other).max() / np.abs(other).max()) for one, other in pairs),
        high=SAME_CIRCUIT,
        s=s,
        k=k,
        run=f"weights of circuit and Alg. 2 after {PRESENTED} samples, largest relative deviation",
        **about,
    )
