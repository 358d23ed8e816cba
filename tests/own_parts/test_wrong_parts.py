"""Wrong parts of many kinds: each is refused in one sentence, or runs, the same on every engine."""

import gc
import runpy
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from biorrr.circuit import Diverged
from biorrr.errors import InputError

W = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("wrong_parts.py"))))


def outcome(number, engine):
    """Return the run of a wrong circuit, or the sentence that refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return W.run(W.wrong(number), engine)
    except (InputError, Diverged) as error:
        said = str(error)
    assert "\n" not in said, number
    return said


def compare(number, engines):
    first, *others = (outcome(number, engine) for engine in engines)
    for other in others:
        assert isinstance(first, str) == isinstance(other, str), f"{number}: {first}, {other}"
        if isinstance(first, str):
            assert first.startswith("the circuit diverged") == other.startswith(
                "the circuit diverged"
            )
        else:
            for name in ("u", "v"):
                np.testing.assert_allclose(
                    other.data[name], first.data[name], rtol=1e-9, atol=1e-9, err_msg=str(number)
                )


def test_right_parts_run():
    assert np.isfinite(W.run(W.RIGHT, "numpy").data["v"]).all()


def test_wrong_parts_are_refused_in_a_sentence_or_run(capfd):
    for number in range(150):
        outcome(number, "numpy")
    gc.collect()
    assert "deleted" not in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_many_wrong_parts_are_the_same_on_numpy_and_cpp(first, capfd):
    for number in range(first, first + 50):
        compare(number, ("numpy", "cpp"))
    gc.collect()
    assert "deleted" not in capfd.readouterr().err
