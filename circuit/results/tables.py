"""Small tables that say what an object is, as text and as HTML; one of them says whether a run has
learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np


class Tabled:
    """Base of what shows itself as a table."""

    def table(self) -> tuple[str, dict[str, str]]:
        """Return a title, and the rows of the table by name."""
        raise NotImplementedError

    def __repr__(self) -> str:
        title, rows = self.table()
        width = max(map(len, rows))
        return "\n".join([title, *(f"  {name:<{width}}  {said}" for name, said in rows.items())])

    def _repr_html_(self) -> str:
        title, rows = self.table()
        cells = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td'
            f' style="text-align:left">{escape(said)}</td></tr>'
            for name, said in rows.items()
        )
        return f"<table><caption>{escape(title)}</caption>{cells}</table>"


class Text(str):
    """Text of several lines that a terminal and a notebook show as it stands."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def rows_of_regression(s: float, ridges: tuple[float, float], rates: str) -> dict[str, str]:
    """Return the rows of a table that say what is learned, with which ridges on Cxx and Cyy."""
    said = zip(ridges, ("on Cxx, by replay", "on Cyy"), strict=True)
    return {
        "regression": f"s = {s:g}" + {0.0: " (RRMSE)", 1.0: " (CCA)"}.get(s, ""),
        "ridge": "; ".join(f"{size:g} {where}" for size, where in said if size) or "none",
        "rates": rates,
    }


# Changes of the last tenth below which a run counts as being at rest: of the excess, as a fraction
# of the optimum (rates "auto" fall to zero in the end, which removes some tenths of a percent of
# noise); and, where no exact solution is known, of the weights relative to themselves.
RESTING_EXCESS, RESTING_WEIGHTS = 0.005, 0.01
NEAR = 0.05  # excess up to which a run counts as being near the optimum
SHOWN = 4  # neurons whose numbers a row has room for


class Summary(Tabled, dict):
    """The final numbers of a run beside those of theory, by name, and what could not be judged.

    ``print(summary)`` shows a table, and so does a notebook; ``summary["excess"]`` is a number.
    Fractions are fractions here and percent in the table. The names are ``excess``,
    ``excess_principal_components`` (as many of them as outputs); ``r2``, ``r2_exact``,
    ``r2_principal_components``, with ``held_out_`` before each where they are of held-out data;
    ``angles`` between learned and exact filters in degrees; ``output_variances`` and
    ``output_correlation``, the farthest from 0; ``r_minus_qt_relative`` and its prediction
    ``r_minus_qt_predicted``; ``plateau_deviation``, relative to the r.m.s. of theory, one for each
    neuron; ``excess_change`` and ``weight_change`` since the sample ``since``.

    Attributes
    ----------
    title
        The run in a few words.
    unjudged
        Why something could not be judged, by its row in the table.
    """

    def __init__(self, title: str, numbers: Mapping[str, Any], unjudged: Mapping[str, str]):
        super().__init__(numbers)
        self.title, self.unjudged = title, dict(unjudged)

    @property
    def converged(self) -> bool | None:
        """True if the last tenth of the run changed next to nothing; None if that is not known."""
        if "excess_change" in self:
            return bool(abs(self["excess_change"]) < RESTING_EXCESS)
        if "weight_change" in self:
            return bool(self["weight_change"] < RESTING_WEIGHTS)
        return None

    def table(self) -> tuple[str, dict[str, str]]:
        """Return the title, and the rows of the table by name."""
        correlation, distance = self.get("output_correlation"), self.get("r_minus_qt_relative")
        predicted = self.get("r_minus_qt_predicted")
        theory = "" if predicted is None else f"; theory {predicted:.2g}"
        rows = {
            "excess": self._beside("excess", _percent),
            "R2, these data": self._beside("r2", _number),
            "R2, held out": self._beside("held_out_r2", _number),
            "angles to exact filters": self._several("angles", _number, " degrees"),
            "output variances": self._several("output_variances", _number),
            "output correlations": ""
            if correlation is None
            else f"at most {_number(abs(correlation))}; 0 at the optimum",
            "||R - Q'|| / ||Q||": "" if distance is None else f"{distance:.2g}{theory}",
            "plateaus off theory": self._several("plateau_deviation", _percent, " r.m.s."),
            "last tenth of the run": self._last_tenth(),
        }
        judged = {name: said for name, said in rows.items() if said}
        unjudged = {name: f"not judged: {why}" for name, why in self.unjudged.items()}
        return self.title, judged | {n: why for n, why in unjudged.items() if n not in judged}

    def _beside(self, name: str, show) -> str:
        """Return a number of the run beside those of its rivals."""
        words = {
            "": "",
            "_exact": "exact solution ",
            "_principal_components": "principal components ",
        }
        known = [rival for rival in words if name + rival in self]
        return "; ".join(f"{words[rival]}{show(self[name + rival])}" for rival in known)

    def _several(self, name: str, show, unit: str = "") -> str:
        """Return one number for each neuron; of many, the smallest and the largest."""
        values = np.atleast_1d(self.get(name, []))
        if len(values) <= SHOWN:
            return ", ".join(map(show, values)) + unit * bool(len(values))
        return f"{show(np.nanmin(values))} to {show(np.nanmax(values))}{unit}"

    def _last_tenth(self) -> str:
        if self.converged is None:
            return ""
        changes = [f"weights by {_percent(self['weight_change'])}"]
        verdict = "converged" if self.converged else "still learning: run for longer"
        if "excess_change" in self:
            changes.insert(0, f"excess by {_percent(self['excess_change'], signed=True)}")
            if self.converged and self["excess"] > NEAR:
                verdict = "at rest, but not at the optimum"
        return f"changed the {' and '.join(changes)}: {verdict}"


def _number(value: float) -> str:
    return f"{value:.3g}"


def _percent(value: float, signed: bool = False) -> str:
    digits = ".2g" if abs(value) < 1 else ".0f"
    return f"{100 * value:{'+' if signed else ''}{digits}} %"
