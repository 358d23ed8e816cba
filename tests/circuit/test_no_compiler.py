"""A machine without a C++ compiler: everything runs, slower, and says so once."""

import warnings

import pytest

from biorrr.circuit import Microcircuit
from biorrr.circuit.engines import choice, compiler


@pytest.fixture
def no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    for found in (compiler.find_compiler, compiler.identity, choice._say_once):
        found.cache_clear()
    yield
    for found in (compiler.find_compiler, compiler.identity, choice._say_once):
        found.cache_clear()


def test_auto_falls_back_and_says_so_once(no_compiler, data, monkeypatch):
    monkeypatch.setattr(choice, "_COMPILING", 50)
    X, Y = data[0][:100], data[1][:100]
    with pytest.warns(
        UserWarning, match="no C\\+\\+ compiler found, so this runs on Brian2's numpy target"
    ) as said:
        run = Microcircuit(2).run(X, Y)
    assert run.data.attrs["engine"] == "numpy"
    (warning,) = [w for w in said if "apt install g++" in str(w.message)]
    assert warning.filename == __file__  # it points at the line that asked for the run
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="engine 'auto'")
        Microcircuit(2).run(X, Y)


def test_short_runs_need_no_word(no_compiler, data):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="engine 'auto'")
        assert Microcircuit(2).run(data[0][:50], data[1][:50]).data.attrs["engine"] == "numpy"


def test_asking_for_it_is_an_error_that_helps(no_compiler, data):
    with pytest.raises(choice.EngineUnavailable) as caught:
        Microcircuit(2, engine="cpp").run(*data)
    assert str(caught.value).startswith(
        "engine 'cpp': no C++ compiler found; install a C++ compiler (Debian and"
    )
    for remedy in (
        "apt install g++",
        "dnf install gcc-c++",
        "xcode-select --install",
        "conda install cxx-compiler",
    ):
        assert remedy in str(caught.value)


def test_the_compiler_named_by_cxx_counts(monkeypatch, tmp_path):
    wanted = tmp_path / "my-c++"
    wanted.write_text("#!/bin/sh\n")
    wanted.chmod(0o755)
    monkeypatch.setenv("CXX", str(wanted))
    compiler.find_compiler.cache_clear()
    try:
        assert compiler.find_compiler() == str(wanted)
    finally:
        compiler.find_compiler.cache_clear()
