"""Ctrl-C at any moment: at most one sentence, exit code 130, no traceback, and nothing left
running.
"""

import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest

from biorrr.circuit.engines.compiler import find_compiler

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
# Python itself takes some 30 ms to come to our first line, and answers for itself until then.
START = "import os; os.write(1, b'.'); from biorrr.sims.start import main; main()"


@pytest.fixture
def interrupt(tmp_path, monkeypatch):
    """Starts ``biorrr``, sends Ctrl-C to all of its processes after some seconds, and looks at how
    it ends.
    """

    def interrupt(after, *args, times=1):
        process = subprocess.Popen(
            [sys.executable, "-c", START, *map(str, args)],
            cwd=tmp_path,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            process.stdout.read(1)
            time.sleep(after)
            assert process.poll() is None, f"ended before {after:.3f} s: {process.communicate()}"
            children = psutil.Process(process.pid).children(recursive=True)
            for _ in range(times):
                os.killpg(process.pid, signal.SIGINT)
                time.sleep(0.05)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
        assert (process.returncode, err.count(b"\n")) == (
            130,
            1,
        ), f"after {after:.3f} s: {err.decode()}"
        assert err.startswith(b"biorrr: interrupted")
        assert psutil.wait_procs(children, timeout=10)[1] == []
        return err.decode()

    return interrupt


def moments(count, longest):
    """Half of them in the first moments, while all is imported."""
    rng = random.Random(int(os.environ.get("BIORRR_FUZZ_SEED", "0")))
    return [rng.uniform(0.02, longest if i % 2 else 0.5) for i in range(count)]


def many(few, times):
    """The first in every run of the tests, the others where there is time."""
    return [*times[:few], *(pytest.param(moment, marks=pytest.mark.slow) for moment in times[few:])]


@pytest.mark.parametrize("after", many(1, moments(12, 6)))
def test_learn(interrupt, own_data, tmp_path, after):
    interrupt(
        after,
        "learn",
        "--data",
        own_data,
        "--engine",
        "numpy",
        "--epochs",
        10_000,
        "--out",
        tmp_path / "out",
    )


@needs_compiler
@pytest.mark.parametrize("after", many(0, moments(8, 8)))
def test_compare(interrupt, own_data, tmp_path, after):
    options = ("-k", 2, "--seeds", 3, "--steps", 3_000_000, "--engine", "cpp", "--checkpoint", 0.1)
    interrupt(after, "compare", "--data", own_data, *options, "--out", tmp_path / "out")


@needs_compiler
@pytest.mark.parametrize("after", many(0, moments(8, 10)))
def test_sweep_with_workers(interrupt, own_data, tmp_path, after):
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    plan = (
        f"seeds = 500\n[fixed]\ndata = '{own_data}'\nengine = 'cpp'\nepochs = 300\n[grid]\nk = [1,"
        " 2]\n"
    )
    (tmp_path / "sweep.toml").write_text(plan)
    interrupt(after, "sweep", tmp_path / "sweep.toml", "--workers", 2, "--out", tmp_path / "out")


@pytest.mark.slow
@needs_compiler
def test_the_second_ends_at_once(interrupt, own_data, tmp_path):
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    plan = (
        f"seeds = 500\n[fixed]\ndata = '{own_data}'\nengine = 'cpp'\nepochs = 300\n[grid]\nk = [1,"
        " 2]\n"
    )
    (tmp_path / "sweep.toml").write_text(plan)
    begun = time.monotonic()
    interrupt(
        8, "sweep", tmp_path / "sweep.toml", "--workers", 2, "--out", tmp_path / "out", times=2
    )
    assert time.monotonic() - begun < 12


SWALLOWED = """
import os, signal, time
from biorrr.sims import main
from biorrr.sims.start import heed_interrupts
heed_interrupts()
class Held:
    def __del__(self): os.kill(os.getpid(), signal.SIGINT)
def command():
    {swallow}
main.find_command = lambda name: command
raise SystemExit(main.run(["learn"]))
"""


@pytest.mark.parametrize(
    "swallow",
    [
        "Held()",
        "exec('try:\\n os.kill(os.getpid(), 2); time.sleep(9)\\nexcept: pass')",
        (
            "exec('try:\\n os.kill(os.getpid(), 2); time.sleep(9)\\nexcept BaseException: raise"
            " ImportError')"
        ),
    ],
    ids=["by a destructor", "by a bare except", "and made another error"],
)
def test_swallowed_interrupt_is_not_forgotten(swallow):
    script = SWALLOWED.format(swallow=swallow)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stderr) == (130, "biorrr: interrupted\n")
