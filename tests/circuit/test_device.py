"""Plain nested loops give what Brian2's own loops give, and pathways that are not all-to-all keep those."""

import subprocess

import brian2
import numpy as np
import pytest

from biorrr.circuit import compiler
from biorrr.circuit.device import DenseDevice, _addend, _vanishes
from biorrr.circuit.loan import borrowed_brian2
from biorrr.models import (
    DistalSynapses,
    InterneuronToPyramidal,
    ProximalSynapses,
    PyramidalToInterneuron,
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
        (ProximalSynapses, {"x_pre", "gain", "eta_x", "plateau_post"}),
        (DistalSynapses, {"waking", "eta_y"}),  # decay goes on where y is silent
        (InterneuronToPyramidal, {"eta_q"}),
        (PyramidalToInterneuron, {"eta_r"}),
    ],
)
def test_what_silences_plasticity(pathway, silent):
    addend = _addend(pathway.rule, "+=")
    names = {str(symbol) for symbol in addend.free_symbols}
    assert {name for name in names if _vanishes(addend, name)} == silent


@pytest.mark.parametrize("rule", ["w = eta * x_pre", "w += x_pre\nw = clip(w, 0, 1)", "w *= x_pre", "w -= x_pre"])
def test_of_other_statements_nothing_is_assumed(rule):
    assert not _vanishes(_addend(rule, "+="), "x_pre")


LEAVE = """
static inline double leave(double t)
{
    if (t < 2) return 0;
    for (int i = 0; i < 3; i++) printf("%.17g %.17g ", brian::_array_target_full[i], brian::_array_target_patchy[i]);
    fflush(stdout);
    _exit(0);
}
"""


def test_beside_a_pathway_that_is_not_all_to_all(tmp_path):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal(5), rng.standard_normal((5, 3))
    pairs = np.array([[0, 2], [1, 0], [4, 0], [3, 2]])
    leave = brian2.Function(lambda t: 0.0, arg_units=[brian2.second], return_unit=1, stateless=False)
    leave.implementations.add_implementation("cpp", LEAVE, compiler_kwds={"headers": ["<cstdio>", "<unistd.h>"]})
    device = DenseDevice(frozenset({"everyone"}), {})
    with borrowed_brian2(device, build_on_run=False):
        clock = brian2.Clock(dt=brian2.second, name="ticks")
        source = brian2.NeuronGroup(5, "x : 1", name="source", clock=clock)
        target = brian2.NeuronGroup(
            3, "full : 1\npatchy : 1\nend : 1 (shared)", name="target", clock=clock, namespace={"leave": leave}
        )
        target.run_regularly("end = leave(t)", when="end", name="leaving")
        everyone = brian2.Synapses(
            source, target, "w : 1\nfull_post = w * x_pre : 1 (summed)", name="everyone", clock=clock
        )
        some = brian2.Synapses(source, target, "w : 1\npatchy_post = w * x_pre : 1 (summed)", name="some", clock=clock)
        everyone.connect()
        some.connect(i=pairs[:, 0], j=pairs[:, 1])
        source.x = x
        everyone.w = w.reshape(-1)
        some.w = w[tuple(pairs.T)]
        brian2.Network(source, target, everyone, some).run(brian2.second, namespace={})
        device.build(directory=str(tmp_path / "project"), compile=False, run=False)
    compiler.compile_program(tmp_path / "project" / "circuit.cpp", tmp_path / "circuit")
    said = subprocess.run([tmp_path / "circuit"], cwd=tmp_path / "project", capture_output=True, text=True, check=True)
    full, patchy = np.array(said.stdout.split(), float).reshape(3, 2).T
    np.testing.assert_allclose(full, x @ w, rtol=1e-14)
    connected = np.zeros_like(w)
    connected[tuple(pairs.T)] = w[tuple(pairs.T)]
    np.testing.assert_allclose(patchy, x @ connected, rtol=1e-14)
