"""A long run, killed at random moments and resumed each time, against the same run left alone."""

import random
import subprocess
import time

import numpy as np
import psutil
import pytest
import xarray as xr

DATA_SAMPLES, EPOCHS, KILLS = 10_000, 1000, 10
SETTINGS = (
    "--data",
    f'{{name = "synthetic", samples = {DATA_SAMPLES}, m = 8, n = 6}}',
    "-k",
    2,
    "--engine",
    "cpp",
    "--checkpoint",
    1,
)


class Watch:
    """Largest resident memory, in bytes, of processes and the compiled programs they run, and time
    since it began.
    """

    def __init__(self):
        self.began, self.largest = time.monotonic(), 0

    def wait(self, process, until=lambda: False):
        """Wait for the process to end or for ``until``; whether it has ended."""
        watched = psutil.Process(process.pid)
        while process.poll() is None and not until():
            try:
                family = [watched, *watched.children(recursive=True)]
                self.largest = max(self.largest, sum(member.memory_info().rss for member in family))
            except psutil.NoSuchProcess:  # a program that has just ended
                pass
            time.sleep(0.1)
        return process.poll() is not None

    def __str__(self):
        return f"{time.monotonic() - self.began:.0f} s, {self.largest / 2**20:.0f} MB at most"


def has_reached(folder, samples):
    """Whether a checkpoint of the run in ``folder`` has seen so many samples."""
    for path in folder.rglob("[!.]*.npz"):  # not one that is being written
        try:
            with np.load(path, allow_pickle=False) as held:
                return int(held["samples"]) >= samples
        except FileNotFoundError:  # replaced meanwhile
            return False
    return False


@pytest.mark.slow
def test_a_long_run_killed_ten_times(start_biorrr, tmp_path):
    def start(*args):
        return start_biorrr(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    straight, killed = tmp_path / "straight", tmp_path / "killed"
    Watch().wait(start("learn", *SETTINGS, "--epochs", 1, "--out", tmp_path / "compiled"))
    watch = Watch()
    watch.wait(start("learn", *SETTINGS, "--epochs", EPOCHS, "--out", straight))
    print(f"\nstraight: {DATA_SAMPLES * EPOCHS} samples, {watch}")

    watch, kills, moments = Watch(), 0, random.Random(0)
    process = start("learn", *SETTINGS, "--epochs", EPOCHS, "--out", killed)
    for samples in sorted(moments.randrange(DATA_SAMPLES * EPOCHS) for _ in range(KILLS)):
        if watch.wait(process, lambda samples=samples: has_reached(killed, samples)):
            break
        time.sleep(moments.random())  # anywhere between two checkpoints, or in the midst of one
        process.kill()
        process.wait()
        kills += 1
        process = start("resume", killed)
    watch.wait(process)
    print(f"killed {kills} times: {watch}")
    assert process.returncode == 0
    assert kills >= KILLS // 2  # the last moments may fall behind the last checkpoint
    with xr.open_dataset(straight / "run.nc") as one, xr.open_dataset(killed / "run.nc") as other:
        xr.testing.assert_equal(one, other)
