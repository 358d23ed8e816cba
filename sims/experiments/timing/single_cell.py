"""A cell whose plateau is its instruction, and the rules of plasticity that it may have."""

from __future__ import annotations

import warnings

from biorrr.sims.lab import Task
from biorrr.sims.lazy import circuits, models, np

TICK = 0.01  # seconds
PLATEAU = 0.3  # seconds
RULES = {"plain": "the paper's rule", "traces": "eligibility traces"}


def learn_weights(
    task: Task, rule: str, X: np.ndarray, Y: np.ndarray, rate: float, epochs: int = 1
) -> np.ndarray:
    """Return the proximal weights, (fibres,), that a cell learns from inputs (ticks, fibres) and
    plateaus (ticks, 1).

    Weights start at 0. The distal weight is 1 and there is no inhibition, so that the plateau is
    the instruction.

    Parameters
    ----------
    rule
        One of :data:`RULES`.
    rate
        Of proximal learning, the only one there is.
    epochs
        How often all of it is repeated.
    """
    settings, none = task.settings, models.Rate(0.0)
    traces = []
    if rule == "traces":
        traces = [models.Eligibility(1000 * settings.tau_x, 1000 * settings.tau_plateau)]
    one_sample_a_tick = models.Leaky(0, 0, 0, 0, hold=1000 * TICK, dt=1000 * TICK)
    circuit = settings.make_circuit(
        k=1,
        rates=models.Rates(x=models.Rate(rate), y=none, q=none),
        seed=settings.seed,
        Vx0=np.zeros((X.shape[1], 1)),
        Vy0=[[1.0]],
        Q0=[[0.0]],
        R0=[[0.0]],
        departures=[*traces, one_sample_a_tick],
    )
    x, y = (circuits.TimeSeries(values, 1000 * TICK) for values in (X, Y))
    with warnings.catch_warnings(
        action="ignore"
    ):  # of large means: the inputs are as they should be
        return task.run(circuit, x, y, epochs=epochs, record=(), snapshots=1).Vx[:, 0]
