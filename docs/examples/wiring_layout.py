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
nx.draw_networkx(
    graph, place, ax=ax, node_color="white", edgecolors="black", node_size=3000, font_size=8
)
ax.axis("off")
plt.show()
