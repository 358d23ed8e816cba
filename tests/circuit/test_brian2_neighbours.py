"""A person's own Brian2 code beside the circuit: nothing of it changes, and it can listen in."""

import subprocess
import sys

import brian2
import numpy as np
import pytest
from brian2.devices import get_device, reset_device

from biorrr.circuit import Microcircuit


def state_of_brian2():
    device = get_device()
    return (
        device,
        device.build_on_run,
        dict(device.build_options),
        device.defaultclock.dt,
        brian2.prefs.as_file,
    )


@pytest.fixture
def own_standalone(tmp_path):
    """A person in the middle of preparing a standalone simulation of their own."""
    brian2.set_device("cpp_standalone", build_on_run=False, directory=str(tmp_path / "own"))
    yield get_device()
    get_device().reinit()
    reset_device()


def test_half_prepared_standalone_simulation_stays(data, own_standalone, make_circuit):
    group = brian2.NeuronGroup(3, "dv/dt = -v / second : 1", method="exact", name="own_cells")
    brian2.defaultclock.dt = 0.5 * brian2.ms
    before, queue = state_of_brian2(), list(own_standalone.main_queue)
    arrays = dict(own_standalone.arrays)
    for engine in ("numpy", "cpp"):
        make_circuit(engine, s=0.3).run(data[0][:50], data[1][:50])
        assert state_of_brian2() == before
        # What was prepared is all there, in its order; Brian2 itself says once more what the
        # clock's dt is.
        assert own_standalone.main_queue[: len(queue)] == queue
        assert {entry[0] for entry in own_standalone.main_queue[len(queue) :]} <= {
            "set_by_single_value"
        }
        assert own_standalone.arrays == arrays
    assert group.variables["v"].device is own_standalone


@pytest.fixture
def own_preferences(tmp_path, monkeypatch):
    """A person who simulates in single precision on many threads, and has no compiled circuit
    yet."""
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path))
    own = {"core.default_float_dtype": np.float32, "devices.cpp_standalone.openmp_threads": 4}
    before = {name: brian2.prefs[name] for name in own}
    for name, value in own.items():
        brian2.prefs[name] = value
    yield
    for name, value in before.items():
        brian2.prefs[name] = value


def test_device_and_preferences_are_the_person_s_own(data, weights, make_loop, own_preferences):
    """They stay as they are, and the circuit computes in double precision all the same."""
    X, Y = data[0][:100], data[1][:100]
    loop = make_loop(2, s=0.3)
    for x, y in zip(X, Y, strict=True):
        loop.present(x, y)
    before = state_of_brian2()
    for engine in ("numpy", "cpp"):
        start = {f"{name}0": w for name, w in weights(2).items()}
        run = Microcircuit(2, s=0.3, rates=loop.rates, engine=engine, **start).run(
            X, Y, order="sequential"
        )
        np.testing.assert_allclose(run.Vx, loop.Vx, rtol=0, atol=1e-12)
        assert state_of_brian2() == before


@pytest.mark.parametrize("engine", ["numpy", "cpp"])
def test_numbers_do_not_depend_on_preferences(engine, data, make_circuit, monkeypatch, tmp_path):
    """Neither those that a program is built under nor those that it is found under."""
    own = {
        "core.default_integer_dtype": np.int64,
        "codegen.loop_invariant_optimisations": False,
        "codegen.cpp.extra_compile_args_gcc": ["-w", "-O0"],
        "codegen.generators.cpp.flush_denormals": True,
        "legacy.refractory_timing": True,
    }
    X, Y = data[0][:50], data[1][:50]
    plain = make_circuit(engine, s=0.3).run(X, Y, progress=False)
    before = {name: brian2.prefs[name] for name in own}
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path))
    try:
        for name, value in own.items():
            brian2.prefs[name] = value
        run = make_circuit(engine, s=0.3).run(X, Y, progress=False)
        assert {name: brian2.prefs[name] for name in own} == own
    finally:
        for name, value in before.items():
            brian2.prefs[name] = value
    for weight in ("Vx", "Vy", "Q", "R"):
        np.testing.assert_array_equal(getattr(run, weight), getattr(plain, weight))


def test_own_monitor_in_the_network(data):
    X, Y = data[0][:60], data[1][:60]
    circuit = Microcircuit(2, engine="numpy").build(6, 4)
    pyramidal = circuit.network["pyramidal"]
    monitor = brian2.StateMonitor(
        pyramidal, "plateau", record=True, when="end", clock=pyramidal.clock
    )
    circuit.network.add(monitor)
    run = circuit.run(X, Y, every=1)
    scale = (
        monitor.plateau[0, 0] / run.data["plateau"].values[0, 0]
    )  # the network works in its own units
    np.testing.assert_allclose(
        monitor.plateau.T, scale * run.data["plateau"].values, rtol=1e-9, atol=1e-12
    )


def test_a_second_run_begins_afresh(data):
    """Nothing of one run is left in the network for the next."""
    X, Y = data[0][:60], data[1][:60]
    circuit = Microcircuit(2, engine="numpy")
    np.testing.assert_array_equal(circuit.run(X, Y).Vx, circuit.run(X, Y).Vx)


def test_no_network_before_it_is_built():
    with pytest.raises(
        RuntimeError, match=r"^network: nothing is built in this process yet; call circuit.build"
    ):
        _ = Microcircuit(2).network


@pytest.mark.slow
def test_warnings_stay_python_s():
    """Brian2 takes them for its log when it is imported; a person's script shows them as before."""
    told = "import warnings; from biorrr.circuit.engines.brian2_private import import_brian2;"
    told += "before = warnings.showwarning;"
    told += (
        "import_brian2(); import sys; sys.exit('brian2' not in sys.modules or warnings.showwarning"
        " is not before)"
    )
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0
