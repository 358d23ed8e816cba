"""Checkpoints: results of finished items, kept until all of a run is finished, so that a kill loses
none of them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from biorrr.errors import InputTypeError
from biorrr.files import whole_file
from biorrr.sims.lab.files import inside, open_inside
from biorrr.sims.lazy import circuits, np, xr

IDENTITY = "identity"


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of one run, one file or two for each item.

    Parameters
    ----------
    place
        Folder of the files; None keeps nothing.
    every
        Seconds from one checkpoint of a circuit to the next.
    """

    place: Path | None = None
    every: float = 30.0

    def run_options(self, name: str) -> dict[str, Any]:
        """Return the options of a circuit's ``run`` by which it keeps checkpoints and goes on from
        them.
        """
        if self.place is None:
            return {}
        return {"checkpoint": circuits.Checkpoint(inside(self.place, f"{name}.npz"), self.every)}

    def keep(self, name: str, identity: Mapping[str, Any], result: Any) -> Any:
        """Keep the result of an item, and return it as it will be read; ``identity`` says what it
        is the result of.

        A run is kept by its own checkpoint, which the circuit has written.
        """
        if isinstance(result, circuits.Run):
            return circuits.Run(in_memory_order(result.data))
        path = None if self.place is None else self.place / f"{name}-result"
        if isinstance(result, xr.Dataset):
            if path is None:
                return in_memory_order(result)
            self._keep_dataset(path.with_suffix(".nc"), identity, result)
            return self.kept(name, identity)
        if not isinstance(result, Mapping):
            raise InputTypeError(
                f"{identity['function']}: must return a Run, a Dataset, or arrays and numbers by"
                f" name (got {type(result).__name__})"
            )
        arrays = {key: np.asarray(value) for key, value in result.items()}
        if path is not None:
            with whole_file(path.with_suffix(".npz")) as partial, partial.open("wb") as file:
                np.savez(file, **{IDENTITY: np.array(json.dumps(dict(identity)))}, **arrays)  # type: ignore[arg-type]
        return arrays

    def _keep_dataset(self, path: Path, identity: Mapping[str, Any], result: xr.Dataset) -> None:
        from biorrr.circuit.results.netcdf import write_netcdf

        with whole_file(path) as partial:
            write_netcdf(result.assign_attrs({IDENTITY: json.dumps(dict(identity))}), partial)

    def kept(self, name: str, identity: Mapping[str, Any]) -> Any:
        """Return the result of an item that was finished earlier, or None."""
        if self.place is None:
            return None
        for ending, read in ((".npz", _read_arrays), (".nc", _read_dataset)):
            path = inside(self.place, f"{name}-result{ending}")
            if not path.exists():
                continue
            try:
                with open_inside(self.place, path.name) as file:
                    result, found = read(file)
            except (
                Exception
            ) as error:  # a damaged file makes zipfile, HDF5, NumPy and json raise a dozen kinds
                raise circuits.CheckpointError(
                    f"{path}: not a checkpoint, or damaged or truncated; delete it to start over"
                ) from error
            if found != dict(identity):
                raise circuits.CheckpointError(
                    f"{path}: belongs to another run; give what it was made with, or delete it"
                )
            return result
        return None


def _read_arrays(file: BinaryIO) -> tuple[dict[str, np.ndarray], Any]:
    with np.load(file, allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    return arrays, json.loads(str(arrays.pop(IDENTITY)))


def _read_dataset(file: BinaryIO) -> tuple[xr.Dataset, Any]:
    from biorrr.circuit.results.netcdf import read_netcdf

    dataset = read_netcdf(file)
    return dataset, json.loads(dataset.attrs.pop(IDENTITY))


def in_memory_order(dataset: xr.Dataset) -> xr.Dataset:
    """Return the dataset with its arrays as they would come from another process: sums then run in
    the same order.
    """
    return dataset.map(functools.partial(np.asarray, order="C"), keep_attrs=True)


NOT_KEPT = Checkpoints()
