"""xarray that leaves Dask alone until it is used."""

from __future__ import annotations

import functools
import sys
from contextlib import suppress
from types import SimpleNamespace

_NO_ARRAYS = SimpleNamespace(type=(), available=False)


@functools.cache
def leave_dask_out() -> None:
    """Keep xarray from importing Dask, where that is installed, only to find that an array is not
    one of Dask's.

    Importing it takes longer than most runs of a small circuit. As long as nothing has imported it,
    no array can be one of Dask's; from then on xarray asks as it always does. An xarray that asks
    in another way is left as it is.
    """
    with suppress(ImportError, AttributeError):
        from xarray.namedarray import pycompat, utils

        find_module = pycompat._get_cached_duck_array_module
        is_collection = utils.is_dask_collection

        def find_imported(name):
            absent = name == "dask" and "dask" not in sys.modules
            return _NO_ARRAYS if absent else find_module(name)

        def is_imported_collection(value):
            return "dask" in sys.modules and is_collection(value)

        pycompat._get_cached_duck_array_module = find_imported
        utils.is_dask_collection = is_imported_collection  # type: ignore[assignment]
