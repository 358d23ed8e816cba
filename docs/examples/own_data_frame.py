"""Use your own data from a pandas DataFrame.

Columns keep their names in the recorded run, and the estimator follows scikit-learn's conventions.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from biorrr import MicrocircuitRegressor

rng = np.random.default_rng(0)
stimulus = pd.DataFrame(
    rng.standard_normal((2000, 6)), columns=[f"orientation {30 * i}" for i in range(6)]
)
behaviour = pd.DataFrame(
    {"lick": stimulus.iloc[:, 0] - stimulus.iloc[:, 3], "speed": stimulus.iloc[:, 1]}
)
behaviour += 0.5 * rng.standard_normal(behaviour.shape)

train_x, test_x, train_y, test_y = train_test_split(stimulus, behaviour, random_state=0)
model = MicrocircuitRegressor(k=2, epochs=20, random_state=0).fit(train_x, train_y)

plt.style.use("biorrr.analysis.figures.paper")  # 8.5 cm wide, type of 7 points
fig, ax = plt.subplots()
for name, predicted in zip(behaviour, model.predict(test_x).T, strict=True):
    ax.plot(test_y[name], predicted, ".", label=name)
ax.set(
    xlabel="held-out value",
    ylabel="prediction of the circuit",
    title=f"R2 = {model.score(test_x, test_y):.2f}",
)
ax.legend()
plt.show()
