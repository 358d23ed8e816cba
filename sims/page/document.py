"""The page itself: markup, style, charting library, data and figures in one file that asks nothing of the network."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from biorrr.sims.lab.files import FolderError
from biorrr.sims.page.plain import without_home

PARTS = Path(__file__).parent / "assets"
SCRIPTS = ("chart.js", "diagram.js", "curves.js", "sweep.js", "start.js")
MOST_BYTES = 8_000_000


def charting_library() -> str:
    """Return Plotly's JavaScript."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise FolderError("report: needs plotly; pip install 'biorrr[report]'") from error
    return get_plotlyjs()


def page(parts: list[dict[str, Any]], library: str, figures: list[tuple[list[dict[str, Any]], list[str]]]) -> str:
    """Return the whole page.

    Parameters
    ----------
    parts
        What was gathered of each folder.
    library
        Of :func:`charting_library`.
    figures
        For each folder the figures shown and the names of those left out.
    """
    import jinja2

    from biorrr.analysis.figures.style import COLOURS, ON_DARK

    palette = f"const ON_LIGHT = {json.dumps(COLOURS)}, ON_DARK = {json.dumps(ON_DARK)};"
    script = "\n".join([palette, *((PARTS / name).read_text(encoding="utf-8") for name in SCRIPTS)])
    template = jinja2.Environment(autoescape=True).from_string((PARTS / "report.html").read_text(encoding="utf-8"))
    texts = without_home([{name: value for name, value in part.items() if name != "charts"} for part in parts])
    text = template.render(
        parts=[one | {"figures": shown, "left_out": left} for one, (shown, left) in zip(texts, figures, strict=True)],
        style=(PARTS / "report.css").read_text(encoding="utf-8"),
        script=script,
        library=library,
        # Of all scripts only these two run, whatever else a name in a file may smuggle in.
        allowed=" ".join(f"'sha256-{_digest(one)}'" for one in (library, script)),
        # "<" could end the element that the data stand in.
        data=json.dumps(without_home([part["charts"] for part in parts])).replace("<", "\\u003c"),
    )
    if (size := len(text.encode(errors="replace"))) > MOST_BYTES:
        raise FolderError(f"report: must stay below {MOST_BYTES / 1e6:g} MB (got {size / 1e6:.1f}); give fewer folders")
    return text


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
