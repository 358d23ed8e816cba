"""Records of distal plasticity: activity y, z and a, and the weights Vy whenever they were
observed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from biorrr.analysis.distal.observation import DistalRecordings, between_observations, deconvolved
from biorrr.sims.data import DataError, Plasticity
from biorrr.sims.data.array_files import read_npz
from biorrr.sims.recordings.measured import Measured, checked_numbers
from biorrr.sims.words import listed

ACTIVITIES = ("y", "z", "a")


def read_plasticity(value: Plasticity) -> Measured:
    """Read what ``infer_s`` needs from an .npz file.

    Activities are (S, n), (S, k) and (S, k), one row per sample. Vy is (S, n, k) before each
    sample, or (S + 1, n, k) with that after the last; rows that are NaN were not observed. ``when``
    (O,) says how many samples were before each of O rows instead.
    """
    found = read_npz(Path(value.file), (*ACTIVITIES, "Vy"), ("when",))
    used = {"arrays": listed(found)} | (
        {} if value.calcium is None else {"calcium": f"{value.calcium:g} samples"}
    )
    return Measured(value.file, _arranged(value, found), used)


def _arranged(value: Plasticity, found: dict[str, np.ndarray]) -> DistalRecordings:
    """Check the arrays and pair activities with changes of the weights."""
    named = value.file
    y, z, a = (checked_numbers(named, name, found[name], 2) for name in ACTIVITIES)
    if len({len(y), len(z), len(a)}) > 1 or z.shape != a.shape:
        raise DataError(
            f"{named}: y, z and a must have one row per sample, and z and a one column per neuron"
            f" (got {y.shape}, {z.shape} and {a.shape})"
        )
    if value.calcium is not None:
        z, a = deconvolved(z, value.calcium), deconvolved(a, value.calcium)
    Vy, shape = checked_numbers(named, "Vy", found["Vy"], 3, nan=True), (y.shape[1], z.shape[1])
    if Vy.shape[1:] != shape:
        raise DataError(
            f"{named}: Vy must be (rows, {shape[0]}, {shape[1]}), with a weight for each input of y"
            f" and neuron of z (got {Vy.shape})"
        )
    when = np.asarray(found.get("when", np.arange(len(Vy))))
    even = "when" in found or len(Vy) - len(y) in (0, 1)
    if when.shape != (len(Vy),) or when.dtype.kind not in "iu" or not even:
        raise DataError(
            f"{named}: Vy must have a row before each of {len(y)} samples, and one after the last"
            f" if there is one (got {len(Vy)} rows); or add when, whole numbers of samples before"
            " each row"
        )
    seen = ~np.isnan(Vy).all(axis=(1, 2))
    try:
        return between_observations(y, z, a, Vy[seen], when[seen])
    except ValueError as error:
        raise DataError(f"{named}: {error}") from error
