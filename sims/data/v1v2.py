"""Spike counts of neurons in visual areas V1 and V2 of a macaque, recorded together (Semedo et al. 2019)."""

from __future__ import annotations

import numpy as np

from biorrr.sims.data.dataset import DataError, Dataset
from biorrr.sims.data.kinds import V1V2
from biorrr.sims.data.source import Source, SourceFile
from biorrr.sims.data.stores import open_store

BINS_PER_TRIAL = 10  # of 100 ms; rows run trial by trial

SOURCE = Source(
    summary="79 V1 neurons -> 31 V2 neurons (or target=V1: 31 other V1 neurons), 400 trials x 10 bins",
    home="https://github.com/joao-semedo/communication-subspace",
    licence="MIT",
    citation="Semedo, Zandvakili, Machens, Yu & Kohn 2019, Cortical areas interact through a communication subspace, "
    "Neuron 102:249",
    files=(
        SourceFile(
            "v1v2/sample_data.mat",
            "https://raw.githubusercontent.com/joao-semedo/communication-subspace/"
            "fd0e408ba2244d9369bda59f326480386c770e5c/mat_sample/sample_data.mat",
            "37cd032962360baf5f6f7b853fea5739e6bfd9038520ec6247d9932c51634ec1",
        ),
    ),
)


SOURCES = {"v1v2": SOURCE}


def read(value: V1V2) -> Dataset:
    """Return residual spike counts: X (4000, 79) of V1 source neurons, Y (4000, 31) of V2 or of other V1 neurons."""
    path, target = SOURCE.files[0].fetch(), value.target
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
        source=SOURCE.home,
        licence=SOURCE.licence,
        citation=SOURCE.citation,
    )
