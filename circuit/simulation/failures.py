"""Runs that fail: activity that diverges, and outputs that do not settle."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from biorrr.errors import BiorrrError
from biorrr.models import Departure, Settled

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run


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
    """Activity became infinite or not a number; ``run`` ends with the last sample at which everything was finite."""


class Unsettled(_FailedRun):
    """Outputs that did not reach their equilibrium while a sample was held; ``run`` holds the results."""


def check_settled(departures: Iterable[Departure], run: Run, held: int) -> None:
    """Raise where the outputs of ``run``, ``held`` for so many ticks, did not settle as ``departures`` ask."""
    worst = run.data.attrs.get("worst_residual", 0.0)
    tolerance = min((d.tolerance for d in departures if isinstance(d, Settled)), default=math.inf)
    if worst <= tolerance:
        return
    if worst < 0.1:  # it falls by the same factor from tick to tick
        enough = math.ceil(1.05 * held * math.log(tolerance) / math.log(worst))
        remedy = f"give them more, departures=[Settled(ticks={enough})]"
    else:
        remedy = "the equilibrium is unstable: lower the rates, or the gains of the links above x"
    raise Unsettled(
        f"outputs did not settle: the largest residual was {worst:.1e} of that of silence after {held} ticks, and "
        f"{tolerance:.0e} is accepted; {remedy}",
        run,
    )
