"""Run the circuit with bursting cells in millivolts.

Events carry the output, bursts carry the plateau. A population of cells stands behind each output.
"""

import matplotlib.pyplot as plt

from biorrr import Microcircuit
from biorrr.sims.data import load

digits = load("digits").centred()
circuit = Microcircuit(k=2, ridge=0.0073, cell="millivolts")
run = circuit.run(digits.X[:300], digits.Y[:300], record=("plateau", "z"), every=1, progress=False)

fig, axes = plt.subplots(2, 1, figsize=(7, 4), sharex=True, layout="constrained")
for ax, name, label in zip(
    axes, ("plateau", "z"), ("teaching signal (bursts)", "output (events)"), strict=True
):
    ax.plot(run.data["sample"], run.data[name], lw=0.8)
    ax.set_ylabel(label)
axes[1].set_xlabel("sample")
plt.show()
