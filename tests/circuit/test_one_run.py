"""One run for every circuit: nothing that a circuit has done before changes what it does or says
next.
"""

import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from biorrr.analysis import ExactSolution
from biorrr.circuit import Circuit, Hierarchy, Microcircuit, Run
from biorrr.circuit.compile.blueprint import Orientation
from biorrr.circuit.engines import choice, compiler
from biorrr.circuit.stimulus import feeds
from biorrr.models import (
    CutInstruction,
    Eligibility,
    Pathway,
    Population,
    Rate,
    Rates,
    SensoryInput,
    Silence,
    SwapData,
    Variable,
)

RATES = Rates(Rate(0.001), Rate(0.002), Rate(0.001))


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    Y = X[:, :2] @ rng.standard_normal((2, 3)) + 0.1 * rng.standard_normal((60, 3))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def oja(**settings):
    rule = Pathway(
        "oja",
        "sensory",
        "cell",
        drives="z",
        current="w * x_pre",
        phase="drive",
        change="0.01 * z_post * (x_pre - z_post * w)",
    )
    cell = Population(1, "cell", [Variable("z", "output")])
    return Circuit([SensoryInput(), cell], [rule], engine="numpy", **settings)


@pytest.fixture
def nothing_compiled(monkeypatch, tmp_path):
    """An empty cache, and no run yet."""
    if compiler.find_compiler() is None:
        pytest.skip("needs a C++ compiler")
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(choice, "_spent", Counter())


def engines_of(views, *epochs, **options):
    return [
        Microcircuit(2, rates=RATES)
        .run(*views, epochs=n, progress=False, **options)
        .data.attrs["engine"]
        for n in epochs
    ]


def test_auto_compiles_when_it_pays_and_takes_what_is_compiled(views, nothing_compiled):
    assert engines_of(views, 1, 40, 1) == ["numpy", "cpp", "cpp"]


def test_auto_compiles_for_many_short_runs(views, nothing_compiled):
    assert engines_of(views, 1, 1, 1, 1) == ["numpy", "numpy", "cpp", "cpp"]


def test_auto_goes_on_with_the_engine_of_a_checkpoint(views, nothing_compiled, tmp_path):
    """Compiled circuits round otherwise, so a run ends on the engine that it began with."""
    kept = {"checkpoint": tmp_path / "short.npz"}
    assert engines_of(views, 1, **kept) == ["numpy"]
    Microcircuit(2, rates=RATES).build(5, 3)
    assert engines_of(views, 1) == ["cpp"]
    assert engines_of(views, 1, **kept) == ["numpy"]


def test_a_circuit_describes_itself_and_not_its_last_run(views):
    circuit = Microcircuit(2, rates=RATES, engine="numpy")
    before, graph = circuit.describe(), circuit.wiring()
    run = circuit.run(*views, events=[Silence(10)], progress=False)
    assert circuit.describe() == before
    assert circuit.wiring().nodes(data=True) == graph.nodes(data=True)
    assert "active" not in before
    assert "active" in circuit.describe(run=run)
    assert "sensory (5)" in circuit.describe(run=run)
    assert circuit.wiring(run=run).nodes["sensory"]["size"] == 5
    assert [str(rule) for rule in circuit.locality(run)] == [
        str(rule) for rule in circuit.locality()
    ]


def test_networks_are_those_of_their_runs(views):
    circuit = Microcircuit(2, rates=RATES, engine="numpy")
    one = circuit.run(*views, progress=False)
    assert len(circuit.network["sensory"]) == 5
    silenced = circuit.run(*views, events=[Silence(10)], progress=False)
    assert "active" not in circuit.network["interneurons"].variables
    assert "active" in silenced.network["interneurons"].variables
    other = circuit.run(views[0][:, :4], views[1], progress=False)
    assert [len(run.network["sensory"]) for run in (one, other)] == [5, 4]
    with pytest.raises(RuntimeError, match=r"network: 2 are built, .*run.network"):
        _ = circuit.network


@pytest.mark.parametrize(
    ("make", "events", "said"),
    [
        (
            oja,
            [Silence(3)],
            "Silence.population: must be cells of this circuit .* it has sensory, cell",
        ),
        (oja, [Silence(3, population="nobody")], r"Silence.population: must be .*\(got 'nobody'\)"),
        (oja, [CutInstruction(3)], "CutInstruction: cuts port y, and this circuit has x alone"),
        (
            oja,
            [SwapData(3, X=np.ones((4, 5)), Y=np.ones((4, 3)))],
            "SwapData: is for circuits with ports x and y",
        ),
        (
            lambda: Microcircuit(2, engine="numpy"),
            [Silence(3, population="clock")],
            "it has sensory, .*interneurons",
        ),
        (
            lambda: Hierarchy((2, 2), engine="numpy"),
            [Silence(3)],
            "it has .*pyramidal_1, interneurons_1, pyramidal_2, interneurons_2",
        ),
    ],
)
def test_events_that_do_not_fit_are_refused_in_a_sentence(make, events, said, views):
    circuit = make()
    data = ({"x": views[0]},) if isinstance(circuit, Circuit) else views
    with pytest.raises(ValueError, match=said):
        circuit.run(*data, events=events, progress=False)


def test_a_hierarchy_warns_of_shuffled_samples_too(views):
    hierarchy = Hierarchy((2, 2), engine="numpy", departures=[Eligibility(3.0)])
    with pytest.warns(UserWarning, match=r"order: 'shuffle' presents .* Eligibility\("):
        hierarchy.run(*views, order=None, progress=False)


def test_data_are_read_twice_before_the_simulation(views, monkeypatch):
    reads = []
    chunks = feeds.chunks
    monkeypatch.setattr(
        feeds, "chunks", lambda array: reads.append(array.shape[1]) or chunks(array)
    )
    Microcircuit(2, engine="numpy").run(*views, progress=False)
    assert reads.count(5) == 2

    class Counted(np.ndarray):
        rows = 0

        def __getitem__(self, index):
            if isinstance(index, slice):
                Counted.rows += len(range(*index.indices(len(self))))
            return np.asarray(super().__getitem__(index))

    X = views[0].view(Counted)
    feeds.facts_of("X", X, centre=True)
    assert Counted.rows == 2 * len(X)


def test_matrices_turn_and_turn_back():
    rng = np.random.default_rng(0)
    for turned in (False, True):
        orientation = Orientation(3, 4, turned)
        flat = rng.standard_normal((2, 12))
        matrix = orientation.matrix(flat)
        assert matrix.shape == (2, *orientation.shape)
        np.testing.assert_array_equal(orientation.flat(matrix[1]), flat[1])
        place = orientation.matrix(np.arange(12))[1, 2]
        assert flat[1][place] == matrix[1][1, 2]
        source, target = orientation.ends(place)
        assert flat[1].reshape(3, 4)[source, target] == matrix[1][1, 2]


def test_x_and_y_or_a_dict_of_them(views):
    circuit = Microcircuit(2, engine="numpy")
    one, other = (
        circuit.run(*views, progress=False),
        circuit.run(dict(zip("xy", views, strict=True)), progress=False),
    )
    np.testing.assert_array_equal(one.Vx, other.Vx)
    with pytest.raises(TypeError, match="X: must be a dict of the data of each port, x"):
        oja().run(views[0])


def test_seeds_as_scikit_learn_takes_them(views):
    drawn = [Microcircuit(2, seed=None).seed for _ in range(2)]
    assert drawn[0] != drawn[1]
    assert (
        Microcircuit(2, seed=np.random.default_rng(3)).seed
        == Microcircuit(2, seed=np.random.default_rng(3)).seed
    )
    assert isinstance(Hierarchy(seed=np.random.RandomState(3)).seed, int)
    run = Microcircuit(2, engine="numpy").run(*views, seed=np.random.default_rng(3), progress=False)
    assert run.data.attrs["seed"] == Microcircuit(2, seed=np.random.default_rng(3)).seed


def test_one_instruction_may_be_a_vector(views):
    X, Y = views
    circuit = Microcircuit(1, engine="numpy")
    run = circuit.run(X, Y[:, 0], progress=False)
    np.testing.assert_array_equal(circuit.run(X, Y[:, 0].tolist(), progress=False).Vx, run.Vx)
    np.testing.assert_array_equal(run.Vx, circuit.run(X, Y[:, :1], progress=False).Vx)
    assert run.score(X, Y[:, 0]) == pytest.approx(run.score(X, Y[:, :1]))


def test_score_and_angles(views):
    X, Y = views
    run = Microcircuit(2, engine="numpy").run(X, Y, epochs=30, progress=False, record=())
    residual = Y - run.predict(X)
    assert run.score(X, Y) == pytest.approx(1 - ((residual**2).sum(0) / (Y**2).sum(0)).mean())
    angles = run.angles(X, Y)
    assert angles.dims == ("snapshot", "angle")
    assert angles.seen.values.tolist() == run.data["seen"].values.tolist()
    assert (angles[-1] < angles[0]).all()
    assert run.plot_angles(X, Y).get_ylabel().startswith("angle")


def test_samples_seen_are_a_coordinate(views):
    run = Microcircuit(2, engine="numpy").run(*views, progress=False)
    assert "seen" in run.data["Q"].coords
    (line,) = run.data["Q"][:, 0, 0].plot(x="seen")
    assert line.get_xdata()[-1] == 60


def test_plateaus_of_chosen_samples_and_neurons(views):
    run = Microcircuit(2, engine="numpy").run(*views, epochs=4, every=[(100, 200)], progress=False)
    axes = run.plot_plateau(samples=(120, 150), neurons=[1])
    assert (
        axes.ravel()[0].get_title(loc="left") + axes.ravel()[0].get_title() == "samples 120 to 149"
    )
    assert "neuron 1" in [text.get_text() for text in axes.ravel()[0].texts] + [
        axes.ravel()[0].get_ylabel()
    ]
    titles = [
        title
        for axis in run.plot_plateau().ravel()
        if (title := axis.get_title(loc="left") + axis.get_title())
    ]
    assert titles == ["start", "end"]
    with pytest.raises(ValueError, match="samples: none of 0 to 49 was recorded"):
        run.plot_plateau(samples=(0, 50))


def test_symmetry_without_traces_and_without_a_sample_zero(views):
    run = Microcircuit(2, rates=RATES, engine="numpy").run(*views, record=(), progress=False)
    distance, _ = run.plot_symmetry()
    assert distance.get_legend_handles_labels()[1] == ["measured", "predicted, no free parameter"]
    measured, predicted = distance.lines
    np.testing.assert_allclose(measured.get_ydata(), predicted.get_ydata(), rtol=1e-9)
    assert measured.get_xdata().tolist() == run.data["seen"].values.tolist()
    exact = ExactSolution(*views).eigenvalues[:2]
    lines = run.plot_symmetry(*views)[1].lines
    assert [line.get_ydata()[0] for line in lines[-3:-1]] == pytest.approx(exact)
    alone, _ = (
        Microcircuit(2, engine="numpy")
        .run(*views, record=(), snapshots=[40], progress=False)
        .plot_symmetry()
    )
    assert alone.get_legend_handles_labels()[1] == ["measured"]
    assert alone.lines[0].get_xdata().tolist() == [0, 40, 60]


def test_relative_distance_of_r_from_q_stays_where_both_merely_fade(views):
    run = Microcircuit(2, rates=RATES, engine="numpy").run(*views, progress=False)
    Q = run.data["Q"].values
    expected = run.r_minus_qt / np.sqrt((Q**2).sum(axis=(1, 2)))
    np.testing.assert_allclose(run.r_minus_qt_relative, expected)
    run.data["Q"], run.data["R"] = 1e-9 * run.data["Q"], 1e-9 * run.data["R"]
    np.testing.assert_allclose(run.r_minus_qt_relative, expected)
    run.data["Q"] = 0 * run.data["Q"]
    assert np.isnan(run.r_minus_qt_relative).all()


def test_a_run_is_not_overwritten_unless_told(views, tmp_path):
    run = Microcircuit(2, engine="numpy").run(*views, progress=False)
    run.save(tmp_path / "run.nc")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        run.save(tmp_path / "run.nc")
    run.save(tmp_path / "run.nc", overwrite=True)
    assert "seen" in Run.load(tmp_path / "run.nc").data.coords


def test_a_misspelt_name_is_put_right():
    from dataclasses import replace

    from biorrr.models import ProximalSynapses

    with pytest.raises(ValueError, match=r"reads platau_post, .*did you mean plateau_post\?"):
        Microcircuit(
            2, pathways=[replace(ProximalSynapses(), change="eta_x * x_pre * platau_post")]
        )


def test_data_of_too_low_a_rank_are_warned_of(views):
    X, Y = views
    with pytest.warns(UserWarning, match="Y: its rank is 1, below k = 2"):
        Microcircuit(2, engine="numpy").run(X, Y[:, :1] * [1.0, 2.0, -1.0], progress=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*rank")
        Microcircuit(2, engine="numpy").run(X, Y, progress=False)


def test_files_of_the_version_before_open(views):
    run = Run.load(Path(__file__).parent / "run_of_version_0.1.nc")
    np.testing.assert_allclose(run.Vx.ravel(), [-1.06059944, 0.29244505, -0.02847671], atol=1e-8)
    assert run.samples == 30
    assert "seen" in run.data.coords
    assert "s = 0.5" in repr(run)
    X = np.zeros((2, 3))
    assert run.transform(X).shape == (2, 1)
    circuit = Microcircuit(1, s=0.5, ridge=0.1, engine="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (
            circuit.run(views[0][:, :3], views[1][:, :2], start=run, progress=False).samples == 90
        )
