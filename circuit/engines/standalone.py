"""Engine `cpp`: the circuit as a compiled program, built once and run segment by segment.

A segment is one run of the program: it takes its state from a file and leaves the new one in another. Progress,
checkpoints, an early end and data longer than memory all come from that. Neither building nor running touches the
caller's Brian2 device or preferences; a circuit found in the cache runs without Brian2.
"""

from __future__ import annotations

import itertools
import mmap
import os
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

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
from biorrr.circuit.stimulus.data_checks import check_unchanged
from biorrr.errors import RunError
from biorrr.models import algebra, expressions, random_draws

_SEGMENT_SECONDS = 1.0  # aim; short enough for progress and Ctrl-C, long against the 5 ms a program takes to start
_FIRST_SEGMENT = 2_000  # samples, before the speed is known
_LARGEST_SEGMENT = 2**20  # samples; bounds the memory of a segment's order


class StandaloneEngine:
    """Builds the program, or finds it in the cache, and runs it."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.code = blueprint.code
        self.program = self._find_or_build()

    def _find_or_build(self) -> Path:
        return cache.find_or_build(cache.key_of(_description(self.code)), lambda folder: _build(self.code, folder))

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
            laid_out = [
                _lay_out(folder / f"data-{place}", job.feeds[port.name].values)
                for place, port in enumerate(job.blueprint.ports)
            ]
            length = _FIRST_SEGMENT
            state, at = job.state, job.start
            while at < job.stop:
                stop = min(at + length, job.stop)
                if recorder.on_snapshot is not None:  # it may end the run at any snapshot
                    stop = min([stop, *job.snapshots[job.snapshots > at][:1].tolist()])
                began = time.perf_counter()
                code = self._run_segment(folder, replace(job, start=at, stop=stop, state=state), laid_out)
                took = time.perf_counter() - began
                if interrupted.is_set() and code != Exit.done:
                    return Outcome(at, state, "interrupted")
                state, done = _collect(folder, job, at, stop, recorder)
                if code == Exit.diverged:
                    return Outcome(at + done - 1, state, "diverged")
                pace = (stop - at) / max(took, 1e-3)
                at = stop
                recorder.reached(at, state)
                if at < job.stop and (recorder.stopped or interrupted.is_set()):
                    return Outcome(at, state, "stopped" if recorder.stopped else "interrupted")
                length = max(int(min(_LARGEST_SEGMENT, 8 * length, pace * _SEGMENT_SECONDS)), 1)
            return Outcome(at, state, "done")

    def _run_segment(self, folder: Path, job: Job, laid_out: list[tuple[int, int]]) -> int:
        _write_segment(folder, job, laid_out)
        try:
            done = self._start(folder)
        except FileNotFoundError:  # another process has cleared the cache
            self.program = self._find_or_build()
            done = self._start(folder)
        if done.returncode in (-signal.SIGBUS, -signal.SIGSEGV):
            check_unchanged(job.feeds)
        if done.returncode not in (Exit.done, Exit.diverged):
            raise RunError(
                f"engine 'cpp': the compiled circuit ended with code {done.returncode}: {done.stderr.strip()[-500:]} "
                f"(it reads and writes in {folder.parent}; set $TMPDIR to another folder if that one is full)"
            )
        return done.returncode

    def _start(self, folder: Path) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.program],
            cwd=self.program.parent,
            env={**os.environ, "BIORRR_SEGMENT": str(folder), "BIORRR_PARENT": str(os.getpid())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,  # Ctrl-C is ours to handle
        )


def _write_segment(folder: Path, job: Job, laid_out: list[tuple[int, int]]) -> None:
    """Leave all that the program reads in ``folder``; the order is that of `struct Segment` in its source."""
    presentation = job.presentation
    shown = presentation.shown(job.start, job.stop)
    due = job.snapshots[(job.snapshots > job.start) & (job.snapshots <= job.stop)] - job.start
    recorded = job.recording.samples(job.start, job.stop) - job.start
    place = {quantity.key: i for i, quantity in enumerate(job.blueprint.quantities)}
    selections = [
        (place[trace.quantity.key], first, count)
        for trace in job.recording.traces
        for first, count in ([(0, trace.quantity.size)] if trace.chosen is None else [(i, 1) for i in trace.chosen])
    ]
    feeds = [job.feeds[port.name] for port in job.blueprint.ports]
    ports = np.zeros(
        len(feeds),
        dtype=[("type", np.int64), ("offset", np.int64), ("held", np.int64), ("ticks", np.int64), ("gain", np.float64)],
    )
    for port, feed, (kind, offset) in zip(ports, feeds, laid_out, strict=True):
        port["type"], port["offset"], port["held"], port["ticks"] = kind, offset, feed.held, feed.ticks
        port["gain"] = feed.gain
    head = [
        job.stop - job.start, presentation.held, presentation.replay, presentation.ticks_per_sample,
        len(due), len(recorded), len(selections),
    ]  # fmt: skip
    with (folder / "segment").open("wb") as file:
        for values in (
            np.array(head, np.int64),
            ports,
            *(np.asarray(feed.mean, np.float64) for feed in feeds),
            due.astype(np.int64),
            recorded,
            np.array(selections, np.int64),
            shown,
        ):
            file.write(values.tobytes())
    (folder / "state").write_bytes(b"".join(np.asarray(v, np.float64).tobytes() for v in job.state.values()))


def _collect(folder: Path, job: Job, start: int, stop: int, recorder: Recorder) -> tuple[dict[str, np.ndarray], int]:
    """Hand what the segment left to ``recorder``; return the new state and how many samples were begun."""
    traces = job.recording.traces
    if traces:
        sizes = [trace.columns for trace in traces]
        rows = np.fromfile(folder / "traces").reshape(-1, sum(sizes))
        samples = np.repeat(job.recording.samples(start, stop), job.presentation.held)[: len(rows)]
        recorder.trace(samples.tolist(), {t.label: values for t, values in zip(traces, _cut(rows, sizes), strict=True)})
    weighted = job.blueprint.weighted
    sizes = [q.size for q in job.blueprint.state if q.name == "w"]
    due = job.snapshots[(job.snapshots > start) & (job.snapshots <= stop)]
    rows = np.fromfile(folder / "snapshots")
    rows = rows.reshape(-1, sum(sizes)) if weighted else rows.reshape(len(due), 0)
    for t, row in zip(due, rows, strict=False):  # fewer rows where the segment diverged
        recorder.snapshot(int(t), {p.name: w for p, w in zip(weighted, _cut(row, sizes), strict=True)})
    left = np.fromfile(folder / "state.new")
    values = _cut(left[:-1], [q.size for q in job.blueprint.state])
    return dict(zip(job.state, values, strict=True)), int(left[-1:].view(np.int64)[0])


def _cut(values: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    """Return consecutive pieces of ``values`` (..., sum of sizes), one for each of ``sizes``."""
    return [values[..., end - size : end] for size, end in zip(sizes, itertools.accumulate(sizes), strict=True)]


def _lay_out(path: Path, values: np.ndarray) -> tuple[int, int]:
    """Put data where the program can map them; return the code of their type and the offset of their first value.

    A memory map of a file stays where it is.
    """
    kind = values.dtype.str[1:]
    readable = kind in ELEMENT_TYPES and values.dtype.isnative
    if readable and isinstance(values, np.memmap) and values.flags.c_contiguous and _lies_in_a_file(values):
        # A view may begin anywhere in the file: count from the start of the mapping, which numpy rounds down to a page.
        mapped = np.frombuffer(values._mmap, dtype=np.uint8)  # type: ignore[attr-defined]
        begins = values.offset - values.offset % mmap.ALLOCATIONGRANULARITY
        within = values.__array_interface__["data"][0] - mapped.__array_interface__["data"][0]
        path.symlink_to(Path(str(values.filename)).resolve())
        return list(ELEMENT_TYPES).index(kind), begins + within
    if not readable:
        kind, values = "f8", values.astype(np.float64)
    np.ascontiguousarray(values).tofile(path)
    return list(ELEMENT_TYPES).index(kind), 0


def _lies_in_a_file(values: np.memmap) -> bool:
    """True where a file holds just these values: copies of a map are no maps, and a private map may have changed."""
    mapped = values._mmap is not None and values.filename is not None  # type: ignore[attr-defined]
    return mapped and values.mode != "c"


def _description(blueprint: Blueprint) -> dict:
    """Return all that shapes the compiled program: the fields of all parts, and the sources that make code of them."""
    here = Path(__file__).parent
    sources = [
        *(here / name for name in ("cpp_source.py", "cpp_steps.py", "slow_calls.py")),
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


def _build(code: Blueprint, folder: Path) -> None:
    """Write the circuit's C++ and compile it to `circuit` in ``folder``."""
    source = folder / "circuit.cpp"
    source.write_text(write_source(code))
    if kept := os.environ.get("BIORRR_KEEP_SOURCES"):
        Path(kept).mkdir(parents=True, exist_ok=True)
        shutil.copy(source, kept)
    notice("Compiling the circuit (about 2 s, once)")
    compiler.compile_program(source, folder / "circuit")
    source.unlink()
