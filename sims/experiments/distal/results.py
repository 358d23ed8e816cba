"""Results of ``biorrr distal`` side by side: one dataset, its quantities and rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from biorrr.sims.experiments.distal.recorded_circuits import CONDITIONS, RecordedCircuit
from biorrr.sims.experiments.distal.slice_protocols import PROTOCOLS, SliceExperiment, cells_needed
from biorrr.sims.lab import PERCENT, Quantity
from biorrr.sims.lazy import np, xr

OF_BASELINE = "percent of baseline"
# Bounds, fixed beforehand. Those of changes in the protocols are in percent of baseline.
CLEAR, SMALL, LOSS = (5.0, math.inf), (-5.0, 5.0), (3.0, math.inf)
AS_THE_RULE, CONTAINED = (-math.inf, 5.0), (0.85, math.inf)
# percent of baseline by which cells of a real slice may differ: our assumption, cells here do less
SCATTER = 30.0


Found = Mapping[Any, Mapping[str, Any]]


def join(settings: Any, paired: Found, recorded: Found) -> xr.Dataset:
    """Return what protocols and recorded circuits have found, beside the rule's prediction."""

    def protocols(pathway: str) -> list[list[Any]]:
        return [[paired[SliceExperiment(one, s)][pathway] for one in PROTOCOLS] for s in settings.s]

    inferred = [
        [
            [recorded[RecordedCircuit(s, seed)][one.name] for seed in settings.every_seed]
            for one in CONDITIONS
        ]
        for s in settings.s
    ]
    return xr.Dataset(
        {
            "paired": (("s", "protocol", "cell"), protocols("paired")),
            "other": (("s", "protocol", "cell"), protocols("other")),
            "predicted": (("s", "protocol", "pathway", "cell"), protocols("predicted")),
            "inferred": (("s", "condition", "seed", "quantity"), inferred),
        },
        {
            "s": list(settings.s),
            "protocol": [one.name for one in PROTOCOLS],
            "cell": np.arange(settings.cells),
            "condition": [one.name for one in CONDITIONS],
            "seed": list(settings.every_seed),
            "quantity": ["s", "low", "high"],
            "pathway": ["paired", "other"],
            "protocol_words": ("protocol", [one.words for one in PROTOCOLS]),
            "condition_words": ("condition", [one.words for one in CONDITIONS]),
        },
    )


def summary(settings: Any, results: xr.Dataset) -> list[Quantity]:
    """Return the quantities."""
    mean = results[["paired", "other"]].mean("cell").to_dataarray("pathway")
    deviation = mean - results["predicted"].mean("cell")
    low, high = (results["inferred"].sel(quantity=end) for end in ("low", "high"))
    contained = float(((low <= results["s"]) & (results["s"] <= high)).mean())
    found = [
        Quantity("engine", settings.engine),
        *(
            Quantity(
                f"{one.name}_{side}_s_{s:g}",
                float(mean.sel(s=s, protocol=one.name, pathway=side)),
                OF_BASELINE,
            )
            for s in settings.s
            for one in PROTOCOLS
            for side in ("paired", "other")
        ),
        Quantity(
            "deviation_from_rule",
            float(np.abs(deviation).max()),
            OF_BASELINE,
            "largest deviation from the rule",
            bound=AS_THE_RULE,
        ),
        Quantity("contained", contained, PERCENT, "intervals that contain s", bound=CONTAINED),
    ]
    return found + (
        at_ends({one.name: one.value for one in found}) if {0.0, 1.0} <= set(settings.s) else []
    )


def at_ends(number: Mapping[str, float]) -> list[Quantity]:
    """Return the changes on which the rule decides at s = 0 and 1, in percent of baseline."""
    weaker_0, weaker_1 = (number[f"weaker_paired_s_{s}"] for s in (0, 1))
    paired, other = (
        [number[f"instruction_{pathway}_s_{s}"] for s in (0, 1)] for pathway in ("paired", "other")
    )
    difference = weaker_0 - weaker_1
    return [
        Quantity("difference_weaker", difference, OF_BASELINE),
        Quantity(
            "cells_needed_scattered",
            cells_needed(difference, SCATTER),
            "",
            f"cells per group that tell s = 0 from 1 by a > z, if cells scatter by {SCATTER:g} % of"
            " baseline (two-sided t test at 5 %, power 95 %)",
        ),
        Quantity("weaker_opposite", min(weaker_0 - 100, 100 - weaker_1), OF_BASELINE, bound=CLEAR),
        Quantity(
            "instruction_depresses",
            min(100 - paired[1], other[1] - paired[1]),
            OF_BASELINE,
            bound=CLEAR,
        ),
        Quantity("instruction_spares", other[0] - paired[0], OF_BASELINE, bound=SMALL),
        Quantity("output_weakens", 100 - number["output_paired_s_0"], OF_BASELINE, bound=LOSS),
        Quantity("output_spares", 100 - number["output_paired_s_1"], OF_BASELINE, bound=SMALL),
    ]


def rows_of(settings: Any, results: xr.Dataset) -> dict[str, object]:
    """Return the rows of the table that hold several numbers."""
    rows: dict[str, object] = {}
    for protocol in PROTOCOLS:
        cells = {s: results["paired"].sel(s=s, protocol=protocol.name).values for s in settings.s}
        rows[protocol.words.replace("\n", " ")] = "; ".join(
            f"s = {s:g}: {one.mean():.0f} ± {one.std(ddof=1):.0f} %" for s, one in cells.items()
        )
    for condition in CONDITIONS:
        first = results["inferred"].sel(condition=condition.name).isel(seed=0)
        found = {s: first.sel(s=s).values for s in settings.s}
        rows[f"inferred, {condition.words}"] = "; ".join(
            f"s = {s:g}: {one[0]:.3f} ({one[1]:.3f} to {one[2]:.3f})" for s, one in found.items()
        )
    return rows
