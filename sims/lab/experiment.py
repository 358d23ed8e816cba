"""An experiment: a function with its declarations, and how it is carried out.

Experiments live in ``sims/experiments``, one in each file, as a function of the same name. The
file's existence makes it a command.
"""

from __future__ import annotations

import os
import shutil
import sys
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from biorrr.sims.lab.findings import COLUMNS, Findings
from biorrr.sims.lab.lab import Lab, StoppedError, Workplace
from biorrr.sims.lab.run_folder import INTERRUPTED, RunFolder
from biorrr.sims.lab.settings import BasicSettings
from biorrr.sims.lab.workers import Processes, Submit


@dataclass(frozen=True)
class Experiment:
    """A function from a lab and settings to findings, with its declarations; see
    :func:`experiment`.
    """

    function: Callable[[Lab, Any], Findings]
    settings: type[BasicSettings]
    shows: str
    takes: str
    paper: str = ""
    measure: str | Callable[[Any], str] = ""
    not_swept: str = ""
    captions: Mapping[str, str] = field(default_factory=dict)
    small: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""

    def __call__(self, lab: Lab, settings: Any) -> Findings:
        """Run the experiment in a lab."""
        return self.function(lab, settings)

    @property
    def about(self) -> str:
        """Help of the command: the docstring of the experiment's file."""
        return sys.modules[self.function.__module__].__doc__ or ""

    def measure_of(self, settings: Any) -> str:
        """Return the name of the quantity that a sweep draws and compares, the lowest being the
        best.
        """
        return self.measure if isinstance(self.measure, str) else self.measure(settings)


def experiment(
    *,
    shows: str,
    takes: str,
    paper: str = "",
    measure: str | Callable[[Any], str] = "",
    not_swept: str = "",
    captions: Mapping[str, str] | None = None,
    small: Mapping[str, Any] | None = None,
) -> Callable[[Callable[[Lab, Any], Findings]], Experiment]:
    """Make an experiment of a function ``name(lab: Lab, settings: NameSettings) -> Findings``.

    Options, config files and checks follow from the type of ``settings``.

    Parameters
    ----------
    shows, takes, paper
        What the experiment shows, how long it takes and where the paper has it: the row of the
        README's table.
    measure
        Name of the quantity that a sweep draws and compares, the lowest being the best; a function
        from settings to the name where it depends on them.
    not_swept
        Why the experiment cannot be swept, if it cannot.
    captions
        Caption of each figure, by its name.
    small
        Settings with which the experiment takes a second or two: the tests use them.
    """

    def declare(function: Callable[[Lab, Any], Findings]) -> Experiment:
        parameters = typing.get_type_hints(function)
        return Experiment(
            function,
            parameters["settings"],
            shows,
            takes,
            paper,
            measure,
            not_swept,
            captions or {},
            small or {},
            function.__name__,
        )

    return declare


def carry_out(
    experiment: Experiment,
    settings: Any,
    folder: RunFolder,
    given: Mapping[Any, Any] = {},
    submit: Submit | None = None,
) -> Findings:
    """Run an experiment, print what it finds and fill a folder with it.

    Parameters
    ----------
    experiment, settings
        What to run.
    folder
        The folder to fill.
    given
        Data that are loaded already, by their value.
    submit
        How items are computed; unless given, by a process for each processor.
    """
    workplace = Workplace(folder, given, submit or Processes(os.cpu_count() or 1))
    try:
        with warnings.catch_warnings(), folder:
            # A circuit's words, and ours follow.
            warnings.filterwarnings("ignore", message="interrupted after")
            lab = Lab(experiment, settings, workplace)
            workplace.config = lab.config
            findings = lab.findings()
            workplace.begin()
            if findings.failure and folder.replaces:  # half a run takes no other's place
                _refuse_to_replace(findings.failure, folder)
            # What was found comes first: figures take longer to draw than a short run takes.
            columns = shutil.get_terminal_size((COLUMNS, 24)).columns
            print(*findings.lines(columns), sep="\n", flush=True)
            # The engine that "auto" was: it repeats the run bit for bit.
            engine = {key: one for key, one in findings.numbers.items() if key == "engine"}
            config = lab.config(**engine)
            folder.fill(config, findings, lab.settings.format, captions_of(findings, experiment))
    except KeyboardInterrupt:
        if folder.has_checkpoints:
            raise StoppedError(folder.way_on, exit_code=130) from None
        raise
    print(f"written to {folder.path}")
    if findings.failure:
        saved = f"{findings.numbers['samples']} samples are in {folder.path}"
        if findings.failure == INTERRUPTED:
            way_on = f"`biorrr resume {folder.path}` continues it"
            raise StoppedError(f"interrupted; {saved}; {way_on}", exit_code=130)
        raise StoppedError(f"{findings.failure} ({saved})")
    return findings


def _refuse_to_replace(failure: str, folder: RunFolder) -> None:
    if failure == INTERRUPTED:
        raise KeyboardInterrupt
    folder.discard()
    raise StoppedError(
        f"{failure} (nothing is kept of it, and the earlier run in {folder.path} stays)"
    )


def captions_of(findings: Findings, experiment: Experiment) -> dict[tuple[str, str], str]:
    """Return the captions of all figures, by experiment and name of the figure."""
    from biorrr.sims.experiments import experiment_names, find_experiment

    known = {experiment.name: experiment}
    for chapter in findings.chapters.values():
        if chapter.experiment in experiment_names():
            known[chapter.experiment] = find_experiment(chapter.experiment)
    return {
        (name, figure): caption
        for name, one in known.items()
        for figure, caption in one.captions.items()
    }


def evaluate(experiment: Experiment, settings: Any, given: Mapping[Any, Any] = {}) -> Findings:
    """Return what an experiment finds, in this process and without a folder: a point of a sweep."""
    return Lab(experiment, settings, Workplace(given=given)).findings()
