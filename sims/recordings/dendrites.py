"""Somas and dendrites of the same neurons, from an .npz, NetCDF or NWB file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from biorrr.analysis.instructive import DendriticRecording
from biorrr.sims.data.dataset import DataError, Dataset, check_stamps, file_stamp
from biorrr.sims.recordings.hdf5_tables import Table, check_claim, kind_of, read, refuse_outside_storage, text
from biorrr.sims.recordings.trials import listed

NEEDED, KNOWN = ("soma", "dendrite", "rate"), ("error", "role", "condition")
# Words by which an NWB file's own names are found, where none is given.
WORDS = {"soma": ("soma", "somata"), "dendrite": ("dend", "apical", "tuft"), "error": ("error",), "role": ("role",)}
SAME_PACE = 0.1  # frames by which the time from trial to trial may differ


@dataclass(frozen=True, eq=False)
class DendriticData(Dataset):
    """A recording of somas (X) and dendrites (Y), as the frame of experiments takes it."""

    recording: DendriticRecording = field(kw_only=True)

    @cached_property
    def checksum(self) -> str:
        """Sha256 of all numbers."""
        digest = hashlib.sha256(f"{self.recording.rate} {self.recording.period}".encode())
        for name in ("soma", "dendrite", *KNOWN):
            values = getattr(self.recording, name)
            digest.update(f"{name} {np.shape(values)}".encode())
            digest.update(b"" if values is None else np.ascontiguousarray(values).data)
        return digest.hexdigest()


def load_dendrites(path: Path, **names: str | None) -> DendriticData:
    """Load the recording at ``path``.

    Parameters
    ----------
    path
        An .npz or NetCDF (.nc) file with ``soma`` and ``dendrite`` (frames, neurons), ``rate`` in frames per second,
        and if known ``error`` (frames,) or (frames, components), ``role`` (neurons,) or (neurons, components), and
        ``condition`` (frames,), and ``period`` in frames, of trials at a fixed pace; or an .nwb file.
    names
        What ``soma``, ``dendrite``, ``error``, ``role`` and ``condition`` are called in an NWB file: two series of
        ROIs, a time series, a column of the table of the somas' ROIs, and a column of the trials. Unless given they are
        found by words such as soma, apical, error and role; conditions are not guessed.
    """
    reader = {".npz": _npz, ".nc": _netcdf, ".nwb": _nwb}.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{path}: must be an .npz, .nc or .nwb file with somas and dendrites")
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    given = {name: value for name, value in names.items() if value is not None}
    if given and reader is not _nwb:
        raise DataError(f"{next(iter(given))}: names something of an .nwb file; {path} has its own names")
    stamps = {path: file_stamp(path)}
    held, notes = reader(path, given)
    try:
        recording = DendriticRecording(**held)
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: {error}") from error
    check_stamps(stamps)
    views = ("somas", "dendrites")
    return DendriticData(
        str(path),
        recording.soma,
        recording.dendrite,
        notes=notes,
        views=views,
        recording=recording,  # type: ignore[arg-type]
    )


def _npz(path: Path, _: dict) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
    except Exception as error:  # a damaged file makes zipfile and NumPy raise a dozen kinds
        raise DataError(f"{path}: not a readable .npz file of numbers ({error})") from error
    return _chosen(path, arrays), ()


def _netcdf(path: Path, _: dict) -> tuple[dict[str, Any], tuple[str, ...]]:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            refuse_outside_storage(file)
            arrays = {name: read(one, ...) for name, one in file.items() if isinstance(one, h5py.Dataset)}
    except DataError:
        raise
    except Exception as error:  # what damage makes h5py raise
        raise DataError(f"{path}: not a readable NetCDF4 file, perhaps damaged or truncated ({error})") from error
    return _chosen(path, arrays), ()


def _chosen(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    missing = [name for name in NEEDED if name not in arrays]
    if missing:
        raise DataError(
            f"{path}: must hold soma and dendrite (frames, neurons) and rate (frames per second) (got "
            f"{listed(arrays)}, and no {missing[0]})"
        )
    for name, unit in (("rate", "frames per second"), ("period", "frames")):
        one = arrays.get(name, np.ones(()))
        if one.size != 1 or one.dtype.kind not in "fiu":
            raise DataError(f"{path}: {name} must be one number, of {unit} (got shape {one.shape}, {one.dtype})")
    found: dict[str, Any] = {name: arrays[name] for name in ("soma", "dendrite", *KNOWN) if name in arrays}
    if "condition" in found and found["condition"].dtype.kind in "US":
        found["condition"] = np.unique(found["condition"], return_inverse=True)[1]
    period = float(arrays["period"].ravel()[0]) if "period" in arrays else 1.0
    return found | {"rate": float(arrays["rate"].ravel()[0]), "period": int(period) if period.is_integer() else period}


# -- NWB ---------------------------------------------------------------------------------------------------------------


def _nwb(path: Path, names: dict[str, str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    from biorrr.sims.recordings.nwb import opened

    with opened(path) as file:
        try:
            return _from_nwb(file, names)
        except DataError:
            raise
        except Exception as error:  # what damage makes h5py raise
            raise DataError(f"{path}: not a readable NWB file, perhaps damaged ({error})") from error


def _from_nwb(file: Any, names: dict[str, str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    from biorrr.sims.recordings.nwb import find_trials

    rois, series = _series(file)
    soma, dendrite = (_named(file, rois, part, names.get(part), "series of ROIs") for part in ("soma", "dendrite"))
    times, rate = _times(file, soma)
    other, _ = _times(file, dendrite)
    if len(times) != len(other) or np.abs(times - other).max() * rate >= 1:
        raise DataError(
            f"{file.filename}: somas and dendrites must be imaged together, frame by frame (got {len(times)} and "
            f"{len(other)} frames, up to {np.abs(times[: len(other)] - other[: len(times)]).max():.3g} s apart)"
        )
    held: dict[str, Any] = {"soma": read(soma["data"]), "dendrite": read(dendrite["data"]), "rate": rate}
    notes = [f"somas are {soma.name.strip('/')}, dendrites {dendrite.name.strip('/')}"]
    error = _named(file, series, "error", names.get("error"), "time series", needed=False)
    if error is not None:
        values, (moments, _) = read(error["data"]).astype(float), _times(file, error)
        if moments[0] > times[0] + 1 / rate or moments[-1] < times[-1] - 1 / rate:
            raise DataError(
                f"{file.filename}: {error.name} must cover the recording, {times[0]:g} to {times[-1]:g} s (got "
                f"{moments[0]:g} to {moments[-1]:g} s)"
            )
        held["error"] = values[np.maximum(np.searchsorted(moments, times, side="right") - 1, 0)]
        notes.append(f"the error is {error.name.strip('/')}")
    if "rois" in soma:
        planes = Table(soma).targets("rois")
        wanted = names.get("role")
        columns = [name for name in planes.columns if wanted == name or (not wanted and "role" in name.lower())]
        if wanted and not columns:
            raise DataError(f"role: no column {wanted!r} in {planes.name} of {file.filename}; there are "
                            f"{listed(planes.columns)}")  # fmt: skip
        if columns:
            held["role"] = planes.read(columns[0])[read(soma["rois"]).astype(np.int64)]
            notes.append(f"causal roles are {planes.name}.{columns[0]}")
    if "condition" in names:
        trials = find_trials(file, None)
        codes, start = trials.conditions(names["condition"]), trials.times["start_time"]
        stop = trials.times.get("stop_time", np.append(start[1:], times[-1]))
        last = np.searchsorted(start, times, side="right") - 1
        inside = (last >= 0) & (times < stop[np.maximum(last, 0)])
        held["condition"] = np.where(inside, codes[np.maximum(last, 0)], -1)
        pace = np.diff(start) * rate
        if len(pace) and np.abs(pace - np.round(pace[0])).max() < SAME_PACE:
            held["period"] = max(1, round(float(pace[0])))
            notes.append(f"trials come every {held['period']} frames")
    return held, tuple(notes)


def _series(file: Any) -> tuple[list[Any], list[Any]]:
    """Series of ROIs, and other time series of numbers."""
    import h5py

    rois: list[Any] = []
    others: list[Any] = []

    def sort_in(_: str, one: Any) -> None:
        if isinstance(one, h5py.Group) and isinstance(one.get("data"), h5py.Dataset):
            if kind_of(one) == "RoiResponseSeries" and one["data"].ndim == 2:
                rois.append(one)
            elif one["data"].dtype.kind in "fiu" and one["data"].ndim in (1, 2) and kind_of(one) != "RoiResponseSeries":
                others.append(one)

    for place in ("processing", "acquisition", "stimulus"):
        if isinstance(file.get(place), h5py.Group):
            file[place].visititems(sort_in)
    return rois, others


def _named(file: Any, found: list[Any], part: str, name: str | None, kind: str, needed: bool = True) -> Any:
    """The series that ``name`` means or, without a name, the one whose own name or imaging plane has a word for it."""

    def words(one: Any) -> str:
        place = ""
        if "rois" in one:
            plane = Table(one).targets("rois").group.get("imaging_plane")
            place = text(plane["location"][()]) if plane is not None and "location" in plane else ""
        return f"{one.name} {place}".lower()

    if name is not None:
        fitting = [one for one in found if name in (one.name.strip("/"), one.name.rpartition("/")[2])]
        fitting = fitting or [one for one in found if name.lower() in one.name.lower()]
    else:
        fitting = [one for one in found if any(word in words(one) for word in WORDS[part])]
    if len(fitting) == 1:
        check_claim(fitting[0]["data"])
        return fitting[0]
    if not fitting and not needed and name is None:
        return None
    there = listed(one.name.strip("/") for one in found)
    called = f"called {name!r}" if name else f"with {' or '.join(WORDS[part])} in its name or plane"
    raise DataError(f"{part}: must be one {kind} {called} in {file.filename} (got {len(fitting)}); name one of {there}")


def _times(file: Any, series: Any) -> tuple[np.ndarray, float]:
    """Times of the samples of a series, (T,) seconds, and their rate."""
    frames = len(series["data"])
    if "timestamps" in series:
        times = read(series["timestamps"]).astype(float)
        if len(times) != frames or frames < 2 or not (np.diff(times) > 0).all():
            raise DataError(f"{file.filename}: {series.name} must have one ascending timestamp per sample")
        return times, float(1 / np.median(np.diff(times)))
    if "starting_time" not in series:
        raise DataError(f"{file.filename}: {series.name} must have timestamps or a starting time with a rate")
    start, rate = float(series["starting_time"][()]), float(series["starting_time"].attrs["rate"])
    if not (np.isfinite(start) and rate > 0):
        raise DataError(f"{file.filename}: {series.name} must have a positive rate (got {rate})")
    return start + np.arange(frames) / rate, rate
