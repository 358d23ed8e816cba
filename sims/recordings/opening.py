"""Recordings of areas in files: NWB, or arrays by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from biorrr.sims.data.stores import Store, open_store
from biorrr.sims.data.values import DataError
from biorrr.sims.recordings.measured import one_number
from biorrr.sims.recordings.nwb import open_nwb
from biorrr.sims.recordings.recording import Recording


def open_recording(
    file: str, *, area: str | None = None, trials: str | None = None, series: str | None = None
) -> Recording:
    """Open an NWB file, or arrays: ``activity`` (trials, bins, units), ``areas``, and perhaps ``bin``, ``conditions``.

    Parameters
    ----------
    file
        Path of the file.
    area, trials, series
        Column of areas, table of trials and series of activity, of an NWB file.
    """
    path = Path(file)
    with open_store(path) as store:
        if not store.is_nwb:
            for name, value in (("area", area), ("trials", trials), ("series", series)):
                if value is not None:
                    raise DataError(f"{name}: is chosen of an NWB file (got {path}, which holds {store.described})")
            return _from_arrays(store)
    return open_nwb(path, area, trials, series)


def _from_arrays(store: Store) -> Recording:
    """Make a recording of activity that is binned already."""
    path = store.path
    if not {"activity", "areas"} <= set(store.names):
        raise DataError(
            f"{path}: must hold activity (trials, bins, units) and areas (units,) to be a recording "
            f"(got {store.described})"
        )
    known = ("activity", "areas", "bin", "conditions", "counts")
    held = {name: store.read(name) for name in known if name in store.names}
    activity, areas = held["activity"], held["areas"]
    if activity.dtype.kind not in "fiub" or activity.ndim != 3 or not activity.size:
        raise DataError(
            f"{path}: activity must be numbers, trials by bins by units (got shape {activity.shape}, {activity.dtype})"
        )
    if areas.ndim != 1 or areas.dtype.kind not in "USiu":
        raise DataError(f"{path}: areas must be a name for each unit (got shape {areas.shape}, {areas.dtype})")
    names = [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in areas.tolist()]
    width = one_number(str(path), "bin", held.get("bin", np.array(0.1)))
    if not (np.isfinite(width) and width > 0):
        raise DataError(f"{path}: bin must be a positive number of seconds (got {width:g})")
    counts = held.get("counts")
    return Recording.from_tensor(
        activity,
        names,
        bin=width,
        conditions=held.get("conditions"),
        counts=bool((activity >= 0).all()) if counts is None else bool(one_number(str(path), "counts", counts)),
        name=str(path),
    )
