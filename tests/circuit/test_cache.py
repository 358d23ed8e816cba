"""Compiled circuits are kept by all that shapes the code, built once, and built again where they
are damaged.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from biorrr.circuit import Microcircuit
from biorrr.circuit.engines import cache, compiler, cpp_kernel
from biorrr.models import Rate, Rates

PROGRAM = b"a program"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("BIORRR_CACHE", str(tmp_path))
    return tmp_path / "circuits"


class Builder:
    """Leaves a program, and counts how often it was asked to."""

    def __init__(self, program=PROGRAM):
        self.program, self.builds = program, 0

    def __call__(self, path):
        self.builds += 1
        path.write_bytes(self.program)


def test_built_once(folder):
    build = Builder()
    first, second = (cache.find_or_build("key", build) for _ in range(2))
    assert first == second
    assert first.parent == folder
    assert first.read_bytes() == PROGRAM
    assert build.builds == 1


@pytest.mark.parametrize("harm", ["change", "cut", "delete", "rename"])
def test_damaged_is_built_again(harm, folder):
    build = Builder()
    program = cache.find_or_build("key", build)
    {
        "change": lambda: program.write_bytes(b"A program"),
        "cut": lambda: program.write_bytes(PROGRAM[:4]),
        "delete": program.unlink,
        "rename": lambda: program.rename(folder / "circuit-key-another"),
    }[harm]()
    assert cache.find("key") is None
    assert cache.find_or_build("key", build).read_bytes() == PROGRAM
    assert build.builds == 2


def test_a_build_cut_short_leaves_nothing(folder):
    def fail(path):
        path.write_bytes(PROGRAM[:4])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.find_or_build("key", fail)
    assert [path.name for path in folder.iterdir() if path.suffix != ".lock"] == []
    assert cache.find_or_build("key", Builder()).read_bytes() == PROGRAM


def test_two_processes_build_once(folder):
    script = """
import sys, time
from pathlib import Path
from biorrr.circuit.engines import cache
def build(path):
    time.sleep(0.5)
    path.write_bytes(b"a program")
    print("built")
print(cache.find_or_build("key", build).read_bytes())
"""
    both = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert sum("built" in text for text in said) == 1
    assert all("a program" in text for text in said)


def test_least_recently_used_goes_first(folder, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST", 2500)
    build = Builder(program=bytes(1000))
    for age, key in enumerate(["oldest", "used", "newest"]):
        program = cache.find_or_build(key, build)
        if key != "newest":
            os.utime(program, times=(time.time() - 100 + age,) * 2)
        if key == "used":
            assert cache.find("oldest")  # which makes it the more recent of the two
    assert cache.find("oldest")
    assert cache.find("used") is None
    assert cache.find("newest")
    assert cache.size() < 2500


def test_one_larger_than_the_bound_stays_while_it_is_needed(folder, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST", 10)
    assert cache.find_or_build("key", Builder()).read_bytes() == PROGRAM


def test_files_may_vanish_while_they_are_counted(folder, monkeypatch):
    """As they do where another process makes room at that moment."""
    cache.find_or_build("key", Builder())
    passing = folder / "circuit-passing-0"
    passing.write_bytes(bytes(5000))
    glob = Path.glob

    def glob_while_files_go(place, pattern):
        for path in list(glob(place, pattern)):
            passing.unlink(missing_ok=True)
            yield path

    monkeypatch.setattr(Path, "glob", glob_while_files_go)
    assert 0 < cache.size() < 5000


def key(m=6, n=4, **settings):
    return cpp_kernel.key_of(Microcircuit(**{"k": 2, **settings}).blueprint(m, n).code)


def test_what_does_not_shape_the_code_shares_a_build():
    rates = Rates(x=Rate(0.1), y=Rate(0.1), q=Rate(0.1))
    others = {
        "rates": Rates(x=Rate(0.2, 100), y=Rate(0.1), q=Rate(0.3)),
        "s": 0.5,
        "seed": 3,
        "ridge": 0.1,
    }
    assert {key(rates=rates, **{"s": 0.0, "seed": 0}), key(**others)} == {key(rates=rates)}


@pytest.mark.parametrize("other", [{"k": 3}, {"m": 7}, {"n": 5}, {"interneurons": 3}], ids=str)
def test_another_shape_is_another_build(other):
    assert key(**other) != key()


def test_flags_and_compiler_are_part_of_the_key(monkeypatch):
    keys = {key()}
    monkeypatch.setattr(compiler, "identity", lambda: {"compiler": "another", "flags": "-O3"})
    keys.add(key())
    monkeypatch.setattr(compiler, "identity", lambda: {"compiler": "another", "flags": "-O2"})
    keys.add(key())
    assert len(keys) == 3


def test_a_cached_run_does_without_brian2(data, make_circuit):
    X, Y = data
    make_circuit("cpp", s=0.0).run(
        X[:10], Y[:10], progress=False
    )  # builds it, if no other test has
    script = """
import sys
import numpy as np
from biorrr.circuit import Microcircuit
from biorrr.models import Rate, Rates
rng = np.random.default_rng(0)
rates = Rates(x=Rate(1e-3), y=Rate(1e-3), q=Rate(1e-3))
circuit = Microcircuit(k=2, interneurons=3, engine="cpp", rates=rates)
circuit.run(rng.standard_normal((50, 6)), rng.standard_normal((50, 4)), progress=False)
sys.exit("brian2" in sys.modules)
"""
    assert (
        subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=False).returncode == 0
    )


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become other users")
def test_two_users_share_a_cache(monkeypatch):
    """Each builds programs of their own, and neither stops the other."""
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o1777)
        monkeypatch.setenv("BIORRR_CACHE", shared)
        for user in (65533, 65534):
            for built in (1, 0):
                child = os.fork()
                if not child:
                    code = 99
                    try:
                        os.setuid(user)
                        build = Builder()
                        found = cache.find_or_build("key", build)
                        mine = found.read_bytes() == PROGRAM and found.stat().st_uid == user
                        code = 0 if mine and build.builds == built else 1
                    finally:
                        os._exit(code)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, (user, built)
