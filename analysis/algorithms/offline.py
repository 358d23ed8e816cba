"""The paper's offline algorithm, Alg. 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from biorrr.analysis.algorithms.estimator import FilterLearner, learner
from biorrr.analysis.algorithms.kernel import falling, kernel, rate_table
from biorrr.analysis.algorithms.weights import initial_weights
from biorrr.analysis.checks import given_rates
from biorrr.analysis.regression.covariance import covariances, sigma_inverse
from biorrr.models.rates import Rates

# rates="auto": found by a coarse search over the random problems described in ann.py. Vx is fast,
# Vy and Q slow, and ever slower: descent-ascent at one rate circles the optimum.
_N = 1000.0  # iterations in which eta_y and eta_q halve
_DISTAL_DECAY = 0.06  # eta_y at s = 0
_DISTAL = 0.2  # eta_y at s = 1, where 1 is half the largest stable step
_INTERNEURON = 0.3  # eta_q
_Q_GROWTH = 0.5  # no iteration makes Q grow by more than this share
_CHECK_EVERY = 100  # iterations between looks at whether the gradients have vanished


@learner
class OfflineBioRRR(FilterLearner):
    """Offline Bio-RRR (Alg. 1): gradient descent in Vx and Vy, ascent in Q, on the covariances of
    all data.

    Each iteration takes three steps (Eqs. 5 to 7), one after another::

        Vx <- Vx + eta_x (Cxy Vy - Cxx Vx QQ')
        Vy <- Vy + eta_y (Cyx Vx - Sigma_s^-1 Vy)
        Q  <- Q  + eta_q (Vx' Cxx Vx - I) Q

    Each step sees what the one before it changed, as Alg. 1 is printed; with all three taken from
    the same weights, the rates printed for MediaMill and s = 1 diverge.

    Parameters
    ----------
    s
        0 is RRMSE, 1 is CCA; Sigma_s^-1 = s Cyy + (1-s) I.
    rates
        A :class:`~biorrr.models.rates.Rates`, such as ``Rates.paper("mediamill", s, k,
        "offline")``, or ``"auto"``: rates that follow the data, for any scale. With ||.|| the
        largest eigenvalue and f = 1/(1 + t/1000)::

            eta_x = 1 / (||Cxx|| Tr QQ')
            eta_y = f / ((1-s)/0.06 + s ||Cyy||/0.2)
            eta_q = min(0.3 f, 1/2 / Tr Vx' Cxx Vx)
    steps
        How many iterations `fit` does at most.
    tol
        Learning ends when each of the three gradients has shrunk to this share of the terms whose
        difference it is.
    random_state
        Seed of initial weights.
    Vx0, Vy0, Q0
        Initial weights, (m, k), (n, k), (k, l). By default of the size ``rates.start``, Vx ~ N(0,
        1)/100, Vy ~ N(0, 1)/10 and Q = I/3 unless given; with ``rates="auto"`` similar ones that
        follow the scale of the data.

    Attributes
    ----------
    Vx_, Vy_, Q_ : (m, k), (n, k), (k, l)
        Weights.

    The rest is as in :class:`~biorrr.analysis.algorithms.estimator.FilterLearner`.
    """

    s: float = 0.0
    rates: Rates | str = "auto"
    steps: int = 20_000
    tol: float = 1e-8
    Vx0: ArrayLike | None = None
    Vy0: ArrayLike | None = None
    Q0: ArrayLike | None = None

    def _learn(self, X, Y, stops, rng):
        m, n, s = X.shape[1], Y.shape[1], self.s
        given = given_rates(self.rates)
        if given:
            start = given.start
        else:  # so that learning runs alike at any scale of the data
            xx, yy = (np.square(A).sum() / len(A) or 1.0 for A in (X, Y))
            bound = yy / (
                1 - s + s * yy
            )  # on M's eigenvalues, which are those of QQ' at the optimum
            start = 0.01 / np.sqrt(xx), 0.03 * bound / np.sqrt(n * yy), 0.3 * np.sqrt(bound)
        Vx, Vy, Q = initial_weights((m, n, self.k), start, rng, self.Vx0, self.Vy0, self.Q0)
        self.Vx_, self.Vy_, self.Q_ = Vx, Vy, Q
        rates = rate_table(given, "xyq")
        _iterate(
            np.eye(m), np.zeros((m, n)), np.eye(n), Vx, Vy, Q, 0, 0, rates, np.ones(2), 0.0
        )  # compiles
        yield 0
        Cxx, Cxy, Cyy = covariances(X, Y, self.ridge_)
        Sigma_inv = sigma_inverse(Cyy, self.s)
        scales = np.ones(2)
        if not len(rates):
            xx, yy = (
                linalg.eigvalsh(C, subset_by_index=[len(C) - 1] * 2)[0] or 1.0 for C in (Cxx, Cyy)
            )
            scales[:] = xx, 1 / ((1 - self.s) / _DISTAL_DECAY + self.s * yy / _DISTAL)
        t, converged = 0, False
        for stop in stops:
            Vx, Vy, Q, t, converged = _iterate(
                Cxx, Cxy, Sigma_inv, Vx, Vy, Q, t, stop, rates, scales, self.tol
            )
            self.Vx_, self.Vy_, self.Q_ = Vx, Vy, Q
            yield t
            if converged:
                return

    def _passes(self, t, n_samples):
        return 2.0 * t  # the products with Vy, then those with the Vx that they have changed


@kernel
def _iterate(Cxx, Cxy, Sigma_inv, Vx, Vy, Q, t, stop, rates, scales, tol):
    """Alg. 1 from step t to ``stop`` or convergence.

    Returns Vx (m, k), Vy (n, k), Q (k, l), the step, and whether converged. rates is (3, 2), eta0
    and N for x, y and q, or (0, 2) for rates that follow the data; scales (2,) are then the largest
    eigenvalue of Cxx and eta_y at t = 0.
    """
    converged = False
    while t < stop and not converged:
        QQ = Q @ Q.T
        drive, inhibition = Cxy @ Vy, (Cxx @ Vx) @ QQ
        eta_x = falling(rates, 0, t) if len(rates) else 1 / (scales[0] * np.trace(QQ))
        Vx = Vx + eta_x * (drive - inhibition)
        cross, decay = Cxy.T @ Vx, Sigma_inv @ Vy
        eta_y = falling(rates, 1, t) if len(rates) else scales[1] / (1 + t / _N)
        Vy = Vy + eta_y * (cross - decay)
        Czz = Vx.T @ (Cxx @ Vx)
        growth, before = Czz @ Q, Q
        eta_q = (
            falling(rates, 2, t)
            if len(rates)
            else min(_INTERNEURON / (1 + t / _N), _Q_GROWTH / np.trace(Czz))
        )
        Q = Q + eta_q * (growth - Q)
        t += 1
        if t % _CHECK_EVERY == 0:
            converged = (
                np.linalg.norm(drive - inhibition) <= tol * np.linalg.norm(inhibition)
                and np.linalg.norm(cross - decay) <= tol * np.linalg.norm(decay)
                and np.linalg.norm(growth - before) <= tol * np.linalg.norm(before)
            )
    return Vx, Vy, Q, t, converged
