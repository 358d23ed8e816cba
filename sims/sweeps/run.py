"""``biorrr sweep``: an experiment over many settings and seeds, in one table."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biorrr.files import whole_file
from biorrr.sims.lab.lab import StoppedError
from biorrr.sims.lab.own_circuits import absolute, check_circuit
from biorrr.sims.lab.run_folder import CONFIG, SUMMARY, is_in_use, lock, save_figure
from biorrr.sims.lab.safe_files import FolderError, inside
from biorrr.sims.lab.settings import PROVENANCE, SettingsError, provenance
from biorrr.sims.lab.workers import Dask, Processes, submit_here
from biorrr.sims.sweeps.ledger import TABLE, Ledger, Table
from biorrr.sims.sweeps.plan import Plan, make_plan, read_plan

if TYPE_CHECKING:
    import pandas

PLAN, RUNS = (
    "sweep.toml",
    "runs",
)  # in the sweep's folder: what it was made from, and run folders of its points


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
    ledger = Ledger(out)
    if all(ledger.read(plan, settings) for settings in plan.points) and (out / TABLE).exists():
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

    from biorrr.circuit.simulation.progress import progress_bar
    from biorrr.sims.sweeps.compute import checksum_of, compute_point, failed, in_memory

    submit = Dask(scheduler) if scheduler else Processes(workers or os.cpu_count() or 1)
    submit = submit_here if workers == 0 and not scheduler else submit
    values = dict.fromkeys(value for settings in plan.points for value in settings.every_data)
    data = {value: in_memory(value.load()) for value in values}
    ledger = Ledger(out)
    with lock(out):
        _refuse_a_run(out)
        with whole_file(out / PLAN) as path:
            origin = {PROVENANCE: provenance("sweep")}
            path.write_text(tomli_w.dumps({**plan.source, **origin}), encoding="utf-8")
        left = []
        for settings in plan.points:
            entry = ledger.read(plan, settings)
            checksum = checksum_of(*map(data.__getitem__, settings.every_data))
            has_failed = entry is not None and entry["status"] == "failed"
            known = entry is not None and (has_failed or entry["data_sha256"] == checksum)
            if entry and not known and resumed:
                raise FolderError(
                    f"data: changed since the sweep in {out} began (another checksum); put back"
                    " what they were, or compute all points again: biorrr sweep"
                    f" {out / PLAN} --out {out}"
                )
            if not known or (retry and has_failed):
                left.append(settings)
        places = [
            inside(out, RUNS, ledger.path(plan, one).stem).absolute() if folders else None
            for one in left
        ]
        # Workers elsewhere are in other folders.
        settings_left: list[Any] = left
        items = [
            replace(one, circuit=absolute(one.circuit))
            if scheduler and hasattr(one, "circuit")
            else one
            for one in settings_left
        ]
        # A table means that nothing is left to do, unless an interruption has left one.
        inside(out, TABLE).unlink(missing_ok=True)
        try:
            with (
                closing(
                    submit(
                        compute_point,
                        (plan.experiment, data),
                        [*zip(items, places, strict=True)],
                    )
                ) as entries,
                progress_bar(
                    len(plan.points), " points", "sweeping", initial=len(plan.points) - len(left)
                ) as bar,
            ):
                for number, entry in entries:
                    entry = failed(entry) if isinstance(entry, Exception) else entry
                    ledger.write(plan, left[number], entry)
                    bar.update()
            found = ledger.table(plan)
            axes = found.plot()
            if axes is not None:
                with whole_file(out / "sweep.png") as path:
                    save_figure(axes, path)
                with whole_file(out / "sweep.md") as path:
                    path.write_text(found.caption, encoding="utf-8")
        finally:
            table = ledger.write_table(plan)
    return table


def _refuse_a_run(out: Path) -> None:
    if any((out / name).exists() for name in (CONFIG, SUMMARY)):
        raise FolderError(f"out: {out} has a run in it; choose another folder")


def _report(plan: Plan, out: Path, finished: bool) -> None:
    """Print how far the sweep has come, what failed and why, and the lowest point of each problem.

    A sweep that is finished and of which every point has failed ends the command with exit code 1.
    """
    table = Ledger(out).table(plan)
    counts, *further = table.report()
    running = " (running)" if out.is_dir() and is_in_use(out) else ""
    print(f"{out}: {counts}{running}", *further, sep="\n  ")
    if (out / TABLE).exists():
        print(f"  table {out / TABLE}")
    if finished and table.failed and len(table.failed) == len(table.rows):
        raise StoppedError(
            f"sweep: all {len(table.failed)} points failed; correct the cause and add --retry"
        )
