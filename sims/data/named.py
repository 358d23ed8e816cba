"""Named data sets: where they come from, under which terms, and how their files are found or
downloaded.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from biorrr.files import whole_file
from biorrr.sims.data.values import Data, DataError
from biorrr.sims.lab.settings import key_of


def folders() -> list[Path]:
    """Return the folders searched for data files, in order: ``$BIORRR_DATA`` where set, then the
    user's cache.
    """
    import platformdirs

    named = os.environ.get("BIORRR_DATA")
    return [
        *([Path(named).expanduser()] if named else []),
        platformdirs.user_cache_path("biorrr") / "data",
    ]


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
        Checksum of what the url gives. A file without one is never downloaded: the user is told to
        fetch it.
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
            raise DataError(
                f"{self.path}: not found, and has no published checksum to download it by; {remedy}"
            )
        try:
            self._download(target)
        except ValueError as error:  # pooch found another checksum
            raise DataError(
                f"{self.path}: {self.url} returned a different file from the one expected"
                f" ({error}); {remedy}"
            ) from error
        except (OSError, KeyError, tarfile.TarError) as error:
            reason = type(error).__name__
            raise DataError(
                f"{self.path}: not found, and the download failed ({reason}); {remedy}"
            ) from error
        return target

    def _download(self, target: Path) -> None:
        import pooch

        pooch.get_logger().setLevel("WARNING")
        name = Path(self.url).name if self.member else target.name
        target.parent.mkdir(parents=True, exist_ok=True)
        print(f"downloading {self.url}", file=sys.stderr)
        downloaded = pooch.retrieve(
            self.url,
            f"sha256:{self.sha256}",
            fname=name,
            path=target.parent,
            progressbar=sys.stderr.isatty(),
        )
        if self.member:
            with tarfile.open(downloaded) as archive:
                content = archive.extractfile(self.member)
                if content is None:
                    raise KeyError(self.member)
                with whole_file(target) as partial, partial.open("wb") as copy:
                    shutil.copyfileobj(content, copy)


@dataclass(frozen=True)
class Origin:
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


@dataclass(frozen=True, kw_only=True)
class NamedData(Data):
    """Base of the named data sets."""

    origin: ClassVar[Origin]

    def __str__(self) -> str:
        """Return the name, or the table that options and configs hold, without what is usual."""
        usual = vars(type(self)())
        chosen = {name: value for name, value in vars(self).items() if value != usual[name]}
        if not chosen:
            return self.name
        told = [f"{key_of(name)} = {json.dumps(value)}" for name, value in chosen.items()]
        return f'{{name = "{self.name}", {", ".join(told)}}}'
