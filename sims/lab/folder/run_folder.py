"""The run folder: everything one run leaves behind, written whole or not at all."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import time
import tomllib
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from biorrr.errors import BiorrrError, InputTypeError
from biorrr.files import whole_file
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.files import FolderError, inside
from biorrr.sims.lab.folder.contents import (
    CHECKPOINTS,
    CONFIG,
    RESULTS,
    SUMMARY,
    UNFINISHED,
    clear_unfinished,
    finished,
    has_checkpoints,
    holds_run,
    settle,
)
from biorrr.sims.lab.folder.inventory import DATASET, FIGURE, INVENTORY, RUN, Entry, Inventory
from biorrr.sims.lab.interrupts import held_back
from biorrr.sims.lab.quantities import Quantity, numbers_of
from biorrr.sims.lab.settings import PROVENANCE, VERSIONS, read_config
from biorrr.sims.lazy import circuits, np, xr

# seconds to wait for a lock: who only looks has it for a moment, and so have children of the dead
PATIENCE = 0.5


class InterruptedRunError(BiorrrError):
    """A run that was interrupted and can go on."""

    exit_code = 130


class RunFolder:
    """The folder of one run.

    Nothing is written before :meth:`opened`. What a run has found appears when all of it is
    written, in place of what an earlier run has left; until then that stays as it was, and all of
    this run is in ``unfinished``. Other files in the folder are the user's, and stay.

    Parameters
    ----------
    experiment
        Name of the experiment, for the default folder ``runs/<experiment>-<date>-<time>``.
    path
        The folder the user asked for; None for the default.
    force
        Replace the run that is in the folder.
    source
        The config the run's settings are from, if any.
    """

    def __init__(
        self,
        experiment: str,
        path: Path | None = None,
        force: bool = False,
        source: Path | None = None,
    ) -> None:
        self.path = path or Path("runs") / f"{experiment}-{datetime.now():%Y%m%d-%H%M%S}"
        self._fresh, self._force, self._source = path is None, force, source
        self._filling = False
        self.inventory = Inventory()  # of what has been written so far
        if self.path.exists() and not self.path.is_dir():
            raise FolderError(f"out: must be a folder (got the file {self.path})")
        self._refuse_another_run()

    @property
    def unfinished(self) -> Path:
        """Folder of all that belongs to a run that is not finished."""
        return inside(self.path, UNFINISHED)

    @property
    def checkpoints(self) -> Path:
        """Folder in which the run keeps how far it has come."""
        return inside(self.path, UNFINISHED, CHECKPOINTS)

    @property
    def replaces(self) -> bool:
        """True if the run is to replace another that is finished."""
        return finished(self.path)

    @property
    def way_on(self) -> str:
        """The sentence for the user who interrupted the run."""
        until_then = "; until then the earlier run stays as it was" if self.replaces else ""
        return f"interrupted; `biorrr resume {self.path}` continues it{until_then}"

    def _refuse_another_run(self) -> None:
        if not self._force and holds_run(self.path):
            raise FolderError(
                f"out: {self.path} has a run in it; choose another folder, or --force to replace"
                " the run"
            )

    @contextmanager
    def opened(self, config: str) -> Iterator[None]:
        """Make the folder, claim it and keep ``config`` in it; a block that fails leaves neither
        behind.

        A block that has come as far as a checkpoint leaves both, to be resumed.
        """
        if self._source is not None:
            self._warn_of_other_data(self._source, tomllib.loads(config))
        self._make()
        settle(self.path)
        self._refuse_another_run()  # one may have been written while data were loaded
        if (self.unfinished / CONFIG).exists():
            clear_unfinished(self.path)
        elif any(self.unfinished.glob("[!.]*")):
            raise FolderError(
                f"out: {self.unfinished} must be free for a run (got files of another origin); move"
                " them"
            )
        self.unfinished.mkdir(exist_ok=True)
        try:
            with self._resumable():
                with whole_file(self.unfinished / CONFIG) as partial:
                    partial.write_text(config, encoding="utf-8")
                yield
        except BaseException:
            if not has_checkpoints(self.path):
                self.discard()
            self.release()
            raise

    def _make(self) -> None:
        """Make the folder and claim it."""
        path, copies = self.path, 1
        while True:
            try:
                self.path.mkdir(parents=True, exist_ok=not self._fresh)
            except FileExistsError:
                if not self._fresh:
                    raise
                copies += 1  # another run began in the same second
                self.path = path.with_name(f"{path.name}-{copies}")
                continue
            with suppress(
                FileNotFoundError
            ):  # it was another run's, which failed and has taken it away
                return self.claim()

    def discard(self) -> None:
        """Delete settings and checkpoints, and the folder unless something else is in it."""
        clear_unfinished(self.path)
        with suppress(OSError):  # an earlier run, or the user's own files, are in it
            self.path.rmdir()

    def _warn_of_other_data(self, source: Path, now: Mapping[str, Any]) -> None:
        """Warn if the data have changed since the same experiment wrote ``source``."""
        began = read_config(source)
        origin = began.get(PROVENANCE)
        if (
            not isinstance(origin, dict)
            or origin.get("experiment") != now[PROVENANCE]["experiment"]
        ):
            return
        if "data_sha256" in origin and began.get("data") == now.get("data"):
            for what in changed_data(origin, now[PROVENANCE]):
                warnings.warn(
                    f"{what}: changed since {source} was written (another checksum); this will not"
                    " repeat its run",
                    stacklevel=4,
                )

    @contextmanager
    def _resumable(self) -> Iterator[None]:
        """Tell the user who interrupts a run that has reached a checkpoint how to continue."""
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings(
                    "ignore", message="interrupted after"
                )  # a circuit's word, and ours follows
                yield
        except KeyboardInterrupt as interrupt:
            if not has_checkpoints(self.path):
                raise
            raise InterruptedRunError(self.way_on) from interrupt

    def claim(self) -> None:
        """Lock the folder until ``release()`` or the end of the process; refuse one that another
        has locked.
        """
        from filelock import lock_descriptor

        inside(
            self.path, INVENTORY
        )  # what is in the way of results is refused before they are computed
        handle = os.open(self.path, os.O_RDONLY)
        self.release = weakref.finalize(self, os.close, handle)
        # The kernel releases the lock when its holder dies, however it dies.
        deadline = time.monotonic() + PATIENCE
        while not lock_descriptor(handle, blocking=False):
            if time.monotonic() > deadline:
                self.release()
                raise FolderError(
                    f"out: {self.path} is in use by another process; wait, or choose another"
                )
            time.sleep(0.02)
        if not os.path.samestat(os.fstat(handle), os.stat(self.path)):
            self.release()
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))

    @contextmanager
    def filling(self, config: str) -> Iterator[None]:
        """Collect the results of the run; they appear together when the block ends well.

        The folder is released then. ``config`` is the text of config.toml. The inventory lists
        every file, so that a later run knows what to replace.
        """
        written = inside(self.path, UNFINISHED, RESULTS)
        with self._resumable():
            try:
                written.mkdir(parents=True)
                self._filling = True
                yield
                with self.writing(Entry(CONFIG)) as path:
                    path.write_text(config, encoding="utf-8")
                self.inventory.entries.append(Entry(INVENTORY))
                with held_back():
                    with whole_file(
                        written / INVENTORY
                    ) as path:  # from here on this is the folder's run
                        path.write_text(self.inventory.text(), encoding="utf-8")
                    settle(self.path)
            finally:
                self._filling = False
                if not (written / INVENTORY).exists():
                    shutil.rmtree(written, ignore_errors=True)
                self.release()

    @contextmanager
    def writing(self, entry: Entry) -> Iterator[Path]:
        """Give a path to write a file at, and list it in the inventory; see :func:`whole_file`."""
        self.inventory.entries.append(entry)
        place = self.unfinished / RESULTS if self._filling else self.path
        with whole_file(place / entry.file, called=self.path / entry.file) as partial:
            yield partial

    def write_results(self, results: circuits.Run | xr.Dataset, stem: str, **about: Any) -> None:
        """Write a run or a dataset as NetCDF4, as ``<stem>.nc``; ``about`` are fields of its
        entry.
        """
        from biorrr.circuit.results.netcdf import write_netcdf

        kind = RUN if isinstance(results, circuits.Run) else DATASET
        with self.writing(Entry(f"{stem}.nc", kind, **about)) as path:
            if isinstance(results, circuits.Run):
                results.save(path, overwrite=True)
            else:
                write_netcdf(results, path)

    def write_figure(self, stem: str, format: str, axes: Any, **about: Any) -> None:
        """Write the figure that ``axes``, one or an array of them, belong to, as png, pdf or svg,
        and close it.

        ``about`` are fields of its entry in the inventory.
        """
        import matplotlib.pyplot as plt

        figure = np.ravel(axes)[0].figure
        with self.writing(Entry(f"{stem}.{format}", FIGURE, **about)) as path:
            figure.savefig(path, dpi=200)
        plt.close(figure)

    def write_summary(
        self,
        quantities: Sequence[Quantity],
        claims: Sequence[Claim] = (),
        own_tests: Sequence[Claim] = (),
    ) -> None:
        """Write summary.json: one flat object of text, truth values and numbers; what is not finite
        becomes null.

        Claims of the paper and tests of our own follow as lists. A run with a summary is finished,
        unless its ``ended`` says "interrupted". Unit and words of each quantity go to the
        inventory.
        """
        flat: dict[str, Any] = {
            name: plain_value(name, value) for name, value in numbers_of(quantities).items()
        }
        for key, judged in (("claims", claims), ("own_tests", own_tests)):
            if judged:
                flat[key] = [
                    {name: plain_value(name, value) for name, value in claim.record().items()}
                    for claim in judged
                ]
        for quantity in quantities:
            said = {
                key: text
                for key, text in (("unit", quantity.unit), ("words", quantity.words))
                if text
            }
            self.inventory.quantities |= {name: said for name in quantity.numbers if said}
        with self.writing(Entry(SUMMARY)) as path:
            path.write_text(json.dumps(flat, indent=2, allow_nan=False) + "\n", encoding="utf-8")


class ResumedFolder(RunFolder):
    """The folder of a run that was cut short: its config stays, whatever happens."""

    def __init__(self, path: Path) -> None:
        """Claim the folder, so that nobody changes what is read of it from now on."""
        super().__init__("", path, force=True)
        self.claim()
        settle(path)
        self.begun = (
            self.unfinished if (self.unfinished / CONFIG).exists() else path
        )  # the folder of its config

    @contextmanager
    def opened(self, config: str) -> Iterator[None]:
        """Begin the run that ``config`` describes; refuse one that began with other data."""
        try:
            self._refuse_other_data(config)
            if self.begun == self.path:  # nothing was kept: it starts over
                self.unfinished.mkdir(exist_ok=True)
                shutil.copyfile(self.path / CONFIG, self.unfinished / CONFIG)
            with self._resumable():
                yield
        except BaseException:
            self.release()
            raise

    def _refuse_other_data(self, config: str) -> None:
        """Refuse data that changed since the run began, and warn of other versions."""
        began = read_config(self.begun / CONFIG, self.begun)[PROVENANCE]
        now = tomllib.loads(config)[PROVENANCE]
        for what in changed_data(began, now):
            raise FolderError(
                f"{what}: changed since the run in {self.path} began (another checksum); put back"
                " what it was, or begin a new run"
            )
        differing = [
            f"{name} {now[name]}, then {began.get(name)}"
            for name in VERSIONS
            if began.get(name) != now[name]
        ]
        if differing:
            warnings.warn(
                f"resumed with other versions ({'; '.join(differing)}): the last bits may differ",
                stacklevel=4,
            )


def is_in_use(path: Path) -> bool:
    """Return True if another process is at work in the folder ``path``."""
    held = RunFolder("", path, force=True)
    try:
        held.claim()
    except FolderError:
        return True
    held.release()
    return False


def changed_data(began: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the names of the data whose checksum differs ``now``, given the provenance of two
    runs.
    """
    return [
        what.removesuffix("_sha256")
        for what in now
        if what.endswith("_sha256") and began.get(what) != now[what]
    ]


def plain_value(name: str, value: Any) -> str | bool | int | float | None:
    """Return ``value`` as JSON can hold it; None for what is not finite."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise InputTypeError(f"summary {name}: must be one number or text (got {type(value).__name__})")
