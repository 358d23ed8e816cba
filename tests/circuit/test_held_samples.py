"""While a sample is held, what stands still is not computed again; the outcome is that of a loop
over all ticks.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from biorrr.circuit import Diverged, Microcircuit
from biorrr.circuit.compile import program as compiling
from biorrr.circuit.compile.blueprint import Blueprint
from biorrr.models import (
    AllOrNone,
    ApicalDrive,
    DalesLaw,
    Departure,
    DistalSynapses,
    Leaky,
    LoopDelay,
    ProximalSynapses,
    Rate,
    Rates,
    SparseConnections,
    Spiking,
    Step,
    TransmissionNoise,
    Variable,
)

EXACT = {"rtol": 0, "atol": 1e-12}
RATES = Rates(x=Rate(0.01, 900), y=Rate(0.02, 700), q=Rate(0.01, 1500), r=Rate(0.009, 1100))
DYNAMICS = Leaky(tau_soma=4, tau_dendrite=3, tau_interneuron=2, tau_plateau=5, hold=10, dt=1)
HELD, SAMPLES, M, N, L = 10, 30, 5, 4, 3
RULES = {
    "paper": {},
    # A sum of products, some factors held and some not.
    "oja": {
        "pathways": (replace(DistalSynapses(), change="eta_y * (y_pre * z_post - z_post**2 * w)"),)
    },
    # What moves is inside a function with what is held: nothing to take apart.
    "saturating": {
        "pathways": (
            replace(
                ProximalSynapses(),
                change="eta_x * tanh(3 * x_pre * plateau_post) - 0.01 * eta_x * w",
            ),
        )
    },
}


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((SAMPLES // 2, M)) * [2.0, 1.5, 1.0, 0.7, 0.5]
    Y = X @ rng.standard_normal((M, N)) * 0.4 + 0.3 * rng.standard_normal((SAMPLES // 2, N))
    return np.concatenate([X, -X]), np.concatenate([Y, -Y])


def weights(k):
    rng = np.random.default_rng(3)
    shapes = {"Vx": (M, k), "Vy": (N, k), "Q": (k, L), "R": (L, k)}
    return {
        name: 0.3 * rng.standard_normal(shape) + (name in "QR") * np.eye(*shape)
        for name, shape in shapes.items()
    }


def circuit(engine="numpy", k=2, s=0.3, rule="paper", **settings):
    start = {f"{name}0": matrix for name, matrix in weights(k).items()}
    given = {"rates": RATES, "seed": 4, **start, **RULES[rule], **settings}
    given["departures"] = (*given.get("departures", ()), DYNAMICS)
    return Microcircuit(k, s=s, interneurons=L, engine=engine, **given)


def loop(X, Y, k, s, rule):
    """The circuit as a plain loop over samples and all ticks of each; weights, and traces of every
    tick.
    """
    step = {
        cell: 1 - math.exp(-1 / tau) for cell, tau in (("z", 4), ("a", 3), ("n", 2), ("plateau", 5))
    }
    Vx, Vy, Q, R = weights(k).values()
    z, a, n, inhibition, plateau = (np.zeros(size) for size in (k, k, L, k, k))
    kept = {"z": [], "plateau": []}
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        eta = {path: getattr(RATES, path)(t) for path in "xyqr"}
        asked = {"Vx": 0.0, "Vy": 0.0, "Q": 0.0, "R": 0.0}
        for _ in range(HELD):
            z = z + step["z"] * (Vx.T @ x - z)
            a = a + step["a"] * (Vy.T @ y - a)
            n = n + step["n"] * (R @ z - n)
            inhibition = inhibition + step["a"] * (Q @ n - inhibition)
            plateau = plateau + step["plateau"] * (a - inhibition - plateau)
            taught = (
                np.outer(x, plateau)
                if rule != "saturating"
                else np.tanh(3 * np.outer(x, plateau)) - 0.01 * Vx
            )
            hebbian = (
                np.outer(y, z) - z**2 * Vy
                if rule == "oja"
                else np.outer(y, z - s * a) - (1 - s) * Vy
            )
            asked["Vx"] = asked["Vx"] + eta["x"] * taught / HELD
            asked["Vy"] = asked["Vy"] + eta["y"] * hebbian / HELD
            asked["Q"] = asked["Q"] + eta["q"] * (np.outer(z, n) - Q) / HELD
            asked["R"] = asked["R"] + eta["r"] * (np.outer(n, z) - R) / HELD
            for name, value in (("z", z), ("plateau", plateau)):
                kept[name].append(value)
        Vx, Vy, Q, R = (w + asked[name] for name, w in zip(asked, (Vx, Vy, Q, R), strict=True))
    traces = {
        name: np.reshape(values, (len(X), HELD, *values[0].shape)) for name, values in kept.items()
    }
    return {"Vx": Vx, "Vy": Vy, "Q": Q, "R": R}, traces


@pytest.mark.parametrize(
    ("k", "s", "rule", "engine"),
    [
        *((2, s, "paper", "numpy") for s in (0.0, 0.5, 1.0)),
        (2, 0.5, "paper", "cpp"),
        *((2, 0.3, rule, engine) for rule in ("oja", "saturating") for engine in ("numpy", "cpp")),
        *(
            pytest.param(k, s, "paper", engine, marks=pytest.mark.slow)
            for k in (1, 2, 3)
            for s in (0.0, 0.5, 1.0)
            for engine in ("numpy", "cpp")
        ),
    ],
)
def test_the_circuit_is_a_loop_over_all_ticks(k, s, rule, engine, views):
    matrices, traces = loop(*views, k, s, rule)
    made = circuit(engine, k, s, rule)
    run = made.run(*views, order="sequential", record=("z", "plateau"), every=7, progress=False)
    for name, expected in matrices.items():
        np.testing.assert_allclose(getattr(run, name), expected, **EXACT, err_msg=name)
        assert np.abs(expected - weights(k)[name]).max() > 1e-3
    for name, expected in traces.items():
        np.testing.assert_allclose(run.data[name], expected[::7], **EXACT, err_msg=name)


def evaluations(made: Blueprint, pathway: str) -> int:
    """How often a sample evaluates something for every synapse of ``pathway``."""
    often = {"onset": 1, "tick": HELD, "end": 1}
    return sum(
        often[name] * sum(operation.part == pathway for operation in block)
        for name, block in made.program.sample.items()
    )


@pytest.fixture
def all_the_work(monkeypatch):
    """Return a function after which circuits do everything in every tick."""
    return lambda: monkeypatch.setattr(
        compiling, "_done_once", lambda *given: (frozenset(), frozenset())
    )


@pytest.mark.parametrize(
    ("rule", "pathway", "expected"),
    [
        ("paper", "proximal", 2),  # a current and a change
        ("paper", "distal", 2),
        ("oja", "distal", 2),
        ("saturating", "proximal", HELD + 3),  # every synapse keeps a sum of its own
        ("paper", "inhibitory", 2 * HELD + 2),  # both cells move
    ],
)
def test_synapses_are_evaluated_once_where_they_can(rule, pathway, expected, all_the_work):
    assert evaluations(circuit(rule=rule).blueprint(M, N), pathway) == expected
    all_the_work()
    assert evaluations(circuit(rule=rule).blueprint(M, N), pathway) == 2 * HELD + 2


def test_a_sample_of_an_instant_circuit_is_one_tick():
    program = Microcircuit(2, rates=RATES).blueprint(M, N).program
    assert program.sample["onset"] == program.replay["onset"] == ()
    changes = [f"{name}_change" for name in ("proximal", "distal", "inhibitory", "recruitment")]
    assert [operation.name for operation in program.sample["end"]] == changes
    assert not any("sum" in key for one in program.operations for key in one.writes)


def test_the_range_of_eigenvalues_is_found_once():
    program = Microcircuit(2, rates=RATES, feedback=0.5).blueprint(M, N).program
    for blocks in (program.sample, program.replay):
        found = [
            name for name, b in blocks.items() for one in b if "settling.breadth" in one.writes
        ]
        assert found == ["onset"]


def test_signals_in_time_drive_currents_in_every_tick():
    made = circuit()
    for moving, block in ((frozenset(), "onset"), (frozenset({"x"}), "tick")):
        program = made.blueprint_for({"x": M, "y": N}, moving).program
        found = {one.name: name for name, b in program.sample.items() for one in b}
        assert found["proximal_z"] == block
        assert found["distal_a"] == "onset"


@dataclass(frozen=True)
class AtOnset(Departure):
    """A step of pyramidal cells when a sample comes on."""

    code: str
    alters = ("pyramidal",)

    def alter_part(self, cells):
        return cells.adding(
            Variable("kept", "something", role="memory"), Step("output", self.code, block="onset")
        )


def test_a_step_in_a_wrong_block_is_refused():
    with pytest.raises(
        ValueError,
        match=r"^pyramidal: reads plateau of pyramidal in block 'onset', but it is computed only in"
        r" block 'tick'; move one of them, or declare plateau as memory",
    ):
        circuit(departures=[AtOnset("kept = plateau")])
    with pytest.raises(
        ValueError,
        match=r"^pyramidal: reads elapsed in block 'onset', but it changes in every tick; move the",
    ):
        circuit(departures=[AtOnset("kept = elapsed")])


@dataclass(frozen=True)
class SpikingFibres(Departure):
    """Input fibres that speak in some ticks only."""

    alters = ("sensory",)

    def alter_part(self, fibres):
        return fibres.adding(
            Step("input", "x = 2 * x * int(uniform_draw(seed, 1000, moment, i) < 0.5)")
        )


@dataclass(frozen=True)
class Restless(Departure):
    """Synapses that remember, some in every tick and some at the end of each sample."""

    alters = ("proximal",)

    def alter_part(self, proximal):
        return proximal.adding(
            Variable("largest", "largest product so far", "synapse", "memory"),
            Variable("last", "product at the end of the last sample", "synapse", "memory"),
            Step("plasticity", "largest = clip(largest, abs(x_pre * plateau_post), inf)"),
            Step("plasticity", "last = x_pre * plateau_post", block="end"),
        )


RESTLESS = {
    "replay": {"ridge": 0.1, "replay": 2},
    "auto": {"rates": "auto", "ridge": 0.1, "replay": 2},
    "spiking fibres": {"departures": (SpikingFibres(),)},
    "synapses that remember": {"departures": (Restless(),), "ridge": 0.1, "replay": 2},
    "everything": {
        "departures": (
            SparseConnections(0.8, 0.7),
            TransmissionNoise(0.2),
            LoopDelay(2),
            Spiking(10, baseline=3),
            AllOrNone(0.3),
            ApicalDrive(0.2),
            DalesLaw(("Vx", "Vy", "Q", "R")),
        ),
    },
}


@pytest.mark.parametrize("name", list(RESTLESS))
def test_less_work_gives_what_all_the_work_gives(name, views, all_the_work):
    def learn():
        made = circuit(**RESTLESS[name])
        record = (
            "z",
            "plateau",
            *(["largest", "last"] if name == "synapses that remember" else []),
        )
        return made.run(*views, order="sequential", record=record, every=3, progress=False).data

    found = learn()
    all_the_work()
    for variable, values in learn().items():
        np.testing.assert_allclose(found[variable], values, **EXACT, err_msg=variable)


def test_what_moves_is_computed_in_every_tick():
    made = circuit(departures=(SpikingFibres(),)).blueprint(M, N)
    assert evaluations(made, "proximal") == 2 * HELD + 2
    assert evaluations(made, "distal") == 2


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_a_step_at_the_end_of_a_sample_happens_in_its_last_tick(engine, views):
    run = circuit(engine, departures=(Restless(),), ridge=0.1, replay=2).run(
        *views, order="sequential", record=("last", "plateau"), every=1, progress=False
    )
    last, plateau = run.data["last"].values, run.data["plateau"].values
    expected = views[0][:, :, None] * plateau[:, -1, None, :]
    np.testing.assert_allclose(last[:, -1], expected, **EXACT)
    np.testing.assert_array_equal(
        last[1:, :-1], np.broadcast_to(last[:-1, -1:], last[1:, :-1].shape)
    )


def test_a_run_after_one_that_diverged_begins_anew(views):
    made = circuit()
    before = made.run(*views, progress=False)
    with pytest.raises(Diverged):
        made.run(
            *views,
            weights={name: 1e200 * before.weights[name] for name in ("Q", "R")},
            progress=False,
        )
    np.testing.assert_array_equal(made.run(*views, progress=False).Vx, before.Vx)
