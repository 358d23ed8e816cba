"""``biorrr sweep``: an experiment at many points, each computed by one worker, kept in the sweep's
folder the moment it is finished, and listed in a table.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import os
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biorrr.errors import BiorrrError
from biorrr.files import whole_file
from biorrr.sims.experiments import find_experiment
from biorrr.sims.lab.findings import readable
from biorrr.sims.lab.items import (
    StoppedError,
    Task,
    compute_items,
    digest_of,
    kept_result,
    submit_here,
)
from biorrr.sims.lab.lab import carry_out, evaluate
from biorrr.sims.lab.own_circuits import absolute, check_circuit
from biorrr.sims.lab.run_folder import (
    CONFIG,
    PROVENANCE,
    SUMMARY,
    FolderError,
    RunFolder,
    inside,
    is_in_use,
    lock,
    save_figure,
)
from biorrr.sims.lab.settings import Settings, SettingsError, key_of, provenance
from biorrr.sims.lab.workers import Dask, Processes
from biorrr.sims.lazy import np, xr
from biorrr.sims.sweeps.plan import Plan, make_plan, read_plan

if TYPE_CHECKING:
    import pandas

    from biorrr.sims.data import Dataset

# In the sweep's folder.
PLAN, POINTS, RUNS, FIGURE, TABLE = "sweep.toml", "points", "runs", "sweep.png", "sweep.csv"
DONE, FAILED = "done", "failed"
SHOWN = 5  # failures and problems that are listed

SHOWN_MEANS = 12  # in a caption

Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """The finished points of a sweep, in the order of its plan.

    Parameters
    ----------
    plan
        The sweep.
    rows
        Settings, seed, status, numbers and reason of each point, by name; every row has every
        column.
    unit
        Unit of the plan's measure.
    """

    plan: Plan
    rows: list[Row]
    unit: str

    @property
    def names(self) -> list[str]:
        """Columns of the settings that vary."""
        return [*map(key_of, self.plan.varied)]

    @property
    def failed(self) -> list[Row]:
        """Rows of the points that failed."""
        return [row for row in self.rows if row["status"] == "failed"]

    @property
    def lowest_first(self) -> list[Row]:
        """The rows, those without the measure last."""

        def place(row: Row) -> float:
            value = row[self.plan.measure]
            return value if isinstance(value, int | float) else math.inf

        return sorted(self.rows, key=place)

    def grouped(self, names: list[str]) -> dict[tuple, list[Row]]:
        """Return the rows that have the measure, by their values of the columns ``names``."""
        groups: dict[tuple, list[Row]] = {}
        for row in self.rows:
            if isinstance(row[self.plan.measure], int | float):
                groups.setdefault(tuple(row[name] for name in names), []).append(row)
        return groups

    @property
    def means(self) -> dict[tuple, float]:
        """The measure at each combination of the settings that vary, averaged over the seeds that
        gave one.
        """
        groups = self.grouped(self.names).items()
        return {point: fmean(row[self.plan.measure] for row in rows) for point, rows in groups}

    def write(self, out: Path) -> None:
        """Write the finished points as CSV."""
        with (
            whole_file(out / TABLE) as partial,
            partial.open("w", newline="", encoding="utf-8", errors="replace") as file,
        ):
            writer = csv.DictWriter(file, [*self.rows[0]] if self.rows else [])
            writer.writeheader()
            writer.writerows(self.rows)

    def plot(self, ax: Any = None) -> Any:
        """Draw the means against the one or two settings that vary; None where there is nothing to
        draw.
        """
        from biorrr.analysis.figures.grids import plot_means

        plan, means = self.plan, self.means
        if not means or len(plan.varied) not in (1, 2):
            return None
        return plot_means(plan.measure, self.rows, self.names, means, problem=plan.problem, ax=ax)

    @property
    def caption(self) -> str:
        """Caption of the figure, with the means that it shows."""
        marks = (
            "large points are means over seeds, small grey ones single seeds"
            if len(self.names) == 1
            else "each cell is the mean over seeds"
        )
        means = [
            f"{readable(mean, self.unit)} at {', '.join(map('{} {}'.format, self.names, point))}"
            for point, mean in [*self.means.items()][:SHOWN_MEANS]
        ]
        return (
            f"{self.plan.measure} of {self.plan.experiment} against {' and '.join(self.names)}:"
            f" {marks}. A star marks the lowest mean of each problem of which there are several"
            f" points. Means: {'; '.join(means)}. ({self.report()[0]}.)\n"
        )

    def report(self) -> list[str]:
        """Return lines that say how far the sweep has come, what failed and why, and the best point
        of each problem.
        """
        plan, failed = self.plan, self.failed
        lines = [
            f"{len(plan.points)} points: {len(self.rows) - len(failed)} done, {len(failed)} failed,"
            f" {len(plan.points) - len(self.rows)} left"
        ]
        reasons = Counter(str(row["reason"]) for row in failed)
        lines += [f"failed {n} times: {reason}" for reason, n in reasons.most_common(SHOWN)]
        problems = [*self.grouped(plan.problem).values()]
        for rows in problems[:SHOWN]:
            best = min(rows, key=lambda row: row[plan.measure])
            where = ", ".join(f"{name} {best[name]}" for name in (*self.names, "seed"))
            value = readable(best[plan.measure], self.unit)
            lines.append(f"lowest {plan.measure} of a single point {value} at {where}")
        if len(problems) > SHOWN:
            names = ", ".join(plan.problem)
            lines.append(f"and so on for {len(problems)} problems, which differ in {names}")
        return lines


def name_of(plan: Plan, settings: Settings) -> str:
    """Return the name of a point, which its files bear."""
    digest = digest_of(compute_point, {}, settings)
    return f"{plan.experiment}-{compute_point.__name__}-{digest}"


def path_of(plan: Plan, out: Path, settings: Settings) -> Path:
    """Return the path of the file of a point."""
    return inside(out, POINTS, f"{name_of(plan, settings)}.nc")


def read_point(plan: Plan, out: Path, settings: Settings) -> xr.Dataset | None:
    """Return the numbers of a point, with its status, reason and data_sha256 as attributes; None if
    it is not finished.
    """
    found = kept_result(inside(out, POINTS), name_of(plan, settings))
    if found is None or str(found.attrs.get("status")) not in (DONE, FAILED):
        return None
    # Others may have sent it.
    return None if any(one.ndim for one in found.variables.values()) else found


def compute_point(
    task: Task,
    experiment: str,
    data: Mapping[Any, Dataset],
    folders: bool,
    here: str,
    settings: Any,
) -> xr.Dataset:
    """Return the numbers of one point, which leaves a run folder if it is to; a failure is a result
    too.

    ``here`` is the folder in which the user works: a worker may be in another one.
    """
    try:
        printed = io.StringIO()  # tables and progress of every point
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            warnings.simplefilter("ignore")  # said once for the whole sweep, and not by every point
            asked, given = settings, {value: data[value] for value in settings.every_data}
            if hasattr(settings, "circuit") and os.getcwd() != here:
                asked = replace(settings, circuit=absolute(settings.circuit, here))
            if not folders:
                findings = evaluate(find_experiment(experiment), asked, given)
            else:
                assert task.place is not None
                place = inside(task.place.parent, RUNS, task.name)
                folder = RunFolder(experiment, place, force=True)
                findings = carry_out(find_experiment(experiment), asked, folder, given, submit_here)
    except (Exception, SystemExit) as error:
        if getattr(error, "exit_code", None) == 130:  # interrupted, and no fault of the point's
            raise KeyboardInterrupt from error
        return failed(error)
    numbers = {
        name: ((), value, {"units": one.unit})
        for one in findings.every_quantity
        for name, value in one.numbers.items()
        if value is not None
    }
    about = {"status": DONE, "data_sha256": checksum_of(*given.values())}
    return xr.Dataset(numbers, attrs=about)


def checksum_of(*data: Dataset) -> str:
    """Return the checksum of the data of a point."""
    return ",".join(one.checksum for one in data)


def failed(error: BaseException) -> xr.Dataset:
    """Return the result of a point that has failed."""
    kind = "" if isinstance(error, BiorrrError) else f"{type(error).__name__}: "
    return xr.Dataset(attrs={"status": FAILED, "reason": f"{kind}{error}"})


def read_points(plan: Plan, out: Path) -> Table:
    """Return the points of a sweep that are finished in its folder."""
    rows: list[Row] = []
    unit = ""
    for settings in plan.points:
        if (point := read_point(plan, out, settings)) is None:
            continue
        given = {key_of(name): _cell(getattr(settings, name)) for name in (*plan.given, "seed")}
        given["status"] = str(point.attrs["status"])
        numbers = {str(name): one.item() for name, one in point.data_vars.items()}
        # Settings come first, and are not replaced by numbers of the same name.
        row = given | {plan.measure: None} | numbers | given
        rows.append({**row, "reason": point.attrs.get("reason")})
        unit = unit or str(point.get(plan.measure, point).attrs.get("units", ""))
    # A failed point has no numbers, and the others must not lose theirs by it: every row has every
    # column.
    names = dict.fromkeys(name for row in rows for name in row if name != "reason")
    return Table(plan, [{name: row.get(name) for name in (*names, "reason")} for row in rows], unit)


def _cell(value: Any) -> Any:
    """Return one value of a table; data and lists of values are text."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value) if isinstance(value, Settings) else value


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

    table = _carry_out(
        make_plan(**points), Path(out), workers, scheduler, folders=folders, retry=retry
    )
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
    if status:
        _report(read_points(plan, out), out)
    else:
        done = _carry_out(plan, out, workers, scheduler, folders=folders, retry=retry)
        _finish(done, out)


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
    if len(read_points(plan, out).rows) == len(plan.points) and (out / TABLE).exists():
        print(f"{out}: finished; nothing to resume")
        return
    folders = inside(out, RUNS).is_dir()
    _finish(_carry_out(plan, out, folders=folders, resumed=True), out)


def _carry_out(
    plan: Plan,
    out: Path,
    workers: int | None = None,
    scheduler: str | None = None,
    *,
    folders: bool = False,
    retry: bool = False,
    resumed: bool = False,
) -> Table:
    """Compute what is not finished, and write table and figure."""
    import tomli_w

    most = os.cpu_count() or 1 if workers is None else workers
    submit = Dask(scheduler) if scheduler else Processes(most)
    data = {}
    for value in dict.fromkeys(one for settings in plan.points for one in settings.every_data):
        loaded = value.load()
        if hasattr(loaded, "X"):  # in memory: a memory map cannot be sent
            loaded = replace(loaded, X=np.asarray(loaded.X), Y=np.asarray(loaded.Y))
        data[value] = loaded
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
            compute_items(
                compute_point,
                {name_of(plan, one): {"settings": one} for one in plan.points},
                (plan.experiment, data, folders, os.getcwd()),
                settings=None,
                place=inside(out.absolute(), POINTS),
                submit=submit,
                title=plan.experiment,
                on_error=failed,
            )
            table = read_points(plan, out)
            if (axes := table.plot()) is not None:
                with whole_file(out / FIGURE) as path:
                    save_figure(axes, path)
                with whole_file(out / "sweep.md") as path:
                    path.write_text(table.caption, encoding="utf-8")
        finally:
            table = read_points(plan, out)
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
        if point is None or (retry and point.attrs["status"] == FAILED):
            path.unlink(missing_ok=True)
            continue
        checksum = checksum_of(*map(data.__getitem__, settings.every_data))
        if point.attrs.get("data_sha256", checksum) == checksum:  # a failed point has none
            continue
        if resumed:
            raise FolderError(
                f"data: changed since the sweep in {out} began (another checksum); put back what"
                f" they were, or compute all points again: biorrr sweep {out / PLAN} --out {out}"
            )
        path.unlink()


def _report(table: Table, out: Path) -> None:
    """Print how far the sweep has come, what failed and why, and the best points."""
    counts, *further = table.report()
    running = " (running)" if out.is_dir() and is_in_use(out) else ""
    print(f"{out}: {counts}{running}", *further, sep="\n  ")
    if (out / TABLE).exists():
        print(f"  table {out / TABLE}")


def _finish(table: Table, out: Path) -> None:
    """Report on a sweep that is finished; end the command with exit code 1 if all points failed."""
    _report(table, out)
    if table.failed and len(table.failed) == len(table.rows):
        raise StoppedError(
            f"sweep: all {len(table.failed)} points failed; correct the cause and add --retry"
        )
