"""Place fields that plateaus make on a circular track (as in Milstein et al. 2021)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiments.timing.single_cell import PLATEAU, RULES, TICK, departures_of, single_cell
from biorrr.sims.lab import Claim, Job, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import analysis, circuits, np, xr

if TYPE_CHECKING:
    from biorrr.sims.experiments.timing import TimingSettings

TRACK, SPEED, FIELD, FIBRES, LAPS = 187.0, 25.0, 21.0, 100, 5  # cm, cm/s, s.d. of input fields in cm
PLACES = (60.0, 130.0)  # cm: of the plateaus of the first laps, and of those that follow
# Bounds, fixed beforehand.
PLACE_ERROR, WIDTH_ERROR = 2.0, 0.05  # cm, relative


@dataclass(frozen=True)
class Animal:
    """An animal that runs around the track, and the rule by which plateaus make a field."""

    rule: str


def lap() -> tuple[np.ndarray, np.ndarray]:
    """Return one lap at constant speed: positions in cm, (ticks,), and inputs with fields, (ticks, FIBRES)."""
    positions = np.arange(0, TRACK, SPEED * TICK)[: round(TRACK / (SPEED * TICK))]
    away = np.abs(positions[:, None] - TRACK * np.arange(FIBRES) / FIBRES)
    away = np.minimum(away, TRACK - away)
    return positions, np.exp(-0.5 * (away / FIELD) ** 2)


def plateau_at(place: float) -> np.ndarray:
    """Return a plateau from ``place`` on, along a lap, (ticks, 1)."""
    positions, _ = lap()
    began = (positions - place) / SPEED
    return ((began >= -1e-9) & (began < PLATEAU - 1e-9)).astype(float)[:, None]


def run_laps(job: Job, animal: Animal) -> dict[str, Any]:
    """Return the field after laps with plateaus at one place and after as many at another, (places, ticks)."""
    _, X = lap()
    first = plateau_at(PLACES[0])
    rule = departures_of(job.settings, animal.rule, X, first)
    circuit = single_cell(job.settings, rule, np.zeros((FIBRES, 1)), TICK)
    # Laps without plateaus before and after: traces come to rest, and all of the last plateau's is learned.
    still = np.zeros_like(first)
    fields, run = [], None
    for place in PLACES:
        course = [still, *[plateau_at(place)] * LAPS, still]
        x, y = np.tile(X, (len(course), 1)), np.concatenate(course)
        run = job.run(
            circuit, circuits.TimeSeries(x, TICK), circuits.TimeSeries(y, TICK), record=(), snapshots=1, start=run
        )
        fields.append(X @ run.Vx[:, 0])
    return {"fields": np.stack(fields)}


def field_results(settings: TimingSettings, found: Mapping[Any, Mapping[str, Any]]) -> xr.Dataset:
    """Return the fields, (field_rule, induction, position), and the first as the traces predict it, (position,)."""
    positions, X = lap()
    predicted = X @ analysis.learned_weights(X, plateau_at(PLACES[0])[:, 0], TICK, settings.tau_x, settings.tau_plateau)
    return xr.Dataset(
        {
            "field": (
                ("field_rule", "induction", "position"),
                np.stack([found[Animal(rule)]["fields"] for rule in RULES]),
                {"plateau_length": PLATEAU * SPEED},
            ),
            "predicted_field": ("position", LAPS * predicted),
        },
        {
            "field_rule": [*RULES], "induction": [*PLACES], "position": positions,
            "field_rule_words": ("field_rule", [*RULES.values()]),
        },
    )  # fmt: skip


def field_quantities(results: xr.Dataset) -> list[Quantity]:
    """Return place and width of the first field that traces and the paper's rule make, and of the predicted one."""
    first = results["field"].sel(induction=PLACES[0])
    place, width = analysis.field_place_and_width(first.sel(field_rule="traces"), TRACK)
    predicted_place, predicted_width = analysis.field_place_and_width(results["predicted_field"], TRACK)
    plain_place, plain_width = analysis.field_place_and_width(first.sel(field_rule="plain"), TRACK)
    apart = abs(place - predicted_place)
    at = f"place field, plateaus at {PLACES[0]:g} cm"
    wide = "its width"
    return [
        Quantity("field_place", place, "cm", "peak at", row=at),
        Quantity("field_width", width, "cm", "measured", row=wide),
        Quantity("predicted_place", predicted_place, "cm", "predicted", row=at),
        Quantity("predicted_width", predicted_width, "cm", "predicted", row=wide),
        Quantity("plain_field_place", plain_place, "cm"),
        Quantity("plain_field_width", plain_width, "cm"),
        Quantity("field_place_error", min(apart, TRACK - apart), "cm", bound=(-math.inf, PLACE_ERROR)),
        Quantity("field_width_error", abs(width / predicted_width - 1), PERCENT, bound=(-math.inf, WIDTH_ERROR)),
        Quantity("field_shift", PLACES[0] + 0.5 * PLATEAU * SPEED - place, "cm"),
    ]


def field_claims(found: Mapping[str, Quantity]) -> list[Claim]:
    """Judge place and width of the field."""
    run = f"{LAPS} laps with plateaus at {PLACES[0]:g} cm"
    return [
        Claim.about(
            found["field_place_error"],
            "the field that plateaus make has its peak where the traces predict it",
            run=run,
            numbers={name: found[name].value for name in ("field_place", "predicted_place", "field_shift")},
        ),
        Claim.about(
            found["field_width_error"],
            "the field that plateaus make is as wide as the traces predict",
            run=run,
            numbers={name: found[name].value for name in ("field_width", "predicted_width", "plain_field_width")},
        ),
    ]
