"""Whether memory stays flat, however many epochs, and when the data come from a file."""

from __future__ import annotations

import multiprocessing
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from biorrr.sims.bench.goal import Goal

_M, _N, _K = 100, 120, 4
_MB = 2**20


def peak_memory(samples: int) -> tuple[dict[str, Any], list[Goal]]:
    """Peak memory of both processes, this one and the compiled program, above what imports take."""
    rows = []
    for epochs, streamed in ((1, False), (4, False), (1, True), (4, True)):
        # A new process each: memory that was used once is not always given back.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            rows.append(pool.submit(_peaks, samples, epochs, streamed).result())
    return {"rows": rows}, _goals(rows)


def _goals(rows: list[dict[str, Any]]) -> list[Goal]:
    data = rows[0]["data_mb"]
    peaks = [(row["python_mb"], row["program_mb"]) for row in rows]
    worst = flat = None
    note = f"data: {data:.0f} MB"
    if any(peak is None for both in peaks for peak in both):
        note += ", a process was never seen"
    else:
        worst = max(map(max, peaks))
        flat = max(four - one for one, four in zip(*peaks[:2], strict=True))
    return [
        Goal("peak memory above imports, MB, of the larger process", worst, 200 + 1.5 * data, note),
        Goal("more memory for 4 epochs than for 1, MB", flat, 20.0, "" if flat is not None else note),
    ]


def _peaks(samples: int, epochs: int, streamed: bool) -> dict[str, Any]:
    from biorrr.circuit import Microcircuit
    from biorrr.models import Rate, Rates

    circuit = Microcircuit(k=_K, engine="cpp", rates=Rates(x=Rate(1e-4), y=Rate(1e-3), q=Rate(1e-3)))
    tiny = np.random.default_rng(0).standard_normal((10, _M + _N))
    circuit.run(tiny[:, :_M].copy(), tiny[:, _M:].copy(), centre=True, record=(), progress=False)  # imports, and builds
    baseline = psutil.Process().memory_info().rss / _MB
    with tempfile.TemporaryDirectory() as folder:
        X, Y = (_data(Path(folder, f"{view}.npy"), (samples, m), streamed) for view, m in (("X", _M), ("Y", _N)))
        with _watched() as peaks:
            circuit.run(X, Y, epochs=epochs, record=(), progress=False)
    return {
        "epochs": epochs,
        "streamed": streamed,
        "data_mb": (X.nbytes + Y.nbytes) / _MB,
        "python_mb": peaks["python"] - baseline if "python" in peaks else None,
        "program_mb": peaks.get("program"),
    }


def _data(path: Path, shape: tuple[int, int], streamed: bool) -> np.ndarray:
    """Gaussian data, kept in a file and not in memory until they are loaded."""
    view = np.lib.format.open_memmap(path, "w+", np.float64, shape)
    rng = np.random.default_rng(shape[1])
    for first in range(0, len(view), 1000):
        part = view[first : first + 1000]
        part[:] = rng.standard_normal(part.shape)
    view.flush()
    del view, part
    return np.load(path, mmap_mode="r" if streamed else None)


@contextmanager
def _watched() -> Iterator[dict[str, float]]:
    """Keep the largest resident memory, in MB, of this process and of the compiled programs it runs meanwhile.

    It is asked for every 10 ms: not every system tells a peak afterwards. What was never seen has no entry.
    """
    peaks: dict[str, float] = {}
    done = threading.Event()

    def keep(kind: str, process: psutil.Process) -> None:
        peaks[kind] = max(peaks.get(kind, 0.0), process.memory_info().rss / _MB)

    def watch() -> None:
        this = psutil.Process()
        while not done.wait(0.01):
            with suppress(psutil.Error):  # a child that ends while it is looked at
                keep("python", this)
                for child in this.children():
                    if child.name() == "circuit":  # between fork and exec it is still a copy of this process
                        keep("program", child)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peaks
    finally:
        done.set()
        watcher.join()
