"""The equations as a plain NumPy loop, circuits small enough to compile quickly, and where compiled
code goes.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from biorrr.circuit import Circuit, Microcircuit, Run
from biorrr.models import BurstingCells, Clock, Population, Rate, Rates

M, N, K = 6, 4, 2  # sizes of every circuit here: the C++ engine compiles one program for each
RATES = Rates(x=Rate(0.004, 900), y=Rate(0.02, 700), q=Rate(0.008, 1500), r=Rate(0.007, 1100))


@dataclass
class Loop:
    """The paper's online algorithm with R of its own (supplement), one sample after another.

    Parameters
    ----------
    Vx, Vy, Q, R
        Weights, shapes (m, k), (n, k), (k, l), (l, k); changed by :meth:`present`.
    s, ridge
        Which regression; epsilon on Cxx (by replay) and on Cyy.
    rates
        Learning rates.
    """

    Vx: np.ndarray
    Vy: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    s: float
    ridge: float = 0.0
    rates: Rates = RATES
    t: int = 0

    def present(self, x, y, replayed=()) -> dict[str, np.ndarray]:
        """Learn from one sample and the inputs ``replayed`` after it; the sample's activities."""
        eta = {path: getattr(self.rates, path)(self.t) for path in "xyqr"}
        seen = self._activities(x, y)
        z, a, n, plateau = (seen[name] for name in ("z", "a", "n", "plateau"))
        self.Vx = self.Vx + eta["x"] * np.outer(x, plateau)
        decay = 1 - self.s + self.s * self.ridge
        self.Vy = self.Vy + eta["y"] * (np.outer(y, z - self.s * a) - decay * self.Vy)
        self.Q = self.Q + eta["q"] * (np.outer(z, n) - self.Q)
        self.R = self.R + eta["r"] * (np.outer(n, z) - self.R)
        for i in replayed:
            echo = self._activities(np.eye(len(self.Vx))[i], np.zeros(len(self.Vy)))
            gain = self.ridge * len(self.Vx) / len(replayed)
            self.Vx[i] += eta["x"] * gain * echo["plateau"]
            self.Q = self.Q + eta["q"] * gain * np.outer(echo["z"], echo["n"])
            self.R = self.R + eta["r"] * gain * np.outer(echo["n"], echo["z"])
        self.t += 1
        return seen

    def _activities(self, x, y) -> dict[str, np.ndarray]:
        z, a = self.Vx.T @ x, self.Vy.T @ y
        n = self.R @ z
        inhibition = self.Q @ n
        return {
            "x": x,
            "y": y,
            "z": z,
            "a": a,
            "n": n,
            "inhibition": inhibition,
            "plateau": a - inhibition,
        }


@pytest.fixture(scope="session")
def current_clamp():
    """Injects currents into cells."""

    def clamp(
        soma,
        dendrite,
        *,
        cell: Population | None = None,
        cells: int = 20,
        duration: float,
        dt: float = 0.1,
        record=(),
        engine: str = "auto",
    ) -> Run:
        """Inject constant currents, in pA, into so many cells at each level of soma and dendrite;
        times in ms.
        """
        I_s, I_d = (
            np.repeat(level, cells)[None]
            for level in np.broadcast_arrays(np.ravel(soma), np.ravel(dendrite))
        )
        cell = cell or BurstingCells()
        injected = tuple(
            replace(v, role="input") if v.name in ("I_s", "I_d") else v for v in cell.variables
        )
        circuit = Circuit(
            [
                Clock(float(round(duration / dt)), dt),
                replace(cell, size=I_s.size, variables=injected),
            ],
            [],
            engine=engine,
        )
        return circuit.run(
            {"I_s": I_s, "I_d": I_d}, record=record, every=1, snapshots=1, progress=False
        )

    return clamp


@pytest.fixture(scope="session")
def data():
    """2,000 samples of two views with something in common; X (2000, 6), Y (2000, 4).

    Every sample is followed by its opposite, so that any even stretch of them has mean zero.
    """
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1000, M)) * [2.0, 1.5, 1.0, 1.0, 0.7, 0.5]
    Y = X @ rng.standard_normal((M, N)) * 0.4 + 0.3 * rng.standard_normal((1000, N))
    return tuple(np.stack([half, -half], axis=1).reshape(2000, -1) for half in (X, Y))


@pytest.fixture(scope="session")
def weights():
    """Draws unrelated initial weights; Q and R share only what keeps QR's eigenvalues positive."""

    def draw(l, seed=2):
        rng = np.random.default_rng(seed)
        return {
            "Vx": 0.1 * rng.standard_normal((M, K)),
            "Vy": 0.1 * rng.standard_normal((N, K)),
            "Q": np.eye(K, l) + 0.2 * rng.standard_normal((K, l)),
            "R": np.eye(l, K) + 0.2 * rng.standard_normal((l, K)),
        }

    return draw


@pytest.fixture(scope="session")
def make_circuit(weights):
    """Builds each circuit once: ``make_circuit(engine, l=3, **settings)`` with the loop's rates and
    weights.
    """
    built = {}

    def make(engine, l=3, **settings):
        key = (engine, l, *sorted(settings.items()))
        if key not in built:
            start = {f"{name}0": w for name, w in weights(l).items()}
            built[key] = Microcircuit(
                K, interneurons=l, engine=engine, **{"rates": RATES, **start, **settings}
            )
        return built[key]

    return make


@pytest.fixture(scope="session")
def make_loop(weights):
    """The loop that ``make_circuit`` with the same arguments must equal."""

    def make(l=3, **settings):
        return Loop(**weights(l), **settings)

    return make
