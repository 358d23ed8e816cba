"""What every contestant learns: the same data, start and rates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from biorrr.models import Departure, Leaky, Millivolts, Parts, Settled, Step, Stream


@dataclass(frozen=True)
class Task:
    """Gaussian data of a given size, and weights to start from.

    Parameters
    ----------
    m, n, k
        Sensory inputs, instructive inputs, pyramidal cells (and as many interneurons).
    n_samples
        Rows of the data; a run visits them in any order, many times.

    Attributes
    ----------
    X, Y
        Shapes (n_samples, m) and (n_samples, n).
    Vx, Vy, Q, R
        Initial weights, shapes (m, k), (n, k), (k, k), (k, k).
    eta0, N
        Rates eta0/(1 + t/N) of Vx, of Vy, and of Q and R, shapes (3,): slow enough for weights to
        stay finite.
    """

    m: int
    n: int
    k: int
    n_samples: int = 1000
    X: np.ndarray = field(init=False, repr=False)
    Y: np.ndarray = field(init=False, repr=False)
    Vx: np.ndarray = field(init=False, repr=False)
    Vy: np.ndarray = field(init=False, repr=False)
    Q: np.ndarray = field(init=False, repr=False)
    R: np.ndarray = field(init=False, repr=False)
    eta0: np.ndarray = field(init=False, repr=False)
    N: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        m, n, k = self.m, self.n, self.k
        drawn = {
            "X": rng.standard_normal((self.n_samples, m)),
            "Y": rng.standard_normal((self.n_samples, n)),
            "Vx": 0.1 / np.sqrt(m) * rng.standard_normal((m, k)),
            "Vy": 0.1 / np.sqrt(n) * rng.standard_normal((n, k)),
            "Q": np.eye(k) / 3 + 0.01 * rng.standard_normal((k, k)),
            "R": np.eye(k) / 3 + 0.01 * rng.standard_normal((k, k)),
            "eta0": np.array([0.01 / m, 0.01 / n, 0.001]),
            "N": np.full(3, 1e4),
        }
        for name, values in drawn.items():
            object.__setattr__(self, name, values)

    def weights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """A fresh copy of Vx, Vy, Q and R."""
        return self.Vx.copy(), self.Vy.copy(), self.Q.copy(), self.R.copy()

    def order(self, samples: int) -> np.ndarray:
        """Rows to visit, shape (samples,)."""
        return np.random.default_rng(samples).integers(0, self.n_samples, samples)

    @property
    def departures(self) -> tuple[Departure, ...]:
        """What is other than in the paper's circuit: nothing."""
        return ()

    @property
    def circuit_options(self) -> dict[str, object]:
        """Further arguments of the circuit."""
        return {}

    @property
    def synapses(self) -> int:
        """How many weights there are."""
        return self.Vx.size + self.Vy.size + self.Q.size + self.R.size


@dataclass(frozen=True)
class RidgeTask(Task):
    """The same with a ridge, by spontaneous replay."""

    @property
    def circuit_options(self) -> dict[str, object]:
        """The ridge, and replays after each sample."""
        return {"ridge": 0.1, "replay": 8}


@dataclass(frozen=True)
class SpikingFibres(Departure):
    """Input fibres that spike: in every tick each speaks with probability 0.1, ten times as loud as
    its sample.
    """

    def alter(self, parts: Parts) -> Parts:
        """Draw in every tick which fibres speak."""
        for place, port in enumerate((("sensory", "x"), ("instructive", "y"))):
            population, activity = port
            drawn = f"uniform_draw(seed, {Stream.OWN + place}, moment, i)"
            step = Step("input", f"{activity} = 10 * {activity} * int({drawn} < 0.1)")
            parts = parts.having(parts[population].adding(step))
        return parts


@dataclass(frozen=True)
class HeldTask(Task):
    """The same for cells with membranes, to which every sample is shown for a while.

    Parameters
    ----------
    ticks
        For which a sample is held.
    spiking
        Whether inputs spike, and change in every tick; else they stand still.
    """

    ticks: int = 200
    spiking: bool = False

    @property
    def dynamics(self) -> Leaky:
        """How activity unfolds."""
        return Leaky(hold=2.0 * self.ticks, dt=2.0)

    @property
    def departures(self) -> tuple[Departure, ...]:
        """Membranes, and fibres that spike where they do."""
        return (self.dynamics, SpikingFibres()) if self.spiking else (self.dynamics,)


@dataclass(frozen=True)
class SettledTask(Task):
    """The same for cells whose plateau drives the soma, so that every sample settles.

    Parameters
    ----------
    ticks
        In which a sample settles.
    feedback
        Gain of the plateau at the soma.
    """

    ticks: int = 100
    feedback: float = 0.5

    @property
    def departures(self) -> tuple[Departure, ...]:
        """How outputs settle."""
        return (Settled(self.ticks),)

    @property
    def circuit_options(self) -> dict[str, object]:
        """Apical feedback."""
        return {"feedback": self.feedback}


@dataclass(frozen=True)
class MillivoltTask(Task):
    """The same for populations of spiking cells in millivolts, to which every sample is shown for a
    while.

    Parameters
    ----------
    cells
        The cells, how many stand for one output and for one interneuron, and how long a sample is
        held.
    """

    cells: Millivolts = field(default_factory=Millivolts)

    @property
    def circuit_options(self) -> dict[str, object]:
        """Cells in millivolts."""
        return {"cell": self.cells}
