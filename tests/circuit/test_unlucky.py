"""Unlucky and hostile surroundings: odd caches, compilers and numbers, files that change, threads,
logs.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from biorrr.circuit import Circuit, Microcircuit
from biorrr.circuit.engines import cache, compiler
from biorrr.models import (
    AllOrNone,
    DalesLaw,
    Leaky,
    LoopDelay,
    Rate,
    Rates,
    SensoryInput,
    SparseConnections,
    Spiking,
    TransmissionNoise,
)

needs_compiler = pytest.mark.skipif(compiler.find_compiler() is None, reason="needs a C++ compiler")
RATES = Rates(Rate(0.004), Rate(0.02), Rate(0.008))


@pytest.fixture(scope="module")
def few(data):
    return data[0][:60], data[1][:60]


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-50, 1e-30, 1e30, 1e49])
@pytest.mark.parametrize(
    "s", [pytest.param(0.0, marks=pytest.mark.slow), 0.5, pytest.param(1.0, marks=pytest.mark.slow)]
)
def test_magnitudes_that_are_accepted_are_learned(scale, s, few):
    """Up to the unit, the circuit is the same: a power of two changes no digit."""
    X, Y = (values / np.abs(values).max() * 2 for values in few)
    unit = 2.0 ** round(np.log2(scale))
    plain = Microcircuit(2, s=s, engine="numpy").run(X, Y, progress=False)
    run = Microcircuit(2, s=s, engine="numpy").run(X * unit, Y, progress=False)
    np.testing.assert_allclose(run.Vx * unit, plain.Vx, rtol=1e-9)
    other = Microcircuit(2, s=s, engine="numpy").run(X, Y * unit, progress=False)
    assert np.isfinite(other.Vx).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-60, 1e80, 1e160])
def test_others_are_refused(scale, few):
    X, Y = few
    with pytest.raises(
        ValueError, match=r"Y: its largest value must lie in \[1e-50, 1e\+50\], .* another unit"
    ):
        Microcircuit(2).run(X, Y * scale)


@pytest.mark.parametrize(
    ("make", "options", "text"),
    [
        (
            {"seed": 2**70},
            {},
            r"seed: must be a whole number, at most 2\*\*53 \(got 1180591620717411303424\)",
        ),
        ({}, {"seed": 2**70}, r"seed: must be a whole number, at most 2\*\*53"),
        ({}, {"epochs": 10**18}, r"epochs: must be a whole number, at most 2\*\*53"),
        (
            {},
            {"epochs": 2**50},
            r"epochs: a circuit can count 2\*\*53 samples \(got 1125899906842624 epochs",
        ),
        ({}, {"plastic": 2}, r"plastic: must be True or False \(got 2\)"),
        (
            {},
            {"start": "run.nc"},
            r"start: must be a Run \(got 'run.nc'\); Run.load reads one from a file",
        ),
    ],
)
def test_settings_that_no_run_can_have(make, options, text, few):
    with pytest.raises((TypeError, ValueError), match=text):
        Microcircuit(2, engine="numpy", **make).run(*few, **options)


def test_a_numpy_truth_is_a_truth(few):
    assert (
        Microcircuit(2, engine="numpy")
        .run(*few, plastic=np.True_, progress=False)
        .data.attrs["plastic"]
        == 1
    )


# -- runs that continue others ---------------------------------------------------------------------

CONTINUED = {
    f"{name}, {rates}, s = {s}": {
        "s": s,
        **departure,
        **({} if rates == "auto" else {"rates": RATES}),
    }
    for rates in ("auto", "timetable")
    for s in (0.0, 0.3, 1.0)
    for name, departure in {
        "plain": {},
        "ridge": {"ridge": 0.1, "replay": 2},
        "leaky": {"departures": [Leaky(hold=8, dt=2)]},
        "spiking": {"departures": [Spiking(10), AllOrNone(0.3)]},
        "noise, delay": {
            "departures": [
                SparseConnections(0.7, 0.7),
                TransmissionNoise(0.1),
                LoopDelay(2),
                DalesLaw(("Vx", "Q")),
            ]
        },
    }.items()
}


@pytest.mark.parametrize(
    "name",
    [
        name if "s = 0.3" in name else pytest.param(name, marks=pytest.mark.slow)
        for name in CONTINUED
    ],
)
def test_a_run_that_continues_another_ends_bit_for_bit_where_one_run_ends(name, few):
    circuit = Microcircuit(2, engine="numpy", **CONTINUED[name])
    X, Y = few[0][:24] * 3.7, few[1][:24] / 1.3  # so that units are not powers of two
    options = {"record": (), "centre": True, "final": False, "progress": False}
    whole = circuit.run(X, Y, epochs=2, **options)
    first = circuit.run(X, Y, **options)
    rest = circuit.run(X, Y, start=first, **options)
    for matrix, values in whole.weights.items():
        np.testing.assert_array_equal(rest.weights[matrix], values, err_msg=matrix)
    np.testing.assert_array_equal(rest.data["state"], whole.data["state"])


# -- files -----------------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize("what", ["overwritten", "truncated"])
def test_data_that_change_while_a_run_reads_them_are_noticed(what, tmp_path, data):
    path = tmp_path / "X.npy"
    np.save(path, np.tile(data[0], (50, 1)))
    X, Y = np.load(path, mmap_mode="r"), np.tile(data[1], (50, 1))

    def spoil(t, weights):
        if t < 1000:
            return
        if what == "truncated":
            os.truncate(path, 4096)
        else:
            with path.open("r+b") as file:
                file.seek(1000)
                file.write(bytes(1000))

    with pytest.raises(
        RuntimeError, match=r"X.npy: the file changed while the run was reading it; .* run it again"
    ):
        Microcircuit(2, engine="cpp").run(X, Y, callback=spoil, record=(), progress=False)


# -- cache and compiler ----------------------------------------------------------------------------


@needs_compiler
def test_a_relative_cache_works_from_any_folder(tmp_path, monkeypatch, few):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BIORRR_CACHE", "mine")
    run = Microcircuit(2, engine="cpp", rates=RATES).run(*few, progress=False)
    assert run.ended == "done"
    assert (tmp_path / "mine" / "circuits").is_dir()


@needs_compiler
def test_a_compiler_may_come_with_words(tmp_path, monkeypatch):
    wrapper = tmp_path / "ccache"
    wrapper.write_text(f'#!/bin/sh\necho called >> "{tmp_path}/log"\nexec "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", f"{wrapper} g++")
    for found in (compiler.find_compiler, compiler.identity):
        found.cache_clear()
    try:
        (tmp_path / "one.cpp").write_text('extern "C" int one() { return 1; }')
        compiler.compile_library(tmp_path / "one.cpp", tmp_path / "one.so")
        assert ctypes.CDLL(str(tmp_path / "one.so")).one() == 1
        assert (tmp_path / "log").read_text().startswith("called")
    finally:
        for found in (compiler.find_compiler, compiler.identity):
            found.cache_clear()


def _leave(path):
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_program_of_another_user_is_not_run(folder):
    program = cache.find_or_build("key", _leave)
    assert cache.find("key") == program
    os.chown(program, 12345, 12345)
    assert cache.find("key") is None


@pytest.mark.parametrize("how", ["writable", "in a folder writable", "link"])
def test_a_program_that_others_could_have_changed_is_not_run(folder, how, tmp_path):
    program = cache.find_or_build("key", _leave)
    if how != "link":
        (program if how == "writable" else program.parent).chmod(0o777)
    else:
        shutil.move(program, tmp_path / "elsewhere")
        program.symlink_to(tmp_path / "elsewhere")
    assert cache.find("key") is None


@needs_compiler
def test_a_cache_deleted_before_the_program_starts_is_made_again(folder, few):
    circuit = Microcircuit(2, engine="cpp", rates=RATES)
    circuit.build(6, 4)
    shutil.rmtree(folder)
    assert circuit.run(*few, progress=False).ended == "done"


@needs_compiler
def test_a_circuit_in_use_may_vanish_from_the_cache(folder, few):
    """And what takes its place there is never taken for it."""
    circuit = Microcircuit(2, engine="cpp", rates=RATES)
    Vx = circuit.run(*few, progress=False).Vx
    (library,) = folder.glob("circuits/circuit-*")
    library.unlink()
    library.write_bytes(b"another")
    for again in (circuit, Microcircuit(2, engine="cpp", rates=RATES)):
        np.testing.assert_array_equal(again.run(*few, progress=False).Vx, Vx)


@needs_compiler
def test_a_library_that_cannot_be_loaded_is_named(folder, few, monkeypatch):
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, "-c"))  # an object file
    with pytest.raises(
        RuntimeError, match=r"^engine 'cpp': the compiled circuit cannot be loaded .*BIORRR_CACHE"
    ):
        Microcircuit(2, engine="cpp", rates=RATES).run(*few, progress=False)


FULL = """
import resource, signal
import numpy as np
from biorrr.circuit import Microcircuit
from biorrr.models import Rate, Rates
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
circuit = Microcircuit(2, engine="cpp", rates=Rates(Rate(0.004), Rate(0.02), Rate(0.008)))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))  # every file is full at once
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((900, 6)), rng.standard_normal((900, 4))
circuit.run(X - X.mean(0), Y - Y.mean(0), progress=False)
"""


@needs_compiler
def test_a_full_cache_is_named(tmp_path):
    """And so is the variable by which another one can be chosen."""
    done = subprocess.run(
        [sys.executable, "-c", FULL],
        env={**os.environ, "BIORRR_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert f"'{tmp_path / 'cache' / 'circuits'}'" in said
    assert "$BIORRR_CACHE" in said


# -- the process -----------------------------------------------------------------------------------


@needs_compiler
def test_the_process_computes_as_before(few):
    """Numbers near zero count as zero in the compiled circuit alone."""
    Microcircuit(2, engine="cpp", rates=RATES).run(*few, progress=False)
    assert np.float64(1e-310) / 2 == 5e-311
    assert (np.full(8, 1e-310) / 2 == 5e-311).all()


@needs_compiler
def test_threads_run_a_compiled_circuit_side_by_side(few):
    circuit = Microcircuit(2, engine="cpp", rates=RATES)
    seeds = range(8)

    def learn(seed):
        return circuit.run(*few, epochs=200, seed=seed, record=(), progress=False).Vx

    expected = [learn(seed) for seed in seeds]
    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(list(pool.map(learn, seeds)), expected)


THREADS = """
import sys, threading
import numpy as np
from biorrr.circuit import Microcircuit
from biorrr.models import Rate, Rates
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((40, 5)), rng.standard_normal((40, 3))
X, Y = X - X.mean(0), Y - Y.mean(0)
rates = Rates(Rate(0.004), Rate(0.02), Rate(0.008))
shared, found = Microcircuit(2, engine="numpy", rates=rates), {}
def learn(name, circuit, seed):
    found[name] = circuit.run(X, Y, seed=seed, progress=False).Vx
work = [("shared", shared, 1), ("twin", shared, 1)]
work += [(f"own {seed}", Microcircuit(2, engine="numpy", rates=rates), seed) for seed in (1, 2)]
threads = [threading.Thread(target=learn, args=args) for args in work]
for thread in threads: thread.start()
for i in range(200): print("line", i, flush=True)
for thread in threads: thread.join()
straight = {seed: shared.run(X, Y, seed=seed, progress=False).Vx for seed in (1, 2)}
for name, seed in (("shared", 1), ("twin", 1), ("own 1", 1), ("own 2", 2)):
    assert np.array_equal(found[name], straight[seed]), name
import brian2
assert brian2.prefs["codegen.target"] == "auto" and brian2.prefs["logging.std_redirection"]
print("equal")
"""


@pytest.mark.parametrize("processes", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_threads_share_brian2_and_circuits_without_harm(processes):
    """Results as one after another, and nothing that is printed meanwhile gets lost."""
    expected = [*(f"line {i}" for i in range(200)), "equal"]
    for first in range(0, processes, 2):
        running = [
            subprocess.Popen(
                [sys.executable, "-c", THREADS],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(min(2, processes - first))
        ]
        for process in running:
            out, err = process.communicate()
            assert process.returncode == 0, err
            assert out.splitlines() == expected


def test_brian2_s_log_leaves_no_files_and_takes_no_errors(tmp_path):
    script = (
        "import os, sys; before = sys.excepthook\n"
        "import numpy as np; from biorrr.circuit import Microcircuit\n"
        "X = np.random.default_rng(0).standard_normal((10, 3)); X -= X.mean(0)\n"
        "Microcircuit(1, engine='numpy').run(X, X, progress=False)\n"
        "assert sys.excepthook is before\n"
        "os._exit(0)\n"  # as killed
    )
    subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)}, check=True
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("brian")] == []


def test_a_general_circuit_is_as_careful():
    circuit = Circuit([SensoryInput(3)], [])
    with pytest.raises(TypeError, match=r"start: must be a Run \(got 3\)"):
        circuit.run({"x": np.eye(3)}, centre=True, start=3)
