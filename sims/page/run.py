"""The page of one run of any experiment."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.analysis.figures.panels.wiring import MOST_CELLS
from biorrr.sims.lab.claims import FAILS, HOLDS, NOT_JUDGED
from biorrr.sims.lab.files import FolderError
from biorrr.sims.lab.folder import CONFIG, INTERRUPTED, SUMMARY
from biorrr.sims.lab.folder.inventory import FIGURE
from biorrr.sims.lab.quantities import readable
from biorrr.sims.page.curves import charts_of
from biorrr.sims.page.diagram import diagram_of
from biorrr.sims.page.record import Record, read_record

if TYPE_CHECKING:
    from biorrr.circuit import Run

_HOW_IT_ENDED = {
    "done": "it ran to its end",
    "stopped": "it was stopped by a callback",
    INTERRUPTED: "it was interrupted",
    "diverged": "it diverged",
}


def gather_run(folder: Path) -> dict[str, Any]:
    """Return all that the page shows of the run in ``folder`` except figures."""
    record = read_record(folder)
    try:
        return _gathered(record)
    except FolderError:
        raise
    except Exception as error:  # what others have put into a file can be wrong in any way
        raise FolderError(
            f"{folder}: must hold what `biorrr {record.experiment}` leaves (got something else: "
            f"{type(error).__name__}: {error}); run it again"
        ) from error


def _gathered(record: Record) -> dict[str, Any]:
    run = _circuit(record)
    return {
        "kind": "run",
        "experiment": record.experiment,
        "drawn": None if run is None else _drawn(record, run),
        "name": record.folder.resolve().name,
        "figures": [*record.inventory.of_kind(FIGURE)],
        "when": when(record.folder / SUMMARY, record.summary.get("seconds")),
        "sentence": _sentence(record, run),
        "claims": [_claim(one) for one in record.claims],
        "own_tests": [_claim(one) for one in record.own_tests],
        "numbers": {
            name: readable(value, unit) if (unit := record.inventory.unit_of(name)) else value
            for name, value in record.summary.items()
            if isinstance(value, int | float | str)
        },
        "settings": record.settings,
        "versions": record.provenance,
        "command": None if record.settings.get("circuit") else f"biorrr {record.experiment} --config {CONFIG}",
        "own_circuit": record.settings.get("circuit"),
        "charts": {
            "diagram": None if run is None else diagram_of(run),
            "curves": _curves(record),
        },
    }


def when(path: Path, seconds: Any = None) -> str:
    """Return when a file was written, and how long the simulation took, where that is known."""
    written = f"Written on {datetime.fromtimestamp(path.lstat().st_mtime):%d %B %Y at %H:%M}"
    return written + (f"; the circuits took {seconds:.3g} s." if isinstance(seconds, int | float) else ".")


def _circuit(record: Record) -> Run | None:
    """Return the circuit that the run trained, the first of several; None where none was kept."""
    from biorrr.circuit import Run

    found = next((one for one in record.results.values() if {"Vx", "Vy", "Q", "R", "seen"} <= set(one.variables)), None)
    return None if found is None else Run(found.isel(seed=0) if "seed" in found.dims else found)


def _curves(record: Record) -> list[dict[str, Any]]:
    """Return the charts of the experiment, or of each of its chapters."""
    drawn = []
    for (chapter, name), results in record.of_chapters().items():
        charts = charts_of(name, results)
        drawn += [one | {"title": f"{chapter}: {one['title']}"} if chapter else one for one in charts]
    return drawn


def _sentence(record: Record, run: Run | None) -> str:
    """Return a sentence that says what was run and how it ended."""
    settings, summary = record.settings, record.summary
    data = settings.get("data")
    on = f" on {_data_words(data)}" if data else ""
    if run is None:
        sentence = f"The experiment “{record.experiment}”{on}"
    else:
        sizes = run.data.sizes
        sentence = (
            f"A circuit of {sizes['pyramidal']} pyramidal neurons and {sizes['interneuron']} interneurons learned"
            f"{on} ({sizes['input']} sensory and {sizes['instruction']} instructive inputs) at s = "
            f"{run.data.attrs['s']:g}"
        )
    sentence += f": {_HOW_IT_ENDED.get(str(summary.get('ended', 'done')), 'how it ended is not known')}"
    sentence += f" after {run.samples:,} samples" if run is not None else ""
    sentence += f" on engine {summary['engine']}" if "engine" in summary else ""
    excess = summary.get("excess")
    sentence += f", {excess:.2%} above the optimum" if isinstance(excess, float) else ""
    if record.claims:
        judged = [one["holds"] for one in record.claims if isinstance(one.get("holds"), bool)]
        sentence += f"; {sum(judged)} of {len(judged)} claims hold" if judged else "; no claim was judged"
    if summary.get("ended") == INTERRUPTED:
        sentence += "; `biorrr resume` continues it"
    return f"{sentence}."


def _drawn(record: Record, run: Run) -> str:
    """Return a sentence about what of several seeds and of many cells is drawn."""
    seeds, cells = record.settings.get("seeds", 1), max(run.data.sizes["pyramidal"], run.data.sizes["interneuron"])
    first = f"Of {seeds} seeds this is the first. " if seeds != 1 else ""
    return first + (f"Of {cells} cells the first {MOST_CELLS} of each kind are drawn." if cells > MOST_CELLS else "")


def _claim(one: dict[str, Any]) -> dict[str, Any]:
    """Return the row of the page about a claim, in the order in which the run has written it."""
    behind = {name: value for name, value in one.items() if name not in ("claim", "holds", "verdict")}
    holds = one.get("holds")
    told = one.get("verdict") or (HOLDS if holds is True else FAILS if holds is False else NOT_JUDGED)
    verdict = f"{'✓' if holds is True else '✗' if holds is False else '–'} {told}"
    return {"text": str(one.get("claim")), "verdict": verdict, "numbers": behind}


def _data_words(plain: object) -> str:
    """Return the data of a config in words, a name, a table or a list of these."""
    if isinstance(plain, list):
        return ", ".join(map(_data_words, plain))
    return str(plain.get("name") or plain.get("file")) if isinstance(plain, dict) else str(plain)
