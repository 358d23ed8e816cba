"""Results of all theories in one Dataset, their quantities, and the bounds that were fixed beforehand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biorrr.sims.experiments.theories.contests import MANIPULATIONS, REGRESSORS, STAGES, Contest
from biorrr.sims.experiments.theories.imaged_theories import NOISES, QUESTIONS
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


def join_answers(names: Sequence[str], yes: Sequence[Sequence[np.ndarray]]) -> xr.DataArray:
    """Return the share of yes among the answers, by theory, noise and question; NaN where all circuits diverged."""
    answers = np.array(yes)  # (theory, experiment, noise, question)
    asked = np.isfinite(answers).sum(axis=1)
    shares = np.where(asked, np.nansum(answers, axis=1) / np.maximum(asked, 1), np.nan)
    return xr.DataArray(
        shares, {"theory": list(names), "noise": list(NOISES), "question": list(QUESTIONS)},
        ("theory", "noise", "question"),
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


def answer_rows(answers: xr.DataArray) -> dict[str, str]:
    """Return rows of the printed table: the share of yes to each question, at each imaging noise."""
    return {
        f"says yes: {theory}": "; ".join(
            f"noise {noise:g}: " + " ".join("-" if np.isnan(share) else f"{share:.0%}" for share in at.values)
            for noise, at in zip(answers["noise"].values, answers.sel(theory=theory), strict=True)
        )
        for theory in answers["theory"].values
    }


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
