"""MediaMill: features of video frames and the concepts seen in them, in Mulan's ARFF format."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.kinds import MediaMill
from biorrr.sims.data.source import Source, SourceFile

# Mulan's home offers the set as a .rar archive, which Python cannot open, and publishes no checksum of it:
# the user unpacks it once.
SOURCE = Source(
    summary="120 visual features of video frames -> 101 concepts (or swap=true: concepts -> features)",
    home="https://mulan.sourceforge.net/datasets-mlc.html",
    licence="none stated; for research",
    citation="Snoek, Worring, van Gemert, Geusebroek & Smeulders 2006, The challenge problem for automated detection "
    "of 101 semantic concepts in multimedia, ACM Multimedia, p. 421",
    files=(
        SourceFile(
            "mediamill/mediamill.arff", "https://sourceforge.net/projects/mulan/files/datasets/mediamill.rar (unpacked)"
        ),
    ),
)

ATTRIBUTE = re.compile(r"@attribute\s+(?P<name>'[^']+'|\S+)\s+(?P<kind>.+)", re.IGNORECASE)


SOURCES = {"mediamill": SOURCE}


def read(value: MediaMill) -> Dataset:
    """Return features (T, 120) and concepts (T, 101), each 0 or 1; the other way round with ``swap``."""
    features, concepts, feature_names, concept_names = read_arff(SOURCE.files[0].fetch())
    data = Dataset(
        "mediamill",
        features,
        concepts,
        x_names=feature_names,
        y_names=concept_names,
        views=("visual features", "concepts"),
        source=SOURCE.home,
        licence=SOURCE.licence,
        citation=SOURCE.citation,
    )
    return data.swapped() if value.swap else data


def read_arff(path: Path) -> tuple[np.ndarray, np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Numeric attributes (T, 120), {0, 1} attributes (T, 101) and the names of both, of a dense ARFF file."""
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
