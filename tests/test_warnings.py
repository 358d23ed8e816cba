"""Warnings fail the tests if our code or a test causes them, and only then."""

import warnings

import pytest


def test_a_warning_at_a_test_s_own_line_is_an_error():
    with pytest.raises(DeprecationWarning, match="old"):
        warnings.warn("old", DeprecationWarning, stacklevel=1)


def test_a_warning_in_our_code_is_an_error():
    with pytest.raises(RuntimeWarning, match="ours"):
        warnings.warn_explicit("ours", RuntimeWarning, "rates.py", 1, module="biorrr.models.rates")


def test_a_warning_of_a_dependency_is_not():
    with pytest.warns(UserWarning, match="theirs"):
        warnings.warn_explicit("theirs", UserWarning, "theirs.py", 1, module="numpy.testing")
