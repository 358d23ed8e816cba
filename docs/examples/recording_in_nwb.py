"""Read a two-area recording from an NWB file.

The file is made here, with two shared dimensions planted between V1 and V2. ``biorrr communication
--data FILE`` makes the whole analysis of such a file.
"""

from datetime import UTC, datetime

import matplotlib.pyplot as plt
import numpy as np
from pynwb import NWBHDF5IO, NWBFile

from biorrr import Microcircuit
from biorrr.sims.recordings import Recording

rng = np.random.default_rng(0)
shared = 8 + 3 * rng.standard_normal((300, 2))  # two latent rates per trial of one second
file = NWBFile("two areas", "example", datetime(2020, 1, 1, tzinfo=UTC))
file.add_unit_column("area", "area of the unit")
for unit in range(24):
    rates = np.clip(shared @ rng.uniform(0, 1, 2), 0.1, None)
    spikes = np.concatenate(
        [trial + np.sort(rng.random(rng.poisson(rate))) for trial, rate in enumerate(rates)]
    )
    file.add_unit(spike_times=spikes, area="V1" if unit < 16 else "V2")
for trial in range(300):
    file.add_trial(start_time=float(trial), stop_time=trial + 1.0)
with NWBHDF5IO("areas.nwb", "w") as disk:
    disk.write(file)

data = Recording.from_nwb("areas.nwb").pair(
    "V1", "V2", align="start_time", window=(0.0, 1.0), bin=0.25
)
run = Microcircuit(k=2, ridge=0.1).run(data.X, data.Y, epochs=40, centre=True, progress=False)
run.plot_angles(data.X - data.X.mean(0), data.Y - data.Y.mean(0))
plt.show()
