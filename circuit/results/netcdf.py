"""Datasets as NetCDF4 files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, BinaryIO

import h5netcdf
import h5py
import xarray as xr

from biorrr.errors import InputError

MOST_PACKED = (
    2000  # bytes of numbers in a byte of file: deflate, which packs them, cannot do more than 1032
)


class UnsafeFileError(InputError):
    """An HDF5 file that would read other files of the user's, or fill the memory."""


def write_netcdf(data: xr.Dataset, path: Path) -> None:
    """Write ``data``, with its arrays compressed.

    The file is made in memory and then written as a whole: HDF5 itself does not survive a disk that
    is full.
    """
    data = data.copy()
    for variable in data.data_vars.values():
        variable.encoding = (
            {"zlib": True} if variable.ndim and variable.dtype.kind in "fiub" else {}
        )
    file = io.BytesIO()
    with h5netcdf.File(file, "w") as target:
        data.dump_to_store(xr.backends.H5NetCDFStore(target))
    path.write_bytes(file.getbuffer())


def read_netcdf(source: str | os.PathLike | BinaryIO) -> xr.Dataset:
    """Read the dataset in the file ``source``, a path or an open file, into memory; no other file
    is opened for it.
    """
    if isinstance(source, str | os.PathLike):
        with Path(source).open("rb") as file:
            return read_netcdf(file)
    # One open file for both: what was looked through is what is read.
    size = source.seek(0, os.SEEK_END)
    with h5py.File(source, "r") as file:
        refuse_unsafe(file, size)
    source.seek(0)
    with xr.open_dataset(source, engine="h5netcdf", phony_dims="access") as data:
        return data.load()


def refuse_unsafe(file: h5py.File, size: int) -> None:
    """Refuse an HDF5 file, of ``size`` bytes, that takes numbers from other files by links,
    external storage or virtual datasets, or that declares more numbers than it can hold.
    """
    declared = 0

    def name_of_outside(name: str, link: object) -> str | None:
        nonlocal declared
        if isinstance(link, h5py.SoftLink):  # to an object in this file, which is looked at, too
            return None
        found: Any = file[name] if isinstance(link, h5py.HardLink) else None
        is_array = isinstance(found, h5py.Dataset)
        declared += found.nbytes if is_array else 0
        return (
            name if found is None or (is_array and (found.is_virtual or found.external)) else None
        )

    if name := file.visititems_links(name_of_outside):
        raise UnsafeFileError(
            f"all of it must be held in the file itself (got {name!r}, a link, external storage or"
            " a virtual dataset, which can read any other file); ask its sender for a plain copy"
        )
    if declared > MOST_PACKED * size:
        raise UnsafeFileError(
            f"must hold all numbers it declares (got {size} bytes of file for {declared} bytes of"
            " numbers)"
        )
