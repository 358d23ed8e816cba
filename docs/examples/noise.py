"""Add transmission noise and measure what it costs.

Every synaptic current is noisy. The excess over the exact optimum grows with the noise.
"""

import matplotlib.pyplot as plt

from biorrr import Microcircuit, excess
from biorrr.models import TransmissionNoise
from biorrr.sims.data import load

digits = load("digits").centred()
levels, costs = [0.0, 0.1, 0.2, 0.3, 0.4], []
for sigma in levels:
    departures = [TransmissionNoise(sigma)] if sigma else []
    run = Microcircuit(k=2, ridge=0.0073, departures=departures).run(
        digits.X, digits.Y, epochs=20, progress=False
    )
    costs.append(100 * excess(run.Vx, digits.X, digits.Y, ridge=0.0073))

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
ax.plot(levels, costs, "o-")
ax.set(xlabel="noise of transmission, relative to the signal", ylabel="excess over the optimum (%)")
plt.show()
