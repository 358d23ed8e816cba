"""The run folder: what one run leaves behind, and how an unfinished run is kept until it is whole.

Results lie in the folder itself, beside files of the user's own. All that belongs to a run that is
not finished lies in ``unfinished`` in it: its config, the results of its items so far, and at the
end its files, which are then moved into place.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import time
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from biorrr.errors import InputError
from biorrr.files import whole_file
from biorrr.sims.lab.findings import Findings
from biorrr.sims.lazy import circuits, np, xr
from biorrr.sims.start import held_back

CONFIG, SUMMARY, INVENTORY = "config.toml", "summary.json", "inventory.json"
PROVENANCE = "provenance"  # the table of a config that says what wrote it; the rest are settings
VERSIONS = ("biorrr", "numpy", "scipy", "brian2")  # what results can depend on, beside the settings
PAGE = "report.html"  # what `biorrr report` makes of a run
UNFINISHED, CHECKPOINTS, RESULTS = "unfinished", "checkpoints", "results"
INTERRUPTED = "interrupted"  # how a run ended that can go on
# Seconds to wait for a lock: `biorrr report` and the children of a killed run hold it for a moment.
PATIENCE = 2.0


class FolderError(InputError):
    """A folder, or a file in it, that a run must not or cannot be written to or read from."""

    exit_code = 2


class DamagedError(FolderError):
    """A file in a run folder that is missing or damaged."""


def inside(folder: Path, *names: str) -> Path:
    """Return the path of ``names`` in ``folder``; refuse all but regular files, folders and what is
    not there.

    In a folder that was sent a link may lead anywhere, and whoever opens a pipe waits for good.
    """
    path = folder
    for name in names:
        if name in ("", "..") or "/" in name:
            raise FolderError(f"{path / name}: must lie in {folder}; copy it there")
        path = path / name
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            kind = "a link, which may lead anywhere" if stat.S_ISLNK(mode) else "a pipe or a device"
            raise FolderError(
                f"{path}: must be a file in the folder itself (got {kind}); delete it, or put a"
                " copy there"
            )
    return path


def open_inside(folder: Path, *names: str) -> BinaryIO:
    """Open the file ``names`` in ``folder`` for reading; see :func:`inside`."""
    path = inside(folder, *names)
    # Without following a link put there since, and without waiting for the other end of a pipe.
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")


def read_table(folder: Path, *names: str) -> dict[str, Any]:
    """Return the table of names and values that a TOML or JSON file in ``folder`` holds."""
    path = folder.joinpath(*names)
    try:
        with open_inside(folder, *names) as file:
            content = file.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise DamagedError(f"{folder}: {path.name} is missing; run it again") from None
    try:
        text = content.decode("utf-8")
        found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:  # no UTF-8, or nested without end
        raise DamagedError(f"{path}: damaged ({error}); run it again") from error
    if not isinstance(found, dict):
        raise DamagedError(f"{path}: damaged (must be a table of names and values); run it again")
    return found


def read_config(path: Path, folder: Path | None = None) -> dict[str, Any]:
    """Read a TOML config: a file of the user's, or one in a run folder, which may be from
    others.
    """
    if folder is not None:
        return read_table(folder, path.name)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FolderError(f"config: cannot read {path} ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise FolderError(f"config: {path} is not valid TOML ({error})") from error


# Kinds of files in the inventory; a run is a circuit's weights and traces.
RUN, DATASET, FIGURE, CAPTION, OTHER = "run", "dataset", "figure", "caption", "file"


def read_inventory(folder: Path, *names: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the kind of each file of a run, and the unit of each number in its summary that has
    one.

    What is no name of a file in the folder itself is left out, since the inventory may be from
    others.
    """
    found = read_table(folder, *names, INVENTORY)
    files, units = (
        {name: str(said) for name, said in table.items()} if isinstance(table, dict) else {}
        for table in (found.get("files"), found.get("units"))
    )
    own = {name: kind for name, kind in files.items() if Path(name).name == name}
    return {name: kind for name, kind in own.items() if name != ".." and "\0" not in name}, units


class RunFolder:
    """The folder of one run; a context manager that makes it and locks it.

    A folder that is empty at the end is deleted again. What a run has found takes the place of an
    earlier run when all of it is written. Other files in the folder are the user's, and stay.

    Parameters
    ----------
    experiment
        Name of the experiment, for the default folder ``runs/<experiment>-<date>-<time>``.
    path
        The folder the user asked for; None for the default.
    force
        Replace the run that is in the folder.
    source
        The config file that the settings are from, if any.
    resumed
        Go on with the run that ``source`` belongs to.
    """

    def __init__(
        self,
        experiment: str,
        path: Path | None = None,
        force: bool = False,
        source: Path | None = None,
        resumed: bool = False,
    ) -> None:
        self.path = path or Path("runs") / f"{experiment}-{datetime.now():%Y%m%d-%H%M%S}"
        self._fresh = path is None
        self.replaceable, self.source, self.resumed = force or resumed, source, resumed
        self.begun = False  # by this process
        self._files: dict[str, str] = {}  # kind of each, by its name
        if self.path.exists() and not self.path.is_dir():
            raise FolderError(f"out: must be a folder (got the file {self.path})")
        self._refuse_another_run()

    def __enter__(self) -> RunFolder:
        self._made = [one for one in (self.path, *self.path.parents) if not one.exists()]
        if self._fresh:
            self._make_new()
        with ExitStack() as stack:
            stack.enter_context(lock(self.path))
            stack.callback(self._delete_if_empty)
            settle(self.path)
            self._refuse_another_run()  # one may have ended since
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        with self._stack:
            if kind is not None:
                settle(self.path)  # deletes half of results
                if self.begun and not (self.resumed or self.has_checkpoints):
                    self.discard()

    def _make_new(self) -> None:
        path, copies = self.path, 1
        while True:
            with suppress(FileExistsError):
                return self.path.mkdir(parents=True)
            copies += 1  # another run began in the same second
            self.path = path.with_name(f"{path.name}-{copies}")

    def _delete_if_empty(self) -> None:
        with suppress(OSError):  # it is not empty
            for folder in [self.path, *self._made[1:]]:
                folder.rmdir()

    def _refuse_another_run(self) -> None:
        names = CONFIG, SUMMARY, INVENTORY, "run.nc", f"{UNFINISHED}/{CONFIG}"
        if not self.replaceable and any((self.path / name).exists() for name in names):
            raise FolderError(
                f"out: {self.path} has a run in it; choose another folder, or --force to replace"
                " the run"
            )

    @property
    def unfinished(self) -> Path:
        """Folder of all that belongs to a run that is not finished."""
        return inside(self.path, UNFINISHED)

    @property
    def checkpoints(self) -> Path:
        """Folder of the items that are finished, and of circuits that are under way."""
        return inside(self.path, UNFINISHED, CHECKPOINTS)

    @property
    def has_checkpoints(self) -> bool:
        """True if the unfinished run has kept something that it can go on from."""
        return any(path.suffix in (".npz", ".nc") for path in self.checkpoints.glob("[!.]*"))

    def begin(self, config: str) -> None:
        """Keep the text of the config, so that the run can be resumed from now on."""
        if self.source is not None:
            sent_folder = self.source.parent if self.resumed else None
            self._compare_data(read_config(self.source, sent_folder), tomllib.loads(config))
        kept = self.unfinished / CONFIG
        if not self.resumed:
            if not kept.exists() and any(self.unfinished.glob("[!.]*")):
                raise FolderError(
                    f"out: {self.unfinished} must be free for a run (got files of another origin);"
                    " move them"
                )
            self.discard()
        self.begun = True
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        if not kept.exists():
            with whole_file(kept) as partial:
                partial.write_text(config, encoding="utf-8")

    def _compare_data(self, began: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Compare data and versions with those with which ``source`` was written.

        A run that goes on refuses other data, and warns of other versions. A new run of the same
        experiment warns of data that have changed.
        """
        then, origin = began.get(PROVENANCE), now[PROVENANCE]
        if not isinstance(then, dict) or then.get("experiment") != origin["experiment"]:
            return
        changed = [
            name.removesuffix("_sha256")
            for name in origin
            if name.endswith("_sha256") and then.get(name) != origin[name]
        ]
        versions = [
            f"{name} {origin.get(name)}, then {then.get(name)}"
            for name in VERSIONS
            if then.get(name) != origin.get(name)
        ]
        if self.resumed and changed:
            raise FolderError(
                f"{changed[0]}: changed since the run in {self.path} began (another checksum); put"
                " back what it was, or begin a new run"
            )
        if self.resumed and versions:
            warnings.warn(
                f"resumed with other versions ({'; '.join(versions)}): the last bits may differ",
                stacklevel=2,
            )
        if not self.resumed and began.get("data") == now.get("data") and "data_sha256" in then:
            for name in changed:
                warnings.warn(
                    f"{name}: changed since {self.source} was written (another checksum); this will"
                    " not repeat its run",
                    stacklevel=2,
                )

    def discard(self) -> None:
        """Delete the unfinished run."""
        shutil.rmtree(self.unfinished, ignore_errors=True)

    def fill(self, config: str, findings: Findings, format: str) -> None:
        """Write everything that a run has found, and put it in the place of an earlier run.

        Parameters
        ----------
        config
            Text of config.toml.
        findings
            What was found, with that of chapters.
        format
            Format of the figures: png, pdf or svg.
        """
        inside(self.path, UNFINISHED, RESULTS).mkdir(parents=True)
        for chapter, found in (("", findings), *findings.chapters.items()):
            self._write_chapter(chapter, found, format)
        self._write_text(SUMMARY, summary_text(findings))
        self._write_text(CONFIG, config)
        units = {
            name: one.unit for one in findings.every_quantity for name in one.numbers if one.unit
        }
        files = self._files | {INVENTORY: OTHER}
        with held_back():
            self._write_text(INVENTORY, json.dumps({"files": files, "units": units}, indent=2))
            settle(self.path)

    def _write_chapter(self, chapter: str, findings: Findings, format: str) -> None:
        """Write data, figures and files of an experiment, or of a chapter under names of its
        own.
        """
        for name, result in findings.data.items():
            stem = name if not chapter else chapter if name == "run" else f"{chapter}-{name}"
            kind = RUN if isinstance(result, circuits.Run) else DATASET
            with self._writing(f"{stem}.nc", kind) as path:
                write_results(result, path)
        for figure in findings.figures:
            stem = f"{figure.stem}{chapter.removeprefix(findings.experiment)}"
            axes = figure.draw()
            with self._writing(f"{stem}.{format}", FIGURE) as path:
                save_figure(axes, path)
            self._write_text(f"{stem}.md", findings.caption(figure.name), CAPTION)
        for name, write in findings.files.items():
            with self._writing(name) as path:
                write(path)

    @contextmanager
    def _writing(self, name: str, kind: str = OTHER) -> Iterator[Path]:
        """Give a path to write a file of the run at, and list it in the inventory."""
        self._files[name] = kind
        with whole_file(self.unfinished / RESULTS / name, called=self.path / name) as partial:
            yield partial

    def _write_text(self, name: str, text: str, kind: str = OTHER) -> None:
        with self._writing(name, kind) as path:
            path.write_text(text, encoding="utf-8")


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Make the folder and lock it until the block or the process ends; refuse one that is locked.

    The kernel releases the lock when its holder dies, however it dies.
    """
    deadline = time.monotonic() + PATIENCE
    with ExitStack() as stack:
        while True:
            path.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDONLY)
            stack.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(handle).st_nlink:  # else another run left nothing, and took it away
                    break
            except BlockingIOError:
                time.sleep(0.02)
            if time.monotonic() > deadline:
                raise FolderError(
                    f"out: {path} is in use by another process; wait, or choose another"
                )
        yield


def is_in_use(path: Path) -> bool:
    """Return True if another process is at work in the folder ``path``."""
    try:
        with lock(path):
            return False
    except FolderError:
        return True


def is_finished(path: Path) -> bool:
    """Return True if the run in the folder ``path`` has come to its end; a summary that is damaged
    can be made again.
    """
    try:
        return read_table(path, SUMMARY).get("ended") != INTERRUPTED
    except DamagedError:
        return False


def settle(path: Path) -> None:
    """Move results that are wholly written into place, instead of those that were there.

    The inventory, the last file to be written, says that they are. It is also the last to be moved,
    so that the next call finishes what a killed process has begun. Half of results is deleted.
    """
    earlier = {CONFIG, SUMMARY, "run.nc", PAGE}
    with suppress(DamagedError):
        earlier |= {*read_inventory(path)[0]}
    written = inside(path, UNFINISHED, RESULTS)
    try:
        files, _ = read_inventory(path, UNFINISHED, RESULTS)
    except DamagedError:
        shutil.rmtree(written, ignore_errors=True)
        with suppress(OSError):  # the run can be resumed
            written.parent.rmdir()
        return
    for name in earlier - {*files}:
        if not (path / name).is_dir():
            (path / name).unlink(missing_ok=True)
    for name in sorted(files, key=lambda name: (name == SUMMARY, name)):
        if name != INVENTORY and (written / name).exists():
            (written / name).replace(path / name)
    if is_finished(path):
        (path / UNFINISHED / CONFIG).unlink(missing_ok=True)
        shutil.rmtree(path / UNFINISHED / CHECKPOINTS, ignore_errors=True)
    (written / INVENTORY).replace(path / INVENTORY)
    shutil.rmtree(path / UNFINISHED if is_finished(path) else written)


def write_results(results: circuits.Run | xr.Dataset, path: Path) -> None:
    """Write a run or a dataset as NetCDF4."""
    from biorrr.circuit.results.netcdf import write_netcdf

    if isinstance(results, circuits.Run):
        results.save(path, overwrite=True)
    else:
        write_netcdf(results, path)


def save_figure(axes: Any, path: Path) -> None:
    """Save the figure that ``axes``, one or an array of them, belong to, and close it."""
    import matplotlib.pyplot as plt

    figure = np.ravel(axes)[0].figure
    figure.set_dpi(200)  # text is measured once for each resolution
    # Squeezing pixels harder would take longer than drawing them.
    quickly = {"pil_kwargs": {"compress_level": 1}} if path.suffix == ".png" else {}
    figure.savefig(path, dpi=200, **quickly)
    plt.close(figure)


def summary_text(findings: Findings) -> str:
    """Return the text of summary.json: one flat object of text, truth values and numbers, and lists
    of claims.
    """
    judged = {"claims": findings.claims, "own_tests": findings.own_tests}
    lists = {name: [one.record() for one in claims] for name, claims in judged.items() if claims}
    return json.dumps({**findings.numbers, **lists}, indent=2, allow_nan=False) + "\n"
