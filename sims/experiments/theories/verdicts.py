"""Results of all theories in one Dataset, their quantities, and the bounds that were fixed beforehand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from biorrr.sims.experiments.theories.contests import MANIPULATIONS, REGRESSORS, STAGES, Contest
from biorrr.sims.experiments.theories.imaged_theories import NOISES, QUESTIONS, lengths
from biorrr.sims.lab import Claim, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import np, xr

CONVERGED = 200_000  # samples below which nothing is judged
BELOW, ABOVE = -math.inf, math.inf
EXCESS = {
    **dict.fromkeys(("backprop", "learned feedback", "Bio-CCA"), (BELOW, 0.01)),
    **dict.fromkeys(("Sacramento, learned", "bursts", "Bio-RRR"), (BELOW, 0.02)),
    **dict.fromkeys(("fixed feedback", "Sacramento, fixed", "Urbanczik-Senn, fixed"), (0.02, ABOVE)),
    "bursts, not cancelled": (0.03, ABOVE),
}
FROM_LAW = (BELOW, 0.015)  # largest distance of the excess from law 1
SILENCED = {"Bio-RRR": (0.04, ABOVE)}  # excess after learning has gone on without inhibition
COLLAPSED = {"Urbanczik-Senn, Hebbian": 0.55}  # participation ratio over k
_DIMENSIONS: dict[str, tuple[str, ...]] = {
    "carries": ("stage", "by"), "shown": ("manipulation", "by"), "change": ("manipulation",),
}  # fmt: skip


def join(names: Sequence[str], rates: Sequence[float], found: Mapping[Contest, Mapping[str, Any]]) -> xr.Dataset:
    """Return what was measured on one data set, by theory and seed, with the rate of each theory."""
    seeds = sorted({contest.seed for contest in found})
    by_name = {(contest.theory.name, contest.seed): result for contest, result in found.items()}
    measured = {
        one: (("theory", "seed", *_DIMENSIONS.get(one, ())),
              np.array([[by_name[name, seed][one] for seed in seeds] for name in names], dtype=float))
        for one in next(iter(found.values()))
    }  # fmt: skip
    coordinates = {
        "theory": list(names), "seed": seeds, "stage": list(STAGES), "by": list(REGRESSORS),
        "manipulation": list(MANIPULATIONS),
    }  # fmt: skip
    return xr.Dataset(measured | {"rate": ("theory", list(rates))}, coordinates)


def join_answers(names: Sequence[str], trials: int, yes: Sequence[Sequence[np.ndarray]]) -> xr.Dataset:
    """Return the share of yes by theory, trials, noise and question, and the number of pairs that are separated.

    A share is NaN where all circuits diverged. A question separates two theories where their shares differ by Fisher's
    exact test (p <= 0.05).
    """
    from scipy.stats import fisher_exact

    answers = np.array(yes)  # (theory, experiment, length, noise, question)
    asked, said = np.isfinite(answers).sum(axis=1), np.nansum(answers, axis=1)
    pairs = np.zeros(asked.shape[1:], dtype=int)
    for one, other in combinations(range(len(names)), 2):
        for place in np.ndindex(pairs.shape):
            table = [[said[(row, *place)], asked[(row, *place)] - said[(row, *place)]] for row in (one, other)]
            pairs[place] += fisher_exact(table).pvalue <= 0.05
    dimensions = ("trials", "noise", "question")
    return xr.Dataset(
        {
            "yes": (("theory", *dimensions), np.where(asked, said / np.maximum(asked, 1), np.nan)),
            "separated": (dimensions, pairs),
        },
        {
            "theory": list(names), "trials": list(lengths(trials)), "noise": list(NOISES), "question": list(QUESTIONS),
        },
    )  # fmt: skip


def key_of(name: str) -> str:
    """Return the part of a quantity's name that stands for a theory or a data set."""
    return re.sub(r"\W+", "_", name.lower()).strip("_")


def quantities(results: xr.Dataset) -> Iterator[Quantity]:
    """Yield the numbers of every theory on every data set, each with its bound."""
    for data in results["data"].values:
        for theory in results["theory"].values:
            one, key = results.sel(data=data, theory=theory), f"{key_of(data)}_{key_of(theory)}"
            row = f"{data}: {theory}"
            k = results.attrs["k"]
            yield _mean(f"{key}_excess", one["excess"], PERCENT, "excess", row, EXCESS.get(theory))
            if np.isfinite(one["law"]).all():
                off = float(abs(one["excess"] - one["law"]).max())
                yield _mean(f"{key}_law", one["law"], PERCENT, "law 1", row)
                yield Quantity(f"{key}_from_law", off, PERCENT, bound=FROM_LAW)
            bound = (BELOW, COLLAPSED[theory] * k) if theory in COLLAPSED and k == 2 else None
            yield _mean(f"{key}_participation", one["participation"], "", "participation", row, bound)
            yield _mean(f"{key}_whitening", one["whitening"], "", "whitening", row)
            if np.isfinite(one["silenced_excess"]).all():
                bound = SILENCED.get(theory)
                yield _mean(f"{key}_silenced_excess", one["silenced_excess"], PERCENT, "silenced", row, bound)
            for by, name in zip(REGRESSORS, ("y", "x", "error"), strict=True):
                for stage in STAGES:
                    yield _mean(f"{key}_apical_{name}_{stage}", one["carries"].sel(stage=stage, by=by))
            yield _mean(f"{key}_soma_by_y", one["soma_by_y"])
            yield Quantity(f"{key}_rate", float(one["rate"]))


def _mean(name: str, values: xr.DataArray, unit="", words="", row="", bound=None) -> Quantity:
    """Return the mean over seeds with its spread; None where a circuit diverged."""
    known = bool(np.isfinite(values).all())
    value = float(values.mean()) if known else None
    spread = float(values.std(ddof=1)) if known and values.size > 1 else None
    return Quantity(name, value, unit, words, spread, bound, row)


def answer_rows(results: xr.Dataset) -> dict[str, str]:
    """Return rows of the printed table: shares of yes in the whole recording, and the pairs that questions separate."""
    whole = results["yes"].isel(trials=-1, noise=0)
    rows = {
        f"says yes: {theory}": " ".join(
            f"{question} {'-' if np.isnan(share) else f'{share:.0%}'}"
            for question, share in zip(QUESTIONS, whole.sel(theory=theory).values, strict=True)
        )
        for theory in results["theory"].values
    }
    pairs, separated = math.comb(results.sizes["theory"], 2), results["separated"]
    for trials in separated["trials"].values:
        for noise in separated["noise"].values:
            numbers = separated.sel(trials=trials, noise=noise).values
            each = " ".join(f"{question} {number}" for question, number in zip(QUESTIONS, numbers, strict=True))
            rows[f"pairs separated, {trials} trials, noise {noise:g}"] = f"{each} of {pairs}"
    return rows


def judge(results: xr.Dataset, found: Mapping[str, Quantity]) -> list[Claim]:
    """Compare all that was bounded beforehand with its bounds."""
    seeds, samples = results.sizes["seed"], results.attrs["samples"]
    why = "" if samples >= CONVERGED else f"fewer than {CONVERGED:,} samples: learning has not come to its end"
    texts = {
        "excess": "excess over the optimum", "from_law": "distance of the excess from law 1",
        "participation": "participation ratio of the outputs", "silenced_excess": "excess without inhibition",
    }  # fmt: skip
    return [
        Claim.about(
            found[name], f"{theory}: {text}", data=str(data), k=results.attrs["k"], unjudged=why,
            value=math.nan if found[name].value is None else found[name].value,
            run=f"{seeds} seeds, {samples:,} samples",
        )
        for data in results["data"].values
        for theory in results["theory"].values
        for ending, text in texts.items()
        if (name := f"{key_of(data)}_{key_of(theory)}_{ending}") in found and found[name].bound
    ]  # fmt: skip
