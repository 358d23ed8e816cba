"""Run the circuit with bursting cells in millivolts.

Events carry the output, bursts carry the plateau. A population of cells stands behind each output.
"""

import matplotlib.pyplot as plt

from biorrr import Microcircuit
from biorrr.sims.data import load

digits = load("digits").centred()
circuit = Microcircuit(k=2, ridge=0.0073, cell="millivolts")
run = circuit.run(
    digits.X,
    digits.Y,
    epochs=10,
    record=("plateau", "z"),
    every=[(17_670, 17_970)],  # the last 300 samples
    progress=False,
)

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, axes = plt.subplots(2, 1, figsize=(3.35, 3), sharex=True)
for ax, name, label in zip(
    axes, ("plateau", "z"), ("teaching signal (bursts)", "output (events)"), strict=True
):
    ax.plot(run.data["sample"], run.data[name], lw=0.8, label=["neuron 0", "neuron 1"])
    ax.set_ylabel(label)
axes[1].set_xlabel("sample")
axes[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
plt.show()
