"""A cell whose plateau is its instruction, and the rules of plasticity that it may have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biorrr.sims.lazy import analysis, models, np

if TYPE_CHECKING:
    from biorrr.sims.experiments.timing import TimingSettings

TICK = 0.01  # seconds
PLATEAU = 0.3  # seconds
RULES = {"plain": "the paper's rule", "traces": "eligibility traces", "weight": "weight-dependent"}


def single_cell(settings: TimingSettings, rule: list[models.Departure], Vx0: np.ndarray, rate: float) -> Any:
    """Make a cell with distal weight 1 and no inhibition, of which only proximal synapses learn.

    Parameters
    ----------
    settings
        Settings of the experiment.
    rule
        Departures that make the rule, from :func:`departures_of`.
    Vx0 : (m, 1)
        Proximal weights at the start.
    rate
        Rate of proximal learning.
    """
    none = models.Rate(0.0)
    one_sample_a_tick = models.Leaky(0, 0, 0, 0, hold=1000 * TICK, dt=1000 * TICK)
    return settings.make_circuit(
        k=1, rates=models.Rates(x=models.Rate(rate), y=none, q=none), seed=settings.seed,
        Vx0=Vx0, Vy0=[[1.0]], Q0=[[0.0]], R0=[[0.0]], departures=[*rule, one_sample_a_tick],
    )  # fmt: skip


def departures_of(settings: TimingSettings, rule: str, X: np.ndarray, Y: np.ndarray) -> list[models.Departure]:
    """Return the departures that make one of the :data:`RULES`.

    The weight-dependent rule divides its traces by the peaks that ``X`` (T, m) and ``Y`` (T, 1) give them.
    """
    if rule == "plain":
        return []
    if rule == "traces":
        return [models.Eligibility(settings.tau_x, settings.tau_plateau)]
    usual = models.WeightDependentPlasticity()
    peak_x = float(analysis.eligibility_trace(X, usual.tau_x, TICK).max())
    peak_plateau = float(analysis.eligibility_trace(Y, usual.tau_plateau, TICK).max())
    return [replace(usual, peak_x=peak_x, peak_plateau=peak_plateau)]
