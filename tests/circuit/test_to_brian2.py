"""The Brian2 script of a circuit, run without biorrr, ends with the weights of the run."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from biorrr.circuit import Circuit, Hierarchy, Microcircuit, Run, TimeSeries
from biorrr.errors import InputError
from biorrr.models import (
    AllOrNone,
    Freeze,
    LateInstruction,
    Leaky,
    Pathway,
    Population,
    PyramidalNeurons,
    Rate,
    Rates,
    Rectified,
    SensoryInput,
    Step,
    TransmissionNoise,
    Variable,
)

OWN_PARTS = runpy.run_path(str(Path(__file__).parents[1] / "own_parts" / "own_parts.py"))
OWN = Rates(Rate(0.03, 40), Rate(0.02), Rate(0.02, 100))
# biorrr cannot be imported, whatever is installed.
WITHOUT = """
import runpy, sys
sys.modules["biorrr"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
assert not [name for name in sys.modules if name.startswith("biorrr.")]
"""


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6))
    return X, X[:, :2] @ rng.standard_normal((2, 4)) + 0.1 * rng.standard_normal((30, 4))


def repeat(folder, circuit, run, **data):
    """Return the script of a run, and the weights with which it ends on ``data``."""
    path, before, after = (folder / name for name in ("my_circuit.py", "data.npz", "weights.npz"))
    assert circuit.to_brian2(path, run=run) == path
    np.savez(before, **data)
    files = [str(each) for each in (path, before, after)]
    done = subprocess.run(
        [sys.executable, "-I", "-c", WITHOUT, *files], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING" not in done.stderr  # such as of names that mean two things
    with np.load(after) as found:
        return path.read_text(), dict(found)


def check(folder, circuit, data, **settings):
    X, Y = data
    run = circuit.run(X, Y, progress=False, snapshots=1, record=(), **settings)
    script, found = repeat(folder, circuit, run, X=X, Y=Y)
    assert set(found) == set(run.weights)
    assert any(np.abs(run.data[name].values[0] - found[name]).max() > 1e-3 for name in found)
    for name, matrix in run.weights.items():
        np.testing.assert_allclose(found[name], matrix, rtol=0, atol=1e-12, err_msg=name)
    return script


def own_rates(**settings):
    return Microcircuit(k=2, rates=OWN, engine="numpy", **settings)


REQUIRED = {
    "own rates": (lambda: own_rates(), {}),
    "two epochs, s, more interneurons": (lambda: own_rates(s=0.5, interneurons=3), {"epochs": 2}),
    "sequential, CCA": (lambda: own_rates(s=1, seed=3), {"order": "sequential", "centre": True}),
    "auto": (lambda: Microcircuit(k=2, engine="numpy"), {}),
    "replay": (lambda: own_rates(ridge=0.1, replay=3), {"order": [3, 1, 4, 1, 5]}),
    "auto, replay": (lambda: Microcircuit(k=2, ridge=0.1, engine="numpy"), {"final": False}),
    "own population": (lambda: OWN_PARTS["basket"](k=2, engine="numpy"), {}),
    "own rule": (lambda: OWN_PARTS["oja"](k=2, engine="numpy"), {}),
    "rectified": (lambda: own_rates(departures=[Rectified(0.1)]), {}),
    "leaky": (lambda: own_rates(departures=[Leaky(hold=20)]), {}),
    "areas": (lambda: Hierarchy((3, 2), gains=(1, 0.5, 0.5), engine="numpy"), {}),
    "noise": (lambda: own_rates(ridge=0.1, replay=2, departures=[TransmissionNoise(0.2)]), {}),
}
FAST = ("auto, replay", "own population", "noise")
FURTHER = {
    "leaky, auto, replay": lambda: Microcircuit(
        k=2, ridge=0.1, replay=2, departures=[Leaky(hold=20)], engine="numpy"
    ),
    "late": lambda: own_rates(ridge=0.1, departures=[LateInstruction(2)]),
    "all or none": lambda: own_rates(departures=[AllOrNone(0.1)]),
    "combined": lambda: OWN_PARTS["combined"](k=2, engine="numpy"),
    "millivolts": lambda: own_rates(cell="millivolts"),
    "feedback": lambda: Microcircuit(k=2, feedback=0.3, ridge=0.1, replay=2, engine="numpy"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in FAST else pytest.mark.slow) for one in REQUIRED]
)
def test_the_script_ends_with_the_weights_of_the_run(name, tmp_path, data):
    make, settings = REQUIRED[name]
    check(tmp_path, make(), data, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", FURTHER)
def test_departures_end_with_the_weights_of_the_run(name, tmp_path, data):
    check(tmp_path, FURTHER[name](), data)


def test_the_script_imports_brian2_and_numpy_alone(tmp_path, data):
    script = check(tmp_path, own_rates(), data)
    imported = [line for line in script.splitlines() if line.startswith(("import", "from"))]
    assert {line.split()[1] for line in imported} == {"sys", "numpy", "brian2"}
    for equation in (
        "w += eta_x * x_pre * plateau_post",
        "z_post = w * x_pre : 1 (summed)  # somatic output",
        "plateau = a - inhibition",
    ):
        assert equation in script


def test_a_run_that_continues_another_goes_on_in_its_order(tmp_path, data):
    circuit = own_rates()
    first = circuit.run(*data, epochs=1, progress=False)
    check(tmp_path, circuit, data, start=first)


def test_steps_may_name_what_parameters_alone_determine(tmp_path, data):
    """Brian2 wants such numbers before all that each cell has of its own."""
    gain = Variable("gain", "slope of plateaus", "population", "parameter", 1.3)
    code = """
        twice = 2 * plateau
        half = gain / 2
        half += 0.1
        plateau = twice * half
        half = half * abs(twice)
        quarter = 0.25
        quarter *= gain
        plateau = plateau / (1 + quarter * half)
    """
    cells = PyramidalNeurons(2).adding(gain, Step("plateau shape", code))
    check(tmp_path, own_rates(populations=[cells]), data)


def test_a_circuit_without_a_microcircuit_names_its_ports(tmp_path, data):
    rule = "0.01 * z_post * (x_pre - z_post * w)"
    # A population may have a name that the script has for itself.
    pathway = Pathway("oja", "sensory", "data", drives="z", current="w * x_pre", change=rule)
    circuit = Circuit(
        [SensoryInput(), Population(1, "data", [Variable("z", "output")])],
        [pathway],
        engine="numpy",
    )
    run = circuit.run({"x": data[0]}, progress=False)
    _, found = repeat(tmp_path, circuit, run, X=data[0])
    np.testing.assert_allclose(found["oja"], run.weights["oja"], rtol=0, atol=1e-12)


def test_what_a_script_cannot_repeat_is_refused(tmp_path, data):
    circuit = own_rates(departures=[Leaky(hold=20)])
    path = tmp_path / "script.py"
    frozen = circuit.run(*data, events=[Freeze(at=3)], progress=False)
    with pytest.raises(InputError, match="run: has events, which a script does not repeat"):
        circuit.to_brian2(path, run=frozen)
    in_time = circuit.run(*(TimeSeries(each, dt=4) for each in data), progress=False)
    with pytest.raises(InputError, match="run: has signals in time"):
        circuit.to_brian2(path, run=in_time)
    in_time.save(tmp_path / "run.nc")
    with pytest.raises(InputError, match="run: was read from a file"):
        circuit.to_brian2(path, run=Run.load(tmp_path / "run.nc"))
    several = circuit.run(*data, seeds=[3, 5], progress=False)
    with pytest.raises(InputError, match=r"run: must be one run, .* of seeds 3, 5; pass one"):
        circuit.to_brian2(path, run=several)
    assert not path.exists()
