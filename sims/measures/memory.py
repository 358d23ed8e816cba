"""Whether memory stays flat, however many epochs, and when the data come from a file."""

from __future__ import annotations

import multiprocessing
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from biorrr.sims.measures.goal import Goal

_M, _N, _K = 100, 120, 4
_MB = 2**20


def memory(samples: int) -> tuple[dict[str, Any], list[Goal]]:
    """Peak memory of both processes, this one and the compiled program, above what imports take."""
    rows = []
    for epochs, streamed in ((1, False), (4, False), (1, True), (4, True)):
        # A new process each: a peak never comes down.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            rows.append(pool.submit(_peaks, samples, epochs, streamed).result())
    data = rows[0]["data_mb"]
    worst = max(max(row["python_mb"], row["program_mb"]) for row in rows)
    flat = max(rows[1]["python_mb"] - rows[0]["python_mb"], rows[1]["program_mb"] - rows[0]["program_mb"])
    return {"rows": rows}, [
        Goal("peak memory above imports, MB, of the larger process", worst, 200 + 1.5 * data, f"data: {data:.0f} MB"),
        Goal("more memory for 4 epochs than for 1, MB", flat, 20.0),
    ]


def _peaks(samples: int, epochs: int, streamed: bool) -> dict[str, Any]:
    from biorrr.circuit import Microcircuit
    from biorrr.models import Rate, Rates

    circuit = Microcircuit(k=_K, engine="cpp", rates=Rates(x=Rate(1e-4), y=Rate(1e-3), q=Rate(1e-3)))
    tiny = np.random.default_rng(0).standard_normal((10, _M + _N))
    circuit.run(tiny[:, :_M].copy(), tiny[:, _M:].copy(), centre=True, record=(), progress=False)  # imports, and builds
    baseline = _resident("self")
    with tempfile.TemporaryDirectory() as folder:
        views = []
        for name, features in (("X", _M), ("Y", _N)):
            path = Path(folder) / f"{name}.npy"
            view = np.lib.format.open_memmap(path, "w+", np.float64, (samples, features))
            rng = np.random.default_rng(features)
            for first in range(0, samples, 1000):
                view[first : first + 1000] = rng.standard_normal((min(1000, samples - first), features))
            view.flush()
            del view
            views.append(np.load(path, mmap_mode="r") if streamed else np.load(path))
        done, program = threading.Event(), [0.0]

        def watch():
            while not done.wait(0.01):
                # Between fork and exec a child is still a copy of this process.
                program[0] = max(program[0], *(_resident(child, name="circuit") for child in _children()), 0.0)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            circuit.run(*views, epochs=epochs, record=(), progress=False)
        finally:
            done.set()
            watcher.join()
        return {
            "epochs": epochs,
            "streamed": streamed,
            "data_mb": sum(view.nbytes for view in views) / _MB,
            "python_mb": _resident("self") - baseline,
            "program_mb": program[0],
        }


def _resident(process: str, name: str = "") -> float:
    """Peak resident memory of a process in MB; 0 once it is gone, or while it is called other than ``name``."""
    try:
        facts = dict(line.split(":\t", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    except OSError:
        return 0.0
    if name not in facts["Name"] or "VmHWM" not in facts:
        return 0.0
    return int(facts["VmHWM"].split()[0]) / 1024


def _children() -> list[str]:
    return [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
