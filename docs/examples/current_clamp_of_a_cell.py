"""Inject currents into a bursting cell in millivolts.

Current into the dendrite turns single spikes into bursts: the probability that an event is a burst rises, while the
rate of events hardly changes.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr.circuit.current_clamp import current_clamp, firing

currents = np.linspace(-50, 300, 8)  # pA into the dendrite
run = current_clamp(soma=400.0, dendrite=currents, cells=10, duration=2000.0)
found = firing(run, levels=len(currents))

fig, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
axes[0].plot(run.data["time"], run.data["Vs"].values[0, :, -1], lw=0.7)
axes[0].set(xlabel="time (ms)", ylabel="soma (mV)", xlim=(0, 500), title="300 pA into the dendrite")
axes[1].plot(currents, found["burst_probability"], "o-")
axes[1].set(xlabel="current into the dendrite (pA)", ylabel="burst probability", ylim=(0, 1))
plt.show()
