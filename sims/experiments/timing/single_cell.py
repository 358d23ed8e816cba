"""A cell whose plateau is its instruction, and the rules of plasticity that it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biorrr.sims.lazy import models, np

if TYPE_CHECKING:
    from biorrr.sims.experiments.timing import TimingSettings

TICK = 0.01  # seconds
PLATEAU = 0.3  # seconds
RULES = {"plain": "the paper's rule", "traces": "eligibility traces"}


def single_cell(settings: TimingSettings, rule: str, fibres: int, rate: float) -> Any:
    """Make a cell with distal weight 1 and no inhibition, of which only proximal synapses learn, from 0 on.

    ``rule`` is one of :data:`RULES`, ``rate`` that of learning.
    """
    none = models.Rate(0.0)
    traces = [models.Eligibility(settings.tau_x, settings.tau_plateau)] if rule == "traces" else []
    one_sample_a_tick = models.Leaky(0, 0, 0, 0, hold=1000 * TICK, dt=1000 * TICK)
    return settings.make_circuit(
        k=1, rates=models.Rates(x=models.Rate(rate), y=none, q=none), seed=settings.seed,
        Vx0=np.zeros((fibres, 1)), Vy0=[[1.0]], Q0=[[0.0]], R0=[[0.0]], departures=[*traces, one_sample_a_tick],
    )  # fmt: skip
