"""Plot plateau potentials during learning.

Inhibition comes to predict the distal current. The plateau is what remains: the error that teaches
proximal synapses.
"""

import matplotlib.pyplot as plt

from biorrr import Microcircuit
from biorrr.sims.data import load

digits = load("digits").centred()
run = Microcircuit(k=2, ridge=0.0073).run(digits.X, digits.Y, epochs=60, progress=False)

run.plot_plateau(digits.X, digits.Y)  # grey: the back-propagated error of the exact solution
plt.show()
