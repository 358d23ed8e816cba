"""What a seed stands for: the order of samples, of replay, and the initial weights."""

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.circuit.engines.cpp_kernel import CppEngine
from biorrr.circuit.stimulus.presentation import Presentation, draw_permutations, generator


def stream(order="shuffle", replay=0, seed=0, n_samples=10, m=6):
    return Presentation(n_samples, m, order, replay, seed)


def test_every_epoch_is_a_new_permutation():
    epochs = stream().rows(0, 50).reshape(5, 10)
    np.testing.assert_array_equal(np.sort(epochs, axis=1), np.tile(np.arange(10), (5, 1)))
    assert len({tuple(epoch) for epoch in epochs}) == 5


def test_replay_goes_through_all_inputs_before_any_comes_again():
    shown = stream(replay=4).sequence(0, 30)
    assert (shown[:, 0] >= 0).all()
    turns = (-1 - shown[:, 1:]).reshape(-1, 6)
    np.testing.assert_array_equal(np.sort(turns, axis=1), np.tile(np.arange(6), (20, 1)))
    assert len({tuple(turn) for turn in turns}) > 10


def test_a_stream_can_be_taken_up_anywhere():
    whole = stream(replay=4)
    for cut in (1, 7, 64, 99):
        again = stream(replay=4)
        np.testing.assert_array_equal(again.sequence(cut, 130), whole.sequence(0, 130)[cut:])


def test_short_runs_begin_as_long_ones():
    whole = stream().rows(0, 70_000)
    read = stream()
    for start, stop in [(0, 3), (3, 50), (50, 60_000), (60_000, 70_000)]:
        np.testing.assert_array_equal(stream().rows(start, stop), whole[start:stop])
        np.testing.assert_array_equal(read.rows(start, stop), whole[start:stop])


@pytest.mark.parametrize("length", [1, 2, 3, 64, 65, 1000, 1797])
def test_compiled_circuits_draw_the_same_permutations(length):
    engine = CppEngine(Microcircuit(2).blueprint(6, 4))
    expected = draw_permutations(generator(3, 1, 7), 50, length)
    drawn = engine.draw_permutations(generator(3, 1, 7), 50, length)
    np.testing.assert_array_equal(drawn, expected)


def test_index_arrays_have_any_length_and_repeats():
    rows = stream(order=np.array([3, 3, 9])).rows(0, 7)
    assert rows.tolist() == [3, 3, 9, 3, 3, 9, 3]


def test_index_array_runs_epochs_times(data):
    X, Y = data
    circuit = Microcircuit(2, engine="numpy")
    run = circuit.run(X[:50], Y[:50], order=[3, 3, 9], epochs=4, record="x", every=1)
    assert run.samples == 12
    np.testing.assert_allclose(run.data["x"].values, X[[3, 3, 9] * 4], rtol=1e-12)


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_same_seed_same_bits(engine, data):
    X, Y = data

    def learn(seed):
        return Microcircuit(2, ridge=0.1, engine=engine, seed=seed).run(X[:300], Y[:300])

    first, again, other = learn(5), learn(5), learn(6)
    for name in ("Vx", "Vy", "Q", "R", "plateau"):
        np.testing.assert_array_equal(first.data[name], again.data[name])
        assert not np.array_equal(first.data[name], other.data[name])


def test_a_seed_means_the_same_on_every_engine(data):
    X, Y = data
    runs = [
        Microcircuit(2, ridge=0.1, engine=engine, seed=5).run(X[:300], Y[:300])
        for engine in ("numpy", "cpp")
    ]
    for name in ("Vx", "Vy", "Q", "R", "plateau", "eta_x"):
        np.testing.assert_allclose(runs[0].data[name], runs[1].data[name], rtol=1e-9, atol=1e-12)
