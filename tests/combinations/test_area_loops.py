"""Departures in areas with feedback, one and two of them, against a plain loop over ticks."""

import itertools
import math
import runpy
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from biorrr.models import Stream, gaussian_draw, poisson_draw
from biorrr.models.random_draws import in_area, stream_of

C = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("combinations.py"))))
SAMPLES, TICKS, LEAKY_TICKS = 6, 40, 5
GAINS = {1: (1.0, 0.5), 2: (1.0, 0.8, 0.6)}
SOFTEST = {1: 1.0, 2: 0.15}


@dataclass
class Area:
    """One area: its weights, which synapses exist, and what its cells remember."""

    W: np.ndarray
    A: np.ndarray
    Q: np.ndarray
    R: np.ndarray

    def __post_init__(self):
        k, l = self.Q.shape
        self.exists = {name: getattr(self, name) != 0 for name in ("W", "A")}
        self.z, self.soma, self.velocity, self.shortfall = (np.zeros(k) for _ in range(4))
        self.dendrite, self.hyper, self.calcium, self.spike_filter = (np.zeros(k) for _ in range(4))
        self.membrane, self.n_filter = np.zeros(l), np.zeros(l)
        self.past = []
        self.trace_pre, self.trace_plateau, self.trace_z = (
            np.zeros(len(self.W)),
            np.zeros(k),
            np.zeros(k),
        )
        self.pending = {name: 0.0 for name in "WAQR"}


class Loop:
    """Areas with feedback, tick by tick, under one departure."""

    def __init__(self, areas, gains, departure, leaky):
        self.areas, self.gains, self.departure, self.leaky = areas, gains, departure, leaky
        self.c = [high / low for low, high in itertools.pairwise(gains)]
        self.ticks = LEAKY_TICKS if leaky else TICKS
        self.polarity = [np.sign(areas[0].W.sum(axis=1)), np.sign(areas[-1].A.sum(axis=1))]
        self.late = [np.zeros(areas[-1].A.shape[0])] * 2

    def is_(self, name):
        return self.departure == name

    def chebyshev(self):
        """Return pace and inertia of each tick (Saad, Algorithm 12.1)."""
        norm, areas, c = np.linalg.norm, self.areas, self.c
        link = [
            math.sqrt(c[i] * norm(areas[i + 1].W) * norm(areas[i].A)) for i in range(len(c) - 1)
        ]
        high = max(
            1 + c[i] * norm(a.Q) * norm(a.R) + sum(link[max(i - 1, 0) : i + 1])
            for i, a in enumerate(self.areas)
        )
        clamp = c[-1] * norm(areas[-1].Q) ** 2 / len(areas[-1].Q)
        low = min(SOFTEST[len(areas)] * (1 + clamp / 3), SOFTEST[1])
        theta, delta = (high + low) / 2, (high - low) / 2
        pace, inertia, ratio = [1 / theta], [0.0], delta / theta
        for _ in range(self.ticks):
            onward = 1 / (2 * theta / delta - ratio)
            inertia.append(onward * ratio)
            pace.append(2 * onward / delta)
            ratio = onward
        return pace, inertia

    def present(self, t, x, y):
        """Hold one sample and learn from it; the outputs and plateaus of its last tick."""
        pace, inertia = (None, None) if self.leaky else self.chebyshev()
        for tick in range(self.ticks):
            self.moment, closing = t * self.ticks + tick, tick == self.ticks - 1
            shown = self.delayed_instruction(y, closing)
            for i, area in enumerate(self.areas):
                self.move(i, area, tick, pace, inertia)
            chain = [x, *(area.z for area in self.areas), shown]
            for i, area in enumerate(self.areas):
                self.act(i, area, chain[i], chain[i + 2], closing)
            for area, below, above in zip(self.areas, chain[:-2], chain[2:], strict=True):
                self.ask(t, area, below, above, tick, closing)
            if closing:
                for i, area in enumerate(self.areas):
                    self.learn(i, area)
        return [(area.z, area.plateau) for area in self.areas]

    def delayed_instruction(self, y, closing):
        if self.is_("LateInstruction in samples"):
            shown = self.late[-1]
            if closing:
                self.late = [y, y]
            return shown
        if self.is_("LateInstruction in ticks"):
            shown = self.late[0]
            self.late = [self.late[1], y]
            return shown
        return y

    def step(self, tau):
        return 1 - math.exp(-2.0 / tau)

    def move(self, i, area, tick, pace, inertia):
        if self.leaky:
            area.soma = area.soma + self.step(10) * area.shortfall
        elif tick == 0:
            area.soma, area.velocity = np.zeros_like(area.soma), np.zeros_like(area.soma)
        else:
            area.velocity = inertia[tick - 1] * area.velocity + pace[tick - 1] * area.shortfall
            area.soma = area.soma + area.velocity
        area.z = area.soma
        if self.is_("Spiking"):
            area.spike_filter = area.spike_filter + self.step(20) * (
                self.spikes(area.soma, 1.0, Stream.OUTPUT, i) - area.spike_filter
            )
            area.z = area.spike_filter

    def spikes(self, v, unit, stream, i):
        share = 1 / self.ticks
        mean = 10 * share * np.maximum(4 + v / unit, 0)
        return unit * (self.poisson(mean, stream, i) / (10 * share) - 4)

    def poisson(self, mean, stream, i):
        return poisson_draw(mean, 0, in_area(stream, i + 1), self.moment, np.arange(len(mean)))

    def transmitted(self, w, value, stream, i):
        """Return the currents of ``value`` through ``w`` (source by target), with noise if there is
        any.
        """
        current = w.T @ value
        if not self.is_("TransmissionNoise"):
            return current
        spread = 0.2 * np.sqrt((w.T**2) @ value**2 * self.ticks)
        return current + spread * gaussian_draw(
            0, in_area(stream, i + 1), self.moment, np.arange(w.shape[1])
        )

    def act(self, i, area, below, above, closing):
        basal = self.transmitted(area.W, below, stream_of("pyramidal.basal"), i)
        a = self.transmitted(area.A, above, Stream.DISTAL, i)
        n = self.transmitted(area.R.T, area.z, Stream.RECRUITMENT, i)
        if self.leaky:
            area.dendrite = area.dendrite + self.step(10) * (a - area.dendrite)
            area.membrane = area.membrane + self.step(10) * (n - area.membrane)
            a, n = area.dendrite, area.membrane
        if self.departure in ("LoopDelay in samples", "LoopDelay in ticks"):
            undelayed, n = n, area.past[0] if len(area.past) == 2 else np.zeros(len(n))
            if closing or self.is_("LoopDelay in ticks"):
                area.past = [*area.past, undelayed][-2:]
        if self.is_("Spiking"):
            said = self.spikes(n, np.linalg.norm(area.R, axis=1), Stream.INTERNEURON, i)
            n = area.n_filter = area.n_filter + self.step(20) * (said - area.n_filter)
        inhibition = self.transmitted(area.Q.T, n, Stream.INHIBITORY, i)
        if self.leaky:
            inhibition = area.hyper = area.hyper + self.step(10) * (inhibition - area.hyper)
        plateau = a - inhibition
        if self.is_("Rectified"):
            plateau = np.maximum(plateau, -0.2)
        elif self.is_("Sign"):
            plateau = 0.3 * np.sign(plateau)
        elif self.is_("AllOrNone"):
            number = self.poisson(np.abs(plateau) / self.ticks / 0.3, Stream.PLATEAU, i)
            plateau = np.sign(plateau) * 0.3 * self.ticks * number
        if self.leaky:
            plateau = area.calcium = area.calcium + self.step(30) * (plateau - area.calcium)
        area.n, area.plateau = n, plateau
        area.shortfall = basal + self.c[i] * plateau - area.soma

    def traced(self, old, value, tau, closing):
        """Return a trace, in seconds tick by tick, or in samples where outputs settle."""
        if self.leaky:
            return old + (1 - math.exp(-2.0 / tau)) * (value - old)
        return old + (1 - math.exp(-1 / tau)) * (value - old) if closing else old

    def ask(self, t, area, below, above, tick, closing):
        """Keep the changes that the rules ask for in this tick."""
        eta = {path: getattr(C.RATES, path)(t) for path in "xyqr"}
        pre, plateau, z = below, area.plateau, area.z
        if self.is_("Eligibility"):
            pre = area.trace_pre = self.traced(area.trace_pre, below, 1.5, closing)
            plateau = area.trace_plateau = self.traced(area.trace_plateau, plateau, 0.8, closing)
            z = area.trace_z = self.traced(area.trace_z, z, 1.2, closing)
        asked = {
            "W": eta["x"] * np.outer(pre, plateau),
            "A": eta["y"] * (np.outer(above, z) - area.A),
            "Q": eta["q"] * (np.outer(area.z, area.n) - area.Q),
            "R": eta["r"] * (np.outer(area.n, area.z) - area.R),
        }
        if self.is_("HomeostaticScaling"):
            asked["W"] = asked["W"] + eta["q"] * (1 - area.z**2) * area.W
        for name, change in asked.items():
            if self.leaky:
                area.pending[name] = (area.pending[name] if tick else 0.0) + change / self.ticks
            else:
                area.pending[name] = change

    def learn(self, i, area):
        for name in "WAQR":
            change = area.pending[name]
            if self.is_("SparseConnections") and name in area.exists:
                change = change * area.exists[name]
            setattr(area, name, getattr(area, name) + change)
        if self.is_("DalesLaw"):
            sign_W = self.polarity[0][:, None] if i == 0 else 1
            sign_A = self.polarity[1][:, None] if i == len(self.areas) - 1 else 1
            area.W, area.A = (
                sign_W * np.maximum(sign_W * area.W, 0),
                sign_A * np.maximum(sign_A * area.A, 0),
            )
            area.Q, area.R = np.maximum(area.Q, 0), np.maximum(area.R, 0)


CASES = [
    pytest.param(departure, circuit, marks=[] if "areas" in circuit else pytest.mark.slow)
    for departure in C.DEPARTURES
    for circuit in C.CIRCUITS
    if ("feedback" in circuit or "areas" in circuit) and not C.refusal(departure, circuit)
]


@pytest.mark.parametrize(("departure", "circuit"), CASES)
def test_a_departure_in_areas_is_what_a_plain_loop_computes(departure, circuit):
    count = 2 if "areas" in circuit else 1
    made = C.CIRCUITS[circuit](C.DEPARTURES[departure])
    X, Y = (values[:SAMPLES] for values in C.data())
    record = [
        f"{cells.name}.{name}"
        for cells in made.parts.all(kind="pyramidal")
        for name in ("z", "plateau")
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        run = made.run(
            X,
            Y,
            order="sequential",
            record=record,
            every=1,
            weights=C.weights(count if count > 1 else 0),
            progress=False,
        )
    names = (
        [[f"{name}{i}" for name in "WAQR"] for i in (1, 2)]
        if count > 1
        else [["Vx", "Vy", "Q", "R"]]
    )
    areas = [Area(*(run.data[name].values[0].copy() for name in area)) for area in names]
    loop = Loop(areas, GAINS[count], departure, leaky="leaky" in circuit)
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        for (z, plateau), cells in zip(
            loop.present(t, x, y), made.parts.all(kind="pyramidal"), strict=True
        ):
            for name, value in (("z", z), ("plateau", plateau)):
                traced = run.data[f"{cells.name}_{name}"].values[t]
                ended = traced[-1] if traced.ndim > 1 else traced
                np.testing.assert_allclose(
                    ended, value, rtol=0, atol=1e-12, err_msg=f"{name} of sample {t}"
                )
    for area, own in zip(areas, names, strict=True):
        for symbol, name in zip("WAQR", own, strict=True):
            np.testing.assert_allclose(
                run.weights[name], getattr(area, symbol), rtol=0, atol=1e-12, err_msg=name
            )
    assert max(np.abs(w - run.data[name].values[0]).max() for name, w in run.weights.items()) > 1e-6
