"""``biorrr sweep``: an experiment over many settings and seeds, in one table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biorrr.files import whole_file
from biorrr.sims.lab.items import StoppedError
from biorrr.sims.lab.own_circuits import check_circuit
from biorrr.sims.lab.run_folder import (
    CONFIG,
    PROVENANCE,
    SUMMARY,
    FolderError,
    inside,
    is_in_use,
    lock,
    save_figure,
)
from biorrr.sims.lab.settings import SettingsError, provenance
from biorrr.sims.lab.workers import Dask, Processes, submit_here
from biorrr.sims.sweeps.plan import Plan, make_plan, read_plan
from biorrr.sims.sweeps.points import (
    FAILED,
    RUNS,
    TABLE,
    Table,
    checksum_of,
    compute_point,
    failed,
    in_memory,
    lab_of,
    path_of,
    read_point,
)

if TYPE_CHECKING:
    import pandas

PLAN = "sweep.toml"  # in the sweep's folder: what it was made from


def sweep(
    *,
    out: str | Path,
    workers: int | None = None,
    scheduler: str | None = None,
    folders: bool = False,
    retry: bool = False,
    **points: Any,
) -> pandas.DataFrame:
    """Run an experiment at many points and return the table of results.

    In a script, call it under ``if __name__ == "__main__":``, since workers on this machine import
    the script.

    Parameters
    ----------
    out
        Folder of the sweep. Points that are finished in it are not computed again.
    workers
        How many processes on this machine; one per processor unless given, 0 for this process
        alone.
    scheduler
        Address of a Dask scheduler to use instead.
    folders
        Leave a run folder for each point, in ``out``/runs.
    retry
        Compute failed points again.
    points
        What to run: ``experiment``, ``seeds``, ``measure``, ``fixed`` and either ``grid`` or
        ``list``; see :func:`biorrr.sims.sweeps.plan.make_plan`.
    """
    import pandas

    table = _carry_out(make_plan(**points), Path(out), workers, scheduler, folders, retry)
    return pandas.DataFrame(table.rows)


def command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="TOML file that says what to vary (see the example above)"
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="folder of the sweep  [default: runs/sweep-<file>]"
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=0,
            metavar="INTEGER",
            help="number of processes on this machine, by default as many as processors; 0 runs"
            " everything in this process",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="address of a Dask scheduler to use instead"
        ),
    ] = None,
    circuit: Annotated[
        str | None,
        typer.Option(
            "--circuit",
            metavar="MODULE:FUNCTION|FILE.py:FUNCTION",
            help="your own function that returns the circuit to be simulated",
        ),
    ] = None,
    folders: Annotated[
        bool, typer.Option("--folders", help="write a run folder for each point")
    ] = False,
    retry: Annotated[bool, typer.Option("--retry", help="compute failed points again")] = False,
    status: Annotated[
        bool,
        typer.Option("--status", help="report how far the sweep has come, and do nothing else"),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error")] = False,
) -> None:
    """Run an experiment over many settings and seeds, and collect the results in one table.

    Points that are finished are never computed again: the same command continues an interrupted
    sweep. This file runs `biorrr learn` at nine points with three seeds each:

    \b
        experiment = "learn"
        seeds = 3
        [fixed]
        data = "digits"
        epochs = 20
        [grid]
        k = [1, 2, 4]
        s = [0.0, 0.5, 1.0]

    In place of [grid], [[list]] names the points one by one.
    """  # noqa: D301 (click reads \b as "do not wrap")
    plan = read_plan(file, circuit)
    # Named after the file and not after the time, so that the same command finds what is finished.
    out = out or Path("runs") / f"sweep-{file.stem}"
    if not status:
        _carry_out(plan, out, workers, scheduler, folders, retry)
    _report(plan, out, finished=not status)


def resume_sweep(out: Path, circuit: str | None) -> None:
    """Continue the sweep in a folder as it was begun; refuse one that began with other data, or
    another circuit.
    """
    plan = read_plan(out / PLAN, folder=out)
    used = {getattr(settings, "circuit", None) for settings in plan.points}
    if len(used) > 1:
        raise SettingsError(
            f"circuit: the sweep in {out} has used several; to run them, name the plan: biorrr"
            f" sweep {out / PLAN} --out {out}"
        )
    check_circuit(f"the sweep in {out}", used.pop(), circuit)
    points = (read_point(plan, out, settings) for settings in plan.points)
    if all(point is not None for point in points) and (out / TABLE).exists():
        print(f"{out}: finished; nothing to resume")
        return
    _carry_out(plan, out, None, None, folders=inside(out, RUNS).is_dir(), retry=False, resumed=True)
    _report(plan, out, finished=True)


def _carry_out(
    plan: Plan,
    out: Path,
    workers: int | None,
    scheduler: str | None,
    folders: bool,
    retry: bool,
    resumed: bool = False,
) -> Table:
    """Compute what is not finished, and write table and figure."""
    import tomli_w

    submit = Dask(scheduler) if scheduler else Processes(workers or os.cpu_count() or 1)
    submit = submit_here if workers == 0 and not scheduler else submit
    values = dict.fromkeys(value for settings in plan.points for value in settings.every_data)
    data = {value: in_memory(value.load()) for value in values}
    with lock(out):
        if any((out / name).exists() for name in (CONFIG, SUMMARY)):
            raise FolderError(f"out: {out} has a run in it; choose another folder")
        with whole_file(out / PLAN) as path:
            origin = {PROVENANCE: provenance("sweep")}
            path.write_text(tomli_w.dumps({**plan.source, **origin}), encoding="utf-8")
        _forget_stale(plan, out, data, retry, resumed)
        # A table means that nothing is left to do, unless an interruption has left one.
        inside(out, TABLE).unlink(missing_ok=True)
        try:
            lab_of(plan, out, submit).map(
                compute_point,
                {"settings": ("point", plan.points)},
                plan.experiment,
                data,
                folders,
                os.getcwd(),
                on_error=failed,
            )
            table = Table.read(plan, out)
            axes = table.plot()
            if axes is not None:
                with whole_file(out / "sweep.png") as path:
                    save_figure(axes, path)
                with whole_file(out / "sweep.md") as path:
                    path.write_text(table.caption, encoding="utf-8")
        finally:
            table = Table.read(plan, out)
            table.write(out)
    return table


def _forget_stale(
    plan: Plan, out: Path, data: Mapping[Any, Any], retry: bool, resumed: bool
) -> None:
    """Delete points that are to be computed again: those of other data, and damaged ones, and on
    ``retry`` those that failed. A sweep that is resumed refuses other data.
    """
    for settings in plan.points:
        path, point = path_of(plan, out, settings), read_point(plan, out, settings)
        inside(out, RUNS, path.stem)  # refuses links
        known = point is not None
        if point is not None and point.attrs["status"] == FAILED:
            known = not retry
        elif point is not None:
            checksum = checksum_of(*map(data.__getitem__, settings.every_data))
            known = point.attrs.get("data_sha256") == checksum
            if resumed and not known:
                raise FolderError(
                    f"data: changed since the sweep in {out} began (another checksum); put back"
                    " what they were, or compute all points again: biorrr sweep"
                    f" {out / PLAN} --out {out}"
                )
        if not known:
            path.unlink(missing_ok=True)


def _report(plan: Plan, out: Path, finished: bool) -> None:
    """Print how far the sweep has come, what failed and why, and the lowest point of each problem.

    A sweep that is finished and of which every point has failed ends the command with exit code 1.
    """
    table = Table.read(plan, out)
    counts, *further = table.report()
    running = " (running)" if out.is_dir() and is_in_use(out) else ""
    print(f"{out}: {counts}{running}", *further, sep="\n  ")
    if (out / TABLE).exists():
        print(f"  table {out / TABLE}")
    if finished and table.failed and len(table.failed) == len(table.rows):
        raise StoppedError(
            f"sweep: all {len(table.failed)} points failed; correct the cause and add --retry"
        )
