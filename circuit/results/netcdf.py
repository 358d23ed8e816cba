"""Datasets as NetCDF4 files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO

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
    with h5py.File(source, "r") as file:
        _refuse_outside_storage(file)
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    with xr.open_dataset(source, engine="h5netcdf", phony_dims="access") as data:
        if data.nbytes > MOST_PACKED * size:
            raise UnsafeFileError(
                f"must hold all numbers it declares (got {size} bytes of file for {data.nbytes}"
                " bytes of numbers)"
            )
        return data.load()


def _refuse_outside_storage(file: h5py.File) -> None:
    """Refuse links, external storage and virtual datasets."""
    groups, seen = [file], set()
    while groups:
        group = groups.pop()
        address = h5py.h5o.get_info(group.id).addr
        if address in seen:  # a group may hold itself
            continue
        seen.add(address)
        for name in group:
            linked = not isinstance(group.get(name, getlink=True), h5py.HardLink)
            found = None if linked else group[name]
            if linked or (isinstance(found, h5py.Dataset) and (found.is_virtual or found.external)):
                raise UnsafeFileError(
                    f"all of it must be held in the file itself (got {name!r}, a link, external"
                    " storage or a virtual dataset, which can read any other file); ask its sender"
                    " for a plain copy"
                )
            if isinstance(found, h5py.Group):
                groups.append(found)
