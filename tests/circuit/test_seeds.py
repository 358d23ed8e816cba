"""Several seeds of one circuit, side by side in one compiled circuit: as one run after another."""

import numpy as np
import pytest

from biorrr.circuit import Diverged, Hierarchy, Microcircuit, Run, Runs
from biorrr.circuit.engines import compiler
from biorrr.models import (
    AllOrNone,
    Eligibility,
    Leaky,
    Millivolts,
    Rates,
    SparseConnections,
    Spiking,
    TransmissionNoise,
)

CIRCUITS = {
    "given rates": Microcircuit(k=2, rates=Rates(0.003), engine="cpp"),
    "ridge": Microcircuit(k=3, s=0.5, ridge=0.1, engine="cpp"),
    "draws, and a trace of inputs": Microcircuit(
        k=2, ridge=0.1, departures=[TransmissionNoise(0.1), Eligibility(0.8)], engine="cpp"
    ),
    "sparse, all or none": Microcircuit(
        k=2, departures=[SparseConnections(0.5, 0.5), AllOrNone(1.0)], engine="cpp"
    ),
    "held": Microcircuit(
        k=2, ridge=0.1, departures=[Leaky(hold=20), Spiking(population=5)], engine="cpp"
    ),
    "feedback": Microcircuit(k=2, feedback=0.5, ridge=0.1, engine="cpp"),
    "two areas": Hierarchy(areas=(3, 2), engine="cpp"),
    "millivolts": Microcircuit(
        k=1,
        cell=Millivolts(population=4, interneuron_population=3, hold=30.0, latency=10.0),
        engine="cpp",
    ),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    return X, X[:, :3] @ rng.standard_normal((3, 4)) + 0.1 * rng.standard_normal((60, 4))


@pytest.mark.parametrize("name", CIRCUITS)
def test_seeds_together_are_as_one_after_another(name, data):
    circuit, epochs = CIRCUITS[name], 1 if name == "millivolts" else 4
    seeds = [3, 1] if name == "millivolts" else [*range(8), 21]  # more than one batch
    options = {"epochs": epochs, "every": 7, "snapshots": 5, "progress": False}
    options["order"] = "sequential" if "trace" in name else "shuffle"
    runs = circuit.run(*data, seeds=seeds, **options)
    assert (len(runs), runs.seeds, runs.errors) == (len(seeds), seeds, {})
    for seed, run in list(zip(seeds, runs, strict=True))[-2:]:
        alone = circuit.run(*data, seed=seed, **options)
        assert run.data.attrs["seed"] == seed
        assert run.data.sizes == alone.data.sizes
        for what, values in alone.data.data_vars.items():
            expected, scale = values.values, np.abs(values.values).max(initial=1e-300)
            assert np.abs(run.data[what].values - expected).max(initial=0) <= 1e-12 * scale, what
    labelled = runs.data
    assert labelled.sizes["seed"] == len(seeds)
    assert labelled["seed"].values.tolist() == seeds


def test_a_seed_that_diverges_leaves_the_others_alone(data):
    """From weights that some seeds draw too large."""
    circuit = Microcircuit(k=2, rates=Rates(x=0.005, y=0.01, q=0.01), engine="cpp")
    options = {"epochs": 20, "snapshots": 9, "progress": False}
    with pytest.warns(UserWarning, match=r"^seeds: .* of 8 runs failed"):
        runs = circuit.run(*data, seeds=range(8), **options)
    assert 0 < len(runs.errors) < 8
    for seed, run in zip(runs.seeds, runs, strict=True):
        assert (run.ended == "diverged") == (seed in runs.errors)
        if seed in runs.errors:
            with pytest.raises(Diverged) as found:
                circuit.run(*data, seed=seed, **options)
            alone = found.value.run
        else:
            alone = circuit.run(*data, seed=seed, **options)
        assert run.samples == alone.samples
        assert run.data["seen"].values.tolist() == alone.data["seen"].values.tolist()
        np.testing.assert_allclose(run.data["Vx"], alone.data["Vx"], rtol=1e-6)
    assert runs.data.sizes["seed"] == 8 - len(runs.errors)


def test_each_seed_has_a_checkpoint_from_which_it_goes_on(data, tmp_path):
    circuit, options = CIRCUITS["ridge"], {"epochs": 6, "progress": False}
    half = {**options, "callback": lambda t, weights: t > 100}
    circuit.run(*data, seed=1, checkpoint=tmp_path / "run-1.npz", **half)
    runs = circuit.run(*data, seeds=[0, 1, 2], checkpoint=tmp_path / "run.npz", **options)
    assert {path.name for path in tmp_path.iterdir()} == {f"run-{seed}.npz" for seed in range(3)}
    expected = circuit.run(*data, seeds=[0, 1, 2], **options)
    again = circuit.run(*data, seeds=[0, 1, 2], checkpoint=tmp_path / "run.npz", **options)
    for run, one, other in zip(runs, expected, again, strict=True):
        np.testing.assert_allclose(run.Vx, one.Vx, rtol=1e-12)
        np.testing.assert_array_equal(run.Vx, other.Vx)


def test_circuits_that_do_not_fit_run_one_after_another(data, monkeypatch):
    circuit = Microcircuit(k=2, engine="numpy")
    runs = circuit.run(data[0][:20], data[1][:20], seeds=[1, 2], progress=False)
    assert isinstance(runs, Runs)
    assert all(isinstance(run, Run) for run in runs)
    alone = circuit.run(data[0][:20], data[1][:20], seed=2, progress=False)
    np.testing.assert_array_equal(runs[1].Vx, alone.Vx)
    seen = []
    CIRCUITS["ridge"].run(*data, seeds=[1, 2], callback=lambda t, _: seen.append(t), progress=False)
    assert seen.count(60) == 2


def test_a_compiler_without_vectors_is_no_obstacle(data, monkeypatch, tmp_path):
    """Where the code for several runs cannot be compiled, they run one after another."""
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path))  # in which no such code is kept
    compile_library = compiler.compile_library

    def without_vectors(source, library):
        if "vector_size" in source.read_text():
            raise compiler.CompileFailed("no vectors")
        compile_library(source, library)

    monkeypatch.setattr(compiler, "compile_library", without_vectors)
    circuit = Microcircuit(k=2, s=0.25, engine="cpp")
    runs = circuit.run(data[0][:, :5], data[1], seeds=[1, 2], progress=False)
    alone = circuit.run(data[0][:, :5], data[1], seed=2, progress=False)
    np.testing.assert_array_equal(runs[1].Vx, alone.Vx)


@pytest.mark.parametrize("seeds", [[], [1, 1], 3, [-1], "ab"])
def test_seeds_must_be_different_whole_numbers(seeds, data):
    with pytest.raises((ValueError, TypeError), match=r"^seeds"):
        CIRCUITS["ridge"].run(*data, seeds=seeds)


def test_seed_and_seeds_exclude_each_other(data):
    with pytest.raises(ValueError, match=r"^seeds: cannot be given beside seed"):
        CIRCUITS["ridge"].run(*data, seed=1, seeds=[1])
