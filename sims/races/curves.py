"""Curves of learners: how near to the optimum they are, step by step, over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from biorrr.sims.lazy import analysis, np, xr


@dataclass(frozen=True)
class Curve:
    """A learner's laps at one rank, over seeds.

    Parameters
    ----------
    t
        Samples or iterations done, (S,).
    passes, seconds
        Passes through the data and CPU time until then, (seeds, S).
    objective, excess, whitening_error
        Scores of the filters then, (seeds, S).
    fraction
        Largest fraction of the rates asked for at which no seed diverged.
    """

    t: np.ndarray
    passes: np.ndarray
    seconds: np.ndarray
    objective: np.ndarray
    excess: np.ndarray
    whitening_error: np.ndarray
    fraction: float = 1.0


Curves = dict[tuple[str, int], Curve]  # of one heat, by learner and rank


def score(
    laps: list[Mapping[str, np.ndarray]], exact: analysis.ExactSolution, fraction: float
) -> Curve:
    """Join the laps of a learner at one rank, over seeds."""
    # A learner that converges early stops early: its last filters stand for the rest.
    longest = max((lap["t"] for lap in laps), key=len)

    def row(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.repeat(values[-1:], len(longest) - len(values), axis=0)])

    def scores(measure: Callable[[np.ndarray], Any]) -> np.ndarray:
        return np.array([row(np.atleast_1d(measure(lap["Vx"]))) for lap in laps])

    return Curve(
        t=longest,
        passes=np.array([row(lap["passes"]) for lap in laps]),
        seconds=np.array([row(lap["seconds"]) for lap in laps]),
        objective=scores(exact.objective),
        excess=scores(exact.excess),
        whitening_error=scores(exact.whitening_error),
        fraction=fraction,
    )


def as_dataset(curves: Mapping[tuple[str, int], Curve], first_seed: int) -> xr.Dataset:
    """Return all curves of a heat, padded with NaN to the longest: dimensions learner, k, seed,
    snapshot.
    """
    learners = list(dict.fromkeys(learner for learner, _ in curves))
    ranks = list(dict.fromkeys(k for _, k in curves))
    seeds = len(next(iter(curves.values())).seconds)
    longest = max(len(curve.t) for curve in curves.values())
    names = ("objective", "excess", "whitening_error", "passes", "seconds")
    filled = {name: np.full((len(learners), len(ranks), seeds, longest), np.nan) for name in names}
    t, fraction = (
        np.full((len(learners), len(ranks), longest), np.nan),
        np.full((len(learners), len(ranks)), np.nan),
    )
    for (learner, k), curve in curves.items():
        place = learners.index(learner), ranks.index(k)
        for name in names:
            filled[name][*place, :, : len(curve.t)] = getattr(curve, name)
        t[*place, : len(curve.t)], fraction[place] = curve.t, curve.fraction
    out = xr.Dataset(
        {name: (("learner", "k", "seed", "snapshot"), filled[name]) for name in names}
        | {"t": (("learner", "k", "snapshot"), t), "fraction": (("learner", "k"), fraction)},
        coords={"learner": learners, "k": ranks, "seed": first_seed + np.arange(seeds)},
    )
    out["fraction"].attrs["long_name"] = "fraction of the rates asked for"
    out["t"].attrs["long_name"] = "samples (online) or iterations (offline)"
    out["passes"].attrs["long_name"] = "passes through the data"
    out["seconds"].attrs.update(long_name="CPU time", units="s")
    return out


def join(datasets: Mapping[str, xr.Dataset], dim: str) -> xr.Dataset:
    """Join datasets of curves along a new dimension ``dim``, padded with NaN to the longest; a
    single one has none.
    """
    joined = [one.assign_coords({dim: name}) for name, one in datasets.items()]
    if len(joined) == 1:
        return joined[0]
    longest = max(one.sizes["snapshot"] for one in joined)
    padded = [one.pad(snapshot=(0, longest - one.sizes["snapshot"])) for one in joined]
    return xr.concat(padded, dim=dim, join="outer")
