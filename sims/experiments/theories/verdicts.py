"""Quantities of rival theories, and the bounds that were fixed beforehand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from biorrr.sims.lab import PERCENT, Claim, Quantity
from biorrr.sims.lazy import np, xr

CONVERGED = 200_000  # samples below which nothing is judged
BELOW, ABOVE = -math.inf, math.inf
EXCESS = {
    **dict.fromkeys(("backprop", "learned feedback", "Bio-CCA"), (BELOW, 0.01)),
    **dict.fromkeys(("Sacramento, learned", "bursts", "Bio-RRR"), (BELOW, 0.02)),
    **dict.fromkeys(
        ("fixed feedback", "Sacramento, fixed", "Urbanczik-Senn, fixed"), (0.02, ABOVE)
    ),
    "bursts, not cancelled": (0.03, ABOVE),
}
FROM_LAW = (BELOW, 0.015)  # largest distance of the excess from law 1
COLLAPSED = {"Urbanczik-Senn, Hebbian": (BELOW, 1.1)}  # participation ratio of two cells


def key_of(*names: object) -> str:
    """Return the name of a quantity, or a part of it, from names of theories and data sets and
    numbers.
    """
    return "_".join(re.sub(r"\W+", "_", str(name).lower()).strip("_") for name in names)


def measured(results: xr.Dataset, data: str, theory: str) -> Iterator[Quantity]:
    """Yield the measures of one theory on one data set, each with its bound."""
    one = results.sel(data=data, theory=theory)

    def mean(
        name: str, values: xr.DataArray, unit: str = "", words: str = "", bound=None
    ) -> Quantity:
        """Return the mean over seeds with its spread; None where a circuit diverged."""
        known = bool(np.isfinite(values).all())
        value = float(values.mean()) if known else None
        spread = float(values.std(ddof=1)) if known and values.size > 1 else None
        return Quantity(
            key_of(data, theory, name), value, unit, words, spread, bound, f"{data}: {theory}"
        )

    yield mean("excess", one["excess"], PERCENT, "excess", EXCESS.get(theory))
    if np.isfinite(one["law"]).all():
        yield mean("law", one["law"], PERCENT, "law 1")
        off = abs(one["excess"] - one["law"]).max("seed")
        yield mean("from_law", off, PERCENT, "largest distance from law 1", FROM_LAW)
    collapsed = COLLAPSED.get(theory) if results.attrs["k"] == 2 else None
    yield mean("participation", one["participation"], "", "participation ratio", collapsed)
    yield mean("whitening", one["whitening"], "", "whitening error")
    yield Quantity(key_of(data, theory, "rate"), float(one["rate"]))


def judge(results: xr.Dataset, found: Mapping[tuple[str, str], Sequence[Quantity]]) -> list[Claim]:
    """Compare all that was bounded beforehand with its bounds; ``found`` are the measures by data
    set and theory.
    """
    samples, k = results.attrs["samples"], results.attrs["k"]
    why = (
        ""
        if samples >= CONVERGED
        else f"fewer than {CONVERGED:,} samples: learning has not come to its end"
    )
    run = f"{results.sizes['seed']} seeds, {samples:,} samples"
    return [
        Claim.about(
            one,
            f"{theory}: {one.words}",
            data=data,
            k=k,
            unjudged=why,
            run=run,
            value=math.nan if one.value is None else one.value,
        )
        for (data, theory), those in found.items()
        for one in those
        if one.bound
    ]
