"""Check every numeric claim of the paper and its supplement on real data.

Runs all races, figures and tables of the paper: compare --all, images, sensitivity, symmetry, plateau and family, and
what the paper proves. Fills the run folder with paper.html, a page to look at; paper.json, every claim with its place,
its number, its spread, its bounds and the verdict; paper.md, the same page as Markdown; and the figures. The bounds
were fixed beforehand. A run that was cut short goes on with `biorrr resume`.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from biorrr.sims.experiments import find_experiment
from biorrr.sims.experiments.paper.page import as_record, counts, markdown, webpage
from biorrr.sims.experiments.paper.proofs import UNTESTABLE, theory
from biorrr.sims.lab import Experiment, ExperimentSettings, Findings, Lab, Quantity, experiment, option, seeds_option
from biorrr.sims.lab.carry_out import apart
from biorrr.sims.lab.claims import FAILS, HOLDS, NOT_TESTABLE, QUICK, without_verdicts
from biorrr.sims.lab.folder import plain_value

# Chapter: experiment (None is the theory's), and settings other than its own defaults.
CHAPTERS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "theory": (None, {}),
    "compare": ("compare", {"all": True}),
    "images": ("images", {"simulation": False}),
    "sensitivity": ("sensitivity", {}),
    "symmetry": ("symmetry", {}),
    "plateau-digits": ("plateau", {"data": "digits"}),
    "plateau-v1v2": ("plateau", {"data": "v1v2"}),
    "family": ("family", {}),
}
SHORTER = {"epochs": 5}  # of chapters that have no --quick of their own


@dataclass(frozen=True, kw_only=True)
class PaperSettings(ExperimentSettings):
    """Settings of ``biorrr paper``."""

    seeds: int = seeds_option(5)
    quick: bool = option(False, "fewer samples and seeds: a first look, without verdicts")

    @property
    def every_data(self) -> tuple[Any, ...]:
        """Return none: the chapters read their own."""
        return ()


@experiment(
    shows="every numeric claim of the paper and its supplement, each with its bound and verdict",
    takes="6 min",
    paper="all of it",
    not_swept="it is made of other experiments: sweep those",
)
def paper(lab: Lab, settings: PaperSettings) -> Findings:
    """Run all experiments that the paper reports, and put their claims on one page."""
    chapters = chapters_of(settings)
    lab.declare(*(data for _, own in chapters.values() for data in own.every_data))
    found = {name: lab.chapter(name, chapter, own) for name, (chapter, own) in chapters.items()}

    claims = [claim for findings in found.values() for claim in findings.claims] + [*UNTESTABLE]
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in usage)
    facts = {"seeds": settings.seeds, "processor time": f"{seconds:.0f} s, since the command was started or resumed"}
    titles = {name: findings.title for name, findings in found.items()}
    record = as_record(without_verdicts(claims, QUICK if settings.quick else ""), {"run": {**facts, **titles}})
    figures = {
        f"{figure.stem}{apart(name, findings)}.{settings.format}": chapters[name][0].captions.get(figure.name, "")
        for name, findings in found.items()
        for figure in findings.figures
    }
    verdicts = [claim.verdict for claim in claims]
    return Findings(
        title="The paper, claim by claim",
        quantities=[
            Quantity("claims_that_hold", verdicts.count(HOLDS)),
            Quantity("claims_that_do_not_hold", verdicts.count(FAILS)),
            Quantity("claims_not_testable", verdicts.count(NOT_TESTABLE)),
            Quantity("cpu_seconds", seconds, "s", "processor time"),
        ],
        rows={"claims": counts(record)},
        files={
            "paper.json": lambda path: write_json(path, record),
            "paper.md": lambda path: path.write_text(markdown(record), encoding="utf-8"),
            "paper.html": lambda path: path.write_text(webpage(record, figures), encoding="utf-8"),
        },
        claims=claims,
        chapters=found,
    )


def chapters_of(settings: PaperSettings) -> dict[str, tuple[Experiment, Any]]:
    """Return the experiment of each chapter, with settings that follow the command's where they share them."""
    made: dict[str, tuple[Experiment, Any]] = {}
    for name, (command, own) in CHAPTERS.items():
        chapter = theory if command is None else find_experiment(command)
        known: dict[str, Any] = {field.name: field.default for field in fields(chapter.settings)}
        shared = {key: getattr(settings, key) for key in ("seed", "engine", "circuit", "format", "checkpoint", "quick")}
        shared["seeds"] = min(settings.seeds, known["seeds"])
        if settings.quick and "quick" not in known:
            shared |= {key: value for key, value in SHORTER.items() if key in known} | {"seeds": 1}
        given = {key: value for key, value in (shared | own).items() if key in known}
        made[name] = chapter, chapter.settings(**given)
    return made


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write paper.json; what is not finite becomes null."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(name): plain(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [plain(one) for one in value]
        return plain_value("paper.json", value)

    path.write_text(json.dumps(plain(record), indent=2, allow_nan=False) + "\n", encoding="utf-8")
