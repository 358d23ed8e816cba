"""Linear networks trained by backprop: of two layers, with which the paper compares Bio-RRMSE (Sec.
6), and of several, with which a hierarchy of areas is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from biorrr.analysis.algorithms.estimator import (
    FilterLearner,
    initial_weights,
    learner,
    shuffled_passes,
)
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
from biorrr.analysis.checks import check_pair, given_rates, ridge_pair
from biorrr.analysis.regression.exact_solution import covariances
from biorrr.models.rates import Rates

# rates="auto", online: found by a coarse search over random problems of 3 to 60 inputs and
# responses, condition numbers to 100, explained variance from 10 to 75 %, Gaussian, heavy-tailed
# and binary.
_N = 4000.0  # samples in which the rates halve
_STEP = 0.5  # share of the largest stable step, on average and for any single sample
_CHECK_EVERY = 100  # iterations offline between looks at whether the gradients have vanished


@learner
class TwoLayerANN(FilterLearner):
    """Two-layer linear network y^ = Vy Vx'x, trained by backprop on the squared error (Eqs. 12 and
    13).

    For each sample, with z = Vx'x and the error e = y - Vy z (for s = 0: the network knows no other
    norm)::

        dVx = eta_x (x (Vy'e)' - ridge_x Vx Vy'Vy)
        dVy = eta_y (e z'      - ridge_x Vy Vx'Vx)

    The terms with ridge are what adding ridge_x I to each sample's xx' amounts to (supplement E),
    so that the network has the optimum of RRMSE with that ridge; weight decay would have another.
    Offline, the same gradients come from the covariances of all data. Error backpropagation as in
    Rumelhart, Hinton and Williams, "Learning representations by back-propagating errors", Nature
    323, 533-536, 1986.

    Parameters
    ----------
    k
        Hidden units, from 1 to min(m, n).
    ridge
        Added to Cxx; of a pair the first.
    online
        One sample after another, or all data in each iteration.
    rates
        A :class:`~biorrr.models.rates.Rates`, of which x and y are used, such as
        ``Rates.paper("mediamill", 0, k, "online", "ann")``, or ``"auto"``: rates that follow the
        data, for any scale. With <.> the mean over the samples so far and f = 1/(1 + t/4000),
        online::

            eta_y = 1/2 min(f / (<|x|^2> |Vx|^2 + |Vy|^2/<|y|^2>), 1 / (|x|^2
            |Vy|^2/(<|x|^2><|y|^2>) + |z|^2)) eta_x = eta_y / (<|x|^2><|y|^2>)

        Offline, with ||Cxx|| the largest eigenvalue::

            eta_y = 1/2 / (Tr Vy'Vy/<|y|^2> + Tr Vx'Cxx Vx)
            eta_x = eta_y / (||Cxx|| <|y|^2>)
    steps
        How many samples, in shuffled passes through the data, or iterations.
    tol
        Offline, learning ends when both gradients have shrunk to this share of the terms whose
        difference they are.
    random_state
        Seed of initial weights and of the order of samples.
    Vx0, Vy0
        Initial weights, (m, k), (n, k). By default Vx ~ N(0, 1)/100 and Vy ~ N(0, 1)/10, those of
        Bio-RRR of the same seed and those from which the paper's authors start both; with
        ``rates="auto"`` larger ones that follow the scale of the data.

    Attributes
    ----------
    Vx_, Vy_ : (m, k), (n, k)
        Weights of the first and second layer.
    t_
        Samples presented so far, or iterations done.

    The rest is as in :class:`~biorrr.analysis.algorithms.estimator.FilterLearner`.
    """

    s: ClassVar = 0.0
    online: bool = True
    rates: Rates | str = "auto"
    steps: int = 100_000
    tol: float = 1e-8
    Vx0: ArrayLike | None = None
    Vy0: ArrayLike | None = None

    def _begin(self, X, Y, rng):
        m, n, k = X.shape[1], Y.shape[1], self.k
        size_x, size_y = 0.01, 0.1
        if given_rates(self.rates) is None:
            xx, yy = (np.square(A).sum() / len(A) or 1.0 for A in (X, Y))
            size_x, size_y = 0.5 / np.sqrt(m * xx), 0.5 * np.sqrt(yy / n)
        Vx, Vy, _ = initial_weights((m, n, k), (size_x, size_y, 0.0), rng)
        self.Vx_, self.Vy_ = self._given("Vx0", Vx), self._given("Vy0", Vy)
        self._mean_squares = np.zeros(2)  # <|x|^2>, <|y|^2>

    def _present(self, X, Y, order):
        samples, ridge_x = self.t_ + np.arange(len(order)), ridge_pair(self.ridge_)[0]
        Vx, Vy = self.Vx_.T.copy(), self.Vy_.T.copy()
        rates = rates_at(samples, self.rates, "xy")
        _present(X, Y, order, self.t_, Vx, Vy, ridge_x, rates, self._mean_squares)
        self.Vx_, self.Vy_ = Vx.T, Vy.T

    def _iterations(self, X, Y, rng):
        Cxx, Cxy, _ = covariances(X, Y, self.ridge_)
        rates, scales = rates_at(np.arange(self.steps), self.rates, "xy"), np.ones(2)
        if not len(rates):
            scales[:] = linalg.eigvalsh(Cxx)[-1] or 1.0, np.square(Y).sum() / len(Y) or 1.0
        return partial(_iterate, Cxx, Cxy, self.Vx_, self.Vy_, rates, scales, self.tol)


@kernel
def _iterate(Cxx, Cxy, Vx, Vy, rates, scales, tol, t, stop):
    """Gradient descent on the covariances of all data from step t to ``stop`` or convergence;
    returns the step, and whether converged.

    Changes in place Vx (m, k) and Vy (n, k). rates are those of x and y at each step, (steps, 2),
    or (0, 2) where they follow the data; scales (2,) are then the largest eigenvalue of Cxx and
    <|y|^2>.
    """
    converged = False
    while t < stop and not converged:
        CxxVx = Cxx @ Vx
        Czz, VyVy = Vx.T @ CxxVx, Vy.T @ Vy
        if len(rates):
            eta_x, eta_y = rates[t]
        else:
            eta_y = 0.5 / (np.trace(VyVy) / scales[1] + np.trace(Czz))
            eta_x = eta_y / (scales[0] * scales[1])
        gain_x, loss_x = Cxy @ Vy, CxxVx @ VyVy
        gain_y, loss_y = Cxy.T @ Vx, Vy @ Czz
        Vx += eta_x * (gain_x - loss_x)
        Vy += eta_y * (gain_y - loss_y)
        t += 1
        if t % _CHECK_EVERY == 0:
            converged = vanished(gain_x, loss_x, tol) and vanished(gain_y, loss_y, tol)
    return t, converged


@kernel
def _present(X, Y, order, t, Vx, Vy, ridge_x, rates, mean_squares):
    """Backprop for the samples ``order`` of X (n_samples, m) and Y (n_samples, n), from sample
    count t on.

    Changes in place Vx (k, m) and Vy (k, n), transposed, and mean_squares (2,). rates are
    those of x and y for each sample, (n_presented, 2), or (0, 2) where they follow the data.
    """
    (k, m), n = Vx.shape, Vy.shape[1]
    z, back, error = np.empty(k), np.empty(k), np.empty(n)
    gram_x, gram_y = np.empty((k, k)), np.empty((k, k))
    moved_x, moved_y = np.empty((k, m)), np.empty((k, n))
    tiny = 1e-300  # keeps rates finite where all samples so far are zero
    for i, row in enumerate(order):
        x, y = X[row], Y[row]
        set_product(z, Vx, x)
        error[:] = y
        for j in range(k):
            for h in range(n):
                error[h] -= Vy[j, h] * z[j]
        set_product(back, Vy, error)

        if len(rates):
            eta_x, eta_y = rates[i]
        else:
            xx, yy = ridge_x + tiny + square(x), tiny + square(y)
            zz, vx, vy = tiny + square(z), tiny + square(Vx), tiny + square(Vy)
            mean_squares[0] += (xx - mean_squares[0]) / (t + 1)
            mean_squares[1] += (yy - mean_squares[1]) / (t + 1)
            mx, my = mean_squares
            eta_y = _STEP * min(
                1 / (1 + t / _N) / (mx * vx + vy / my), 1 / (xx / mx * vy / my + zz)
            )
            eta_x = eta_y / mx / my

        moved_x[:] = 0.0
        moved_y[:] = 0.0
        if ridge_x > 0:
            set_gram(gram_x, Vx)
            set_gram(gram_y, Vy)
            add_product(moved_x, -ridge_x, gram_y, Vx)
            add_product(moved_y, -ridge_x, gram_x, Vy)
        add_outer(moved_x, 1.0, back, x)
        add_outer(moved_y, 1.0, z, error)
        mix(Vx, 1.0, eta_x, moved_x)
        mix(Vy, 1.0, eta_y, moved_y)
        t += 1


_RATES = (0.01, 0.03, 0.1)


def backprop_linear(
    X: ArrayLike, Y: ArrayLike, layers: Sequence[int], samples: int, seed: int = 0, batch: int = 20
) -> list[NDArray]:
    """Return the weights that backprop finds for the linear network x -> layers[0] -> ... -> y by
    squared error.

    Data are taken as given and scaled to a mean square of 1 inside. Rates are relative to what
    would undo the error of a typical sample, and fall hyperbolically, as the circuit's do; of
    several the one with the least error is kept, so that the network is not handicapped.

    Parameters
    ----------
    X : (n_samples, m), Y : (n_samples, n)
        Data, centred.
    layers
        Units of each hidden layer.
    samples
        How many are presented, in random order, ``batch`` of them between two changes.
    seed, batch
        Of the order and of the initial weights; samples whose gradients are averaged.

    Returns
    -------
    weights : list of (units below, units above), one for each link, from x up to y, in the data's
    units
    """
    X, Y = check_pair(X, Y)
    unit_x, unit_y = (np.sqrt(np.square(A).mean()) or 1.0 for A in (X, Y))
    tried = [
        _learned(X / unit_x, Y / unit_y, layers, samples, seed, batch, rate) for rate in _RATES
    ]
    _, weights = min(tried, key=lambda outcome: outcome[0])
    weights[0] /= unit_x
    weights[-1] *= unit_y
    return weights


def _learned(
    X: NDArray, Y: NDArray, layers: Sequence[int], samples: int, seed: int, batch: int, rate: float
) -> tuple[float, list[NDArray]]:
    """Return squared error and weights that backprop at this ``rate`` ends with."""
    rng = np.random.default_rng(seed)
    sizes = [X.shape[1], *layers, Y.shape[1]]
    weights = [rng.standard_normal((a, b)) / np.sqrt(a) for a, b in pairwise(sizes)]
    order = shuffled_passes(len(X), samples, rng)
    for start in range(0, samples, batch):
        rows = order[start : start + batch]
        activities = [X[rows]]
        for w in weights:
            activities.append(activities[-1] @ w)
        error = (Y[rows] - activities[-1]) / len(rows)
        eta = rate * batch / (1 + start / (samples / 10))
        for i in range(len(weights) - 1, -1, -1):
            below = activities[i]
            change = eta / max(np.square(below).sum() / len(rows), 1.0) * below.T @ error
            error = error @ weights[i].T
            weights[i] = weights[i] + change / max(1.0, float(np.linalg.norm(change)))
    predicted = X
    for w in weights:
        predicted = predicted @ w
    return float(np.square(Y - predicted).sum()), weights
