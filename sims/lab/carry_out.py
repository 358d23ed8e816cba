"""Carrying out an experiment: in a run folder for a person, or in memory for a point of a sweep."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from biorrr.sims.lab.claims import print_claims
from biorrr.sims.lab.declaration import Experiment
from biorrr.sims.lab.findings import Findings
from biorrr.sims.lab.folder import INTERRUPTED, InterruptedRunError, RunFolder
from biorrr.sims.lab.folder.inventory import Entry
from biorrr.sims.lab.lab import Lab, StoppedError, Workplace
from biorrr.sims.lab.quantities import print_table


def carry_out(
    experiment: Experiment,
    settings: Any,
    folder: RunFolder,
    given: Mapping[Any, Any] = {},
    workers: int | None = None,
) -> Findings:
    """Run an experiment and fill a folder with what it finds.

    Parameters
    ----------
    experiment, settings
        What to run.
    folder
        Not yet open; see :class:`~biorrr.sims.lab.folder.RunFolder`.
    given
        Data that are loaded already, by their value.
    workers
        Number of processes that run items side by side; one for each processor unless given, 1 for
        this one alone.
    """
    with Workplace(folder, given, workers or os.cpu_count() or 1) as workplace:
        lab = Lab(experiment, settings, workplace)
        workplace.config = lab.config
        findings = lab.findings()
        workplace.claim(lab.settings.checkpoint)
        if findings.failure and folder.replaces:  # half a run takes no other's place
            if findings.failure == INTERRUPTED:
                raise InterruptedRunError(folder.way_on)
            folder.discard()
            raise StoppedError(
                f"{findings.failure} (nothing is kept of it, and the earlier run in {folder.path}"
                " stays)"
            )
    # What was found comes first: figures take longer to draw than a short run takes.
    print_table(findings.title, findings.table)
    print_claims("the paper's claims", findings.claims)
    print_claims("tests of our own", findings.own_tests)
    print(*filter(None, findings.closing), sep="\n", end="\n" if any(findings.closing) else "")
    with suppress(OSError):  # nobody reads on: the results are kept all the same
        sys.stdout.flush()
    engine = findings.numbers.get(
        "engine"
    )  # what "auto" was: the same engine repeats the run bit for bit
    with folder.filling(lab.config(**({"engine": engine} if engine else {}))):
        for chapter, found in (("", findings), *findings.chapters.items()):
            _write(
                folder,
                experiment_named(found.experiment, experiment),
                found,
                chapter,
                lab.settings.format,
            )
        folder.write_summary(findings.every_quantity, findings.claims, findings.own_tests)
    print(f"written to {folder.path}")
    if findings.failure:
        saved = f"{findings.numbers['samples']} samples are in {folder.path}"
        if findings.failure == INTERRUPTED:
            raise StoppedError(
                f"interrupted; {saved}; `biorrr resume {folder.path}` continues it", exit_code=130
            )
        raise StoppedError(f"{findings.failure} ({saved})")
    return findings


def evaluate(experiment: Experiment, settings: Any, given: Mapping[Any, Any] = {}) -> Findings:
    """Return what an experiment finds, in this process and without a folder: a point of a sweep."""
    return Lab(experiment, settings, Workplace(given=given)).findings()


def experiment_named(name: str, default: Experiment) -> Experiment:
    """Return the experiment of this name."""
    from biorrr.sims.experiments import experiment_names, find_experiment

    return find_experiment(name) if name != default.name and name in experiment_names() else default


def _write(
    folder: RunFolder, experiment: Experiment, findings: Findings, chapter: str, format: str
) -> None:
    """Write data, figures and files of an experiment, or of a chapter under names that tell it
    apart from others.
    """
    about: dict[str, Any] = {"experiment": findings.experiment, "chapter": chapter}
    for name, result in findings.data.items():
        stem = name if not chapter else chapter if name == "run" else f"{chapter}-{name}"
        folder.write_results(result, stem, name=name, **about)
    for figure in findings.figures:
        caption = experiment.captions.get(figure.name, "")
        stem = f"{figure.stem}{apart(chapter, findings)}"
        folder.write_figure(stem, format, figure.draw(), name=figure.name, caption=caption, **about)
    for name, write in findings.files.items():
        with folder.writing(Entry(name, **about)) as path:
            write(path)


def apart(chapter: str, findings: Findings) -> str:
    """Return what sets files of a chapter apart from those of other chapters of the same
    experiment.
    """
    return chapter.removeprefix(findings.experiment)
