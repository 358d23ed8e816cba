"""Engine `cpp`: the circuit as a compiled library, built once and called segment by segment.

A segment is one call of a C function, which finds the state of the run, the data and room for
records where NumPy has them. Neither building nor running touches the caller's Brian2 device or
preferences; a circuit found in the cache runs without Brian2.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
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
from biorrr.errors import RunError
from biorrr.models import expressions, random_draws

# As the source declares them: `struct Port`, `struct Records` and `struct Segment`. Pointers are
# addresses of arrays, which must outlive them.
_PORT = np.dtype(
    [
        ("values", np.uint64),
        ("type", np.int64),
        ("row_bytes", np.int64),
        ("duration", np.int64),
        ("ticks", np.int64),
        ("gain", np.float64),
        ("mean", np.uint64),
    ]
)
_RECORDS = np.dtype(
    [
        ("count", np.int64),
        ("samples", np.uint64),
        ("width", np.int64),
        ("places", np.uint64),
        ("rows", np.uint64),
    ]
)
_SEGMENT = np.dtype(
    [
        ("samples", np.int64),
        ("duration", np.int64),
        ("replays", np.int64),
        ("replay_duration", np.int64),
        ("rows", np.uint64),
        ("replayed", np.uint64),
        ("snapshots", _RECORDS),
        ("traces", _RECORDS),
        ("ports", np.uint64),
        ("watched", np.int64),
        ("diverged", np.int64),
    ]
)


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
        self.lock = nullcontext()  # threads share it: a run has a memory of its own
        self.simulate, self._permute = library.simulate, library.permute
        self.simulate.argtypes, self.simulate.restype = [ctypes.c_void_p] * 2, ctypes.c_int64
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
            {key: self.memory[memory.places[key], lane] for key in job.state}
            for lane in range(self.lanes)
        ]
        for state, one in zip(self.states, self._in_lanes(jobs), strict=True):
            for key, values in one.state.items():
                state[key][:] = values
        feeds = {port.name: job.feeds[port.name] for port in job.blueprint.ports}
        # Arrays that the library reads are kept here for as long as it may.
        self.data = {name: _readable(feed.values) for name, feed in feeds.items()}
        self.means = {name: np.array(feed.mean, np.float64) for name, feed in feeds.items()}
        ports = []
        for name, feed in feeds.items():
            data, mean, size = self.data[name], self.means[name], job.blueprint.sizes[name]
            if {data.shape[1], len(mean)} != {size}:
                raise RunError(
                    f"{name}: must have {size} features, which the circuit was compiled for (got"
                    f" {data.shape[1]})"
                )
            kind, row = list(ELEMENT_TYPES).index(data.dtype.str[1:]), data.strides[0]
            where, mean_at = data.ctypes.data, mean.ctypes.data
            ports.append((where, kind, row, feed.duration, feed.ticks, feed.gain, mean_at))
        self.ports = np.array(ports, _PORT)
        self.n_samples = min(feed.samples for feed in feeds.values())
        weights = {
            p.name: np.r_[memory.places[f"{p.name}.w"]] for p in job.blueprint.parts.weighted
        }
        traces = {
            trace.label: memory.places[trace.quantity.key].start + trace.places
            for trace in job.recording.traces
        }
        self.weights = _Columns(weights, self.lanes, 1)
        self.traces = _Columns(traces, self.lanes, job.blueprint.timing.duration)

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
        counts = job.recording.snapshots
        due = counts[(counts > start) & (counts <= stop)]
        traced = job.recording.samples(start, stop)
        # Arrays with names: the library is given but their addresses.
        when_due, when_traced = (np.asarray(t - start, np.int64) for t in (due, traced))
        weights, snapshots = self.weights.room(when_due)
        traces, tracing = self.traces.room(when_traced)
        rows_at, replayed_at = self._addresses(rows), self._addresses(replayed)
        orders = (
            stop - start,
            timing.duration,
            job.presentation.replay,
            timing.replay_duration,
            rows_at.ctypes.data,
            replayed_at.ctypes.data,
            snapshots,
            tracing,
            self.ports.ctypes.data,
            sum(1 << lane for lane in recorders),
            0,
        )
        segment = np.array([orders], _SEGMENT)
        done = self.simulate(self.memory.ctypes.data, segment.ctypes.data)
        (found,) = segment["diverged"].tolist()
        diverged = {lane for lane in recorders if found >> lane & 1}
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

    def _addresses(self, each: Sequence[np.ndarray]) -> np.ndarray:
        """Return the addresses of one array for each run, by lane."""
        return np.array([one.ctypes.data for one in self._in_lanes(each)], np.uint64)

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
    rows
        Rows for each sample.
    """

    def __init__(self, places: dict[str, np.ndarray], lanes: int, rows: int) -> None:
        self.names, self.lanes, self.rows = list(places), lanes, rows
        self.places = np.concatenate([np.empty(0, np.int64), *places.values()])
        self.ends = np.cumsum([len(place) for place in places.values()])

    def room(self, samples: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
        """Return an array, shape (rows, width, lanes), and the order to fill it at ``samples``."""
        width = len(self.places)
        rows = np.empty((self.rows * len(samples), width, self.lanes))
        at, places, to = (array.ctypes.data for array in (samples, self.places, rows))
        return rows, (len(samples), at, width, places, to)

    def by_name(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns of each variable in the ``rows`` of one lane."""
        return dict(zip(self.names, np.split(rows, self.ends[:-1], axis=1), strict=False))


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
    shape = [repr(code), lanes, brian2_version(), compiler.identity(), _sources()]
    return hashlib.sha256(json.dumps(shape).encode()).hexdigest()[:32]


@functools.cache
def _sources() -> list[str]:
    """Return the sources that make code of parts."""
    here = Path(__file__).parent
    sources = [
        *(here / name for name in ("cpp_source.py", "memory.py")),
        *sorted((here.parent / "compile").glob("*.py")),
        *sorted((here / "templates").iterdir()),
        *(Path(str(module.__file__)) for module in (expressions, random_draws)),
    ]
    return [path.read_text() for path in sources]


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
