"""Circuits of any parts: two areas with named ports, equal to a plain loop, saved, continued and
looked at.
"""

import pickle

import numpy as np
import pytest

from biorrr.circuit import Circuit, Diverged, Run
from biorrr.models import Pathway, Population, Step, Variable

ETA = 0.01


def two_areas(engine="numpy", rate=ETA, **settings):
    """Retina to V1 to V2, where what V2 hears from elsewhere teaches the synapses from V1."""
    rate = Variable("rate", "of plasticity", per="pathway", role="parameter", value=rate)
    populations = [
        Population(name="retina", variables=[Variable("light", "light", role="input")]),
        Population(name="elsewhere", variables=[Variable("truth", "what it is", role="input")]),
        Population(
            3,
            "V1",
            [Variable("u", "output"), Variable("past", "output before", role="memory")],
            [Step("output", "past = 0.5 * past + 0.5 * u", replays=True)],
        ),
        Population(2, "V2", [Variable("v", "output"), Variable("told", "teaching")]),
    ]
    pathways = [
        Pathway(
            "first",
            "retina",
            "V1",
            "u",
            "w * light_pre",
            "drive",
            "rate * u_post * (light_pre - u_post * w)",
            variables=[rate],
            weight="A",
        ),
        Pathway(
            "second",
            "V1",
            "V2",
            "v",
            "w * u_pre",
            "recruitment",
            "rate * past_pre * (told_post - v_post)",
            variables=[rate],
            weight="B",
            target_by_source=True,
        ),
        Pathway("teaching", "elsewhere", "V2", "told", "w * truth_pre", "drive", weight="C"),
    ]
    inputs = {"image": "retina.light", "label": "elsewhere.truth"}
    return Circuit(populations, pathways, inputs, engine=engine, **settings)


@pytest.fixture(scope="module")
def inputs():
    rng = np.random.default_rng(0)
    image = rng.standard_normal((100, 5))
    label = image @ rng.standard_normal((5, 2))
    return {"image": image - image.mean(0), "label": label - label.mean(0)}


@pytest.fixture(scope="module")
def weights():
    rng = np.random.default_rng(1)
    return {
        "A": 0.3 * rng.standard_normal((5, 3)),
        "B": 0.3 * rng.standard_normal((2, 3)),
        "C": np.eye(2),
    }


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_it_equals_a_plain_loop(engine, inputs, weights):
    A, B, past = weights["A"].copy(), weights["B"].copy(), np.zeros(3)
    for light, told in zip(inputs["image"], inputs["label"], strict=True):
        u = light @ A
        v, past = B @ u, 0.5 * past + 0.5 * u
        B = B + ETA * np.outer(told - v, past)
        A = A + ETA * u * (light[:, None] - u * A)
    run = two_areas(engine).run(
        inputs, order="sequential", weights=weights, record=("v", "told"), progress=False
    )
    np.testing.assert_allclose(run.weights["A"], A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.weights["B"], B, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.weights["C"], np.eye(2))
    assert run.data["B"].dims == ("snapshot", "V2", "V1")
    assert run.data["told"].dims == ("sample", "V2")


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_the_smallest_circuit_that_learns(engine, inputs, weights):
    """Oja's rule."""
    A = weights["A"][:, :1].copy()
    for light in inputs["image"]:
        u = light @ A
        A = A + ETA * u * (light[:, None] - u * A)
    rule = f"{ETA} * u_post * (light_pre - u_post * w)"
    retina = Population(name="retina", variables=[Variable("light", "light", role="input")])
    oja = Pathway("first", "retina", "V1", "u", "w * light_pre", "drive", rule, weight="A")
    circuit = Circuit(
        [retina, Population(1, "V1", [Variable("u", "output")])], [oja], engine=engine
    )
    start = {"A": weights["A"][:, :1]}
    run = circuit.run({"light": inputs["image"]}, order="sequential", weights=start, progress=False)
    np.testing.assert_allclose(run.weights["A"], A, rtol=0, atol=1e-12)


def test_it_is_continued_saved_and_pickled(inputs, weights, tmp_path):
    circuit = two_areas()
    whole = circuit.run(inputs, epochs=2, weights=weights, progress=False)
    first = circuit.run(inputs, weights=weights, progress=False)
    first.save(tmp_path / "run.nc")
    rest = pickle.loads(pickle.dumps(circuit)).run(
        inputs, start=Run.load(tmp_path / "run.nc"), progress=False
    )
    for name in ("A", "B"):
        np.testing.assert_array_equal(rest.weights[name], whole.weights[name])
    assert "2 V2" in repr(first)
    with pytest.raises(
        AttributeError, match="this circuit has no weights called Vx; it has A, B, C"
    ):
        _ = first.Vx
    with pytest.raises(
        ValueError, match="predict: this run has no readout; only runs of a Microcircuit have"
    ):
        first.predict(inputs["image"])


def test_it_is_looked_at(inputs):
    circuit = two_areas()
    assert "first, A: retina (5) to V1 (3)" in circuit.describe(5, 2)
    assert set(circuit.wiring(5, 2)) == {"retina", "elsewhere", "V1", "V2"}
    assert [str(verdict).split(";")[0] for verdict in circuit.locality()] == [
        "first: local",
        "second: local",
        "teaching: does not learn",
    ]
    assert "inputs        image, label" in repr(circuit)


def test_the_seed_is_that_of_the_run(inputs):
    circuit = two_areas()
    one, other = circuit.run(inputs, progress=False), circuit.run(inputs, seed=5, progress=False)
    assert not np.array_equal(other.data["A"][0], one.data["A"][0])


def test_it_says_when_it_diverges(inputs):
    with pytest.raises(Diverged, match=r"diverged at sample .* lower the rates of plasticity"):
        two_areas(rate=50.0).run(inputs, epochs=3, progress=False)
