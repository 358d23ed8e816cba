"""Files of data: where those of named data sets come from, and checks that hold for every file that is read."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from biorrr.sims.data.values import DataError
from biorrr.sims.lab.files import whole_file


def folders() -> list[Path]:
    """Return the folders searched for data files, in order: ``$BIORRR_DATA`` where set, then the user's cache."""
    import platformdirs

    named = os.environ.get("BIORRR_DATA")
    return [*([Path(named).expanduser()] if named else []), platformdirs.user_cache_path("biorrr") / "data"]


@dataclass(frozen=True)
class SourceFile:
    """One file of a data set.

    Parameters
    ----------
    path
        Where it lies below a data folder, e.g. ``mnist/t10k-images-idx3-ubyte.gz``.
    url
        Where it is downloaded from.
    sha256
        Checksum of what the url gives. A file without one is never downloaded: the user is told to fetch it.
    member
        The file's path inside the downloaded tar archive, where it comes in one.
    """

    path: str
    url: str
    sha256: str | None = None
    member: str | None = None

    def found(self) -> Path | None:
        """Look for the file in the data folders; None where it is in none."""
        return next((path for folder in folders() if (path := folder / self.path).is_file()), None)

    def fetch(self) -> Path:
        """Find the file, or download it into the user's cache."""
        if (path := self.found()) is not None:
            return path
        target = folders()[-1] / self.path
        what = f"{self.member} from {self.url}" if self.member else self.url
        remedy = f"get {what} and put it at {target} or at $BIORRR_DATA/{self.path}"
        if self.sha256 is None:
            raise DataError(f"{self.path}: not found, and has no published checksum to download it by; {remedy}")
        try:
            self._download(target)
        except ValueError as error:  # pooch found another checksum
            raise DataError(
                f"{self.path}: {self.url} returned a different file from the one expected ({error}); {remedy}"
            ) from error
        except (OSError, KeyError, tarfile.TarError) as error:
            reason = type(error).__name__
            raise DataError(f"{self.path}: not found, and the download failed ({reason}); {remedy}") from error
        return target

    def _download(self, target: Path) -> None:
        import pooch

        pooch.get_logger().setLevel("WARNING")
        name = Path(self.url).name if self.member else target.name
        target.parent.mkdir(parents=True, exist_ok=True)
        print(f"downloading {self.url}", file=sys.stderr)
        downloaded = pooch.retrieve(
            self.url, f"sha256:{self.sha256}", fname=name, path=target.parent, progressbar=sys.stderr.isatty()
        )
        if self.member:
            with tarfile.open(downloaded) as archive:
                content = archive.extractfile(self.member)
                if content is None:
                    raise KeyError(self.member)
                with whole_file(target) as partial, partial.open("wb") as copy:
                    shutil.copyfileobj(content, copy)


@dataclass(frozen=True)
class Source:
    """Origin of a data set.

    Parameters
    ----------
    summary
        One line: what X and Y are.
    home, licence, citation
        Where it comes from, under which terms, what to cite.
    files
        The files that make it up; empty where it needs none.
    """

    summary: str
    home: str
    licence: str
    citation: str
    files: tuple[SourceFile, ...] = ()


def check_regular(path: Path) -> None:
    """Refuse whatever is no regular file, such as a named pipe, whose reader would wait for ever."""
    try:
        str(path).encode()
        mode = os.stat(path).st_mode
    except UnicodeEncodeError:
        raise DataError(
            f"{os.fsencode(path)!r}: the name of a data file must be UTF-8, since config.toml holds it; rename it"
        ) from None
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        why = "no such file" if missing else getattr(error, "strerror", None) or str(error)
        raise DataError(f"{path}: {why}; data are a name that `biorrr data` lists, or a file") from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise DataError(f"{path}: must be a regular file (got {what})")


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading."""
    check_regular(path)
    # Not to wait if it has become a pipe since.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")


def file_stamp(path: Path) -> tuple[int, ...] | None:
    """Return numbers that change when the file at ``path`` is written or replaced; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def check_stamps(stamps: Mapping[Path, tuple[int, ...] | None]) -> None:
    """Refuse to go on if one of these files was written to or replaced since its stamp was taken.

    One that was deleted is still there for those who have it open.
    """
    for path, stamp in stamps.items():
        if file_stamp(path) not in (stamp, None):
            raise DataError(
                f"{path}: must stay as it is while it is in use (got another file, or one that was written to); "
                "start again when it is whole"
            )
