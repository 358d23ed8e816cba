"""Interactive charts of an experiment's dataset: which variables are drawn against what, and the lines they make."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims.reports.plain import plain

if TYPE_CHECKING:
    import xarray as xr

SHOWN_POINTS = 300  # of a line: what a screen is wide


@dataclass(frozen=True)
class View:
    """One way to look at a dataset.

    A variable has a line for every combination of its dimensions, but for those named here.

    Parameters
    ----------
    label
        Of the vertical axis, with its unit.
    lines
        What the lines of each variable are called. Variables that the dataset has not are left out.
    x
        Variables or coordinates to draw against, with their labels; a choice on the page where several fit.
    along
        Dimension along which a line runs; the first that a variable has.
    repeats
        Dimensions of runs that differ by chance alone: a thin line each, a thick one for their mean.
    choose
        Dimensions or coordinates of which the page shows one value at a time.
    theory
        Variables that are not measured: dashed.
    log
        Axes that begin logarithmic: "", "x", "y" or "xy".
    window
        How much of the horizontal axis is in sight at first; 0 for all.
    name
        Of the view where there is a choice, if not its label.
    """

    label: str
    lines: Mapping[str, str]
    x: Mapping[str, str]
    along: tuple[str, ...] = ("snapshot",)
    repeats: tuple[str, ...] = ()
    choose: tuple[str, ...] = ()
    theory: tuple[str, ...] = ()
    log: str = "x"
    window: int = 0
    name: str = ""


@dataclass(frozen=True)
class Chart:
    """One or several views in one place, between which the page lets choose."""

    title: str
    views: tuple[View, ...]
    hint: str = ""


_STEPS = {"t": "samples or iterations", "seconds": "CPU time (s)"}
_RACE = Chart(
    "The race",
    tuple(
        View(label, {name: ""}, _STEPS, repeats=("seed",), choose=("data", "k"), log=log)
        for name, label, log in (
            ("excess", "excess over the optimum (relative)", "xy"),
            ("objective", "objective (units of y² for s = 0)", "x"),
            ("whitening_error", "deviation from whitening", "xy"),
        )
    ),
)
_SEEN = {"seen": "samples seen"}
CHARTS = {
    "learn": (
        Chart(
            "All seeds",
            (
                View("excess over the optimum (relative)", {"excess": "circuit"}, _SEEN, repeats=("seed",), log="xy"),
                View("‖Q′ − R‖", {"r_minus_qt": "circuit"}, _SEEN, repeats=("seed",), log="xy"),
            ),
        ),
    ),
    "plateau": (
        Chart(
            "Plateaus and theory through learning",
            (
                View(
                    "correlation with theory",
                    {
                        "inhibition_correlation": "inhibition Qn with Vy′ỹ",
                        "plateau_correlation": "plateau with error Vy′(y − ỹ)",
                        "network_correlation": "plateau with backprop’s Vy′ε",
                    },
                    _SEEN,
                    repeats=("seed", "pyramidal"),
                ),
            ),
            "Thin lines are neurons of single seeds.",
        ),
        Chart(
            "Recorded with learning off",
            (
                View(
                    "current (units of a)",
                    {
                        "recorded_plateau": "plateau",
                        "recorded_a": "distal current a",
                        "recorded_inhibition": "inhibition Qn",
                        "recorded_z": "output z",
                    },
                    {"row": "sample of the data"},
                    along=("row",),
                    choose=("stage", "neuron"),
                    log="",
                    window=60,
                ),
            ),
            "The same samples before, during and after learning.",
        ),
    ),
    "symmetry": (
        Chart(
            "R and Q′ find each other",
            (
                View(
                    "‖Q′ − R‖ over its start",
                    {"ratio": "measured", "predicted": "theory"},
                    _SEEN,
                    repeats=("start",),
                    choose=("kind",),
                    theory=("predicted",),
                    log="y",
                ),
                View(
                    "|measured / theory − 1|", {"departure": ""}, _SEEN, repeats=("start",), choose=("kind",), log="y"
                ),
                View("output power |z|²", {"power": ""}, _SEEN, repeats=("start",), choose=("kind",), log="y"),
            ),
            "Theory: the start times (1 − η)^T, with the rate of Q. For unequal rates it promises nothing.",
        ),
    ),
    "compare": (_RACE,),
    "images": (_RACE,),
    "communication": (
        Chart(
            "Held-out prediction",
            (
                View(
                    "R² on held-out trials",
                    {"circuit_r2": "circuit", "exact_r2": "exact"},
                    {"rank": "rank (filters)", "k": "rank (filters)"},
                    along=("rank", "k"),
                    repeats=("seed",),
                    theory=("exact_r2",),
                    log="",
                ),
            ),
        ),
    ),
}


def charts_of(experiment: str, results: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """The charts of an experiment as plain values: those that its ``results``, by name of file, have variables for."""
    datasets = [_prepared(experiment, dataset) for dataset in results.values()]
    if len(datasets) > 1:  # a file for each data set, with the one rank that belongs to it
        named = zip(results, datasets, strict=True)
        datasets = [
            one.isel(k=0, drop=True).assign_coords(data=f"{name}, k = {one['k'].values[0]}") for name, one in named
        ]
    charts = (_departures(datasets[0]),) if experiment == "robustness" else CHARTS.get(experiment, ())
    drawn = []
    for chart in charts:
        views = [_drawn(view, datasets) for view in chart.views]
        views = [view for view in views if view["series"]]
        if views:
            drawn.append({"title": chart.title, "hint": chart.hint, "views": views})
    return drawn


def _departures(dataset: xr.Dataset) -> Chart:
    """A view for each departure from the paper's circuit that was tried."""
    tried = {name: str(dataset[name].attrs.get("long_name", name)) for name in _knobs(dataset)}
    return Chart(
        "Departures from the paper’s circuit",
        tuple(
            View(
                "excess over the optimum (relative)",
                {name: "", f"{name}_plain": "paper’s circuit"},
                {f"{name}_value": meaning},
                along=(f"{name}_value",),
                repeats=("seed",),
                theory=(f"{name}_plain",),
                log="y",
                name=meaning,
            )
            for name, meaning in tried.items()
        ),
    )


def _knobs(dataset: xr.Dataset) -> list[str]:
    return [str(name) for name in dataset.data_vars if f"{name}_value" in dataset.coords]


def _prepared(experiment: str, dataset: xr.Dataset) -> xr.Dataset:
    """``dataset`` with what follows from its variables, and with names for what lines and choices are."""
    if experiment == "symmetry" and {"ratio", "predicted"} <= set(dataset.data_vars):
        pairs = zip(dataset["eta_q"].values, dataset["eta_r"].values, strict=True)
        rates = [f"η/τ {q:g}" if q == r else f"η/τ of Q {q:g}, of R {r:g}" for q, r in pairs]
        named = dataset.assign_coords(rates=("condition", rates)).drop_vars(["eta_q", "eta_r"])
        return named.assign(departure=abs(named["ratio"] / named["predicted"] - 1))
    if experiment == "plateau" and "stage_samples" in dataset:
        told = [f"{one:,} samples" for one in dataset["stage_samples"].values]
        neurons = [str(one + 1) for one in range(dataset.sizes["pyramidal"])]
        return dataset.assign_coords(
            stage=("stage", told), neuron=("pyramidal", neurons), row=("row", range(dataset.sizes["row"]))
        )
    if experiment == "robustness" and "plain" in dataset:
        paper = dataset["plain"].mean("seed")
        return dataset.assign(
            {
                f"{name}_plain": paper.expand_dims({f"{name}_value": dataset[f"{name}_value"]}, axis=-1)
                for name in _knobs(dataset)
            }
        )
    return dataset


def _drawn(view: View, datasets: list[xr.Dataset]) -> dict[str, Any]:
    """The view as the page draws it: labels, and each line with the choices it belongs to."""
    series = [
        line for dataset in datasets for name in view.lines if name in dataset for line in _lines(view, dataset, name)
    ]
    options = {
        name: list(dict.fromkeys(line["choose"][name] for line in series if name in line["choose"]))
        for name in view.choose
    }
    return {
        "name": view.name or view.label,
        "label": view.label,
        "x": list(dict.fromkeys(view.x.values())),
        "log": view.log,
        "window": view.window,
        "choose": {name: found for name, found in options.items() if len(found) > 1},
        "series": series,
    }


def _lines(view: View, dataset: xr.Dataset, name: str) -> Iterator[dict[str, Any]]:
    """The lines of one variable: for each combination of its dimensions the mean over repeats, then the repeats."""
    variable = dataset[name]
    along = next((dim for dim in view.along if dim in variable.dims), None)
    against = [x for x in view.x if x in dataset and set(dataset[x].dims) <= set(variable.dims)]
    if along is None or not against:
        return
    parts = {"y": variable} | {x: dataset[x] for x in against}
    if name in view.theory:  # the same in every repeat
        parts = {key: _at(part, dict.fromkeys(view.repeats, 0)) for key, part in parts.items()}
    sizes = parts["y"].sizes
    repeated = [dim for dim in view.repeats if sizes.get(dim, 1) > 1]
    for place in _places(sizes, [dim for dim in sizes if dim != along and dim not in repeated]):
        here = {key: _at(part, place) for key, part in parts.items()}
        # The coordinates that do not run along the line say which one it is.
        told = {str(key): coord.item() for key, coord in here["y"].coords.items() if coord.ndim == 0}
        words = [
            value if isinstance(value, str) else f"{key} {value:g}"
            for key, value in told.items()
            if key not in (*view.choose, *view.repeats, *view.x)
        ]
        line = {
            "choose": {key: str(told[key]) for key in view.choose if key in told},
            "line": ", ".join(filter(None, [*words, view.lines[name]])),
            "group": ", ".join(words) or view.lines[name],
            "theory": name in view.theory,
        }
        yield line | {"repeat": None} | _points(here, repeated)
        for turn in _places(sizes, repeated) if repeated else ():
            which = ", ".join(f"{dim} {_index(variable, dim, at)}" for dim, at in turn.items())
            yield line | {"repeat": which} | _points({key: _at(part, turn) for key, part in here.items()}, [])


def _places(sizes: Mapping[Any, int], dims: list) -> Iterator[dict[Any, int]]:
    for place in itertools.product(*(range(sizes[dim]) for dim in dims)):
        yield dict(zip(dims, place, strict=True))


def _at(part: xr.DataArray, place: Mapping[Any, int]) -> xr.DataArray:
    return part.isel({dim: at for dim, at in place.items() if dim in part.dims})


def _index(variable: xr.DataArray, dim: str, at: int) -> str:
    return str(variable[dim].values[at]) if dim in variable.coords else str(at + 1)


def _points(here: Mapping[str, xr.DataArray], repeated: list[str]) -> dict[str, Any]:
    """The points of one line, means over what is ``repeated``: y, and a list of x for each that it is drawn against."""
    import numpy as np

    # The mean ends where the first of the runs does.
    means = {
        key: part.mean([dim for dim in repeated if dim in part.dims], skipna=False).values if repeated else part.values
        for key, part in here.items()
    }
    y = means.pop("y")
    shown = np.flatnonzero(np.isfinite(y))[:SHOWN_POINTS]
    return {"y": plain(y[shown]), "x": [plain(x[shown]) for x in means.values()]}
