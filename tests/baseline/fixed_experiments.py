"""Fixed command lines of every experiment, and the numbers of their summaries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from fixed_data import FILES

NO_DATA = "needs the real data files; set BIORRR_DATA to their folder"


@dataclass(frozen=True)
class Experiment:
    """One command line, and the numbers of it that are kept.

    Left out of every summary: words (verdicts, names, engines), ``claims`` and ``own_tests``
    (sentences about numbers that stand beside them), and all that is measured in seconds of the
    machine (``TIMES``).

    Attributes
    ----------
    command
        What follows ``biorrr``, without --out.
    real_data
        Whether it cannot run without the files in $BIORRR_DATA.
    offline
        Whether it is kept from finding or loading any data files, so that it does the same on every
        machine.
    results
        Whether the means of the arrays in run.nc are kept too, where the summary has few numbers.
    without
        Beginnings of further names that are left out.
    """

    command: str
    real_data: bool = False
    offline: bool = False
    results: bool = False
    without: tuple[str, ...] = ()


TIMES = ("seconds", "cpu")
SENTENCES = ("claims", "own_tests")
SMALL = "--data small.npz"
EXPERIMENTS = {
    "learn": Experiment(f"learn {SMALL} --set epochs=4 --set s=0.5 --seeds 2 --engine numpy"),
    "learn-digits": Experiment("learn --set epochs=5 --engine cpp"),
    "plateau": Experiment(f"plateau {SMALL} --set epochs=12 --seeds 1 --engine cpp"),
    # Relative errors of ||Q' - R|| once it is 1e-8 of its start, and its end: nothing but rounding.
    "symmetry": Experiment(
        f"symmetry {SMALL} --set etas=[0.003,0.01] --seeds 2 --engine cpp",
        without=("relative_error", "negative_relative_error", "deviation", "distance_max"),
    ),
    "wiring": Experiment(f"wiring {SMALL} --set epochs=2 --engine numpy"),
    "family": Experiment(
        f"family {SMALL} --set epochs=2 --set s=[0.0,0.4,1.0] --seeds 2 --engine cpp"
    ),
    "compare": Experiment(f"compare {SMALL} --set k=[1,2] --set steps=600 --seeds 2 --engine cpp"),
    "compare-cca-offline": Experiment(
        f"compare {SMALL} --set k=[2] --set steps=400 --set objective=cca --set setting=offline"
        " --seeds 2"
    ),
    "images": Experiment("paper --only images --seeds 1", real_data=True),
    "sensitivity": Experiment("paper --only sensitivity --seeds 1", real_data=True),
    # The chapters that need no data files.
    "paper": Experiment(
        "paper --set quick=true --seeds 1 --engine cpp",
        offline=True,
        without=(
            "symmetry_relative_error",
            "symmetry_negative_relative_error",
            "symmetry_deviation",
            "symmetry_distance_max",
        ),
    ),
    "communication": Experiment(
        "communication --data areas.npz --source V1 --target V2 --set ranks=[1,2] --set folds=2"
        " --set epochs=3 --set draws=3 --set shuffles=5 --engine cpp"
    ),
    "hierarchy": Experiment(
        f"hierarchy {SMALL} --set areas=[3,2] --set samples=6000 --seeds 2 --engine cpp"
    ),
    "robustness": Experiment(
        "robustness --set data=['small.npz'] --set samples=900 --seeds 2 --engine cpp "
        "--set departures=['dale','noise','connections','lesion']",
        results=True,
    ),
    "theories": Experiment(
        "theories --set data=['small.npz'] --set samples=900 --set rates=[0.1] --seeds 2"
        " --engine cpp --set theories=['backprop','bursts','Bio-CCA','Bio-RRR']",
    ),
    # No run is long enough to settle. What is left after few samples is decided by the start, and
    # how far theory is off by rounding.
    "interneurons": Experiment(
        "interneurons --set data=['small.npz'] --set k=2 --set samples=1000 --set rates=[0.003]"
        " --set ratios=[1.0,10.0] --seeds 2 --engine cpp",
        without=("decay_deviation", "frequency_deviation", "more_difference"),
    ),
    # Errors are small differences of numbers that are kept, and as precise as the fit's stopping
    # rule. Without traces nothing is learned from late instruction, and where the circuit strays to
    # is decided by rounding.
    "timing": Experiment(
        f"timing {SMALL} --set delays=[0,2] --set quick=true --seeds 1 --engine cpp",
        without=(
            "time_constant_error",
            "field_place_error",
            "field_width_error",
            "angle_plain_2",
            "angle_plain_late",
            "excess_plain_2",
        ),
    ),
}


def numbers(
    found: Mapping[str, Any], without: tuple[str, ...] = (), prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield the numbers of a summary by name; those of a dictionary or list in it as
    ``name.key``."""
    for key, value in found.items():
        name = f"{prefix}{key}"
        if any(time in name for time in TIMES) or name in SENTENCES or name.startswith(without):
            continue
        if isinstance(value, dict | list):
            yield from numbers(
                value if isinstance(value, dict) else dict(enumerate(value)), without, f"{name}."
            )
        elif not isinstance(value, str):
            yield name, value


def measure_experiment(name: str) -> dict[str, Any]:
    """Run the command in a folder of its own and return the numbers of its summary."""
    experiment = EXPERIMENTS[name]
    with tempfile.TemporaryDirectory() as place:
        for file, draw in FILES.items():
            np.savez(Path(place, file), **draw())
        installed = Path(sys.executable).with_name("biorrr")
        command = [str(installed), *experiment.command.split(), "--out", "run"]
        environment = os.environ | {
            "OMP_NUM_THREADS": "1"
        }  # sums do not depend on the number of cores
        if experiment.offline:
            nowhere = "http://127.0.0.1:9"
            environment |= {
                "BIORRR_DATA": place,
                "XDG_CACHE_HOME": place,
                "http_proxy": nowhere,
                "https_proxy": nowhere,
            }
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(
                f"biorrr {experiment.command}: ended with code {done.returncode}\n{done.stderr}"
            )
        found = dict(
            numbers(json.loads(Path(place, "run", "summary.json").read_text()), experiment.without)
        )
        return found | (means(Path(place, "run", "run.nc")) if experiment.results else {})


def means(path: Path) -> dict[str, float]:
    """Return the mean of every array of numbers in a file, over its finite entries."""
    with xr.open_dataset(path, engine="h5netcdf") as results:
        arrays = {
            name: array.values
            for name, array in results.data_vars.items()
            if array.dtype.kind == "f"
        }
    return {
        f"mean {name}": float(values[np.isfinite(values)].mean()) for name, values in arrays.items()
    }


def lacks_data(name: str) -> bool:
    """Return True if an experiment needs data files and no folder is named."""
    return EXPERIMENTS[name].real_data and not os.environ.get("BIORRR_DATA")
