"""Numbers that others have published, reproduced by the exact solution and by the learned circuit.

Tobacco: Anderson & Bancroft, *Statistical Theory in Research*, 1952, p. 205; eigenvalues as in
Izenman, *Modern Multivariate Statistical Techniques*, 2008, and the R package rrr. Linnerud: SAS's
example of canonical correlation, which statsmodels tests too.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_linnerud

from biorrr import Microcircuit, principal_angles
from biorrr.analysis import ReducedRankRegression
from biorrr.circuit.engines.compiler import find_compiler

TOBACCO = Path(os.environ.get("BIORRR_DATA", "no folder")) / "reference" / "tobacco.csv"
EIGENVALUES = [3.28209974, 0.03782978, 0.01015996]  # of tobacco, with covariances over T - 1
CORRELATIONS = [0.79561, 0.20056, 0.07257]  # of linnerud
WILKS, PILLAI, HOTELLING_LAWLEY = 0.35039053, 0.67848151, 1.77194146

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")


def centred(values):
    return values - values.mean(axis=0)


@pytest.fixture(scope="module")
def tobacco():
    if not TOBACCO.is_file():
        pytest.skip("tobacco.csv is not here; BIORRR_DATA names the folder of data")
    values = centred(np.loadtxt(TOBACCO, delimiter=",", skiprows=1))
    return values[:, 3:], values[:, :3]  # six predictors, three responses


@pytest.fixture(scope="module")
def linnerud():
    exercise, physiology = load_linnerud(return_X_y=True)
    return centred(physiology), centred(exercise)


def eigenvalues(Vx, X, Y):
    """Eigenvalues of M in the span of ``Vx``: what whitened outputs predict of Y, for RRMSE."""
    Z = X @ Vx
    U, _, _ = np.linalg.svd(Z, full_matrices=False)
    return np.linalg.svd(U.T @ Y, compute_uv=False) ** 2


def correlations(Vx, X, Y):
    """Canonical correlations between X Vx and Y."""
    U, _, _ = np.linalg.svd(X @ Vx, full_matrices=False)
    W, _, _ = np.linalg.svd(Y, full_matrices=False)
    return np.linalg.svd(U.T @ W, compute_uv=False)


def test_eigenvalues_of_tobacco(tobacco):
    X, Y = tobacco
    exact = ReducedRankRegression(3, s=0).fit(X, Y)
    np.testing.assert_allclose(exact.eigenvalues_ * len(X) / (len(X) - 1), EIGENVALUES, atol=5e-9)


def test_canonical_correlations_of_linnerud(linnerud):
    exact = ReducedRankRegression(3, s=1).fit(*linnerud)
    squared = exact.eigenvalues_
    np.testing.assert_allclose(np.sqrt(squared), CORRELATIONS, atol=5e-6)
    assert np.prod(1 - squared) == pytest.approx(WILKS, abs=5e-9)
    assert squared.sum() == pytest.approx(PILLAI, abs=5e-9)
    assert (squared / (1 - squared)).sum() == pytest.approx(HOTELLING_LAWLEY, abs=5e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_subspace_is_that_of_scikit_learn(linnerud, k):
    X, Y = linnerud
    theirs = CCA(k, scale=False, max_iter=10_000, tol=1e-14).fit(X, Y)
    ours = ReducedRankRegression(k, s=1).fit(X, Y)
    assert principal_angles(ours.Vx_, theirs.x_rotations_).max() < 0.01  # degrees


def test_the_correlations_are_those_of_statsmodels(linnerud):
    multivariate = pytest.importorskip("statsmodels.multivariate.cancorr")
    X, Y = linnerud
    theirs = multivariate.CanCorr(Y, X)
    ours = ReducedRankRegression(3, s=1).fit(X, Y)
    np.testing.assert_allclose(np.sqrt(ours.eigenvalues_), theirs.cancorr, atol=1e-10)
    assert principal_angles(ours.Vx_[:, :2], theirs.x_cancoef[:, :2]).max() < 1e-6


def inhibited(run):
    """Eigenvalues of Q R, largest first: at the optimum they are those of M (supplement C)."""
    return np.sort(np.linalg.eigvals(run.Q @ run.R).real)[::-1]


@needs_compiler
@pytest.mark.parametrize("seed", [20, 21, 22])
def test_the_circuit_learns_the_eigenvalues_of_tobacco(tobacco, seed):
    X, Y = tobacco
    run = Microcircuit(k=3, s=0.0, engine="cpp", seed=seed).run(X, Y, epochs=80_000, record=())
    scale = len(X) / (len(X) - 1)
    np.testing.assert_allclose(eigenvalues(run.Vx, X, Y) / (len(X) - 1), EIGENVALUES, rtol=0.005)
    np.testing.assert_allclose(inhibited(run) * scale, EIGENVALUES, rtol=0.01)


@needs_compiler
@pytest.mark.parametrize("seed", [20, 21, 22])
def test_the_circuit_learns_the_correlations_of_linnerud(linnerud, seed):
    X, Y = linnerud
    run = Microcircuit(k=2, s=1.0, engine="cpp", seed=seed).run(X, Y, epochs=100_000, record=())
    np.testing.assert_allclose(correlations(run.Vx, X, Y)[:2], CORRELATIONS[:2], rtol=0.0005)
    np.testing.assert_allclose(np.sqrt(inhibited(run)), CORRELATIONS[:2], rtol=0.01)
