"""``biorrr interneurons``: direct inhibition from own parts, and what is measured of circuits."""

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import ExactSolution
from biorrr.analysis.interneurons import optimum, sample_changes
from biorrr.models import Rates
from biorrr.sims.experiments import interneurons as experiment
from biorrr.sims.lab import Claim

DOCS = Path(__file__).parents[2] / "docs"
K = 2
X, Y = experiment.in_units(*experiment.planted((1.6, 1.0, 0.4), seed=9, samples=500), K)


def task(engine, samples=500, k=K):
    return SimpleNamespace(settings=SimpleNamespace(k=k, engine=engine, samples=samples))


def test_units_are_white_inputs_and_eigenvalues_of_mean_1():
    np.testing.assert_allclose(X.T @ X / len(X), np.eye(experiment.INPUTS), atol=1e-10)
    assert ExactSolution(X, Y).eigenvalues[:K].mean() == pytest.approx(1)


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
@pytest.mark.parametrize("l", [0, 1, 3])
def test_circuits_follow_their_equations(engine, l):
    rates, rng = Rates(0.002, 0.003, 0.004, 0.005), np.random.default_rng(0)
    start = [0.1 * rng.standard_normal((size, K)) for size in (X.shape[1], Y.shape[1])]
    start += [np.eye(K, l), np.eye(l, K)] if l else [np.eye(K) + 0.1]
    names = ("Vx", "Vy", "Q", "R") if l else ("Vx", "Vy", "M")
    circuit = experiment.make_circuit(task(engine), l, rates, dict(zip(names, start, strict=True)))
    run = experiment.simulate((X, Y), circuit, samples=300, seed=1)
    weights = [w[None] for w in start]
    for row in np.random.default_rng(1).integers(len(X), size=300):
        changes = sample_changes(weights, X[[row]], Y[[row]], rates, direct=not l)
        weights = [w + change for w, change in zip(weights, changes, strict=True)]
    for name, expected in zip(names, weights, strict=True):
        np.testing.assert_allclose(run.data[name].values[-1], expected[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("direct", [True, False])
def test_at_the_optimum_each_direction_is_inhibited_as_strongly_as_its_eigenvalue(direct):
    best, names = optimum(X, Y, K, direct), ("Vx", "Vy", "M") if direct else ("Vx", "Vy", "Q", "R")
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((K, K)))[
        0
    ]  # a rotation of outputs
    best[0] = best[0] @ turn
    best[2] = turn.T @ best[2] @ (turn if direct else np.eye(K))
    if not direct:
        best[3] = best[2].T
    shapes = {name: ("snapshot", f"{name}_0", f"{name}_1") for name in names}
    data = xr.Dataset(
        {name: (shapes[name], np.array([w] * 4)) for name, w in zip(names, best, strict=True)}
    )
    found = experiment.measure(SimpleNamespace(data=data), X, ExactSolution(X, Y), K)
    np.testing.assert_allclose(found["share"][1], 1)
    assert found["excess"] == pytest.approx(0, abs=1e-12)
    assert found["distance"] == 0


@pytest.mark.parametrize("l", [0, K])
def test_a_circuit_near_the_optimum_oscillates_as_linear_theory_says(l):
    one = task("cpp", samples=100_000)
    one.settings.every_seed = range(10)
    found = experiment.follow_oscillation(one, {"it": (X, Y)}, "it", l, y=1.0, q=3.0)
    # ten runs of seven times the decay
    assert found["decay"] == pytest.approx(found["decay_theory"], rel=0.5)
    assert found["frequency"] == pytest.approx(found["frequency_theory"], rel=0.04)


def test_of_a_circuit_that_diverges_only_the_theory_of_its_oscillation_is_known():
    one = task("numpy", samples=2000)
    one.settings.every_seed = range(1)
    found = experiment.follow_oscillation(one, {"it": (X, Y)}, "it", K, y=1.0, q=1000.0)
    assert np.isnan([found["decay"], found["frequency"]]).all()
    assert found["decay_theory"] > 0


def test_every_claim_fails_for_circuits_that_break_it():
    seeds, k = np.arange(4), 2
    grid = {"problem": ["one"], "l": [0, k], "x": [0.001, 0.01], "q": [1.0, 10.0]}

    def array(coords, value):
        sizes = [len(one) for one in coords.values()]
        return xr.DataArray(np.full(sizes, value), coords)

    maps = xr.Dataset(
        {"excess": array(grid | {"seed": seeds}, 0.015), "expected": array(grid, 0.003)}
    )
    maps["expected"][..., 0] = 0.5
    maps["expected"][..., 0, 1] = np.inf
    maps["settles"] = maps["expected"] < np.inf
    maps["settles"][:] = True
    unequal = maps.isel(x=0, drop=True).rename(q="r").sel(l=[k])
    unequal["distance"] = unequal["excess"]
    counts = {"problem": ["one"], "l": range(1, 5), "y": [3.0], "seed": seeds}
    turns = xr.Dataset({"excess": array(counts, 0.1)})
    turns["excess"][:, 3] = 0.2
    turns["share"] = array(counts | {"component": [0, 1]}, 0.5)
    turns["share"][..., 1] = 1.5
    modes = xr.Dataset({name: 1.0 for name in ("decay_theory", "frequency_theory")})
    modes = modes.assign(decay=1.5, frequency=0.5)
    silent = {"silent": range(5), "seed": seeds, "time": [0, 1]}
    silence = xr.Dataset({one: array(silent, 1.2) for one in ("plateaus", "variance", "excess")})
    results = {"maps": maps, "unequal": unequal, "turns": turns, "modes": modes, "silence": silence}
    found = {one.name: one for one in experiment.summarise(results, k)}
    for name, (text, *_) in experiment.CLAIMS.items():
        assert Claim.about(found[name], text).holds is False, name


@pytest.mark.parametrize(
    ("seeds", "best", "spread"), [(1, 0.1, None), (2, 0.2, None), (4, 0.3, 0.1)]
)
def test_the_best_rates_of_half_of_the_seeds_are_scored_on_the_others(seeds, best, spread):
    sizes = {"problem": ["one"], "l": [0, K], "x": [0.001, 0.003], "q": [1.0], "seed": range(seeds)}
    excess = xr.DataArray(np.full((1, 2, 2, 1, seeds), 0.9), sizes)
    excess[:, :, 1] = [0.1, 0.2, 0.1, 0.4][:seeds]  # the better rates
    found = {one.name: one for one in experiment.best_rates(xr.Dataset({"excess": excess}), K)}
    for name in ("interneurons_one_best", "direct_one_best"):
        assert found[name].value == pytest.approx(best)
        assert found[name].spread == (spread if spread is None else pytest.approx(spread))


BOUND = re.compile(
    r"(?:at least (?P<least>\S+)|at most (?P<most>\S+)|(?P<low>\S+) to (?P<high>\S+))"
    r"(?P<percent> %)? \| \**\{interneurons\[(?P<name>\w+)\]"
)


def test_bounds_are_those_that_the_page_states():
    """They were fixed before the runs."""
    quotes = tomllib.loads((DOCS / "numbers/quotes.toml").read_text())["quotes"]
    found = filter(None, map(BOUND.search, quotes["docs/interneurons.md"]))
    found = [one for one in found if one["name"] in experiment.CLAIMS]
    assert len(found) == len(experiment.CLAIMS) - 1  # one is not quoted
    for one in found:
        low, high = (
            float(text) / (100 if one["percent"] else 1) if text else None
            for text in (one["least"] or one["low"], one["most"] or one["high"])
        )
        _, lowest, highest = experiment.CLAIMS[one["name"]]
        assert low in (lowest, None)
        assert high in (highest, None)
    assert experiment.CLAIMS["unequal_agreement"][1] == experiment.CLAIMS["agreement"][1]


def test_rows_of_the_table_say_what_is_lost_and_fit_a_page():
    lost = xr.DataArray(np.ones((1, 4, 2, 20)), dims=("row", "column", "problem", "seed"))
    lost[:, :, :, :8] = 0.0121  # 12 of 20 are lost
    lost[:, 3, 0] = 0.0121
    lost[:, 3, 0, 0] = 1.0
    table = xr.Dataset({"excess": lost}, {n: ("column", [0.001] * 4) for n in "xyq"})
    head, row = experiment.in_words(table)
    assert head.split("; ")[0] == "(1, 0.001, 0.001)"
    assert row.endswith("; 1.2 % (1/20 lost), 12/20 lost")
    lost[:, [0, 3]] = 0.0121
    assert len(list(experiment.in_words(table))[1]) < 100 - len("  R 10 times slower  ")


class Asked:
    """A lab that remembers what it was asked to compute, and has no answers."""

    def __init__(self):
        self.settings, self.over = experiment.InterneuronSettings(engine="numpy"), []

    def set(self, **_):
        return self.settings

    def load(self, value, k):
        return value.load()

    def map(self, function, over, problems):
        self.over.append(over)
        if "l" in over and over["l"][0] == "row":
            raise StopIteration
        return xr.Dataset()


def test_the_table_has_the_circuits_and_rates_of_the_page():
    lab = Asked()
    with pytest.raises(StopIteration):
        experiment.interneurons.function(lab, lab.settings)
    asked = {name: values[1] for name, values in lab.over[-1].items() if name != "problem"}
    rates = [(x, y * x, q * x) for x, y, q in zip(*(asked[n] for n in "xyq"), strict=True)]
    page = (DOCS / "interneurons.md").read_text()
    stated = re.findall(r"\(([\d., ]+)\)e-3 \|", page)
    np.testing.assert_allclose(
        rates, [[1e-3 * float(one) for one in text.split(",")] for text in stated]
    )
    assert asked["l"] == (4, 8, 0, 3, 2, 4, 4)
    assert asked["r"][-2:] == (0.1, 10)  # "R ten times slower", "R ten times faster"
    assert set(asked["r"][:-2]) == {1}
