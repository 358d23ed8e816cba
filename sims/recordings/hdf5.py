"""HDF5 files, read behind one guard.

All access goes through :class:`Group` and :class:`Array`. Whatever a damaged file makes the library
raise becomes a :class:`DataError` that names the file and the object. Nothing is read from other
files: external links, external storage and virtual datasets are refused when the file is opened.
"""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from biorrr.circuit.results.netcdf import MOST_PACKED, is_held
from biorrr.sims.data.files import check_regular, file_stamp, readable
from biorrr.sims.data.values import DataError
from biorrr.sims.words import as_text, brief

PATIENCE, BYTES_PER_SECOND = (
    6.0,
    2e7,
)  # for the rehearsal: seconds, and how much longer a large file may take
CHUNK_CACHE = 2**26  # bytes: a chunk is decompressed once for all units that have spikes in it


def open_hdf5(path: Path) -> Group:
    """Open the file at ``path``; refuse one that takes numbers from other files of the user's.

    NWB links its own objects by soft links. They lead out of a file only over an external link, and
    there is none.
    """
    check_regular(path)
    if trouble := _trouble(path, file_stamp(path) or ()):
        raise DataError(f"{path}: not a readable HDF5 file, damaged (reading it {trouble})")
    with readable(path, "not a readable HDF5 file"):
        root = Group(
            h5py.File(path, "r", rdcc_nbytes=CHUNK_CACHE, rdcc_nslots=100_003), str(path), "/"
        )
    for group in root.walk():
        with group.guard():
            for name in group.held:
                link = group.held.get(name, getlink=True)
                if not isinstance(link, h5py.SoftLink) and not is_held(group.held, name):
                    raise DataError(
                        f"{path}: all of it must be held in the file itself (got"
                        f" {group.place(name)}, a link, external storage or a virtual dataset,"
                        " which can read any other file); make a plain copy of it"
                    )
    return root


@functools.lru_cache(maxsize=64)
def _trouble(path: Path, stamp: tuple[int, ...]) -> str:
    """Return how the library ends on a file that makes it crash or loop for ever, else nothing.

    A file is tried once, until its ``stamp`` changes.
    """
    script = str(Path(__file__).with_name("hdf5_rehearsal.py"))
    patience = PATIENCE + path.stat().st_size / BYTES_PER_SECOND
    try:
        done = subprocess.run(
            [sys.executable, "-I", script, str(path)], timeout=patience, capture_output=True
        )
    except subprocess.TimeoutExpired:
        return "does not come to an end"
    return f"ends with signal {-done.returncode}" if done.returncode < 0 else ""


class HDF5Object:
    """A group or an array: what both have in common."""

    def __init__(self, held: Any, file: str, name: str) -> None:
        self.held, self.file, self.name = held, file, name
        self.last_name = name.rpartition("/")[2]

    def guard(self, what: str = "") -> Any:
        """Return a context in which errors become a sentence about this object, or about ``what``
        of it.
        """
        return readable(self.file, f"{what}{self.name} cannot be read")

    def attribute(self, name: str) -> Any:
        """Return an attribute, text as str; None if there is none."""
        with self.guard(f"attribute {name} of "):
            return as_text(self.held.attrs[name]) if name in self.held.attrs else None


class Array(HDF5Object):
    """A dataset; values are read when they are asked for."""

    def __init__(self, held: Any, file: str, name: str) -> None:
        super().__init__(held, file, name)
        with self.guard():
            self.shape: tuple[int, ...] = held.shape or ()
            self.ndim = len(self.shape)
            self.is_number, self._is_text = (
                held.dtype.kind in "fiub",
                h5py.check_string_dtype(held.dtype) is not None,
            )
            self.is_readable = self.is_number or self._is_text
            if held.shape is None:
                raise DataError(f"{file}: {name} must hold values (got an empty dataset)")

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 0

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Read some of the values, text as str, after a check of whether the file can hold them."""
        if not self.is_readable:
            raise DataError(
                f"{self.file}: {self.name} must be numbers or text (got {brief(self.held.dtype)})"
            )
        self.check_claim()
        with self.guard():
            values = self.held[rows]
            if self._is_text:
                return np.array([as_text(one) for one in np.ravel(values)], dtype=str).reshape(
                    np.shape(values)
                )
            return np.asarray(values)

    def numbers(self, *ndim: int) -> np.ndarray:
        """Read all values as floats, of one of the numbers of dimensions given."""
        if not self.is_number or self.ndim not in ndim:
            wanted = " or ".join(
                ("one number", "a list of numbers", "a table of numbers")[one] for one in ndim
            )
            got = f"shape {self.shape}, {brief(self.held.dtype)}"
            raise DataError(f"{self.file}: {self.name} must be {wanted} (got {got})")
        return self[()].astype(float)

    def check_claim(self) -> None:
        """Refuse a dataset that declares more than a file of its size can hold: to read it would
        fill the memory.
        """
        with self.guard():
            size, declared = self.held.file.id.get_filesize(), self.held.nbytes
        if declared > MOST_PACKED * size:
            raise DataError(
                f"{self.file}: must hold the numbers it declares (got {declared} bytes of"
                f" {self.name} in {size} bytes of file); damaged?"
            )


class Group(HDF5Object):
    """A group of arrays and further groups."""

    def place(self, name: str) -> str:
        """Return the full name of what is called ``name`` in the group."""
        return f"{self.name.rstrip('/')}/{name}"

    def names(self) -> list[str]:
        """Return the names of what is in the group."""
        with self.guard():
            return [str(name) for name in self.held]

    def get(self, name: str) -> Group | Array | None:
        """Return what is called ``name``, which may be a path; None if nothing is."""
        with readable(self.file, f"{self.place(name)} cannot be read"):
            if self.held.get(name, getlink=True) is None:
                return None
            found = self.held[name]
            if not isinstance(found, h5py.Group | h5py.Dataset):
                raise DataError(
                    f"{self.file}: {self.place(name)} must be a group or a dataset (got a named"
                    " type)"
                )
            kind = Group if isinstance(found, h5py.Group) else Array
            return kind(found, self.file, self.place(name))

    def has_array(self, name: str) -> bool:
        """Return True if there is an array called ``name``."""
        return isinstance(self.get(name), Array)

    def array(self, name: str) -> Array:
        """Return the array called ``name``, which must be there."""
        found = self.get(name)
        if not isinstance(found, Array):
            kind = "nothing" if found is None else "a group"
            raise DataError(f"{self.file}: {self.place(name)} must be a dataset (got {kind})")
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
        with readable(self.file, f"a reference in {self.name} cannot be read"):
            found = (
                self.held.file[reference]
                if isinstance(reference, h5py.Reference) and reference
                else None
            )
            if not isinstance(found, h5py.Group) or found.name is None:
                raise DataError(
                    f"{self.file}: a reference in {self.name} must lead to a group of the file"
                )
            return Group(self.held.file[found.name], self.file, found.name)

    def walk(self) -> Iterator[Group]:
        """Yield this group and all groups in it, each once; soft links are not followed."""
        groups, seen = [self], set()
        while groups:
            group = groups.pop(0)
            with group.guard():
                address = h5py.h5o.get_info(group.held.id).addr
                if address in seen:  # a group may hold itself
                    continue
                seen.add(address)
                linked = [
                    name
                    for name in group.held
                    if isinstance(group.held.get(name, getlink=True), h5py.HardLink)
                ]
                inner = [name for name in linked if isinstance(group.held[name], h5py.Group)]
                groups += [Group(group.held[name], self.file, group.place(name)) for name in inner]
            yield group
