"""Recordings in files: NWB, or arrays in an .npz file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from biorrr.sims.data.array_files import read_npz
from biorrr.sims.data.files import check_regular
from biorrr.sims.data.values import DataError
from biorrr.sims.recordings.nwb import recording_in_nwb
from biorrr.sims.recordings.recording import Recording
from biorrr.sims.words import printable


def open_recording(
    file: str, *, area: str | None = None, trials: str | None = None, series: str | None = None
) -> Recording:
    """Open a recording: an NWB file, or ``activity`` (trials, bins, units), ``areas``, and perhaps
    ``bin`` and ``conditions`` in an .npz file.

    Parameters
    ----------
    file
        Path of the file.
    area, trials, series
        Column of areas, table of trials and series of activity, of an NWB file.
    """
    path = Path(file)
    check_regular(path)
    if path.suffix.lower() == ".nwb":
        return recording_in_nwb(path, area, trials, series)
    for name, value in (("area", area), ("trials", trials), ("series", series)):
        if value is not None:
            raise DataError(f"{name}: applies to NWB files only (got {path}, which holds arrays)")
    held = read_npz(path, ("activity", "areas"), ("bin", "conditions", "counts"))
    for name in {"bin", "counts"} & held.keys():
        one = held[name]
        if one.ndim or one.dtype.kind not in "fiub" or not np.isfinite(one):
            raise DataError(
                f"{path}: {name} must be one finite number (got {printable(one.dtype)}, shape"
                f" {one.shape})"
            )
    return Recording.from_tensor(**held, name=str(path))  # type: ignore[arg-type]
