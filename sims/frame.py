"""The frame of every experiment: settings, folder, checkpoints, processes, progress, tables, and how a run may end."""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from biorrr.sims.experiment import Experiment, Findings, Problem, S, StoppedError, caption_of
from biorrr.sims.lab.checkpoints import NOT_KEPT, Checkpoints
from biorrr.sims.lab.circuits import circuit_function
from biorrr.sims.lab.claims import QUICK, Claim, without_verdicts
from biorrr.sims.lab.folder import INTERRUPTED, InterruptedRunError, RunFolder
from biorrr.sims.lab.interrupts import pressed
from biorrr.sims.lab.processes import Workers
from biorrr.sims.lab.settings import NO_NUMBERS, config_text, provenance
from biorrr.sims.lab.table import print_claims, print_table
from biorrr.sims.lazy import circuits, data_sets, np


def carry_out(
    experiment: Experiment[S],
    settings: S,
    folder: RunFolder,
    data: Sequence[data_sets.Dataset] = (),
    workers: int | None = None,
) -> Findings:
    """Run an experiment and fill a folder with what it finds.

    Parameters
    ----------
    experiment, settings
        What to run.
    folder
        Not yet open. It is claimed before anything is simulated; see :class:`~biorrr.sims.lab.folder.RunFolder`.
    data
        The data sets of ``settings.every_data``, where they are at hand already.
    workers
        How many processes run parts side by side; one for each processor unless given, 1 for this process alone.
    """
    settings, data, checksums, used = _fitted(experiment, settings, data)
    origin = provenance(experiment.name, data_sha256=",".join(checksums))
    with folder.opened(config_text(settings, origin)):
        checkpoints = Checkpoints.of(folder, settings.checkpoint)
        findings = _investigate(experiment, settings, data, checkpoints, workers or os.cpu_count() or 1, attended=True)
        if findings.failure and folder.replaces:  # half a run takes no other's place
            if findings.failure == INTERRUPTED:
                raise InterruptedRunError(folder.way_on)
            folder.discard()
            raise StoppedError(
                f"{findings.failure} (nothing is kept of it, and the earlier run in {folder.path} stays)"
            )

    if engine := findings.numbers.get("engine"):
        settings = replace(settings, engine=engine)  # what "auto" was: the same engine repeats the run bit for bit
    # What was found comes first: figures take longer to draw than a short run takes.
    print_table(findings.title, dict(findings.rows) | {name.replace("_", " "): text for name, text in used.items()})
    print_claims("the paper's claims", findings.claims)
    print_claims("tests of our own", findings.own_tests)
    with suppress(OSError):  # nobody reads on: the results are kept all the same
        sys.stdout.flush()
    with folder.filling(lambda files: config_text(settings, origin | {"files": files})):
        for stem, result in findings.results.items():
            folder.write_results(result, f"{stem}.nc")
        for name, draw in findings.figures.items():
            folder.write_figure(name, settings.format, draw())
        folder.write_captions({f"{name}.{settings.format}": caption_of(experiment, name) for name in findings.figures})
        for name, write in findings.files.items():
            with folder.writing(name) as path:
                write(path)
        folder.write_summary({**findings.numbers, **used}, findings.claims, findings.own_tests)
    print(f"written to {folder.path}")
    if findings.failure:
        saved = f"{findings.numbers['samples']} samples are in {folder.path}"
        if findings.failure == INTERRUPTED:
            raise StoppedError(f"interrupted; {saved}; `biorrr resume {folder.path}` continues it", exit_code=130)
        raise StoppedError(f"{findings.failure} ({saved})")
    return findings


def evaluate(experiment: Experiment[S], settings: S, data: Sequence[data_sets.Dataset]) -> Findings:
    """What an experiment finds, in this process and without a folder: a point of a sweep."""
    settings, data, _, _ = _fitted(experiment, settings, data)
    return _investigate(experiment, settings, data, NOT_KEPT, workers=1, attended=False)


def _fitted(
    experiment: Experiment[S], settings: S, data: Sequence[data_sets.Dataset]
) -> tuple[S, Sequence[data_sets.Dataset], list[str], dict[str, str]]:
    """Return settings with all that they leave open worked out, the data if there is one set, checksums and choices.

    Choices are what was used of a file: areas, event, window and so on.
    """
    settings = experiment.check(settings)
    if settings.circuit is not None:
        circuit_function(settings.circuit)  # fails here or not at all
    if not data and len(settings.every_data) == 1:
        data = [*_data_sets(experiment, settings, ())]
    checksums: list[str] = []
    used: dict[str, str] = {}
    for chapter, own in experiment.chapters(settings).values():
        with suppress(data_sets.DataError):
            checksums += _fitted(chapter, own, ())[2]
    for one in _data_sets(experiment, settings, data):
        settings = experiment.fit(settings, one)
        checksums.append(one.checksum)
        used |= {f"data_{name}": text for name, text in one.used.items()}
    return settings, data, checksums, used


def _data_sets(
    experiment: Experiment[S], settings: S, data: Sequence[data_sets.Dataset]
) -> Iterator[data_sets.Dataset]:
    """The data sets one by one, loaded when it is their turn: all of them together may be too large for memory."""
    yield from data or (value.load() for value in settings.every_data)


def _investigate(
    experiment: Experiment[S],
    settings: S,
    data: Sequence[data_sets.Dataset],
    checkpoints: Checkpoints,
    workers: int,
    attended: bool,
) -> Findings:
    """Run all parts on each data set in turn, or all chapters, and conclude."""
    concluded, failures = [], []
    for name, (chapter, own) in experiment.chapters(settings).items():
        try:
            own, sets, _, _ = _fitted(chapter, own, ())
        except data_sets.DataError as error:
            concluded.append((name, _missing(chapter, str(error))))
            continue
        concluded.append((name, _investigate(chapter, own, sets, checkpoints.within(name), workers, attended)))
    for number, one in enumerate(() if concluded else _data_sets(experiment, settings, data)):
        # By number: what the user calls data may be a path.
        kept = checkpoints.within(f"data-{number}") if len(settings.every_data) > 1 else checkpoints
        problem = experiment.prepare(settings, one)
        found, failure = run_parts(experiment, problem, kept, workers, attended)
        concluded.append(experiment.conclude(problem, found))
        failures.append(failure)
    findings, failure = experiment.combine(settings, concluded), "".join(failures)
    # A run that has not converged can only say so.
    why = QUICK if getattr(settings, "quick", False) else failure and f"the run has not come to its end: {failure}"
    claims, own_tests = (without_verdicts(found, why) for found in (findings.claims, findings.own_tests))
    return replace(findings, failure=failure, claims=claims, own_tests=own_tests)


def _missing(chapter: Experiment[Any], why: str) -> Findings:
    """What a chapter has found whose data are not there."""
    claim = Claim(text=f"all that {chapter.name} checks", place=chapter.paper, untestable=why)
    return Findings(numbers={}, title=f"not run: {why}", rows={}, claims=[claim])


def run_parts(
    experiment: Experiment[S], problem: Problem[S], checkpoints: Checkpoints, workers: int, attended: bool = False
) -> tuple[dict[str, Any], str]:
    """Run all parts on one data set; returns results by name, and why the only part is unfinished, where it may be.

    ``attended`` runs show how far they have come.
    """
    from biorrr.circuit.simulation.progress import progress_bar

    found: dict[str, Any] = {}
    failure = ""
    with Workers(functools.partial(_run_part, experiment, problem, checkpoints, attended), workers) as pool:
        while True:
            parts = experiment.parts(problem, found)
            left = {name: (part, len(parts) == 1) for name, part in parts.items() if name not in found}
            if not left:
                return found, failure
            finished = {}
            with progress_bar(len(parts), " parts", experiment.name, initial=len(found)) as bar:
                bar.disable |= len(parts) == 1 or not attended  # a single circuit shows its samples
                for name, outcome in pool.run(left):
                    finished[name], failure = outcome
                    if pressed() and not failure:  # too late for the part to heed it
                        raise KeyboardInterrupt
                    bar.update()
            found |= {name: finished[name] for name in left}  # in their own order, whichever was finished first


def _run_part(
    experiment: Experiment[S],
    problem: Problem[S],
    checkpoints: Checkpoints,
    attended: bool,
    name: str,
    order: tuple[Any, bool],
) -> tuple[Any, str]:
    """Result of a part, from disk where it was finished earlier; and why it is unfinished, where it may be."""
    part, only = order
    settings = dataclasses.asdict(problem.settings)
    identity = {"part": name} | {key: str(value) for key, value in settings.items() if key not in NO_NUMBERS}
    if (kept := checkpoints.kept(f"{name}-result", identity)) is not None:
        return kept, ""
    may_be_unfinished = attended and only and experiment.keeps_unfinished
    failure = ""
    try:
        options = {**checkpoints.run_options(name), "progress": attended and only}
        result = experiment.run_part(problem, part, options)
    except circuits.Diverged as error:
        if not may_be_unfinished:
            raise StoppedError(str(error) if only else f"{name.replace('-', ' ')}: {error}") from error
        result, failure = error.run, str(error)
    if isinstance(result, circuits.Run):
        if result.ended == INTERRUPTED:
            if not may_be_unfinished:
                raise KeyboardInterrupt
            failure = INTERRUPTED
        # As it would come from another process, lest sums run in another order.
        return circuits.Run(result.data.map(functools.partial(np.asarray, order="C"), keep_attrs=True)), failure
    arrays = {key: np.asarray(value) for key, value in result.items()}
    checkpoints.keep(f"{name}-result", identity, arrays)
    return arrays, failure
