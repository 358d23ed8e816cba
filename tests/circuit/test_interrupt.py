"""Ctrl-C, as a person presses it: the run ends between two samples and holds what was recorded."""

import os
import signal
import subprocess
import sys

import pytest

from biorrr.circuit import Run

SCRIPT = """
import sys
import numpy as np
from biorrr.circuit import Microcircuit
from biorrr.models import Rate, Rates

rng = np.random.default_rng(0)
circuit = Microcircuit(2, interneurons=3, rates=Rates(Rate(1e-3), Rate(1e-3), Rate(1e-3)), engine=sys.argv[1])
told = []

def tell(t, weights):
    if not told:
        told.append(print("learning", flush=True))

run = circuit.run(rng.standard_normal((1000, 6)), rng.standard_normal((1000, 4)), epochs=10**6, every=10**6,
                  callback=tell, centre=True)
run.save(sys.argv[2])
print(run.ended, run.samples)
"""


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_ctrl_c(engine, make_circuit, data, tmp_path):
    make_circuit(engine).run(
        data[0][:2], data[1][:2]
    )  # compiled, so that the script starts to learn at once
    learning = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, engine, str(tmp_path / "run.nc")],
        cwd=tmp_path,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert learning.stdout.readline() == "learning\n"
        learning.send_signal(signal.SIGINT)
        out, err = learning.communicate(timeout=60)
    finally:
        learning.kill()
    assert learning.returncode == 0, err
    ended, samples = out.split()
    assert ended == "interrupted"
    assert f"interrupted after {samples} samples; the run holds what was recorded" in err
    run = Run.load(tmp_path / "run.nc")
    assert run.ended == "interrupted"
    assert 0 < run.samples == int(samples) < 10**9


@pytest.mark.slow
def test_ctrl_c_that_is_ignored_stays_ignored(tmp_path):
    """As in the background of a shell script."""
    script = (
        "import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from biorrr.circuit.engines.brian2_private import import_brian2; import_brian2()\n"
        "os.kill(os.getpid(), signal.SIGINT); print('still here')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, "still here\n"), done.stderr
