"""Records of distal plasticity: activity y, z and a, and the weights Vy whenever they were observed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from biorrr.analysis.distal.observation import DistalRecordings, between_observations, deconvolved
from biorrr.sims.data.hdf5 import Group
from biorrr.sims.data.kinds import Plasticity
from biorrr.sims.data.stores import open_store
from biorrr.sims.data.values import DataError
from biorrr.sims.data.words import listed
from biorrr.sims.recordings.measured import Measured, checked_numbers
from biorrr.sims.recordings.nwb import opened_nwb
from biorrr.sims.recordings.nwb_tables import series_in, times_of

ACTIVITIES = ("y", "z", "a")
AFTER = "Vy_trace"  # weights after the plasticity of each sample, as a run keeps them
KNOWN = (*ACTIVITIES, "Vy", "dVy", AFTER)


def read_plasticity(value: Plasticity) -> Measured:
    """Read what ``infer_s`` needs: from an .npz file, a run (.nc or .nwb), an NWB file or a folder of .csv files.

    Activities are (S, n), (S, k) and (S, k), one row per sample. Vy is (S, n, k) before each sample, or (S + 1, n, k)
    with that after the last; rows that are NaN were not observed. ``when`` (O,) says how many samples were before each
    of O rows instead. With dVy, (S, n, k), samples need not follow one another. NWB has series of these names.
    """
    path = Path(value.file)
    with open_store(path) as store:
        if store.is_nwb:
            found = _from_nwb(opened_nwb(path))
        else:
            is_run = "sample" in store.names  # whose Vy are the snapshots
            names = (*ACTIVITIES, AFTER) if is_run else (*KNOWN, "when")
            found = {name: store.read(name) for name in names if name in store.names}
            if is_run:
                found["moments"] = checked_numbers(value.file, "sample", store.read("sample"), 1)
    used = {"arrays": listed(found)} | ({} if value.calcium is None else {"calcium": f"{value.calcium:g} samples"})
    return Measured(value.file, _arranged(value.file, found, value.calcium), used)


def _from_nwb(root: Group) -> dict[str, np.ndarray]:
    series: dict[str, Group] = {}
    for one in series_in(root):
        series.setdefault(one.last_name, one)
    found = {name: series[name].array("data")[()] for name in KNOWN if name in series}
    if "y" in series:
        found["moments"] = times_of(series["y"])[0]
        if "Vy" in series:
            found["when"] = np.searchsorted(found["moments"], times_of(series["Vy"])[0] - 1e-9)
    return found


def _arranged(named: str, found: Mapping[str, np.ndarray], calcium: float | None) -> DistalRecordings:
    """Check the arrays and pair activities with changes of the weights."""
    weights = AFTER if AFTER in found else "Vy"
    missing = [name for name in (*ACTIVITIES, weights) if name not in found]
    if missing:
        raise DataError(
            f"{named}: must hold y, z, a and Vy (got {listed(sorted(found))}); "
            + ("record them with record=('y', 'z', 'a', 'Vy'), every=1" if weights == AFTER or ".nc" in named
               else f"add {listed(missing)}")
        )  # fmt: skip
    y, z, a = (checked_numbers(named, name, found[name], 2) for name in ACTIVITIES)
    if len({len(y), len(z), len(a)}) > 1 or z.shape != a.shape:
        raise DataError(
            f"{named}: y, z and a must have one row per sample, and z and a one column per neuron (got "
            f"{y.shape}, {z.shape} and {a.shape})"
        )
    if calcium is not None:
        z, a = deconvolved(z, calcium), deconvolved(a, calcium)
    Vy = _weights(named, weights, found[weights], y, z)
    if weights == AFTER:
        return _successive(named, y, z, a, Vy, found.get("moments", np.arange(len(y), dtype=float)))
    if "dVy" in found:
        dVy = _weights(named, "dVy", found["dVy"], y, z)
        if len(dVy) != len(y) or len(Vy) != len(y):
            raise DataError(f"{named}: Vy and dVy must have one row per sample, {len(y)} (got {len(Vy)}, {len(dVy)})")
        return DistalRecordings(y, z, a, Vy, dVy)
    when = np.asarray(found.get("when", np.arange(len(Vy))))
    if (
        when.shape != (len(Vy),)
        or when.dtype.kind not in "iu"
        or ("when" not in found and len(Vy) - len(y) not in (0, 1))
    ):
        raise DataError(
            f"{named}: Vy must have a row before each of {len(y)} samples, and one after the last if there is one (got "
            f"{len(Vy)} rows); or add when, whole numbers of samples before each row"
        )
    seen = ~np.isnan(Vy).all(axis=(1, 2))
    try:
        return between_observations(y, z, a, Vy[seen], when[seen])
    except ValueError as error:
        raise DataError(f"{named}: {error}") from error


def _successive(named: str, y, z, a, Vy, moments: np.ndarray) -> DistalRecordings:
    """Return samples that follow another one that was recorded, with the change that each made."""
    steps = np.diff(moments)
    if len(Vy) != len(y) or len(moments) != len(y) or not len(steps):
        raise DataError(f"{named}: {AFTER} must have one row per sample, {len(y)} (got {len(Vy)})")
    following = np.flatnonzero(np.isclose(steps, 1.0 if steps.min() < 1.5 else steps.min())) + 1
    if steps.min() > 1.5 and np.allclose(moments, np.round(moments)) and named.endswith(".nc"):
        raise DataError(
            f"{named}: must hold samples that follow one another (got one in {steps.min():g}); record with every=1"
        )
    before, after = Vy[following - 1], Vy[following]
    return DistalRecordings(y[following], z[following], a[following], (before + after) / 2, after - before)


def _weights(named: str, name: str, values: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return weights as (rows, n, k), also where a table holds them as n k columns."""
    n, k = y.shape[1], z.shape[1]
    flat = np.ndim(values) == 2 and np.shape(values)[1] == n * k
    values = checked_numbers(named, name, values.reshape(-1, n, k) if flat else values, 3, nan=True)
    if values.shape[1:] != (n, k):
        raise DataError(
            f"{named}: {name} must be (rows, {n}, {k}), with a weight for each input of y and neuron of z (got "
            f"{values.shape})"
        )
    return values
