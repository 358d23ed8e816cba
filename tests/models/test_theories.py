"""Rival theories as values: checked, equal, short, and opened by a citation."""

import ast
import inspect
import pickle

import pytest

from biorrr.errors import InputError
from biorrr.models import Rate, theories

ALL = [getattr(theories, name) for name in theories.__all__ if name != "Theory"]


@pytest.mark.parametrize("theory", ALL)
def test_it_is_a_value(theory):
    one = theory(k=3, rate=Rate(0.01, 100), ridge=0.2)
    assert one == theory(k=3, rate=Rate(0.01, 100), ridge=0.2) != theory(k=2)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.parts(4) == one.parts(4)
    assert one.start(5, 4, seed=1)[one.filters].shape == (5, 3)
    assert (4, 3) in {matrix.shape for matrix in one.start(5, 4, seed=1).values()}


@pytest.mark.parametrize("theory", ALL)
def test_it_is_short_and_opens_with_citation_and_equations(theory):
    tree = ast.parse(inspect.getsource(theory))
    assert sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) < 30
    for said in ("(20", "Original", "Simplified"):
        assert said in theory.__doc__


def test_wrong_values_are_refused_in_words():
    with pytest.raises(InputError, match=r"feedback: must be .*'sideways'"):
        theories.FeedbackAlignment(feedback="sideways")
    with pytest.raises(InputError, match=r"nudge: must lie in \[1e-06, 1\] \(got 2\)"):
        theories.Sacramento(nudge=2)
    with pytest.raises(InputError, match=r"k: must be a whole number, at least 1 \(got 0\)"):
        theories.BioCCA(k=0)
