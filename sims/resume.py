"""``biorrr resume``: a run that was cut short goes on from its last checkpoint."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from biorrr.sims.experiment import VERSIONS
from biorrr.sims.folder import CONFIG, INTERRUPTED, SUMMARY, FolderError, RunFolder, changed_data
from biorrr.sims.main import COMMANDS, MODULES
from biorrr.sims.settings import PROVENANCE, read_config, resolve
from biorrr.sims.sweeps.run import PLAN, resume_sweep


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


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="folder of the run, or of the sweep")],
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error")] = False,
) -> None:
    """Continue a run that was cut short, from its last checkpoint, or a sweep.

    It ends bit for bit where it would have ended without the break. A run without a checkpoint starts over from its
    config.toml. Of a sweep, the points that are finished stay as they are.
    """
    if (folder / PLAN).is_file() and not (folder / CONFIG).exists():
        return resume_sweep(folder)
    if not (folder / CONFIG).is_file():
        raise FolderError(f"{folder}: has no run to resume: there is no {CONFIG} in it")
    if finished(folder):
        print(f"{folder}: finished; nothing to resume")
        return
    found = experiment_of(folder)
    found.run(resolve(found.settings, folder / CONFIG), ResumedFolder(folder))


def finished(folder: Path) -> bool:
    """Whether the run in ``folder`` has come to its end."""
    try:
        numbers = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):  # not there, or damaged since: it can be made again
        return False
    return not (isinstance(numbers, dict) and numbers.get("ended") == INTERRUPTED)


def experiment_of(folder: Path) -> Any:
    """The command that wrote ``folder``, with its ``settings`` and its ``run``."""
    origin = read_config(folder / CONFIG).get(PROVENANCE)
    name = origin.get("experiment") if isinstance(origin, dict) else None
    # A name in a file is looked up among ours; it never decides by itself what is imported.
    if isinstance(name, str) and name in COMMANDS:
        command = importlib.import_module(MODULES.get(name, f"biorrr.sims.{name}")).command
        if hasattr(command, "settings"):
            return command
    raise FolderError(f"{folder}: {CONFIG} must name the experiment it is of (got {name!r}); is it a run folder?")


command = resume
