"""Place fields that plateaus make on a circular track (as in Milstein et al. 2021)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiments.timing.single_cell import PLATEAU, RULES, TICK, learn_weights
from biorrr.sims.lab import PERCENT, Quantity, Task
from biorrr.sims.lazy import analysis, np, xr

if TYPE_CHECKING:
    from biorrr.sims.experiments.timing import TimingSettings

TRACK, SPEED, FIELD, FIBRES, LAPS = (
    187.0,
    25.0,
    21.0,
    100,
    5,
)  # cm, cm/s, s.d. of input fields in cm
PLACE = 60.0  # cm, of the plateaus
# Bounds, fixed beforehand.
PLACE_ERROR, WIDTH_ERROR = 2.0, 0.05  # cm, relative


def lap() -> tuple[np.ndarray, np.ndarray]:
    """Return one lap at constant speed: positions in cm, (ticks,), and inputs with fields, (ticks,
    FIBRES).
    """
    positions = np.arange(0, TRACK, SPEED * TICK)[: round(TRACK / (SPEED * TICK))]
    away = np.abs(positions[:, None] - TRACK * np.arange(FIBRES) / FIBRES)
    away = np.minimum(away, TRACK - away)
    return positions, np.exp(-0.5 * (away / FIELD) ** 2)


def plateau() -> np.ndarray:
    """Return the plateau from PLACE on, along a lap, (ticks, 1)."""
    positions, _ = lap()
    began = (positions - PLACE) / SPEED
    return ((began >= -1e-9) & (began < PLATEAU - 1e-9)).astype(float)[:, None]


def run_laps(task: Task, rule: str) -> dict[str, Any]:
    """Return the field after laps with plateaus, (ticks,), with one rule."""
    _, X = lap()
    # Laps without plateaus before and after: traces come to rest, and all of the last plateau's is
    # learned.
    still = np.zeros((len(X), 1))
    course = [still, *[plateau()] * LAPS, still]
    return {
        "field": (
            X
            @ learn_weights(task, rule, np.tile(X, (len(course), 1)), np.concatenate(course), TICK)
        )
    }


def field_results(settings: TimingSettings, found: Mapping[str, Mapping[str, Any]]) -> xr.Dataset:
    """Return the fields, (field_rule, position), and the field that the traces predict,
    (position,).
    """
    positions, X = lap()
    predicted = X @ analysis.learned_weights(
        X, plateau()[:, 0], TICK, settings.tau_x, settings.tau_plateau
    )
    return xr.Dataset(
        {
            "field": (
                ("field_rule", "position"),
                [found[rule]["field"] for rule in RULES],
                {"plateau": (PLACE, PLACE + PLATEAU * SPEED)},
            ),
            "predicted_field": ("position", LAPS * predicted),
        },
        {
            "field_rule": [*RULES],
            "position": positions,
            "field_rule_words": ("field_rule", [*RULES.values()]),
        },
    )


def field_quantities(results: xr.Dataset) -> list[Quantity]:
    """Return place and width of the field that traces make and of the predicted one, and the width
    without traces.
    """
    place, width = analysis.field_place_and_width(results["field"].sel(field_rule="traces"), TRACK)
    predicted_place, predicted_width = analysis.field_place_and_width(
        results["predicted_field"], TRACK
    )
    _, plain_width = analysis.field_place_and_width(results["field"].sel(field_rule="plain"), TRACK)
    apart = abs(place - predicted_place)
    at, wide = f"place field, plateaus at {PLACE:g} cm", "its width"
    return [
        Quantity("field_place", place, "cm", "peak at", row=at),
        Quantity("field_width", width, "cm", "measured", row=wide),
        Quantity("predicted_place", predicted_place, "cm", "predicted", row=at),
        Quantity("predicted_width", predicted_width, "cm", "predicted", row=wide),
        Quantity("plain_field_width", plain_width, "cm"),
        Quantity(
            "field_place_error", min(apart, TRACK - apart), "cm", bound=(-math.inf, PLACE_ERROR)
        ),
        Quantity(
            "field_width_error",
            abs(width / predicted_width - 1),
            PERCENT,
            bound=(-math.inf, WIDTH_ERROR),
        ),
        Quantity("field_shift", PLACE + 0.5 * PLATEAU * SPEED - place, "cm"),
    ]
