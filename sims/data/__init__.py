"""Data to learn from: named sets, fetched from their homes, and the user's own files.

Data are values: ``Synthetic(m=40)``, ``Arrays("mine.npz")`` or ``Pair("session.nwb", source="V1",
target="V2")`` say what to load, and their ``load()`` loads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.generated import SMALL_DATA, Planted, Synthetic
from biorrr.sims.data.kinds import Arrays, Matlab, Pair
from biorrr.sims.data.named import NamedData
from biorrr.sims.data.pictures import CIFAR10, CIFAR100, MNIST, FashionMNIST
from biorrr.sims.data.published import V1V2, Digits, MediaMill
from biorrr.sims.data.values import Data, DataError

__all__ = [
    "CATALOGUE",
    "SMALL_DATA",
    "Arrays",
    "Data",
    "DataError",
    "Dataset",
    "Matlab",
    "Pair",
    "Planted",
    "Synthetic",
    "load",
]

CATALOGUE: dict[str, type[NamedData]] = {
    one.set_name: one
    for one in (Digits, Synthetic, V1V2, Planted, MediaMill, MNIST, FashionMNIST, CIFAR10, CIFAR100)
}


def load(
    data: str | Path | Mapping[str, Any] | Data, y: str | Path | None = None, **options: Any
) -> Dataset:
    """Load data with X and Y.

    Parameters
    ----------
    data
        A name of :data:`CATALOGUE`; the path of an .npz or .mat file with X and Y, of a .npy or
        .csv file with X, or of a recording; a table, as config files hold it; or a value.
    y
        Path of Y's file, where Y has its own, or the name of the variable with Y in a .mat file.
    options
        Fields of the value, e.g. ``m=40`` for synthetic, ``x="spikes"`` for the variable with X in
        a .mat file, or ``source="VISp", target="VISl"`` for a recording.

    Examples
    --------
    >>> load("synthetic", samples=100, m=5, n=4).X.shape
    (100, 5)
    """
    given = options if y is None else options | {"y": str(y)}
    return Data.made_from(data, given).load()
