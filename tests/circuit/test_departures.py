"""Departures from the paper's circuit: each has the paper's as its limit, and all engines draw the
same chance.
"""

import math

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.models import (
    AllOrNone,
    ApicalDrive,
    DalesLaw,
    DistalSynapses,
    Interneurons,
    InterneuronToPyramidal,
    Leaky,
    LoopDelay,
    ProximalSynapses,
    PyramidalNeurons,
    PyramidalToInterneuron,
    Rate,
    Rates,
    Rectified,
    Sign,
    SparseConnections,
    Spiking,
    Stream,
    TransmissionNoise,
    gaussian_draw,
    poisson_draw,
)

WEIGHTS = ("Vx", "Vy", "Q", "R")
EXACT = {"rtol": 0, "atol": 1e-12}
FEW = 200  # samples

EVERYTHING = (
    SparseConnections(0.8, 0.7),
    TransmissionNoise(0.2),
    LoopDelay(2),
    Spiking(10, baseline=3),
    AllOrNone(0.3),
    ApicalDrive(0.2),
    DalesLaw(("Vx", "Vy", "Q", "R")),
)


def distance(one, other):
    return max(np.abs(getattr(one, name) - getattr(other, name)).max() for name in WEIGHTS)


@pytest.fixture(scope="module")
def few(data):
    return data[0][:FEW], data[1][:FEW]


@pytest.fixture(scope="module")
def learn(few, make_circuit):
    """The outcome of a short run with these departures, in the order of the data."""

    def run(*departures, engine="numpy", samples=FEW, record=(), every=1, **settings):
        X, Y = few
        circuit = make_circuit(
            engine, s=0.3, ridge=0.1, replay=2, seed=5, departures=departures, **settings
        )
        return circuit.run(
            X, Y, order=np.arange(samples), record=record, every=every, progress=False
        )

    return run


@pytest.fixture(scope="module")
def plain(learn):
    return learn()


def test_departures_are_off_by_default():
    plain = Microcircuit(2, rates=Rates(Rate(1), Rate(1), Rate(1))).parts
    assert plain.pathways == (
        ProximalSynapses(),
        DistalSynapses(),
        InterneuronToPyramidal(),
        PyramidalToInterneuron(),
    )
    assert plain["pyramidal"] == PyramidalNeurons(2)
    assert plain["interneurons"] == Interneurons(2)
    assert Microcircuit(2).regression.all_departures == ()


@pytest.mark.parametrize(
    "limit",
    [
        Rectified(1e6),
        ApicalDrive(1e-300),
        TransmissionNoise(1e-300),
        SparseConnections(math.nextafter(1, 0), math.nextafter(1, 0)),
        Leaky(0, 0, 0, 0, hold=10, dt=2),
    ],
    ids=lambda limit: type(limit).__name__,
)
def test_limits_that_are_the_plain_circuit_exactly(limit, learn, plain):
    run = learn(limit)
    assert run.data.attrs["departures"]
    assert distance(run, plain) < 1e-12


@pytest.mark.slow
def test_small_plateaus_come_near_graded_ones_like_the_root_of_their_size(learn):
    """A Poisson number of plateaus of size A scatters around its drive d with variance A |d|."""
    sizes = np.array([1e-1, 1e-4, 1e-8])
    errors = []
    for size in sizes:
        run = learn(AllOrNone(size), record=("a", "inhibition", "plateau"))
        drive = (run.data["a"] - run.data["inhibition"]).values
        scatter = (run.data["plateau"].values - drive) ** 2 / (size * np.abs(drive))
        # The fourth moment of a Poisson number gives the scatter's own variance, 2 + A/|d|.
        assert scatter.mean() == pytest.approx(
            1, abs=4 * math.sqrt((2 + size / np.abs(drive)).mean() / scatter.size)
        )
        errors.append(distance(run, learn()))
    order = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert order == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow
def test_large_populations_come_near_analog_cells_like_the_root_of_their_size(learn):
    # So high a baseline that no activity is cut off.
    sizes = np.array([10**2, 10**4, 10**6])
    errors = [
        distance(learn(Spiking(int(size), 30), samples=60), learn(samples=60)) for size in sizes
    ]
    order = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert order == pytest.approx(-0.5, abs=0.12)


def test_leaky_dynamics_come_near_instant_ones_at_first_order(learn):
    taus = (1.0, 0.25)
    errors = [
        distance(
            learn(Leaky(tau, tau, tau, tau, hold=40, dt=tau / 2), samples=15), learn(samples=15)
        )
        for tau in taus
    ]
    order = np.log(errors[0] / errors[1]) / np.log(taus[0] / taus[1])
    assert order == pytest.approx(1, abs=0.12)


@pytest.mark.parametrize("amplitude", [0.2, 3.0])
@pytest.mark.slow
def test_all_or_none_plateaus_teach_the_graded_change_on_average(amplitude, few, make_circuit):
    """One sample over and over, with rates too small for weights to move."""
    X, Y = few
    still = {"rates": Rates(x=Rate(1e-9), y=Rate(0), q=Rate(0)), "s": 0.3}
    shown = np.zeros(3000, int)
    graded = make_circuit("numpy", **still).run(
        X, Y, order=shown[:1], record="plateau", progress=False
    )
    circuit = make_circuit("numpy", **still, departures=(AllOrNone(amplitude),))
    run = circuit.run(X, Y, order=shown, record="plateau", every=1, progress=False)
    plateau = run.data["plateau"].values
    assert set(np.unique(np.abs(np.round(plateau / amplitude, 9)) % 1)) == {0}
    change = (run.Vx - circuit.regression.initial["Vx"]) / (1e-9 * len(shown))
    expected = np.outer(X[0], graded.data["plateau"].values[0])
    error = np.abs(np.outer(X[0], plateau.std(axis=0))) / math.sqrt(len(shown))
    assert (plateau.std(axis=0) > 0).all()
    assert (np.abs(change - expected) < 4 * error + 1e-6).all()


def test_sign_and_rectified_plateaus(learn):
    drive = learn(Sign(0.5), record=("a", "inhibition", "plateau")).data
    np.testing.assert_array_equal(drive["plateau"], 0.5 * np.sign(drive["a"] - drive["inhibition"]))
    drive = learn(Rectified(0.1), record=("a", "inhibition", "plateau")).data
    np.testing.assert_array_equal(
        drive["plateau"], np.maximum(drive["a"] - drive["inhibition"], -0.1)
    )


def test_everything_at_once_is_what_a_plain_loop_computes(few, make_circuit):
    """The departures that act at once, all together, against their definition in NumPy (no
    replay)."""
    X, Y = few
    circuit = make_circuit("numpy", s=0.3, seed=5, departures=EVERYTHING)
    run = circuit.run(
        X, Y, order="sequential", record=("z", "n", "plateau", "spikes"), every=1, progress=False
    )
    start = circuit.run(X, Y, order="sequential", snapshots=1, record=(), progress=False).data.isel(
        snapshot=0
    )
    Vx, Vy, Q, R = (start[name].values for name in WEIGHTS)
    exists = {name: start[name].values != 0 for name in ("Vx", "Vy")}
    polarity = {
        name: np.sign(start[name].values.sum(axis=1, keepdims=True)) for name in ("Vx", "Vy")
    }
    sigma, past = 0.2, [np.zeros(3)] * 2

    def transmitted(w, x, stream):
        cells = np.arange(w.shape[1])
        return w.T @ x + sigma * np.sqrt((w.T**2) @ x**2) * gaussian_draw(5, stream, t, cells)

    def spiked(v, unit, stream):
        mean = 10 * np.maximum(3 + v / unit, 0)
        counts = poisson_draw(mean, 5, stream, t, np.arange(len(v)))
        return unit * (counts / 10 - 3), counts

    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        eta = {path: getattr(circuit.rates, path)(t) for path in "xyqr"}
        z, spikes = spiked(transmitted(Vx, x, Stream.PROXIMAL), 1, Stream.OUTPUT)
        a = transmitted(Vy, y, Stream.DISTAL)
        past.append(transmitted(R.T, z, Stream.RECRUITMENT))
        n, _ = spiked(past.pop(0), np.linalg.norm(R, axis=1), Stream.INTERNEURON)
        drive = a - transmitted(Q.T, n, Stream.INHIBITORY)
        plateaus = poisson_draw(np.abs(drive) / 0.3, 5, Stream.PLATEAU, t, np.arange(2))
        plateau = 0.3 * np.sign(drive) * plateaus
        z = z + 0.2 * plateau
        for name, value in (("z", z), ("n", n), ("plateau", plateau), ("spikes", spikes)):
            np.testing.assert_allclose(
                run.data[name].values[t], value, **EXACT, err_msg=f"{name} of sample {t}"
            )
        Vx = Vx + exists["Vx"] * eta["x"] * np.outer(x, plateau)
        Vy = Vy + exists["Vy"] * eta["y"] * (np.outer(y, z - 0.3 * a) - 0.7 * Vy)
        Q = np.maximum(Q + eta["q"] * (np.outer(z, n) - Q), 0)
        R = np.maximum(R + eta["r"] * (np.outer(n, z) - R), 0)
        Vx = polarity["Vx"] * np.maximum(polarity["Vx"] * Vx, 0)
        Vy = polarity["Vy"] * np.maximum(polarity["Vy"] * Vy, 0)
    for name, value in zip(WEIGHTS, (Vx, Vy, Q, R), strict=True):
        np.testing.assert_allclose(getattr(run, name), value, **EXACT, err_msg=name)


def test_engines_agree_on_everything_at_once(learn, monkeypatch):
    """Chance included, and for C++ across segments of the run: what cells remember is handed on."""
    monkeypatch.setattr("biorrr.circuit.simulation.simulate._FIRST_SEGMENT", 7)
    told = {"samples": 60, "every": 9, "rates": "auto"}
    recorded = ("z", "n", "plateau", "spikes", "interneuron_spikes")
    reference, run = (
        learn(*EVERYTHING, Leaky(hold=20, dt=4), engine=e, record=recorded, **told)
        for e in ("numpy", "cpp")
    )
    for name in (*WEIGHTS, *recorded):
        np.testing.assert_allclose(
            run.data[name], reference.data[name], rtol=0, atol=1e-11, err_msg=name
        )
    assert run.data["plateau"].dims == ("sample", "time", "pyramidal")
    assert run.data["time"].values.tolist() == [4, 8, 12, 16, 20]


def test_a_run_in_two_parts_is_the_run(few, make_circuit):
    circuit = make_circuit("numpy", s=0.3, seed=5, departures=(*EVERYTHING, Leaky(hold=8, dt=2)))
    X, Y = few[0][:30], few[1][:30]
    options = {"final": False, "progress": False}
    whole = circuit.run(X, Y, epochs=2, **options)
    parts = circuit.run(X, Y, start=circuit.run(X, Y, **options), **options)
    assert distance(whole, parts) < 1e-12


def test_sparse_connections_and_signs_hold_to_the_end(learn):
    run = learn(SparseConnections(0.5, 0.5), DalesLaw(("Vx", "Q", "R")))
    first = run.data.isel(snapshot=0)
    for name in ("Vx", "Vy"):
        absent = first[name].values == 0
        assert 0 < absent.mean() < 1
        assert (getattr(run, name)[absent] == 0).all()
    for name in ("Vx", "Q", "R"):
        assert (getattr(run, name) * first[name].values >= 0).all()
    assert (run.Q >= 0).all()
    assert (run.R >= 0).all()


def test_rules_stay_local():
    everything = Microcircuit(2, departures=(*EVERYTHING, Leaky()))
    assert all(rule.local for rule in everything.locality())


def test_only_what_a_circuit_has_can_be_recorded(learn):
    with pytest.raises(ValueError, match="record: cannot record 'spikes'; choose from x, y, z, a"):
        learn(record="spikes")
