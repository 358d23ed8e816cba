"""Learning rates, by which the plasticity of a pathway is multiplied, sample by sample.

Free of Brian2, so that :mod:`biorrr.analysis` can share them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from biorrr.errors import InputError, InputTypeError
from biorrr.hints import HintsAtKeywords
from biorrr.models.suggested_rates import suggest
from biorrr.models.validation import NotNegative, Positive, check_fields, number_within


def _halving(name: str, value: float) -> float:
    """Return a number of samples, which may be infinite."""
    remedy = ", or infinite for a constant rate"
    return (
        value
        if isinstance(value, float) and value == math.inf
        else number_within(name, value, math.ulp(0), remedy=remedy)
    )


@dataclass(frozen=True)
class Rate(HintsAtKeywords):
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

    def __post_init__(self) -> None:
        check_fields(self)

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
    try:
        return Rate(number_within(name, value, 0))
    except InputTypeError:
        raise InputTypeError(f"{name}: must be Rate(...) or a number (got {value!r})") from None


if TYPE_CHECKING:  # a number or a Rate when it is given, a Rate once it is stored
    AnyRate: TypeAlias = Any
    RateOrSame: TypeAlias = Any
else:
    AnyRate = Annotated[Rate, _rate]
    RateOrSame = AnyRate | None


@dataclass(frozen=True)
class Rates(HintsAtKeywords):
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
    y: RateOrSame = None
    q: RateOrSame = None
    r: RateOrSame = None
    start: tuple[Positive, Positive, Positive] = (0.01, 0.1, 1 / 3)  # as the paper

    def __post_init__(self) -> None:
        check_fields(self)
        for name, same in {"y": "x", "q": "x", "r": "q"}.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, getattr(self, same))

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
        (x, y, q), start = suggest(X, Y, k, s, ridge)
        return cls(Rate(x), Rate(y), Rate(q), start=start)

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
