"""A check of figures as they are printed: width, size of type, and what overlaps."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

WIDTHS = (8.5, 17.5)  # cm: one column and two columns of a journal
SMALLEST_TYPE = 7.0  # points
TALLEST = 24.0  # cm, what a page has room for


def flaws(drawn: Any, widths: tuple[float, ...] = WIDTHS) -> list[str]:
    """Return what is wrong with the figure that ``drawn`` is, or that it is axes of, in print.

    Looks for a width that no journal has, small type, text that lies on other text, on a legend or
    on another panel, legends on data, panels on panels, and what the figure's edges cut off.
    """
    figure = drawn if isinstance(drawn, Figure) else np.ravel(drawn)[0].get_figure(root=True)
    texts = _drawn_texts(figure)
    panels = [ax for ax in figure.axes if ax.get_visible() and ax.axison]
    legends = [one for ax in figure.axes if (one := ax.get_legend())] + list(figure.legends)
    return [
        *_wrong_size(figure, widths),
        *(f"type of {one.get_fontsize():g} pt: {_name(one)}" for one in texts if _is_small(one)),
        *_overlapping_texts(texts),
        *_texts_on_panels(texts, panels),
        *(
            f"panels overlap: {one.get_title('left')!r}, {other.get_title('left')!r}"
            for one, other in combinations(panels, 2)
            if not _twins(one, other) and _meet(one.get_window_extent(), other.get_window_extent())
        ),
        *(flaw for legend in legends for flaw in _flaws_of_legend(legend, texts, panels)),
    ]


def _drawn_texts(figure: Figure) -> list[Text]:
    """Save the figure and return the texts that are on it; labels of ticks out of sight are not."""
    drawn: list[Text] = []
    draw = Text.draw

    def note(text: Text, renderer: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            drawn.append(text)
        draw(text, renderer)

    figure.savefig(BytesIO(), dpi=figure.dpi)
    with patch.object(Text, "draw", note):
        figure.canvas.draw()
    return list(dict.fromkeys(drawn))


def _wrong_size(figure: Figure, widths: tuple[float, ...]) -> Iterator[str]:
    width, height = 2.54 * figure.get_size_inches()
    if min(abs(width - one) for one in widths) > 0.05:
        yield f"{width:.2f} cm wide"
    if height > TALLEST:
        yield f"{height:.2f} cm high"
    inside = figure.get_tightbbox()
    over = max(-inside.x0, -inside.y0, inside.x1 - width / 2.54, inside.y1 - height / 2.54)
    if over > 0.01:
        yield f"{over:.2f} inches are cut off"


def _is_small(text: Text) -> bool:
    return text.get_fontsize() < SMALLEST_TYPE - 1e-6


def _overlapping_texts(texts: list[Text]) -> Iterator[str]:
    boxes = [_box(text) for text in texts]
    for (one, first), (other, second) in combinations(zip(texts, boxes, strict=True), 2):
        if _meet(first, second):
            yield f"texts overlap: {_name(one)}, {_name(other)}"


def _texts_on_panels(texts: list[Text], panels: list[Axes]) -> Iterator[str]:
    for text in texts:
        for panel in panels:
            if text.axes is panel or (text.axes is not None and _twins(text.axes, panel)):
                continue
            if _meet(_box(text), panel.get_window_extent()):
                yield f"text on a panel: {_name(text)}, {panel.get_title('left')!r}"


def _flaws_of_legend(legend: Legend, texts: list[Text], panels: list[Axes]) -> Iterator[str]:
    box, own = legend.get_window_extent(), {id(one) for one in legend.findobj(Text)}
    for text in texts:
        if id(text) not in own and _meet(_box(text), box):
            yield f"legend on text: {_name(text)}"
    for panel in panels:
        if panel is not legend.axes and _meet(box, panel.get_window_extent()):
            yield f"legend on a panel: {panel.get_title('left')!r}"
    if legend.axes is not None and any(_covers(box, one) for one in _data_of(legend.axes)):
        yield f"legend on data: {[text.get_text() for text in legend.get_texts()]}"


def _data_of(ax: Axes) -> Iterator[Any]:
    """Yield lines, bands, dots and bars in data coordinates; not the lines that span a panel."""
    for artist in [*ax.lines, *ax.collections, *ax.patches]:
        transform = artist.get_transform() if isinstance(artist, Line2D) else ax.transData
        if artist.get_visible() and transform == ax.transData:
            yield artist


def _covers(box: Bbox, artist: Any) -> bool:
    """Return True if ``box`` hides a part of a line, of a band, of dots or of a bar."""
    if isinstance(artist, Line2D):
        path = artist.get_transform().transform_path(artist.get_path())
        if not len(path.vertices):
            return False
        seen = artist.axes.get_window_extent()
        at = path.vertices
        inside = (at >= box.min).all(axis=1) & (at <= box.max).all(axis=1)
        joined = artist.get_linestyle() not in ("None", "none", "", " ")
        return bool(inside.any()) or (
            joined and path.clip_to_bbox(seen).intersects_bbox(box, filled=False)
        )
    if hasattr(artist, "get_offsets") and len(artist.get_offsets()) > 1:
        at = artist.get_offset_transform().transform(artist.get_offsets())
        return bool(((at >= box.min).all(axis=1) & (at <= box.max).all(axis=1)).any())
    paths = artist.get_paths() if hasattr(artist, "get_paths") else [artist.get_path()]
    transform = artist.get_transform()
    return any(
        transform.transform_path(path).intersects_bbox(box, filled=True)
        for path in paths
        if len(path.vertices)
    )


def _box(text: Text) -> Bbox:
    """Return the box of a text, with a gap beside it and without the margin above and below."""
    size = text.get_fontsize() * text.get_figure(root=True).dpi / 72
    return text.get_window_extent().padded(0.07 * size, -0.07 * size)


def _meet(one: Bbox, other: Bbox) -> bool:
    """Return True if two boxes share more than a line."""
    shared = Bbox.intersection(one, other)
    return shared is not None and min(shared.width, shared.height) > 0.5


def _twins(one: Axes, other: Axes) -> bool:
    """Return True if two panels are one on purpose: two scales of a panel, or one set into it."""
    return (
        one.bbox.bounds == other.bbox.bounds or one in other.child_axes or other in one.child_axes
    )


def _name(text: Text) -> str:
    return repr(text.get_text())
