"""The page of one run of any experiment: settings, numbers, claims and figures, as its folder holds
them.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from biorrr.sims.lab.claims import FAILS, HOLDS, NOT_JUDGED
from biorrr.sims.lab.findings import readable
from biorrr.sims.lab.run_folder import (
    CONFIG,
    FIGURE,
    INTERRUPTED,
    INVENTORY,
    PROVENANCE,
    SUMMARY,
    UNFINISHED,
    FolderError,
    Inventory,
    is_in_use,
    open_inside,
)
from biorrr.sims.main import commands

_HOW_IT_ENDED = {
    "done": "it ran to its end",
    "stopped": "it was stopped by a callback",
    INTERRUPTED: "it was interrupted",
    "diverged": "it diverged",
}


def gather_run(folder: Path) -> dict[str, Any]:
    """Return what the page shows of the run in ``folder``; refuse a folder without a finished run
    in one sentence.
    """
    if not folder.is_dir():
        raise FolderError(
            f"{folder}: must be a folder that an experiment or a sweep has filled (there is no such"
            " folder)"
        )
    if os.path.lexists(folder / UNFINISHED):
        _refuse_unfinished(folder)
    if not os.path.lexists(folder / CONFIG):
        raise FolderError(
            f"{folder}: has no run in it ({CONFIG} is missing); give a run's folder, or a sweep's"
        )
    settings = _table(folder, CONFIG, tomllib.loads)
    provenance = settings.pop(PROVENANCE, None)
    experiment = provenance.get("experiment") if isinstance(provenance, dict) else None
    # A name in a file is looked up among ours: it becomes part of a command that users will copy.
    if not isinstance(experiment, str) or experiment not in commands():
        raise FolderError(
            f"{folder}: {CONFIG} must name the experiment it is of (got {experiment!r}); is it a"
            " run folder?"
        )
    _refuse_unfinished(folder)
    summary = _table(folder, SUMMARY, json.loads)
    inventory = Inventory.read(_table(folder, INVENTORY, json.loads))
    claims = _listed(summary, "claims")
    return {
        "name": folder.resolve().name,
        "when": when(folder / SUMMARY, summary.get("seconds")),
        "sentence": _sentence(experiment, settings, summary, claims),
        "figures": inventory.of_kind(FIGURE),
        "claims": [*map(_claim, claims)],
        "own_tests": [*map(_claim, _listed(summary, "own_tests"))],
        "numbers": {
            name: readable(value, unit)
            if (unit := inventory.quantities.get(name, {}).get("unit"))
            else value
            for name, value in summary.items()
            if isinstance(value, int | float | str)
        },
        "settings": settings,
        "versions": provenance,
        "command": f"biorrr {experiment} --config {CONFIG}",
        "own_circuit": settings.get("circuit"),
    }


def _refuse_unfinished(folder: Path) -> None:
    if os.path.lexists(folder / SUMMARY):
        return
    if is_in_use(folder):
        raise FolderError(f"{folder}: the run in it is still going; wait for its end")
    raise FolderError(
        f"{folder}: the run in it was cut short; `biorrr resume {folder}` continues it"
    )


def _table(folder: Path, name: str, parse: Callable[[str], Any]) -> dict[str, Any]:
    """Return the table of names and values that a file in ``folder`` holds."""
    try:
        with open_inside(folder, name) as file:
            found = parse(file.read().decode("utf-8"))
    except FileNotFoundError:
        raise FolderError(f"{folder}: {name} is missing; run it again") from None
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{folder / name}: damaged ({error}); run it again") from error
    if not isinstance(found, dict):
        raise FolderError(
            f"{folder / name}: damaged (must be a table of names and values); run it again"
        )
    return found


def _listed(summary: dict[str, Any], key: str) -> list[dict[str, Any]]:
    listed = summary.get(key)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def when(path: Path, seconds: Any = None) -> str:
    """Return when a file was written, and how long the simulation took, where that is known."""
    written = f"Written on {datetime.fromtimestamp(path.lstat().st_mtime):%d %B %Y at %H:%M}"
    return written + (
        f"; the circuits took {seconds:.3g} s." if isinstance(seconds, int | float) else "."
    )


def _sentence(
    experiment: str, settings: dict[str, Any], summary: dict[str, Any], claims: list[dict[str, Any]]
) -> str:
    """Return a sentence that says what was run and how it ended."""
    sentence = f"The experiment “{experiment}”"
    sentence += f" on {_data_words(settings['data'])}" if settings.get("data") else ""
    sentence += (
        f": {_HOW_IT_ENDED.get(str(summary.get('ended', 'done')), 'how it ended is not known')}"
    )
    sentence += (
        f" after {summary['samples']:,} samples" if isinstance(summary.get("samples"), int) else ""
    )
    sentence += f" on engine {summary['engine']}" if "engine" in summary else ""
    excess = summary.get("excess")
    sentence += f", {100 * excess:.2f} % above the optimum" if isinstance(excess, float) else ""
    if claims:
        judged = [one["holds"] for one in claims if isinstance(one.get("holds"), bool)]
        sentence += (
            f"; {sum(judged)} of {len(judged)} claims hold" if judged else "; no claim was judged"
        )
    if summary.get("ended") == INTERRUPTED:
        sentence += "; `biorrr resume` continues it"
    return f"{sentence}."


def _claim(one: dict[str, Any]) -> dict[str, Any]:
    """Return the row of the page about a claim: its verdict, its sentence and what the verdict
    rests on.
    """
    holds = one.get("holds")
    told = one.get("verdict") or (
        HOLDS if holds is True else FAILS if holds is False else NOT_JUDGED
    )
    verdict = f"{'✓' if holds is True else '✗' if holds is False else '–'} {told}"
    behind = [one.get(name) for name in ("basis", "run", "place")]
    return {
        "text": one.get("sentence") or one.get("claim"),
        "verdict": verdict,
        "behind": [*filter(None, behind)],
    }


def _data_words(plain: object) -> str:
    """Return the data of a config in words, a name, a table or a list of these."""
    if isinstance(plain, list):
        return ", ".join(map(_data_words, plain))
    return str(plain.get("name") or plain.get("file")) if isinstance(plain, dict) else str(plain)
