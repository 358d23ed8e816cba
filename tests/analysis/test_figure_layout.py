"""Every figure at the width of a journal's column or page: nothing overlaps, nothing is too small.

Numbers are made up, names and sizes are those of the experiments.
"""

import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest
import xarray as xr

from biorrr import analysis
from biorrr.analysis.figures import agreement, between_areas, grids, inhibition, lags, races
from biorrr.analysis.figures.inhibition import plot_meeting
from biorrr.analysis.figures.learning import plot_angles
from biorrr.analysis.figures.plateaus import plot_raster

sys.path.insert(0, str(Path(__file__).parents[1]))
from figure_layout import flaws

SEEN = np.r_[0, np.unique(np.geomspace(1, 107_820, 60).astype(int))]


def dataset(rng, variables, coords=None, attrs=None, low=0.02, **sizes):
    """Return a dataset of random positive numbers; ``variables`` are dimensions by name."""
    drawn = {
        name: (dims, 10 ** rng.uniform(np.log10(low), 0, [sizes[dim] for dim in dims]))
        for name, dims in variables.items()
    }
    return xr.Dataset(drawn, coords, attrs)


def learning(rng):
    return analysis.plot_learning(SEEN, -1 + 1 / (1 + 0.1 * SEEN), -1.0, label="circuit")


def excess_of_seeds(rng):
    curves = np.exp(rng.standard_normal((10, 1)) / 5) / (1 + 0.1 * SEEN)
    return analysis.plot_learning(SEEN, curves, label="circuit")


def angles(rng):
    return plot_angles(SEEN, 90 / (1 + SEEN[:, None] / [100, 1000, 1e4]))


def traces(rng, samples, neurons=4):
    names = ("plateau", "a", "inhibition", "z")
    return dict(zip(names, rng.standard_normal((4, samples, neurons)), strict=True))


def plateau(rng):
    stages = {
        "before": traces(rng, 50),
        "halfway\n10,943": traces(rng, 50),
        "after\n2,000,061": traces(rng, 50),
    }
    stages["before"]["a"][3] *= 20  # which is cut off
    theory = {
        title: {name: 1.1 * one[name] for name in ("plateau", "inhibition")}
        for title, one in stages.items()
    }
    at = dict(
        zip(stages, (np.arange(50), 10_943 + np.arange(50), 2e6 + np.arange(50)), strict=True)
    )
    return analysis.plot_plateau(stages, theory, at=at, note="Halfway: half of the way.")


def plateau_in_a_column(rng):
    """The same figure where the user has asked for a column."""
    with plt.rc_context({"figure.figsize": (8.5 / 2.54, 3.0)}):
        return plateau(rng)


def plateau_of_one_stretch(rng):
    return analysis.plot_plateau({"samples 500 to 600": traces(rng, 101, 1)}, neurons=["neuron 1"])


def raster(rng):
    fired, cells = 8 * rng.random(200), rng.integers(0, 40, 200)
    time = np.linspace(0, 800, 80)
    spikes = (100 * fired, cells, 20)
    return plot_raster(
        time, traces(rng, 80, 2), onsets=100 * np.arange(8), unit="time (ms)", spikes=spikes
    )


def symmetry(rng):
    seen = np.linspace(0, 36_000, 60)
    fall = 1.4 * np.exp(-0.001 * seen)
    inhibition = (1 - np.exp(-seen[:, None] / 3000)) * [0.3, 0.2]
    measured = np.maximum(fall, 3e-16)
    return analysis.plot_symmetry(seen, measured, inhibition, fall, [0.3, 0.2])


def symmetry_without_prediction(rng):
    seen = np.linspace(0, 1000, 60)
    return analysis.plot_symmetry(seen, 1 / (1 + seen), 0.1 + 0 * seen[:, None])


def meeting(rng):
    course = ("eigenvalues", "eta", "start", "snapshot")
    sizes = {"eigenvalues": 2, "eta": 4, "start": 8, "snapshot": 60}
    etas = np.array([0.0003, 0.001, 0.003, 0.01])
    coords = {"eigenvalues": ["positive", "negative"], "eta": etas}
    results = dataset(rng, {"inhibition": course, "excess": course}, coords, **sizes)
    seen = np.linspace(0, 30, 60) / etas[:, None]
    results["seen"] = (course, np.broadcast_to(seen[None, :, None], (2, 4, 8, 60)))
    results["ratio"] = (1 - results["eta"]) ** results["seen"]
    return plot_meeting(results.transpose(*course), 2e-7)


def filters_as_pictures(rng):
    return analysis.plot_filters(*rng.standard_normal((2, 64, 6)) / 4, pixels=(8, 8), of=10)


def filters_as_curves(rng):
    return analysis.plot_filters(*rng.standard_normal((2, 64, 6)))


def eigenvalues(rng):
    return analysis.plot_eigenvalues(np.geomspace(0.5, 0.01, 9), [0.49, 0.31, 0.2, 0.1, 0.05])


def weights(rng):
    shapes = {"Vx": (64, 2), "Vy": (10, 2), "Q": (2, 2), "R": (2, 2)}
    return analysis.plot_weights({n: rng.standard_normal(shape) for n, shape in shapes.items()})


def wiring(rng, k=4, inputs=16):
    graph = nx.DiGraph()
    sizes = {"sensory": inputs, "instructive": 10, "pyramidal": k, "interneurons": k}
    for population, size in sizes.items():
        graph.add_nodes_from(
            ((population, i), {"population": population, "index": i}) for i in range(size)
        )
    pathways = {
        "Vx": ("sensory", "pyramidal", 1),
        "Vy": ("instructive", "pyramidal", 1),
        "Q": ("interneurons", "pyramidal", -1),
        "R": ("pyramidal", "interneurons", 1),
    }
    for matrix, (source, target, sign) in pathways.items():
        for i in range(sizes[source]):
            for j in range(sizes[target]):
                about = {"matrix": matrix, "sign": sign, "weight": rng.standard_normal()}
                graph.add_edge((source, i), (target, j), **about)
    return analysis.plot_wiring(graph)


def compared(rng, names=("inhibition", "plateau", "network"), **sizes):
    """Return what an audit of plateaus has found, of made-up numbers."""
    trace, scores = ("stage", "row", "pyramidal"), ("seed", "measure", "comparison")
    shapes = {
        "recorded": ("signal", *trace),
        "expected": ("comparison", *trace),
        "course": (*scores, "snapshot", "pyramidal"),
        "agreement": (*scores, "stage", "pyramidal"),
        "null_error": ("seed", "null", "pyramidal"),
    }
    coords = {
        "signal": ["plateau", "a", "inhibition", "z"],
        "comparison": list(names),
        "measure": ["correlation", "relative_error"],
        "null": ["no_inhibition", "other_inhibition"],
        "seen": ("snapshot", SEEN),
        "stage_samples": (("seed", "stage"), [[0, 10_943, 2_000_061]] * 5),
        "s": 0.0,
    }
    sizes = {"seed": 5, "snapshot": len(SEEN), "pyramidal": 2, "stage": 3, "row": 1797}
    sizes |= {name: len(coords[name]) for name in ("signal", "comparison", "measure", "null")}
    return dataset(rng, shapes, coords, **sizes)


def audit(rng):
    return agreement.plot_agreement(compared(rng), 0.05)


def recorded(rng):
    return agreement.plot_recorded(compared(rng), 50, 4)


def every_s(rng):
    shapes = {
        "excess": ("s", "seed"),
        "plateau_relative_error": ("s", "seed", "pyramidal"),
        "own_current": ("s",),
        "decay": ("s",),
        "own_current_exact": ("s",),
        "decay_exact": ("s",),
        "eigenvalues_M": ("s", "component"),
        "eigenvalues_QQ": ("s", "seed", "component"),
        "plateau": ("s", "row", "pyramidal"),
        "error": ("s", "row", "pyramidal"),
    }
    sizes = {"s": 5, "seed": 5, "pyramidal": 2, "component": 2, "row": 70}
    s = {"s": [0.0, 0.25, 0.5, 0.75, 1.0]}
    return agreement.plot_family(dataset(rng, shapes, s, low=1e-4, **sizes))


LEARNERS = [
    *("circuit", "Bio-CCA", "Bio-CCA, offline", "MSG-CCA", "CCALin", "CCALin, 1 step", "SAA")
]


def race(rng, ranks=3):
    course = ("learner", "k", "seed", "snapshot")
    sizes = {"learner": len(LEARNERS), "k": ranks, "seed": 5, "snapshot": 30}
    coords = {"learner": LEARNERS, "k": [1, 2, 4][:ranks]}
    shapes = {"excess": course, "passes": course, "seconds": course, "whitening_error": course}
    results = dataset(rng, shapes, coords, low=1e-4, **sizes)
    t = np.broadcast_to(np.geomspace(1, 1e5, 30), (len(LEARNERS), ranks, 30))
    results["t"] = (("learner", "k", "snapshot"), t)
    return results


TITLE = (
    "mediamill: from 120 features to 101 labels; CCA online, 100,000 samples (3.3 epochs), 5 seeds"
)
NOTE = "MSG-CCA renews the inverse roots of its covariances whenever its samples have grown by 1 %"


def compare(rng):
    return races.plot_race(race(rng), "samples or iterations", TITLE, NOTE)


def constraint(rng):
    return races.plot_constraint(race(rng), "samples", TITLE)


def images(rng):
    results = race(rng).drop_vars("passes").rename(k="data")
    results = results.assign_coords(data=["mnist", "fashion-mnist", "cifar10"])
    return races.plot_pictures_race(results)


def sensitivity(rng):
    dims = ("algorithm", "k", "decade", "N", "seed")
    sizes = {"algorithm": 2, "k": 3, "decade": 5, "N": 5, "seed": 2}
    coords = {"algorithm": ["Bio-RRR", "ANN"], "k": [1, 2, 4], "N": np.geomspace(100, 1e6, 5)}
    results = dataset(rng, {"excess": dims, "eta0": dims[:3]}, coords, low=1e-4, **sizes)
    results["excess"][0, 0, 4] = np.nan
    return races.plot_sensitivity(results, TITLE)


def learning_of_areas(rng):
    course = ("seed", "snapshot")
    sizes = {"seed": 3, "snapshot": len(SEEN), "link": 1}
    shapes = {"excess": course, "meeting": (*course, "link")}
    coords = {"link": ["A1 and W2'"], "seen": ("snapshot", SEEN)}
    results = dataset(rng, shapes, coords, low=1e-5, **sizes)
    results["excess"].attrs["bound"] = 0.01
    return between_areas.plot_hierarchy_learning(results)


def plateaus_of_areas(rng):
    shapes = {"plateau": ("row", "cell"), "plateau_theory": ("row", "cell")}
    areas = {"cell_area": ("cell", [1, 1, 1, 2, 2])}
    return between_areas.plot_area_plateaus(dataset(rng, shapes, areas, row=500, cell=5))


def departures(rng):
    names = {f"departure{i}": i % 7 + 1 for i in range(18)}
    words = ["new data", "freeze R", "Q, R, Vx", "freeze Q", "freeze Vy", "silence n", "cut y"]
    drawn, coords = {}, {}
    for name, count in names.items():
        excess = 10 ** rng.uniform(-4, 0, (2, count, 3))
        about = {"long_name": f"noise of transmission of pathway {name}", "ordered": count % 2}
        drawn[name] = (("data", f"{name}_value", "seed"), excess, about)
        sizes = [round(10.0 ** (i - 3), 3) for i in range(count)]
        coords[f"{name}_value"] = words if name == "departure6" else sizes
    drawn["plain"] = (("data", "seed"), np.full((2, 3), 0.001))
    coords["data"] = ["digits", "v1v2"]
    return grids.plot_departures(xr.Dataset(drawn, coords, {"tolerated": 0.05}))


def swept(rng, first, second=(0,), seeds=2, **more):
    points = [(a, b) if len(second) > 1 else (a,) for a in first for b in second]
    names = ["eta_x", "engine"][: len(points[0])]
    rows = [
        dict(zip(names, point, strict=True)) | {"excess": 0.1 * rng.random()}
        for point in points
        for _ in range(seeds)
    ]
    return grids.plot_means("excess", rows, names, {p: 0.1 * rng.random() for p in points}, **more)


def sweep_of_numbers(rng):
    return swept(rng, [0.001, 0.003, 0.01, 0.03, 0.1])


def sweep_of_words(rng):
    return swept(rng, ["digits", "v1v2", "mediamill"], problem=["eta_x"])


def sweep_of_two(rng):
    return swept(rng, [0.001, 0.003, 0.01], ["digits", "a_long_name_of_data", "v1v2", "four"])


def contest(rng):
    shapes = dict.fromkeys(
        ("excess", "law", "participation", "whitening"), ("data", "theory", "seed")
    )
    names = ["Bio-RRR", "burst-dependent", "feedback alignment", "Sacramento", "Bio-CCA", "Bio-CCA"]
    coords = {"data": ["digits", "v1v2"], "theory": names}
    sizes = {"data": 2, "theory": 6, "seed": 3}
    return races.plot_theories(dataset(rng, shapes, coords, {"k": 2}, low=1e-3, **sizes))


def lags_of_pairings(rng):
    shapes = {"change": ("rule", "lag"), "predicted_change": ("lag",)}
    coords = {"rule": ["plain", "traces"], "between_middles": ("lag", np.linspace(-4, 4, 17))}
    results = dataset(rng, shapes, coords, rule=2, lag=17)
    results["predicted_change"].attrs |= {"tau_x": 1.3, "tau_plateau": 0.7}
    return lags.plot_lags(results)


def delays(rng):
    words = ["the paper's rule", "with eligibility traces"]
    coords = {"delay": [0, 1, 2, 4, 8], "words": ("rule", words)}
    sizes = {"rule": 2, "delay": 5, "seed": 3}
    results = 50 * dataset(rng, {"angle": ("rule", "delay", "seed")}, coords, **sizes)
    results["angle"].attrs["found"] = 10.0
    return lags.plot_delays(results)


def fields(rng):
    words = ["the paper's rule", "with eligibility traces"]
    shapes = {"field": ("rule", "position"), "predicted_field": ("position",)}
    at = np.linspace(0, 180, 60)
    coords = {"position": at, "words": ("rule", words)}
    results = dataset(rng, shapes, coords, rule=2, position=60)
    results["field"].attrs["plateau"] = (80.0, 95.0)
    return lags.plot_fields(results)


def areas(rng):
    shapes = {
        "exact_r2": ("k",),
        "exact_r2_sem": ("k",),
        "circuit_r2": ("rank", "seed"),
        "within_r2": ("draw", "draw_k"),
        "null_r2": ("shuffle",),
        "removed_r2": ("removed",),
        "removed_r2_sem": ("removed",),
        "lag_r2": ("lag",),
        "lag_r2_sem": ("lag",),
        "equal_within_rank": ("draw",),
        "equal_across_rank": ("draw",),
        "within_dimensionality": ("draw",),
    }
    sizes = {"k": 10, "rank": 6, "seed": 5, "draw": 10, "draw_k": 10, "shuffle": 20}
    coords = {"rank": range(1, 7), "removed": range(12), "lag": np.linspace(-0.1, 0.1, 9)}
    results = 0.3 * dataset(rng, shapes, coords, **sizes, removed=12, lag=9)
    numbers = {"chosen_rank": 4, "source_dimensionality": 11.2, "target_dimensionality": 6.1}
    return results.assign(numbers).assign_attrs(areas="V1 to V2")


def inhibition_results(rng):
    """Return datasets of the sizes that the experiment has."""
    problems, seeds = ["digits", "v1v2", "even", "spread"], 3
    sizes = {"problem": 4, "l": 2, "x": 5, "q": 7, "r": 7, "seed": seeds, "case": 4, "component": 4}
    known = {"problem": problems, "l": [4, 0]}
    grid = known | {"x": np.geomspace(3e-4, 3e-2, 5), "q": np.geomspace(0.03, 30, 7)}
    shapes = {"excess": ("problem", "l", "x", "q", "seed"), "expected": ("problem", "l", "x", "q")}
    shapes["eigenvalues"] = ("problem", "component")
    maps = dataset(rng, shapes, grid, low=1e-3, **sizes)
    over = {"problem": problems, "l": [4], "r": np.geomspace(0.03, 30, 7)}
    shapes = {"excess": ("problem", "l", "r", "seed"), "expected": ("problem", "l", "r")}
    unequal = dataset(rng, shapes, over, low=1e-3, **(sizes | {"l": 1}))
    over = {"problem": problems, "l": range(1, 9), "y": [3.0]}
    turns = dataset(
        rng, {"excess": ("problem", "l", "y", "seed")}, over, **(sizes | {"l": 8, "y": 1})
    )
    names = ("decay", "frequency", "decay_theory", "frequency_theory")
    modes = dataset(rng, dict.fromkeys(names, ("problem", "l", "case")), known, low=1e-6, **sizes)
    return maps, modes, unequal, turns


def maps_of_rates(rng):
    return inhibition.plot_maps(inhibition_results(rng)[0])


def linear_theory(rng):
    return inhibition.plot_theory(*inhibition_results(rng)[1:])


def silence(rng):
    shapes = dict.fromkeys(("plateaus", "variance", "excess"), ("silent", "seed", "time"))
    coords = {"silent": range(9)}
    return inhibition.plot_silence(dataset(rng, shapes, coords, silent=9, seed=3, time=2))


COMMUNICATION = [
    between_areas.plot_prediction,
    between_areas.plot_dimensionality,
    between_areas.plot_removal,
    between_areas.plot_lags,
]
DRAWN = [
    learning,
    excess_of_seeds,
    angles,
    plateau,
    plateau_in_a_column,
    plateau_of_one_stretch,
    raster,
    symmetry,
    symmetry_without_prediction,
    meeting,
    filters_as_pictures,
    filters_as_curves,
    eigenvalues,
    weights,
    wiring,
    audit,
    recorded,
    every_s,
    compare,
    constraint,
    images,
    sensitivity,
    learning_of_areas,
    plateaus_of_areas,
    departures,
    sweep_of_numbers,
    sweep_of_words,
    sweep_of_two,
    contest,
    lags_of_pairings,
    delays,
    fields,
    maps_of_rates,
    linear_theory,
    silence,
]


def test_every_function_that_plots_is_drawn_here():
    folder = Path(analysis.__file__).parent / "figures"
    known = {
        name
        for path in folder.rglob("*.py")
        for name in re.findall(r"^def (plot_\w+)", path.read_text(), re.MULTILINE)
    }
    assert len(known) > 30
    drawn = set(re.findall(r"plot_\w+", Path(__file__).read_text()))
    assert known - drawn == set()


@pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)
def test_a_figure_can_be_printed(draw, rng):
    assert flaws(draw(rng)) == []


@pytest.mark.parametrize("draw", COMMUNICATION, ids=lambda draw: draw.__name__)
def test_figures_of_two_areas_can_be_printed(draw, rng):
    assert flaws(draw(areas(rng))) == []
