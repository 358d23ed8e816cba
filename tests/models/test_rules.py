"""Rules: sums of terms, whether they are given as terms or as text."""

from dataclasses import replace

import numpy as np
import pytest

from biorrr.circuit import Microcircuit
from biorrr.errors import InputError
from biorrr.models import DistalSynapses, Leaky, Pathway, ProximalSynapses, Rate, Rates, Term
from biorrr.models.expressions import evaluate, names_in
from biorrr.models.rules import Rule, as_rule, silencers

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
    rule = as_rule(text, {"w", "trace"})
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(0.5, 2) for name in names_in(text).read}
    expected = evaluate(text, values)
    found = sum(evaluate(str(term), values) for term in rule.terms)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_allclose(evaluate(str(Rule(rule.terms)), values), expected, rtol=1e-14)
    assert str(rule) == text


def test_factors_belong_to_the_cell_that_knows_them():
    first, second = as_rule("eta * (y_pre * (z_post - s * a_post) - (1 - s) * w)", {"w"}).terms
    assert first == Term("eta", "y_pre", "z_post - s * a_post")
    assert second == Term("-eta * (1 - s) * w")


def test_a_rule_is_altered_as_text_and_as_terms():
    rule = as_rule("eta * (x_pre * z_post - w)", {"w"})
    assert str(rule.times("connected")) == "connected * (eta * (x_pre * z_post - w))"
    assert rule.times("connected").terms[1] == Term("-connected * eta * w")
    assert rule.reading({"x_pre": "trace_pre"}).terms[0].pre == "trace_pre"
    assert str(rule.plus(Term("-w"))) == "eta * (x_pre * z_post - w) - w"


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
