"""``biorrr report``: one self-contained HTML page of runs and sweeps, one or several side by side.

It has markup, style and figures in one file without scripts, which asks nothing of the network.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from biorrr.files import whole_file
from biorrr.sims.experiments import experiment_names
from biorrr.sims.lab.claims import FAILS, HOLDS, NOT_JUDGED
from biorrr.sims.lab.findings import readable
from biorrr.sims.lab.run_folder import (
    CONFIG,
    FIGURE,
    INTERRUPTED,
    PROVENANCE,
    SUMMARY,
    UNFINISHED,
    FolderError,
    is_in_use,
    open_inside,
    read_inventory,
    read_table,
)
from biorrr.sims.lab.settings import SettingsError
from biorrr.sims.sweeps.plan import read_plan
from biorrr.sims.sweeps.points import FIGURE as FIGURE_OF_SWEEP
from biorrr.sims.sweeps.points import PLAN, POINTS, TABLE, read_points

ASSETS = Path(__file__).parent / "assets"
MOST_BYTES = 8_000_000  # of all figures on a page
MOST_CAPTION = 10_000  # bytes
MOST_CELLS = 50_000  # of the table of a sweep: about 2 MB
KINDS = {".png": ("image/png", b"\x89PNG\r\n\x1a\n"), ".svg": ("image/svg+xml", b"")}
HOW_IT_ENDED = {
    "done": "it ran to its end",
    "stopped": "it was stopped by a callback",
    INTERRUPTED: "it was interrupted",
    "diverged": "it diverged",
}


def command(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="folders of runs or sweeps")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="file to write  [default: report.html in the first DIR]",
            metavar="FILE",
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error")] = False,
) -> None:
    """Write a report page of runs and sweeps, to look at in a browser: one file that needs no
    network.

    It shows figures, claims, numbers and settings of a run, and figure and points of a sweep.
    Several folders stand side by side. Only these folders are read, and no link in them is
    followed.
    """
    path = out or folders[0] / "report.html"
    # A link in a folder that was sent is replaced, and where it leads to is not looked at.
    if (out or not path.is_symlink()) and (path.is_dir() or (out and not path.parent.is_dir())):
        raise FolderError(f"out: must be a file, in a folder that exists (got {path})")
    text = page(folders)
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8", errors="replace")
    shown = os.fsencode(path).decode("utf-8", errors="replace")  # as any terminal can print it
    print(f"{shown}: {path.stat().st_size / 1e6:.1f} MB; open it in a browser")


def page(folders: list[Path]) -> str:
    """Return the page of the runs and sweeps in ``folders``; only these are read."""
    import jinja2

    environment = jinja2.Environment(autoescape=True)
    environment.filters["shown"] = shown
    template = environment.from_string((ASSETS / "report.html").read_text(encoding="utf-8"))
    style = (ASSETS / "report.css").read_text(encoding="utf-8")
    try:
        parts = []
        for folder in folders:
            is_sweep = any(os.path.lexists(folder / name) for name in (PLAN, POINTS))
            part = gather_sweep(folder) if is_sweep else gather_run(folder)
            room = MOST_BYTES // len(folders)
            part["figures"], part["left_out"] = gather_figures(folder, room, part["figures"])
            parts.append(part)
        return template.render(parts=parts, style=style)
    except (FolderError, OSError):
        raise
    except Exception as error:  # what others have put into a file can be wrong in any way
        names = ", ".join(map(str, folders))
        raise FolderError(
            f"{names}: must hold what an experiment leaves (got something else:"
            f" {type(error).__name__}: {error}); run it again"
        ) from error


def shown(value: Any) -> str:
    """Return a value of a setting or a summary as text: few digits, and the home folder as ~."""
    if isinstance(value, Mapping):
        return ", ".join(f"{shown(name)} = {shown(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, float):
        return f"{value:.5g}"
    return "" if value is None else str(value).replace(f"{Path.home()}/", "~/")


def gather_figures(
    folder: Path, room: int, names: Sequence[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the figures in ``folder`` as images that stand in the page, and the names of those
    that do not.

    An svg is shown as an image too: what scripts it may hold do not run there.

    Parameters
    ----------
    folder
        The run folder.
    room
        Bytes that the figures may take; those that do not fit, those that no page can show, and
        links are left out.
    names
        Figures that the inventory of the folder lists.
    """
    shown, left_out = [], []
    for name in names:
        stem, ending = os.path.splitext(name)
        kind, beginning = KINDS.get(ending, ("", b""))
        # No more than there is room for: a larger one does not fit anyway.
        content = _beginning(folder, name, max(room, 0)) if kind else None
        uri = f"data:{kind};base64,{base64.b64encode(content or b'').decode()}"
        if content is None or not content.startswith(beginning) or len(uri) > room:
            left_out.append(name)
            continue
        room -= len(uri)
        caption = _beginning(folder, f"{stem}.md", MOST_CAPTION)
        words = f"Figure {stem}." if caption is None else caption.decode(errors="replace").strip()
        shown.append({"name": name, "uri": uri, "caption": words})
    return shown, left_out


def _beginning(folder: Path, name: str, size: int) -> bytes | None:
    """Return at most so many bytes of a file in ``folder``; None if it cannot be read."""
    try:
        with open_inside(folder, name) as file:
            return file.read(size)
    except (OSError, FolderError):
        return None


def gather_run(folder: Path) -> dict[str, Any]:
    """Return what the page shows of the run in ``folder``; refuse a folder without a finished run
    in one sentence.
    """
    if not folder.is_dir():
        raise FolderError(
            f"{folder}: must be a folder that an experiment or a sweep has filled (there is no such"
            " folder)"
        )
    is_begun = any(os.path.lexists(folder / name) for name in (UNFINISHED, CONFIG))
    if is_begun and not os.path.lexists(folder / SUMMARY):
        raise FolderError(
            f"{folder}: the run in it is still going; wait for its end"
            if is_in_use(folder)
            else f"{folder}: the run in it was cut short; `biorrr resume {folder}` continues it"
        )
    if not is_begun:
        raise FolderError(
            f"{folder}: has no run in it ({CONFIG} is missing); give a run's folder, or a sweep's"
        )
    settings = read_table(folder, CONFIG)
    experiment = experiment_of(folder, settings)
    summary = read_table(folder, SUMMARY)
    files, units = read_inventory(folder)
    claims = _listed(summary, "claims")
    return {
        "name": folder.resolve().name,
        "when": _when(folder / SUMMARY, summary.get("seconds")),
        "sentence": _sentence(experiment, settings, summary, claims),
        "figures": [name for name, kind in files.items() if kind == FIGURE],
        "claims": [*map(_claim, claims)],
        "own_tests": [*map(_claim, _listed(summary, "own_tests"))],
        "numbers": {
            name: readable(value, units[name]) if name in units else value
            for name, value in summary.items()
            if isinstance(value, int | float | str)
        },
        "versions": settings.pop(PROVENANCE),
        "settings": settings,
        "command": f"biorrr {experiment} --config {CONFIG}",
        "own_circuit": settings.get("circuit"),
    }


def experiment_of(folder: Path, config: Mapping[str, Any]) -> str:
    """Return the name of the experiment that the config in ``folder`` is of."""
    origin = config.get(PROVENANCE)
    name = origin.get("experiment") if isinstance(origin, dict) else None
    # A name in a file is looked up among ours: it becomes part of a command that users will copy,
    # and never decides by itself what is imported.
    if name in experiment_names():
        return name
    raise FolderError(
        f"{folder}: {CONFIG} must name the experiment it is of (got {name!r}); is it a run folder?"
    )


def _listed(summary: dict[str, Any], key: str) -> list[dict[str, Any]]:
    listed = summary.get(key)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _when(path: Path, seconds: Any = None) -> str:
    """Return when a file was written, and how long the simulation took, where that is known."""
    written = f"Written on {datetime.fromtimestamp(path.lstat().st_mtime):%d %B %Y at %H:%M}"
    took = f"; the circuits took {seconds:.3g} s" if isinstance(seconds, int | float) else ""
    return f"{written}{took}."


def _sentence(
    experiment: str, settings: dict[str, Any], summary: dict[str, Any], claims: list[dict[str, Any]]
) -> str:
    """Return a sentence that says what was run and how it ended."""
    ended, excess = summary.get("ended", "done"), summary.get("excess")
    sentence = f"The experiment “{experiment}”"
    if settings.get("data"):
        sentence += f" on {_data_words(settings['data'])}"
    sentence += f": {HOW_IT_ENDED.get(str(ended), 'how it ended is not known')}"
    if isinstance(summary.get("samples"), int):
        sentence += f" after {summary['samples']:,} samples"
    if "engine" in summary:
        sentence += f" on engine {summary['engine']}"
    if isinstance(excess, float):
        sentence += f", {100 * excess:.2f} % above the optimum"
    if claims:
        judged = [one["holds"] for one in claims if isinstance(one.get("holds"), bool)]
        hold = f"{sum(judged)} of {len(judged)} claims hold"
        sentence += f"; {hold}" if judged else "; no claim was judged"
    if ended == INTERRUPTED:
        sentence += "; `biorrr resume` continues it"
    return f"{sentence}."


def _claim(one: dict[str, Any]) -> dict[str, Any]:
    """Return the row of the page about a claim: its verdict, its sentence and what the verdict
    rests on.
    """
    holds = one.get("holds")
    mark, verdict = (
        ("✓", HOLDS) if holds is True else ("✗", FAILS) if holds is False else ("–", NOT_JUDGED)
    )
    return {
        "text": one.get("sentence") or one.get("claim"),
        "verdict": f"{mark} {one.get('verdict') or verdict}",
        "behind": [*filter(None, (one.get(name) for name in ("basis", "run", "place")))],
    }


def _data_words(plain: object) -> str:
    """Return the data of a config in words, a name, a table or a list of these."""
    if isinstance(plain, list):
        return ", ".join(map(_data_words, plain))
    return str(plain.get("name") or plain.get("file")) if isinstance(plain, dict) else str(plain)


def gather_sweep(folder: Path) -> dict[str, Any]:
    """Return what the page shows of the sweep in ``folder``, finished or not."""
    if not os.path.lexists(folder / PLAN):
        raise FolderError(f"{folder}: {PLAN} is missing; the same `biorrr sweep` again writes it")
    try:
        plan = read_plan(folder / PLAN, folder=folder)
    except (SettingsError, FolderError) as error:
        raise FolderError(f"{folder}: {PLAN} must be the plan of a sweep ({error})") from error
    table = read_points(plan, folder)
    if not table.rows:
        raise FolderError(
            f"{folder}: no point of it is finished; `biorrr resume {folder}` continues it"
        )
    counts, *further = table.report()
    over = " and ".join(table.names) or "seeds"
    running = " and running" if is_in_use(folder) else ""
    rows = table.lowest_first[: MOST_CELLS // len(table.rows[0])]
    more = len(table.rows) - len(rows)
    circuits = {getattr(point, "circuit", None): None for point in plan.points}
    return {
        "name": folder.resolve().name,
        "when": _when(folder / PLAN),
        "sentence": f"A sweep of “{plan.experiment}” over {over}: {counts}{running}.",
        "lines": further,
        "figures": [FIGURE_OF_SWEEP] if os.path.lexists(folder / FIGURE_OF_SWEEP) else [],
        "points": rows,
        "order": (
            f"The lowest {plan.measure} comes first."
            + (f" {more} more points are in {TABLE}." if more else "")
        ),
        "settings": plan.source,
        "versions": read_table(folder, PLAN).get(PROVENANCE, {}),
        "command": f"biorrr sweep {PLAN} --out .",
        "own_circuit": ", ".join(filter(None, circuits)),
    }
