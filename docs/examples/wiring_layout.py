"""Draw the wiring with a networkx layout of your own.

``circuit.wiring()`` is a networkx graph of populations and pathways.
"""

import matplotlib.pyplot as plt
import networkx as nx

from biorrr import Microcircuit

graph = Microcircuit(k=2).wiring()
place = nx.circular_layout(graph)

plt.style.use("biorrr.analysis.figures.paper")  # type of 7 points
fig, ax = plt.subplots(figsize=(6.89, 4))
bent = {"ax": ax, "connectionstyle": "arc3,rad=0.15"}
nx.draw_networkx(
    graph, place, node_color="white", edgecolors="black", node_size=3000, font_size=8, **bent
)
names = nx.get_edge_attributes(graph, "matrix")
nx.draw_networkx_edge_labels(graph, place, names, font_size=8, **bent)
ax.margins(0.2)
ax.axis("off")
plt.show()
