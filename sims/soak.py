"""A long run, killed at random moments and resumed each time, against the same run left alone.

    python -m biorrr.sims.soak [--samples 10_000_000] [--kills 10] [--seed 0]

Prints what docs/trust.md quotes; exits 1 where the two runs differ in a single bit.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from biorrr.circuit import Run
from biorrr.sims.folder import CHECKPOINTS, SUMMARY

DATA_SAMPLES = 10_000
SETTINGS = ("--data", f"synthetic:samples={DATA_SAMPLES},m=8,n=6", "-k", "2", "--engine", "cpp", "--checkpoint", "1")


def main() -> int:
    """Run both, compare them, print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which it is killed")
    told = parser.parse_args()
    settings = (*SETTINGS, "--epochs", str(told.samples // DATA_SAMPLES))
    with tempfile.TemporaryDirectory() as name:
        straight, killed = Path(name, "straight"), Path(name, "killed")
        _wait(_start("learn", *SETTINGS, "--epochs", "1", "--out", Path(name, "compiled")))
        began = time.monotonic()
        memory, _ = _wait(_start("learn", *settings, "--out", straight))
        print(f"straight: {told.samples} samples, {time.monotonic() - began:.0f} s, {memory / 2**20:.0f} MB at most")

        began, memory, kills = time.monotonic(), 0, 0
        moments = random.Random(told.seed)
        process = _start("learn", *settings, "--out", killed)
        for samples in sorted(moments.randrange(told.samples) for _ in range(told.kills)):
            seen, ended = _wait(process, functools.partial(_has_reached, killed / CHECKPOINTS / "seed-0.npz", samples))
            memory = max(memory, seen)
            if ended:
                break
            time.sleep(moments.random())  # anywhere between two checkpoints, or in the midst of one
            process.kill()
            process.wait()
            kills += 1
            process = _start("resume", killed)
        memory = max(memory, _wait(process)[0])
        if process.returncode or not (killed / SUMMARY).exists():
            print(f"the killed run did not finish: exit code {process.returncode}")
            return 1
        print(f"killed {kills} times: {time.monotonic() - began:.0f} s, {memory / 2**20:.0f} MB at most")
        differing = _differing(Run.load(straight / "run.nc"), Run.load(killed / "run.nc"))
    print(f"they differ in {', '.join(differing)}" if differing else "they are equal, bit for bit")
    return int(bool(differing))


def _start(*args: str | Path) -> subprocess.Popen:
    command = [sys.executable, "-c", "from biorrr.sims.main import main; main()", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait(process: subprocess.Popen, until: Callable[[], bool] = lambda: False) -> tuple[int, bool]:
    """Wait for the process to end or for ``until``; its largest resident memory in bytes, and whether it has ended.

    The memory of the compiled circuit, its child, is included.
    """
    largest = 0
    while process.poll() is None and not until():
        largest = max(largest, _resident(process.pid) + sum(map(_resident, _children(process.pid))))
        time.sleep(0.1)
    return largest, process.poll() is not None


def _has_reached(checkpoint: Path, samples: int) -> bool:
    try:
        with np.load(checkpoint, allow_pickle=False) as held:
            return int(held["samples"]) >= samples
    except FileNotFoundError:
        return False


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):  # gone, or a system without /proc
        return 0


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _differing(run: Run, other: Run) -> list[str]:
    return [
        str(name)
        for name in run.data.variables
        if not np.array_equal(run.data[name].values, other.data[name].values, equal_nan=True)
    ]


if __name__ == "__main__":
    sys.exit(main())
