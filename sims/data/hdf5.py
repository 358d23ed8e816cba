"""HDF5 files, read behind one guard: NWB, NetCDF4, MATLAB 7.3 and plain ones.

All access goes through :class:`Group` and :class:`Array`. Whatever a damaged file makes the library raise becomes a
:class:`DataError` that names the file and the object. Nothing is read from other files: external links, external
storage and virtual datasets are refused when the file is opened.
"""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from biorrr.circuit.results.netcdf import MOST_PACKED, is_held
from biorrr.sims.data.files import check_regular, file_stamp
from biorrr.sims.data.values import DataError
from biorrr.sims.data.words import brief, listed

PATIENCE, BYTES_PER_SECOND = 6.0, 2e7  # for the rehearsal: seconds, and how much longer a large file may take
CHUNK_CACHE = 2**26  # bytes: a chunk is decompressed once for all units that have spikes in it


@contextmanager
def guard(file: str, name: str) -> Iterator[None]:
    """Turn whatever is raised while the object ``name`` is read into a sentence about it."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # a damaged file makes HDF5, h5py and NumPy raise a dozen kinds
        raise DataError(f"{file}: {name} cannot be read, perhaps damaged or truncated ({brief(error)})") from error


@contextmanager
def open_hdf5(path: Path) -> Iterator[Group]:
    """Open a file for the time of the block; see :func:`opened`."""
    root = opened(path)
    try:
        yield root
    finally:
        root.close()


def opened(path: Path) -> Group:
    """Open the file at ``path`` and look through all of it for what would be read from elsewhere."""
    check_regular(path)
    if trouble := _trouble(path, file_stamp(path) or ()):
        raise DataError(f"{path}: not a readable HDF5 file, damaged (reading it {trouble})")
    try:
        file = h5py.File(path, "r", rdcc_nbytes=CHUNK_CACHE, rdcc_nslots=100_003)
    except Exception as error:
        raise DataError(f"{path}: not a readable HDF5 file, perhaps damaged or truncated ({brief(error)})") from error
    root = Group(file, str(path), "/")
    try:
        root.addresses = root._looked_through()
    except DataError:
        root.close()
        raise
    return root


@functools.lru_cache(maxsize=64)
def _trouble(path: Path, stamp: tuple[int, ...]) -> str:
    """Return how the library ends on a file that makes it crash or loop for ever, else nothing.

    A file is tried once, until its ``stamp`` changes.
    """
    script = str(Path(__file__).with_name("hdf5_rehearsal.py"))
    patience = PATIENCE + path.stat().st_size / BYTES_PER_SECOND
    try:
        done = subprocess.run([sys.executable, "-I", script, str(path)], timeout=patience, capture_output=True)
    except subprocess.TimeoutExpired:
        return "does not come to an end"
    return f"ends with signal {-done.returncode}" if done.returncode < 0 else ""


class _Held:
    """An object in a file: what groups and arrays have in common."""

    def __init__(self, held: Any, file: str, name: str) -> None:
        self._held, self.file, self.name = held, file, name

    @property
    def last_name(self) -> str:
        """Name without the groups above it."""
        return self.name.rpartition("/")[2]

    def attribute(self, name: str) -> Any:
        """Return an attribute, text as str; None if there is none."""
        with guard(self.file, f"attribute {name} of {self.name}"):
            return as_text(self._held.attrs[name]) if name in self._held.attrs else None

    def number(self, name: str) -> float:
        """Return an attribute that must be a single number."""
        value = self.attribute(name)
        with guard(self.file, f"attribute {name} of {self.name}"):
            return float(np.asarray(value, dtype=float).reshape(()))


class Array(_Held):
    """A dataset; values are read when they are asked for."""

    def __init__(self, held: Any, file: str, name: str) -> None:
        super().__init__(held, file, name)
        with guard(file, name):
            self.shape: tuple[int, ...] = held.shape or ()
            self.dtype: np.dtype = held.dtype
            self._is_text = h5py.check_string_dtype(held.dtype) is not None
            if held.shape is None:
                raise DataError(f"{file}: {name} must hold values (got an empty dataset)")

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 0

    @property
    def is_number(self) -> bool:
        """True if values are real numbers or truth values."""
        return self.dtype.kind in "fiub"

    @property
    def is_readable(self) -> bool:
        """True if values are numbers or text."""
        return self.is_number or self._is_text

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Read some of the values, text as str, after a check of whether the file can hold them."""
        if not self.is_readable:
            raise DataError(f"{self.file}: {self.name} must be numbers or text (got {brief(self.dtype)})")
        self.check_claim()
        with guard(self.file, self.name):
            values = self._held[rows]
            if self._is_text:
                flat = np.array([as_text(one) for one in np.ravel(values)], dtype=str)
                return flat.reshape(np.shape(values))
            return np.asarray(values)

    def numbers(self, *ndim: int) -> np.ndarray:
        """Read all values as floats, of one of the numbers of dimensions given."""
        if not self.is_number or self.ndim not in ndim:
            wanted = " or ".join(("one number", "a list of numbers", "a table of numbers")[one] for one in ndim)
            raise DataError(f"{self.file}: {self.name} must be {wanted} (got shape {self.shape}, {brief(self.dtype)})")
        return self[()].astype(float)

    def check_claim(self) -> None:
        """Refuse a dataset that declares more than a file of its size can hold: to read it would fill the memory."""
        with guard(self.file, self.name):
            size, declared = self._held.file.id.get_filesize(), self._held.nbytes
        if declared > MOST_PACKED * size:
            raise DataError(
                f"{self.file}: must hold the numbers it declares (got {declared} bytes of {self.name} in {size} bytes "
                "of file); damaged?"
            )


class Group(_Held):
    """A group of arrays and further groups."""

    def __init__(self, held: Any, file: str, name: str, addresses: frozenset[int] = frozenset()) -> None:
        super().__init__(held, file, name)
        self.addresses = addresses  # of all groups that were looked through when the file was opened

    def close(self) -> None:
        """Close the file."""
        with guard(self.file, self.name):
            self._held.file.close()

    def names(self) -> list[str]:
        """Return the names of what is in the group."""
        with guard(self.file, self.name):
            return [str(name) for name in self._held]

    def get(self, name: str) -> Group | Array | None:
        """Return what is called ``name``, which may be a path; None if nothing is."""
        place = f"{self.name.rstrip('/')}/{name}"
        with guard(self.file, place):
            link = self._held.get(name, getlink=True)
            if link is None:
                return None
            return self._wrapped(self._held[name], place)

    def array(self, name: str) -> Array:
        """Return the array called ``name``, which must be there."""
        found = self.get(name)
        if not isinstance(found, Array):
            kind = "nothing" if found is None else "a group"
            raise DataError(f"{self.file}: {self.name.rstrip('/')}/{name} must be a dataset (got {kind})")
        return found

    def group(self, name: str) -> Group | None:
        """Return the group called ``name``; None if there is none."""
        found = self.get(name)
        if isinstance(found, Array):
            raise DataError(f"{self.file}: {found.name} must be a group (got a dataset)")
        return found

    def groups(self) -> list[Group]:
        """Return the groups in this group."""
        return [one for name in self.names() if isinstance(one := self.get(name), Group)]

    def target(self, reference: Any) -> Group:
        """Return the group that an object reference leads to."""
        with guard(self.file, f"a reference in {self.name}"):
            found = self._held.file[reference] if isinstance(reference, h5py.Reference) and reference else None
            if not isinstance(found, h5py.Group) or _address(found) not in self.addresses:
                raise DataError(f"{self.file}: a reference in {self.name} must lead to a group of the file")
            return Group(found, self.file, str(found.name), self.addresses)

    def walk(self) -> Iterator[Group]:
        """Yield this group and all groups in it, each once; soft links are not followed."""
        groups, seen = [self], set()
        while groups:
            group = groups.pop(0)
            with guard(self.file, group.name):
                address = _address(group._held)
            if address in seen:  # a group may hold itself
                continue
            seen.add(address)
            yield group
            for name in group.names():
                place = f"{group.name.rstrip('/')}/{name}"
                with guard(self.file, place):
                    if isinstance(group._held.get(name, getlink=True), h5py.HardLink):
                        found = group._held[name]
                        if isinstance(found, h5py.Group):
                            groups.append(Group(found, self.file, place, self.addresses))

    def _looked_through(self) -> frozenset[int]:
        """Return the addresses of all groups; refuse a file that takes numbers from other files of the user's.

        NWB links its own objects by soft links. They lead out of a file only over an external link, and there is none.
        """
        addresses = set()
        for group in self.walk():
            with guard(self.file, group.name):
                addresses.add(_address(group._held))
                for name in group._held:
                    link = group._held.get(name, getlink=True)
                    if not isinstance(link, h5py.SoftLink) and not is_held(group._held, name):
                        raise DataError(
                            f"{self.file}: all of it must be held in the file itself (got "
                            f"{group.name.rstrip('/')}/{name}, a link, external storage or a virtual dataset, which "
                            "can read any other file); make a plain copy of it"
                        )
        return frozenset(addresses)

    def _wrapped(self, found: Any, place: str) -> Group | Array:
        if isinstance(found, h5py.Group):
            return Group(found, self.file, place, self.addresses)
        if isinstance(found, h5py.Dataset):
            return Array(found, self.file, place)
        raise DataError(f"{self.file}: {place} must be a group or a dataset (got a named type)")

    def __repr__(self) -> str:
        return f"{self.file}:{self.name} with {listed(self.names())}"


def _address(group: h5py.Group) -> int:
    return h5py.h5o.get_info(group.id).addr


def as_text(value: Any) -> Any:
    """Return bytes as str, whatever is in them; anything else as it is."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
