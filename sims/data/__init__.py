"""Data to learn from: named sets, fetched from their homes, and the user's own files.

Data are values: ``Synthetic(m=40)``, ``Arrays("mine.npz")`` or ``Pair("session.nwb", source="V1", target="V2")`` say
what to load, and their ``load()`` loads it.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.sims.data.kinds import CATALOGUE, Arrays, Dendrites, Pair, Plasticity
from biorrr.sims.data.values import Data, DataError, Samples

if TYPE_CHECKING:
    from biorrr.sims.data.dataset import Dataset

__all__ = [
    "CATALOGUE", "Arrays", "Data", "DataError", "Dataset", "Dendrites", "Pair", "Plasticity", "Samples", "load",
]  # fmt: skip


def load(data: str | Path | Samples, y: str | Path | None = None, **options: Any) -> Dataset:
    """Load data with X and Y.

    Parameters
    ----------
    data
        A value; or a name of :data:`CATALOGUE`, alone or with options after a colon (``"synthetic:m=40,noise=0.5"``);
        or the path of a file: .npz, .mat or HDF5 with X and Y, a folder with X.csv and Y.csv, or a recording.
    y
        Path of Y's file, where Y has its own.
    options
        Fields of the value, e.g. ``target="V1"`` for v1v2, or ``source="VISp", target="VISl"`` for a recording.

    Examples
    --------
    >>> load("synthetic:samples=100,m=5", n=4).X.shape
    (100, 5)
    """
    given = options if y is None else options | {"y": str(y)}
    return Samples.made_from(data, given).load()


def __getattr__(name: str) -> Any:
    """Import what takes long when it is first used."""
    if name == "Dataset":
        return importlib.import_module("biorrr.sims.data.dataset").Dataset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
