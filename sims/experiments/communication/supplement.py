"""The table for a paper's supplement: every number with its spread, its unit and its meaning, and all settings."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab.settings import NO_NUMBERS, key_of, plain, provenance

if TYPE_CHECKING:
    from biorrr.sims.experiments.communication import CommunicationSettings

SECONDS = ("bin", "lag", "window")
HERTZ = ("minimum-rate",)


@dataclass(frozen=True)
class Row:
    """One number.

    Parameters
    ----------
    quantity, value
        The quantity in words, and its value.
    rank
        Rank of the regression, where it matters.
    spread, spread_is
        Uncertainty, and its meaning: standard error, standard deviation.
    unit
        Unit of value and spread; 1 of pure numbers.
    """

    quantity: str
    value: object
    rank: int | str = ""
    spread: float | str = ""
    spread_is: str = ""
    unit: str = "1"


def write_supplement(
    path: Path, targets: Sequence[tuple[str, str, Sequence[Row]]], notes: Sequence[str], settings: CommunicationSettings
) -> None:
    """Write the rows of each (source, target), what was left out, versions and settings, as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["source", "target", "quantity", "rank", "value", "spread", "spread is", "unit"])
        for source, target, rows in targets:
            for row in rows:
                table.writerow([source, target, row.quantity, row.rank, row.value, row.spread, row.spread_is, row.unit])
        for note in notes:
            table.writerow(["", "", "to note", "", note, "", "", ""])
        for name, version in provenance("communication").items():
            table.writerow(["", "", name if name == "experiment" else f"version of {name}", "", version, "", "", ""])
        for key, value in {**_flat(settings), "bin": settings.bin, "lag": settings.lag}.items():
            unit = "s" if key in SECONDS else "spikes/s" if key in HERTZ else ""
            table.writerow(["", "", f"setting {key}", "", value, "", "", unit])


def _flat(settings: CommunicationSettings) -> dict[str, object]:
    """Return the settings that decide numbers, by key, those of the data among them."""
    flat: dict[str, Any] = {}
    for field in dataclasses.fields(settings):
        value = plain(getattr(settings, field.name))
        if value is not None and field.name not in NO_NUMBERS:
            flat |= value if isinstance(value, dict) else {key_of(field.name): value}
    return {key: " ".join(map(str, value)) if isinstance(value, list) else value for key, value in flat.items()}
