"""Protocols, inference and power of ``biorrr distal`` side by side, and the claims that rest on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from biorrr.sims.experiments.distal.planning import CURVES, ENOUGH, NOISES, PowerCurve
from biorrr.sims.experiments.distal.recorded_circuits import CONDITIONS, Control, RecordedCircuit
from biorrr.sims.experiments.distal.slice_protocols import PROTOCOLS, SliceExperiment, cells_needed
from biorrr.sims.lab import Claim, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import np, xr

OF_BASELINE = "percent of baseline"
# Bounds, fixed beforehand: percent of baseline, and shares.
CLEAR, SMALL, LOSS = 5.0, 5.0, 3.0
BOUNDS = {
    "deviation_from_rule": (-math.inf, 5.0),
    "contained": (0.85, math.inf),
    "controls_told": (0, 0),
    "covers": (0.94, math.inf),
    "misleads": (-math.inf, 0.05),
}
SCATTER = 30.0  # percent of baseline by which cells of a real slice may differ: our assumption, cells here do less


def join(settings: Any, found: Mapping[Any, Any]) -> xr.Dataset:
    """Return all that was found, with the rule's prediction beside it."""
    every_s, seeds = list(settings.s), list(settings.every_seed)

    def protocols(pathway: str) -> np.ndarray:
        return np.array([[found[SliceExperiment(one, s)][pathway] for one in PROTOCOLS] for s in every_s])

    inferred = np.array(
        [[[found[RecordedCircuit(s, seed)][one.name] for seed in seeds] for one in CONDITIONS] for s in every_s]
    )
    curves = {
        f"{quantity}_{one.varied.field}": (
            ("noise", one.varied.field),
            np.array([found[PowerCurve(one, noise)][quantity] for noise in NOISES]),
        )
        for one in CURVES
        for quantity in ("power", "covers", "misleads")
    }
    varied = {
        one.varied.field: xr.Variable(
            one.varied.field, list(one.values), {"long_name": f"observed {one.varied.words}", "kept": one.fixed}
        )
        for one in CURVES
    }
    return xr.Dataset(
        {
            "paired": (("s", "protocol", "cell"), protocols("paired")),
            "other": (("s", "protocol", "cell"), protocols("other")),
            "predicted": (("s", "protocol", "pathway", "cell"), protocols("predicted")),
            "inferred": (("s", "condition", "seed", "quantity"), inferred),
            **curves,
        },
        {
            "s": every_s, "protocol": [one.name for one in PROTOCOLS], "cell": np.arange(settings.cells),
            "condition": [one.name for one in CONDITIONS], "seed": seeds,
            "quantity": ["s", "low", "high", "unexplained"], "pathway": ["paired", "other"], "noise": list(NOISES),
            "protocol_words": ("protocol", [one.words for one in PROTOCOLS]),
            "condition_words": ("condition", [one.words for one in CONDITIONS]),
            **varied,
        },
    )  # fmt: skip


def summary(settings: Any, results: xr.Dataset, controls_told: int) -> list[Quantity]:
    """Return the quantities that the claims rest on.

    Parameters
    ----------
    results
        From :func:`join`.
    controls_told
        Number of controls in which an s of the family was told.
    """
    mean = results[["paired", "other"]].mean("cell")
    found = [Quantity("engine", settings.engine)]
    for s in results["s"].values:
        for protocol in PROTOCOLS:
            for pathway in ("paired", "other"):
                value = float(mean[pathway].sel(s=s, protocol=protocol.name))
                found.append(Quantity(f"{protocol.name}_{pathway}_s_{s:g}", value, OF_BASELINE))
    simulated = np.stack([mean["paired"].values, mean["other"].values], axis=-1)
    deviation = float(np.abs(simulated - results["predicted"].mean("cell").values).max())
    low, high = (results["inferred"].sel(quantity=end) for end in ("low", "high"))
    contained = float(((low <= results["s"]) & (results["s"] <= high)).mean())
    covers, misleads = (
        float(np.mean([results[f"{name}_{one.varied.field}"].mean() for one in CURVES]))
        for name in ("covers", "misleads")
    )
    power = float(results["power_samples"].sel(noise=0.01, samples=50))
    judged = (
        ("deviation_from_rule", deviation, OF_BASELINE, "largest deviation from the rule"),
        ("contained", contained, PERCENT, "intervals that contain s"),
        ("controls_told", controls_told, "", "controls in which an s is found"),
        ("covers", covers, PERCENT, "coverage of the 95 % confidence interval"),
        ("misleads", misleads, PERCENT, "misleading experiments"),
    )
    found += [Quantity(name, value, unit, words, bound=BOUNDS[name]) for name, value, unit, words in judged]
    found.append(Quantity("power", power, PERCENT, f"power with 50 changes, {CURVES[0].fixed}, weights known to 1 %"))
    if {0.0, 1.0} <= set(results["s"].values):
        found += cells_to_tell(*(results["paired"].sel(s=s, protocol="weaker").values for s in (0.0, 1.0)))
    return found


def cells_to_tell(first: np.ndarray, second: np.ndarray) -> list[Quantity]:
    """Return the difference of two groups of cells, and how many cells a t test needs to tell them apart."""
    difference = float(first.mean() - second.mean())
    spread = float(np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2))
    row = "cells per group that tell s = 0 from 1 by a > z (two-sided t test at 5 %, power 95 %)"
    return [
        Quantity("difference_weaker", difference, OF_BASELINE),
        Quantity("cells_needed", cells_needed(difference, spread), "", "with the scatter of these cells:", row=row),
        Quantity(
            "cells_needed_scattered", cells_needed(difference, SCATTER), "",
            f"with a scatter of {SCATTER:g} % of baseline:", row=row,
        ),
    ]  # fmt: skip


def rows_of(settings: Any, results: xr.Dataset, controls: Mapping[Control, str]) -> dict[str, object]:
    """Return the rows of the table that hold several numbers; ``controls`` are inferences in words."""
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
    for control, words in controls.items():
        rows[f"control, {control.words}"] = words.partition(":")[0]
    for curve in CURVES:
        power = results[f"power_{curve.varied.field}"].values
        rows[f"{curve.varied.words} that tell, {curve.fixed}"] = ", ".join(
            f"{curve.values[np.argmax(one >= ENOUGH)]} at {noise:.1%}" if (one >= ENOUGH).any()
            else f"more than {curve.values[-1]} at {noise:.1%}"
            for noise, one in zip(NOISES, power, strict=True)
        )  # fmt: skip
    return rows


def judge(settings: Any, found: Mapping[str, Quantity]) -> list[Claim]:
    """Check what the theory says of these experiments."""
    protocols = f"{settings.cells} cells, {settings.pairings} pairings"
    per_point = f"{settings.experiments} simulated experiments at each point of the power curves"
    claims = [
        Claim.about(
            found["deviation_from_rule"],
            "noisy cells change as the rule says, in every protocol and at every s, in both pathways",
            run=protocols,
        ),
        Claim.about(
            found["contained"],
            "the interval of s inferred from a learning circuit contains the s that it follows, however it is observed",
            run=f"{settings.seeds} circuits at each s, {len(CONDITIONS)} ways to observe them",
        ),
        Claim.about(
            found["controls_told"],
            "where there is no s to be found, none is: shuffled changes, frozen weights, Oja's rule",
            run="one circuit each",
        ),
        Claim.about(
            found["covers"],
            "the 95 % confidence interval contains s in at least 95 of 100 experiments, up to sampling error",
            run=per_point,
        ),
        Claim.about(
            found["misleads"],
            "at most 5 of 100 experiments exclude the end of the family that the circuit follows",
            run=per_point,
        ),
    ]
    return claims + (judge_protocols(found, protocols) if {0.0, 1.0} <= set(settings.s) else [])


def judge_protocols(found: Mapping[str, Quantity], run: str) -> list[Claim]:
    """Check what the rule says of protocols at either end of the family."""
    numbers = {name: one.value for name, one in found.items()}
    return [
        Claim(
            text="distal input with weaker output (a > z) potentiates at s = 0 and depresses at s = 1",
            place="Sec. 5.2", run=run, low=CLEAR, unit=OF_BASELINE,
            value=min(numbers["weaker_paired_s_0"] - 100, 100 - numbers["weaker_paired_s_1"]),
        ),
        Claim(
            text="distal input alone depresses the paired pathway at s = 1, and not the other",
            run=run, low=CLEAR, unit=OF_BASELINE,
            value=min(
                100 - numbers["instruction_paired_s_1"],
                numbers["instruction_other_s_1"] - numbers["instruction_paired_s_1"],
            ),
        ),
        Claim(
            text="distal input alone does no more to the paired pathway than to the other at s = 0",
            run=run, low=-SMALL, high=SMALL, unit=OF_BASELINE,
            value=numbers["instruction_other_s_0"] - numbers["instruction_paired_s_0"],
        ),
        Claim(
            text="output alone weakens distal synapses at s = 0 (homeostatic decay)",
            run=run, low=LOSS, unit=OF_BASELINE, value=100 - numbers["output_paired_s_0"],
        ),
        Claim(
            text="output alone changes nothing at s = 1",
            run=run, low=-SMALL, high=SMALL, unit=OF_BASELINE, value=100 - numbers["output_paired_s_1"],
        ),
    ]  # fmt: skip
