"""Warnings fail the tests if our code or a test causes them, and only then."""

import warnings

import numpy as np
import pytest

from biorrr.models import expressions


def test_a_warning_at_a_test_s_own_line_is_an_error():
    with pytest.raises(DeprecationWarning, match="old"):
        warnings.warn("old", DeprecationWarning, stacklevel=1)


def test_a_warning_in_our_code_is_an_error():
    with pytest.raises(RuntimeWarning, match="divide by zero"):
        expressions.evaluate("1 / x", {"x": np.zeros(1)})


def test_a_warning_of_a_dependency_is_not():
    with pytest.warns(UserWarning, match="theirs"):
        warnings.warn_explicit("theirs", UserWarning, "theirs.py", 1, module="numpy.testing")
