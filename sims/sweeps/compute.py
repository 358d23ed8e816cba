"""The points of a sweep, each computed by one worker."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.errors import BiorrrError
from biorrr.sims.experiments import find_experiment
from biorrr.sims.lab.experiment import carry_out, evaluate
from biorrr.sims.lab.run_folder import RunFolder
from biorrr.sims.lab.workers import submit_here

if TYPE_CHECKING:
    from biorrr.sims.data import Dataset

Entry = dict[str, Any]


def compute_point(
    point: tuple[Any, Path | None], experiment: str, data: Mapping[Any, Dataset]
) -> Entry:
    """Compute one point, given its settings and its run folder, if it leaves one; a failure is an
    entry too.
    """
    settings, folder = point
    try:
        printed = io.StringIO()  # tables and progress of every point
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("ignore")  # said once for the whole sweep, and not by every point
            given = {value: data[value] for value in settings.every_data}
            if folder is None:
                findings = evaluate(find_experiment(experiment), settings, given)
            else:
                run_folder = RunFolder(experiment, folder, force=True)
                findings = carry_out(
                    find_experiment(experiment), settings, run_folder, given, submit_here
                )
    except (Exception, SystemExit) as error:
        if getattr(error, "exit_code", None) == 130:  # interrupted, and no fault of the point's
            raise KeyboardInterrupt from error
        return failed(error)
    return {
        "status": "done",
        "reason": None,
        "data_sha256": checksum_of(*given.values()),
        "units": {one.name: one.unit for one in findings.every_quantity if one.unit},
        "numbers": findings.numbers,
    }


def in_memory(data: Dataset) -> Dataset:
    """Return samples as plain arrays, which can be sent; a memory map cannot."""
    if not hasattr(data, "X"):
        return data
    return replace(data, X=np.asarray(data.X), Y=np.asarray(data.Y))


def checksum_of(*data: Dataset) -> str:
    """Return the checksum of the data of a point."""
    return ",".join(one.checksum for one in data)


def failed(error: BaseException) -> Entry:
    """Return the entry of a point that has failed."""
    kind = "" if isinstance(error, BiorrrError) else f"{type(error).__name__}: "
    entry = {"status": "failed", "reason": f"{kind}{error}"}
    return entry | {"data_sha256": None, "units": {}, "numbers": {}}
