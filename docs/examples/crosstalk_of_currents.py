"""Inject a current into the dendrite and count what the soma says.

Events are to follow the current into the soma, the share of bursts that into the dendrite. At
steady state that is not quite so: bursts leave the soma adapted, and so more current into the
dendrite also lowers the rate of events. Currents are those of the circuit in millivolts, one unit
of output and up to two of a usual distal current around rest.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from biorrr.circuit import Circuit
from biorrr.models import BurstingCells, Clock, Millivolts, Step, Variable

usual = Millivolts()
into_soma = usual.rest_soma + usual.gain_soma * np.array([-1.0, 0.0, 1.0])  # pA
into_dendrite = usual.rest_dendrite + usual.gain_dendrite * np.arange(-2.0, 3.0)  # pA
each, seconds, dt = 100, 20, 0.5  # cells for each pair of currents, dt in ms
I_s, I_d = (
    np.repeat(one, each)[None] for one in map(np.ravel, np.meshgrid(into_soma, into_dendrite))
)

cells = BurstingCells(I_s.size)
clamped = [replace(v, role="input") if v.name in ("I_s", "I_d") else v for v in cells.variables]
cells = replace(cells, variables=tuple(clamped)).adding(
    Variable("events", "events so far", role="memory"),
    Variable("bursts", "bursts so far", role="memory"),
    Step("output", "events += event\nbursts += burst"),
)
circuit = Circuit([Clock(1000 / dt, dt), cells], [])
order = np.zeros(2 * seconds, dtype=int)  # a second with these currents, again and again
injected = {"I_s": I_s, "I_d": I_d}
counted = ("events", "bursts")
run = circuit.run(injected, order=order, record=counted, every=seconds, progress=False)
shape = len(into_dendrite), len(into_soma), each
events, bursts = (
    np.diff(run.data[name].values[:, -1], axis=0).reshape(shape) / seconds for name in counted
)
for current, change in zip(into_soma, events[3] - events[2], strict=True):  # 70 pA above rest
    error = change.std() / np.sqrt(each)
    print(f"{current:.0f} pA into the soma: {change.mean():.2f} +- {error:.2f} events per second")

plt.style.use("biorrr.analysis.figures.paper")  # type of 7 points
fig, axes = plt.subplots(1, 2, figsize=(6.89, 2.6))
shares = bursts.sum(axis=2) / events.sum(axis=2)
for place, current in enumerate(into_soma):
    label = f"{current:.0f} pA into the soma"
    axes[0].plot(into_dendrite, events.mean(axis=2)[:, place], f"{'os^'[place]}-", label=label)
    axes[1].plot(into_dendrite, shares[:, place], f"{'os^'[place]}-", label=label)
axes[0].set(ylabel="events per second", ylim=(0, None))
axes[1].set(ylabel="burst probability", ylim=(0, 1))
for ax in axes:
    ax.set_xlabel("current into the dendrite (pA)")
axes[0].legend()
plt.show()
