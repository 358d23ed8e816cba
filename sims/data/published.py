"""Published data sets: where they come from, under which terms, how their files are found or
downloaded, and those in formats of their own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.values import Data, DataError
from biorrr.sims.lab.settings import key_of, option
from biorrr.sims.lazy import np

BINS_PER_TRIAL = 10  # of 100 ms; rows of V1 and V2 run trial by trial
FEATURES, CONCEPTS = 120, 101  # of MediaMill


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

    @classmethod
    def each(cls, folder: str, url: str, checksums: Mapping[str, str]) -> tuple[SourceFile, ...]:
        """Return files below ``url``, each with its checksum by its name."""
        return tuple(cls(f"{folder}/{name}", url + name, sha) for name, sha in checksums.items())

    @classmethod
    def of_archive(
        cls, folder: str, url: str, sha256: str, members: Sequence[str]
    ) -> tuple[SourceFile, ...]:
        """Return the files that are ``members`` of one archive."""
        return tuple(cls(f"{folder}/{Path(one).name}", url, sha256, one) for one in members)

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
        except (OSError, LookupError, tarfile.TarError) as error:
            reason = type(error).__name__
            raise DataError(
                f"{self.path}: not found, and the download failed ({reason}); {remedy}"
            ) from error
        return target

    def _download(self, target: Path) -> None:
        import pooch

        pooch.get_logger().setLevel("WARNING")
        target.parent.mkdir(parents=True, exist_ok=True)
        print(f"downloading {self.url}", file=sys.stderr)
        downloaded = pooch.retrieve(
            self.url,
            f"sha256:{self.sha256}",
            fname=Path(self.url).name if self.member else target.name,
            path=target.parent,
            processor=pooch.Untar([self.member]) if self.member else None,
            progressbar=sys.stderr.isatty(),
        )
        if self.member:
            Path(downloaded[0]).replace(target)


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


class Digits(NamedData):
    """Handwritten digits that ship with scikit-learn: pixels in [0, 1], (1797, 64), and one-hot
    digits, (1797, 10).
    """

    set_name = "digits"
    origin = Origin(
        summary="1,797 handwritten digits, 8 x 8 pixels -> one of 10 digits",
        home="ships with scikit-learn (UCI, Optical Recognition of Handwritten Digits)",
        licence="CC BY 4.0",
        citation="Alpaydin & Kaynak 1998, Cascading classifiers, Kybernetika 34:369",
    )

    def load(self) -> Dataset:
        """Read the samples."""
        # From scikit-learn's installation, without importing it, which takes a second.
        (installed,) = importlib.util.find_spec("sklearn").submodule_search_locations  # type: ignore[union-attr,misc]
        values = np.loadtxt(Path(installed) / "datasets" / "data" / "digits.csv.gz", delimiter=",")
        return Dataset(
            "digits",
            X=values[:, :64] / 16,  # the file counts black dots in 4 x 4 squares
            Y=np.eye(10)[values[:, 64].astype(int)],
            pixels=(8, 8),
        )


class V1V2(NamedData):
    """Residual spike counts (Semedo et al. 2019): 79 V1 neurons, and 31 V2 neurons or 31 other V1
    neurons.
    """

    set_name, source = "v1v2", "V1"
    origin = Origin(
        summary=(
            "79 V1 neurons -> 31 V2 neurons (or target=V1: 31 other V1 neurons), 400 trials x 10"
            " bins"
        ),
        home="https://github.com/joao-semedo/communication-subspace",
        licence="MIT",
        citation=(
            "Semedo, Zandvakili, Machens, Yu & Kohn 2019, Cortical areas interact through a"
            " communication subspace, Neuron 102:249"
        ),
        files=(
            SourceFile(
                "v1v2/sample_data.mat",
                "https://raw.githubusercontent.com/joao-semedo/communication-subspace/"
                "fd0e408ba2244d9369bda59f326480386c770e5c/mat_sample/sample_data.mat",
                "37cd032962360baf5f6f7b853fea5739e6bfd9038520ec6247d9932c51634ec1",
            ),
        ),
    )
    target: str = option("V2", "area that is predicted", choices=("V1", "V2"))

    def load(self) -> Dataset:
        """Read the samples."""
        from biorrr.sims.data.arrays import read_mat

        path = self.origin.files[0].fetch()
        X, Y = read_mat(path, ("X", f"Y_{self.target}")).values()
        if X.shape != (4000, 79) or Y.shape != (4000, 31):
            raise DataError(
                f"{path}: must hold X (4000, 79) and Y_{self.target} (4000, 31) (got {X.shape} and"
                f" {Y.shape})"
            )
        return Dataset("v1v2", X, Y, groups=np.arange(len(X)) // BINS_PER_TRIAL)


class MediaMill(NamedData):
    """Features of video frames, (T, 120), and the concepts seen in them, (T, 101), each 0 or 1."""

    # Mulan's home offers the set as a .rar archive, which Python cannot open, and publishes no
    # checksum of it: the user unpacks it once.
    set_name = "mediamill"
    origin = Origin(
        summary="120 visual features of video frames -> 101 concepts",
        home="https://mulan.sourceforge.net/datasets-mlc.html",
        licence="none stated; for research",
        citation=(
            "Snoek, Worring, van Gemert, Geusebroek & Smeulders 2006, The challenge problem for"
            " automated detection of 101 semantic concepts in multimedia, ACM Multimedia, p. 421"
        ),
        files=(
            SourceFile(
                "mediamill/mediamill.arff",
                "https://sourceforge.net/projects/mulan/files/datasets/mediamill.rar (unpacked)",
            ),
        ),
    )

    def load(self) -> Dataset:
        """Read the samples."""
        from biorrr.sims.data.files import readable

        path = self.origin.files[0].fetch()
        with readable(path, "not a readable ARFF file"), path.open(encoding="utf-8") as file:
            rows = [line for line in file if line.strip() and line[0] not in "@%"]
            values = np.loadtxt(rows, delimiter=",", ndmin=2) if rows else np.empty((0, 0))
        if values.shape[1] != FEATURES + CONCEPTS:
            raise DataError(
                f"{path}: must have rows of {FEATURES} features and {CONCEPTS} classes (got shape"
                f" {values.shape}); another set, or truncated?"
            )
        features, concepts = values[:, :FEATURES], values[:, FEATURES:]
        if not np.isin(concepts, (0, 1)).all():
            raise DataError(f"{path}: classes must be 0 or 1; the file is damaged")
        return Dataset("mediamill", features, concepts, views=("visual features", "concepts"))
