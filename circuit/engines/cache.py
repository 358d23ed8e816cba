"""Compiled circuits, kept in the user's cache folder: one library each, named by all that shapes
the code.

The name ends with the checksum of the library, so that what is cut short or changed is never taken
for one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import platformdirs

LARGEST = 512 * 2**20  # bytes; the least recently used go first


def cache_folder() -> Path:
    """Return the folder of compiled circuits, in $BIORRR_CACHE or the user's cache folder.

    Where users share $BIORRR_CACHE, each has a folder of their own in it: libraries and locks are
    never shared.
    """
    root = os.environ.get("BIORRR_CACHE") or platformdirs.user_cache_dir("biorrr")
    first = Path(root).expanduser().absolute() / "circuits"
    with suppress(OSError):
        if first.stat().st_uid != os.getuid():
            return first.with_name(f"circuits-{os.getuid()}")
    return first


def find(key: str) -> Path | None:
    """Return the library kept under ``key``; None if there is none, it is damaged or another user
    may have made it.
    """
    with suppress(OSError):
        folder = cache_folder()
        for library in folder.glob(f"circuit-{key}-*"):
            if _ours(folder) and _ours(library) and library == _name(key, library):
                os.utime(library)
                return library
    return None


def find_or_build(key: str, build: Callable[[Path], None]) -> Path:
    """Return the library kept under ``key``; if there is none, ``build(path)`` leaves it at a path
    in the cache.

    Two processes that want the same circuit build it once: the second waits for the first.
    """
    if found := find(key):
        return found
    from filelock import FileLock  # most runs find their library, and go without it

    folder = cache_folder()
    aside = folder / f".building-{key}"  # renamed once it is whole
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        with FileLock(folder / f"{key}.lock"):
            if found := find(key):
                return found
            try:
                build(aside)
                aside.chmod(0o700)
                library = aside.rename(_name(key, aside))
            finally:
                aside.unlink(missing_ok=True)
            _make_room(keep=library)
            return library
    except OSError as error:
        raise OSError(
            error.errno,
            f"the cache of compiled circuits cannot be used ({error.strerror}); free some room"
            " there, or set $BIORRR_CACHE to another folder",
            str(folder),
        ) from error


def _name(key: str, library: Path) -> Path:
    """Return the path under which ``library`` belongs in its folder."""
    return library.with_name(f"circuit-{key}-{hashlib.sha256(library.read_bytes()).hexdigest()}.so")


def _ours(path: Path) -> bool:
    """Return True if only this user can have written ``path``: it is theirs, and closed to others,
    as no link is.
    """
    facts = path.lstat()
    return facts.st_uid == os.getuid() and not facts.st_mode & 0o022


def size() -> int:
    """Return the bytes that compiled circuits take up."""
    return sum(facts.st_size for facts in _facts().values())


def _make_room(keep: Path) -> None:
    """Delete the libraries that have not been used for longest."""
    kept, total = _facts(), 0
    for library in sorted(kept, key=lambda one: kept[one].st_mtime, reverse=True):
        total += kept[library].st_size
        if total > LARGEST and library != keep:
            library.unlink(missing_ok=True)
            library.with_name(f"{library.name.split('-')[1]}.lock").unlink(missing_ok=True)


def _facts() -> dict[Path, os.stat_result]:
    """Return the facts about each library in the cache."""
    kept = {}
    for library in cache_folder().glob("circuit-*"):
        with suppress(OSError):  # another process has deleted it
            kept[library] = library.stat()
    return kept
