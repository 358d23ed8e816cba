"""Check what the paper and its supplement say, sentence by sentence, on real data.

Runs what the paper reports: its algebra, where its algorithms end, compare --all in both directions, images,
sensitivity, symmetry, plateau, family, and apical drive in robustness. Fills the run folder with paper.md, a page with
one table of sentences and an appendix with every case; paper.json, the same as data; and all figures. Of
MediaMill at most 20,000 rows are used, as in the paper. A run that was cut short goes on with
`biorrr resume`.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from biorrr.sims.experiments import find_experiment
from biorrr.sims.experiments.compare.claims import PAPER_ROWS
from biorrr.sims.experiments.paper.evidence import of_family, of_plateau, of_robustness, of_symmetry
from biorrr.sims.experiments.paper.long_runs import convergence
from biorrr.sims.experiments.paper.page import WORDS, Sentence, curve_table, markdown, sentences
from biorrr.sims.experiments.paper.theorems import algebra
from biorrr.sims.lab import Claim, Experiment, ExperimentSettings, Findings, Lab, Quantity, experiment, option
from biorrr.sims.lab.claims import HOLDS
from biorrr.sims.lab.settings import seeds_option

OWN = {"algebra": algebra, "convergence": convergence}  # chapters that are no commands
EVIDENCE = {"symmetry": of_symmetry, "plateau": of_plateau, "family": of_family, "robustness": of_robustness}
RACE = {"all": True, "simulation": False, "rows": PAPER_ROWS}
APICAL = {"departures": ("all_or_none", "apical_events")}
OTHER = "compare-other"  # the direction that the paper did not run
# Chapter: its experiment, and settings other than the experiment's defaults.
CHAPTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "algebra": ("algebra", {}),
    "symmetry": ("symmetry", {"seeds": 5}),
    "convergence": ("convergence", {"rows": PAPER_ROWS}),
    "plateau-digits": ("plateau", {"data": "digits"}),
    "plateau-v1v2": ("plateau", {"data": "v1v2"}),
    "family": ("family", {}),
    "compare": ("compare", RACE | {"direction": "y-to-x", "seeds": 20}),
    "sensitivity": ("sensitivity", {"rows": PAPER_ROWS}),
    "images": ("images", {"simulation": False, "seeds": 5}),
    "robustness": ("robustness", APICAL),
    OTHER: ("compare", RACE | {"direction": "x-to-y", "seeds": 5}),
}
QUICK_CHAPTERS = ("algebra", "symmetry")
REST = "All other sentences are about learning that has converged: `biorrr paper`, without --quick, judges them."


@dataclass(frozen=True, kw_only=True)
class PaperSettings(ExperimentSettings):
    """Settings of ``biorrr paper``."""

    seeds: int = seeds_option(20)
    quick: bool = option(False, "only what needs no learning: algebra, locality, and equality of circuit and algorithm")

    @property
    def every_data(self) -> tuple[Any, ...]:
        """Return none: the chapters read their own."""
        return ()


@experiment(
    shows="what the paper and its supplement say, sentence by sentence, each with a number and a verdict",
    takes="6 min",
    paper="all of it",
    not_swept="it is made of other experiments: sweep those",
)
def paper(lab: Lab, settings: PaperSettings) -> Findings:
    """Run all experiments that the paper reports, and put its sentences on one page."""
    chapters = chapters_of(settings)
    lab.declare(*(data for _, own in chapters.values() for data in own.every_data))
    found = {name: lab.chapter(name, chapter, own) for name, (chapter, own) in chapters.items()}

    missing = {name: one.title for name, one in found.items() if any(claim.untestable for claim in one.claims)}
    tested = {name: one for name, one in found.items() if name not in missing}
    judged = sentences(claim for name, one in tested.items() if name != OTHER for claim in claims_of(one))
    aside = sentences(claims_of(tested[OTHER])) if OTHER in tested else []
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in usage)
    record = {
        "run": {name: one.title for name, one in tested.items()}
        | {"processor time": f"{seconds:.0f} s since the last start"},
        "sentences": [one.record() for one in judged],
        "not run": missing,
        "rest": REST if settings.quick else "",
        "other direction": [one.record() for one in aside],
        "curves": curve_table(tested["compare"].data["run"]) if "compare" in tested else [],
    }
    return Findings(
        title="The paper, sentence by sentence",
        quantities=[Quantity("cpu_seconds", seconds, "s", "processor time")],
        files={
            "paper.json": lambda path: path.write_text(
                json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8"
            ),
            "paper.md": lambda path: path.write_text(markdown(record), encoding="utf-8"),
        },
        claims=[one.deciding for one in judged],
        closing=[*closing(judged), *(f"{name}: {why}" for name, why in missing.items()), str(record["rest"])],
        chapters=found,
    )


def chapters_of(settings: PaperSettings) -> dict[str, tuple[Experiment, Any]]:
    """Return the experiment of each chapter, with settings that follow the command's where they share them."""
    made: dict[str, tuple[Experiment, Any]] = {}
    for name, (command, own) in CHAPTERS.items():
        if settings.quick and name not in QUICK_CHAPTERS:
            continue
        chapter = OWN.get(command) or find_experiment(command)
        known: dict[str, Any] = {field.name: field.default for field in fields(chapter.settings)}
        given = {key: getattr(settings, key) for key in ("seed", "engine", "circuit", "format", "checkpoint")} | own
        given["seeds"] = min(settings.seeds, own.get("seeds", known["seeds"]))
        made[name] = chapter, chapter.settings(**given)
    return made


def claims_of(found: Findings) -> Iterator[Claim]:
    """Return the claims about sentences of the paper that a chapter bears on."""
    gather = EVIDENCE.get(found.experiment)
    return gather(found) if gather else iter(found.claims)


def closing(judged: list[Sentence]) -> list[str]:
    """Return the summary: every sentence that is not simply reproduced, by verdict."""
    lines = []
    for verdict, words in WORDS.items():
        quotes = [one.deciding.text for one in judged if one.deciding.verdict == verdict]
        if quotes and verdict != HOLDS:
            lines += [f"{words}:", *(f"  {quote}" for quote in quotes)]
        elif quotes:
            lines.append(f"{words}: all others" if lines else f"{words}: all that was judged")
    return lines
