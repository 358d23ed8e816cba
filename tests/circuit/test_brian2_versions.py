"""The engines and Brian2: the versions that were checked, and what happens with another."""

import brian2
import pytest
from brian2.parsing import rendering

from biorrr.circuit import Microcircuit
from biorrr.circuit.engines import brian2_private


def test_the_installed_brian2_is_one_of_those_that_were_checked():
    """Python 3.11 has 2.9, Python 3.12 has 2.10, Python 3.13 has 2.10 and 2.11: `make test-pythons`
    tries them.
    """
    version = brian2_private.brian2_version()
    assert ".".join(version.split(".")[:2]) in brian2_private.TESTED, (
        f"Brian2 {version} has not been checked: run `make test-pythons` with it and, if all tests"
        " but this one pass, add it to TESTED in circuit/engines/brian2_private.py and to"
        " install_requires in setup.cfg"
    )


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path))
    brian2_private.cpp_translator.cache_clear()
    yield
    brian2_private.cpp_translator.cache_clear()


def _build_cpp():
    Microcircuit(2, engine="cpp").build(6, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda patch: patch.delattr(rendering, "CPPNodeRenderer"),
            (
                r"lacks what the engines rely on \(cannot import name 'CPPNodeRenderer' from"
                r" 'brian2\.parsing\.rendering'"
            ),
        ),
        (
            lambda patch: patch.setitem(rendering.CPPNodeRenderer.expression_ops, "GtE", "ge"),
            r"must translate 'f\(a, inf\) \* \(b >= c\)' to 'f\(a, INFINITY\) \* \(b >= c\)' "
            r"\(got 'f\(a, INFINITY\) \* \(b ge c\)'\)",
        ),
        (
            lambda patch: patch.setattr(
                rendering.CPPNodeRenderer, "render_Name", lambda self, node: node.id.upper()
            ),
            r"must translate 'a \+ b \* \(c - 1\.0\)' to 'a \+ \(b \* \(c - 1\.0\)\)' \(got 'A \+ ",
        ),
    ],
    ids=["translator", "operator", "names"],
)
def test_a_name_that_brian2_spells_differently_stops_the_build(
    change, message, empty_cache, monkeypatch
):
    change(monkeypatch)
    with pytest.raises(brian2_private.Brian2Changed, match=message):
        _build_cpp()


def test_a_network_that_brian2_builds_differently_is_refused(monkeypatch):
    monkeypatch.delattr(brian2.Group, "run_regularly")
    with pytest.raises(
        brian2_private.Brian2Changed, match=r"lacks what the engines rely on \(.*run_regularly"
    ):
        Microcircuit(2, engine="numpy").build(6, 4)
