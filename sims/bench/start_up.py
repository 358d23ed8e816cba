"""Start-up times of a cached circuit in a new process and of the command line."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np

from biorrr.sims.bench.goal import Goal
from biorrr.sims.bench.time_per_sample import undisturbed_seconds

_FIRST_SAMPLE = """
import sys
from biorrr.sims.bench.time_per_sample import undisturbed_seconds
import numpy as np
from biorrr.circuit import Microcircuit
from biorrr.models import Rate, Rates
rng = np.random.default_rng(0)
circuit = Microcircuit(k=4, engine="cpp", rates=Rates(x=Rate(1e-4), y=Rate(1e-3), q=Rate(1e-3)))
X, Y = rng.standard_normal((1, 100)), rng.standard_normal((1, 120))
print(undisturbed_seconds(lambda: circuit.run(X, Y, record=(), progress=False)), "brian2" in sys.modules)
"""
_COMMAND_LINE = "from biorrr.sims.start import main; main()"
_LIGHT = (
    "import biorrr.analysis, sys; sys.exit('brian2' in sys.modules or 'matplotlib' in sys.modules)"
)


def start_up(repeats: int) -> tuple[dict[str, Any], list[Goal]]:
    """Seconds in new processes, medians over ``repeats``."""
    _python("-c", _FIRST_SAMPLE)  # builds it where it is not in the cache
    firsts = [_python("-c", _FIRST_SAMPLE).split() for _ in range(repeats)]
    first = float(np.median([float(seconds) for seconds, _ in firsts]))
    shell = {
        option: float(
            np.median(
                [
                    undisturbed_seconds(lambda: _python("-c", _COMMAND_LINE, option))
                    for _ in range(repeats)
                ]
            )
        )
        for option in ("--help", "--version")
    }
    heavy = subprocess.run([sys.executable, "-c", _LIGHT], check=False).returncode
    return {
        "first_sample_after_imports": first,
        "cached_run_imports_brian2": firsts[-1][1] == "True",
        **shell,
    }, [
        Goal(
            "cached circuit in a new process: seconds from imports to the end of one sample",
            first,
            1.0,
        ),
        Goal("biorrr --help, seconds", shell["--help"], 0.5),
        Goal("biorrr --version, seconds", shell["--version"], 0.5),
        Goal("importing biorrr.analysis loads Brian2 or matplotlib (0 is no)", float(heavy), 0.0),
    ]


def _python(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True
    ).stdout
