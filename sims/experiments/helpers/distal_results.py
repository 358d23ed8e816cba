"""What ``biorrr distal`` finds: protocols, inference and power side by side, and the claims that rest on them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from biorrr.sims.experiment import Findings, Found
from biorrr.sims.experiments.helpers.distal_plan import CURVES, ENOUGH, NOISES
from biorrr.sims.experiments.helpers.distal_protocols import PROTOCOLS, cells_needed
from biorrr.sims.experiments.helpers.distal_recording import CONDITIONS, CONTROLS
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lazy import np, xr

# Bounds, fixed beforehand: percent of baseline, and shares.
CLEAR, SMALL, LOSS = 5.0, 5.0, 3.0
FROM_RULE = 5.0
CONTAINED, COVERED, MISLED = 0.85, 0.94, 0.05
SCATTER = 30.0  # percent of baseline by which cells of a real slice may differ: our assumption, cells here do less


def joined(settings: Any, found: Found) -> xr.Dataset:
    """All that was found, with what the rule says beside it."""
    every_s, seeds = list(settings.s), list(settings.every_seed)

    def protocols(pathway: str) -> np.ndarray:
        return np.array([[found[f"{name}-s-{s:g}"][pathway] for name in PROTOCOLS] for s in every_s])

    def curve(what: str, quantity: str) -> np.ndarray:
        return np.array([found[f"power-{what}-{noise:g}"][quantity] for noise in NOISES])

    inferred = np.array(
        [[[found[f"recorded-s-{s:g}-seed-{seed}"][name] for seed in seeds] for name in CONDITIONS] for s in every_s]
    )
    return xr.Dataset(
        {
            "paired": (("s", "protocol", "cell"), protocols("paired")),
            "other": (("s", "protocol", "cell"), protocols("other")),
            "predicted": (("s", "protocol", "pathway", "cell"), protocols("predicted")),
            "inferred": (("s", "condition", "seed", "quantity"), inferred),
            **{
                f"{quantity}_{what}": (("noise", what), curve(what, quantity))
                for what in CURVES
                for quantity in ("power", "covers", "misleads")
            },
        },
        {
            "s": every_s, "protocol": list(PROTOCOLS), "cell": np.arange(settings.cells), "condition": list(CONDITIONS),
            "seed": seeds, "quantity": ["s", "low", "high", "unexplained"], "pathway": ["paired", "other"],
            "noise": list(NOISES), **{what: list(values) for what, (values, _) in CURVES.items()},
        },
    )  # fmt: skip


def numbers_of(results: xr.Dataset, controls_told: int) -> dict[str, Any]:
    """What the claims rest on.

    Parameters
    ----------
    results
        From :func:`joined`.
    controls_told
        In how many controls an s of the family was told.
    """
    mean = results[["paired", "other"]].mean("cell")
    numbers: dict[str, Any] = {}
    for s in results["s"].values:
        for protocol in results["protocol"].values:
            for pathway in ("paired", "other"):
                numbers[f"{protocol}_{pathway}_s_{s:g}"] = float(mean[pathway].sel(s=s, protocol=protocol))
    simulated = np.stack([mean["paired"].values, mean["other"].values], axis=-1)
    numbers["deviation_from_rule"] = float(np.abs(simulated - results["predicted"].mean("cell").values).max())
    low, high = (results["inferred"].sel(quantity=end) for end in ("low", "high"))
    numbers["contained"] = float(((low <= results["s"]) & (results["s"] <= high)).mean())
    numbers["controls_told"] = controls_told
    for quantity in ("covers", "misleads"):
        numbers[quantity] = float(np.mean([results[f"{quantity}_{what}"].mean() for what in CURVES]))
    numbers["power"] = float(results["power_samples"].sel(noise=0.01, samples=50))
    if {0.0, 1.0} <= set(results["s"].values):
        first, second = (results["paired"].sel(s=s, protocol="weaker").values for s in (0.0, 1.0))
        difference = float(first.mean() - second.mean())
        numbers["difference_weaker"] = difference
        numbers["cells_needed"] = cells_needed(difference, float(np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)))
        numbers["cells_needed_scattered"] = cells_needed(difference, SCATTER)
    return numbers


def findings(settings: Any, found: Found) -> Findings:
    """Tables, figures and claims."""
    from biorrr.analysis.figures import distal as figures

    results = joined(settings, found)
    told = sum(bool(found[f"control-{name}"]["fooled"]) for name in CONTROLS)
    numbers: dict[str, Any] = {"engine": settings.engine} | numbers_of(results, told)
    rows: dict[str, object] = {}
    for name, protocol in PROTOCOLS.items():
        rows[protocol.words.replace("\n", " ")] = "; ".join(
            f"s = {s:g}: {one.mean():.0f} ± {one.std(ddof=1):.0f} %"
            for s in settings.s
            for one in [results["paired"].sel(s=s, protocol=name).values]
        )
    for name, words in CONDITIONS.items():
        rows[f"inferred, {words}"] = "; ".join(
            f"s = {s:g}: {one[0]:.3f} ({one[1]:.3f} to {one[2]:.3f})"
            for s in settings.s
            for one in [results["inferred"].sel(s=s, condition=name).isel(seed=0).values]
        )
    for name, words in CONTROLS.items():
        rows[f"control, {words}"] = str(found[f"control-{name}"]["words"]).partition(":")[0]
    for what, (_, kept) in CURVES.items():
        fixed = ", ".join(f"{value} {key}" for key, value in kept.items())
        power = results[f"power_{what}"]
        reached = [
            f"{int(power[what].values[np.argmax(one >= ENOUGH)])} at {noise:.1%}" if (one >= ENOUGH).any()
            else f"more than {int(power[what].values[-1])} at {noise:.1%}"
            for noise, one in zip(NOISES, power.values, strict=True)
        ]  # fmt: skip
        rows[f"{what} that tell, {fixed}"] = ", ".join(reached)
    if "cells_needed" in numbers:
        rows["cells to tell s = 0 from 1 by a > z"] = (
            f"{numbers['cells_needed']} in each group, or {numbers['cells_needed_scattered']} if cells scatter by "
            f"{SCATTER:g} % of baseline (two-sided t test at 5 %, power 95 %)"
        )
    return Findings(
        numbers=numbers,
        title=f"distal plasticity: {settings.cells} cells in each protocol, EPSP in percent of baseline; s with its "
        "95 % interval",
        rows=rows,
        results={"run": results},
        figures={
            "protocols": partial(
                figures.plot_protocols, [one.words for one in PROTOCOLS.values()], settings.s,
                results["paired"].values, results["other"].values, results["predicted"].mean("cell").values,
            ),
            "inference": partial(
                figures.plot_inferred, list(CONDITIONS.values()), settings.s, results["inferred"].values[..., :3]
            ),
            "power": partial(
                figures.plot_power,
                {f"observed {'changes' if what == 'samples' else what}": (values, results[f"power_{what}"].values)
                 for what, (values, _) in CURVES.items()},
                NOISES,
                {f"observed {'changes' if what == 'samples' else what}":
                 ", ".join(f"{value} {'changes' if key == 'samples' else key}" for key, value in kept.items())
                 for what, (_, kept) in CURVES.items()},
            ),
        },
        own_tests=check_claims(settings, numbers),
    )  # fmt: skip


def check_claims(settings: Any, numbers: Mapping[str, Any]) -> list[Claim]:
    """What the theory says of these experiments, and whether it holds here."""
    protocols = f"{settings.cells} cells, {settings.pairings} pairings"
    per_point = f"{settings.experiments} simulated experiments at each point of the power curves"
    claims = [
        Claim(
            text="noisy cells change as the rule says, in every protocol and at every s, in both pathways",
            run=protocols, value=numbers["deviation_from_rule"], high=FROM_RULE, unit="percent of baseline",
        ),
        Claim(
            text="the interval of s inferred from a learning circuit contains the s that it follows, however it is "
            "observed",
            run=f"{settings.seeds} circuits at each s, {len(CONDITIONS)} ways to observe them",
            value=numbers["contained"], low=CONTAINED, unit="%",
        ),
        Claim(
            text="where there is no s to be found, none is: shuffled changes, frozen weights, Oja's rule",
            run="one circuit each", value=numbers["controls_told"], low=0, high=0,
        ),
        Claim(
            text="the 95 % interval contains s in at least 95 of 100 experiments, up to chance",
            run=per_point, value=numbers["covers"], low=COVERED, unit="%",
        ),
        Claim(
            text="at most 5 of 100 experiments exclude the end of the family that the circuit follows",
            run=per_point, value=numbers["misleads"], high=MISLED, unit="%",
        ),
    ]  # fmt: skip
    if {0.0, 1.0} <= set(settings.s):
        claims += [
            Claim(
                text="distal input with weaker output (a > z) potentiates at s = 0 and depresses at s = 1",
                place='Sec. 5.2', run=protocols, low=CLEAR, unit="percent of baseline",
                value=min(numbers["weaker_paired_s_0"] - 100, 100 - numbers["weaker_paired_s_1"]),
            ),
            Claim(
                text="distal input alone depresses the paired pathway at s = 1, and not the other",
                run=protocols, low=CLEAR, unit="percent of baseline",
                value=min(
                    100 - numbers["instruction_paired_s_1"],
                    numbers["instruction_other_s_1"] - numbers["instruction_paired_s_1"],
                ),
            ),
            Claim(
                text="distal input alone does no more to the paired pathway than to the other at s = 0",
                run=protocols, low=-SMALL, high=SMALL, unit="percent of baseline",
                value=numbers["instruction_other_s_0"] - numbers["instruction_paired_s_0"],
            ),
            Claim(
                text="output alone weakens distal synapses at s = 0 (homeostatic decay)",
                run=protocols, low=LOSS, unit="percent of baseline", value=100 - numbers["output_paired_s_0"],
            ),
            Claim(
                text="output alone changes nothing at s = 1",
                run=protocols, low=-SMALL, high=SMALL, unit="percent of baseline",
                value=100 - numbers["output_paired_s_1"],
            ),
        ]  # fmt: skip
    return claims
