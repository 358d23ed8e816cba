"""Run a circuit and compare it with the exact optimum.

Two pyramidal neurons learn to predict which digit an image shows. The objective falls to its exact
optimum.
"""

import matplotlib.pyplot as plt

from biorrr import Microcircuit, excess
from biorrr.sims.data import load

digits = load("digits").centred()  # X: 1797 images of 64 pixels; Y: which digit each image shows
circuit = Microcircuit(k=2, s=0.0, ridge=0.0073)
run = circuit.run(digits.X, digits.Y, epochs=60, progress=False)

run.plot_learning(digits.X, digits.Y)
print(f"{100 * excess(run.Vx, digits.X, digits.Y, ridge=0.0073):.3f} % above the optimum")
plt.show()
