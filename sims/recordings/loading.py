"""Two areas of a recording by name: ``session.nwb:source=VISp,target=VISl,align=stimulus,bin=0.1``."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset, check_stamps, file_stamp
from biorrr.sims.recordings.recording import Recording
from biorrr.sims.recordings.trials import counted, listed

_NAMED = re.compile(r"(?P<path>.*\.(?:nwb|npz(?=:)))(?::(?P<options>.*))?", re.IGNORECASE | re.DOTALL)


def split_name(name: str) -> tuple[str, str] | None:
    """Path of a recording and what options are written after it; None where ``name`` is no recording's.

    Examples
    --------
    >>> split_name("session.nwb:source=VISp,target=VISl")
    ('session.nwb', 'source=VISp,target=VISl')
    >>> split_name("mine.npz")
    """
    found = _NAMED.fullmatch(name)
    return (found["path"], found["options"] or "") if found else None


def load_pair(
    path: str,
    *,
    source: str = "",
    target: str = "",
    align: str = "start",
    window: str = "",
    bin: float = 0.1,
    lag: float = 0.0,
    condition: str = "",
    minimum_rate: float = 0.5,
    quality: str = "good",
    scale: str = "none",
    area: str = "",
    trials: str = "",
    series: str = "",
) -> Dataset:
    """Load two areas of the recording at ``path``; options as in :class:`Recording`, with window as ``0..1``."""
    stamps = {Path(path): file_stamp(Path(path))}
    recording = open_recording(Path(path), area or None, trials or None, series or None)
    for side, name in (("source", source), ("target", target)):
        if not name:
            there = listed(f"{area} ({counted(count, 'unit')})" for area, count in recording.units_of_areas().items())
            raise DataError(f"{side}: say which area of {path}; there are {there}")
    data = recording.pair(
        source,
        target,
        align=align,
        window=_window(window),
        bin=bin,
        lag=lag,
        condition=condition or None,
        minimum_rate=minimum_rate,
        quality=quality,
        scale=scale,
    )
    check_stamps(stamps)
    return data


def open_recording(path: Path, area: str | None, trials: str | None, series: str | None) -> Recording:
    """Open an NWB file, or an .npz file with ``activity`` (trials, bins, units), ``areas``, ``bin``, ``conditions``."""
    if path.suffix.lower() == ".nwb":
        return Recording.from_nwb(path, area=area, trials=trials, series=series)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
    except Exception as error:  # a damaged file makes zipfile and NumPy raise a dozen kinds
        raise DataError(f"{path}: not a readable .npz file of numbers and text ({error})") from error
    if not {"activity", "areas"} <= set(arrays):
        raise DataError(
            f"{path}: must hold activity (trials, bins, units) and areas (units,) to be a recording "
            f"(got {listed(arrays)})"
        )
    return Recording.from_tensor(
        arrays["activity"],
        [str(one) for one in arrays["areas"]],
        bin=float(arrays.get("bin", 0.1)),
        conditions=arrays.get("conditions"),
        counts=bool(arrays.get("counts", bool((arrays["activity"] >= 0).all()))),
        name=str(path),
    )


def _window(written: str) -> tuple[float, float] | None:
    if not written:
        return None
    try:
        begin, end = map(float, written.split(".."))
    except ValueError:
        raise DataError(f"window: must be two numbers of seconds, such as 0..1 (got {written!r})") from None
    return begin, end
