"""Plain nested loops give what Brian2's own loops give, and pass over what has nothing to say."""

from dataclasses import replace

import numpy as np
import pytest
from brian2.parsing.sympytools import str_to_sympy

from biorrr.circuit import Circuit, Microcircuit
from biorrr.circuit.engines.device import _vanishes
from biorrr.circuit.engines.function_calls import calls_first
from biorrr.models import (
    DalesLaw,
    DistalSynapses,
    InterneuronToPyramidal,
    ProximalSynapses,
    PyramidalToInterneuron,
    SensoryInput,
    SparseConnections,
)

WEIGHTS = ("Vx", "Vy", "Q", "R")


def test_switched_off_the_circuit_is_the_same(data, make_circuit, make_loop, monkeypatch):
    X, Y = data[0][:200], data[1][:200]
    fast = make_circuit("cpp", s=0.3, ridge=0.2, replay=3).run(X, Y, order="sequential", progress=False)
    monkeypatch.setenv("BIORRR_DENSE", "0")
    # The seed, which is the default's, makes it another object, and that looks for a program of its own.
    slow = make_circuit("cpp", s=0.3, ridge=0.2, replay=3, seed=0).run(X, Y, order="sequential", progress=False)
    for name in WEIGHTS:
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("pathway", "silent"),
    [
        (ProximalSynapses(), {"x_pre", "eta_x", "plateau_post"}),
        (DistalSynapses(), {"eta_y"}),  # decay goes on where y is silent
        (InterneuronToPyramidal(), {"eta_q"}),
        (PyramidalToInterneuron(), {"eta_r"}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_silences_plasticity(pathway, silent):
    addend = str_to_sympy(pathway.change)
    names = {str(symbol) for symbol in addend.free_symbols}
    assert {name for name in names if _vanishes(addend, name)} == silent


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_a_rule_that_changes_nothing(data, engine):
    X, Y = data[0][:40], data[1][:40]
    circuit = Microcircuit(2, pathways=[replace(DistalSynapses(), change="0 * eta_y * w")], engine=engine)
    run = circuit.run(X, Y, progress=False)
    np.testing.assert_array_equal(run.data["Vy"][-1], run.data["Vy"][0])
    assert np.any(run.data["Vx"][-1] != run.data["Vx"][0])


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_a_circuit_without_weights(data, engine):
    run = Circuit([SensoryInput(6)], [], engine=engine).run({"x": data[0][:40]}, record="x", every=1, progress=False)
    np.testing.assert_array_equal(run.data["x"], data[0][run.data["data_row"]])


def test_silent_fibres_and_factors_that_are_zero_are_skipped(tmp_path, monkeypatch):
    """In the code itself, with departures that wrap the rule too: a mistake here would cost speed, not correctness."""
    monkeypatch.setenv("BIORRR_KEEP_SOURCES", str(tmp_path / "sources"))
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / "cache"))
    circuit = Microcircuit(2, engine="cpp", departures=[SparseConnections(0.5, 0.5), DalesLaw(("Vx",))])
    circuit.build(6, 4)
    code = {path.stem: path.read_text() for path in (tmp_path / "sources" / "code_objects").glob("*.cpp")}

    def of(name):
        (text,) = (text for stem, text in code.items() if stem.startswith(name))
        return text

    loop = (tmp_path / "sources" / "ticks.cpp").read_text()

    def due(name):
        (call,) = (line for line in loop.splitlines() if f"_run_{name}_codeobject" in line)
        return call.partition("if (")[2].partition(") _run")[0].split(" && ")

    for step in ("proximal_change", "proximal_replay"):
        assert "_source = _active_sensory.begin; _source < _active_sensory.end" in of(step)
        assert "brian::_array_neuromodulator_eta_x[0] != 0" in due(step)
        assert "brian::_array_proximal_plastic[0] != 0" in due(step)
    assert "_waking" in due("proximal_change")
    assert "!_waking" in due("proximal_replay")
    assert "brian::_array_neuromodulator_replay_gain[0] != 0" in due("proximal_replay")
    assert "_source = 0; _source < 4" in of("distal_change")
    assert "_source = _active_instructive.begin" in of("distal_summed_variable_a")


FETCHED = ["double V = _ptr_array_cells_V[_idx];", "const double gain = _ptr_array_clock_gain[0];"]


@pytest.mark.parametrize(
    ("lines", "calls", "rest"),
    [
        (
            ["const double open = 1.0/(1.0 + exp(_lio_1 * (- (gain + V))));", "V += exp(1) * tanh(V);"],
            [*FETCHED, "_called_0[_idx] = exp(_lio_1 * (- (gain + V)));", "_called_1[_idx] = exp(1);",
             "_called_2[_idx] = tanh(V);"],
            ["const double open = 1.0/(1.0 + _called_0[_idx]);", "V += _called_1[_idx] * _called_2[_idx];"],
        ),
        # What has changed, what is made on the way and what is drawn in an order are not there when the loop begins.
        (["V *= 2;", "V = exp(V);"], [], None),
        (["const double twice = 2 * V;", "V = exp(twice);"], [], None),
        (["V = log(_rand(_vectorisation_idx));"], [], None),
        # Other functions, and names that only begin like one.
        (["V = sqrt(V) + my_exp(V) + expected(V);"], [], None),
    ],
)  # fmt: skip
def test_calls_that_can_go_first(lines, calls, rest):
    found = calls_first("\n".join([*FETCHED, *lines]))
    assert found.calls == calls
    assert found.count == sum(line.startswith("_called") for line in calls)
    assert found.rest == [*FETCHED, *(lines if rest is None else rest)]
