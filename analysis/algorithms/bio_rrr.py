"""The paper's two algorithms: offline, Alg. 1, and online, Alg. 2 with the supplement's ridge."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from biorrr.analysis.algorithms.estimator import FilterLearner, initial_weights, learner
from biorrr.analysis.algorithms.kernel import (
    add_outer,
    add_product,
    kernel,
    mix,
    rates_at,
    set_gram,
    set_product,
    square,
    vanished,
)
from biorrr.analysis.checks import given_rates, ridge_pair
from biorrr.analysis.regression.exact_solution import covariances, sigma_inverse
from biorrr.models.auto_rates import MEMORY, PLANNED, Drive, plan
from biorrr.models.rates import Rates

# rates="auto": found by a coarse search over random problems as in backprop.py. Vx is fast,
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

    online = False

    def _begin(self, X, Y, rng):
        m, n, s, given = X.shape[1], Y.shape[1], self.s, given_rates(self.rates)
        if given:
            sizes = given.start
        else:  # so that learning runs alike at any scale of the data
            xx, yy = (np.square(A).sum() / len(A) or 1.0 for A in (X, Y))
            bound = yy / (
                1 - s + s * yy
            )  # on M's eigenvalues, which are those of QQ' at the optimum
            sizes = 0.01 / np.sqrt(xx), 0.03 * bound / np.sqrt(n * yy), 0.3 * np.sqrt(bound)
        Vx, Vy, Q = initial_weights((m, n, self.k), sizes, rng)
        self.Vx_, self.Vy_ = self._given("Vx0", Vx), self._given("Vy0", Vy)
        self.Q_ = self._given("Q0", Q)

    def _iterations(self, X, Y, rng):
        Cxx, Cxy, Cyy = covariances(X, Y, self.ridge_)
        rates, scales = rates_at(np.arange(self.steps), self.rates, "xyq"), np.ones(2)
        if not len(rates):
            xx, yy = (linalg.eigvalsh(C)[-1] or 1.0 for C in (Cxx, Cyy))
            scales[:] = xx, 1 / ((1 - self.s) / _DISTAL_DECAY + self.s * yy / _DISTAL)
        weights = self.Vx_, self.Vy_, self.Q_
        Sigma_inv = sigma_inverse(Cyy, self.s)
        return partial(_iterate, Cxx, Cxy, Sigma_inv, *weights, rates, scales, self.tol)

    def _passes(self, n_samples):
        return 2.0 * self.t_  # the products with Vy, then those with the Vx that they have changed


@kernel
def _iterate(Cxx, Cxy, Sigma_inv, Vx, Vy, Q, rates, scales, tol, t, stop):
    """Alg. 1 from step t to ``stop`` or convergence; returns the step, and whether converged.

    Changes in place Vx (m, k), Vy (n, k) and Q (k, l). rates are those of x, y and q at each step,
    (steps, 3), or (0, 3) where they follow the data; scales (2,) are then the largest eigenvalue of
    Cxx and eta_y at t = 0.
    """
    converged = False
    while t < stop and not converged:
        QQ = Q @ Q.T
        drive, inhibition = Cxy @ Vy, (Cxx @ Vx) @ QQ
        eta_x = rates[t, 0] if len(rates) else 1 / (scales[0] * np.trace(QQ))
        Vx += eta_x * (drive - inhibition)
        cross, decay = Cxy.T @ Vx, Sigma_inv @ Vy
        eta_y = rates[t, 1] if len(rates) else scales[1] / (1 + t / _N)
        Vy += eta_y * (cross - decay)
        Czz = Vx.T @ (Cxx @ Vx)
        growth, before = Czz @ Q, Q.copy()
        eta_q = (
            rates[t, 2]
            if len(rates)
            else min(_INTERNEURON / (1 + t / _N), _Q_GROWTH / np.trace(Czz))
        )
        Q += eta_q * (growth - before)
        t += 1
        if t % _CHECK_EVERY == 0:
            converged = (
                vanished(drive, inhibition, tol)
                and vanished(cross, decay, tol)
                and vanished(growth, before, tol)
            )
    return t, converged


@learner
class OnlineBioRRR(FilterLearner):
    """Online Bio-RRR (Alg. 2): stochastic gradient descent in Vx and Vy, ascent in Q.

    For each sample, with z = Vx'x, n = Rz, a = Vy'y (Eqs. 9 to 11; supplement D for R)::

        dVx = eta_x (x (a - Qn)'             - ridge_x Vx (QR)')
        dVy = eta_y (y (z - s a)' - (1-s) Vy - s ridge_y Vy)
        dQ  = eta_q (z n' - Q                + ridge_x Vx'Vx R')
        dR  = eta_r (n z' - R                + ridge_x R Vx'Vx)

    The terms with ridge are what adding ridge I to each sample's xx' and yy' amounts to (supplement
    E). R starts as Q' unless ``R0`` is given, and stays Q' where their rates are equal: that is
    Alg. 2 with Q shared. A sample costs O((m + n) k + k^2), with ridge O(m k^2) more.

    Parameters
    ----------
    s
        0 is RRMSE, 1 is CCA; Sigma_s^-1 = s Cyy + (1-s) I.
    rates
        A :class:`~biorrr.models.rates.Rates`, such as ``Rates.paper("mediamill", s, k)``, or
        ``"auto"``: rates that follow the data, for any scale. They are those of the circuit
        (:mod:`biorrr.models.auto_rates`); what they know of the data beforehand is measured on what
        `fit` is given, or on the first batch of `partial_fit`. `fit` knows when it ends, and its
        rates fall to zero by then; those of `partial_fit` go on.
    Vx0, Vy0, Q0, R0
        Initial weights, (m, k), (n, k), (k, l), (l, k). By default of the size ``rates.start``,
        Vx ~ N(0, 1)/100, Vy ~ N(0, 1)/10 and Q = I/3 unless given; with ``rates="auto"`` of that
        of :meth:`biorrr.models.auto_rates.Drive.start`, which follows the scale of the data.

    Attributes
    ----------
    Vx_, Vy_, Q_, R_ : (m, k), (n, k), (k, l), (l, k)
        Weights.

    The rest is as in :class:`~biorrr.analysis.algorithms.estimator.FilterLearner`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 6))
    >>> Y = X[:, :2] @ rng.standard_normal((2, 4)) + rng.standard_normal((500, 4))
    >>> bio = OnlineBioRRR(k=2, random_state=0, snapshots=5).fit(X, Y)
    >>> bio.path_.t.tolist(), bio.path_.Vx.shape
    ([1, 18, 316, 5623, 100000], (5, 6, 2))
    """

    s: float = 0.0
    rates: Rates | str = "auto"
    steps: int = 100_000
    Vx0: ArrayLike | None = None
    Vy0: ArrayLike | None = None
    Q0: ArrayLike | None = None
    R0: ArrayLike | None = None

    def _begin(self, X, Y, rng):
        self._drive = Drive.of(X, Y, ridge_pair(self.ridge_))
        rates = given_rates(self.rates)
        sizes = rates.start if rates else self._drive.start(self.s)
        Vx, Vy, Q = initial_weights((X.shape[1], Y.shape[1], self.k), sizes, rng)
        self.Vx_, self.Vy_ = self._given("Vx0", Vx), self._given("Vy0", Vy)
        self.Q_ = self._given("Q0", Q)
        self.R_ = self._given("R0", self.Q_.T.copy())
        self._mean_power = np.zeros(1)  # |z|^2 per cell, averaged over the last samples

    def _present(self, X, Y, order):
        s, ridges, samples = float(self.s), ridge_pair(self.ridge_), self.t_ + np.arange(len(order))
        planned = plan(self.k, s, self._drive, self._last)
        policy = np.array([planned[name] for name in PLANNED])
        rates = rates_at(samples, self.rates, "xyqr")
        # A filter a row: the kernel's inner loops run along filters.
        Vx, Vy, Q, R = self.Vx_.T.copy(), self.Vy_.T.copy(), self.Q_.copy(), self.R_.copy()
        _present(X, Y, order, self.t_, Vx, Vy, Q, R, s, *ridges, rates, policy, self._mean_power)
        self.Vx_, self.Vy_, self.Q_, self.R_ = Vx.T, Vy.T, Q, R


@kernel
def _present(X, Y, order, t, Vx, Vy, Q, R, s, ridge_x, ridge_y, rates, policy, mean_power):
    """Run Alg. 2 for the samples ``order`` of X (n_samples, m) and Y (n_samples, n), from sample
    count t on.

    Changes in place Vx (k, m) and Vy (k, n), transposed; Q (k, l); and R (l, k). rates are those of
    x, y, q and r for each sample, (n_presented, 4), or (0, 4) where they follow the data. They then
    follow ``policy``, the numbers of :data:`biorrr.models.auto_rates.PLANNED` in their order, and
    mean_power (1,), changed in place: |z|^2 per cell, a running mean.
    """
    (k, m), l = Vx.shape, Q.shape[1]
    z, a, plateau, interneurons = np.empty(k), np.empty(k), np.empty(k), np.empty(l)
    Czz, gain = np.empty((k, k)), np.empty((k, k))
    learned, moved = np.empty((k, l)), np.empty((k, m))
    base_x, base_y, base_q, single_x, single_q, least_power, least_gain, last, fall = policy
    tiny = 1e-300  # keeps rates finite where a sample is zero
    for i, row in enumerate(order):
        x, y = X[row], Y[row]
        set_product(z, Vx, x)
        set_product(a, Vy, y)
        set_product(interneurons, R, z)
        set_product(plateau, Q, interneurons)
        for j in range(k):
            plateau[j] = a[j] - plateau[j]

        if len(rates):
            eta_x, eta_y, eta_q, eta_r = rates[i]
        else:
            xx, yy, zz = m * ridge_x + tiny + square(x), ridge_y + square(y), tiny + square(z)
            left = max(1 - t / last, 0.0) / (1 + t / fall)
            bound = np.sqrt(left)
            mean_power[0] += (zz / k - mean_power[0]) / MEMORY
            wanted = left * min(max(mean_power[0], least_power), 1.0)
            eta_x = min(left * bound * base_x, bound * single_x / xx)
            eta_x /= max(square(Q), least_gain)
            bound *= single_q
            eta_y = min(base_y * wanted, bound / (1 - s + s * yy + tiny))
            eta_q = min(base_q * wanted, bound / zz)
            eta_r = eta_q

        Czz[:] = learned[:] = gain[:] = 0.0
        moved[:] = 0.0
        if ridge_x > 0:
            set_gram(Czz, Vx)
            add_product(gain, -ridge_x, Q, R)
            add_product(moved, 1.0, gain, Vx)
            Czz *= ridge_x
        add_outer(Czz, 1.0, z, z)
        # Vx'(xx' + ridge_x I)Vx R' is what Q learns and, transposed, what R learns
        add_product(learned, 1.0, Czz, R.T)
        add_outer(moved, 1.0, plateau, x)
        mix(Vx, 1.0, eta_x, moved)
        for j in range(k):
            a[j] = z[j] - s * a[j]
        Vy *= 1 - eta_y * (1 - s + s * ridge_y)
        add_outer(Vy, eta_y, a, y)
        mix(Q, 1 - eta_q, eta_q, learned)
        mix(R, 1 - eta_r, eta_r, learned.T)
        t += 1
