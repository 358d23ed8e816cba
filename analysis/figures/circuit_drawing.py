"""The circuit as a drawing, in the manner of the paper's Fig. 1: cells in place, and every synapse
where axons cross.

Pyramidal cells stand side by side. Axons run across their dendrites: sensory ones across the basal
dendrites below, instructive ones and those of interneurons across the apical dendrite above. Where
an axon crosses a dendrite there is a synapse, as large as it is strong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from biorrr.analysis.figures.style import PAGE, Axes, axes_of, colour, explain, styled

MOST_CELLS = 16  # of one kind that are drawn
_PATHWAYS = {"Vx": "proximal", "Vy": "distal", "Q": "Q", "R": "R"}  # others are one's own
_PAPER_CELLS = ("sensory", "instructive", "pyramidal", "interneurons")
_AXON: dict[str, Any] = {"linewidth": 0.5, "zorder": 1, "solid_capstyle": "round"}
_NEAR: dict[str, Any] = {**_AXON, "linewidth": 1}  # axons and dendrites of interneurons
_DENDRITE: dict[str, Any] = {**_AXON, "color": "black", "linewidth": 1.4, "zorder": 2}
_SYNAPSE: dict[str, Any] = {"linestyle": "none", "zorder": 3}
_WIDTH = {True: 0.0, False: 1.6}  # of the edge of an arrowhead, and of a bar
_GAP = 1.6  # between kinds of axons, in units of the distance between two of a kind
_LARGEST, _SMALLEST = 9.0, 0.8  # size of the strongest and of the weakest synapse, in points


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
    members: dict[str, list] = {}
    for node, population in graph.nodes(data="population"):
        members.setdefault(population, []).append(node)
    own = [name for name in members if name not in _PAPER_CELLS]
    drawing = _Drawing(
        graph, {name: _strongest(graph, nodes) for name, nodes in members.items()}, own
    )
    ax = axes_of(ax, width=PAGE, height=drawing.height)
    drawing.draw(ax, {name: len(members[name]) for name in members})
    return ax


class _Drawing:
    """Places of cells and axons, in units of the distance between two axons, and how to draw
    them.
    """

    def __init__(self, graph: Any, members: Mapping[str, list], own: list[str]) -> None:
        self.graph, self.members, self.own = graph, members, own
        self.inner = [*members["interneurons"], *(node for name in own for node in members[name])]
        k, sensory, instructive = (
            len(members[name]) for name in ("pyramidal", "sensory", "instructive")
        )
        self.apart = max(1.7, min(3.2, 26 / k))  # from one pyramidal cell to the next
        self.x = {node: self.apart * (i + 1) for i, node in enumerate(members["pyramidal"])}
        self.axon = 0.4 * self.apart  # of a pyramidal cell, beside its dendrite
        self.left, self.right = 0.3 * self.apart, self.apart * (k + 0.8)
        # Rows from below: sensory axons, somata, for each interneuron its dendrite and its axon,
        # instructive axons.
        self.y = {node: float(sensory - 1 - i) for i, node in enumerate(members["sensory"])}
        self.soma = sensory + 0.7
        self.pair = 2.0  # from one interneuron to the next
        low = self.soma + 2.6
        self.middle = {
            node: low + self.pair * (len(self.inner) - 1 - i) for i, node in enumerate(self.inner)
        }
        low += self.pair * (len(self.inner) - 1) + 2.0
        self.y |= {node: low + instructive - 1 - i for i, node in enumerate(members["instructive"])}
        self.top = low + instructive - 1 + 0.8

    @property
    def height(self) -> float:
        """Height of a figure in inches."""
        return 1.0 + min(0.17, 7.5 / (self.top + 3)) * (self.top + 3)

    def draw(self, ax: Axes, sizes: Mapping[str, int]) -> None:
        """Draw all of it; ``sizes`` says how many cells of each kind there are."""
        last = self.right - 0.45 * self.apart
        for name, matrix in (("sensory", "Vx"), ("instructive", "Vy")):
            for node in self.members[name]:
                height = self.y[node]
                ax.plot([self.left, last], [height] * 2, color=_tint(matrix), alpha=0.6, **_AXON)
        for node, x in self.x.items():
            self._draw_pyramidal(ax, x, str(self.graph.nodes[node]["index"]))
        for node in self.inner:
            self._draw_interneuron(ax, node)
        self._draw_synapses(ax)
        self._name(ax, sizes)
        ax.set(xlim=(self.left - 0.4, self.right + 5.5), ylim=(-2.2, self.top + 1.4))
        ax.axis("off")

    def _draw_pyramidal(self, ax: Axes, x: float, label: str) -> None:
        """Draw a soma between its basal (proximal) and its apical (distal) dendrite, and its axon
        beside them.
        """
        from matplotlib.patches import Polygon

        ax.plot([x, x], [-0.6, self.top], **_DENDRITE)
        half, base = min(0.75, 0.36 * self.apart), self.soma - 0.7
        corners = [(x - half, base), (x + half, base), (x, base + 1.8)]
        look = {"facecolor": "white", "edgecolor": "black", "linewidth": 1.1, "zorder": 4}
        ax.add_patch(Polygon(corners, **look))
        ax.text(x, base + 0.55, label, ha="center", va="center", zorder=5)
        beside, highest = x + self.axon, max(self.middle.values())
        bend = [x, beside, beside], [self.soma, self.soma, highest]
        ax.plot(*bend, color=_tint("R"), **_NEAR)

    def _draw_interneuron(self, ax: Axes, node: Any) -> None:
        """Draw a circle, its dendrite, which pyramidal axons cross, and its axon, which crosses
        their tufts.
        """
        height, x = self.middle[node], self.right + 0.6
        tint = _tint("Q" if node in self.members["interneurons"] else "own")
        ax.plot([self.left + self.axon, x], [height - 0.45] * 2, color="black", **_NEAR)
        ax.plot([self.left, x], [height + 0.45] * 2, color=tint, **_NEAR)
        ax.plot(x, height, "o", markersize=12, mfc="white", mec="black", zorder=6)
        number = str(self.graph.nodes[node]["index"])
        ax.text(x, height, number, ha="center", va="center", zorder=7)

    def _draw_synapses(self, ax: Axes) -> None:
        strongest = _strengths(self.graph)
        cells = self.graph.subgraph([*self.y, *self.x, *self.middle])
        for source, target, synapse in cells.edges(data=True):
            share = abs(synapse["weight"]) / (strongest[_scale(synapse["matrix"])] or 1.0)
            tint, across = _tint(synapse["matrix"]), target in self.x
            raises = synapse["sign"] * synapse["weight"] >= 0
            place = self._crossing(source, target)
            if place is None:
                self._draw_detour(ax, source, target, raises, share, tint)
                continue
            if raises:  # the tip of the arrowhead touches the dendrite
                mark = 5 if across else 6
            else:  # the bar stands just before it
                mark = "|" if across else "_"
                place = np.subtract(place, (0.22, 0) if across else (0, 0.18))
            size = max(_LARGEST * np.sqrt(share), _SMALLEST)
            ax.plot(*place, marker=mark, color=tint, ms=size, mew=_WIDTH[raises], **_SYNAPSE)

    def _crossing(self, source: Any, target: Any) -> tuple[float, float] | None:
        """Return the place where the axon of ``source`` crosses the dendrite of ``target``, or
        None.
        """
        if target in self.x and source in self.y:
            return self.x[target], self.y[source]
        if target in self.x and source in self.middle:
            return self.x[target], self.middle[source] + 0.45
        if source in self.x and target in self.middle:
            return self.x[source] + self.axon, self.middle[target] - 0.45
        return None

    def _draw_detour(
        self, ax: Axes, source: Any, target: Any, raises: bool, share: float, tint: str
    ) -> None:
        """Draw a bow between cells whose lines do not cross, such as two interneurons."""
        from matplotlib.patches import FancyArrowPatch

        def place(node: Any) -> tuple[float, float]:
            if node in self.middle:
                return self.right + 0.6, self.middle[node]
            return (self.x[node], self.soma) if node in self.x else (self.left, self.y[node])

        look = {
            "arrowstyle": (
                "-|>,head_length=2.5,head_width=1.5" if raises else "|-|,widthA=0,widthB=1.5"
            ),
            "connectionstyle": "arc3,rad=0.4",
            "linewidth": 0.3 + 2 * share,
        }
        ends = place(source), place(target)
        ax.add_patch(FancyArrowPatch(*ends, color=tint, shrinkA=7, shrinkB=7, zorder=5, **look))

    def _name(self, ax: Axes, sizes: Mapping[str, int]) -> None:
        """Label cells and compartments, and explain colours, shapes and sizes below."""
        beside: dict[str, Any] = {"ha": "right", "va": "center"}
        number = {
            name: (
                f",\n{len(shown)} strongest of {sizes[name]}"
                if len(shown) < sizes[name]
                else f", {len(shown)}"
            )
            for name, shown in self.members.items()
        }
        for name, symbol in (("sensory", "x"), ("instructive", "y")):
            row = float(np.mean([self.y[node] for node in self.members[name]]))
            ax.text(self.left - 0.5, row, f"{name}\ninputs ${symbol}${number[name]}", **beside)
        ax.text(self.left - 0.5, self.soma, f"somata,\noutput $z${number['pyramidal']}", **beside)
        middle = float(np.mean([*self.middle.values()]))
        words = "axons (upper lines)\nand dendrites (lower)\nof interneurons"
        ax.text(self.left - 0.5, middle, words, **beside)
        cells = float(np.mean([*self.x.values()]))
        ax.text(cells, self.top + 0.2, "apical dendrites", ha="center", va="bottom")
        ax.text(cells, -0.8, "basal dendrites", ha="center", va="top")
        for name in ("interneurons", *self.own):
            heights = [self.middle[node] for node in self.members[name]]
            text = (
                "interneurons\n$n$" if name == "interneurons" else name.replace(" ", "\n")
            ) + number[name]
            ax.text(self.right + 1.5, float(np.mean(heights)), text, ha="left", va="center")
        _explain(ax, self.graph)


def _explain(ax: Axes, graph: Any) -> None:
    """Draw a legend: one colour per pathway with its largest strength, and the meaning of arrow and
    bar.
    """
    strongest = _strengths(graph)
    matrices = dict.fromkeys(matrix for *_, matrix in graph.edges(data="matrix"))
    for matrix in matrices:
        symbol = f"${matrix[0]}_{matrix[1:]}$" if matrix in ("Vx", "Vy") else f"${matrix}$"
        words, look = f"{symbol}, largest {strongest[_scale(matrix)]:.2g}", {"color": _tint(matrix)}
        ax.plot([], [], marker=5, ms=_LARGEST, mew=_WIDTH[True], label=words, **look, **_SYNAPSE)
    for raises, mark, words in ((True, 5, "raises its target"), (False, "|", "lowers its target")):
        look = {"color": "0.3", "label": words}
        ax.plot([], [], marker=mark, ms=_LARGEST, mew=_WIDTH[raises], **look, **_SYNAPSE)
    explain(ax, "Each synapse is as large as it is strong; Q and R share a scale.", most=3)


def _tint(matrix: str) -> str:
    """Return the colour of a pathway."""
    return colour(_PATHWAYS.get(matrix, "own"))


def _scale(matrix: str) -> str:
    """Return the name of the scale of a synapse: its pathway; Q and R share one."""
    return "Q" if matrix == "R" else matrix


def _strengths(graph: Any) -> dict[str, float]:
    """Return the largest weight on each scale."""
    found: dict[str, float] = {}
    for *_, synapse in graph.edges(data=True):
        scale = _scale(synapse["matrix"])
        found[scale] = max(found.get(scale, 0.0), abs(synapse["weight"]))
    return found


def _strongest(graph: Any, cells: list) -> list:
    """Return the cells whose axons have the strongest synapses, which are drawn, in their own
    order.
    """
    strength = [
        sum(weight**2 for _, _, weight in graph.out_edges(node, data="weight")) for node in cells
    ]
    kept = np.sort(np.argsort(strength)[::-1][:MOST_CELLS])
    return [cells[i] for i in kept]
