"""The s that a record of distal plasticity speaks for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from biorrr.sims.lab import Figure, Findings, Quantity
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import analysis, np, xr

if TYPE_CHECKING:
    from biorrr.sims.recordings.measured import Measured


def infer_from_record(data: Measured, settings: Any) -> Findings:
    """Infer s from a record of distal plasticity."""
    from biorrr.analysis.figures.distal import plot_inferred

    record, value = data.recording, settings.data
    found = analysis.infer_s(*record, ridge=settings.ridge, noise=settings.known_noise)
    interval = {name: float(getattr(found, name)) for name in ("s", "low", "high")}
    fit = {name: float(getattr(found, name)) for name in ("noise", "unexplained")}
    every = record.y.shape[1] if record.y.ndim == 3 else 1
    observed = {
        "samples": len(record.Vy), "every": every, "synapses": int((~np.isnan(record.Vy).all(axis=0)).sum()),
        "neurons": record.Vy.shape[2],
    }  # fmt: skip
    calcium = "" if value.calcium is None else f", calcium deconvolved with {value.calcium:g} samples"
    verdict = "another rule" if found.another_rule else f"s = {found.s:.3f}" if found.can_tell else "cannot tell"
    return Findings(
        title=f"s from {value}",
        quantities=[
            *(Quantity(name, number) for name, number in interval.items()),
            *(Quantity(name, number, PERCENT) for name, number in fit.items()),
            Quantity("can_tell", bool(found.can_tell)),
            Quantity("another_rule", bool(found.another_rule)),
            *(Quantity(name, number) for name, number in observed.items()),
            Quantity("recording", value.name),
        ],
        rows={
            "observed": f"{observed['synapses']} synapses on {observed['neurons']} neurons, {observed['samples']} "
            f"changes{f', each of {every} samples' if every > 1 else ''}{calcium}",
            "verdict": verdict,
            "95 % interval": f"{found.low:.3f} to {found.high:.3f}",
            "in words": str(found),
        },
        data={"run": xr.Dataset(interval | fit)},
        figures=[Figure("recording", partial(plot_inferred, as_inferred(interval)))],
    )


def as_inferred(interval: dict[str, float]) -> xr.Dataset:
    """Return an estimate and its interval in the form of many: one condition, one circuit, of which s is not known."""
    values = np.reshape([*interval.values()], (1, 1, 1, 3))
    return xr.Dataset(
        {"inferred": (("s", "condition", "seed", "quantity"), values)},
        {"s": [np.nan], "quantity": [*interval], "condition_words": ("condition", ["recording"])},
    )
