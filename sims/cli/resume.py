"""``biorrr resume``: a run that was cut short goes on from its last checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from biorrr.sims.lab.own_circuits import check_circuit
from biorrr.sims.lab.run_folder import (
    CONFIG,
    PROVENANCE,
    UNFINISHED,
    FolderError,
    RunFolder,
    inside,
    is_finished,
    lock,
    read_config,
    settle,
)
from biorrr.sims.lab.settings import resolve
from biorrr.sims.main import commands, find_command
from biorrr.sims.sweeps.run import PLAN, resume_sweep


def resume(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="folder of the run, or of the sweep")
    ],
    circuit: Annotated[
        str | None,
        typer.Option(
            "--circuit",
            metavar="MODULE:FUNCTION|FILE.py:FUNCTION",
            help="your own function, if the run used one",
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error")] = False,
) -> None:
    """Continue a run that was cut short, from its last checkpoint, or a sweep.

    It ends bit for bit where it would have ended without the break. A run without a checkpoint
    starts over from its config.toml. Of a sweep, the points that are finished stay as they are. A
    circuit of your own has to be named again: nothing that a folder names is run by itself.
    """
    if inside(folder, PLAN).is_file() and not (folder / CONFIG).exists():
        return resume_sweep(folder, circuit)
    if not folder.is_dir():
        raise FolderError(
            f"{folder}: must be the folder of a run or of a sweep (there is no such folder)"
        )
    with lock(folder):  # what a killed process has left half done
        settle(folder)
    begun = inside(folder, UNFINISHED)
    begun = begun if inside(begun, CONFIG).is_file() else folder
    if not inside(begun, CONFIG).is_file():
        raise FolderError(f"{folder}: has no run to resume: there is no {CONFIG} in it")
    if begun == folder and is_finished(folder):
        print(f"{folder}: finished; nothing to resume")
        return
    experiment = experiment_of(begun)
    settings = resolve(experiment.settings, begun / CONFIG, folder=begun)
    check_circuit(f"the run in {folder}", getattr(settings, "circuit", None), circuit)
    experiment.run(settings, RunFolder("", folder, source=begun / CONFIG, resumed=True))


def experiment_of(folder: Path) -> Any:
    """Return the command that wrote ``folder``, with its ``settings`` and its ``run``."""
    origin = read_config(folder / CONFIG, folder).get(PROVENANCE)
    name = origin.get("experiment") if isinstance(origin, dict) else None
    # A name in a file is looked up among ours; it never decides by itself what is imported.
    if isinstance(name, str) and name in commands():
        command = find_command(name)
        if hasattr(command, "settings"):
            return command
    raise FolderError(
        f"{folder}: {CONFIG} must name the experiment it is of (got {name!r}); is it a run folder?"
    )


command = resume
