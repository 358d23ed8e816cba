"""Results of ``biorrr distal`` side by side: one dataset, its quantities and rows, and the claims that rest on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from biorrr.sims.experiments.distal.planning import CURVES, ENOUGH, NOISES, WORDS, PowerCurve, kept_on
from biorrr.sims.experiments.distal.recorded_circuits import CONDITIONS, RecordedCircuit
from biorrr.sims.experiments.distal.slice_protocols import PROTOCOLS, SliceExperiment, cells_needed
from biorrr.sims.lab import Claim, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import np, xr

OF_BASELINE = "percent of baseline"
CLEAR, SMALL, LOSS = 5.0, 5.0, 3.0  # bounds of changes in the protocols, fixed beforehand, in percent of baseline
SCATTER = 30.0  # percent of baseline by which cells of a real slice may differ: our assumption, cells here do less
# By quantity: unit, words, bounds that were fixed beforehand, and what the theory says of it.
JUDGED: dict[str, tuple[str, str, tuple[float, float], str]] = {
    "deviation_from_rule": (
        OF_BASELINE, "largest deviation from the rule", (-math.inf, 5.0),
        "noisy cells change as the rule says, in every protocol and at every s, in both pathways",
    ),
    "contained": (
        PERCENT, "intervals that contain s", (0.85, math.inf),
        "the interval of s inferred from a learning circuit contains the s that it follows, however it is observed",
    ),
    "controls_told": (
        "", "controls in which an s is found", (0, 0),
        "where there is no s to be found, none is: shuffled changes, frozen weights, Oja's rule",
    ),
    "covers": (
        PERCENT, "coverage of the 95 % confidence interval", (0.94, math.inf),
        "the 95 % confidence interval contains s in at least 95 of 100 experiments, up to sampling error",
    ),
    "misleads": (
        PERCENT, "misleading experiments", (-math.inf, 0.05),
        "at most 5 of 100 experiments exclude the end of the family that the circuit follows",
    ),
}  # fmt: skip


def join(settings: Any, found: Mapping[Any, Any]) -> xr.Dataset:
    """Return all that was found, with the rule's prediction beside it."""

    def protocols(pathway: str) -> list[list[Any]]:
        return [[found[SliceExperiment(one, s)][pathway] for one in PROTOCOLS] for s in settings.s]

    inferred = [
        [[found[RecordedCircuit(s, seed)][one.name] for seed in settings.every_seed] for one in CONDITIONS]
        for s in settings.s
    ]
    curves = {
        f"{name}_{varied}": (("noise", varied), [found[PowerCurve(varied, noise)][name] for noise in NOISES])
        for varied in CURVES
        for name in ("power", "covers", "misleads")
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
            "s": list(settings.s), "protocol": [one.name for one in PROTOCOLS], "cell": np.arange(settings.cells),
            "condition": [one.name for one in CONDITIONS], "seed": list(settings.every_seed),
            "quantity": ["s", "low", "high"], "pathway": ["paired", "other"], "noise": list(NOISES),
            "protocol_words": ("protocol", [one.words for one in PROTOCOLS]),
            "condition_words": ("condition", [one.words for one in CONDITIONS]),
            **{varied: (varied, list(values), {"long_name": f"observed {WORDS[varied]}", "kept": kept_on(varied)})
               for varied, values in CURVES.items()},
        },
    )  # fmt: skip


def summary(settings: Any, results: xr.Dataset, controls_told: int) -> list[Quantity]:
    """Return the quantities; ``controls_told`` is the number of controls in which an s of the family was told."""
    mean = results[["paired", "other"]].mean("cell")
    found = [Quantity("engine", settings.engine)]
    for s in results["s"].values:
        for protocol in PROTOCOLS:
            for pathway in ("paired", "other"):
                value = float(mean[pathway].sel(s=s, protocol=protocol.name))
                found.append(Quantity(f"{protocol.name}_{pathway}_s_{s:g}", value, OF_BASELINE))
    deviation = mean.to_dataarray("pathway") - results["predicted"].mean("cell")
    low, high = (results["inferred"].sel(quantity=end) for end in ("low", "high"))
    judged = {
        "deviation_from_rule": float(np.abs(deviation).max()),
        "contained": float(((low <= results["s"]) & (results["s"] <= high)).mean()),
        "controls_told": controls_told,
        **{name: float(np.mean([results[f"{name}_{varied}"].mean() for varied in CURVES]))
           for name in ("covers", "misleads")},
    }  # fmt: skip
    for name, value in judged.items():
        unit, words, bound, _ = JUDGED[name]
        found.append(Quantity(name, value, unit, words, bound=bound))
    power = float(results["power_samples"].sel(noise=0.01, samples=50))
    words = f"power with 50 changes, {kept_on('samples')}, weights known to 1 %"
    found.append(Quantity("power", power, PERCENT, words))
    if {0.0, 1.0} <= set(settings.s):
        first, second = (results["paired"].sel(s=s, protocol="weaker").values for s in (0.0, 1.0))
        difference = float(first.mean() - second.mean())
        spread = float(np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2))
        row = "cells per group that tell s = 0 from 1 by a > z (two-sided t test at 5 %, power 95 %)"
        said = "with the scatter of these cells:", f"with a scatter of {SCATTER:g} % of baseline:"
        found += [
            Quantity("difference_weaker", difference, OF_BASELINE),
            Quantity("cells_needed", cells_needed(difference, spread), "", said[0], row=row),
            Quantity("cells_needed_scattered", cells_needed(difference, SCATTER), "", said[1], row=row),
        ]
    return found


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
    for varied, values in CURVES.items():
        power = results[f"power_{varied}"].values
        rows[f"{WORDS[varied]} that tell, {kept_on(varied)}"] = ", ".join(
            f"{values[np.argmax(one >= ENOUGH)]} at {noise:.1%}" if (one >= ENOUGH).any()
            else f"more than {values[-1]} at {noise:.1%}"
            for noise, one in zip(NOISES, power, strict=True)
        )  # fmt: skip
    return rows


def judge(settings: Any, found: Mapping[str, Quantity]) -> list[Claim]:
    """Check what the theory says of these experiments."""
    protocols = f"{settings.cells} cells, {settings.pairings} pairings"
    per_point = f"{settings.experiments} simulated experiments at each point of the power curves"
    runs = {
        "deviation_from_rule": protocols,
        "contained": f"{settings.seeds} circuits at each s, {len(CONDITIONS)} ways to observe them",
        "controls_told": "one circuit each",
    }
    claims = [Claim.about(found[name], text, run=runs.get(name, per_point)) for name, (_, _, _, text) in JUDGED.items()]
    if not {0.0, 1.0} <= set(settings.s):
        return claims
    # What the rule says of protocols at either end of the family.
    number = {name: one.value for name, one in found.items()}
    weaker = min(number["weaker_paired_s_0"] - 100, 100 - number["weaker_paired_s_1"])
    paired, other = number["instruction_paired_s_1"], number["instruction_other_s_1"]
    unpaired = number["instruction_other_s_0"] - number["instruction_paired_s_0"]
    output, without_decay = (100 - number[f"output_paired_s_{s}"] for s in (0, 1))
    for text, value, low, high in (
        (
            "distal input with weaker output (a > z) potentiates at s = 0 and depresses at s = 1",
            weaker, CLEAR, math.inf,
        ),
        (
            "distal input alone depresses the paired pathway at s = 1, and not the other",
            min(100 - paired, other - paired), CLEAR, math.inf,
        ),
        ("distal input alone does no more to the paired pathway than to the other at s = 0", unpaired, -SMALL, SMALL),
        ("output alone weakens distal synapses at s = 0 (homeostatic decay)", output, LOSS, math.inf),
        ("output alone changes nothing at s = 1", without_decay, -SMALL, SMALL),
    ):  # fmt: skip
        claims.append(Claim(text=text, value=value, run=protocols, low=low, high=high, unit=OF_BASELINE))
    return claims
