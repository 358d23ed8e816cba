"""``biorrr doctor``: it says all it can, as it goes, and nothing that is private."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from biorrr.sims.cli import doctor

PLAIN = [sys.executable, "-c", "from biorrr.sims.start import main; main()", "doctor"]


@pytest.mark.slow
def test_it_tells_what_works_and_keeps_what_is_private(tmp_path):
    """At home in a folder of its own, with a compiler that fails."""
    home = tmp_path / "nobodys-home"
    broken = home / "broken-c++"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho error: out of ink >&2; exit 3\n")
    broken.chmod(0o755)
    secret = "do-not-tell"
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("BIORRR", "XDG"))
    }
    environment = kept | {
        "HOME": str(home),
        "CXX": str(broken),
        "CC": str(broken),
        "TOKEN": secret,
        "BIORRR_X": secret,
    }
    done = subprocess.run(
        PLAIN, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^  numpy  works$", done.stdout, re.M)
    assert (
        "  cpp    fails: CompileFailed: engine 'cpp': ~/broken-c++ must compile the circuit"
        in done.stdout
    )
    assert "(got exit code 3, error: out of ink); all it said is in ~/" in done.stdout
    assert re.search(r"^  found     digits, synthetic", done.stdout, re.M)
    for private in (str(home), secret):
        assert private not in done.stdout + done.stderr


def test_it_speaks_before_it_has_tried_the_engines():
    """Versions are out while the engines have yet to start."""
    process = subprocess.Popen(PLAIN, stdout=subprocess.PIPE, text=True)
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
    assert lines[0] == "versions\n"
    assert lines[1].split() == ["python", ".".join(map(str, sys.version_info[:3]))]
    assert lines[2].split()[0] == "system"


def test_what_fails_is_said_and_the_rest_goes_on(capsys, monkeypatch):
    def fail(name):
        raise ValueError(f"{name} is broken,\nat length, in {Path.home()}")

    for told in ("_version", "_compiler", "_try_engine", "_cache_size"):
        monkeypatch.setattr(doctor, told, fail)
    doctor.command()
    said = capsys.readouterr().out
    assert said.count("fails: ValueError:") == 2 + len(doctor.PACKAGES) + 1 + 2 + 1
    assert "  size  fails: ValueError: size is broken,\n" in said
    assert "found" in said.splitlines()[-2]


def test_every_data_set_is_here_or_not(empty_cache, monkeypatch):
    from biorrr.sims.data import CATALOGUE

    here, missing = (doctor._data(name).split(", ") for name in ("found", "not here"))
    assert set(here) == {"digits", "synthetic", "planted"}  # they need no files
    assert sorted(here + missing) == sorted(CATALOGUE)
    monkeypatch.setattr("biorrr.sims.data.CATALOGUE", {"digits": CATALOGUE["digits"]})
    assert doctor._data("not here") == "none"
