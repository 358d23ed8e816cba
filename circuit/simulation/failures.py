"""Runs that fail: activity that diverges, outputs that do not settle, and outputs that stay
silent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.circuit.stimulus.data_checks import warn
from biorrr.circuit.stimulus.feeds import Feed
from biorrr.circuit.stimulus.statistics import chunks
from biorrr.errors import BiorrrError
from biorrr.models import Departure, Settled

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run

# Output power along a direction, of which 1 is due, below which it is called silent. After 100,000
# samples of the problems of docs/rates.md, runs with more cells than x and y share latents had at
# most 0.23, few others below 0.25.
_SILENT = 0.25
_LONG = 10_000  # samples from which on a run is long enough to learn


class _FailedRun(BiorrrError, ArithmeticError):
    """An error that holds the run which failed.

    Attributes
    ----------
    run
        The :class:`~biorrr.circuit.Run`.
    """

    run: Run

    def __init__(self, text: str, run: Any = None) -> None:
        super().__init__(text)
        self.run = run


class Diverged(_FailedRun):
    """Activity became infinite or not a number; ``run`` ends with the last sample at which
    everything was finite.
    """


class Unsettled(_FailedRun):
    """Outputs that did not reach their equilibrium while a sample was held; ``run`` holds the
    results.
    """


def check_settled(departures: Iterable[Departure], run: Run, held: int) -> None:
    """Raise where the outputs of ``run``, ``held`` for so many ticks, did not settle as
    ``departures`` ask.
    """
    worst = run.attrs.get("worst_residual", 0.0)
    tolerance = min((d.tolerance for d in departures if isinstance(d, Settled)), default=math.inf)
    if worst <= tolerance:
        return
    if worst < 0.1:  # it falls by the same factor from tick to tick
        enough = math.ceil(1.05 * held * math.log(tolerance) / math.log(worst))
        remedy = f"give them more, departures=[Settled(ticks={enough})]"
    else:
        remedy = "the equilibrium is unstable: lower the rates, or the gains of the links above x"
    raise Unsettled(
        f"outputs did not settle: the largest residual was {worst:.1e} of that of silence after"
        f" {held} ticks, and {tolerance:.0e} is accepted; {remedy}",
        run,
    )


def warn_of_silence(run: Run, feeds: Mapping[str, Feed]) -> None:
    """Warn of directions of the outputs that are silent after a long run whose rates, fitted to the
    data, cooled down.

    All of x is read only where the rows that are kept in memory say so.
    """
    attrs = run.attrs
    paper = attrs.get("linear_output") and "areas" not in attrs
    if not (run.cooled and paper and run.samples >= _LONG):
        return
    x, Vx = feeds["x"], run.Vx
    for rows in (x.facts.some, x.values):
        outputs = ((block - x.mean) @ Vx for block in chunks(rows))
        covariance = sum(z.T @ z for z in outputs) / len(rows)
        powers = np.linalg.eigvalsh(covariance + run.attrs["ridge_x"] * Vx.T @ Vx)
        silent = np.count_nonzero(powers < _SILENT)
        if not silent:
            return
    warn(
        f"k: the outputs are silent along {silent} of {len(powers)} directions (the lowest power is"
        f" {powers[0]:.2g}, and 1 is due): what x and y share there is too weak or too rare to be"
        f" learned in {run.samples} samples; reduce k, or give departures=[HomeostaticScaling()]"
    )
