"""The points of a sweep, computed by processes on this machine or by Dask workers elsewhere."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import os
import socket
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.errors import BiorrrError
from biorrr.sims.experiments import find_experiment
from biorrr.sims.lab.carry_out import carry_out, evaluate
from biorrr.sims.lab.circuits import absolute
from biorrr.sims.lab.folder import RunFolder, plain_value
from biorrr.sims.lab.lab import StoppedError
from biorrr.sims.lab.processes import DIED, Workers
from biorrr.sims.lab.settings import Settings, SettingsError
from biorrr.sims.sweeps.plan import Plan

if TYPE_CHECKING:
    from biorrr.sims.data import Dataset

Entry = dict[str, Any]
_GONE = (
    "sweep: the scheduler is gone; finished points are kept; the same command goes on with the rest"
)


def compute(
    plan: Plan,
    points: list[Settings],
    data: dict[Any, Dataset],
    workers: int | None,
    scheduler: str | None,
    folders: dict[Settings, Path],
) -> Iterator[tuple[Settings, Entry]]:
    """Compute ``points`` of ``plan``; yield each with its ledger entry as it is finished.

    Parameters
    ----------
    plan, points
        The sweep, and which of its points.
    data
        Loaded data by their values; each goes to a Dask worker once, however many points it
        computes.
    workers
        Number of processes on this machine; None for one per processor, 0 for this process alone.
    scheduler
        Address of a Dask scheduler to use instead.
    folders
        Run folders of the points that leave one.
    """
    if scheduler is None:
        work = partial(_compute_here, plan.experiment, data)
        with Workers(
            work, os.cpu_count() or 1 if workers is None else workers, lost=_failed(DIED)
        ) as pool:
            yield from pool.run({settings: folders.get(settings) for settings in points})
        return
    try:
        yield from _compute_on_dask(plan, points, data, scheduler, folders)
    except OSError as error:  # Dask's errors of communication
        raise StoppedError(_GONE, exit_code=1) from error


def _compute_here(
    experiment: str, data: dict[Any, Dataset], settings: Settings, folder: Path | None
) -> Entry:
    return compute_point(
        experiment, settings, folder, *(data[value] for value in settings.every_data)
    )


def _compute_on_dask(plan, points, data, scheduler, folders) -> Iterator[tuple[Settings, Entry]]:
    from distributed import KilledWorker, as_completed

    with _quiet(), _client(scheduler) as client, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        # As tasks rather than scattered: when all workers that hold the data have died, they are
        # sent again.
        sent = {
            value: client.submit(_pass_on, held, key=f"data-{held.checksum}")
            for value, held in data.items()
        }
        futures = {
            client.submit(
                compute_point,
                plan.experiment,
                replace(
                    settings, circuit=absolute(settings.circuit)
                ),  # workers may be in another folder
                folders[settings].absolute() if settings in folders else None,
                *map(sent.get, settings.every_data),
                pure=False,
            ): settings
            for settings in points
        }
        for future in as_completed(futures, loop=client.loop, raise_errors=False):
            settings = futures.pop(future)
            failure = future.exception() if future.status == "error" else None
            if isinstance(failure, KilledWorker):
                yield settings, _failed(DIED)
            elif failure is not None:
                yield settings, _failed(f"{type(failure).__name__}: {failure}")
            elif future.status == "finished":
                yield settings, future.result()
            else:
                raise StoppedError(_GONE, exit_code=1)


def compute_point(experiment: str, settings: Any, folder: Path | None, *data: Dataset) -> Entry:
    """Compute one point; a failure is an entry too."""
    try:
        printed = io.StringIO()  # tables and progress of every point
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("ignore")  # said once for the whole sweep, and not by every point
            given = dict(zip(settings.every_data, data, strict=True))
            if folder is None:
                findings = evaluate(find_experiment(experiment), settings, given)
            else:
                run_folder = RunFolder(experiment, folder, force=True)
                findings = carry_out(
                    find_experiment(experiment), settings, run_folder, given, workers=1
                )
    except (Exception, SystemExit) as error:
        if getattr(error, "exit_code", None) == 130:  # interrupted, and no fault of the point's
            raise KeyboardInterrupt from error
        return _failed(
            f"{error}" if isinstance(error, BiorrrError) else f"{type(error).__name__}: {error}"
        )
    return {
        "status": "done",
        "reason": None,
        "data_sha256": checksum_of(*data),
        "units": {one.name: one.unit for one in findings.every_quantity if one.unit},
        "numbers": {name: plain_value(name, value) for name, value in findings.numbers.items()},
    }


def check_scheduler(scheduler: str) -> None:
    """Refuse at once to begin without Dask, or with an address at which nothing listens."""
    if importlib.util.find_spec("distributed") is None:
        raise SettingsError(
            "scheduler: needs distributed, which is not installed; pip install 'biorrr[cluster]'"
        )
    host, _, port = scheduler.rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        raise SettingsError(
            f"scheduler: must be an address such as tcp://127.0.0.1:8786 (got {scheduler!r})"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise SettingsError(f"scheduler: no answer from {scheduler}; is it running?") from error


def in_memory(data: Dataset) -> Dataset:
    """Return samples as plain arrays, which can be sent; a memory map cannot."""
    if not hasattr(data, "X"):
        return data
    return replace(data, X=np.asarray(data.X), Y=np.asarray(data.Y))


def checksum_of(*data: Dataset) -> str:
    """Return the checksum of the data of a point."""
    return ",".join(one.checksum for one in data)


def _pass_on(data: Dataset) -> Dataset:
    return data


def _failed(reason: str) -> Entry:
    return {"status": "failed", "reason": reason, "data_sha256": None, "units": {}, "numbers": {}}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging: the table and the last lines report on workers that come and go."""
    names = [
        name
        for name in logging.root.manager.loggerDict
        if name.split(".")[0] in ("distributed", "tornado")
    ]
    before = {name: logging.getLogger(name).level for name in (*names, "asyncio")}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextlib.contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    """Connect a Dask client to ``scheduler``."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise SettingsError(f"scheduler: no answer from {scheduler}; is it running?") from error
    with client:
        yield client
