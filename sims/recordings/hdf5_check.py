"""A look through an HDF5 file before it is read, in a process of its own.

A damaged file can make the HDF5 library crash or loop for ever, which no exception handler helps
against; and links, external storage and virtual datasets can read any other file. The look touches
all objects, all attributes, and the values of arrays that are not large.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

LARGE = 2**24  # bytes of an array of which only the first row is read
MOST_PACKED = 2000  # bytes of numbers in a byte of file: more would fill the memory


def check_hdf5(path: Path) -> None:
    """Refuse a file that the library cannot read to its end, and one that leads to other files."""
    from biorrr.sims.data.files import check_regular, file_stamp
    from biorrr.sims.data.values import DataError

    check_regular(path)
    if said := _trouble(path, file_stamp(path) or ()):
        raise DataError(f"{path}: {said}")


@functools.lru_cache(maxsize=64)
def _trouble(path: Path, stamp: tuple[int, ...]) -> str:
    """Return what is wrong with a file, in words; it is tried once, until its ``stamp`` changes."""
    from biorrr.sims.data.files import run_apart

    output, trouble = run_apart(__file__, path)
    if trouble:
        return f"not a readable HDF5 file, damaged ({trouble})"
    return output.decode("utf-8", "replace").strip()


def look_through(path: str) -> str:
    """Return what is wrong with the file at ``path``, in words; nothing if it can be read."""
    import h5py

    try:
        file = h5py.File(path, "r")
    except Exception as error:
        return f"not a readable HDF5 file, perhaps damaged or truncated ({_line(error)})"
    size, groups, seen = file.id.get_filesize(), [file], set()
    while groups:
        group = groups.pop()
        try:
            address = h5py.h5o.get_info(group.id).addr
            if address in seen:  # a group may hold itself
                continue
            seen.add(address)
            dict(group.attrs)
            for name in group:
                link = group.get(name, getlink=True)
                if isinstance(link, h5py.SoftLink):  # within the file: NWB links its own objects
                    continue
                found = group[name] if isinstance(link, h5py.HardLink) else None
                is_array = isinstance(found, h5py.Dataset)
                if found is None or (is_array and (found.is_virtual or found.external)):
                    return (
                        f"all of it must be held in the file itself (got {group.name}/{name}, a"
                        " link, external storage or a virtual dataset, which can read any other"
                        " file); make a plain copy of it"
                    )
                if isinstance(found, h5py.Group):
                    groups.append(found)
                elif is_array:
                    dict(found.attrs)
                    if found.nbytes > MOST_PACKED * size:
                        return (
                            f"must hold the numbers it declares (got {found.nbytes} bytes of"
                            f" {found.name} in {size} bytes of file); damaged?"
                        )
                    _ = found[()] if found.nbytes <= LARGE or not found.ndim else found[:1]
        except Exception as error:
            return f"{group.name} cannot be read, perhaps damaged or truncated ({_line(error)})"
    return ""


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    print(look_through(sys.argv[1]))
