"""Results about one target: a dataset, and the quantities that the summary, the table and the supplement show."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from biorrr.sims.experiments.communication.areas import Areas
from biorrr.sims.experiments.communication.questions import Circuit, Draw
from biorrr.sims.lab import Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lab.settings import NO_NUMBERS, plain, provenance

if TYPE_CHECKING:
    from biorrr.sims.experiments.communication import CommunicationSettings

SIGNIFICANT = 0.05


def join(areas: Areas, settings: CommunicationSettings, found: Mapping[Any, xr.Dataset]) -> xr.Dataset:
    """Return all answers about one target as one dataset, with the exact prediction."""
    prediction = areas.prediction
    parts = [one for question, one in found.items() if not isinstance(question, Circuit | Draw)]
    if draws := [one for question, one in found.items() if isinstance(question, Draw)]:
        parts.append(xr.concat(draws, dim="draw"))
    results = xr.merge(parts, join="outer", compat="no_conflicts").assign(
        exact_r2=("k", prediction.r2), exact_r2_sem=("k", prediction.r2_sem), chosen_rank=prediction.rank
    )
    results = results.assign_coords(rank=list(settings.ranks))
    circuits = {question: one for question, one in found.items() if isinstance(question, Circuit)}
    if circuits:
        errors = np.array([
            [sum(float(circuits[Circuit(fold, rank, seed)]["error"]) for fold in range(settings.folds))
             for seed in settings.every_seed]
            for rank in settings.ranks
        ])  # fmt: skip
        results["circuit_r2"] = (("rank", "seed"), 1 - errors / prediction.deviations.sum())
        results = results.assign_coords(seed=list(settings.every_seed))
        results.attrs["engine"] = str(next(iter(circuits.values())).attrs["engine"])
        results.attrs["seconds"] = sum(float(one.attrs["seconds"]) for one in circuits.values())
    first = {"k": 1, "draw_k": 1, "removed": 0, "draw": 0}
    return results.assign_coords({name: start + np.arange(results.sizes[name]) for name, start in first.items()
                                  if name in results.sizes})  # fmt: skip


@dataclass(frozen=True)
class Target:
    """Results about one target.

    Parameters
    ----------
    prefix
        Text before the names of its quantities; empty for a single target.
    name
        Name of the target.
    results
        All answers, as :func:`join` returns them.
    """

    prefix: str
    name: str
    results: xr.Dataset

    @property
    def p(self) -> float:
        """Probability of an R2 as high under the null hypothesis; with n shuffles it is at least 1/(n + 1)."""
        null = self.results["null_r2"].values if "null_r2" in self.results else np.empty(0)
        r2 = self.results["exact_r2"].values[int(self.results["chosen_rank"]) - 1]
        return float((1 + np.sum(null >= r2)) / (1 + len(null)))

    def quantities(self, ranks: Sequence[int]) -> list[Quantity]:
        """Return all numbers about the target; those that belong together share a row of the table."""
        data, told = self.results, self._quantity
        exact, chosen = data["exact_r2"].values, int(data["chosen_rank"])
        r2, found = float(exact[chosen - 1]), []
        for rank in ranks:
            row = f"held-out R2, rank {rank}"
            if "circuit_r2" in data:
                circuits = data["circuit_r2"].sel(rank=rank).values
                spread = float(circuits.std()) if circuits.size > 1 else None
                found.append(told(row, "circuit", f"circuit_r2_{rank}", float(circuits.mean()), spread=spread))
            found.append(told(row, "exact", f"exact_r2_{rank}", float(exact[rank - 1])))
        if "circuit_r2" in data:
            means = data["circuit_r2"].mean("seed").sel(rank=list(ranks)).values
            shortfall = float(np.max(exact[np.array(ranks) - 1] - means))
            found.append(told("circuit below exact R2, at most", "", "shortfall", shortfall))
        row = "chosen rank (a lower bound)"
        found += [
            told("held-out R2, full rank", "exact", "full_r2", float(exact[-1])),
            told(row, "rank", "rank", chosen),
            told(row, "R2", "r2", r2),
            told(row, "standard error over folds", "r2_sem", float(data["exact_r2_sem"][chosen - 1])),
        ]
        if "null_r2" in data:
            null, row = data["null_r2"].values, "null hypothesis, trials shuffled"
            found += [
                told(row, "R2", "null_r2", float(null.mean())),
                told(row, "standard deviation", "null_r2_sd", float(null.std())),
                told(row, "p", "null_p", self.p),
            ]
        for side in ("source", "target"):
            shared = int(data[f"{side}_dimensionality"])
            found.append(told("shared dimensions, factor analysis", side, f"{side}_dimensionality", shared))
        removed = data["removed_r2"].values
        left = float(removed[min(chosen, len(removed) - 1)])
        found.append(told("full R2 without the predictive dimensions", "", "removed_r2", left))
        if "lag_r2" in data:
            best = float(data["lag"].values[data["lag_r2"].values.argmax()])
            found.append(told("best lag", "", "best_lag", best, "s"))
        if "draw" in data.sizes:
            found += self._draws()
        if "plateau" in data:
            share, correlation = float(data["plateau_share"]), float(data["plateau_correlation"])
            found.append(told("plateaus", "share of the distal variance", "plateau_share", share, "%"))
            found.append(told("plateaus", "lowest correlation with the error", "plateau_correlation", correlation))
        return found

    @property
    def notes(self) -> list[str]:
        """Return what the null hypothesis says against the result."""
        shuffles, p = self.results.sizes.get("shuffle", 0), self.p
        if not shuffles or p <= SIGNIFICANT:
            return []
        if p == 1 / (1 + shuffles):
            return [f"{self.name}: {shuffles} shuffles are too few to find p below {SIGNIFICANT:g}"]
        return [f"{self.name}: not predicted better than with shuffled trials (p = {p:.2g}), so its rank means nothing"]

    def _draws(self) -> Iterable[Quantity]:
        """Yield the means over matched draws, with standard deviations over draws."""
        data, units = self.results, int(self.results["draw_units"][0])
        yield Quantity("draws", data.sizes["draw"])
        yield Quantity("draw_units", units)
        values = {"r2": ("R2", "_r2_at_rank", ""), "rank": ("rank", "_rank", ""), "rate": ("rate", "_rate", "spikes/s"),
                  "dimensionality": ("shared dimensions", "_dimensionality", "")}  # fmt: skip
        for name, where in (("within", "within the source's area"), ("across", "across areas, from the same units")):
            row = f"{data.sizes['draw']} draws of {units} matched units, {where}"
            for key, (words, variable, unit) in values.items():
                if (variable := name + variable) in data and np.isfinite(drawn := data[variable].values).all():
                    yield self._quantity(row, words, f"{name}_{key}", float(drawn.mean()), unit, float(drawn.std()))

    def _quantity(
        self, row: str, words: str, name: str, value: float, unit: str = "", spread: float | None = None
    ) -> Quantity:
        words = f"{self.name}: {words}".removesuffix(": ") if self.prefix else words
        return Quantity(self.prefix + name, value, unit, words or row, spread, row=row if words else "")


def write_supplement(path: Path, quantities: Sequence[Quantity], settings: CommunicationSettings) -> None:
    """Write every number with its spread, its unit and its meaning, versions and settings, as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["name", "quantity", "value", "standard deviation", "unit"])
        for one in quantities:
            words = ": ".join(filter(None, (one.row, one.words)))
            unit = "fraction" if one.unit == PERCENT else one.unit
            table.writerow([one.name, words, one.value, "" if one.spread is None else one.spread, unit])
        for name, version in provenance("communication").items():
            table.writerow([name, "" if name == "experiment" else f"version of {name}", version, "", ""])
        for name, value in vars(settings).items():
            if name not in NO_NUMBERS:
                table.writerow([name, "setting", plain(value), "", ""])
