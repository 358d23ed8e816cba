"""What an experiment has found, for those who want the numbers and not the folder: a sweep, for one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_POINTS = 60  # of a curve: enough to see its shape, and small beside the numbers


@dataclass(frozen=True)
class Measured:
    """Final numbers of an experiment, and the way there.

    Parameters
    ----------
    numbers
        Flat, as in summary.json.
    curves
        By name, samples seen and the values at them: two sequences as long as each other.
    """

    numbers: Mapping[str, Any]
    curves: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    def plain_curves(self) -> dict[str, dict[str, list]]:
        """The curves as JSON can hold them: at most 60 points each, null for what is not finite."""
        plain = {}
        for name, (seen, values) in self.curves.items():
            last, kept = len(seen) - 1, min(len(seen), MOST_POINTS)
            at = sorted({round(i * last / max(kept - 1, 1)) for i in range(kept)})
            plain[name] = {
                "seen": [int(seen[i]) for i in at],
                "values": [float(values[i]) if math.isfinite(values[i]) else None for i in at],
            }
        return plain
