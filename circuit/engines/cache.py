"""Compiled circuits, kept in the user's cache folder: one folder each, named by all that shapes the code."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import platformdirs
from filelock import FileLock

LARGEST = 512 * 2**20  # bytes; the least recently used go first
_PROGRAM, _SEAL, _BUILDING = "circuit", "seal.json", ".building-"
_LONGEST_BUILD = 3600  # seconds; a build takes ten


def cache_folder() -> Path:
    """Return the folder of compiled circuits, in $BIORRR_CACHE or the user's cache folder.

    Where users share $BIORRR_CACHE, each has a folder of their own in it: programs and locks are never shared.
    """
    root = os.environ.get("BIORRR_CACHE") or platformdirs.user_cache_dir("biorrr")
    first = Path(root).expanduser().absolute() / "circuits"
    with suppress(OSError):
        if first.stat().st_uid != os.getuid():
            return first.with_name(f"circuits-{os.getuid()}")
    return first


def key_of(description: dict) -> str:
    """Name of the circuit that ``description`` (plain JSON values) describes."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:32]


def find(key: str) -> Path | None:
    """Return the program kept under ``key``; None if there is none, it is damaged or another user may have made it."""
    folder = _place(key)
    try:
        if not all(_ours(path) for path in (folder, folder / _SEAL, folder / _PROGRAM)):
            return None
        seal = json.loads((folder / _SEAL).read_text())
        program = folder / _PROGRAM
        if seal["sha256"] != hashlib.sha256(program.read_bytes()).hexdigest():
            return None
        os.utime(folder)
    except (OSError, ValueError, KeyError):
        return None
    return program


def find_or_build(key: str, build: Callable[[Path], None]) -> Path:
    """Return the program kept under ``key``; if there is none, ``build(folder)`` leaves `circuit` in a new folder.

    Two processes that want the same circuit build it once: the second waits for the first.
    """
    for tries_left in (2, 1, 0):
        if found := find(key):
            return found
        root = cache_folder()
        try:
            root.mkdir(parents=True, exist_ok=True)
            if root.stat().st_uid != os.getuid():
                raise PermissionError(errno.EPERM, "it belongs to another user")
            with FileLock(root / f"{key}.lock"):
                return find(key) or _build(key, root, build)
        except Exception as error:
            if not root.exists() and tries_left:
                continue  # somebody has deleted the cache meanwhile
            if isinstance(error, OSError):
                raise OSError(
                    error.errno,
                    f"the cache of compiled circuits cannot be used ({error.strerror}); free some room there, or set "
                    "$BIORRR_CACHE to another folder",
                    str(root),
                ) from error
            raise
    raise AssertionError("unreachable")


def _build(key: str, root: Path, build: Callable[[Path], None]) -> Path:
    # Built aside and renamed, so that a build cut short leaves nothing that looks finished.
    aside = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=root))
    place = _place(key)
    try:
        build(aside)
        digest = hashlib.sha256((aside / _PROGRAM).read_bytes()).hexdigest()
        (aside / _SEAL).write_text(json.dumps({"sha256": digest}))
        for path in (aside / _SEAL, aside / _PROGRAM):
            path.chmod(path.stat().st_mode & ~0o022)
        shutil.rmtree(place, ignore_errors=True)
        aside.rename(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    _make_room(root, keep=place.name)
    return place / _PROGRAM


def _place(key: str) -> Path:
    """Return the folder in which the program of ``key`` is kept."""
    return cache_folder() / key


def _ours(path: Path) -> bool:
    """Return True if only this user can have written ``path``: it is theirs, no link, and closed to others."""
    facts = path.lstat()
    return facts.st_uid == os.getuid() and not stat.S_ISLNK(facts.st_mode) and not facts.st_mode & 0o022


def clear() -> tuple[int, int]:
    """Delete all compiled circuits; how many there were, and their bytes."""
    root = cache_folder()
    folders = [f for f in root.glob("*") if f.is_dir()] if root.exists() else []
    size = sum(_bytes_in(folder) for folder in folders)
    shutil.rmtree(root, ignore_errors=True)
    return len(folders), size


def size() -> int:
    """Return the bytes that compiled circuits take up."""
    return _bytes_in(cache_folder())


def _make_room(root: Path, keep: str) -> None:
    """Delete what has not been used for longest, and what builds that were cut short have left."""
    ages = {}
    for folder in root.iterdir():
        with suppress(OSError):  # another process has deleted or renamed it
            if folder.is_dir():
                ages[folder] = time.time() - folder.stat().st_mtime
    total = 0
    for folder in sorted(ages, key=ages.__getitem__):
        building = folder.name.startswith(_BUILDING)
        total += 0 if building else _bytes_in(folder)
        if ages[folder] > _LONGEST_BUILD if building else total > LARGEST and folder.name != keep:
            shutil.rmtree(folder, ignore_errors=True)
            (root / f"{folder.name}.lock").unlink(missing_ok=True)


def _bytes_in(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # another process is at work there
                total += (Path(place) / name).stat().st_size
    return total
