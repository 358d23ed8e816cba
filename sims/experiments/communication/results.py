"""Findings about two areas: numbers, datasets, table for the supplement, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from biorrr.analysis import RankCV
from biorrr.analysis.figures import communication as figures
from biorrr.sims.data.dataset import LOADED
from biorrr.sims.experiments.communication.questions import (
    Circuit,
    Dendrites,
    Dimensions,
    Draw,
    Lags,
    Pair,
    Removal,
    Shuffles,
)
from biorrr.sims.experiments.communication.supplement import Row, write_supplement
from biorrr.sims.lab import Figure, Findings, Quantity

if TYPE_CHECKING:
    from biorrr.sims.experiments.communication import CommunicationSettings

SEM = "standard error over folds"
CHANCE = 0.05  # above this p, a rank means nothing
OVER_DRAWS = "standard deviation over draws"


@dataclass(frozen=True)
class Target:
    """Results about one target."""

    results: xr.Dataset
    numbers: dict[str, Any]
    rows: list[Row]
    notes: tuple[str, ...]


def exact_r2(pair: Pair, settings: CommunicationSettings) -> np.ndarray:
    """Return the held-out R2 of the exact solution, (ranks,): from data that fit into memory, or from their moments."""
    from sklearn.model_selection import PredefinedSplit

    data, areas = pair.data, pair.areas
    if data.X.nbytes + data.Y.nbytes > LOADED:
        return pair.prediction.r2
    cv = RankCV(s=settings.s, ridge=settings.ridge or 0.0, cv=PredefinedSplit(areas.folds))
    return cv.fit(data.X, data.Y, strata=areas.strata).r2_


def circuit_r2(pair: Pair, settings: CommunicationSettings, found: Mapping[Any, Any]) -> np.ndarray:
    """Return the held-out R2 of circuits, (ranks, seeds)."""
    errors, deviations = np.zeros((len(settings.ranks), settings.seeds)), 0.0
    for fold in range(settings.folds):
        _, y_train, _, y_test = pair.areas.fold(fold)
        deviations += np.square(y_test - y_train.mean(axis=0)).sum()
        for i, rank in enumerate(settings.ranks):
            for j, seed in enumerate(settings.every_seed):
                errors[i, j] += found[Circuit(fold, rank, seed)]["error"]
    return 1 - errors / deviations


def about(pair: Pair, settings: CommunicationSettings, found: Mapping[Any, Any]) -> Target:
    """Return the numbers of one target, without its name; rows of the supplement, with units; and arrays."""
    data, prediction = pair.data, pair.prediction
    exact, chosen = exact_r2(pair, settings), prediction.rank
    variables: dict[str, Any] = {
        "exact_r2": ("k", exact), "exact_r2_sem": ("k", prediction.r2_sem), "chosen_rank": chosen,
    }  # fmt: skip
    coords: dict[str, Any] = {"k": np.arange(1, len(exact) + 1), "rank": list(settings.ranks)}
    numbers: dict[str, Any] = {}
    rows = [
        Row("units of the source", data.X.shape[1], unit="neurons"),
        Row("units of the target", data.Y.shape[1], unit="neurons"),
        Row("trials", len(np.unique(pair.areas.trials)), unit="trials"),
        Row("time bins", len(data.X), unit="bins"),
    ]
    if data.x_rates is not None and data.y_rates is not None:
        for side, rates in (("source", data.x_rates), ("target", data.y_rates)):
            rows.append(
                Row(
                    f"mean rate of the {side}",
                    rates.mean(),
                    "",
                    rates.std(),
                    "standard deviation over units",
                    "spikes/s",
                )
            )
    if settings.simulation:
        circuits = circuit_r2(pair, settings, found)
        variables["circuit_r2"] = (("rank", "seed"), circuits)
        coords["seed"] = list(settings.every_seed)
        for rank, r2 in zip(settings.ranks, circuits, strict=True):
            numbers[f"circuit_r2_{rank}"] = float(r2.mean())
            numbers[f"exact_r2_{rank}"] = float(exact[rank - 1])
            rows.append(
                Row("held-out R2, circuit", float(r2.mean()), rank, float(r2.std()), "standard deviation over seeds")
            )
        numbers["shortfall"] = max(
            numbers[f"exact_r2_{rank}"] - numbers[f"circuit_r2_{rank}"] for rank in settings.ranks
        )
    else:
        numbers |= {f"exact_r2_{rank}": float(exact[rank - 1]) for rank in settings.ranks}
    for rank, (r2, sem) in enumerate(zip(exact, prediction.r2_sem, strict=True), start=1):
        rows.append(Row("held-out R2, exact", float(r2), rank, float(sem), SEM))
    numbers |= {
        "full_r2": float(exact[-1]),
        "rank": chosen,
        "r2": float(exact[chosen - 1]),
        "r2_sem": float(prediction.r2_sem[chosen - 1]),
    }
    rows.append(Row("predictive dimensions, by the one-standard-error rule", chosen, unit="dimensions"))
    _add_controls(pair, settings, found, numbers, rows, variables, coords)
    attrs = {}
    if settings.simulation:
        circuits_found = [result for question, result in found.items() if isinstance(question, Circuit)]
        attrs = {
            "engine": str(circuits_found[0]["engine"]),
            "seconds": sum(float(result["seconds"]) for result in circuits_found),
        }
    notes = data.notes
    if numbers.get("null_p", 0.0) > CHANCE:
        notes += (f"nothing is predicted that shuffled trials do not predict too (p = {numbers['null_p']:.2g})",)
    return Target(xr.Dataset(variables, coords=coords, attrs=attrs), numbers, rows, notes)


def _add_controls(pair, settings, found, numbers, rows, variables, coords) -> None:
    chosen, by_kind = pair.prediction.rank, {type(question): result for question, result in found.items()}
    if Shuffles in by_kind:
        null = by_kind[Shuffles]["r2"][:, chosen - 1]
        variables["null_r2"] = ("shuffle", null)
        numbers |= {
            "null_r2": float(null.mean()),
            "null_r2_sd": float(null.std()),
            # With n shuffles no smaller p than 1/(n + 1) can be told.
            "null_p": float((1 + np.sum(null >= numbers["r2"])) / (1 + len(null))),
        }
        rows.append(
            Row(
                "held-out R2, trials shuffled",
                float(null.mean()),
                chosen,
                float(null.std()),
                "standard deviation over shuffles",
            )
        )
        rows.append(Row(f"p of the held-out R2, {len(null)} shuffles", numbers["null_p"], chosen))
    sides = by_kind[Dimensions]
    numbers |= {f"{side}_dimensionality": int(sides[side]) for side in ("source", "target")}
    for side in ("source", "target"):
        rows.append(
            Row(
                f"dimensionality of the {side}, factor analysis, 95 % of shared variance",
                int(sides[side]),
                unit="dimensions",
            )
        )
    removed = by_kind[Removal]["r2"]
    variables["removed_r2"] = ("removed", removed)
    coords["removed"] = np.arange(len(removed))
    numbers["removed_r2"] = float(removed[min(chosen, len(removed) - 1)])
    for gone, r2 in enumerate(removed):
        rows.append(Row(f"held-out R2 without {gone} predictive dimensions", float(r2), "full"))
    if Lags in by_kind:
        r2, sem = by_kind[Lags]["r2"], by_kind[Lags]["sem"]
        lags = (np.arange(len(r2)) - len(r2) // 2) * settings.bin + settings.lag
        variables |= {"lag_r2": ("lag", r2), "lag_r2_sem": ("lag", sem)}
        coords["lag"] = lags
        numbers["best_lag"] = float(lags[np.argmax(r2)])
        for lag, value, error in zip(lags, r2, sem, strict=True):
            rows.append(Row(f"held-out R2 at a lag of {lag:g} s", float(value), chosen, float(error), SEM))
    draws = [result for question, result in found.items() if isinstance(question, Draw)]
    if draws:
        _add_draws(draws, numbers, rows, variables, coords)
    if Dendrites in by_kind:
        dendrites = by_kind[Dendrites]
        for name in ("distal", "inhibition", "plateau"):
            variables[name] = (("sample", "neuron"), dendrites[name])
        coords["neuron"] = np.arange(dendrites["plateau"].shape[1])  # targets differ in how many they need
        variables["trial"] = ("sample", pair.areas.trials[: len(dendrites["plateau"])])
        numbers |= {
            "plateau_share": float(dendrites["share"]),
            "plateau_correlation": float(dendrites["correlation"]),
        }
        rows.append(Row("variance of plateaus over that of distal currents", numbers["plateau_share"], chosen))
        rows.append(
            Row(
                "lowest correlation of a neuron's plateaus with the error of the regression",
                numbers["plateau_correlation"],
                chosen,
            )
        )


def _add_draws(draws, numbers, rows, variables, coords) -> None:
    units = int(draws[0]["units"])
    numbers |= {"draws": len(draws), "draw_units": units}
    rows.append(Row("units of a matched target", units, unit="neurons"))
    coords |= {"draw": np.arange(len(draws)), "draw_k": np.arange(1, len(draws[0]["within_r2"]) + 1)}
    for name, where in (("within", "within the source's area"), ("across", "across areas, from the same units")):
        curves = np.array([one[f"{name}_r2"] for one in draws])
        ranks = np.array([int(one[f"{name}_rank"]) for one in draws])
        at_rank = curves[np.arange(len(draws)), ranks - 1]
        rates = np.array([float(one[f"{name}_rate"]) for one in draws])
        variables |= {f"{name}_r2": (("draw", "draw_k"), curves), f"{name}_rank": ("draw", ranks)}
        numbers |= {
            f"{name}_r2": float(at_rank.mean()),
            f"{name}_rank": float(ranks.mean()),
        }
        rows.append(
            Row(f"held-out R2, matched targets {where}", at_rank.mean(), "each draw's own", at_rank.std(), OVER_DRAWS)
        )
        rows.append(
            Row(
                f"predictive dimensions, matched targets {where}",
                ranks.mean(),
                "",
                ranks.std(),
                OVER_DRAWS,
                "dimensions",
            )
        )
        if np.isfinite(rates).all():
            numbers[f"{name}_rate"] = float(rates.mean())
            rows.append(
                Row(f"mean rate of matched targets {where}", rates.mean(), "", rates.std(), OVER_DRAWS, "spikes/s")
            )
    dimensions = np.array([int(one["within_dimensions"]) for one in draws])
    variables["within_dimensionality"] = ("draw", dimensions)
    numbers["within_dimensionality"] = float(dimensions.mean())
    rows.append(
        Row(
            "dimensionality of matched targets within the source's area, factor analysis",
            dimensions.mean(),
            "",
            dimensions.std(),
            OVER_DRAWS,
            "dimensions",
        )
    )
    for removed in ("within", "across"):
        for predicted in ("within", "across"):
            curves = np.array([one[f"{predicted}_without_{removed}"] for one in draws])
            variables[f"{predicted}_without_{removed}"] = (("draw", f"removed_{removed}"), curves)


def findings(settings: CommunicationSettings, each: Sequence[Target]) -> Findings:
    """Put all targets side by side: numbers, table, figures, and the supplement."""
    names, source = settings.target_names, settings.source_name
    results = xr.concat([one.results for one in each], dim="target", combine_attrs="drop", join="outer")
    results = results.assign_coords(target=list(names))
    numbers: dict[str, Any] = {
        "s": settings.s, "ridge": settings.ridge, "folds": settings.folds, "seeds": settings.seeds,
    }  # fmt: skip
    prefixes = [f"{name}_" for name in names] if len(names) > 1 else [""]
    if len(names) == 1:
        numbers |= {"data": settings.data.name, "source": source, "target": names[0]}
        counts = each[0].rows[:4]
        keys = ("source_units", "target_units", "trials", "bins")
        numbers |= {key: row.value for key, row in zip(keys, counts, strict=True)}
    for prefix, one in zip(prefixes, each, strict=True):
        numbers |= {f"{prefix}{name}": value for name, value in one.numbers.items()}
    notes = [*dict.fromkeys(note for one in each for note in one.notes)]
    if settings.simulation:
        numbers["engine"] = results.attrs["engine"] = each[0].results.attrs["engine"]
        numbers["seconds"] = results.attrs["seconds"] = sum(one.results.attrs["seconds"] for one in each)
    if len(names) == 1:
        numbers["notes"] = "; ".join(notes)
    labels = [f"{source} to {name}" for name in names]
    return Findings(
        quantities=[Quantity(name, value) for name, value in numbers.items()],
        title=f"{settings.data}: held-out R2, {settings.folds} folds of whole trials, s = {settings.s:g}; "
        "data are centred",
        rows=_table(settings, labels, each) | ({"to note": "; ".join(notes)} if notes else {}),
        data={"run": results},
        figures=_figures(settings, labels, each),
        files={
            "supplement.csv": partial(
                write_supplement,
                targets=[(source, name, one.rows) for name, one in zip(names, each, strict=True)],
                notes=notes,
                settings=settings,
            )
        },
    )


def _table(settings: CommunicationSettings, labels: Sequence[str], each: Sequence[Target]) -> dict[str, object]:
    def joined(say) -> str:
        return "; ".join(f"{label} {say(one.numbers)}" for label, one in zip(labels, each, strict=True))

    rows: dict[str, object] = {}
    for rank in settings.ranks:
        rows[f"rank {rank}"] = joined(
            lambda numbers, rank=rank: (
                f"{numbers[f'circuit_r2_{rank}']:.4f} (exact {numbers[f'exact_r2_{rank}']:.4f})"
                if settings.simulation
                else f"exact {numbers[f'exact_r2_{rank}']:.4f}"
            )
        )
    rows["full rank"] = joined(lambda numbers: f"exact {numbers['full_r2']:.4f}")
    rows["rank chosen"] = joined(lambda numbers: numbers["rank"]) + " (smallest within one standard error of the best)"
    if settings.shuffles:
        rows["trials shuffled"] = joined(
            lambda numbers: f"{numbers['null_r2']:.4f} +- {numbers['null_r2_sd']:.4f}, p = {numbers['null_p']:.3g}"
        )
    rows["dimensionality"] = (
        joined(
            lambda numbers: (
                f"{numbers['source_dimensionality']} in the source, {numbers['target_dimensionality']} in the target"
            )
        )
        + " (factor analysis)"
    )
    if all("best_lag" in one.numbers for one in each):
        rows["best lag"] = joined(lambda numbers: f"{numbers['best_lag']:g} s")
    rows["predictive dimensions removed"] = joined(lambda numbers: f"{numbers['removed_r2']:.4f}")
    if "draws" in each[0].numbers:
        numbers = each[0].numbers
        rows["within the area"] = (
            f"{numbers['within_r2']:.4f} at rank {numbers['within_rank']:.3g}; across areas, from the same units, "
            f"{numbers['across_r2']:.4f} at rank {numbers['across_rank']:.3g} ({numbers['draws']} draws of "
            f"{numbers['draw_units']} matched units)"
        )
    if "plateau_share" in each[0].numbers:
        rows["plateaus"] = joined(
            lambda numbers: f"{100 * numbers['plateau_share']:.0f} % of the variance of distal currents"
        )
    return rows


def _figures(settings: CommunicationSettings, labels: Sequence[str], each: Sequence[Target]) -> list[Figure]:
    source = settings.source_name
    curves, dimensions, removals, lags = {}, {}, {}, {}
    for label, name, one in zip(labels, settings.target_names, each, strict=True):
        data, numbers = one.results, one.numbers
        curves[label] = figures.RankCurve(
            data["exact_r2"].values,
            data["exact_r2_sem"].values,
            settings.ranks,
            data["circuit_r2"].values if settings.simulation else (),
            numbers["rank"],
            data["null_r2"].values if "null_r2" in data else (),
            data["within_r2"].values if "within_r2" in data else None,
        )
        target = f"within {name}" if name == source else name
        dimensions[target if name == source else label] = numbers["target_dimensionality"], numbers["rank"]
        if "draws" in numbers:
            for removed, title in (("across", f"{name}'s dimensions removed"), ("within", f"{source}'s own removed")):
                removals[title] = {
                    name: data[f"across_without_{removed}"].values,
                    f"within {source}": data[f"within_without_{removed}"].values,
                }
        else:
            removals[f"{label}: its own dimensions removed"] = {target: data["removed_r2"].values[None]}
        if "lag_r2" in data:
            lags[label] = data["lag_r2"].values, data["lag_r2_sem"].values
    first = each[0].results
    within = (first["within_dimensionality"].values, first["within_rank"].values) if "within_rank" in first else None
    drawn = {
        "communication": partial(figures.plot_prediction, curves),
        "dimensionality": partial(figures.plot_dimensionality, dimensions, within),
        "removal": partial(figures.plot_removal, removals),
    }
    if lags:
        drawn["lags"] = partial(figures.plot_lags, first["lag"].values, lags)
    if "plateau" in first:
        trials = first["trial"].values
        drawn["dendrites"] = partial(
            figures.plot_dendrites,
            *(first[name].values for name in ("distal", "inhibition", "plateau")),
            trials,
            settings.bin,
            labels[0].rpartition(" ")[2],
        )
    return [Figure(name, draw, charted=name == "communication") for name, draw in drawn.items()]
