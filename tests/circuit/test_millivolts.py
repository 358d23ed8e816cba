"""Cells in millivolts: the cell against an ODE solver, the circuit against a plain loop, units, and
what it learns.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from biorrr.analysis import excess
from biorrr.circuit import Diverged, Microcircuit, Run
from biorrr.models import (
    BurstingCells,
    Leaky,
    LoopDelay,
    Millivolts,
    Rate,
    Rates,
    Spiking,
    uniform_draw,
    with_values,
)
from biorrr.sims.data import load

QUIET = with_values(BurstingCells(), sigma_s=0.0, sigma_d=0.0)
SMALL = Millivolts(population=4, interneuron_population=3, hold=30.0, latency=10.0)
RATES = Rates(x=Rate(0.004, 900), y=Rate(0.02, 700), q=Rate(0.008, 1500), r=Rate(0.007, 1100))
ENGINES = ["numpy", "cpp"]


# -- the cell --------------------------------------------------------------------------------------


def solved(
    soma: float, dendrite: float, duration: float, start: tuple[float, float]
) -> tuple[list[float], np.ndarray]:
    """Spike times and the final (Vs, Vd, w_s, w_d) of a cell without noise, by scipy, from spike to
    spike.
    """

    def slope(t, state, last, resting):
        Vs, Vd, ws, wd = state
        sigma = 1 / (1 + np.exp(-(Vd + 38) / 6))
        arrived = last + 0.5 <= t < last + 2.5
        dVs = 0.0 if resting else -(Vs + 70) / 16 + (1300 * sigma - 200 * ws + soma) / 370
        dVd = -(Vd + 70) / 7 + (1200 * sigma + 2600 * arrived - 13 * wd + dendrite) / 170
        return [dVs, dVd, -ws / 100, (Vd + 70 - wd) / 30]

    def crossing(t, state, last, resting):
        return state[0] + 50

    crossing.terminal, crossing.direction = True, 1
    t, last, spikes, state = 0.0, -1e3, [], np.array([*start, 0.0, 0.0])
    while t < duration:
        # Where the right-hand side jumps: when the spike arrives in the dendrite and has passed,
        # and after rest.
        jumps = [last + 0.5, last + 2.5, last + 3.0, duration]
        until = min(jump for jump in jumps if jump > t + 1e-12)
        done = solve_ivp(
            slope,
            (t, until),
            state,
            args=(last, t < last + 3.0 - 1e-12),
            events=crossing,
            rtol=1e-9,
            atol=1e-9,
            max_step=0.5,
        )
        t, state = done.t[-1], done.y[:, -1]
        if done.status == 1:
            last = t
            spikes.append(t)
            state = np.array([-70.0, state[1], state[2] + 1, state[3]])
    return spikes, state


@pytest.fixture
def clamped(current_clamp):
    """Injects currents into one cell without noise."""
    quiet = {"cell": QUIET, "cells": 1, "engine": "numpy", "record": ("Vs", "Vd", "spike")}
    return lambda soma, dendrite, duration, dt: current_clamp(
        soma, dendrite, duration=duration, dt=dt, **quiet
    )


def firing(run: Run, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Rate of events in Hz and probability that an event is a burst, at each level, after the first
    300 ms.
    """
    time = run.data["time"].values
    counts = {
        name: run.data[name].values[0, time > 300].sum(axis=0).reshape(levels, -1)
        for name in ("event", "burst")
    }
    rates = 1000 * counts["event"].mean(axis=1) / (time[-1] - 300)
    return rates, counts["burst"].sum(axis=1) / np.maximum(counts["event"].sum(axis=1), 1)


def test_a_cell_without_noise_converges_to_the_ODE_at_first_order(clamped):
    """Below threshold, where the dendrite's calcium current is on and nothing jumps."""
    steps = (0.4, 0.2, 0.1)
    runs = [clamped(-700.0, 700.0, 24.0, dt) for dt in steps]
    start = -70 + 15 * uniform_draw(0, 10, -1, 0)[0]
    spikes, state = solved(-700.0, 700.0, 24.0, (start, -70.0))
    assert spikes == []
    assert state[1] > -50  # the dendrite is depolarised far beyond rest
    for place, name in enumerate(("Vs", "Vd")):
        errors = [abs(run.data[name].values[0, -1, 0] - state[place]) for run in runs]
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        np.testing.assert_allclose(orders, 1, atol=0.15)


def test_spikes_of_a_bursting_cell_come_when_the_ODE_says(clamped):
    runs = {dt: clamped(600.0, 300.0, 60.0, dt) for dt in (0.1, 0.02)}
    expected, _ = solved(600.0, 300.0, 60.0, (-70 + 15 * uniform_draw(0, 10, -1, 0)[0], -70.0))
    assert len(expected) >= 4
    assert np.diff(expected).min() < 16  # a burst
    late = {}
    for dt, run in runs.items():
        found = run.data["time"].values[run.data["spike"].values[0, :, 0] > 0]
        assert len(found) == len(expected)
        late[dt] = np.abs(found - expected).max()
    assert late[0.1] < 1.0
    assert late[0.02] < 0.35 * late[0.1]


def test_without_the_back_propagating_spike_a_cell_does_not_burst(current_clamp):
    deaf = with_values(BurstingCells(), c_d=0.0)
    run = current_clamp(
        500.0, 205.0, cell=deaf, cells=10, duration=1300.0, dt=0.5, record=("event", "burst")
    )
    whole = current_clamp(
        500.0, 205.0, cells=10, duration=1300.0, dt=0.5, record=("event", "burst")
    )
    assert firing(run, 1)[1].item() < 0.2
    assert firing(whole, 1)[1].item() > 0.4


@pytest.mark.slow
def test_bursts_follow_the_dendritic_current_and_events_the_somatic_one(current_clamp):
    """What DESIGN says of the cell: nearly linear from -50 to 290 pA at a steady rate of events."""
    dendrite = np.array([-50.0, 35.0, 120.0, 205.0, 290.0])
    rates, probability = firing(
        current_clamp(400.0, dendrite, cells=60, duration=6300.0, record=("event", "burst")), 5
    )
    line = np.polyval(np.polyfit(dendrite, probability, 1), dendrite)
    assert np.abs(probability - line).max() < 0.06
    assert probability[0] < 0.15
    assert probability[-1] > 0.65
    assert rates.min() > 4
    assert rates.max() < 7
    soma = np.array([300.0, 400.0, 500.0, 600.0])
    rates, probability = firing(
        current_clamp(soma, 120.0, cells=60, duration=6300.0, record=("event", "burst")), 4
    )
    assert (np.diff(rates) > 0.8).all()
    assert np.ptp(probability) < 0.1


# -- the circuit -----------------------------------------------------------------------------------


@dataclass
class Cells:
    """The circuit in millivolts as a plain loop over ticks, in mV, ms and pA."""

    Vx: np.ndarray
    Vy: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    made: Millivolts
    seed: int

    def __post_init__(self):
        k, l, P, Pi = (
            self.Vx.shape[1],
            self.Q.shape[1],
            self.made.population,
            self.made.interneuron_population,
        )
        cells, others = np.arange(k * P), np.arange(l * Pi)
        self.Vs = -70 + 15 * uniform_draw(self.seed, 10, -1, cells)
        self.Vd = np.full(k * P, -70.0)
        self.ws, self.wd, self.ns, self.nd, self.bursting = np.zeros((5, k * P))
        self.since = np.full(k * P, 1000.0)
        self.V = -60 + 15 * uniform_draw(self.seed, 11, -1, others)
        self.ni, self.since_i = np.zeros(l * Pi), np.full(l * Pi, 1000.0)
        self.z_heard, self.n_heard, self.inhibited = np.zeros(k), np.zeros(l), np.zeros(k)
        self.events, self.bursts, self.drive, self.spikes = (
            np.full(k, 5.0),
            np.full(k, 1.8),
            np.ones(k),
            np.full(l, 20.0),
        )
        self.sample = 0

    def present(self, x, y, eta):
        made, dt = self.made, self.made.dt
        k, l, P, Pi = (
            self.Vx.shape[1],
            self.Q.shape[1],
            made.population,
            made.interneuron_population,
        )
        drive, a = self.Vx.T @ x, self.Vy.T @ y
        unit = np.sqrt(np.square(self.R).sum(axis=1)) + 1e-300
        count, latency = round(made.hold / dt), made.latency / dt
        events, bursts, spikes, inhibition_sum, inhibition = (
            np.zeros(k),
            np.zeros(k),
            np.zeros(l),
            np.zeros(k),
            None,
        )
        keep = np.exp(-dt / 2)
        fresh = np.sqrt(12 * (1 - keep**2))
        heard = 1 - np.exp(-dt / made.filter)
        counted = 1.0
        for tick in range(count):
            moment = self.sample * count + tick
            I_s = np.repeat(made.rest_soma + made.gain_soma * np.clip(drive, -8, 8), P)
            pulled = np.clip((a - self.inhibited) / np.sqrt(self.drive), -6, 6)
            I_d = np.repeat(made.rest_dendrite + made.gain_dendrite * pulled, P)
            u = uniform_draw(self.seed, 10, moment, np.arange(k * P))
            self.ns = keep * self.ns + 300 * fresh * (u - 0.5)
            self.nd = keep * self.nd + 300 * fresh * (2**26 * u - np.floor(2**26 * u) - 0.5)
            sigma = 1 / (1 + np.exp(-(self.Vd + 38) / 6))
            arrived = (self.since + dt / 2 > 0.5) & (self.since + dt / 2 < 2.5)
            soma = -70 + 16 / 370 * (1300 * sigma - 200 * self.ws + I_s + self.ns)
            dendrite = -70 + 7 / 170 * (
                1200 * sigma + 2600 * arrived - 13 * self.wd + I_d + self.nd
            )
            self.wd = self.wd + (1 - np.exp(-dt / 30)) * (self.Vd + 70 - self.wd)
            self.ws = np.exp(-dt / 100) * self.ws
            self.Vd = self.Vd + (1 - np.exp(-dt / 7)) * (dendrite - self.Vd)
            self.since = self.since + dt
            self.Vs = np.where(
                self.since + dt / 2 > 3, self.Vs + (1 - np.exp(-dt / 16)) * (soma - self.Vs), -70.0
            )
            fired = self.Vs > -50
            event = fired & (self.since + dt / 2 > 16)
            burst = fired & ~event & (self.bursting == 0)
            self.bursting = np.where(event, 0, self.bursting + burst)
            self.ws, self.Vs, self.since = (
                self.ws + fired,
                np.where(fired, -70, self.Vs),
                np.where(fired, 0, self.since),
            )
            event, burst = (each.reshape(k, P).sum(axis=1) / P for each in (event, burst))
            counts = tick + 1 - latency >= 1
            counted = max(tick + 1 - latency, 1)
            events, bursts = events + counts * event, bursts + counts * burst
            gain_z = made.event_slope * made.gain_soma
            self.z_heard = self.z_heard + heard * (
                (1000 * event / dt - self.events) / gain_z - self.z_heard
            )
            z = (1000 * events / (counted * dt) - self.events) / gain_z
            I_in = np.repeat(
                made.rest_interneuron
                + made.gain_interneuron * np.clip(self.R @ self.z_heard / unit, -5, 5),
                Pi,
            )
            u = uniform_draw(self.seed, 11, moment, np.arange(l * Pi))
            self.ni = keep * self.ni + 100 * fresh * (u - 0.5)
            self.since_i = self.since_i + dt
            relaxed = self.V + (1 - np.exp(-dt / 20)) * (-60 + 20 / 100 * (I_in + self.ni) - self.V)
            self.V = np.where(self.since_i + dt / 2 > 2, relaxed, -55)
            fired = self.V > -40
            self.V, self.since_i = np.where(fired, -55, self.V), np.where(fired, 0, self.since_i)
            fired = fired.reshape(l, Pi).sum(axis=1) / Pi
            spikes = spikes + counts * fired
            gain_n = unit / (made.spike_slope * made.gain_interneuron)
            self.n_heard = self.n_heard + heard * (
                gain_n * (1000 * fired / dt - self.spikes) - self.n_heard
            )
            n = gain_n * (1000 * spikes / (counted * dt) - self.spikes)
            self.inhibited = self.Q @ self.n_heard
            inhibition_sum = inhibition_sum + counts * self.inhibited
            inhibition = inhibition_sum / counted
        E, B = 1000 * events / (counted * dt), 1000 * bursts / (counted * dt)
        unusual = (B - self.bursts / self.events * E) / self.events
        plateau = np.sqrt(self.drive) * unusual / (made.burst_slope * made.gain_dendrite)
        pace = max(1 / (self.sample + 11), 1 / made.homeostasis)
        self.spikes = self.spikes + pace * (1000 * spikes / (counted * dt) - self.spikes)
        self.events, self.bursts = (
            self.events + pace * (E - self.events),
            self.bursts + pace * (B - self.bursts),
        )
        self.drive = self.drive + max(1 / (self.sample + 1), 1 / made.homeostasis) * (
            (a - inhibition) ** 2 - self.drive
        )
        if self.sample >= 20:
            self.Vx = self.Vx + eta["x"] * np.outer(x, plateau)
            self.Vy = self.Vy + eta["y"] * (np.outer(y, z) - self.Vy)
            Q = self.Q + eta["q"] * (np.outer(z, n) - self.Q)
            self.Q, self.R = Q, self.R + eta["r"] * (np.outer(n, z) - self.R)
        self.sample += 1
        return {"z": z, "n": n, "plateau": plateau, "inhibition": inhibition}


def small_data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 5))
    Y = X[:, :2] @ rng.standard_normal((2, 3)) + 0.3 * rng.standard_normal((40, 3))
    return X - X[:30].mean(axis=0), Y - Y[:30].mean(axis=0)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_circuit_is_its_equations(engine):
    X, Y = small_data()
    run = Microcircuit(2, rates=RATES, cell=SMALL, engine=engine, seed=4).run(
        X,
        Y,
        order="sequential",
        record=("z", "n", "plateau", "inhibition"),
        every=1,
        progress=False,
    )
    begin = {name: run.data[name].values[0] for name in ("Vx", "Vy", "Q", "R")}
    loop = Cells(**begin, made=SMALL, seed=4)
    said = [
        loop.present(x, y, {path: getattr(RATES, path)(t) for path in "xyqr"})
        for t, (x, y) in enumerate(zip(X, Y, strict=True))
    ]
    for name in ("z", "n", "plateau", "inhibition"):
        expected = np.array([each[name] for each in said])
        assert np.ptp(expected) > 0
        np.testing.assert_allclose(run.data[name].values, expected, rtol=1e-12, atol=1e-12)
    for name in begin:
        assert not np.array_equal(getattr(loop, name), begin[name])
        np.testing.assert_allclose(getattr(run, name), getattr(loop, name), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_goes_on_where_another_ended(engine):
    """Bit for bit, recorded or not, where loops that take several cells at once leave some over."""
    X, Y = small_data()
    circuit = Microcircuit(2, rates=RATES, cell=replace(SMALL, population=5), engine=engine)
    order = np.arange(30)
    whole = circuit.run(X, Y, order=order, record=("Vs", "z"), every=1, progress=False)
    first = circuit.run(X, Y, order=order[:24], record=(), progress=False)
    second = circuit.run(
        X, Y, order=order[24:], start=first, record=("Vs", "z"), every=1, progress=False
    )
    for name in ("Vx", "Vy", "Q", "R"):
        np.testing.assert_array_equal(getattr(second, name), getattr(whole, name))
    np.testing.assert_array_equal(second.data["Vs"].values, whole.data["Vs"].values[24:])


def test_traces_have_units_and_one_value_per_sample_or_per_tick(tmp_path):
    X, Y = small_data()
    circuit = Microcircuit(2, rates=RATES, cell=SMALL, engine="numpy")
    names = ("z", "plateau", "a", "inhibition", "Vs", "Vd", "calcium", "spike", "dendrite_current")
    names = (*names[:-2], "bursting_cells.spike", "dendrite_current")
    run = circuit.run(X, Y, order=np.arange(3), record=names, every=1, progress=False)
    assert run.data["plateau"].dims == ("sample", "pyramidal")
    assert run.data["Vs"].dims == ("sample", "time", "bursting_cell")
    assert run.data["Vs"].shape == (3, 60, 8)
    assert {name: run.data[name].attrs["units"] for name in ("Vs", "calcium", "z")} == {
        "Vs": "mV",
        "calcium": "pA",
        "z": "1",
    }
    assert -90 < run.data["Vd"].values.min() < run.data["Vs"].values.max() <= -50
    assert run.data["time"].values[-1] == 30
    run.save(tmp_path / "run.nc")
    np.testing.assert_array_equal(Run.load(tmp_path / "run.nc").data["Vd"], run.data["Vd"])


def test_in_a_network_of_Brian2_potentials_are_volts():
    circuit = Microcircuit(2, rates=RATES, cell=SMALL, engine="numpy").build(5, 3)
    import brian2

    cells = circuit.network["bursting_cells"]
    assert brian2.have_same_dimensions(cells.Vs[:], brian2.volt)
    assert -71 < float(cells.Vs[0] / brian2.mV) < -54


def test_parameters_may_be_quantities_of_Brian2():
    import brian2

    made = Millivolts(hold=0.1 * brian2.second, rest_soma=0.5 * brian2.nA)
    assert (made.hold, made.rest_soma) == pytest.approx((100.0, 500.0))
    with pytest.raises(ValueError, match="rest_soma: must be a quantity in pA"):
        Millivolts(rest_soma=3 * brian2.mV)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("I_s + noise_s", "Vs + noise_s", "has unit A; 'Vs' has unit V"),
        ("int(Vs > V_T)", "int(Vs > C_s)", "Comparison of expressions with different units"),
        ("w_s += spike", "w_s += Vs", "'w_s' has unit 1"),
    ],
)
def test_units_that_do_not_agree_are_refused(right, wrong, said, current_clamp):
    (step,) = BurstingCells().steps
    assert right in step.code
    odd = replace(BurstingCells(), steps=(replace(step, code=step.code.replace(right, wrong)),))
    with pytest.raises(
        ValueError, match=r"bursting_cells: units do not agree in phase 'cells'"
    ) as error:
        current_clamp(0.0, 0.0, cell=odd, cells=1, duration=2.0, engine="numpy")
    assert said in str(error.value)


def test_currents_of_the_wrong_dimension_are_refused(current_clamp):
    odd = replace(
        BurstingCells(),
        variables=tuple(
            replace(v, unit="mV") if v.name == "I_d" else v for v in BurstingCells().variables
        ),
    )
    with pytest.raises(ValueError, match="units do not agree"):
        current_clamp(0.0, 0.0, cell=odd, cells=1, duration=2.0, engine="numpy")


@pytest.mark.slow
def test_noise_falls_with_the_number_of_cells():
    """Large populations: over noise of different seeds, the variance of what is read goes as
    one over cells.
    """
    X, Y = small_data()
    variances = []
    for cells in (25, 100, 400):
        made = Millivolts(population=cells, interneuron_population=cells)
        said = []
        for seed in range(4):
            run = Microcircuit(2, rates=RATES, cell=made, engine="cpp", seed=seed, **START).run(
                X,
                Y,
                epochs=2,
                order="sequential",
                plastic=False,
                record=("z", "plateau"),
                every=1,
                progress=False,
            )
            said.append([run.data["z"].values[40:], run.data["plateau"].values[40:]])
        variances.append(np.var(said, axis=0).mean(axis=(1, 2)))
    ratios = np.array(variances[:-1]) / variances[1:]
    assert (ratios > 2.5).all(), ratios
    assert (ratios < 6).all(), ratios


START = {
    "Vx0": np.random.default_rng(5).standard_normal((5, 2)) / 2,
    "Vy0": np.random.default_rng(6).standard_normal((3, 2)) / 2,
    "Q0": np.eye(2) / 2,
    "R0": np.eye(2) / 2,
}


@pytest.mark.slow
def test_digits_are_learned_and_without_calcium_they_are_not():
    data = load("digits").centred()
    ridge = 0.1 * float(np.square(data.X).mean())
    left = {}
    for name, cell in (
        ("whole", BurstingCells()),
        ("no calcium", with_values(BurstingCells(), g_d=0.0, g_s=0.0)),
    ):
        circuit = Microcircuit(2, ridge=ridge, cell=Millivolts(cell=cell), engine="cpp")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # three pixels never change
            try:
                run = circuit.run(data.X, data.Y, epochs=4, record=(), progress=False)
                left[name] = excess(run.Vx, data.X, data.Y, 0.0, ridge)
            except Diverged:  # without bursts nothing holds outputs back, and Q fades
                left[name] = 1.0
    assert left["whole"] < 0.1
    assert left["no calcium"] > 2 * left["whole"]


# -- the argument ----------------------------------------------------------------------------------


def test_cells_are_those_of_the_departure():
    assert Microcircuit(cell="algebraic").parts == Microcircuit().parts
    for cell in ("millivolts", Millivolts()):
        assert Microcircuit(cell=cell).parts == Microcircuit(departures=[Millivolts()]).parts


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"cell": "milivolts"},
            "cell: must be one of 'algebraic', 'millivolts'",
        ),
        (
            {"cell": "millivolts", "departures": [Leaky(hold=400)]},
            (
                r"departures: Millivolts\(\.\.\.\) does not go with Leaky\(\.\.\.\): both give the"
                r" clock; leave out one of them"
            ),
        ),
        (
            {"cell": "millivolts", "departures": [Spiking()]},
            (
                r"departures: Millivolts\(\.\.\.\) does not go with Spiking\(.*\): both give the"
                r" spikes; leave out one of them"
            ),
        ),
        (
            {"cell": "millivolts", "departures": [LoopDelay(1)]},
            (
                r"Millivolts\(\.\.\.\) does not go with LoopDelay\(samples=1, ticks=0\): inhibition"
                r" is carried by spikes"
            ),
        ),
        (
            {"cell": "millivolts", "feedback": 1.0},
            (
                r"Millivolts\(\.\.\.\) does not go with ApicalFeedback\(\.\.\.\): the gain of a"
                r" plateau at the soma is"
            ),
        ),
    ],
)
def test_what_does_not_go_together_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        Microcircuit(**arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"population": 0}, "Millivolts.population: must be a whole number, at least 1"),
        ({"hold": 0.7}, "Millivolts.hold: must be a whole number of ticks"),
        ({"latency": 200.0}, "Millivolts.latency: must be shorter than hold"),
    ],
)
def test_millivolts_says_what_is_wrong(arguments, said):
    with pytest.raises(ValueError, match=said):
        Millivolts(**arguments)


def test_the_shares_of_two_pathways_have_the_unit_of_what_they_drive():
    made = Microcircuit(2, cell=SMALL).blueprint(5, 3)
    more = [
        replace(made.parts[name], name=f"more_{name}")
        for name in ("soma_currents", "output_spikes")
    ]
    units = {
        array.key: array.variable.unit
        for array in replace(made, parts=made.parts.having(*more)).arrays
    }
    for name in ("soma_currents", "more_soma_currents"):
        assert units[f"bursting_cells.I_s_by_{name}"] == "pA"
    for name in ("output_spikes", "more_output_spikes"):
        assert units[f"pyramidal.event_sum_by_{name}"] == "1"
