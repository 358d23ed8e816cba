"""The s that a record of distal plasticity speaks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Findings, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import analysis, np

if TYPE_CHECKING:
    from biorrr.sims.recordings.measured import Measured


def infer_from_record(data: Measured, settings: Any) -> Findings:
    """Infer s from a record of distal plasticity."""
    record = data.recording
    found = analysis.infer_s(*record, ridge=settings.ridge, noise=settings.known_noise)
    samples, _, neurons = record.Vy.shape
    every = record.y.shape[1] if record.y.ndim == 3 else 1
    synapses = int((~np.isnan(record.Vy).all(axis=0)).sum())
    return Findings(
        title=f"s from {settings.data}",
        quantities=[
            *(Quantity(name, float(getattr(found, name))) for name in ("s", "low", "high")),
            *(Quantity(name, float(getattr(found, name)), PERCENT) for name in ("noise", "unexplained")),
            Quantity("can_tell", bool(found.can_tell)),
            Quantity("another_rule", bool(found.another_rule)),
            Quantity("samples", samples),
            Quantity("every", every),
            Quantity("synapses", synapses),
            Quantity("neurons", neurons),
            Quantity("recording", settings.data.name),
        ],
        rows={
            "observed": f"{synapses} synapses on {neurons} neurons, {samples} changes"
            + (f", each of {every} samples" if every > 1 else ""),
            "verdict": "another rule" if found.another_rule else f"s = {found.s:.3f}" if found.can_tell
            else "cannot tell",
            "95 % interval": f"{found.low:.3f} to {found.high:.3f}",
            "in words": str(found),
        },
    )  # fmt: skip
