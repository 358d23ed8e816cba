"""Check what the paper and its supplement say, sentence by sentence, on real data.

Runs what the paper reports: its algebra, where its algorithms end, compare --all, pictures, the
sensitivity to learning rates, symmetry, plateau, family, and apical drive in robustness; --only
chooses chapters. Fills the run folder with paper.md, a page with one table of sentences and an
appendix with every case; paper.json, the same as data; and all figures. Of MediaMill at most 20,000
rows are used, as in the paper. A run that was cut short goes on with `biorrr resume`.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from typing import Any

from biorrr.sims.comparisons.judgements import PAPER_ROWS, POINTS
from biorrr.sims.experiments import find_experiment
from biorrr.sims.experiments.paper.images import images
from biorrr.sims.experiments.paper.long_runs import convergence
from biorrr.sims.experiments.paper.page import VERDICTS, markdown, record, sentences
from biorrr.sims.experiments.paper.sensitivity import sensitivity
from biorrr.sims.experiments.paper.theorems import algebra
from biorrr.sims.lab import (
    PERCENT,
    Claim,
    Experiment,
    ExperimentSettings,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    experiment,
    option,
)
from biorrr.sims.lab.claims import HOLDS
from biorrr.sims.lazy import np

# Chapters that are no commands.
OWN = {one.name: one for one in (algebra, convergence, images, sensitivity)}
# Set after earlier runs of robustness had been seen.
# size of an all-or-none plateau over the r.m.s. drive, from which on plateaus count as sparse
SPARSE = 4
# Chapter: its experiment, and settings other than the experiment's defaults.
CHAPTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "algebra": ("algebra", {}),
    "symmetry": ("symmetry", {"seeds": 5}),
    "convergence": ("convergence", {"rows": PAPER_ROWS}),
    "plateau-digits": ("plateau", {"data": "digits"}),
    "plateau-v1v2": ("plateau", {"data": "v1v2"}),
    "family": ("family", {}),
    "compare": (
        "compare",
        {
            "data": "mediamill",
            "all": True,
            "simulation": False,
            "rows": PAPER_ROWS,
            "seeds": 20,
        },
    ),
    "sensitivity": ("sensitivity", {"rows": PAPER_ROWS}),
    "images": ("images", {"seeds": 5}),
    "robustness": (
        "robustness",
        {"data": ("digits", "v1v2"), "departures": ("all_or_none", "apical_events")},
    ),
}
QUICK_CHAPTERS = ("algebra", "symmetry")
REST = {
    "quick": (
        "All other sentences are about learning that has converged: `biorrr paper`, without"
        " --quick, judges them."
    ),
    "only": "Other chapters were left out: `biorrr paper`, without --only, judges all sentences.",
}


class PaperSettings(ExperimentSettings, seeds=20):
    """Settings of ``biorrr paper``."""

    quick: bool = option(
        False,
        "only what needs no learning: algebra, locality, and equality of circuit and algorithm",
    )
    only: tuple[str, ...] | None = option(
        None, "run this chapter only; all by default", choices=tuple(CHAPTERS)
    )


@experiment(
    shows=(
        "what the paper and its supplement say, sentence by sentence, each with a number and a"
        " verdict"
    ),
    takes="6 min",
    paper="all of it",
    not_swept="it is made of other experiments: sweep those",
    captions={**images.captions, **sensitivity.captions},
)
def paper(lab: Lab, settings: PaperSettings) -> Findings:
    """Run all experiments that the paper reports, and put its sentences on one page."""
    chapters = chapters_of(settings)
    if not chapters:
        raise SettingsError(
            f"only: must be among {', '.join(QUICK_CHAPTERS)} with --quick (got"
            f" {', '.join(settings.only or ())})"
        )
    lab.declare(*(data for _, own in chapters.values() for data in own.every_data))
    found = {name: lab.chapter(name, chapter, own) for name, (chapter, own) in chapters.items()}

    missing = {
        name: one.headline
        for name, one in found.items()
        if any(claim.untestable for claim in one.claims)
    }
    tested = {name: one for name, one in found.items() if name not in missing}
    # What a chapter bears on is its claims, of robustness the cost of apical drive.
    judged = sentences(
        claim
        for one in tested.values()
        for claim in (apical_drive(one) if one.experiment == "robustness" else one.claims)
    )
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in usage)
    run = {name: one.headline for name, one in tested.items()}
    page = {
        "run": run | {"processor time": f"{seconds:.0f} s since the last start"},
        "sentences": [record(cases) for cases in judged],
        "not run": missing,
        "rest": " ".join(text for name, text in REST.items() if getattr(settings, name)),
    }
    return Findings(
        title="The paper, sentence by sentence",
        quantities=[Quantity("cpu_seconds", seconds, "s", "processor time")],
        files={
            "paper.json": lambda path: path.write_text(
                json.dumps(page, indent=1, ensure_ascii=False) + "\n", "utf-8"
            ),
            "paper.md": lambda path: path.write_text(markdown(page), encoding="utf-8"),
        },
        claims=[cases[0] for cases in judged],
        closing=[
            *closing(judged),
            *(f"{name}: {why}" for name, why in missing.items()),
            str(page["rest"]),
        ],
        chapters=found,
    )


def chapters_of(settings: PaperSettings) -> dict[str, tuple[Experiment, Any]]:
    """Return the experiment of each chapter, with settings that follow the command's where they
    share them.
    """
    made: dict[str, tuple[Experiment, Any]] = {}
    for name, (command, own) in CHAPTERS.items():
        if name not in (settings.only or CHAPTERS) or (
            settings.quick and name not in QUICK_CHAPTERS
        ):
            continue
        chapter = OWN.get(command) or find_experiment(command)
        shared = ("seed", "engine", "circuit", "format", "checkpoint")
        given = {key: getattr(settings, key) for key in shared} | own
        given["seeds"] = min(settings.seeds, own.get("seeds", chapter.settings.seeds))
        made[name] = chapter, chapter.settings(**given)
    return made


def apical_drive(found: Findings) -> Iterator[Claim]:
    """Yield what apical drive costs where plateaus are sparse in time.

    Plateaus are all-or-none, and the rarer the larger they are. Sparse plateaus have a cost of
    their own: what is judged is the excess with apical drive minus that of the same plateaus
    without, seed by seed.
    """
    results = found.data["run"]
    for data in results["data"].values:
        for size in results["apical_events_value"].values:
            if size < SPARSE:
                continue
            driven = results["apical_events"].sel(data=data, apical_events_value=size).values
            silent = results["all_or_none"].sel(data=data, all_or_none_value=size).values
            yield Claim.over_seeds(
                driven - silent,
                text=(
                    "neglecting the apical inputs can be justified by the temporal sparsity of"
                    " plateau potentials"
                ),
                place='Sec. 5.2, "Comparison with neuroscience experiments"',
                high=POINTS,
                unit=PERCENT,
                data=str(data),
                case=f"plateaus of {size:g} r.m.s.",
                numbers={
                    "median excess with apical drive in %": 100 * float(np.median(driven)),
                    "median excess without apical drive in %": 100 * float(np.median(silent)),
                },
                run=(
                    "excess with apical drive, each plateau adding 0.8 to the output, minus the"
                    " excess without, seed by seed; plateaus"
                    f" below {SPARSE:g} r.m.s. are frequent, and are not judged"
                ),
            )


def closing(judged: list[list[Claim]]) -> list[str]:
    """Return the summary: every sentence that does not simply hold, by verdict."""
    lines = []
    for verdict in VERDICTS:
        quotes = [cases[0].text for cases in judged if cases[0].verdict == verdict]
        if quotes and verdict != HOLDS:
            lines += [f"{verdict}:", *(f"  {quote}" for quote in quotes)]
        elif quotes:
            lines.append(f"{verdict}: all others" if lines else f"{verdict}: all that was judged")
    return lines
