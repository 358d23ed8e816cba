"""Export a run to NWB and read it with pynapple.

Plateaus and outputs become time series that tools for recordings understand.
"""

import matplotlib.pyplot as plt
import pynapple as nap

from biorrr import Microcircuit
from biorrr.sims.data import load

digits = load("digits").centred()
run = Microcircuit(k=2, ridge=0.0073).run(digits.X, digits.Y, epochs=5, every=1, progress=False)
run.to_nwb("digits.nwb")

plateau = nap.load_file("digits.nwb")["plateau"]
plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
ax.plot(plateau.get(0, 100), label=["neuron 0", "neuron 1"])
ax.set(xlabel="time (s); one sample is one second", ylabel="plateau potential", ylim=(None, 0.13))
ax.legend(loc="upper right", ncols=2)
plt.show()
