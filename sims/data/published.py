"""Published data in formats of their own: digits, spike counts in V1 and V2, features and concepts of video frames."""

from __future__ import annotations

import importlib.util
import re
from itertools import chain
from pathlib import Path

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.kinds import V1V2, Digits, MediaMill
from biorrr.sims.data.sources import SOURCES
from biorrr.sims.data.stores import open_store

BINS_PER_TRIAL = 10  # of 100 ms; rows of V1 and V2 run trial by trial
ATTRIBUTE = re.compile(r"@attribute\s+(?P<name>'[^']+'|\S+)\s+(?P<kind>.+)", re.IGNORECASE)


def read_digits(_: Digits) -> Dataset:
    """Return pixels in [0, 1], (1797, 64), and one-hot digits, (1797, 10)."""
    values = np.loadtxt(_digits_file(), delimiter=",")
    return Dataset(
        "digits",
        X=values[:, :64] / 16,  # the file counts black dots in 4 x 4 squares
        Y=np.eye(10)[values[:, 64].astype(int)],
        pixels=(8, 8),
        x_names=tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
        y_names=tuple(map(str, range(10))),
    )


def _digits_file() -> Path:
    """Return the file in scikit-learn's installation, which takes a second to import and is not needed otherwise."""
    (installed,) = importlib.util.find_spec("sklearn").submodule_search_locations  # type: ignore[union-attr,misc]
    return Path(installed) / "datasets" / "data" / "digits.csv.gz"


def read_v1v2(value: V1V2) -> Dataset:
    """Return residual spike counts: X (4000, 79) of V1 source neurons, Y (4000, 31) of V2 or of other V1 neurons."""
    path, target = SOURCES["v1v2"].files[0].fetch(), value.target
    with open_store(path) as store:
        store.require(("X", f"Y_{target}"))
        X, Y = store.read("X"), store.read(f"Y_{target}")
    if X.shape != (4000, 79) or Y.shape != (4000, 31):
        raise DataError(f"{path}: must hold X (4000, 79) and Y_{target} (4000, 31) (got {X.shape} and {Y.shape})")
    return Dataset(
        "v1v2",
        X,
        Y,
        groups=np.arange(len(X)) // BINS_PER_TRIAL,
        x_names=tuple(f"V1 source {i + 1}" for i in range(X.shape[1])),
        y_names=tuple(f"{target} target {i + 1}" for i in range(Y.shape[1])),
    )


def read_mediamill(value: MediaMill) -> Dataset:
    """Return features (T, 120) and concepts (T, 101), each 0 or 1; the other way round with ``swap``."""
    features, concepts, feature_names, concept_names = read_arff(SOURCES["mediamill"].files[0].fetch())
    data = Dataset(
        "mediamill",
        features,
        concepts,
        x_names=feature_names,
        y_names=concept_names,
        views=("visual features", "concepts"),
    )
    return data.swapped() if value.swap else data


def read_arff(path: Path) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Return numeric attributes (T, 120), {0, 1} attributes (T, 101) and the names of both from a dense ARFF file."""
    numeric: dict[int, str] = {}
    binary: dict[int, str] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                line = line.strip()
                if line.lower() == "@data":
                    break
                if attribute := ATTRIBUTE.match(line):
                    column = len(numeric) + len(binary)
                    kind = attribute["kind"].replace(" ", "").lower()
                    columns = numeric if kind in ("numeric", "real") else binary if kind == "{0,1}" else None
                    if columns is None:
                        raise DataError(f"{path}: attributes must be numeric or {{0,1}} (got {line!r})")
                    columns[column] = attribute["name"].strip("'")
            if (len(numeric), len(binary)) != (120, 101):
                raise DataError(
                    f"{path}: must have 120 numeric features and 101 {{0,1}} classes (got {len(numeric)} and "
                    f"{len(binary)}); is it another set, or truncated?"
                )
            first = next((line for line in file if line.strip() and not line.startswith("%")), None)
            if first is None:
                raise DataError(f"{path}: has no row after @data; is it truncated?")
            if first.lstrip().startswith("{"):
                raise DataError(f"{path}: rows must be dense, 221 values each (got a sparse row)")
            values = np.loadtxt(chain([first], file), delimiter=",", comments="%", ndmin=2)
    except DataError:
        raise
    except (OSError, ValueError) as error:  # UnicodeDecodeError is a ValueError
        raise DataError(f"{path}: not a readable ARFF file, perhaps damaged or truncated ({error})") from error
    if values.shape[1] != 221:
        raise DataError(f"{path}: rows must have 221 values (got {values.shape[1]})")
    features, concepts = values[:, list(numeric)], values[:, list(binary)]
    if not np.isin(concepts, (0, 1)).all():
        raise DataError(f"{path}: classes must be 0 or 1; the file is damaged")
    return features, concepts, tuple(numeric.values()), tuple(binary.values())


READERS = {"digits": read_digits, "v1v2": read_v1v2, "mediamill": read_mediamill}
