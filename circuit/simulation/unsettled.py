"""Whether outputs came to their equilibrium, and what a run must know to find it again."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from biorrr.models import Area, Settled

if TYPE_CHECKING:
    from biorrr.circuit.results.run import Run
    from biorrr.circuit.simulation.simulate import Simulated


class Unsettled(ArithmeticError):
    """Outputs did not come to their equilibrium in the ticks they had.

    Attributes
    ----------
    run
        The :class:`~biorrr.circuit.Run` as it came out.
    """

    run: Run


def area_settings(layout: Sequence[Area], gains: Sequence[float], simulated: Simulated) -> dict:
    """What a run of ``layout`` must know to infer: names of weights, gains, and how well outputs settled."""
    settings: dict = {
        "areas": json.dumps({"weights": [area.weights for area in layout], "gains": list(gains)}),
        "linear_output": 0,
    }
    worst = simulated.outcome.state.get("settling.worst")
    return settings if worst is None else settings | {"worst_residual": float(worst[0])}


def check_settled(dynamics, run: Run, held: int) -> None:
    """Raise where the outputs of ``run``, ``held`` for so many ticks, did not settle as ``dynamics`` ask."""
    worst = run.data.attrs.get("worst_residual", 0.0)
    if not isinstance(dynamics, Settled) or worst <= dynamics.tolerance:
        return
    if worst < 0.1:  # it falls by the same factor from tick to tick
        enough = math.ceil(1.05 * held * math.log(dynamics.tolerance) / math.log(worst))
        remedy = f"give them more, dynamics=Settled(ticks={enough})"
    else:
        remedy = "the equilibrium is unstable: lower the rates, or the gains of the links above x"
    error = Unsettled(
        f"outputs did not settle: the largest residual was {worst:.1e} of that of silence after {held} ticks, and "
        f"{dynamics.tolerance:.0e} is accepted; {remedy}"
    )
    error.run = run
    raise error
