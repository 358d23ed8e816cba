"""Drive a circuit with spike trains.

Sensory fibres fire Poisson spikes at rates that follow the input. Leaky cells average them over
each window.
"""

import matplotlib.pyplot as plt
import numpy as np

from biorrr import Microcircuit
from biorrr.circuit import TimeSeries
from biorrr.models import Leaky

rng = np.random.default_rng(0)
seconds, fibres = 120, 8
x = np.clip(
    1 + 0.5 * rng.standard_normal((10 * seconds, fibres)), 0, None
)  # ten values per second and fibre
counts = rng.poisson(
    1000 * x * 0.1
)  # spikes in each tenth of a second; an input of 1 is ten axons at 100 Hz
fired = np.argwhere(counts > 0)
times = np.concatenate([row / 10 + 0.1 * rng.random(counts[row, fibre]) for row, fibre in fired])
who = np.concatenate([np.full(counts[row, fibre], fibre) for row, fibre in fired])
duration = 1000.0 * seconds  # times are milliseconds
spikes = TimeSeries.of_spikes(1000 * times, who, dt=5, n=fibres, duration=duration, rate=1000.0)
y = TimeSeries(x[:, :2] - x[:, :2].mean(0), dt=100)

circuit = Microcircuit(k=2, departures=[Leaky(hold=100, dt=5)])
run = circuit.run(spikes, y, centre=True, progress=False)
run.plot_plateau(samples=(1150, 1160))
plt.show()
