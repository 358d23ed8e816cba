"""Learning rates, by which the plasticity of a pathway is multiplied, sample by sample.

Free of Brian2, so that :mod:`biorrr.analysis` can share them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.errors import InputError
from biorrr.hints import did_you_transpose
from biorrr.models.auto_rates import sizes_at_first
from biorrr.models.validation import Checked, NotNegative, Positive, number_within, whole_number


def _halving(name: str, value: float) -> float:
    """Return a number of samples, which may be infinite."""
    remedy = ", or infinite for a constant rate"
    return (
        value
        if isinstance(value, float) and value == math.inf
        else number_within(name, value, math.ulp(0), remedy=remedy)
    )


@dataclass(frozen=True)
class Rate(Checked):
    """A rate that decays hyperbolically, eta(t) = eta0 / (1 + t/N) (supplement E, "Numerical
    experiment details").

    Parameters
    ----------
    eta0
        Rate at the first sample, t = 0.
    N
        Samples after which the rate has halved; infinite for a constant rate.

    Examples
    --------
    >>> Rate(0.1, 100)(100)
    0.05
    """

    eta0: NotNegative
    N: Annotated[float, _halving] = math.inf

    def __call__(self, t):
        """Return the rate at sample ``t`` (a number or an array), counted from 0."""
        return (
            self.eta0 / (1 + np.asarray(t) / self.N) if np.ndim(t) else self.eta0 / (1 + t / self.N)
        )

    def times(self, factor: float) -> Rate:
        """Return the rate times ``factor``, with the same decay."""
        return Rate(self.eta0 * factor, self.N)


def _rate(name: str, value: Any) -> Rate:
    """Return a rate; a number is a constant one."""
    if isinstance(value, Rate):
        return value
    return Rate(number_within(name, value, 0, remedy="; a rate that falls is Rate(eta0, N)"))


AnyRate = Annotated[Any, _rate]  # a Rate once it is stored


@dataclass(frozen=True)
class Rates(Checked):
    """The rates of the four pathways, and the size of the weights that they begin with.

    Numbers are constant rates, and ``Rates(0.01)`` is one for all. :meth:`suggested` gives
    constant rates that suit the data, and :meth:`paper` those that the paper prints.

    Parameters
    ----------
    x, y, q
        Proximal (Vx), distal (Vy) and interneuron-to-pyramidal (Q) plasticity; the paper's eta_x,
        eta_y and eta_q = eta_x / tau. ``y`` and ``q`` are the same as ``x`` unless given.
    r
        Pyramidal-to-interneuron (R) plasticity. The same as ``q`` unless given: only then does the
        theory promise R -> Q' (supplement D, "Decoupling the interneuron synapses").
    start
        Size of initial weights, where a circuit draws them: standard deviations of Vx and Vy, and
        the diagonal of Q and R. They have units, as rates do: those of the paper suit data of
        unit variance.

    Examples
    --------
    >>> Rates(0.01) == Rates(Rate(0.01), Rate(0.01), Rate(0.01))
    True
    """

    x: AnyRate
    y: AnyRate = None
    q: AnyRate = None
    r: AnyRate = None
    start: tuple[Positive, Positive, Positive] = (0.01, 0.1, 1 / 3)  # as the paper

    def __post_init__(self) -> None:
        for name, same in {"y": "x", "q": "x", "r": "q"}.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, getattr(self, same))
        super().__post_init__()

    def times(self, factor: float) -> Rates:
        """Return all four rates times ``factor``, with the same decay and start."""
        paths = {name: getattr(self, name).times(factor) for name in ("x", "y", "q", "r")}
        return replace(self, **paths)

    @classmethod
    def suggested(
        cls,
        X: ArrayLike,
        Y: ArrayLike,
        k: int = 2,
        s: float = 0.0,
        ridge: float | tuple[float, float] = 0.0,
    ) -> Rates:
        """Return constant rates that learn from these data, and the start that they assume.

        They need the covariances of all data, which a circuit cannot know, and are a place to
        begin from. Rates "auto" come nearer to the optimum, because they fall.

        With lambda_j the k largest eigenvalues of M, which those of QQ' become, a_j and z the
        distal current and the outputs of the exact solution, and g_j the k largest eigenvalues of
        Cxy Sigma_s Cyx::

            eta_x = 0.4 / (high |x|^2 max(sum of lambda_j, largest <a_j^2> / lambda_j))
            eta_q = min(0.04 / high |z|^2, 0.5 eta_x (sum of g_j^2) / (sum of g_j))
            eta_y = min(0.5 eta_q / strongest, 0.3 / (s largest |y|^2))

        High is the power that one sample in a thousand exceeds, and strongest the largest
        eigenvalue of Sigma_s^-1. A ridge counts as input. The reasons:

        - Proximal learning is a least-mean-squares rule with gain QR, stable while
          eta_x |x|^2 trace(QR) < 2. Its noise is in proportion to eta_x |x|^2 and to the power of
          the distal current.
        - Q grows by eta_q (|z|^2 - 1) in a sample: a few strong ones must not multiply it.
        - While outputs are weak, Q fades at the rate eta_q, and they grow at the rates eta_x g_j.
          Where Q is faster, inhibition is gone before the outputs come.
        - Distal synapses that are faster than Q draw all cells to the strongest direction.

        All have the units of the data: for X times c, eta_x is smaller by c^2. The numbers are
        those of a coarse grid, in steps of two, with the fewest runs that diverged or missed an
        excess of 10 % on 23 problems, k = 1, 2, 5, s = 0 and 1, 100,000 samples.

        Parameters
        ----------
        X, Y
            Sensory and instructive data as they are to be presented, (n_samples, m) and
            (n_samples, n).
        k, s, ridge
            As the circuit has them.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((500, 6))
        >>> Y = X[:, :2] @ rng.standard_normal((2, 4))
        >>> once, twice = Rates.suggested(X, Y), Rates.suggested(2 * X, Y)
        >>> round(once.x.eta0 / twice.x.eta0, 9)
        4.0
        """
        X, Y = (_table(name, data) for name, data in {"X": X, "Y": Y}.items())
        s = number_within("s", s, 0, 1)
        k = whole_number("k", k, 1, "; it is at most min(m, n)", min(X.shape[1], Y.shape[1]))
        if len(X) != len(Y):
            raise InputError(
                f"X, Y: must have as many samples as each other (got {len(X)} and {len(Y)})"
                f"{did_you_transpose(X.shape, Y.shape)}"
            )
        ridge_x, ridge_y = (number_within("ridge", each, 0) for each in np.broadcast_to(ridge, 2))
        Cxx, Cyy = (A.T @ A / len(A) for A in (X, Y))
        Cyy += ridge_y * np.eye(len(Cyy))
        metric_y = s * Cyy + (1 - s) * np.eye(len(Cyy))
        white_x = _inverse_root(Cxx + ridge_x * np.eye(len(Cxx)))
        white_y = _inverse_root(metric_y)
        Cxy = X.T @ Y / len(X)
        U, d, Wt = np.linalg.svd(white_x.T @ Cxy @ white_y, full_matrices=False)
        known = np.count_nonzero(d[:k] > 1e-6 * d.max(initial=0.0))
        if not known:
            raise InputError(
                "X, Y: must be correlated, or there is nothing to learn (got Cxy = 0); centre"
                " them, and check that samples are in the same order"
            )
        eigenvalues, Vx = d[:known] ** 2, white_x @ U[:, :known]
        Vy = white_y @ Wt[:known].T * d[:known]
        power_x = np.square(X).sum(axis=1) + X.shape[1] * ridge_x
        power_z = np.square(X @ Vx).sum(axis=1) + ridge_x * np.square(Vx).sum()
        power_a = np.einsum("nj,nj->j", Vy, Cyy @ Vy)
        gain = max(eigenvalues.sum(), (power_a / eigenvalues).max())
        growth = np.square(np.linalg.svd(Cxy @ white_y, compute_uv=False)[:k])
        x = PROXIMAL / (np.quantile(power_x, HIGH) * gain)
        fading = FADING * x * np.square(growth).sum() / growth.sum()
        q = min(INTERNEURON / np.quantile(power_z, HIGH), fading)
        y = DISTAL * q / np.linalg.eigvalsh(metric_y)[-1]
        if s:
            y = min(y, SINGLE_Y / (s * np.square(Y).sum(axis=1).max()))
        start = sizes_at_first(power_x.mean(), eigenvalues[0], np.trace(metric_y) / len(metric_y))
        return cls(float(x), float(y), float(q), start=start)

    @classmethod
    def paper(
        cls, dataset: str, s: float, k: int, setting: str = "online", algorithm: str = "biorrr"
    ) -> Rates:
        """Look up the rates the supplement prints (supplements E and F).

        Parameters
        ----------
        dataset
            ``"mediamill"``, or of the image table ``"mnist"``, ``"fashion-mnist"``, ``"cifar10"``,
            ``"cifar100"``.
        s
            0 (RRMSE) or 1 (CCA).
        k
            Rank: 1, 2 or 4 for MediaMill; for the images 1, 2, 4 and 8, in the order above.
        setting
            ``"online"`` (Alg. 2) or ``"offline"`` (Alg. 1).
        algorithm
            ``"biorrr"``, or ``"ann"`` for the two-layer network trained by backprop. The network
            has no interneurons: its ``q`` is 0.

        Examples
        --------
        >>> Rates.paper("mediamill", s=0, k=1).x
        Rate(eta0=1.5, N=500.0)
        >>> Rates.paper("mediamill", s=0, k=8)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        biorrr.errors.InputError: k: must be one of 1, 2, 4 for ... (got 8); ...
        """
        asked = {"algorithm": algorithm, "dataset": dataset, "setting": setting, "s": s, "k": k}
        printed = list(_PRINTED)
        for place, (name, value) in enumerate(asked.items()):
            possible = dict.fromkeys(key[place] for key in printed)
            printed = [key for key in printed if key[place] == value]
            if not printed:
                within = ", ".join(
                    f"{other} {chosen}" for other, chosen in list(asked.items())[:place]
                )
                raise InputError(
                    f"{name}: must be one of"
                    f" {', '.join(map(str, possible))}{within and ' for ' + within} (got {value});"
                    " the paper prints no other rates"
                )
        return _PRINTED[printed[0]]


def _proportional(x: Rate, ratio: float) -> Rates:
    """Return rates coupled as the paper does for MediaMill, eta_y = eta_q = ``ratio`` * eta_x."""
    return Rates(x, x.times(ratio), x.times(ratio))


_NONE = Rate(0.0)  # backprop has no interneuron to learn

# Every rate the supplement prints: (algorithm, dataset, setting, s, k) -> Rates.
_PRINTED = {
    ("biorrr", "mediamill", "online", 0, 1): _proportional(Rate(1.5, 500), 0.002),
    ("biorrr", "mediamill", "online", 0, 2): _proportional(Rate(3.5, 200), 0.002),
    ("biorrr", "mediamill", "online", 0, 4): _proportional(Rate(3, 7000), 0.002),
    ("biorrr", "mediamill", "online", 1, 1): _proportional(Rate(3, 100), 0.02),
    ("biorrr", "mediamill", "online", 1, 2): _proportional(Rate(2.5, 100), 0.02),
    ("biorrr", "mediamill", "online", 1, 4): _proportional(Rate(1.2, 1000), 0.02),
    ("biorrr", "mediamill", "offline", 0, 1): _proportional(Rate(25, 500), 0.002),
    ("biorrr", "mediamill", "offline", 0, 2): _proportional(Rate(24), 0.002),
    ("biorrr", "mediamill", "offline", 0, 4): _proportional(Rate(20), 0.002),
    ("biorrr", "mediamill", "offline", 1, 1): _proportional(Rate(10), 0.02),
    ("biorrr", "mediamill", "offline", 1, 2): _proportional(Rate(10), 0.02),
    ("biorrr", "mediamill", "offline", 1, 4): _proportional(Rate(8), 0.02),
    ("biorrr", "mnist", "online", 0, 1): Rates(Rate(0.01, 1e3), Rate(0.01, 1e3), Rate(0.003, 1e3)),
    ("biorrr", "fashion-mnist", "online", 0, 2): Rates(
        Rate(0.013, 1e3), Rate(0.013, 1e3), Rate(0.005, 1e3)
    ),
    ("biorrr", "cifar10", "online", 0, 4): Rates(
        Rate(0.01, 1.5e4), Rate(0.002, 1.5e4), Rate(0.002, 1.5e4)
    ),
    ("biorrr", "cifar100", "online", 0, 8): Rates(
        Rate(0.025, 4e4), Rate(0.001, 4e4), Rate(0.002, 4e4)
    ),
    ("ann", "mediamill", "online", 0, 1): Rates(Rate(0.5, 500), Rate(0.25, 500), _NONE),
    ("ann", "mediamill", "online", 0, 2): Rates(Rate(0.5, 500), Rate(0.25, 500), _NONE),
    ("ann", "mediamill", "online", 0, 4): Rates(Rate(0.5, 500), Rate(0.25, 500), _NONE),
    ("ann", "mediamill", "offline", 0, 1): Rates(Rate(1, 2e4), Rate(1, 2e4), _NONE),
    ("ann", "mediamill", "offline", 0, 2): Rates(Rate(1), Rate(1), _NONE),
    ("ann", "mediamill", "offline", 0, 4): Rates(Rate(0.8), Rate(0.8), _NONE),
    ("ann", "mnist", "online", 0, 1): Rates(Rate(0.02, 1e3), Rate(0.02, 1e3), _NONE),
    ("ann", "fashion-mnist", "online", 0, 2): Rates(Rate(0.018, 1e3), Rate(0.018, 1e3), _NONE),
    ("ann", "cifar10", "online", 0, 4): Rates(Rate(0.0065, 1e4), Rate(0.0065, 1e4), _NONE),
    ("ann", "cifar100", "online", 0, 8): Rates(Rate(0.0065, 1.1e4), Rate(0.0065, 1.1e4), _NONE),
}


PROXIMAL, INTERNEURON, FADING, DISTAL, SINGLE_Y = 0.4, 0.04, 0.5, 0.5, 0.3
HIGH = 0.999  # quantile of the power of single samples


def _table(name: str, data: ArrayLike) -> NDArray:
    """Return ``data`` as a table of finite numbers; a vector is one column."""
    array = np.asarray(data, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not len(array) or not np.isfinite(array).all():
        raise InputError(
            f"{name}: must be a table of finite numbers, (n_samples, features) (got shape"
            f" {array.shape})"
        )
    return array


def _inverse_root(C: NDArray) -> NDArray:
    """Return W with W'CW = I, without the directions in which C is zero."""
    power, axes = np.linalg.eigh(C)
    there = power > 1e-10 * power[-1]
    return axes[:, there] / np.sqrt(power[there])
