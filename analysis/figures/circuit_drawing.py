"""The circuit as a drawing, in the manner of the paper's Fig. 1: cells in place, and every synapse
where axons cross.

Pyramidal cells stand side by side. Axons run across their dendrites: sensory ones across the basal
dendrites below, instructive ones and those of interneurons across the apical dendrite above. Where
an axon crosses a dendrite there is a synapse, as large as it is strong.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from biorrr.analysis.figures.style import PAGE, Axes, axes_of, colour, explain, styled, symbol

MOST_CELLS = 16  # of one kind that are drawn
_LABELS = {
    "sensory": "sensory\ninputs $x$",
    "instructive": "instructive\ninputs $y$",
    "pyramidal": "somata,\noutput $z$",
    "interneurons": "interneurons\n$n$",
}
_SHAPES = {"pyramidal": ("^", 18, "top")}  # marker of a soma, its size, place of its number
_LARGEST, _SMALLEST = 9.0, 0.8  # size of the strongest and of the weakest synapse, in points
_PAIR, _BESIDE = 2.0, 0.45  # from one interneuron to the next, and to its axon and its dendrite


@styled
def plot_wiring(graph: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the cells and synapses of ``graph``.

    A synapse that raises its target is an arrowhead, one that lowers it a bar: that is the sign of
    its pathway times that of its weight, since a pathway of this circuit may carry both. It is as
    large as it is strong: Q and R share a scale, since R becomes Q', and Vx and Vy have one each.
    Of more than 16 cells of a kind those with the strongest synapses are drawn.

    Parameters
    ----------
    graph
        A networkx graph of cells. Nodes have ``population`` and ``index``; edges have ``pathway``,
        ``matrix`` (the paper's name), ``drives`` (what their current adds to), ``sign`` and
        ``weight``. Populations that the paper's circuit does not have are drawn to the right of the
        interneurons.
    """
    cells, sizes = {}, {}
    for name in dict.fromkeys([*_LABELS, *dict(graph.nodes(data="population")).values()]):
        nodes = [node for node, population in graph.nodes(data="population") if population == name]
        cells[name], sizes[name] = _strongest(graph, nodes), len(nodes)
    drawing = _Drawing(cells)
    rows = drawing.top + 3
    ax = axes_of(ax, width=PAGE, height=1.0 + min(0.17, 7.5 / rows) * rows)
    drawing.draw_cells(ax, {node: str(number) for node, number in graph.nodes(data="index")})
    drawing.draw_labels(ax, sizes)
    strongest = _strengths(graph)
    for source, target, synapse in graph.subgraph(drawing.bodies).edges(data=True):
        share = abs(synapse["weight"]) / (strongest[synapse["matrix"]] or 1.0)
        raises = synapse["sign"] * synapse["weight"] >= 0
        drawing.draw_synapse(ax, source, target, share, raises, colour(synapse["matrix"]))
    for matrix, largest in strongest.items():
        words = f"{symbol(matrix)}, largest {largest:.2g}"
        _draw_mark(ax, ([], []), 5, colour(matrix), label=words)
    _draw_mark(ax, ([], []), 5, "0.3", label="raises its target")
    _draw_mark(ax, ([], []), "|", "0.3", label="lowers its target")
    ax.axis("off")
    return explain(ax, "Each synapse is as large as it is strong; Q and R share a scale.", most=3)


class _Drawing:
    """Places of cells, axons and dendrites, in units of the distance between two axons.

    Each axon and dendrite is a line: upright at x, with nan for its height, or level at a height,
    with nan for x. Where the axon of one cell crosses the dendrite of another there is a synapse.

    Parameters
    ----------
    cells
        Those that are drawn, by population.
    """

    def __init__(self, cells: dict[str, list]) -> None:
        sensory, instructive, pyramidal, *others = cells.values()
        self.cells, inner = cells, [node for nodes in others for node in nodes]
        self.apart = min(max(26 / len(pyramidal), 1.7), 3.2)  # from one pyramidal cell to the next
        self.left, self.right = 0.3 * self.apart, self.apart * (len(pyramidal) + 0.8)
        # Rows from below: sensory axons, somata, interneurons, instructive axons.
        self.soma = len(sensory) + 0.7
        low = self.soma + 2.6
        above = low + _PAIR * len(inner)
        self.middle = (low + above - _PAIR) / 2
        self.top = above + len(instructive) - 0.2
        heights = _stack(sensory, 0) | _stack(inner, low, _PAIR) | _stack(instructive, above)
        self.bodies = {node: (self.left, height) for node, height in heights.items()}
        self.axons = {node: (np.nan, height) for node, height in heights.items()}
        self.dendrites = dict.fromkeys(heights, (np.nan, np.nan))  # inputs have none
        for node in inner:
            self.bodies[node] = self.right + 0.6, heights[node]
            self.axons[node] = np.nan, heights[node] + _BESIDE
            self.dendrites[node] = np.nan, heights[node] - _BESIDE
        for place, node in enumerate(pyramidal, 1):
            self.bodies[node] = place * self.apart, self.soma
            self.axons[node] = (place + 0.4) * self.apart, np.nan
            self.dendrites[node] = place * self.apart, np.nan

    def draw_cells(self, ax: Axes, numbers: dict[Any, str]) -> None:
        """Draw axons and dendrites, and somata with their numbers."""
        end, bend = self.right - 0.45 * self.apart, self.left + 0.4 * self.apart
        highest = max(y for x, y in self.bodies.values() if x > self.right)
        for name, nodes in self.cells.items():
            for node in nodes:
                x, y = self.bodies[node]
                if name in ("sensory", "instructive"):
                    tint = colour("Vx" if name == "sensory" else "Vy")
                    ax.hlines(y, x, end, color=tint, linewidth=0.5, alpha=0.6, zorder=1)
                    continue
                if name == "pyramidal":
                    ax.vlines(x, -0.6, self.top, color="black", linewidth=1.4)
                    beside = self.axons[node][0]
                    course = [x, beside, beside], [y, y, highest]
                    ax.plot(*course, color=colour("R"), linewidth=1, zorder=1)
                else:
                    tint = colour("Q" if name == "interneurons" else name)
                    ax.hlines(y - _BESIDE, bend, x, color="black", linewidth=1, zorder=1)
                    ax.hlines(y + _BESIDE, self.left, x, color=tint, linewidth=1, zorder=1)
                marker, size, side = _SHAPES.get(name, ("o", 12, "center"))
                ax.plot(x, y, marker, markersize=size, mfc="white", mec="black", zorder=6)
                ax.text(x, y, numbers[node], ha="center", va=side, zorder=7)
        ax.set(xlim=(self.left - 0.4, self.right + 5.5), ylim=(-2.2, self.top + 1.4))

    def draw_labels(self, ax: Axes, sizes: dict[str, int]) -> None:
        """Name the populations, whose ``sizes`` are in the circuit, and the compartments."""
        for name, nodes in self.cells.items():
            x, height = np.mean([self.bodies[node] for node in nodes], axis=0)
            some = len(nodes) < sizes[name]
            words = f",\n{len(nodes)} strongest of {sizes[name]}" if some else f", {len(nodes)}"
            words = _LABELS.get(name, name.replace(" ", "\n")) + words
            if x > self.right:
                ax.text(self.right + 1.5, height, words, ha="left", va="center")
            else:
                ax.text(self.left - 0.5, height, words, ha="right", va="center")
        words = "axons (upper lines)\nand dendrites (lower)\nof interneurons"
        ax.text(self.left - 0.5, self.middle, words, ha="right", va="center")
        middle = (self.left + self.right) / 2
        ax.text(middle, self.top + 0.2, "apical dendrites", ha="center", va="bottom")
        ax.text(middle, -0.8, "basal dendrites", ha="center", va="top")

    def draw_synapse(
        self, ax: Axes, source: Any, target: Any, share: float, raises: bool, tint: str
    ) -> None:
        """Draw a synapse where axon and dendrite cross; where they do not, as between two
        interneurons, a bow. ``share`` is its strength relative to the strongest on its scale.
        """
        axon, dendrite = self.axons[source], self.dendrites[target]
        place = np.where(np.isnan(axon), dendrite, axon)
        if np.isnan(place).any():
            look = {
                "arrowstyle": "-|>" if raises else "|-|,widthA=0,widthB=0.4",
                "connectionstyle": "arc3,rad=0.4",
                "linewidth": 0.3 + 2 * share,
                "color": tint,
                "shrinkA": 7,
                "shrinkB": 7,
            }
            ax.annotate("", self.bodies[target], self.bodies[source], arrowprops=look, zorder=5)
            return
        upright, size = np.isnan(dendrite[1]), max(_LARGEST * np.sqrt(share), _SMALLEST)
        if raises:  # the tip of the arrowhead touches the dendrite
            _draw_mark(ax, place, 5 if upright else 6, tint, size)
        else:  # the bar stands just before it
            place = place - ([0.22, 0] if upright else [0, 0.18])
            _draw_mark(ax, place, "|" if upright else "_", tint, size)


def _draw_mark(
    ax: Axes, place: Any, mark: Any, tint: str, size: float = _LARGEST, **look: Any
) -> None:
    """Draw an arrowhead, or a bar."""
    width = 1.6 if mark in ("|", "_") else 0.0
    ax.plot(*place, marker=mark, color=tint, ls="none", ms=size, mew=width, zorder=3, **look)


def _stack(nodes: list, low: float, step: float = 1.0) -> dict[Any, float]:
    """Return the heights of cells one below the other, the last of them at ``low``."""
    return {node: low + step * place for place, node in enumerate(reversed(nodes))}


def _strengths(graph: Any) -> dict[str, float]:
    """Return the largest weight of each matrix; Q and R share theirs."""
    sizes: defaultdict[str, list[float]] = defaultdict(lambda: [0.0])
    for *_, synapse in graph.edges(data=True):
        sizes[synapse["matrix"]].append(abs(synapse["weight"]))
    shared = max(sizes.get("Q", [0.0]) + sizes.get("R", [0.0]))
    return {matrix: shared if matrix in ("Q", "R") else max(own) for matrix, own in sizes.items()}


def _strongest(graph: Any, nodes: list) -> list:
    """Return the cells whose axons have the strongest synapses, which are drawn, in their own
    order.
    """
    weights = {node: [w for *_, w in graph.out_edges(node, data="weight")] for node in nodes}
    kept = sorted(nodes, key=lambda node: np.linalg.norm(weights[node]))[-MOST_CELLS:]
    return [node for node in nodes if node in kept]
