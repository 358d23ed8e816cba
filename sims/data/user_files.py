"""The user's own X and Y: in one file or folder that holds both, or each in a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.kinds import Arrays
from biorrr.sims.data.stores import Store, open_store
from biorrr.sims.data.values import DataError

OWN: dict[str, Any] = {"licence": "your own", "citation": "your own"}


def read_arrays(value: Arrays) -> Dataset:
    """Read X and Y."""
    with open_store(Path(value.file)) as store:
        if value.y is None:
            if store.is_single:
                raise DataError(f"y: {value.file} holds one array, X; name the file of Y with --y")
            store.require(("X", "Y"))
            return _dataset(value, (store, "X"), (store, "Y"))
        with open_store(Path(value.y)) as other:
            for one in (store, other):
                if not one.is_single:
                    raise DataError(f"{one.path}: must hold one array beside another file (got {one.described})")
            return _dataset(value, (store, ""), (other, ""))


def _dataset(value: Arrays, x: tuple[Store, str], y: tuple[Store, str]) -> Dataset:
    (X, x_names), (Y, y_names) = ((store.read(name), store.column_names(name)) for store, name in (x, y))
    return Dataset(str(value), X, Y, x_names=x_names, y_names=y_names, source=str(value), **OWN)
