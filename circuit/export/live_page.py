"""A page on which a circuit learns while one watches: one file with the program, the data and the
theory.
"""

from __future__ import annotations

import base64
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines.cpp_source import render
from biorrr.circuit.export import TEMPLATES, job_of
from biorrr.circuit.export.javascript import broadcast_rates, write_program
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.prepare import prepare
from biorrr.errors import InputError
from biorrr.files import whole_file
from biorrr.models import Population, Silence
from biorrr.models.validation import number_within, whole_number

if TYPE_CHECKING:
    from biorrr.circuit.base import CircuitBase
    from biorrr.circuit.results.run import Run

# What a page draws of a cell, in this order, where its population has it.
LANES = ("plateau", "a", "inhibition", "z")
_BROUGHT = ("order", "seed", "weights", "start")  # settings that a run to be followed brings along
_RATES = {
    "eta_x": "proximal",
    "eta_y": "distal",
    "eta_q": "interneurons",
    "eta_r": "interneurons",
}


def write_page(
    circuit: CircuitBase,
    path: str | os.PathLike,
    X: Any,
    Y: Any,
    run: Run | None,
    pixels: tuple[int, int] | None,
    s: float | None,
    title: str,
    **settings: Any,
) -> Path:
    """Write the page of ``circuit``, as :meth:`biorrr.circuit.Microcircuit.to_html` takes it;
    return its path.
    """
    followed = None if run is None else job_of(run, "page")
    if followed is not None:
        given = [name for name, value in settings.items() if name in _BROUGHT and value is not None]
        if given:
            raise InputError(f"run: brings {', '.join(given)} along; leave that out, or run")
        settings["centre"] = any(feed.centred for feed in followed.feeds.values())
    first = getattr(settings["start"], "samples", 0)
    cells = [population.name for population in circuit.parts.all(kind="interneuron")]
    quiet = [Silence(first, population=name) for name in cells]  # the page says when
    job = prepare(circuit, X, Y, final=False, events=quiet, **settings)
    if followed is not None:
        job = _following(job, followed)
    data = json.dumps(_contents(job, cells, pixels, s), separators=(",", ":"))
    page = render(
        TEMPLATES / "page.html",
        title=title,
        program=write_program(job.blueprint),
        data=data.replace("<", "\\u003c"),  # so that nothing in it can end it
    )
    with whole_file(Path(path)) as partial:
        partial.write_text(page, encoding="utf-8")
    return Path(path)


def _following(job: Job, followed: Job) -> Job:
    """Return ``job`` with the order and the start of ``followed``, whose rates "auto" fall to zero
    at the end, as those of a page do not.
    """
    begun = {key: values for key, values in followed.state.items() if key != "neuromodulator.last"}
    fits = all(
        key in job.state and job.state[key].shape == values.shape for key, values in begun.items()
    )
    samples, here = followed.presentation.n_samples, job.presentation.n_samples
    if not fits or samples != here:
        raise InputError(
            f"run: must be a run of this circuit on these data (got one on {samples} samples, and"
            f" X has {here}, or one of another circuit)"
        )
    return replace(
        job,
        presentation=followed.presentation,
        state=job.state | begun,
        start=followed.start,
        stop=followed.stop,
    )


def _contents(
    job: Job, silenceable: list[str], pixels: tuple[int, int] | None, s: float | None
) -> dict[str, Any]:
    """Return all that a page holds beside the program."""
    blueprint, parts = job.blueprint, job.blueprint.parts
    if any(feed.ticks != feed.duration for feed in job.feeds.values()):
        raise InputError(
            "to_html: a page presents samples, and these are signals in time; give tables"
        )
    rows = job.presentation.rows(job.start, job.stop)
    replayed = job.presentation.replayed(job.start, job.stop)
    watched = _watched_cells(blueprint)
    theory = theory_of(job, s)
    return {
        "state": {key: _packed(values) for key, values in job.state.items()},
        "ports": {
            name: {"values": _packed(feed.values), "mean": _packed(feed.mean), "gain": feed.gain}
            for name, feed in job.feeds.items()
        },
        "order": _packed(rows),
        "replays": job.presentation.replay,
        "inputs": _packed(replayed),
        "matrices": {
            pathway.weight: {
                "key": f"{pathway.name}.w",
                "shape": turn.shape,
                "turned": turn.target_by_source,
            }
            for pathway in parts.weighted
            for turn in [blueprint.orientations[pathway.name]]
        },
        "cells": _cell_names(watched),
        "lanes": [
            {
                "keys": [f"{cells.name}.{name}" for cells in watched],
                "name": name,
                "unit": watched[0].variable(name).unit,
            }
            for name in _lanes(watched[0])
        ],
        "loops": [
            (out.weight, back.weight)
            for out in parts.all(kind="recruitment")
            for back in parts.all(kind="inhibitory")
            if (out.source, out.target) == (back.target, back.source)
        ],
        "filters": [
            pathway.weight
            for pathway in parts.all(kind="proximal")
            if pathway.source == blueprint.ports[0].population
        ],
        "rates": [
            {"key": key, "of": _RATES.get(name.rstrip("_0123456789"), name)}
            for key in sorted(broadcast_rates(blueprint))
            for name in [key.partition(".")[2]]
        ],
        "silenceable": [f"{name}.active" for name in silenceable],
        "pixels": _checked_pixels(pixels, job.feeds),
        "theory": theory,
    }


def _lanes(cells: Population) -> list[str]:
    """Return the variables of ``cells`` that a page draws."""
    known = [name for name in LANES if name in cells.declared]
    own = [v.name for v in cells.variables if v.per == "cell" and v.role == "activity"]
    return known or own[: len(LANES)]


def _watched_cells(blueprint: Blueprint) -> list[Population]:
    """Return the populations whose activity a page draws: pyramidal cells of all areas, where there
    are any.
    """
    inputs = [port.population for port in blueprint.ports]
    others = [p for p in blueprint.parts.populations if p.shape and p.name not in inputs]
    pyramidal = [*blueprint.parts.all(kind="pyramidal")]
    if not [*pyramidal, *others]:
        raise InputError("to_html: the circuit has no cells beside its inputs to draw")
    return pyramidal or others[:1]


def _cell_names(populations: list[Population]) -> list[str]:
    """Return the names of all cells of ``populations``."""
    several = len(populations) > 1
    return [
        f"area {population.area}, cell {cell}" if several else f"cell {cell}"
        for population in populations
        for cell in range(population.size or 0)
    ]


def _checked_pixels(pixels: Any, feeds: dict) -> tuple[int, int] | None:
    """Return the (rows, columns) of a picture, after a check that samples of x have as many."""
    if pixels is None:
        return None
    m = feeds["x"].values.shape[1] if "x" in feeds else 0
    if len(tuple(pixels)) != 2 or math.prod(pixels) != m:
        raise InputError(
            f"pixels: must be (rows, columns) of a picture with {m} pixels, the features of X (got"
            f" {pixels!r})"
        )
    rows, columns = (whole_number("pixels", side, minimum=1) for side in pixels)
    return rows, columns


def theory_of(job: Job, s: float | None) -> dict[str, Any] | None:
    """Return what the exact solution says of the data of ``job``: none for circuits that learn no
    regression of y on x.

    Every direction V of x that matters is there with C = Cxx V: the best prediction of y is
    ``readout V'x``, and M = C diag(eigenvalues) C' scores any filters.
    """
    from biorrr.analysis.regression.exact_solution import ExactSolution

    circuit, turns = job.circuit, job.blueprint.orientations
    outputs = {p.weight: turns[p.name].targets for p in job.blueprint.parts.weighted}
    if "Vx" not in outputs or set(job.feeds) != {"x", "y"}:
        return None
    ridges = (0.0, 0.0)
    if circuit.regression is not None:
        ridges = circuit.regression.ridges
        s = circuit.regression.s if s is None and not circuit.regression.apical else s
    if s is None:
        return None
    k = outputs["Vx"]
    X, Y = (job.feeds[name].values - job.feeds[name].mean for name in ("x", "y"))
    exact = ExactSolution(X, Y, number_within("s", s, 0, 1), ridges)
    every = len(exact.eigenvalues)
    filters = exact.Vx(every)
    return {
        "k": k,
        "ridge": ridges[0],
        "optimum": exact.optimum(k),
        "filters": _packed(filters),
        "covaried": _packed(X.T @ (X @ filters) / len(X) + ridges[0] * filters),
        "readout": _packed(exact.readout(every)),
        "eigenvalues": _packed(exact.eigenvalues),
    }


def _packed(values: Any) -> dict[str, Any]:
    """Return numbers as text that holds them exactly: as places in a table of the values that
    occur, where these are few.
    """
    values = np.asarray(values, np.float64)
    packed: dict[str, Any] = {"shape": values.shape, "type": "Float64Array"}
    flat = values.reshape(-1)
    some = np.unique(flat[:100_000])
    if 2 * len(some) < len(flat[:100_000]):
        table, places = np.unique(flat, return_inverse=True)
        for kind, dtype in (("Uint8Array", np.uint8), ("Uint16Array", np.uint16)):
            if len(table) <= np.iinfo(dtype).max + 1:
                packed |= {"type": kind, "table": _base64(table)}
                flat = places.reshape(-1).astype(dtype)
                break
    return packed | {"base64": _base64(flat)}


def _base64(values: np.ndarray) -> str:
    little = values.astype(values.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode()
