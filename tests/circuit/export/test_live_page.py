"""Pages on which circuits learn: their numbers are those of the engines, and they can be looked
at.
"""

import base64
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from biorrr.analysis import ReducedRankRegression, excess
from biorrr.circuit import Circuit, Hierarchy, Microcircuit, TimeSeries
from biorrr.circuit.simulation.prepare import prepare
from biorrr.models import (
    DistalSynapses,
    Freeze,
    Leaky,
    Pathway,
    Population,
    PyramidalNeurons,
    Rate,
    Rates,
    SensoryInput,
    Settled,
    Spiking,
    Step,
    TransmissionNoise,
    Variable,
)

EXACT = {"rtol": 0, "atol": 1e-9}
RATES = Rates(x=Rate(0.01, 900), y=Rate(0.02, 700), q=Rate(0.01, 1500), r=Rate(0.009, 1100))
SAMPLES = 1777
TEMPLATES = Path(__file__).parents[3] / "circuit" / "export" / "templates"


def own_part():
    """Return a population of the user's whose names are words of JavaScript."""
    var = Variable("var", "power of the output", role="memory")
    let = Variable("function", "threshold", "population", "parameter", 0.1)
    step = Step("output", "var += 0.1 * (z**2 - var)\nz = z / (1 + function * (var % 3.0))")
    return PyramidalNeurons(2).adding(var, let, step)


OJA = replace(DistalSynapses(), change="eta_y * (y_pre * z_post - z_post**2 * w)")
CIRCUITS = {
    "own rates": lambda **more: Microcircuit(k=2, rates=RATES, **more),
    "auto": lambda **more: Microcircuit(k=3, **more),
    "ridge by replay": lambda **more: Microcircuit(k=2, ridge=0.05, rates=RATES, **more),
    "CCA": lambda **more: Microcircuit(k=2, s=1.0, ridge=(0.0, 0.01), **more),
    "more interneurons": lambda **more: Microcircuit(k=2, interneurons=4, rates=RATES, **more),
    "own rule": lambda **more: Microcircuit(k=2, rates=RATES, pathways=[OJA], **more),
    "own part": lambda **more: Microcircuit(k=2, rates=RATES, populations=[own_part()], **more),
    "noise": lambda **more: Microcircuit(
        k=2, rates=RATES, departures=[TransmissionNoise(0.2)], **more
    ),
    "spikes": lambda **more: Microcircuit(
        k=2, rates=RATES, departures=[Spiking(10), Leaky(hold=6, dt=2)], **more
    ),
    "two areas": lambda **more: Hierarchy(
        (2, 2), (1.0, 0.8, 0.6), rates=RATES, departures=[Settled(40, tolerance=1.0)], **more
    ),
}


def after(run, samples):
    """Return the weights of ``run`` after so many samples, by name."""
    (place,) = np.flatnonzero(run.data["seen"].values == samples)
    return {name: run.data[name].values[place] for name in run.weights}


def in_base64(values):
    return base64.b64encode(values.tobytes()).decode()


def check_equal(found, expected):
    assert sorted(found) == sorted(expected)
    for name, matrix in expected.items():
        np.testing.assert_allclose(np.array(found[name], float), matrix, **EXACT, err_msg=name)


@pytest.mark.parametrize("name", CIRCUITS)
def test_a_page_has_the_numbers_of_the_engines(name, data, node, tmp_path):
    circuit = CIRCUITS[name](engine="numpy", seed=4)
    path = circuit.to_html(tmp_path / "circuit.html", *data)
    run = circuit.run(*data, final=False, snapshots=[60], progress=False, record=())
    check_equal(node(path, 60)["weights"], after(run, 60))


def test_the_order_repeats_when_it_ends(data, node, tmp_path):
    X, Y = (view[:30] - view[:30].mean(axis=0) for view in data)
    circuit = Microcircuit(k=2, rates=RATES, engine="numpy")
    path = circuit.to_html(tmp_path / "circuit.html", X, Y)
    shown = prepare(circuit, X, Y).presentation.sequence(0, 30)
    run = circuit.run(X, Y, 3, shown[:, 0], snapshots=[75], progress=False)
    check_equal(node(path, 75)["weights"], after(run, 75))


def test_a_page_follows_a_run(data, node, tmp_path):
    circuit = Microcircuit(k=2, rates=RATES, engine="numpy")
    run = circuit.run(*data, epochs=2, seed=9, snapshots=[500], progress=False)
    path = circuit.to_html(tmp_path / "circuit.html", *data, run=run)
    check_equal(node(path, 500)["weights"], after(run, 500))


def test_a_page_begins_as_its_run_began(data, node, tmp_path):
    """In the order that was given, with the given weights and from where an earlier run ended."""
    circuit = Microcircuit(k=2, rates=RATES, ridge=0.05, engine="numpy")
    order, weights = np.arange(7, 400, 3), {"Vy": np.full((5, 2), 0.1)}
    given = {"order": order, "centre": True, "seed": 3}
    first = circuit.run(*data, **given, weights=weights, final=False, progress=False)
    more = circuit.run(*data, **given, epochs=2, start=first, snapshots=[200], progress=False)
    begun = circuit.to_html(tmp_path / "begun.html", *data, **given, start=first)
    followed = circuit.to_html(tmp_path / "followed.html", *data, run=more)
    for path in (begun, followed):
        check_equal(node(path, 200 - 131)["weights"], after(more, 200))
    anew = circuit.to_html(tmp_path / "anew.html", *data, **given, weights=weights)
    check_equal(node(anew, 131)["weights"], first.weights)
    again = circuit.to_html(tmp_path / "again.html", *data, run=first)
    check_equal(node(again, 131)["weights"], first.weights)


def test_a_page_follows_no_other_run_than_one_of_its_own(data, tmp_path):
    X, Y = data
    circuit, path = Microcircuit(k=2, rates=RATES, engine="numpy"), tmp_path / "circuit.html"
    run = circuit.run(X, Y, progress=False)
    with pytest.raises(ValueError, match="run: brings order, seed along; leave that out, or run"):
        circuit.to_html(path, X, Y, run=run, order="sequential", seed=3)
    with pytest.raises(ValueError, match=r"run: must be a run of this circuit on these data"):
        circuit.to_html(path, X[:-1], Y[:-1], run=run)
    with pytest.raises(ValueError, match=r"run: must be a run of this circuit on these data"):
        Microcircuit(k=3, rates=RATES).to_html(path, X, Y, run=run)
    frozen = circuit.run(X, Y, events=[Freeze(at=3)], progress=False)
    with pytest.raises(ValueError, match="run: has events, which a page does not repeat"):
        circuit.to_html(path, X, Y, run=frozen)
    with pytest.raises(TypeError, match=r"run: must be one run, .* of seeds 3, 5; pass one"):
        circuit.to_html(path, X, Y, run=circuit.run(X, Y, seeds=[3, 5], progress=False))
    assert not path.exists()


@pytest.mark.parametrize(("s", "ridge"), [(0.0, 0.0), (0.5, 0.05), (1.0, 0.1)])
def test_theory_on_a_page_is_the_exact_solution(s, ridge, data, node, tmp_path):
    X, Y = data
    circuit = Microcircuit(k=2, s=s, ridge=ridge, rates=RATES, engine="numpy")
    path = circuit.to_html(tmp_path / "circuit.html", X, Y, order="sequential")
    found = node(path, 50)
    Vx, Q, R = (np.array(found["weights"][name]) for name in ("Vx", "Q", "R"))
    assert found["excess"] == pytest.approx(excess(Vx, X, Y, s=s, ridge=ridge), rel=1e-9)
    assert found["mismatch"] == pytest.approx(np.linalg.norm(R - Q.T) / np.linalg.norm(Q))
    best = np.linalg.solve(X.T @ X + ridge * len(X) * np.eye(X.shape[1]), X.T @ Y)
    np.testing.assert_allclose(found["predicted"], X[50] @ best, rtol=1e-9)
    exact = ReducedRankRegression(k=2, s=s, ridge=ridge).fit(X, Y).Vx_
    covariance = X.T @ X / len(X) + ridge * np.eye(X.shape[1])
    U, _, W = np.linalg.svd(exact.T @ covariance @ Vx)
    np.testing.assert_allclose(
        np.array(found["aligned"]).reshape(Vx.shape), exact @ U @ W, atol=1e-9
    )


def test_a_page_holds_no_later_weights_and_asks_for_nothing(data, tmp_path):
    X, Y = data
    circuit = Microcircuit(k=2, rates=RATES, engine="numpy")
    run = circuit.run(X, Y, progress=False)
    path = circuit.to_html(tmp_path / "circuit.html", X, Y, run=run, title="</script><b>")
    text = path.read_text()
    kept = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    assert kept["state"]["proximal.w"]["base64"] == in_base64(run.data["Vx"].values[0])
    assert in_base64(run.Vx) not in text
    assert "</script><b>" not in text
    assert not re.search(r"https?:|src=|@import|url\(", text)
    of_data = sum(len(in_base64(view)) for view in (X, Y))
    assert len(text) - of_data < 100_000


def test_data_are_embedded_exactly_and_small(data, node, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 10, (500, 12)) / 3
    Y = (X[:, :5] > 0).astype(np.float32)
    circuit = Microcircuit(k=2, engine="numpy")
    path = circuit.to_html(tmp_path / "circuit.html", X, Y, centre=True, order="sequential")
    run = circuit.run(X, Y, 1, "sequential", centre=True, final=False, snapshots=[40])
    check_equal(node(path, 40)["weights"], after(run, 40))
    assert path.stat().st_size < 90_000


def test_a_page_shows_all_areas_of_a_hierarchy(data, node, tmp_path):
    circuit = CIRCUITS["two areas"](engine="numpy", seed=4)
    weights = {"R1": [[0.3, 0.1], [0.0, 0.2]]}
    path = circuit.to_html(tmp_path / "circuit.html", *data, order="sequential", weights=weights)
    kept = json.loads(re.search(r'id="data">(.*?)</script>', path.read_text())[1])
    assert kept["cells"] == [f"area {area}, cell {cell}" for area in (1, 2) for cell in (0, 1)]
    assert kept["filters"] == ["W1"]
    plateaus = next(lane for lane in kept["lanes"] if lane["name"] == "plateau")
    assert plateaus["keys"] == ["pyramidal_1.plateau", "pyramidal_2.plateau"]
    assert {rate["of"] for rate in kept["rates"]} == {"proximal", "distal", "interneurons"}
    found = node(path, 20)
    Q, R = ([np.array(found["weights"][f"{name}{area}"]) for area in (1, 2)] for name in ("Q", "R"))
    apart = np.linalg.norm([r.T - q for r, q in zip(R, Q, strict=True)])
    assert found["mismatch"] == pytest.approx(apart / np.linalg.norm(Q))
    assert found["mismatch"] > 0.01


def test_circuits_without_a_regression_have_a_page(data, node, tmp_path):
    rule = "0.01 * z_post * (x_pre - z_post * w)"
    oja = Pathway("oja", "sensory", "cell", "z", "w * x_pre", "drive", rule)
    cell = Population(1, "cell", [Variable("z", "output")])
    circuit = Circuit([SensoryInput(), cell], [oja], engine="numpy")
    path = circuit.to_html(tmp_path / "circuit.html", {"x": data[0]}, order="sequential")
    run = circuit.run({"x": data[0]}, order="sequential", snapshots=[70], progress=False)
    found = node(path, 70)
    check_equal(found["weights"], after(run, 70))
    assert found["excess"] is None


def test_what_a_page_cannot_show_is_refused(data, tmp_path):
    X, Y = data
    circuit = Microcircuit(k=2, rates=RATES)
    with pytest.raises(ValueError, match=r"pixels: must be .* with 12 pixels.*got \(3, 5\)"):
        circuit.to_html(tmp_path / "circuit.html", X, Y, pixels=(3, 5))
    timed = Microcircuit(k=2, rates=RATES, departures=[Leaky(hold=20, dt=2)])
    with pytest.raises(ValueError, match=r"to_html: a page presents samples, .* give tables"):
        timed.to_html(tmp_path / "circuit.html", TimeSeries(X, dt=2), TimeSeries(Y, dt=2))
    assert not list(tmp_path.iterdir())


def test_the_palette_is_that_of_figures():
    import matplotlib

    from biorrr.analysis.figures.style import STYLE

    cycle = matplotlib.rc_params_from_file(STYLE, use_default_template=False)["axes.prop_cycle"]
    ours = [f"#{colour.strip('#').lower()}" for colour in cycle.by_key()["color"]]
    light = (TEMPLATES / "page.css").read_text().partition("@media")[0]
    for place, name in enumerate(("z", "a", "inhibition", "r")):
        assert f"--{name}: {ours[place]};" in light


# -- in a browser ----------------------------------------------------------------------------------


def open_and_compare(circuit, data, browser, folder):
    """Open the page of ``circuit`` at sample 1,777 and compare all weights with its run."""
    path = circuit.to_html(folder / "circuit.html", *data, epochs=5)
    options = {"epochs": 5, "final": False, "snapshots": [SAMPLES], "record": ()}
    run = circuit.run(*data, progress=False, **options)
    with browser() as chrome:
        chrome.get(f"{path.as_uri()}#samples={SAMPLES}")
        found = chrome.execute_script("return document.getElementById('weights').textContent")
        assert not chrome.get_log("browser")
    check_equal(json.loads(found), after(run, SAMPLES))


def test_a_browser_has_the_numbers_of_the_engines(data, browser, tmp_path):
    circuit = Microcircuit(k=2, rates=RATES, engine="numpy", seed=4)
    open_and_compare(circuit, data, browser, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", CIRCUITS)
def test_every_circuit_in_a_browser(name, data, browser, tmp_path):
    open_and_compare(CIRCUITS[name](engine="cpp", seed=4), data, browser, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (420, 900)])
def test_a_person_can_use_the_page(scheme, size, data, browser, tmp_path):
    """Buttons and sliders act, everything is drawn, nothing sticks out and nothing is wrong."""
    circuit = Microcircuit(k=3, rates=RATES, engine="numpy")
    path = circuit.to_html(tmp_path / "circuit.html", *data, pixels=(3, 4))
    wait = "const done = arguments[0]; setTimeout(() => done(simulation.seen), 700)"
    with browser(scheme, size) as chrome:
        chrome.get(path.as_uri())
        assert chrome.execute_script("return simulation.seen") == 0
        click = "for (const id of arguments) document.getElementById(id).click()"
        chrome.execute_script(click, "start", "cut", "shuffle")
        assert chrome.execute_async_script(wait) > 20
        assert chrome.execute_script("return simulation.variable('instructive.y')[0]") == 0
        chrome.execute_script(click, "cut", "shuffle", "silence")
        seen = chrome.execute_async_script(wait)
        assert not any(chrome.execute_script("return [...simulation.variable('interneurons.n')]"))
        slide = (
            "const slider = document.querySelector('#rates input'); slider.value = -1;"
            "slider.dispatchEvent(new Event('input'))"
        )
        chrome.execute_script(slide)
        chrome.execute_script(click, "silence", "start")
        chrome.execute_script("simulation.step()")
        assert chrome.execute_script("return simulation.variable('neuromodulator.eta_x')[0]") == (
            pytest.approx(0.1 * 0.01 / (1 + seen / 900), rel=0.2)
        )
        drawn = (
            "return [...document.querySelectorAll('canvas')].map((canvas) => new Set("
            "new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width,"
            " canvas.height).data.buffer)).size)"
        )
        assert min(chrome.execute_script(drawn)) > 10
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= size[0]
        chrome.execute_script(click, "reset")
        assert chrome.execute_script("return simulation.seen") == 0
        assert not chrome.get_log("browser")
