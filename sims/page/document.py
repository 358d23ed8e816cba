"""The page itself: markup, style and figures in one file without scripts, which asks nothing of the network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biorrr.sims.lab.files import FolderError
from biorrr.sims.page.figures import gather_figures
from biorrr.sims.page.run import gather_run
from biorrr.sims.page.sweep import gather_sweep, is_sweep

ASSETS = Path(__file__).parent / "assets"
MOST_BYTES = 8_000_000  # of all figures on a page


def page(folders: list[Path]) -> str:
    """Return the page of the runs and sweeps in ``folders``; only these are read."""
    import jinja2

    environment = jinja2.Environment(autoescape=True)
    environment.filters["shown"] = shown
    template = environment.from_string((ASSETS / "report.html").read_text(encoding="utf-8"))
    try:
        parts = [_gather(folder, MOST_BYTES // len(folders)) for folder in folders]
        return template.render(parts=parts, style=(ASSETS / "report.css").read_text(encoding="utf-8"))
    except (FolderError, OSError):
        raise
    except Exception as error:  # what others have put into a file can be wrong in any way
        names = ", ".join(map(str, folders))
        raise FolderError(
            f"{names}: must hold what an experiment leaves (got something else: {type(error).__name__}: {error}); run "
            "it again"
        ) from error


def _gather(folder: Path, room: int) -> dict[str, Any]:
    part = gather_sweep(folder) if is_sweep(folder) else gather_run(folder)
    figures, left_out = gather_figures(folder, room, part["figures"])
    return part | {"figures": figures, "left_out": left_out}


def shown(value: Any) -> str:
    """Return a value of a setting or a summary as text: few digits, and the home folder as ~."""
    if isinstance(value, Mapping):
        return ", ".join(f"{shown(name)} = {shown(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, float):
        return f"{value:.5g}"
    return "" if value is None else str(value).replace(f"{Path.home()}/", "~/")
