"""Checks of settings against data, and what follows from the data."""

from __future__ import annotations

from biorrr.sims.lab.settings import SettingsError
from biorrr.sims.lazy import data_sets, np


def check_rank(k: int, data: data_sets.Dataset) -> None:
    """Refuse more neurons than the data allow, and data that never change."""
    m, n = data.X.shape[1], data.Y.shape[1]
    if k > min(m, n):
        raise SettingsError(
            f"k: must not exceed min(m, n) = {min(m, n)} of {data.name} (got {k}); reduce k"
        )
    for view in ("X", "Y"):
        if not np.ptp(getattr(data, view), axis=0).any():
            raise data_sets.DataError(
                f"{data.name}: {view} must change from sample to sample (got the same row"
                " throughout)"
            )


def default_ridge(data: data_sets.Dataset) -> float:
    """Return the default ridge, 0.1 trace(Cxx)/m."""
    return 0.1 * float(np.square(data.stand_in[0]).mean())
