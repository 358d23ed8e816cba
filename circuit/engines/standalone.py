"""Engine `cpp`: the circuit as a compiled program, built once and run segment by segment.

A segment is one run of the program: it takes its state from a file and leaves the new one in
another. Progress, checkpoints, an early end and data longer than memory all come from that. Neither
building nor running touches the caller's Brian2 device or preferences; a circuit found in the cache
runs without Brian2.
"""

from __future__ import annotations

import itertools
import mmap
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.circuit.engines import cache, compiler
from biorrr.circuit.engines.brian2_private import installed_brian2
from biorrr.circuit.engines.cpp_source import ELEMENT_TYPES, TEMPLATES, Exit, write_source
from biorrr.circuit.engines.interrupt import held_interrupt
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.simulation.progress import notice
from biorrr.circuit.simulation.recorder import Recorder
from biorrr.circuit.simulation.scratch import Scratch
from biorrr.errors import RunError
from biorrr.models import algebra, expressions, random_draws

_SEGMENT_SECONDS = (
    1.0  # aim; short enough for progress and Ctrl-C, long against the 5 ms a program takes to start
)
_FIRST_SEGMENT = 2_000  # samples, before the speed is known
_LARGEST_SEGMENT = 2**20  # samples; bounds the memory of a segment's order
# As `struct Port` in the source.
_PORT = np.dtype(
    [("type", "i8"), ("offset", "i8"), ("held", "i8"), ("ticks", "i8"), ("gain", "f8")]
)


class StandaloneEngine:
    """Builds the program, or finds it in the cache, and runs it."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.code = blueprint.code
        self.program = self._find_or_build()

    def _find_or_build(self) -> Path:
        return cache.find_or_build(
            cache.key_of(_description(self.code)), lambda path: _build(self.code, path)
        )

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job``."""
        scratch = Scratch()
        try:
            with scratch.filling("what the compiled circuit reads and writes") as folder:
                return self._advance(job, recorder, folder)
        finally:
            scratch.delete()

    def _advance(self, job: Job, recorder: Recorder, folder: Path) -> Outcome:
        """Simulate ``job`` segment by segment, by way of files in ``folder``."""
        with held_interrupt() as interrupted:
            feeds = [job.feeds[port.name] for port in job.blueprint.ports]
            data = [
                _lay_out(folder / f"data-{place}", feed.values) for place, feed in enumerate(feeds)
            ]
            shown = [
                (*lies, feed.held, feed.ticks, feed.gain)
                for lies, feed in zip(data, feeds, strict=True)
            ]
            ports = np.array(shown, _PORT)
            state, at, length = job.state, job.start, _FIRST_SEGMENT
            while at < job.stop:
                stop = min(at + length, job.stop)
                if recorder.on_snapshot is not None:  # it may end the run at any snapshot
                    stop = min([stop, *job.snapshots[job.snapshots > at][:1].tolist()])
                due = job.snapshots[(job.snapshots > at) & (job.snapshots <= stop)]
                segment = replace(job, start=at, stop=stop, state=state, snapshots=due)
                began = time.perf_counter()
                code = self._run_segment(folder, segment, ports)
                pace = (stop - at) / max(time.perf_counter() - began, 1e-3)
                if interrupted.is_set() and code != Exit.done:
                    return Outcome(at, state, "interrupted")
                state, done = _collect(folder, segment, recorder)
                if code == Exit.diverged:
                    return Outcome(at + done - 1, state, "diverged")
                at = stop
                recorder.reached(at, state)
                if at < job.stop and (recorder.stopped or interrupted.is_set()):
                    return Outcome(at, state, "stopped" if recorder.stopped else "interrupted")
                length = max(int(min(_LARGEST_SEGMENT, 8 * length, pace * _SEGMENT_SECONDS)), 1)
            return Outcome(at, state, "done")

    def _run_segment(self, folder: Path, segment: Job, ports: np.ndarray) -> int:
        """Run the program for one ``segment``; return its exit code, if it did as it should."""
        _write_segment(folder, segment, ports)
        if not self.program.exists():  # another process has cleared the cache
            self.program = self._find_or_build()
        done = subprocess.run(
            [self.program],
            env={**os.environ, "BIORRR_SEGMENT": str(folder), "BIORRR_PARENT": str(os.getpid())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,  # Ctrl-C is ours to handle
        )
        if done.returncode not in (Exit.done, Exit.diverged):
            raise RunError(
                f"engine 'cpp': the compiled circuit ended with code {done.returncode}:"
                f" {done.stderr.strip()[-500:]} (it reads and writes in {folder.parent}; set"
                " $TMPDIR to another folder if that one is full)"
            )
        return done.returncode


def _write_segment(folder: Path, segment: Job, ports: np.ndarray) -> None:
    """Leave all that the program reads in ``folder``; the order is that of `struct Segment` in its
    source.
    """
    start, stop, presentation = segment.start, segment.stop, segment.presentation
    recorded = segment.recording.samples(start, stop)
    place = {quantity.key: i for i, quantity in enumerate(segment.blueprint.quantities)}
    selections = [
        (place[trace.quantity.key], first, count)
        for trace in segment.recording.traces
        for first, count in (
            [(0, trace.quantity.size)] if trace.chosen is None else [(i, 1) for i in trace.chosen]
        )
    ]
    head = [
        stop - start,
        segment.blueprint.timing.held,
        presentation.replay,
        segment.ticks_per_sample,
        len(segment.snapshots),
        len(recorded),
        len(selections),
    ]
    means = [
        np.asarray(segment.feeds[port.name].mean, np.float64) for port in segment.blueprint.ports
    ]
    counts = [np.asarray(due - start, np.int64) for due in (segment.snapshots, recorded)]
    chosen = np.array(selections, np.int64)
    written = [np.array(head), ports, *means, *counts, chosen, presentation.shown(start, stop)]
    (folder / "segment").write_bytes(b"".join(values.tobytes() for values in written))
    state = [np.asarray(values, np.float64).tobytes() for values in segment.state.values()]
    (folder / "state").write_bytes(b"".join(state))


def _collect(folder: Path, segment: Job, recorder: Recorder) -> tuple[dict[str, np.ndarray], int]:
    """Hand what the segment left to ``recorder``; return the new state and how many samples were
    begun.
    """
    traces, blueprint = segment.recording.traces, segment.blueprint
    if traces:
        sizes = [trace.columns for trace in traces]
        rows = np.fromfile(folder / "traces").reshape(-1, sum(sizes))
        samples = segment.recording.samples(segment.start, segment.stop)
        samples = np.repeat(samples, blueprint.timing.held)[: len(rows)]
        recorder.trace(
            samples, {t.label: values for t, values in zip(traces, _cut(rows, sizes), strict=True)}
        )
    names = [pathway.name for pathway in blueprint.parts.weighted]
    sizes = [q.size for q in blueprint.state if q.name == "w"]
    rows = np.fromfile(folder / "snapshots")
    rows = rows.reshape(-1, sum(sizes)) if names else rows.reshape(len(segment.snapshots), 0)
    for t, row in zip(
        segment.snapshots, rows, strict=False
    ):  # fewer rows where the segment diverged
        recorder.snapshot(int(t), dict(zip(names, _cut(row, sizes), strict=True)))
    left = np.fromfile(folder / "state.new")
    values = _cut(left[:-1], [q.size for q in blueprint.state])
    return dict(zip(segment.state, values, strict=True)), int(left[-1:].view(np.int64)[0])


def _cut(values: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    """Return consecutive pieces of ``values`` (..., sum of sizes), one for each of ``sizes``."""
    return [
        values[..., end - size : end]
        for size, end in zip(sizes, itertools.accumulate(sizes), strict=True)
    ]


def _lay_out(path: Path, values: Any) -> tuple[int, int]:
    """Put data where the program can map them; return the code of their type and the offset of
    their first value.

    A memory map of a file stays where it is; copies of a map are no maps, and a private map may
    have changed.
    """
    kind = values.dtype.str[1:]
    readable = kind in ELEMENT_TYPES and values.dtype.isnative
    in_a_file = (
        isinstance(values, np.memmap)
        and None not in (values._mmap, values.filename)
        and values.mode != "c"
    )  # type: ignore[attr-defined]
    if readable and in_a_file and values.flags.c_contiguous:
        # A view may begin anywhere in the file: count from the start of the mapping, which numpy
        # rounds down to a page.
        mapped = np.frombuffer(values._mmap, dtype=np.uint8)
        begins = values.offset - values.offset % mmap.ALLOCATIONGRANULARITY
        within = values.__array_interface__["data"][0] - mapped.__array_interface__["data"][0]
        path.symlink_to(Path(str(values.filename)).resolve())
        return list(ELEMENT_TYPES).index(kind), begins + within
    if not readable:
        kind, values = "f8", values.astype(np.float64)
    np.ascontiguousarray(values).tofile(path)
    return list(ELEMENT_TYPES).index(kind), 0


def _description(blueprint: Blueprint) -> dict:
    """Return all that shapes the compiled program: the fields of all parts, and the sources that
    make code of them.
    """
    here = Path(__file__).parent
    sources = [
        *(here / name for name in ("cpp_source.py", "cpp_steps.py")),
        *sorted((here.parent / "compile").glob("*.py")),
        *sorted(TEMPLATES.iterdir()),
        *(Path(str(module.__file__)) for module in (algebra, expressions)),
    ]
    return {
        "circuit": repr(blueprint.code),
        "draws": random_draws.SOURCES,
        "sources": [path.read_text() for path in sources],
        "brian2": installed_brian2(),
        **compiler.identity(),
    }


def _build(code: Blueprint, program: Path) -> None:
    """Write the circuit's C++ beside ``program``, and compile it to that."""
    source = program.with_suffix(".cpp")
    try:
        source.write_text(write_source(code))
        notice("Compiling the circuit (about 2 s, once)")
        compiler.compile_program(source, program)
    finally:
        source.unlink(missing_ok=True)
