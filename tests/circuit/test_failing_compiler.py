"""A compiler that is there but fails: one sentence, and where to find what it said."""

import pytest

from biorrr.circuit import Microcircuit
from biorrr.circuit.engines import compiler


@pytest.fixture
def compile_with(tmp_path, monkeypatch):
    """Makes a shell script the C++ compiler, with an empty cache of circuits."""

    def use(script):
        fake = tmp_path / "my-c++"
        fake.write_text(f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
        monkeypatch.setenv("CXX", str(fake))
        monkeypatch.setenv("BIORRR_CACHE", str(tmp_path / "cache"))
        forget()
        return fake

    def forget():
        compiler.find_compiler.cache_clear()
        compiler.identity.cache_clear()

    yield use
    forget()


def test_it_is_one_sentence_and_a_file(compile_with, data, tmp_path):
    fake = compile_with(
        '[ "$1" = --version ] && echo my 1.0 && exit\necho "1.cpp: note"; echo "x: Error: no" >&2;'
        " exit 7"
    )
    with pytest.raises(compiler.CompileFailed) as caught:
        Microcircuit(2, engine="cpp").run(*data)
    log = tmp_path / "cache" / "circuits" / "compiler.log"
    assert (
        str(caught.value)
        == f"engine 'cpp': {fake} must compile the circuit (got exit code 7, x: Error: no); all it"
        f" said is in {log}; name another compiler in $CXX, or use engine='numpy'"
    )
    command, *said = log.read_text().splitlines()
    assert command.startswith(f"{fake} -w -O3")
    assert said == ["1.cpp: note", "x: Error: no"]


def test_a_compiler_that_cannot_even_tell_its_version(compile_with, data):
    compile_with("exit 1")
    with pytest.raises(
        compiler.CompileFailed, match=r"\(got exit code 1, no word of why\); all it said is in"
    ):
        Microcircuit(2, engine="cpp").run(*data)
