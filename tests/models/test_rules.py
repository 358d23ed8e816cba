"""Rules: sums of terms, whether they are given as terms or as text."""

from dataclasses import replace

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.errors import InputError
from biorrr.models import (
    DistalSynapses,
    Leaky,
    Pathway,
    ProximalSynapses,
    Rate,
    Rates,
    SparseConnections,
    Term,
)
from biorrr.models.expressions import add, evaluate, names_in, product, silencers, terms_of

RULES = (
    "eta * x_pre * z_post",
    "eta * (y_pre * (z_post - s * a_post) - (1 - s) * w)",
    "0.01 * z_post * (x_pre - z_post * w) / n_pre",
    "eta * tanh(3 * x_pre * z_post) - -2 * w**2",
    "(x_pre + w) * (y_pre + z_post) * (w - z_post) * (x_pre - a_post) * (w + a_post)",
    "eta * (trace - x_pre * w) / (1 - eta)",
    "w",
    "-0.5",
)


@pytest.mark.parametrize("text", RULES)
def test_terms_add_up_to_the_text(text):
    terms = [product(factors) for factors in terms_of(text, {"w", "trace"})]
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(0.5, 2) for name in names_in(text).read}
    expected = evaluate(text, values)
    found = sum(evaluate(term, values) for term in terms)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(evaluate(add(terms), values), expected, rtol=1e-14)


def test_factors_belong_to_the_cell_that_knows_them():
    first, second = terms_of("eta * (y_pre * (z_post - s * a_post) - (1 - s) * w)", {"w"})
    assert first == ["eta", "y_pre", "z_post - s * a_post"]
    assert second == ["eta", "-1", "1 - s", "w"]


def test_a_rule_of_terms_is_kept_as_text():
    terms = [Term("eta", "y_pre", "z_post - a_post"), Term("-eta * (1 - s) * w")]
    rule = replace(DistalSynapses(), change=terms)
    assert rule.change == "eta * y_pre * (z_post - a_post) - eta * (1 - s) * w"
    sparse = SparseConnections(0.5, 0.5).alter_part(rule)
    assert sparse.change == f"connected * ({rule.change})"
    assert sparse.replay == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("eta * (x_pre * z_post - w)", {"eta"}),
        ("(w * x_pre)**2", {"w", "x_pre"}),
        ("x_pre * y_pre / n - x_pre", {"x_pre"}),
        ("x_pre**0 + x_pre", set()),
        ("exp(x_pre) * w", {"w"}),
    ],
)
def test_what_makes_an_expression_zero(text, names):
    assert silencers(text) == names


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_a_rule_of_terms_learns_as_its_text(engine):
    terms = [Term("eta_y", "y_pre", "z_post - s * a_post"), Term("-eta_y * (1 - s) * w")]
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((30, 4)), rng.standard_normal((30, 3))
    runs = [
        Microcircuit(
            2,
            s=0.3,
            rates=Rates(Rate(0.01), Rate(0.02), Rate(0.01)),
            pathways=[replace(DistalSynapses(), change=change)],
            departures=[Leaky(hold=10, dt=2)],
            engine=engine,
        ).run(X, Y, centre=True, progress=False)
        for change in (terms, DistalSynapses().change)
    ]
    np.testing.assert_allclose(runs[0].Vy, runs[1].Vy, rtol=0, atol=1e-13)


def test_what_is_no_rule_is_refused():
    with pytest.raises(InputError, match=r"^proximal.change: must be text in the language of equa"):
        replace(ProximalSynapses(), change=[3])
    with pytest.raises(InputError, match=r"^fan.wiring: must be 'all' for synapses that have weig"):
        Pathway("fan", "a", "b", "v", wiring="groups")
