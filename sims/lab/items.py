"""The items of ``lab.map``: made of coordinates, computed, kept, and joined to labelled arrays."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any

from biorrr.errors import BiorrrError, InputTypeError
from biorrr.files import whole_file
from biorrr.interrupt import PRESSED
from biorrr.sims.lab.run_folder import INTERRUPTED, inside, open_inside, write_results
from biorrr.sims.lab.settings import NO_NUMBERS
from biorrr.sims.lazy import circuits, np, xr

# A function of (work, shared, items), which yields the number of each item with the result of
# ``work(item, *shared)``, or with the error that it ended in, as soon as it is known.
Submit = Callable[[Callable[..., Any], tuple[Any, ...], Sequence[Any]], Generator[tuple[int, Any]]]


class StoppedError(BiorrrError):
    """A run that ended early; ends the command with this message and exit code."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        # Both, so that it can be sent from one process to another.
        super().__init__(message, exit_code)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.args[0]


@dataclass
class Task:
    """The context in which the function of :meth:`Lab.map` computes one item.

    Parameters
    ----------
    settings
        Settings of the experiment.
    place, name
        Folder of the checkpoints, None to keep none, and name of the item's.
    progress
        True to show progress.
    keep_unfinished
        True to return runs that were interrupted or have diverged.
    """

    settings: Any
    place: Path | None = None
    name: str = ""
    progress: bool = False
    keep_unfinished: bool = False
    failure: str = ""  # why the run is unfinished, where that is allowed
    _runs: int = 0

    def run(self, circuit: Any, X: Any, Y: Any, seeds: Sequence[int] = (), **options: Any) -> Any:
        """Run a circuit with checkpoints, progress and Ctrl-C; ``options`` are those of its
        ``run``.

        With ``seeds``, the circuit runs with each of them, and a list of runs is returned.
        """
        if len(seeds) == 1:
            return [self.run(circuit, X, Y, seed=seeds[0], **options)]
        self._runs += 1
        if self.place is not None:
            # Not NAME-2: that is the checkpoint of seed 2 of the first run.
            name = self.name if self._runs == 1 else f"{self.name}-run-{self._runs}"
            path = inside(self.place, f"{name}.npz")
            options["checkpoint"] = circuits.Checkpoint(path, self.settings.checkpoint)
        options["progress"] = self.progress
        if seeds:
            runs = circuit.run(X, Y, seeds=seeds, **options)
            for seed, error in runs.errors.items():
                raise StoppedError(f"seed {seed}: {error}") from error
            if runs[-1].ended == INTERRUPTED or len(runs) < len(seeds):
                raise KeyboardInterrupt
            return list(runs)
        try:
            run = circuit.run(X, Y, **options)
        except circuits.Diverged as error:
            if not self.keep_unfinished:
                raise
            self.failure = str(error)
            return error.run
        if run.ended == INTERRUPTED:
            if not self.keep_unfinished:
                raise KeyboardInterrupt
            self.failure = INTERRUPTED
        return run


def submit_here(
    work: Callable[..., Any], shared: tuple[Any, ...], items: Sequence[Any]
) -> Generator[tuple[int, Any]]:
    """Compute items in this process, one after another."""
    for number, item in enumerate(items):
        try:
            result = work(item, *shared)
        except Exception as error:
            result = error
        yield number, result


def submit_side_by_side(
    work: Callable[..., Any], shared: tuple[Any, ...], items: Sequence[Any]
) -> Generator[tuple[int, Any]]:
    """Compute items in a process for each processor; a single one in this process."""
    if len(items) <= 1:
        return submit_here(work, shared, items)
    from biorrr.sims.lab.workers import Processes

    return Processes(os.cpu_count() or 1)(work, shared, items)


def compute_items(
    function: Callable[..., Any],
    items: Mapping[str, Mapping[str, Any]],
    shared: tuple[Any, ...],
    *,
    settings: Any,
    place: Path | None,
    submit: Submit,
    title: str,
    keep_unfinished: bool = False,
    on_error: Callable[[Exception], xr.Dataset] | None = None,
) -> tuple[list[Any], str]:
    """Return the result of each item, from disk if it was finished earlier, and why the only one is
    unfinished, if it may be.

    Parameters
    ----------
    function, shared, keep_unfinished
        As :meth:`~biorrr.sims.lab.lab.Lab.map` takes them.
    items
        The coordinates of each item, by its name.
    settings
        Settings of the experiment.
    place
        Folder of the results and checkpoints; None to keep none.
    submit
        How items are computed.
    title
        Words before the progress.
    on_error
        Function that makes a result of the error of an item; unless given, the first error ends
        all.
    """
    from biorrr.circuit.simulation.progress import progress_bar

    results = {name: kept_result(place, name) for name in items}
    left = [name for name, result in results.items() if result is None]
    single, failure = len(items) == 1, ""
    work = functools.partial(compute_item, function, settings, place, single, keep_unfinished)
    with (
        closing(submit(work, shared, [(name, items[name]) for name in left])) as outcomes,
        progress_bar(len(items), " parts", title, initial=len(items) - len(left)) as bar,
    ):
        bar.disable |= single or place is None  # a single circuit shows its samples
        for number, outcome in outcomes:
            if isinstance(outcome, Exception):
                if on_error is None:
                    raise outcome
                outcome = on_error(outcome), ""
            result, failure = outcome
            if isinstance(result, xr.Dataset):  # a circuit's checkpoint keeps its run
                keep_result(place, left[number], result)
            results[left[number]] = result
            if PRESSED.is_set() and not failure:  # too late for the item to heed it
                raise KeyboardInterrupt
            bar.update()
    return [*results.values()], failure


def compute_item(
    function: Callable[..., Any],
    settings: Any,
    place: Path | None,
    single: bool,
    keep_unfinished: bool,
    item: tuple[str, Mapping[str, Any]],
    *shared: Any,
) -> tuple[Any, str]:
    """Return the result of an item, and why it is unfinished, if it may be.

    The result is a run, a dataset, or for several seeds a list of runs or a dataset along ``seed``.
    """
    name, coordinates = item
    attended = single and place is not None
    task = Task(settings, place, name, attended, keep_unfinished and attended)
    try:
        found = function(task, *shared, **coordinates)
    except circuits.Diverged as error:
        where = {name: value for name, value in coordinates.items() if name != "seeds"}
        if "seeds" in coordinates:
            where["seed"] = error.run.data.attrs["seed"]
        words = ", ".join(f"{name} {value}" for name, value in where.items())
        raise StoppedError(str(error) if single else f"{words}: {error}") from error
    if not isinstance(found, list):
        return as_result(function.__name__, found), task.failure
    several = [as_result(function.__name__, one) for one in found]
    if any(isinstance(one, circuits.Run) for one in several):
        return several, task.failure
    return Grid.over({"seed": coordinates["seeds"]}).join(several), task.failure


def one_by_one(several: Any) -> list[Any]:
    """Return the result of each seed, of a list of runs or of a dataset along ``seed``."""
    if isinstance(several, list):
        return several
    return [several.isel(seed=place, drop=True) for place in range(several.sizes["seed"])]


def digest_of(function: Callable, item: Mapping[str, Any], settings: Any, *more: Any) -> str:
    """Return a digest of all that the result of an item depends on."""
    changing = {name: one for name, one in vars(settings).items() if name not in NO_NUMBERS}
    identity = function.__module__, sorted(item.items()), changing, more
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]


def keep_result(place: Path | None, name: str, result: xr.Dataset) -> None:
    """Keep the result of an item in a folder, which is made, unless it is None."""
    if place is not None:
        place.mkdir(parents=True, exist_ok=True)
        with whole_file(inside(place, f"{name}.nc")) as partial:
            write_results(result, partial)


def kept_result(place: Path | None, name: str) -> xr.Dataset | None:
    """Return the result of an item that was finished earlier; None if there is none, or if it is
    damaged: it is computed again.
    """
    if place is None or not inside(place, f"{name}.nc").exists():
        return None
    from biorrr.circuit.results.netcdf import read_netcdf

    with open_inside(place, f"{name}.nc") as file, suppress(Exception):
        return read_netcdf(file)  # damaged files make HDF5 and xarray raise a dozen kinds
    return None


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
        from biorrr.circuit.results.dataset import leave_dask_out

        leave_dask_out()
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

    def array(self, values: Sequence[Any]) -> xr.DataArray:
        """Return an array of one object for each item."""
        found = _objects(values).reshape([*self.sizes.values()])
        return xr.DataArray(found, dims=[*self.sizes], coords=self._labels())

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
                if all(
                    type(other := one.attrs.get(name)) is type(value) and np.all(other == value)
                    for one in results
                )
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
            plain = values and all(isinstance(value, int | float | str) for value in values)
            labels[name] = dim, values if plain else _objects(values)
        return labels


def _objects(values: Sequence[Any]) -> np.ndarray:
    """Return an array of one object for each value, whatever they are."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def is_item(value: Any) -> bool:
    """Return True if a value tells itself apart from others, here and in another process."""
    if is_dataclass(value):
        return type(value).__dataclass_params__.frozen  # type: ignore[union-attr]
    return isinstance(value, int | float | str)


def as_result(name: str, result: Any) -> Any:
    """Return what the function ``name`` has returned, a run, a dataset, or numbers and arrays by
    name, as a run or a dataset.

    Axes of an array that are not named are named after it.
    """
    if isinstance(result, circuits.Run):
        # As it would come from another process: sums then run in the same order.
        as_sent = functools.partial(np.asarray, order="C")
        return circuits.Run(result.data.map(as_sent, keep_attrs=True))
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


def compiled_if_possible(engine: str) -> str:
    """Settle what engine "auto" is where many short runs share a circuit: compiling it pays, if
    there is a compiler.
    """
    if engine != "auto":
        return engine
    from biorrr.circuit.engines.compiler import find_compiler

    return "cpp" if find_compiler() else "numpy"


def completed(run: Any) -> Any:
    """Return ``run`` unless it was interrupted: half a run is no result of an item."""
    if run.ended == "interrupted":
        raise KeyboardInterrupt
    return run
