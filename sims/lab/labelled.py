"""Labelled arrays made of the results of many items, and items made of coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
import xarray as xr

from biorrr.circuit.results.dataset import leave_dask_out
from biorrr.errors import InputTypeError

leave_dask_out()


@dataclass(frozen=True)
class Grid:
    """All combinations of coordinates.

    Parameters
    ----------
    coords
        The dimension and the values of each coordinate, by name.
    """

    coords: Mapping[str, tuple[str, list[Any]]]

    @classmethod
    def over(cls, over: Mapping[str, Any]) -> Grid:
        """Make a grid of values by name, each a dimension of its own, or of a dimension and values
        where coordinates share one.
        """
        coords = {}
        for name, values in over.items():
            if isinstance(values, tuple) and len(values) == 2 and not is_item(values[1]):
                coords[name] = values[0], [*values[1]]
            else:
                coords[name] = name, [*dict.fromkeys(values)]
            for value in coords[name][1]:
                if not is_item(value):
                    raise InputTypeError(
                        f"lab.map: {name} must be frozen dataclasses, numbers or text (got"
                        f" {type(value).__name__})"
                    )
        return cls(coords)

    @property
    def sizes(self) -> dict[str, int]:
        """Size of each dimension."""
        return {dim: len(values) for dim, values in self.coords.values()}

    @property
    def items(self) -> list[dict[str, Any]]:
        """The coordinates of each item by name, the last dimension the fastest."""
        axes = [*self.sizes]
        return [
            {name: values[at[axes.index(dim)]] for name, (dim, values) in self.coords.items()}
            for at in np.ndindex(*self.sizes.values())
        ]

    def array(self, values: Iterable[Any]) -> xr.DataArray:
        """Return an array of one object for each item."""
        found = np.empty(len(self.items), dtype=object)
        for place, value in enumerate(values):
            found[place] = value
        shape = tuple(self.sizes.values())
        return xr.DataArray(found.reshape(shape), dims=[*self.sizes], coords=self._labels())

    def join(self, results: Sequence[xr.Dataset]) -> xr.Dataset:
        """Join a dataset for each item along the dimensions of the grid.

        Variables and what differs between items have the dimensions of the grid before their own.
        Where a variable is shorter, or missing, NaN takes its place. Attributes are those that all
        share.
        """
        shared = {
            name: coord.variable
            for one in results
            for name, coord in one.coords.items()
            if all(coord.variable.identical(other.coords.get(name)) for other in results)
        }
        names = dict.fromkeys(
            name for one in results for name in one.variables if name not in (*shared, *one.indexes)
        )
        return xr.Dataset(
            {name: self._join_variable([one.get(name) for one in results]) for name in names},
            shared | self._labels(),
            {
                name: value
                for name, value in (results[0].attrs if results else {}).items()
                if all(_equal(one.attrs.get(name), value) for one in results)
            },
        )

    def _join_variable(self, arrays: Sequence[xr.DataArray | None]) -> xr.Variable:
        known = [one for one in arrays if one is not None]
        own = known[0].dims
        size = tuple(max(one.sizes[dim] for one in known) for dim in own)
        dtype = np.result_type(*(one.dtype for one in known))
        whole = len(known) == len(arrays) and all(one.shape == size for one in known)
        if not whole and dtype.kind in "bui":
            dtype = np.dtype(float)
        joined = np.full(
            (len(arrays), *size), "" if dtype.kind in "UO" else np.nan if not whole else 0, dtype
        )
        for place, one in enumerate(arrays):
            if one is not None:
                part = one.transpose(*own)
                joined[(place, *map(slice, part.shape))] = part.values  # type: ignore[index]
        shape = (*self.sizes.values(), *size)
        return xr.Variable((*self.sizes, *own), joined.reshape(shape), known[0].attrs)

    def _labels(self) -> dict[str, Any]:
        labels = {}
        for name, (dim, values) in self.coords.items():
            as_objects = np.empty(len(values), dtype=object)
            as_objects[:] = values
            plain = all(isinstance(value, int | float | str) for value in values)
            labels[name] = dim, values if plain and values else as_objects
        return labels


def is_item(value: Any) -> bool:
    """Return True if a value tells itself apart from others, here and in another process."""
    if is_dataclass(value):
        return type(value).__dataclass_params__.frozen  # type: ignore[union-attr]
    return isinstance(value, int | float | str)


def as_dataset(name: str, result: Any) -> xr.Dataset:
    """Return what the function ``name`` has returned, a dataset, or numbers and arrays by name, as
    a dataset.

    Axes of an array that are not named are named after it.
    """
    if isinstance(result, xr.Dataset):
        return result
    if not isinstance(result, Mapping):
        raise InputTypeError(
            f"{name}: must return a Run, a Dataset, or arrays and numbers by name (got"
            f" {type(result).__name__})"
        )
    variables = {}
    for key, value in result.items():
        bare = not isinstance(value, tuple | xr.DataArray | xr.Variable) and np.ndim(value)
        axes = [f"{key}_{axis}" for axis in range(np.ndim(value))] if bare else []
        variables[key] = (axes, value) if bare else value
    return xr.Dataset(variables)


def in_memory_order(dataset: xr.Dataset) -> xr.Dataset:
    """Return the dataset with its arrays as they would come from another process: sums then run in
    the same order.
    """
    return dataset.map(lambda array: np.asarray(array, order="C"), keep_attrs=True)


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(np.all(one == other))
