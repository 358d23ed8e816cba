"""Recordings of distal plasticity: activity y, z and a, and the weights Vy whenever they were observed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import h5py
import numpy as np

from biorrr.analysis.distal.observation import DistalRecordings, between_observations, deconvolved
from biorrr.circuit.results.netcdf import UnsafeFileError, read_netcdf
from biorrr.sims.data import csv_files
from biorrr.sims.data.dataset import LARGEST, DataError, check_stamps, file_stamp
from biorrr.sims.recordings.hdf5_tables import read
from biorrr.sims.recordings.nwb import opened
from biorrr.sims.recordings.trials import listed

ACTIVITIES = ("y", "z", "a")
AFTER = "Vy_trace"  # weights after the plasticity of each sample, as a run keeps them
FORMS = (
    "an .npz file with y, z, a and Vy, a run (.nc or .nwb) that recorded y, z, a and Vy, an .nwb file with series of "
    "these names, or y.csv,z.csv,a.csv,Vy.csv"
)


def load_distal(named: str, calcium: float | None = None) -> DistalRecordings:
    """Read what ``infer_s`` needs.

    Parameters
    ----------
    named
        Path of an .npz, .nc or .nwb file, or of several .csv files separated by commas. Activities are (S, n), (S, k)
        and (S, k), one row per sample. Vy is (S, n, k) before each sample, or (S + 1, n, k) with that after the last;
        rows that are NaN were not observed. ``when`` (O,) says how many samples were before each of O rows instead.
        With dVy, (S, n, k), samples need not follow one another.
    calcium
        Time constant in samples, where z and a are calcium: they are deconvolved.
    """
    paths = [Path(part.strip()) for part in named.split(",")]
    for path in paths:
        if not path.is_file():
            raise DataError(f"{path}: no such file; a recording of distal plasticity is {FORMS}")
    stamps = {path: file_stamp(path) for path in paths}
    suffixes = {path.suffix.lower() for path in paths}
    readers = {".npz": _from_npz, ".nc": _from_run, ".nwb": _from_nwb}
    if suffixes == {".csv"}:
        found = {path.stem: csv_files.table(path)[0] for path in paths}
    elif len(paths) == 1 and suffixes <= set(readers):
        found = readers[suffixes.pop()](paths[0])
    else:
        raise DataError(f"{named}: must be {FORMS} (got {' and '.join(sorted(suffixes)) or 'no suffix'})")
    check_stamps(stamps)
    return _arranged(named, found, calcium)


def checksum(named: str) -> str:
    """Sha256 of the files that ``named`` names."""
    digest = hashlib.sha256()
    for part in named.split(","):
        digest.update(Path(part.strip()).read_bytes())
    return digest.hexdigest()


def _from_npz(path: Path) -> dict[str, np.ndarray]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except Exception as error:  # a damaged file makes zipfile and NumPy raise a dozen kinds
        raise DataError(f"{path}: not a readable .npz file of numbers, perhaps damaged or truncated") from error


def _from_run(path: Path) -> dict[str, np.ndarray]:
    try:
        data = read_netcdf(path)
    except UnsafeFileError as error:
        raise DataError(f"{path}: {error}") from error
    except Exception as error:  # h5py and xarray have a dozen ways to fail on a damaged file
        raise DataError(f"{path}: not a readable NetCDF4 file, perhaps damaged or truncated") from error
    found = {name: data[name].values for name in (*ACTIVITIES, AFTER) if name in data}
    return found | ({"moments": data["sample"].values.astype(float)} if "sample" in data else {})


def _from_nwb(path: Path) -> dict[str, np.ndarray]:
    with opened(path) as file:
        series: dict[str, h5py.Group] = {}

        def note(_: str, one: object) -> None:
            if isinstance(one, h5py.Group) and isinstance(one.get("data"), h5py.Dataset):
                series.setdefault(str(one.name).rpartition("/")[2], one)

        try:
            file.visititems(note)
            found = {name: read(series[name]["data"]) for name in (*ACTIVITIES, "Vy", "dVy", AFTER) if name in series}
            if "y" in series:
                found["moments"] = _times(series["y"])
            if "Vy" in series and "y" in series:
                found["when"] = np.searchsorted(found["moments"], _times(series["Vy"]) - 1e-9)
        except (OSError, RuntimeError, KeyError, TypeError) as error:
            raise DataError(f"{path}: not a readable NWB file, perhaps damaged or truncated ({error})") from error
    return found


def _times(series: h5py.Group) -> np.ndarray:
    """Seconds at which the rows of a series were recorded."""
    if "timestamps" in series:
        return read(series["timestamps"]).astype(float)
    start = series["starting_time"]
    return float(start[()]) + np.arange(len(series["data"])) / float(start.attrs["rate"])


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
    y, z, a = (_numbers(named, name, found[name], 2) for name in ACTIVITIES)
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
    """Samples that follow another one that was recorded, with the change that each made."""
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
    """Weights as (rows, n, k), also where a table holds them as n k columns."""
    n, k = y.shape[1], z.shape[1]
    flat = np.ndim(values) == 2 and np.shape(values)[1] == n * k
    values = _numbers(named, name, values.reshape(-1, n, k) if flat else values, 3, nan=True)
    if values.shape[1:] != (n, k):
        raise DataError(
            f"{named}: {name} must be (rows, {n}, {k}), with a weight for each input of y and neuron of z (got "
            f"{values.shape})"
        )
    return values


def _numbers(named: str, name: str, values: np.ndarray, ndim: int, nan: bool = False) -> np.ndarray:
    """``values`` as a float array of that many dimensions, of numbers that can be squared."""
    if values.dtype.kind not in "fiub":
        raise DataError(f"{named}: {name} must be real numbers (got {values.dtype})")
    values = np.asarray(values, dtype=float)
    if values.ndim != ndim or 0 in values.shape:
        wanted = "samples by cells" if ndim == 2 else "rows by inputs by neurons"
        raise DataError(f"{named}: {name} must be {wanted}, and not empty (got shape {values.shape})")
    good = np.abs(values) <= LARGEST
    if not (good | np.isnan(values) if nan else good).all():
        raise DataError(
            f"{named}: {name} must be finite numbers within {LARGEST:g} of 0; leave out what was not recorded"
        )
    return values
