"""The run folder: everything one run leaves behind, written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from biorrr.sims.claims import Claim
from biorrr.sims.files import whole_file
from biorrr.sims.lazy import circuits, np, xr
from biorrr.sims.settings import PROVENANCE, VERSIONS, read_config

CONFIG, RESULTS, SUMMARY = "config.toml", "run.nc", "summary.json"
CHECKPOINTS = "checkpoints"  # a folder, there until the run is finished
INTERRUPTED = "interrupted"  # how a run ended that can go on


class FolderError(ValueError):
    """A folder that a run must not or cannot be written to."""

    exit_code = 2


class InterruptedRunError(Exception):
    """A run that was interrupted and can go on."""

    exit_code = 130


class RunFolder:
    """The folder of one run.

    Nothing is written before :meth:`opened`; every file appears under its name only when it is complete.

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
        self, experiment: str, path: Path | None = None, force: bool = False, source: Path | None = None
    ) -> None:
        self.path = path or Path("runs") / f"{experiment}-{datetime.now():%Y%m%d-%H%M%S}"
        self._fresh = path is None
        self._force = force
        self._source = source
        if self.path.exists() and not self.path.is_dir():
            raise FolderError(f"out: must be a folder (got the file {self.path})")
        if not force and self.holds_run():
            raise FolderError(f"out: {self.path} has a run in it; choose another folder, or --force to replace the run")

    def holds_run(self) -> bool:
        """Whether a run has been written to the folder."""
        return any((self.path / name).exists() for name in (CONFIG, RESULTS, SUMMARY)) or self._has_checkpoints()

    @contextmanager
    def opened(self, config: str) -> Iterator[None]:
        """Make the folder, claim it and put config.toml in it; a block that fails leaves neither behind.

        A block that has come as far as a checkpoint leaves both, to be resumed.
        With ``force`` the results of the run that is there are deleted first: they would not belong to the config.
        """
        if self._source is not None:
            self._warn_of_other_data(self._source, tomllib.loads(config))
        path, copies = self.path, 1
        while True:
            try:
                self.path.mkdir(parents=True, exist_ok=not self._fresh)
                break
            except FileExistsError:  # another run began in the same second
                copies += 1
                self.path = path.with_name(f"{path.name}-{copies}")
        self.claim()
        if self._force:
            for name in (SUMMARY, RESULTS, CONFIG):
                (self.path / name).unlink(missing_ok=True)
            self.clear_checkpoints()
        self.write_config(config)
        try:
            with self._resumable():
                yield
        except BaseException:
            if not self._has_checkpoints():
                self.clear_checkpoints()
                (self.path / CONFIG).unlink(missing_ok=True)
                with suppress(OSError):  # the user's own files are in it
                    self.path.rmdir()
            raise

    def _warn_of_other_data(self, source: Path, now: Mapping[str, Any]) -> None:
        """Say so where the data have changed since the same experiment left ``source``."""
        began = read_config(source)
        origin = began.get(PROVENANCE)
        if not isinstance(origin, dict) or origin.get("experiment") != now[PROVENANCE]["experiment"]:
            return
        if "data_sha256" in origin and began.get("data") == now.get("data"):
            for what in changed_data(origin, now[PROVENANCE]):
                warnings.warn(
                    f"{what}: changed since {source} was written (another checksum); this will not repeat its run",
                    stacklevel=4,
                )

    @contextmanager
    def _resumable(self) -> Iterator[None]:
        """Say the way on to somebody who interrupts a run that has come as far as a checkpoint."""
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="interrupted after")  # a circuit's word, and ours follows
                yield
        except KeyboardInterrupt as interrupt:
            if not self._has_checkpoints():
                raise
            raise InterruptedRunError(f"interrupted; `biorrr resume {self.path}` goes on") from interrupt

    @property
    def checkpoints(self) -> Path:
        """Folder in which the run keeps how far it has come."""
        place = self.path / CHECKPOINTS
        if place.is_symlink():  # in a folder one was sent: what is deleted here must not be elsewhere
            raise FolderError(f"{place}: must be a folder and no link to one; delete the link")
        return place

    def _has_checkpoints(self) -> bool:
        return any(self.checkpoints.glob("[!.]*.npz"))

    def clear_checkpoints(self) -> None:
        """Delete what the run has kept, half-written files too."""
        if self.checkpoints.is_dir():
            for path in self.checkpoints.glob("*.npz"):
                path.unlink(missing_ok=True)
            with suppress(OSError):  # somebody else's files are in it
                self.checkpoints.rmdir()

    def claim(self) -> None:
        """Lock the folder until ``release()`` or the end of the process; refuse one that another has locked."""
        from filelock import lock_descriptor

        handle = os.open(self.path, os.O_RDONLY)
        self.release = weakref.finalize(self, os.close, handle)
        # The kernel releases the lock when its holder dies, however it dies.
        if not lock_descriptor(handle, blocking=False):
            self.release()
            raise FolderError(f"out: {self.path} is in use by another process; wait, or choose another")

    def writing(self, name: str) -> AbstractContextManager[Path]:
        """Give a path to write ``name`` at; see :func:`whole_file`."""
        return whole_file(self.path / name)

    def write_config(self, text: str) -> None:
        """Write config.toml."""
        with self.writing(CONFIG) as path:
            path.write_text(text, encoding="utf-8")

    def write_results(self, results: circuits.Run | xr.Dataset, name: str = RESULTS) -> None:
        """Write what an experiment has found as NetCDF4."""
        from biorrr.circuit.netcdf import write_netcdf

        with self.writing(name) as path:
            if isinstance(results, circuits.Run):
                results.save(path)
            else:
                write_netcdf(results, path)

    def write_figure(self, name: str, format: str, axes: Any) -> None:
        """Write the figure that ``axes``, one or an array of them, belong to, as png, pdf or svg, and close it."""
        import matplotlib.pyplot as plt

        figure = np.ravel(axes)[0].figure
        with self.writing(f"{name}.{format}") as path:
            figure.savefig(path, dpi=200)
        plt.close(figure)

    def write_summary(self, numbers: Mapping[str, Any], claims: Sequence[Claim] = ()) -> None:
        """Write summary.json: one flat object of text, truth values and numbers; what is not finite becomes null.

        Where an experiment checks ``claims``, they follow as a list. To be written last: a run with a summary is
        finished, unless its ``ended`` says "interrupted".
        """
        flat: dict[str, Any] = {name: plain_value(name, value) for name, value in numbers.items()}
        if claims:
            flat["claims"] = [
                {"claim": claim.text, "holds": bool(claim.holds)}
                | {name: plain_value(name, value) for name, value in claim.numbers.items()}
                for claim in claims
            ]
        with self.writing(SUMMARY) as path:
            path.write_text(json.dumps(flat, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        if numbers.get("ended") != INTERRUPTED:
            self.clear_checkpoints()


class ResumedFolder(RunFolder):
    """The folder of a run that was cut short: its config stays, whatever happens."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def opened(self, config: str) -> Iterator[None]:
        """Claim the folder for the run that ``config`` describes; refuse one that began with other data."""
        self.claim()
        for path in self.path.iterdir():
            if re.fullmatch(r"\.+\d+-.+", path.name) and path.is_file():  # half-written by a process that was killed
                path.unlink()
        began, now = read_config(self.path / CONFIG)[PROVENANCE], tomllib.loads(config)[PROVENANCE]
        for what in changed_data(began, now):
            raise FolderError(
                f"{what}: changed since the run in {self.path} began (another checksum); put back what it was, or "
                "begin a new run"
            )
        differing = [f"{name} {now[name]}, then {began.get(name)}" for name in VERSIONS if began.get(name) != now[name]]
        if differing:
            warnings.warn(
                f"resumed with other versions ({'; '.join(differing)}): the last bits may differ", stacklevel=3
            )
        with self._resumable():
            yield


def is_in_use(path: Path) -> bool:
    """Whether another process is at work in the folder ``path``."""
    held = RunFolder("", path, force=True)
    try:
        held.claim()
    except FolderError:
        return True
    held.release()
    return False


def changed_data(began: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Names of what has another checksum ``now``, by the provenance of two runs."""
    return [what.removesuffix("_sha256") for what in now if what.endswith("_sha256") and began.get(what) != now[what]]


def plain_value(name: str, value: Any) -> str | bool | int | float | None:
    """``value`` as JSON can hold it; None for what is not finite."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"summary {name}: must be one number or text (got {type(value).__name__})")
