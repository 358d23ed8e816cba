"""Interactive charts of an experiment's dataset: the lines they are made of."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.page.plain import plain
from biorrr.sims.page.views import View, quantity_of

if TYPE_CHECKING:
    import xarray as xr


def charts_of(name: str, results: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """Return the charts of an experiment as plain values, where its ``results``, by name of file, have variables."""
    if name not in experiment_names():  # a command that leaves a folder and is none of them
        return []
    experiment = find_experiment(name)
    drawn = []
    for chart in experiment.charts:
        views = [_drawn(view, list(results.values())) for view in chart.views]
        views = [view for view in views if view["series"]]
        if views:
            drawn.append({"title": chart.title, "hint": chart.hint, "views": views})
    return drawn


def _drawn(view: View, datasets: list[xr.Dataset]) -> dict[str, Any]:
    """Return the view as the page draws it: labels, and each line with the choices it belongs to."""
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
        "x": list(dict.fromkeys(label for x, label in view.x.items() if any(x in dataset for dataset in datasets))),
        "log": view.log,
        "window": view.window,
        "percent": view.percent,
        "choose": {name: found for name, found in options.items() if len(found) > 1},
        "series": series,
    }


def _lines(view: View, dataset: xr.Dataset, name: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a variable: for each combination of its dimensions the mean over repeats, then the repeats."""
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
        fixed = {str(key): coord.item() for key, coord in here["y"].coords.items() if coord.ndim == 0}
        words = [
            value if isinstance(value, str) else f"{key} {value:g}"
            for key, value in fixed.items()
            if key not in (*view.choose, *view.repeats, *view.x)
        ]
        line = {
            "choose": {key: str(fixed[key]) for key in view.choose if key in fixed},
            "line": ", ".join(filter(None, [*words, view.lines[name]])),
            "group": ", ".join(words) or view.lines[name],
            "theory": name in view.theory,
            "quantity": quantity_of(name) if not words else None,  # several lines of one quantity need several colours
        }
        yield line | {"repeat": None} | _points(here, repeated, view.points)
        for turn in _places(sizes, repeated) if repeated else ():
            which = ", ".join(f"{dim} {_index(variable, dim, at)}" for dim, at in turn.items())
            yield (
                line
                | {"repeat": which}
                | _points({key: _at(part, turn) for key, part in here.items()}, [], view.points)
            )


def _places(sizes: Mapping[Any, int], dims: list) -> Iterator[dict[Any, int]]:
    for place in itertools.product(*(range(sizes[dim]) for dim in dims)):
        yield dict(zip(dims, place, strict=True))


def _at(part: xr.DataArray, place: Mapping[Any, int]) -> xr.DataArray:
    return part.isel({dim: at for dim, at in place.items() if dim in part.dims})


def _index(variable: xr.DataArray, dim: str, at: int) -> str:
    return str(variable[dim].values[at]) if dim in variable.coords else str(at + 1)


def _points(here: Mapping[str, xr.DataArray], repeated: list[str], most: int) -> dict[str, Any]:
    """Return the first points of a line, averaged over the ``repeated``: y, and a list of x for each x of the view."""
    import numpy as np

    # The mean ends where the first of the runs does.
    means = {
        key: part.mean([dim for dim in repeated if dim in part.dims], skipna=False).values if repeated else part.values
        for key, part in here.items()
    }
    y = means.pop("y")
    shown = np.flatnonzero(np.isfinite(y))[:most]
    return {"y": plain(y[shown]), "x": [plain(x[shown]) for x in means.values()]}
