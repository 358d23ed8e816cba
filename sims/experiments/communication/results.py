"""Results about two areas: a dataset, and the quantities that the summary and the table show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import xarray as xr

from biorrr.sims.experiments.communication.areas import Areas
from biorrr.sims.experiments.communication.questions import Circuit
from biorrr.sims.lab import Quantity

SIGNIFICANT = 0.05


def join(
    areas: Areas,
    circuits: Mapping[Circuit, xr.Dataset],
    controls: Iterable[xr.Dataset],
    draws: Sequence[xr.Dataset],
) -> xr.Dataset:
    """Return what circuits, controls and matched draws have found as one dataset, with the exact
    prediction.
    """
    prediction, settings = areas.prediction, areas.settings
    parts = [*controls, *([xr.concat(draws, dim="draw")] if draws else [])]
    results = xr.merge(parts, join="outer", compat="no_conflicts").assign(
        exact_r2=("k", prediction.r2),
        exact_r2_sem=("k", prediction.r2_sem),
        chosen_rank=prediction.rank,
    )
    results = results.assign_coords(rank=list(settings.ranks))
    if circuits:
        errors = np.array(
            [
                [
                    sum(
                        float(circuits[Circuit(fold, rank, seed)]["error"])
                        for fold in range(settings.folds)
                    )
                    for seed in settings.every_seed
                ]
                for rank in settings.ranks
            ]
        )
        results["circuit_r2"] = (("rank", "seed"), 1 - errors / prediction.deviations.sum())
        results = results.assign_coords(seed=list(settings.every_seed))
        results.attrs["engine"] = str(next(iter(circuits.values())).attrs["engine"])
        results.attrs["seconds"] = sum(float(one.attrs["seconds"]) for one in circuits.values())
    results.attrs["areas"] = f"{settings.source_name} to {settings.target_name}"
    first = {"k": 1, "draw_k": 1, "removed": 0, "draw": 0}
    return results.assign_coords(
        {
            name: start + np.arange(results.sizes[name])
            for name, start in first.items()
            if name in results.sizes
        }
    )


def p_value(results: xr.Dataset) -> float:
    """Return the probability of an R2 as high under the null hypothesis; with n shuffles it is at
    least 1/(n + 1).
    """
    null, r2 = (
        results["null_r2"].values,
        results["exact_r2"].values[int(results["chosen_rank"]) - 1],
    )
    return float((1 + np.sum(null >= r2)) / (1 + len(null)))


def summary(results: xr.Dataset) -> list[Quantity]:
    """Return all numbers; those that belong together share a row of the table."""
    exact, chosen = results["exact_r2"].values, int(results["chosen_rank"])
    found = []
    for rank in results["rank"].values:
        row = f"held-out R2, rank {rank}"
        if "circuit_r2" in results:
            circuits = results["circuit_r2"].sel(rank=rank).values
            spread = float(circuits.std()) if circuits.size > 1 else None
            found.append(
                Quantity(
                    f"circuit_r2_{rank}", float(circuits.mean()), "", "circuit", spread, row=row
                )
            )
        found.append(Quantity(f"exact_r2_{rank}", float(exact[rank - 1]), "", "exact", row=row))
    if "circuit_r2" in results:
        below = exact[results["rank"].values - 1] - results["circuit_r2"].mean("seed").values
        found.append(
            Quantity("shortfall", float(below.max()), "", "circuit below exact R2, at most")
        )
    row, shared = "chosen rank (a lower bound)", "shared dimensions, factor analysis"
    removed = results["removed_r2"].values
    found += [
        Quantity("full_r2", float(exact[-1]), "", "held-out R2, full rank"),
        Quantity("rank", chosen, "", "rank", row=row),
        Quantity("r2", float(exact[chosen - 1]), "", "R2", row=row),
        Quantity(
            "r2_sem",
            float(results["exact_r2_sem"][chosen - 1]),
            "",
            "standard error over folds",
            row=row,
        ),
        Quantity(
            "source_dimensionality", int(results["source_dimensionality"]), "", "source", row=shared
        ),
        Quantity(
            "target_dimensionality", int(results["target_dimensionality"]), "", "target", row=shared
        ),
        Quantity(
            "removed_r2",
            float(removed[min(chosen, len(removed) - 1)]),
            "",
            "full R2 without the predictive dimensions",
        ),
    ]
    if "null_r2" in results:
        null, row = results["null_r2"].values, "null hypothesis, trials shuffled"
        found += [
            Quantity("null_r2", float(null.mean()), "", "R2", row=row),
            Quantity("null_r2_sd", float(null.std()), "", "standard deviation", row=row),
            Quantity("null_p", p_value(results), "", "p", row=row),
        ]
    if "lag_r2" in results:
        best = float(results["lag"].values[results["lag_r2"].values.argmax()])
        found.append(Quantity("best_lag", best, "s", "best lag"))
    return found + ([*of_draws(results)] if "draw" in results.sizes else [])


def of_draws(results: xr.Dataset) -> Iterable[Quantity]:
    """Yield the means over matched draws, with standard deviations over draws."""
    draws, units = results.sizes["draw"], int(results["draw_units"][0])
    yield Quantity("draws", draws)
    yield Quantity("draw_units", units)
    values = {
        "r2": ("R2", "_r2_at_rank", ""),
        "rank": ("rank", "_rank", ""),
        "rate": ("rate", "_rate", "spikes/s"),
        "dimensionality": ("shared dimensions", "_dimensionality", ""),
    }
    for name, where in (
        ("within", "within the source's area"),
        ("across", "across areas, from the same units"),
    ):
        row = f"{draws} draws of {units} matched units, {where}"
        for key, (words, variable, unit) in values.items():
            if (variable := name + variable) in results and np.isfinite(
                drawn := results[variable].values
            ).all():
                yield Quantity(
                    f"{name}_{key}", float(drawn.mean()), unit, words, float(drawn.std()), row=row
                )


def notes_of(results: xr.Dataset) -> list[str]:
    """Return what the null hypothesis says against the result."""
    shuffles = results.sizes.get("shuffle", 0)
    if not shuffles or (p := p_value(results)) <= SIGNIFICANT:
        return []
    if p == 1 / (1 + shuffles):
        return [f"{shuffles} shuffles are too few to find p below {SIGNIFICANT:g}"]
    return [
        f"the target is not predicted better than with shuffled trials (p = {p:.2g}), so its rank"
        " means nothing"
    ]
