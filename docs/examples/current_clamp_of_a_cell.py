"""Inject currents into a bursting cell in millivolts.

Current into the dendrite turns single spikes into bursts: the probability that an event is a burst
rises, while the rate of events hardly changes. The electrodes set the currents of the cells:
declared as inputs, they are given as data.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from biorrr.circuit import Circuit
from biorrr.models import BurstingCells, Clock

currents = np.linspace(-50, 300, 8)  # pA into the dendrite
dendrite = np.repeat(currents, 10)  # ten cells each, which differ in their noise
dt, duration = 0.1, 2000.0  # ms

cells = BurstingCells(len(dendrite))
clamped = [replace(v, role="input") if v.name in ("I_s", "I_d") else v for v in cells.variables]
clock = Clock(duration / dt, dt)
circuit = Circuit([clock, replace(cells, variables=tuple(clamped))], [])
injected = {"I_s": np.full((1, len(dendrite)), 400.0), "I_d": dendrite[None]}
run = circuit.run(injected, record=("Vs", "event", "burst"), every=1, progress=False)
bursts, events = (
    run.data[name].values[0].sum(axis=0).reshape(len(currents), -1) for name in ("burst", "event")
)

plt.style.use("biorrr.analysis.figures.paper")  # type of 7 points
fig, axes = plt.subplots(1, 2, figsize=(6.89, 2.6))
axes[0].plot(run.data["time"], run.data["Vs"].values[0, :, -1], lw=0.7)
axes[0].set(xlabel="time (ms)", ylabel="soma (mV)", xlim=(0, 500), title="300 pA into the dendrite")
axes[1].plot(currents, bursts.sum(axis=1) / events.sum(axis=1), "o-")
axes[1].set(xlabel="current into the dendrite (pA)", ylabel="burst probability", ylim=(0, 1))
plt.show()
