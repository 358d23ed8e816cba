"""Parts that a user brings: each equals a NumPy loop on every engine, is killed and resumed,
pickled and shown.
"""

import ast
import importlib.util
import inspect
import math
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.models import (
    Pathway,
    Population,
    Rate,
    Rates,
    SparseConnections,
    Stream,
    Variable,
    poisson_draw,
)

HERE = Path(__file__).parent
EXACT = {"rtol": 0, "atol": 1e-12}
RATES = Rates(x=Rate(0.01, 900), y=Rate(0.02, 700), q=Rate(0.01, 1500), r=Rate(0.009, 1100))
NAMES = ("oja", "saturating", "tiring", "depressing", "basket", "combined")
FEW = 80


@pytest.fixture(scope="session")
def own(tmp_path_factory):
    """Yield the user's package, imported from a folder of the user's."""
    folder = tmp_path_factory.mktemp("somebody")
    shutil.copy(HERE / "own_parts.py", folder)
    spec = importlib.util.spec_from_file_location("own_parts", folder / "own_parts.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_parts"] = module  # pickles find their classes by it
    spec.loader.exec_module(module)
    yield module
    del sys.modules["own_parts"]


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((FEW // 2, 5)) * [2.0, 1.5, 1.0, 0.7, 0.5]
    Y = X @ rng.standard_normal((5, 3)) * 0.4 + 0.3 * rng.standard_normal((FEW // 2, 3))
    return tuple(
        np.concatenate([half, -half])[np.random.default_rng(2).permutation(FEW)] for half in (X, Y)
    )


def weights():
    rng = np.random.default_rng(3)
    return {
        "Vx": 0.3 * rng.standard_normal((5, 2)),
        "Vy": 0.3 * rng.standard_normal((3, 2)),
        "Q": np.eye(2, 3) + 0.2 * rng.standard_normal((2, 3)),
        "R": np.eye(3, 2) + 0.2 * rng.standard_normal((3, 2)),
        "B": 0.3 * rng.standard_normal((2, 2)),
        "S": 0.3 * rng.standard_normal((2, 2)),
    }


def settings(engine):
    start = {f"{name}0": matrix for name, matrix in weights().items() if name not in "BS"}
    return {
        "k": 2,
        "s": 0.3,
        "interneurons": 3,
        "rates": RATES,
        "engine": engine,
        "seed": 4,
        **start,
    }


def learn(circuit, data, **options):
    named = {pathway.weight for pathway in circuit.parts.pathways}
    given = {name: matrix for name, matrix in weights().items() if name in "BS" and name in named}
    return circuit.run(*data, order="sequential", every=1, weights=given, progress=False, **options)


def recorded(name):
    more = {"tiring": ("fatigue",), "depressing": ("resource",), "basket": ("b",)}
    more["combined"] = ("fatigue", "resource", "b", "spikes")
    return ("z", "n", "plateau", *more.get(name, ()))


def loop(name, data):
    """Return what a circuit called ``name`` computes, as a plain loop over samples and the ticks of
    each.
    """
    has = NAMES.__contains__ if name == "combined" else name.__eq__
    spiking = leaky = name == "combined"
    held, dt = (4, 2.0) if leaky else (1, math.inf)
    step = {
        cell: 1 - math.exp(-dt / tau)
        for cell, tau in (("z", 4), ("a", 3), ("n", 2), ("plateau", 5), ("filter", 20))
    }
    Vx, Vy, Q, R, B, S = weights().values()
    resource, fatigue = np.ones((5, 2)), np.zeros(2)
    past = {
        cell: 0.0
        for cell in ("z", "a", "n", "inhibition", "plateau", "spikes", "interneuron_spikes")
    }
    kept = {}

    def relaxed(cell, value, rate):
        past[cell] = past[cell] + rate * (value - past[cell]) if leaky else value
        return past[cell]

    def spiked(cell, value, unit, stream, moment):
        mean = 20 / held * np.maximum(3 + value / unit, 0)
        counts = poisson_draw(mean, 4, stream, moment, np.arange(len(value)))
        return counts, relaxed(cell, unit * (counts / (20 / held) - 3), step["filter"])

    for t, (x, y) in enumerate(zip(*data, strict=True)):
        asked = {matrix: 0.0 for matrix in ("Vx", "Vy", "Q", "R", "B")}
        eta = {path: getattr(RATES, path)(t) for path in "xyqr"}
        for tick in range(held):
            z = x @ (Vx * resource) if has("depressing") else x @ Vx
            z, a = relaxed("z", z, step["z"]), relaxed("a", y @ Vy, step["a"])
            # Steps of one phase follow one another as they were added: spikes first, then
            # departures that are given.
            if spiking:
                spikes, z = spiked("spikes", z, 1.0, Stream.OUTPUT, t * held + tick)
            if has("saturating"):
                z = 1.5 * np.tanh(z / 1.5)
            n, b = R @ z, z @ B
            n = relaxed("n", n, step["n"])
            if spiking:
                unit = np.linalg.norm(R, axis=1)
                n = spiked("interneuron_spikes", n, unit, Stream.INTERNEURON, t * held + tick)[1]
            inhibition = Q @ n + b @ S if has("basket") else Q @ n
            inhibition = relaxed("inhibition", inhibition, step["a"])
            plateau = a - inhibition
            if has("tiring"):
                plateau = np.sign(plateau) * np.maximum(np.abs(plateau) - 0.05 - fatigue, 0)
                fatigue = fatigue + 0.1 * np.abs(plateau) - 0.3 * fatigue
            plateau = relaxed("plateau", plateau, step["plateau"])
            asked["Vx"] += eta["x"] * np.outer(x, plateau) / held
            if name == "oja":
                asked["Vy"] += eta["y"] * (np.outer(y, z) - z**2 * Vy) / held
            else:
                asked["Vy"] += eta["y"] * (np.outer(y, z - 0.3 * a) - 0.7 * Vy) / held
            asked["Q"] += eta["q"] * (np.outer(z, n) - Q) / held
            asked["R"] += eta["r"] * (np.outer(n, z) - R) / held
            asked["B"] += eta["q"] * (np.outer(z, b) - B) / held
            if tick == held - 1:
                Vx, Vy, Q, R = (
                    w + asked[m] for w, m in ((Vx, "Vx"), (Vy, "Vy"), (Q, "Q"), (R, "R"))
                )
                B = B + asked["B"]
            resource = (
                resource + 0.1 * (1 - resource) - 0.2 * resource * np.minimum(np.abs(x), 1)[:, None]
            )
            seen = {
                "z": z,
                "n": n,
                "plateau": plateau,
                "fatigue": fatigue,
                "resource": resource,
                "b": b,
            }
            if spiking:
                seen["spikes"] = spikes
            for trace, value in seen.items():
                kept.setdefault(trace, []).append(value)
    matrices = {"Vx": Vx, "Vy": Vy, "Q": Q, "R": R, "B": B}
    return matrices, {
        trace: np.array(rows).reshape(FEW, *([held] if leaky else []), *rows[0].shape)
        for trace, rows in kept.items()
    }


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_one_s_own_equals_a_plain_loop(name, engine, own, data):
    matrices, traces = loop(name, data)
    run = learn(own.CIRCUITS[name](**settings(engine)), data, record=recorded(name))
    for matrix, expected in matrices.items():
        if matrix in run.weights:
            np.testing.assert_allclose(run.weights[matrix], expected, **EXACT, err_msg=matrix)
    for trace in recorded(name):
        np.testing.assert_allclose(run.data[trace], traces[trace], **EXACT, err_msg=trace)


@pytest.mark.parametrize("size", [5.0, 1e-6])
def test_parts_that_say_nothing_of_units_may_have_rates_fitted_to_the_data(size, own, data):
    """Every activity of a sample is what the recorded weights make of that sample, in the data's
    units.
    """
    X, Y, S = data[0], size * data[1], 0.1 * size**2 * weights()["S"]
    watching = Pathway(
        "watch",
        "instructive",
        "watcher",
        drives="v",
        current="y_pre",
        phase="drive",
        weighted=False,
    )
    basket = own.basket(k=2, engine="numpy")
    circuit = replace(
        basket,
        populations=[*basket.populations, Population(1, "watcher", [Variable("v", "sum of y")])],
        pathways=[*basket.pathways, watching],
    )
    seen = ("z", "n", "b", "v", "inhibition")
    watched = {"record": seen, "every": 1, "snapshots": range(FEW), "progress": False}
    run = circuit.run(X, Y, order="sequential", weights={"S": S}, **watched)
    before = {name: run.data[name].values[:FEW] for name in ("Vx", "B", "Q")}
    seen = {name: run.data[name].values for name in seen}
    exact = {"rtol": 1e-12, "atol": 1e-300}
    np.testing.assert_allclose(seen["v"][:, 0], Y.sum(axis=1), **exact)
    np.testing.assert_allclose(seen["z"], np.einsum("ti,tik->tk", X, before["Vx"]), **exact)
    np.testing.assert_allclose(seen["b"], np.einsum("tk,tkb->tb", seen["z"], before["B"]), **exact)
    inhibition = np.einsum("tkl,tl->tk", before["Q"], seen["n"])
    inhibition += seen["b"] @ S
    atol = 1e-12 * abs(inhibition).max()
    np.testing.assert_allclose(seen["inhibition"], inhibition, rtol=0, atol=atol)


@pytest.mark.filterwarnings("ignore:.*mean is large")
@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_the_weight_dependent_rule_of_the_page_equals_a_plain_loop(engine, data):
    """The block of docs/parts.md, with inputs and instruction that are not negative."""
    page = (HERE.parents[1] / "docs" / "parts.md").read_text()
    (block,) = re.findall(r"```python\n([^`]*?^weight_dependent = .*?)```", page, re.M | re.S)
    shown = {}
    exec(block, shown)
    circuit = replace(shown["weight_dependent"], **settings(engine) | {"interneurons": None})
    X, Y = (np.abs(views) for views in data)
    start = {name: np.abs(matrix) for name, matrix in weights().items()}
    weak = 0.1 * np.eye(2)  # inhibition, so that plateaus are positive
    circuit = replace(circuit, Vx0=start["Vx"], Vy0=start["Vy"], Q0=weak, R0=weak)
    run = circuit.run(X, Y, order="sequential", every=1, record=("plateau",), progress=False)
    assert run.data["plateau"].sizes["time"] == 10
    w, e, p = np.clip(start["Vx"], 0, 1), np.zeros(5), np.zeros(2)
    for t, (x, plateaus) in enumerate(zip(X, run.data["plateau"].values, strict=True)):
        change = 0.0
        for plateau in plateaus:
            e = e + (1 - math.exp(-0.01 / 1.66)) * (x - e)
            p = p + (1 - math.exp(-0.01 / 0.44)) * (plateau - p)
            overlap = np.clip(np.outer(e, p), 0, 1)
            change = change + RATES.x(t) * overlap * (overlap * (1 - w) - 0.1 * w) / len(plateaus)
        w = np.clip(w + change, 0, 1)
    assert np.abs(w - start["Vx"]).max() > 1e-3
    np.testing.assert_allclose(run.Vx, w, **EXACT)


@pytest.mark.parametrize("sparse_first", [True, False])
def test_depressing_synapses_may_be_sparse(sparse_first, own, data):
    departures = [SparseConnections(0.5, 0.5), own.Depressing()]
    circuit = Microcircuit(2, engine="numpy", departures=departures[:: 1 if sparse_first else -1])
    run = circuit.run(*data, record=("resource",), every=1, progress=False)
    assert (run.Vx == 0).any()
    assert (run.data["resource"].values < 1).any()


@pytest.mark.parametrize("name", NAMES)
def test_each_takes_at_most_ten_statements(name, own):
    classes = {"saturating": own.Saturating, "tiring": own.Tiring, "depressing": own.Depressing}
    part = classes.get(name, own.CIRCUITS[name])
    tree = ast.parse(inspect.getsource(part))
    assert sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) <= 10


@pytest.mark.parametrize("name", NAMES)
def test_it_pickles_before_and_after_a_run(name, own, data):
    circuit = own.CIRCUITS[name](**settings("numpy"))
    twin = pickle.loads(pickle.dumps(circuit))
    assert twin.parts == circuit.parts
    assert pickle.loads(pickle.dumps(circuit.blueprint(5, 3))) == circuit.blueprint(5, 3)
    run = learn(circuit, data, record=())
    again = learn(pickle.loads(pickle.dumps(circuit)), data, record=())
    for matrix, values in run.weights.items():
        np.testing.assert_array_equal(values, again.weights[matrix])


@pytest.mark.parametrize("name", NAMES)
def test_it_is_shown_with_the_rest(name, own):
    circuit = own.CIRCUITS[name](**settings("numpy"))
    text, graph, verdicts = circuit.describe(5, 3), circuit.wiring(5, 3), circuit.locality()
    assert all(verdict.local for verdict in verdicts)
    said = {
        "oja": "w += eta_y * (y_pre * z_post - z_post**2 * w)",
        "saturating": "z = limit * tanh(z / limit)",
        "tiring": "fatigue                  # what earlier plateaus have left (per cell, memory)",
        "depressing": "z += resource * (w * x_pre)  # summed over synapses",
        "basket": "inhibition = inhibition_by_inhibitory + inhibition_by_basket_shunt",
        "combined": "resource += refill * (1 - resource) - use * resource * clip(abs(x_pre), 0, 1)",
    }
    assert said[name] in text
    assert ("basket" in graph) == (name in ("basket", "combined"))
    if name == "depressing":
        (proximal,) = (verdict for verdict in verdicts if verdict.pathway == "proximal")
        assert "resource" in proximal.own
    if name in ("basket", "combined"):
        assert graph.edges["pyramidal", "basket", "basket_drive"]["matrix"] == "B"
        assert str(verdicts[-1]) == "basket_shunt: does not learn"
        assert "2 basket" in repr(circuit)
    assert ("own " in repr(circuit)) == (name in ("oja", "basket", "combined"))


KILLED = """
import os, signal, sys
sys.path[:0] = {paths!r}
import test_own_parts as t, own_parts
from biorrr.circuit import Checkpoint
def end(sample, weights):
    if sample >= 50:
        os.kill(os.getpid(), signal.SIGKILL)
data = t.data.__wrapped__()
circuit = own_parts.CIRCUITS[{name!r}](**t.settings("numpy"))
t.learn(circuit, data, record=t.recorded({name!r}), callback=end,
        checkpoint=Checkpoint({path!r}, every=0))
"""


# One with a memory per synapse and the one that has everything without being asked for; the others
# are slow ones.
@pytest.mark.parametrize(
    "name",
    [name if name == "combined" else pytest.param(name, marks=pytest.mark.slow) for name in NAMES],
)
def test_it_is_killed_and_resumed_bit_for_bit(name, own, data, tmp_path):
    path = str(tmp_path / "c.npz")
    script = KILLED.format(paths=[str(HERE), os.path.dirname(own.__file__)], name=name, path=path)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    circuit = own.CIRCUITS[name](**settings("numpy"))
    straight = learn(circuit, data, record=recorded(name))
    resumed = learn(circuit, data, record=recorded(name), checkpoint=path)
    for variable in straight.data.variables:
        np.testing.assert_array_equal(
            resumed.data[variable], straight.data[variable], err_msg=variable
        )


def test_a_run_in_two_parts_is_the_run(own, data):
    """Memories of cells and synapses go on, bit for bit, under rates "auto" too."""
    given = settings("numpy") | {"rates": "auto", "ridge": 0.1, "replay": 2}
    circuit = own.combined(**given)
    X, Y = data[0][:40], data[1][:40]
    options = {"centre": True, "final": False, "progress": False}
    whole = circuit.run(X, Y, epochs=2, **options)
    parts = circuit.run(X, Y, start=circuit.run(X, Y, **options), **options)
    for matrix, values in whole.weights.items():
        np.testing.assert_array_equal(parts.weights[matrix], values, err_msg=matrix)


def test_the_output_of_an_altered_circuit_is_the_circuit_s(own, data):
    X, Y = data
    circuit = Microcircuit(departures=[own.Saturating(0.4)], **settings("numpy"))
    run = circuit.run(X, Y, progress=False)
    np.testing.assert_allclose(run.transform(X), 0.4 * np.tanh(X @ run.Vx / 0.4), rtol=1e-12)
    np.testing.assert_allclose(
        run.predict(X), run.transform(X) @ run.data["readout"].values.T, rtol=1e-12
    )
    run.circuit = None  # as it is after Run.load
    with pytest.raises(
        ValueError,
        match=r"transform: the output of this circuit is not X Vx \(Saturating\(limit=0.4\)\)",
    ):
        run.transform(X)
