"""Tables as NWB keeps them in HDF5: a group of columns, some of them ragged, some pointing into other tables."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

from biorrr.circuit.results.netcdf import MOST_PACKED
from biorrr.sims.data.dataset import DataError


class Table:
    """One table; columns are read when they are asked for.

    Parameters
    ----------
    group
        That holds the columns, each a dataset with one entry per row; a ragged column has its entries in one dataset
        and where each row's entries end in another, called ``<column>_index``.
    """

    def __init__(self, group: h5py.Group) -> None:
        self.group = group
        self.name = str(group.name).rpartition("/")[2]

    def __len__(self) -> int:
        return len(self.group["id"]) if "id" in self.group else 0

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are there, as the table lists them."""
        named = [text(name) for name in self.group.attrs.get("colnames", ())]
        return [name for name in named if isinstance(self.group.get(name), h5py.Dataset)]

    def is_plain(self, column: str) -> bool:
        """Whether a column has one number or text per row."""
        held = self.group[column]
        return (
            held.ndim == 1
            and len(held) == len(self)
            and f"{column}_index" not in self.group
            and held.dtype.kind in "fiubOS"
        )

    def read(self, column: str) -> np.ndarray:
        """All of a column, (rows,) or (rows, ...); text is str."""
        return read(self.group[column])

    def ends(self, column: str) -> np.ndarray:
        """Where the entries of each row of a ragged column end, (rows,)."""
        return read(self.group[f"{column}_index"]).astype(np.int64)

    def targets(self, column: str) -> Table:
        """The table that a column points into."""
        reference = self.group[column].attrs.get("table")
        if not isinstance(reference, h5py.Reference) or not reference:
            raise DataError(
                f"{self.group.file.filename}: column {column} of {self.name} must say which table it points into"
            )
        return Table(self.group.file[reference])


def read(held: h5py.Dataset, rows: Any = slice(None)) -> np.ndarray:
    """Values of a dataset, text as str, after a look at whether the file can hold them."""
    check_claim(held)
    if held.dtype.kind in "OS":
        values = held[rows]
        return np.array([text(value) for value in np.ravel(values)], dtype=object).reshape(np.shape(values)).astype(str)
    return np.asarray(held[rows])


def check_claim(held: h5py.Dataset) -> None:
    """Refuse a dataset that claims to hold more than a file of its size can: to read it would fill the memory."""
    size = held.file.id.get_filesize()
    if held.nbytes > MOST_PACKED * size:
        raise DataError(
            f"{held.file.filename}: must hold the numbers it tells of (got {held.nbytes} bytes of {held.name} in "
            f"{size} bytes of file); damaged?"
        )


def text(value: Any) -> str:
    """Text as str, whatever HDF5 made of it."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def kind_of(group: h5py.Group) -> str:
    """NWB's type of an object, such as ``RoiResponseSeries``."""
    return text(group.attrs.get("neurodata_type", ""))


def refuse_outside_storage(file: h5py.File) -> None:
    """Refuse a file that takes numbers from other files: it could read any file of the user's.

    NWB links its own objects by soft links. They lead out of a file only over an external link, and there is none.
    """
    groups, seen = [file["/"]], set()
    while groups:
        group = groups.pop()
        address = h5py.h5o.get_info(group.id).addr
        if address in seen:  # a group may hold itself
            continue
        seen.add(address)
        for name in group:
            link = group.get(name, getlink=True)
            found = group[name] if isinstance(link, h5py.HardLink) else None
            outside = isinstance(found, h5py.Dataset) and (found.is_virtual or found.external)
            if outside or not isinstance(link, h5py.HardLink | h5py.SoftLink):
                raise DataError(
                    f"{file.filename}: all of it must be held in the file itself (got "
                    f"{group.name.rstrip('/')}/{name}, a link, external storage or a virtual dataset, which can read "
                    "any other file); make a plain copy of it"
                )
            if isinstance(found, h5py.Group):
                groups.append(found)
