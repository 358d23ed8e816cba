"""Engine `cpp`: the circuit as a compiled library, built once and called segment by segment.

A segment is one call of a C function, which finds the state of the run, the data and room for
records where NumPy has them. Neither building nor running touches the caller's Brian2 device or
preferences; a circuit found in the cache runs without Brian2.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines import cache, compiler
from biorrr.circuit.engines.brian2_private import brian2_version
from biorrr.circuit.engines.memory import ELEMENT_TYPES, Memory
from biorrr.circuit.simulation.job import Job
from biorrr.circuit.simulation.progress import notice
from biorrr.circuit.simulation.recorder import DATA_ROW, Recorder
from biorrr.circuit.stimulus.feeds import Feed
from biorrr.errors import RunError
from biorrr.models import expressions, random_draws


class _Port(ctypes.Structure):
    """The data of one port, as `struct Port` in the source."""

    _fields_ = (
        ("values", ctypes.c_void_p),
        ("type", ctypes.c_int64),
        ("row_bytes", ctypes.c_int64),
        ("duration", ctypes.c_int64),
        ("ticks", ctypes.c_int64),
        ("gain", ctypes.c_double),
        ("mean", ctypes.c_void_p),
    )


class _Records(ctypes.Structure):
    """Room for records, as `struct Records` in the source."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("samples", ctypes.c_void_p),
        ("width", ctypes.c_int64),
        ("places", ctypes.c_void_p),
        ("rows", ctypes.c_void_p),
    )


class _Segment(ctypes.Structure):
    """All that one call reads and writes beside the memory, as `struct Segment` in the source."""

    _fields_ = (
        ("samples", ctypes.c_int64),
        ("duration", ctypes.c_int64),
        ("replays", ctypes.c_int64),
        ("replay_duration", ctypes.c_int64),
        ("rows", ctypes.POINTER(ctypes.c_void_p)),
        ("replayed", ctypes.POINTER(ctypes.c_void_p)),
        ("snapshots", _Records),
        ("traces", _Records),
        ("ports", ctypes.POINTER(_Port)),
        ("watched", ctypes.c_int64),
        ("diverged", ctypes.c_int64),
    )


def find_library(blueprint: Blueprint, lanes: int = 1) -> Path | None:
    """Return the library of a circuit in the cache; None if there is none."""
    return cache.find(key_of(blueprint.code, lanes))


class CppEngine:
    """Builds the library, or finds it in the cache, and calls it.

    Parameters
    ----------
    blueprint
        The circuit.
    lanes
        Runs that the library simulates side by side.
    """

    def __init__(self, blueprint: Blueprint, lanes: int = 1) -> None:
        self.code = blueprint.code
        self.memory = Memory(self.code, lanes)
        key = key_of(self.code, lanes)
        path = cache.find_or_build(key, lambda path: _build(self.code, lanes, path))
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise RunError(
                f"engine 'cpp': the compiled circuit cannot be loaded ({error}); set $BIORRR_CACHE"
                " to a folder from which programs may be run, or use engine='numpy'"
            ) from error
        self.simulate, self._permute = library.simulate, library.permute
        self.simulate.restype = ctypes.c_int64
        self._permute.argtypes = (*[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 3)
        self._permute.restype = None

    def draw_permutations(self, rng: np.random.Generator, count: int, length: int) -> np.ndarray:
        """Draw as :func:`biorrr.circuit.stimulus.presentation.draw_permutations` does, ten times
        as fast.
        """
        bits, drawn = rng.bit_generator.ctypes, np.empty(count * length, np.int64)
        self._permute(count, length, drawn.ctypes.data, bits.next_uint32, bits.state_address)
        return drawn

    def load(self, jobs: Sequence[Job]) -> CompiledRun:
        """Return the runs of ``jobs``, at most one for each lane."""
        return CompiledRun(self, jobs)


class CompiledRun:
    """Runs side by side: their memory, their data and their records, each where the library finds
    it.

    Attributes
    ----------
    states
        Values by "part.variable" of each run, as they lie in memory.
    """

    def __init__(self, engine: CppEngine, jobs: Sequence[Job]) -> None:
        self.jobs, self.simulate, memory = jobs, engine.simulate, engine.memory
        job, self.lanes = jobs[0], memory.lanes
        self.presentations = [
            replace(one.presentation, draw=engine.draw_permutations) for one in jobs
        ]
        self.memory = memory.allocate()
        self.states = [
            {key: self.memory[memory.place(key), lane] for key in job.state}
            for lane in range(self.lanes)
        ]
        for state, one in zip(self.states, self._in_lanes(jobs), strict=True):
            for key, values in one.state.items():
                state[key][:] = values
        feeds = [job.feeds[port.name] for port in job.blueprint.ports]
        # Arrays that the library reads are kept here for as long as it may.
        self.data = [_readable(feed.values) for feed in feeds]
        self.means = [np.ascontiguousarray(feed.mean, np.float64) for feed in feeds]
        self.ports = (_Port * len(feeds))(*map(_port, feeds, self.data, self.means))
        self.n_samples = min(feed.samples for feed in feeds)
        weights = {p.name: memory.places(f"{p.name}.w") for p in job.blueprint.parts.weighted}
        traces = {
            trace.label: memory.places(trace.quantity.key, trace.chosen)
            for trace in job.recording.traces
        }
        self.weights, self.traces = (_Columns(each, self.lanes) for each in (weights, traces))
        self._check_features()

    def _check_features(self) -> None:
        """Check that data have the features that the library was compiled for."""
        blueprint = self.jobs[0].blueprint
        for port, data, mean in zip(blueprint.ports, self.data, self.means, strict=True):
            size = blueprint.sizes[port.name]
            if {data.shape[1], len(mean)} != {size}:
                raise RunError(
                    f"{port.name}: must have {size} features, which the circuit was compiled for"
                    f" (got {data.shape[1]})"
                )

    def advance(
        self, start: int, stop: int, recorders: Mapping[int, Recorder]
    ) -> tuple[int, set[int]]:
        """Simulate samples ``start`` to ``stop``, or up to the one in which a run diverges, and
        hand what they leave to the recorder of each lane; return the sample count and the lanes
        that have diverged.
        """
        job, timing = self.jobs[0], self.jobs[0].blueprint.timing
        rows = [np.ascontiguousarray(one.rows(start, stop), np.int64) for one in self.presentations]
        replayed = [one.replayed(start, stop) for one in self.presentations]
        self._check_bounds("order", rows, self.n_samples)
        self._check_bounds("replay", replayed, job.presentation.m)
        due = job.snapshots[(job.snapshots > start) & (job.snapshots <= stop)]
        traced = job.recording.samples(start, stop)
        # Arrays with names: what ctypes is given is but their address.
        when_due, when_traced = (np.asarray(t - start, np.int64) for t in (due, traced))
        weights = self.weights.room(len(due))
        traces = self.traces.room(len(traced) * timing.duration)
        segment = _Segment(
            stop - start,
            timing.duration,
            job.presentation.replay,
            timing.replay_duration,
            self._pointers(rows),
            self._pointers(replayed),
            self.weights.records(when_due, weights),
            self.traces.records(when_traced, traces),
            self.ports,
            sum(1 << lane for lane in recorders),
        )
        done = self.simulate(ctypes.c_void_p(self.memory.ctypes.data), ctypes.byref(segment))
        diverged = {lane for lane in recorders if segment.diverged >> lane & 1}
        for lane, recorder in recorders.items():
            before = when_traced[when_traced < done]
            presented = np.repeat(rows[lane][before], timing.duration)[:, None]
            values = self.traces.by_name(traces[: len(presented), :, lane])
            samples = np.repeat(start + before, timing.duration)
            recorder.traces.add(samples, {DATA_ROW: presented, **values})
            # The sample that diverged was recorded, but its weights are not kept.
            kept = due[when_due <= done - (lane in diverged)]
            recorder.snapshot(kept, self.weights.by_name(weights[: len(kept), :, lane]))
        return start + done, diverged

    def _in_lanes(self, each: Sequence[Any]) -> list[Any]:
        """Return what belongs to ``each`` run, by lane: lanes that are not needed repeat the last
        run.
        """
        return [*each, *[each[-1]] * (self.lanes - len(each))]

    def _pointers(self, each: Sequence[np.ndarray]) -> ctypes.Array:
        """Return the addresses of one array for each run, by lane."""
        return (ctypes.c_void_p * self.lanes)(*(one.ctypes.data for one in self._in_lanes(each)))

    def _check_bounds(self, what: str, presented: Sequence[np.ndarray], count: int) -> None:
        """Check that what is presented lies within the data: the library does not look."""
        for each in presented:
            if each.size and not 0 <= each.min() <= each.max() < count:
                raise RunError(
                    f"{what}: must lie in [0, {count - 1}], within the data (got"
                    f" {each.min()} to {each.max()})"
                )


class _Columns:
    """Variables that are recorded side by side.

    Parameters
    ----------
    places
        Where their values are in memory, by name.
    lanes
        Runs side by side.
    """

    def __init__(self, places: dict[str, np.ndarray], lanes: int) -> None:
        self.lanes = lanes
        self.places = np.concatenate([np.empty(0, np.int64), *places.values()])
        ends = [*itertools.accumulate(map(len, places.values()), initial=0)]
        self.columns = dict(zip(places, map(slice, ends, ends[1:]), strict=True))

    def room(self, rows: int) -> np.ndarray:
        """Return an array, shape (rows, width, lanes), to be filled."""
        return np.empty((rows, len(self.places), self.lanes))

    def records(self, samples: np.ndarray, rows: np.ndarray) -> _Records:
        """Return the order to fill ``rows`` at ``samples``, both of which must outlive it."""
        return _Records(
            len(samples),
            samples.ctypes.data,
            len(self.places),
            self.places.ctypes.data,
            rows.ctypes.data,
        )

    def by_name(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns of each variable in the ``rows`` of one lane."""
        return {name: rows[:, columns] for name, columns in self.columns.items()}


def _port(feed: Feed, data: np.ndarray, mean: np.ndarray) -> _Port:
    """Return how a port is fed with ``data`` and their ``mean``, both of which must outlive it."""
    kind = list(ELEMENT_TYPES).index(data.dtype.str[1:])
    return _Port(
        data.ctypes.data,
        kind,
        data.strides[0],
        feed.duration,
        feed.ticks,
        feed.gain,
        mean.ctypes.data,
    )


def _readable(values: np.ndarray) -> np.ndarray:
    """Return ``values`` themselves where the library can read them, or else a copy.

    Rows may lie anywhere, each in one piece; a memory map stays where it is.
    """
    if values.dtype.str[1:] not in ELEMENT_TYPES or not values.dtype.isnative:
        return np.ascontiguousarray(values, np.float64)
    in_pieces = values.strides[1] != values.itemsize and values.shape[1] > 1
    return np.ascontiguousarray(values) if in_pieces or not values.flags.aligned else values


def key_of(code: Blueprint, lanes: int = 1) -> str:
    """Return the key in the cache of a circuit's library: all that shapes it, which are the fields
    of all parts and the sources that make code of them.
    """
    shape = {"circuit": repr(code), "lanes": lanes, "brian2": brian2_version()}
    return cache.key_of({**shape, **compiler.identity(), **_sources()})


@functools.cache
def _sources() -> dict[str, Any]:
    """Return the sources that make code of parts."""
    here = Path(__file__).parent
    sources = [
        *(here / name for name in ("cpp_source.py", "memory.py")),
        *sorted((here.parent / "compile").glob("*.py")),
        *sorted((here / "templates").iterdir()),
        *(Path(str(module.__file__)) for module in (expressions, random_draws)),
    ]
    return {"sources": [path.read_text() for path in sources]}


def _build(code: Blueprint, lanes: int, library: Path) -> None:
    """Write the circuit's C++ beside ``library``, and compile it to that."""
    from biorrr.circuit.engines.cpp_source import write_source

    source = library.with_suffix(".cpp")
    try:
        source.write_text(write_source(code, lanes))
        notice("Compiling the circuit (about 2 s, once)")
        compiler.compile_library(source, library)
    finally:
        source.unlink(missing_ok=True)
