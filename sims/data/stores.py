"""Files that hold arrays by name, whatever their format: .npz, .mat, HDF5 (NetCDF4, NWB), or a folder of .csv or .npy.

The format is told by the first bytes of a file and not by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from biorrr.sims.data import csv_files
from biorrr.sims.data.hdf5 import Array, Group, open_hdf5
from biorrr.sims.data.regular_files import open_regular
from biorrr.sims.data.values import DataError
from biorrr.sims.data.words import brief, listed

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


class Store:
    """Arrays by name.

    Parameters
    ----------
    path
        Of the file or folder.
    names
        What the arrays are called; empty where there is one, without a name.
    """

    is_single = False  # one array without a name
    root: Group | None = None  # of an HDF5 file

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path, self.names = path, tuple(names)

    @property
    def is_nwb(self) -> bool:
        """True of NWB files, which are more than arrays by name."""
        return self.root is not None and self.root.attribute("nwb_version") is not None

    @property
    def described(self) -> str:
        """What is there, in words."""
        return "one array" if self.is_single else listed(sorted(self.names))

    def read(self, name: str) -> np.ndarray:
        """Return the array called ``name``."""
        raise NotImplementedError

    def column_names(self, name: str) -> tuple[str, ...] | None:
        """Return the names of the columns of an array, where the file has some."""
        return None

    def require(self, names: Sequence[str]) -> None:
        """Refuse a store without one of ``names``."""
        if not set(names) <= set(self.names):
            raise DataError(f"{self.path}: must hold {' and '.join(names)} (got {self.described}); rename them")


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """Open what lies at ``path``, told by its contents."""
    if path.is_dir():
        yield _Folder(path)
        return
    with open_regular(path) as file:
        start = file.read(1024)
        file.seek(0)
        if start.startswith(b"PK"):
            with _npz(path, file) as store:
                yield store
        elif start.startswith(b"\x93NUMPY"):
            yield _Npy(path)
        elif start.startswith(b"MATLAB 5.0") or (path.suffix.lower() == ".mat" and HDF5_SIGNATURE not in start):
            yield _Matlab(path, file)
        elif HDF5_SIGNATURE in start or path.suffix.lower() in (".nwb", ".nc", ".h5", ".hdf5"):
            with open_hdf5(path) as root:
                yield _Hdf5(path, root, from_matlab=start.startswith(b"MATLAB"))
        elif path.suffix.lower() in (".npz", ".npy"):
            raise _unreadable(path, "it does not begin like one")
        else:
            yield _Csv(path)


class _Folder(Store):
    def __init__(self, path: Path) -> None:
        self._files = {one.stem: one for one in sorted(path.iterdir()) if one.suffix.lower() in (".csv", ".npy")}
        super().__init__(path, list(self._files))
        if not self._files:
            what = "NWB in Zarr is not read, export it to HDF5" if any(path.glob(".z*")) else "it has neither"
            raise DataError(f"{path}: a folder must hold .csv or .npy files, one for each array ({what})")

    def read(self, name: str) -> np.ndarray:
        with open_store(self._files[name]) as store:
            return store.read("")

    def column_names(self, name: str) -> tuple[str, ...] | None:
        with open_store(self._files[name]) as store:
            return store.column_names("")


class _Csv(Store):
    is_single = True

    def __init__(self, path: Path) -> None:
        super().__init__(path, ())
        self._table: tuple[np.ndarray, tuple[str, ...] | None] | None = None

    def read(self, name: str) -> np.ndarray:
        self._table = self._table or csv_files.table(self.path)
        return self._table[0]

    def column_names(self, name: str) -> tuple[str, ...] | None:
        self.read(name)
        assert self._table is not None
        return self._table[1]


class _Npy(Store):
    is_single = True

    def __init__(self, path: Path) -> None:
        super().__init__(path, ())

    def read(self, name: str) -> np.ndarray:
        """Map the array rather than read it: it may be larger than memory."""
        try:
            return np.lib.format.open_memmap(self.path, mode="r")
        except Exception as error:
            raise _unreadable(self.path, error) from error


class _Npz(Store):
    def __init__(self, path: Path, held: Any) -> None:
        super().__init__(path, held.files)
        self._held = held

    def read(self, name: str) -> np.ndarray:
        try:
            return np.asanyarray(self._held[name])
        except Exception as error:  # a damaged file makes zipfile and NumPy raise a dozen kinds
            raise _unreadable(self.path, error, name) from error


@contextmanager
def _npz(path: Path, file: BinaryIO) -> Iterator[Store]:
    try:
        held = np.load(file, allow_pickle=False)
    except Exception as error:
        raise _unreadable(path, error) from error
    with held:
        yield _Npz(path, held)


def _unreadable(path: Path, error: object, name: str = "") -> DataError:
    if "allow_pickle" in str(error) or "Python objects" in str(error):
        return DataError(f"{path}: holds Python objects, which can run code and are never read; save numbers")
    what = f"{name} of it is not readable" if name else "not a readable NumPy file"
    return DataError(f"{path}: {what}, perhaps damaged or truncated ({brief(error)})")


class _Matlab(Store):
    """A MATLAB file before version 7.3."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        import scipy.io

        self.path, self._file = path, file
        with self._reading():
            super().__init__(path, [name for name, *_ in scipy.io.whosmat(file)])

    def read(self, name: str) -> np.ndarray:
        import scipy.io

        with self._reading():
            self._file.seek(0)
            return scipy.io.loadmat(self._file, variable_names=[name])[name]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # scipy has a dozen ways to fail on a damaged file
            said = brief(error)
            raise DataError(
                f"{self.path}: not a readable MATLAB file, perhaps damaged or truncated ({said})"
            ) from error


class _Hdf5(Store):
    def __init__(self, path: Path, root: Group, from_matlab: bool) -> None:
        self.root, self._from_matlab = root, from_matlab
        super().__init__(path, [name for name in root.names() if isinstance(root.get(name), Array)])

    def read(self, name: str) -> np.ndarray:
        """Read an array of the file; MATLAB stores columns first."""
        assert self.root is not None
        values = self.root.array(name)[()]
        return values.T if self._from_matlab else values
