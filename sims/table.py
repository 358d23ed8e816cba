"""The short table an experiment prints."""

from __future__ import annotations

from collections.abc import Mapping


def print_table(title: str, rows: Mapping[str, object]) -> None:
    """Print ``rows``, label beside value, below a title; numbers to four digits, what is not known as a dash."""
    width = max(map(len, rows))
    print(title)
    for label, value in rows.items():
        text = "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
        print(f"  {label:{width}}  {text}")
