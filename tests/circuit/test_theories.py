"""Rival theories: each equals a plain loop of its equations, resumes bit for bit, is judged, and
obeys its law.
"""

from dataclasses import replace

import numpy as np
import pytest

from biorrr.analysis import ExactSolution, fixed_feedback_law, principal_angles
from biorrr.circuit import Checkpoint, Circuit
from biorrr.errors import InputError
from biorrr.models import Rate, gaussian_draw
from biorrr.models.theories import (
    BioCCA,
    BioRRR,
    BurstDependent,
    FeedbackAlignment,
    Sacramento,
)

M, N, K, FEW = 6, 4, 2, 120
RATE, RIDGE = Rate(0.01, 300), 0.1
THEORIES = {
    "fixed feedback": FeedbackAlignment(feedback="fixed"),
    "learned feedback": FeedbackAlignment(feedback="learned"),
    "backprop": FeedbackAlignment(feedback="backprop"),
    "Sacramento, fixed": Sacramento(learned=False),
    "Sacramento, learned": Sacramento(),
    "bursts, fixed": BurstDependent(learned=False),
    "bursts, not cancelled": BurstDependent(cancelling=False),
    "bursts": BurstDependent(),
    "Bio-CCA": BioCCA(),
    "Bio-RRR": BioRRR(distal=0.5, inhibitory=2.0),
}


def apical_of(theory):
    """Return the variable of the pyramidal cells that their apical compartment carries."""
    return "plateau" if isinstance(theory, BioRRR) else "apical"


def theory_called(name, rate=RATE):
    return replace(THEORIES[name], k=K, rate=rate, ridge=RIDGE)


@pytest.fixture(scope="module")
def data():
    """Return two views, centred, of mean square 1."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, M)) * [2.0, 1.5, 1.0, 0.7, 0.5, 0.5]
    Y = X @ rng.standard_normal((M, N)) * 0.6 + 0.3 * rng.standard_normal((300, N))
    return tuple(
        (one - one.mean(0)) / np.sqrt(np.square(one - one.mean(0)).mean()) for one in (X, Y)
    )


def learn(theory, data, engine="numpy", samples=FEW, **options):
    order = np.random.default_rng(5).integers(len(data[0]), size=samples)
    start = theory.start(M, N, seed=2)
    circuit = Circuit(**theory.layout(N), engine=engine, seed=3)
    return circuit.run(*data, order=order, weights=start, progress=False, **options), start, order


# -- the equations as the files print them ---------------------------------------------------------


def feedback_loop(theory, w, x, y, eta):
    z = w["Vx"].T @ x
    error = y - w["U"] @ z
    B = w["U"] if theory.feedback == "backprop" else w["B"]
    apical, decay = B.T @ error, 0.3 if theory.feedback == "learned" else 0.0
    new = {
        "Vx": w["Vx"] + eta * np.outer(x, apical),
        "U": w["U"] + eta * (np.outer(error, z) - decay * w["U"]),
    }
    if theory.feedback == "learned":
        new["B"] = w["B"] + eta * (np.outer(error, z) - decay * w["B"])
    return z, apical, new


def sacramento_loop(theory, w, x, y, eta):
    l, i, decay = 0.5, 0.01, 0.3 if theory.learned else 0.0
    z = w["Vx"].T @ x
    u = (1 - l) * w["U"] @ z + l * y
    n = (1 - i) * w["P"] @ z + i * u
    apical, miss = w["B"].T @ u - w["S"].T @ n, (u - w["U"] @ z) / l
    new = {
        "Vx": w["Vx"] + eta * np.outer(x, apical) / (l * (1 - i)),
        "U": w["U"] + eta * (np.outer(miss, z) - decay * w["U"]),
        "P": w["P"] + 5 * eta * np.outer(u - w["P"] @ z, z),
        "S": w["S"] + 5 * eta * np.outer(n, apical),
    }
    if theory.learned:
        new["B"] = w["B"] + eta * (np.outer(miss, z) - decay * w["B"])
    return z, apical, new


def bursts_loop(theory, w, x, y, eta):
    z = w["Vx"].T @ x
    guess = w["U"] @ z
    bursts = (y - guess) * np.maximum(1 + guess / 30, 0)
    p = 1 / (1 + np.exp(-0.3 * w["B"].T @ (bursts + (0 if theory.cancelling else guess / 2))))
    mean, decay = w.get("p_mean", np.full(K, 0.5)), 0.3 if theory.learned else 0.0
    apical = (p - mean) * np.maximum(1 + z / 30, 0) * 4 / 0.3
    new = {
        "Vx": w["Vx"] + eta * np.outer(x, apical),
        "U": w["U"] + eta * (np.outer(bursts, z) - decay * w["U"]),
        "p_mean": mean + (p - mean) / 1000,
    }
    if theory.learned:
        new["B"] = w["B"] + eta * (np.outer(bursts, z) - decay * w["B"])
    return z, apical, new


def bio_cca_loop(theory, w, x, y, eta):
    """The equations with M itself, whose equilibrium is solved for; the circuit keeps its
    inverse."""
    M = w.get("M", np.eye(K))
    a, b = w["Wx"].T @ x, w["Wy"].T @ y
    z = np.linalg.solve(M, a + b)
    M = M + eta / 0.1 * (np.outer(z, z) - M)
    inverse = np.linalg.inv(M)
    Wx, Wy = w["Wx"] + 2 * eta * np.outer(x, z - a), w["Wy"] + 2 * eta * np.outer(y, z - b)
    return z, b, {"Wx": Wx, "Wy": Wy, "M": M, "N": inverse, "N_again": inverse}


def bio_rrr_loop(theory, w, x, y, eta):
    z = w["Vx"].T @ x
    n = w["R"] @ z
    plateau = w["Vy"].T @ y - w["Q"] @ n
    new = {
        "Vx": w["Vx"] + eta * np.outer(x, plateau),
        "Vy": w["Vy"] + 0.5 * eta * (np.outer(y, z) - w["Vy"]),
        "Q": w["Q"] + 2 * eta * (np.outer(z, n) - w["Q"]),
        "R": w["R"] + 2 * eta * (np.outer(n, z) - w["R"]),
    }
    return z, plateau, new


LOOPS = {
    FeedbackAlignment: feedback_loop,
    Sacramento: sacramento_loop,
    BurstDependent: bursts_loop,
    BioCCA: bio_cca_loop,
    BioRRR: bio_rrr_loop,
}


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
@pytest.mark.parametrize("name", THEORIES)
def test_it_equals_a_plain_loop_of_its_equations(name, engine, data):
    theory = theory_called(name)
    run, weights, order = learn(theory, data, engine, record=("z", apical_of(theory)), every=1)
    step, noise = LOOPS[type(theory)], np.sqrt(RIDGE)
    for t, row in enumerate(order):
        x = data[0][row] + noise * gaussian_draw(3, 1000, t, np.arange(M))
        y = data[1][row] + (
            noise * gaussian_draw(3, 1001, t, np.arange(N)) if name == "Bio-CCA" else 0
        )
        z, apical, changed = step(theory, weights, x, y, RATE(t))
        weights = weights | changed
        np.testing.assert_allclose(run.data["z"][t], z, rtol=0, atol=1e-12)
        np.testing.assert_allclose(run.data[apical_of(theory)][t], apical, rtol=0, atol=1e-12)
    if name == "backprop":
        weights["B"] = weights["U"]  # the twin
    for matrix, learned in run.weights.items():
        np.testing.assert_allclose(learned, weights[matrix], rtol=0, atol=1e-12, err_msg=matrix)
        assert np.abs(learned - theory.start(M, N, 2)[matrix]).max() > 1e-3 or matrix in ("B", "T")


@pytest.mark.parametrize("name", THEORIES)
def test_its_circuit_begins_with_its_own_weights(name, data):
    """Those of the seed of the circuit or of the run; matrices that are given replace their own
    alone.
    """
    theory = theory_called(name)
    circuit = Circuit(**theory.layout(N), engine="numpy", seed=3)

    def begun(**options):
        return circuit.run(*data, plastic=False, record=(), progress=False, **options).weights

    for seed, found in {3: begun(), 4: begun(seed=4)}.items():
        for matrix, weights in found.items():
            np.testing.assert_array_equal(weights, theory.start(M, N, seed)[matrix], err_msg=matrix)
    given = np.ones((M, K))
    expected = theory.start(M, N, 3) | {theory.filters: given}
    for matrix, weights in begun(weights={theory.filters: given}).items():
        np.testing.assert_array_equal(weights, expected[matrix], err_msg=matrix)


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (
            3,
            (
                r"draw: must be a function of the numbers of features by port and of the seed, or"
                r" None \(got 3\)"
            ),
        ),
        (
            lambda: {},
            r"draw: must be a function of the numbers of features by port and of the seed, or None",
        ),
        (lambda sizes, seed: 3, r"draw: must be a dict of values by name \(got 3\)"),
        (lambda sizes, seed: {"Z": 1}, r"weights: there is no matrix called 'Z'; there are Vx, "),
        (
            lambda sizes, seed: {"B": np.ones((sizes["x"], K))},
            r"weights\['B'\]: must have shape \(4, 2\)",
        ),
    ],
)
def test_wrong_first_weights_get_a_sentence(draw, sentence, data):
    with pytest.raises((InputError, TypeError), match=sentence):
        Circuit(**theory_called("fixed feedback").layout(N) | {"draw": draw}, engine="numpy").run(
            *data
        )


@pytest.mark.parametrize("name", THEORIES)
def test_it_resumes_from_a_checkpoint_bit_for_bit(name, data, tmp_path):
    theory = theory_called(name)
    straight, *_ = learn(theory, data, record=("z", apical_of(theory)))
    where = Checkpoint(tmp_path / "c.npz", every=0)

    def stop(seen, weights):
        if seen >= 60:
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        learn(theory, data, record=("z", apical_of(theory)), checkpoint=where, callback=stop)
    resumed, *_ = learn(theory, data, record=("z", apical_of(theory)), checkpoint=where)
    for variable in straight.data.variables:
        np.testing.assert_array_equal(
            resumed.data[variable], straight.data[variable], err_msg=variable
        )


@pytest.mark.parametrize("name", THEORIES)
def test_every_rule_but_back_propagation_s_is_local(name):
    verdicts = Circuit(**THEORIES[name].layout(N)).locality()
    strangers = {verdict.pathway: verdict.elsewhere for verdict in verdicts if not verdict.local}
    assert strangers == ({"feedback": ("U",)} if name == "backprop" else {})


@pytest.mark.parametrize("name", [name for name in THEORIES if "fixed" in name])
def test_fixed_feedback_obeys_law_1(name, data):
    run, start, _ = learn(theory_called(name, Rate(0.006, 10_000)), data, "cpp", samples=100_000)
    law = fixed_feedback_law(start["B"], *data, ridge=RIDGE)
    exact = ExactSolution(*data, 0.0, RIDGE)
    assert exact.excess(run.weights["Vx"]) == pytest.approx(law.excess, abs=0.015)
    assert law.excess > 0.02
    assert principal_angles(run.weights["Vx"], law.filters, data[0], RIDGE).max() < 10


def test_fixed_feedback_to_as_many_cells_as_features_loses_nothing(data):
    """Its publications have hidden layers wider than the output: law 1 asks nothing of them."""
    theory = FeedbackAlignment(k=N, feedback="fixed", rate=Rate(0.006, 10_000), ridge=RIDGE)
    run, start, _ = learn(theory, data, "cpp", samples=100_000)
    law = fixed_feedback_law(start["B"], *data, ridge=RIDGE)
    assert abs(law.excess) < 1e-10
    assert ExactSolution(*data, 0.0, RIDGE).excess(run.weights["Vx"]) < 0.01


def test_outputs_of_bio_cca_have_the_variance_that_its_constraint_asks_for(data):
    """1 + r, with r the canonical correlations: another scale than that of Bio-RRR."""
    slowing = theory_called("Bio-CCA", Rate(0.006, 1_000))  # lateral weights are noisy at the other
    run, *_ = learn(slowing, data, "cpp", samples=200_000)
    Wx, Wy, N_ = (run.weights[name] for name in ("Wx", "Wy", "N"))
    X, Y = data
    Cxx, Cyy = (one.T @ one / len(one) + RIDGE * np.eye(one.shape[1]) for one in data)
    shared = Wx.T @ X.T @ Y @ Wy / len(X)
    drive = Wx.T @ Cxx @ Wx + Wy.T @ Cyy @ Wy + shared + shared.T
    roots = [np.linalg.inv(np.linalg.cholesky(C)) for C in (Cxx, Cyy)]
    r = np.linalg.svd(roots[0] @ (X.T @ Y / len(X)) @ roots[1].T, compute_uv=False)[:K]
    variances = np.linalg.eigvalsh(N_ @ drive @ N_.T)[::-1]
    np.testing.assert_allclose(variances, 1 + r, rtol=0.03)
    of_x = np.linalg.eigvalsh(Wx.T @ Cxx @ Wx)[::-1]
    np.testing.assert_allclose(of_x, (1 + r) ** 2 / 2, rtol=0.03)


def test_feedback_of_another_shape_is_refused_in_words(data):
    with pytest.raises(
        InputError,
        match=r"B: must have a row for each of the 4 columns of Y \(got shape \(3, 2\)\)",
    ):
        fixed_feedback_law(np.ones((3, 2)), *data)


@pytest.mark.parametrize(
    "name", ["learned feedback", "backprop", "Sacramento, learned", "bursts", "Bio-CCA", "Bio-RRR"]
)
def test_the_others_find_the_optimum(name, data):
    theory = theory_called(name, Rate(0.006, 10_000))
    run, *_ = learn(theory, data, "cpp", samples=100_000)
    assert ExactSolution(*data, theory.s, RIDGE).excess(run.weights[theory.filters]) < 0.02
