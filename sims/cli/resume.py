"""``biorrr resume``: a run that was cut short goes on from its last checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biorrr.sims.cli.report import experiment_of
from biorrr.sims.experiments import find_experiment
from biorrr.sims.lab.lab import carry_out
from biorrr.sims.lab.own_circuits import check_circuit
from biorrr.sims.lab.run_folder import (
    CONFIG,
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
from biorrr.sims.sweeps.points import PLAN, resume_sweep


def command(
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
    experiment = find_experiment(experiment_of(begun, read_config(begun / CONFIG, begun)))
    settings = resolve(experiment.settings, begun / CONFIG, folder=begun)
    check_circuit(f"the run in {folder}", getattr(settings, "circuit", None), circuit)
    carry_out(experiment, settings, RunFolder("", folder, source=begun / CONFIG, resumed=True))
