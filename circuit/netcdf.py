"""Datasets as NetCDF4 files."""

from __future__ import annotations

import io
from pathlib import Path

import h5netcdf
import xarray as xr


def write_netcdf(data: xr.Dataset, path: Path, packed: bool = False) -> None:
    """Write ``data``, with its arrays compressed if ``packed``.

    The file is made in memory and then written as a whole: HDF5 itself does not survive a disk that is full.
    """
    data = data.copy()
    if packed:
        for variable in data.data_vars.values():
            variable.encoding = {"zlib": True} if variable.ndim else {}
    file = io.BytesIO()
    with h5netcdf.File(file, "w") as target:
        data.dump_to_store(xr.backends.H5NetCDFStore(target))
    path.write_bytes(file.getbuffer())
