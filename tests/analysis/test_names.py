"""The room's public names: all there, and none loaded before it is used."""

import subprocess
import sys

import pytest

import biorrr.analysis


@pytest.mark.parametrize("name", biorrr.analysis.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(biorrr.analysis, name).__doc__


def test_a_misspelt_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"No biorrr.analysis attribute infer_t"):
        biorrr.analysis.infer_t  # noqa: B018


def test_importing_the_room_loads_neither_simulator_nor_plots():
    check = (
        "import sys, biorrr.analysis as room; names = dir(room);print([m for m in ('brian2',"
        " 'matplotlib', 'sklearn', 'scipy', 'numba') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", check], text=True).strip() == "[]"
