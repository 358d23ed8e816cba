"""A rehearsal of reading an HDF5 file, run as a script in a process of its own.

A damaged file can make the HDF5 library crash or loop for ever, which no exception handler helps
against. The rehearsal touches what a reader may touch: all objects, all attributes, and all values
of arrays that are not large. Whatever is raised is left to the reader to say.
"""

import sys

import h5py

LARGE = 2**24  # bytes of an array of which only the first row is read
MOST_PACKED = 2000  # bytes of numbers in a byte of file


def rehearse(path: str) -> None:
    """Read the file at ``path``, whatever is wrong with it."""
    with h5py.File(path, "r") as file:
        size = file.id.get_filesize()
        groups, seen = [file], set()
        while groups:
            group = groups.pop()
            address = h5py.h5o.get_info(group.id).addr
            if address in seen:
                continue
            seen.add(address)
            _try(dict, group.attrs)
            for name in _try(list, group) or ():
                if isinstance(_try(group.get, name, None, False, True), h5py.HardLink):
                    found = _try(group.get, name)
                    if isinstance(found, h5py.Group):
                        groups.append(found)
                    elif isinstance(found, h5py.Dataset):
                        _try(dict, found.attrs)
                        _try(_read, found, size)


def _read(held: h5py.Dataset, size: int) -> None:
    if held.is_virtual or held.external or held.nbytes > MOST_PACKED * size:
        return
    _ = held[()] if held.nbytes <= LARGE or not held.ndim else held[:1]


def _try(function, *arguments):
    try:
        return function(*arguments)
    except Exception:
        return None


if __name__ == "__main__":
    _try(rehearse, sys.argv[1])
