"""Handwritten digits, 8 x 8 pixels, that ship with scikit-learn."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.kinds import Digits
from biorrr.sims.data.source import Source

SOURCE = Source(
    summary="1,797 handwritten digits, 8 x 8 pixels -> one of 10 digits",
    home="ships with scikit-learn (UCI, Optical Recognition of Handwritten Digits)",
    licence="CC BY 4.0",
    citation="Alpaydin & Kaynak 1998, Cascading classifiers, Kybernetika 34:369",
)


SOURCES = {"digits": SOURCE}


def read(_: Digits) -> Dataset:
    """Return pixels in [0, 1], (1797, 64), and one-hot digits, (1797, 10)."""
    values = np.loadtxt(_file(), delimiter=",")
    return Dataset(
        "digits",
        X=values[:, :64] / 16,  # the file counts black dots in 4 x 4 squares
        Y=np.eye(10)[values[:, 64].astype(int)],
        pixels=(8, 8),
        x_names=tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8)),
        y_names=tuple(map(str, range(10))),
        source=SOURCE.home,
        licence=SOURCE.licence,
        citation=SOURCE.citation,
    )


def _file() -> Path:
    """Return the file in scikit-learn's installation, which takes a second to import and is not needed otherwise."""
    (installed,) = importlib.util.find_spec("sklearn").submodule_search_locations  # type: ignore[union-attr,misc]
    return Path(installed) / "datasets" / "data" / "digits.csv.gz"
