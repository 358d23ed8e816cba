"""Homeostatic scaling: the rule against a plain loop, and silent outputs that it brings back."""

import numpy as np
import pytest

from biorrr.analysis import ExactSolution
from biorrr.circuit import Hierarchy, Microcircuit
from biorrr.circuit.stimulus.presentation import Presentation
from biorrr.models import CutInstruction, HomeostaticScaling

SCALING = (HomeostaticScaling(),)


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_the_rule_is_what_a_plain_loop_computes(engine, data, make_circuit, make_loop):
    """With a ridge by replay, in which the scaling has no growth of its own."""
    X, Y = data[0][:300], data[1][:300]
    loop = make_loop(s=0.3, ridge=0.2)
    gain = 0.2 * 6 / 4
    for row, *replayed in Presentation(300, 6, "sequential", replay=4, seed=7).sequence(0, 300):
        eta = {path: getattr(loop.rates, path)(loop.t) for path in "xyqr"}
        scaled = eta["q"] * (1 - (loop.Vx.T @ X[row]) ** 2) * loop.Vx
        loop.present(X[row], Y[row])
        loop.Vx = loop.Vx + scaled
        for i in replayed:
            echo = loop._activities(np.eye(6)[-1 - i], np.zeros(4))
            loop.Vx = loop.Vx - eta["q"] * gain * echo["z"] ** 2 * loop.Vx
            loop.Vx[-1 - i] += eta["x"] * gain * echo["plateau"]
            loop.Q = loop.Q + eta["q"] * gain * np.outer(echo["z"], echo["n"])
            loop.R = loop.R + eta["r"] * gain * np.outer(echo["n"], echo["z"])
    circuit = make_circuit(engine, s=0.3, ridge=0.2, replay=4, seed=7, departures=SCALING)
    run = circuit.run(X, Y, order="sequential", record=(), progress=False)
    for name in ("Vx", "Vy", "Q", "R"):
        np.testing.assert_allclose(
            getattr(run, name), getattr(loop, name), rtol=0, atol=1e-12, err_msg=name
        )


def test_every_rule_stays_local():
    for circuit in (Microcircuit(2, departures=SCALING), Hierarchy((2, 2), departures=SCALING)):
        assert all(rule.local for rule in circuit.locality())


@pytest.fixture(scope="module")
def two_latents():
    """2,000 samples of two views that have two latents in common; X (2000, 8), Y (2000, 6),
    centred.
    """
    rng = np.random.default_rng(0)
    latents = rng.standard_normal((2000, 2))
    X = latents @ rng.standard_normal((2, 8)) + 0.5 * rng.standard_normal((2000, 8))
    Y = latents @ rng.standard_normal((2, 6)) + 0.5 * rng.standard_normal((2000, 6))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


SILENT = (
    r"k: the outputs are silent along 1 of 3 directions .* reduce k, or give"
    r" departures=\[HomeostaticScaling\(\)\]"
)


@pytest.mark.parametrize("s", [0.0, 1.0])
def test_a_third_output_is_silent_and_said_to_be_unless_cells_scale(s, two_latents):
    ridge = 0.1 * float(np.square(two_latents[0]).mean())
    exact = ExactSolution(*two_latents, s, ridge)
    settings, options = (
        {"s": s, "ridge": ridge, "engine": "cpp"},
        {
            "epochs": 10,
            "record": (),
            "progress": False,
        },
    )
    with pytest.warns(UserWarning, match=SILENT):
        plain = Microcircuit(3, **settings).run(*two_latents, **options)
    scaled = Microcircuit(3, departures=SCALING, **settings).run(
        *two_latents, **options
    )  # a warning would be an error
    assert exact.whitening_error(scaled.Vx) < 0.02 < exact.whitening_error(plain.Vx)
    assert exact.excess(scaled.Vx) < 0.02


@pytest.mark.parametrize(
    "given", [{"final": False}, {"epochs": 4}, {"events": [CutInstruction(9_000)]}], ids=repr
)
def test_runs_that_need_not_have_learned_are_not_warned_of(given, two_latents):
    """Those that go on, those below 10,000 samples, and those whose outputs an event may have
    silenced.
    """
    circuit = Microcircuit(3, engine="cpp")
    with pytest.warns(UserWarning, match=SILENT):
        circuit.run(*two_latents, epochs=5, record=(), progress=False)
    circuit.run(*two_latents, **{"epochs": 5, "record": (), "progress": False, **given})


def test_outputs_that_speak_in_rows_which_are_not_kept_are_not_silent(two_latents):
    """Of 2,000 rows every other one is kept in memory: here the weak ones."""
    X, Y = (np.where(np.arange(2000)[:, None] % 2, values, values / 4) for values in two_latents)
    Microcircuit(2, engine="cpp").run(
        X, Y, epochs=10, centre=True, record=(), progress=False
    )  # a warning is an error


def test_the_two_interneuron_weights_still_meet_by_the_formula(data):
    """Q' - R shrinks by 1 - eta_q a sample, whatever proximal synapses do."""
    circuit = Microcircuit(2, ridge=0.1, replay=2, engine="numpy", departures=SCALING)
    run = circuit.run(*data, order=np.arange(400), record=(), progress=False)
    first, last = (run.data["Q"].values[i].T - run.data["R"].values[i] for i in (0, -1))
    left = np.exp(run.data.attrs["log_retained"])
    assert 1e-6 < left < 0.5
    np.testing.assert_allclose(last, left * first, rtol=1e-9, atol=1e-12)
