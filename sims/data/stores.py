"""Files that hold arrays by name, whatever their format: .npz, .mat, HDF5 (NetCDF4, NWB), or a folder of .csv or .npy.

The format is told by the first bytes of a file and not by its name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from biorrr.sims.data import csv_files
from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.files import open_regular
from biorrr.sims.data.hdf5 import Array, Group, open_hdf5
from biorrr.sims.data.kinds import Arrays
from biorrr.sims.data.values import DataError
from biorrr.sims.data.words import brief, listed

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
SINGLE = ("",)  # names of a store with one array, which has none


@dataclass(frozen=True)
class Store:
    """Arrays by name.

    Parameters
    ----------
    path
        Path of the file or folder.
    names
        Names of the arrays; :data:`SINGLE` where there is one, without a name.
    read
        Called with a name, returns the array.
    column_names
        Called with a name, returns the names of the columns of the array, where the file has some.
    root
        Root of an HDF5 file.
    """

    path: Path
    names: tuple[str, ...]
    read: Callable[[str], np.ndarray]
    column_names: Callable[[str], tuple[str, ...] | None] = lambda name: None
    root: Group | None = None

    @property
    def is_single(self) -> bool:
        """True of one array without a name."""
        return self.names == SINGLE

    @property
    def is_nwb(self) -> bool:
        """True of NWB files, which are more than arrays by name."""
        return self.root is not None and self.root.attribute("nwb_version") is not None

    @property
    def described(self) -> str:
        """Names of the arrays, in words."""
        return "one array" if self.is_single else listed(sorted(self.names))

    def require(self, names: Sequence[str]) -> None:
        """Refuse a store without one of ``names``."""
        if not set(names) <= set(self.names):
            raise DataError(f"{self.path}: must hold {' and '.join(names)} (got {self.described}); rename them")


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """Open what lies at ``path``, told by its contents."""
    if path.is_dir():
        yield _folder(path)
        return
    with open_regular(path) as file:
        start = file.read(1024)
        file.seek(0)
        if start.startswith(b"PK"):
            with _readable(path, "NumPy"):
                held = np.load(file, allow_pickle=False)
            with held:
                yield _arrays(path, held.files, "NumPy", lambda name: np.asanyarray(held[name]))
        elif start.startswith(b"\x93NUMPY"):
            # Mapped rather than read: it may be larger than memory.
            yield _arrays(path, SINGLE, "NumPy", lambda name: np.lib.format.open_memmap(path, mode="r"))
        elif start.startswith(b"MATLAB 5.0") or (path.suffix.lower() == ".mat" and HDF5_SIGNATURE not in start):
            yield _matlab(path, file)
        elif HDF5_SIGNATURE in start or path.suffix.lower() in (".nwb", ".nc", ".h5", ".hdf5"):
            with open_hdf5(path) as root:
                yield _hdf5(path, root, from_matlab=start.startswith(b"MATLAB"))
        elif path.suffix.lower() in (".npz", ".npy"):
            raise _unreadable(path, "NumPy", "it does not begin like one")
        else:
            table = functools.cache(lambda name: csv_files.table(path))
            yield Store(path, SINGLE, lambda name: table(name)[0], lambda name: table(name)[1])


def _folder(path: Path) -> Store:
    files = {one.stem: one for one in sorted(path.iterdir()) if one.suffix.lower() in (".csv", ".npy")}
    if not files:
        what = "NWB in Zarr is not read, export it to HDF5" if any(path.glob(".z*")) else "it has neither"
        raise DataError(f"{path}: a folder must hold .csv or .npy files, one for each array ({what})")

    def read(name: str) -> np.ndarray:
        with open_store(files[name]) as store:
            return store.read("")

    def column_names(name: str) -> tuple[str, ...] | None:
        with open_store(files[name]) as store:
            return store.column_names("")

    return Store(path, tuple(files), read, column_names)


def _matlab(path: Path, file: BinaryIO) -> Store:
    """Return the store of a MATLAB file before version 7.3."""
    import scipy.io

    def read(name: str) -> np.ndarray:
        file.seek(0)
        return scipy.io.loadmat(file, variable_names=[name])[name]

    with _readable(path, "MATLAB"):
        names = [name for name, *_ in scipy.io.whosmat(file)]
    return _arrays(path, names, "MATLAB", read)


def _hdf5(path: Path, root: Group, from_matlab: bool) -> Store:
    """Return the store of an HDF5 file; MATLAB stores columns first."""
    names = tuple(name for name in root.names() if isinstance(root.get(name), Array))

    def read(name: str) -> np.ndarray:
        values = root.array(name)[()]
        return values.T if from_matlab else values

    return Store(path, names, read, root=root)


def _arrays(path: Path, names: Sequence[str], kind: str, read: Callable[[str], np.ndarray]) -> Store:
    """Return a store whose errors of reading are sentences about the file."""

    def guarded(name: str) -> np.ndarray:
        with _readable(path, kind, name):
            return read(name)

    return Store(path, tuple(names), guarded)


@contextmanager
def _readable(path: Path, kind: str, name: str = "") -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a damaged file makes zipfile, NumPy and SciPy raise a dozen kinds
        raise _unreadable(path, kind, error, name) from error


def _unreadable(path: Path, kind: str, error: object, name: str = "") -> DataError:
    if "allow_pickle" in str(error) or "Python objects" in str(error):
        return DataError(f"{path}: holds Python objects, which can run code and are never read; save numbers")
    said = f"{name}: {brief(error)}" if name else brief(error)
    return DataError(f"{path}: not a readable {kind} file, perhaps damaged or truncated ({said})")


def read_arrays(value: Arrays) -> Dataset:
    """Read X and Y of the user's, from one file that holds both or from a file for each."""
    with open_store(Path(value.file)) as store:
        if value.y is None:
            if store.is_single:
                raise DataError(f"y: {value.file} holds one array, X; name the file of Y with --y")
            store.require(("X", "Y"))
            return _dataset(value, (store, "X"), (store, "Y"))
        with open_store(Path(value.y)) as other:
            for one in (store, other):
                if not one.is_single:
                    raise DataError(f"{one.path}: must hold one array beside another file (got {one.described})")
            return _dataset(value, (store, ""), (other, ""))


def _dataset(value: Arrays, x: tuple[Store, str], y: tuple[Store, str]) -> Dataset:
    (X, x_names), (Y, y_names) = ((store.read(name), store.column_names(name)) for store, name in (x, y))
    return Dataset(str(value), X, Y, x_names=x_names, y_names=y_names)
