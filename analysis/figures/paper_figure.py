"""The matplotlib figure that is saved in the style in which it was drawn."""

from __future__ import annotations

from typing import Any

import matplotlib
from matplotlib.figure import Figure

from biorrr.analysis.figures.style import untouched


class PaperFigure(Figure):
    """A figure whose file keeps text as text, in SVG and PDF, unless the user asks for paths."""

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Save the figure as :meth:`matplotlib.figure.Figure.savefig` does."""
        with matplotlib.rc_context(untouched()):
            if layout := self.get_layout_engine():
                layout.execute(self)  # it needs two rounds to settle
            super().savefig(*args, **kwargs)
