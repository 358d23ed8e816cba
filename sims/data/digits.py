"""Handwritten digits, 8 x 8 pixels, that ship with scikit-learn."""

from __future__ import annotations

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
    from sklearn.datasets import load_digits

    digits = load_digits()
    return Dataset(
        "digits",
        X=digits.data / 16,  # the files count black dots in 4 x 4 squares
        Y=np.eye(10)[digits.target],
        pixels=(8, 8),
        x_names=tuple(digits.feature_names),
        y_names=tuple(map(str, range(10))),
        source=SOURCE.home,
        licence=SOURCE.licence,
        citation=SOURCE.citation,
    )
