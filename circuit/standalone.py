"""Engine `cpp`: the circuit as a compiled program, built once and run segment by segment.

A segment is one run of the program: it takes its state from a file and leaves the new one in another. Progress,
checkpoints, an early end and data longer than memory all come from that. Neither building nor running touches the
caller's Brian2 device or preferences; a circuit found in the cache runs without Brian2.
"""

from __future__ import annotations

import importlib.metadata
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from enum import IntEnum
from pathlib import Path

import numpy as np

from biorrr.circuit import cache, compiler
from biorrr.circuit.blueprint import Blueprint
from biorrr.circuit.interrupt import held_interrupt, import_brian2
from biorrr.circuit.job import Job, Outcome
from biorrr.circuit.recorder import Recorder
from biorrr.circuit.scratch import scratch_folder
from biorrr.models import chance

_SEGMENT_SECONDS = 1.0  # aim; short enough for progress and Ctrl-C, long against the 5 ms a program takes to start
_FIRST_SEGMENT = 2_000  # samples, before the speed is known
_LARGEST_SEGMENT = 2**20  # samples; bounds the memory of a segment's order and noise

# Types of data the program reads as they lie on disk; others are converted first.
_ELEMENT_TYPES = {"f8": "double", "f4": "float", "u1": "uint8_t", "i1": "int8_t", "i2": "int16_t", "u2": "uint16_t"}

# The populations whose activity the program sets as it presents samples, and the name of that activity.
_PRESENTED = {"sensory": "x", "instructive": "y"}


class Exit(IntEnum):
    """What the program's exit code says."""

    done = 0
    failed = 3
    diverged = 4
    orphaned = 5


class StandaloneEngine:
    """Builds the program, or finds it in the cache, and runs it."""

    def __init__(self, blueprint: Blueprint) -> None:
        if compiler.find_compiler() is None:
            raise compiler.NoCompiler(
                f"engine 'cpp': no C++ compiler found; {compiler.HOW_TO_INSTALL}, or use engine='numpy'"
            )
        self.blueprint = blueprint
        self.program = self._find_or_build()

    def _find_or_build(self) -> Path:
        key = cache.key_of(_description(self.blueprint))
        return cache.find_or_build(key, lambda folder: _build(self.blueprint, folder))

    def advance(self, job: Job, recorder: Recorder) -> Outcome:
        """Simulate ``job``."""
        with scratch_folder() as folder, held_interrupt() as interrupted:
            data = {axis: _lay_out(folder / axis, values) for axis, values in (("X", job.X), ("Y", job.Y))}
            length = _FIRST_SEGMENT
            state, at = job.state, job.start
            while at < job.stop:
                stop = min(at + length, job.stop)
                if recorder.on_snapshot is not None:  # it may end the run at any snapshot
                    stop = min([stop, *job.snapshots[job.snapshots > at][:1].tolist()])
                began = time.perf_counter()
                code = self._run_segment(folder, replace(job, start=at, stop=stop, state=state), data)
                took = time.perf_counter() - began
                if interrupted.is_set() and code != Exit.done:
                    return Outcome(at, state, "interrupted")
                state = self._collect(folder, job, at, stop, recorder)
                if code == Exit.diverged:
                    return Outcome(int(state["neuromodulator.sample"][0]), state, "diverged")
                pace = (stop - at) / max(took, 1e-3)
                at = stop
                recorder.reached(at, state)
                if at < job.stop and (recorder.stopped or interrupted.is_set()):
                    return Outcome(at, state, "stopped" if recorder.stopped else "interrupted")
                length = max(int(min(_LARGEST_SEGMENT, 8 * length, pace * _SEGMENT_SECONDS)), 1)
            return Outcome(at, state, "done")

    def _run_segment(self, folder: Path, job: Job, data: dict) -> int:
        shown = job.presentation.ticks(job.start, job.stop)
        noise = job.presentation.input_noise(job.start, job.stop)
        due = job.snapshots[(job.snapshots > job.start) & (job.snapshots <= job.stop)] - job.start
        traced = sum(1 << i for i, trace in enumerate(self.blueprint.traces) if trace in job.record)
        counts = [
            len(shown), job.presentation.ticks_per_sample, job.start - job.origin, job.every if job.record else 0,
            len(due), noise is not None, traced, *data["X"], *data["Y"],
        ]  # fmt: skip
        with (folder / "segment").open("wb") as file:
            for values in (
                np.array(counts, np.int64),
                np.array([job.gain_x, job.gain_y]),
                np.asarray(job.mean_x, np.float64),
                np.asarray(job.mean_y, np.float64),
                due.astype(np.int64),
                shown,
            ):
                file.write(values.tobytes())
        if noise is not None:
            (folder / "noise").write_bytes(noise.tobytes())
        (folder / "state").write_bytes(b"".join(np.asarray(v, np.float64).tobytes() for v in job.state.values()))
        if not self.program.exists():  # another process has cleared the cache
            self.program = self._find_or_build()
        done = subprocess.run(
            [self.program],
            cwd=self.program.parent,
            env={**os.environ, "BIORRR_SEGMENT": str(folder), "BIORRR_PARENT": str(os.getpid())},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,  # Ctrl-C is ours to handle
        )
        if done.returncode not in (Exit.done, Exit.diverged):
            raise RuntimeError(
                f"engine 'cpp': the compiled circuit ended with code {done.returncode}: {done.stderr.strip()[-500:]}"
            )
        return done.returncode

    def _collect(self, folder: Path, job: Job, start: int, stop: int, recorder: Recorder) -> dict[str, np.ndarray]:
        """Hand what the segment left to ``recorder``; return the new state."""
        if job.record:
            holders = self.blueprint.traces
            names = [trace for trace in holders if trace in job.record]
            sizes = [1 if holders[name] is self.blueprint.neuromodulator else holders[name].size for name in names]
            rows = np.fromfile(folder / "traces").reshape(-1, sum(sizes))
            columns = np.split(rows, np.cumsum(sizes)[:-1], axis=1)
            first = start + -(start - job.origin) % job.every
            samples = first + np.arange(len(rows)) // job.presentation.held * job.every  # a row for each tick held
            recorder.trace(samples.tolist(), dict(zip(names, columns, strict=True)))
        sizes = [size for part, variable, size in self.blueprint.state if variable == "w"]
        due = job.snapshots[(job.snapshots > start) & (job.snapshots <= stop)]
        rows = np.fromfile(folder / "snapshots").reshape(-1, sum(sizes))
        for t, row in zip(due, rows, strict=False):  # fewer rows where the segment diverged
            weights = np.split(row, np.cumsum(sizes)[:-1])
            recorder.snapshot(int(t), {p.name: w for p, w in zip(self.blueprint.pathways, weights, strict=True)})
        sizes = [size for _, _, size in self.blueprint.state]
        values = np.split(np.fromfile(folder / "state.new"), np.cumsum(sizes)[:-1])
        return dict(zip(job.state, values, strict=True))


def _lay_out(path: Path, values: np.ndarray) -> tuple[int, int]:
    """Put data where the program can map them; return the code of their type and the offset of their first value.

    A memory map of a file stays where it is.
    """
    kind = values.dtype.str[1:]
    readable = kind in _ELEMENT_TYPES and values.dtype.isnative
    if readable and isinstance(values, np.memmap) and values.flags.c_contiguous and _lies_in_a_file(values):
        # A view may begin anywhere in the file: count from the start of the mapping, which numpy rounds down to a page.
        mapped = np.frombuffer(values._mmap, dtype=np.uint8)  # type: ignore[attr-defined]
        begins = values.offset - values.offset % mmap.ALLOCATIONGRANULARITY
        within = values.__array_interface__["data"][0] - mapped.__array_interface__["data"][0]
        path.symlink_to(Path(str(values.filename)).resolve())
        return list(_ELEMENT_TYPES).index(kind), begins + within
    if not readable:
        kind, values = "f8", values.astype(np.float64)
    np.ascontiguousarray(values).tofile(path)
    return list(_ELEMENT_TYPES).index(kind), 0


def _lies_in_a_file(values: np.memmap) -> bool:
    """True where a file holds just these values: copies of a map are no maps, and a private map may have changed."""
    mapped = values._mmap is not None and values.filename is not None  # type: ignore[attr-defined]
    return mapped and values.mode != "c"


def _description(blueprint: Blueprint) -> dict:
    """All that shapes the compiled code."""
    here = Path(__file__).parent
    sources = [here / "assembly.py", here / "device.py", Path(__file__), *sorted((here / "templates").iterdir())]
    return {
        "populations": [
            [p.name, p.size, p.equations, p.response, p.response_order, p.reception, p.update, p.hears, p.traces]
            for p in blueprint.populations
        ],
        "pathways": [
            [p.name, p.source, p.target, p.equations, p.current, p.rule, p.order]
            for p in (*blueprint.pathways, *blueprint.neuromodulator.senses)
        ],
        "neuromodulator": [
            blueprint.neuromodulator.equations, blueprint.neuromodulator.announce, blueprint.neuromodulator.adapt,
            blueprint.neuromodulator.state, blueprint.neuromodulator.broadcast,
        ],
        "state": blueprint.state,
        "chance": chance.SOURCES,
        "dense": _all_to_all(blueprint),
        "sources": [path.read_text() for path in sources],
        "brian2": importlib.metadata.version("brian2"),
        **compiler.identity(),
    }  # fmt: skip


def _all_to_all(blueprint: Blueprint) -> list[str]:
    """Names of the pathways that get plain nested loops; none of them with $BIORRR_DENSE=0."""
    if os.environ.get("BIORRR_DENSE") == "0":
        return []
    # Fibres with a will of their own may speak where nothing was presented: these loops would not listen.
    fibres = [p for p in blueprint.populations if p.name in _PRESENTED]
    altered = [p.name for p in fibres if p.response or p.reception or p.update]
    return [p.name for p in (*blueprint.pathways, *blueprint.neuromodulator.senses) if p.source not in altered]


def _build(blueprint: Blueprint, folder: Path) -> None:
    """Generate the circuit's C++ with Brian2 and compile it to `circuit` in ``folder``."""
    import_brian2()
    import brian2
    import jinja2

    from biorrr.circuit.assembly import TICK, assemble
    from biorrr.circuit.device import DenseDevice
    from biorrr.circuit.loan import borrowed_brian2

    size = {p.name: p.size for p in blueprint.populations}
    pathways = {p.name for p in blueprint.pathways}
    template = Path(__file__).parent / "templates" / "present.cpp"
    code = jinja2.Template(template.read_text(), undefined=jinja2.StrictUndefined).render(
        m=size["sensory"],
        n=size["instructive"],
        k=size["pyramidal"],
        n_pathways=len(blueprint.pathways),
        state=[(part, variable, part in pathways, count) for part, variable, count in blueprint.state],
        traces=[
            (p.name, trace, False, 1 if p is blueprint.neuromodulator else p.size)
            for trace, p in blueprint.traces.items()
        ],
        element_types=list(enumerate(_ELEMENT_TYPES.values())),
        EXIT=Exit,
    )
    present = brian2.Function(lambda t: 1.0, arg_units=[brian2.second], return_unit=1, stateless=False)
    present.implementations.add_implementation(
        "cpp",
        code,
        compiler_kwds={"headers": [f"<{h}>" for h in (
            "algorithm", "cerrno", "cmath", "csignal", "cstdint", "cstdio", "cstdlib", "cstring", "string", "vector",
            "fcntl.h", "sys/mman.h", "sys/stat.h", "sys/time.h", "unistd.h",
            *(["sys/prctl.h"] if sys.platform == "linux" else []),
        )]},
    )  # fmt: skip

    project = Path(tempfile.mkdtemp(prefix="project-", dir=folder))
    device = DenseDevice(frozenset(_all_to_all(blueprint)), _PRESENTED)
    with borrowed_brian2(device, build_on_run=False):
        assemble(blueprint, present).network.run(TICK, namespace={})
        device.build(directory=str(project), compile=False, run=False)
    compiler.compile_program(project / "circuit.cpp", folder / "circuit")
    if os.environ.get("BIORRR_KEEP_SOURCES"):
        shutil.copytree(project, os.environ["BIORRR_KEEP_SOURCES"], dirs_exist_ok=True)
    shutil.rmtree(project)
