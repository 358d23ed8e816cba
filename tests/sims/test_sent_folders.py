"""A page of a folder that somebody sent: only the folder is read, only the page written, nothing
fetched.
"""

import json
import os
import shutil

import h5netcdf
import h5py
import numpy as np
import pytest

from biorrr.circuit import Microcircuit, Run
from biorrr.sims import main
from biorrr.sims.sweeps.plan import read_plan

SECRET = b"the-quokka-sleeps-at-noon"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.nc"
    X, Y = np.random.default_rng(0).standard_normal((2, 60, 4))
    Microcircuit(k=2, engine="numpy").run(X, Y, centre=True, record=("plateau",), every=5).save(
        path
    )
    return path


@pytest.fixture
def sent(run_file, tmp_path):
    """A run folder as somebody sends it."""
    folder = tmp_path / "sent"
    folder.mkdir()
    shutil.copy(run_file, folder)
    (folder / "config.toml").write_text(
        "data = 'nowhere.npz'\nk = 2\n[provenance]\nexperiment = 'learn'\n"
    )
    (folder / "summary.json").write_text('{"excess": 0.25, "ended": "done"}')
    write_inventory(folder, "run.nc")
    return folder


def write_inventory(folder, *names):
    kinds = {name: "run" if name == "run.nc" else "figure" for name in names}
    (folder / "inventory.json").write_text(json.dumps({"files": kinds}))


@pytest.fixture
def outside(tmp_path):
    """A folder of the user's own, of which nothing may be opened, changed or shown."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "note").write_bytes(SECRET)
    return folder


@pytest.fixture
def report(tmp_path, outside, capsys, files_opened, decoded):
    """Runs ``report``; what it printed and the page, once nothing of ``outside`` is found to be
    opened or changed.
    """

    def listing():
        return {
            path: path.read_bytes() if path.is_file() else None
            for path in sorted(outside.rglob("*"))
        }

    def report(*args, code=0):
        before = listing()
        with files_opened() as opened:
            found = main.run(["report", *map(str, args)])
        out, err = capsys.readouterr()
        assert found == code, err
        assert "Traceback" not in err
        assert "--debug" not in err
        strays = {path for path in opened if path.startswith(str(outside))}
        assert not strays
        assert listing() == before
        page = tmp_path / "sent" / "report.html"
        text = decoded(page) if code == 0 else ""
        assert SECRET.decode() not in text + out + err
        assert code == 0 or not page.exists()
        return out + err, text

    return report


@pytest.mark.parametrize("name", ["config.toml", "summary.json", "inventory.json"])
@pytest.mark.parametrize("kind", ["file", "folder", "loop", "nothing"])
def test_links_are_not_followed(sent, outside, report, run_file, name, kind):
    path = sent / name
    content = path.read_bytes() if path.exists() else run_file.read_bytes()
    path.unlink(missing_ok=True)
    (outside / name).write_bytes(content)  # so that it would do
    path.symlink_to(
        {"file": outside / name, "folder": outside, "loop": path, "nothing": outside / "nothing"}[
            kind
        ]
    )
    said, _ = report(sent, code=2)
    assert f"{name}: must be a file in the folder itself (got a link" in said


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_figures_behind_links_are_left_out(sent, outside, report, suffix):
    (outside / f"own{suffix}").write_bytes(PNG + SECRET)
    (sent / f"x{suffix}").symlink_to(outside / f"own{suffix}")
    (sent / f"loop{suffix}").symlink_to(sent / f"loop{suffix}")
    (sent / f"folder{suffix}").symlink_to(outside)
    (sent / f"passwd{suffix}").symlink_to("/etc/passwd")
    os.mkfifo(sent / f"pipe{suffix}")  # whoever opens it waits for good
    (sent / f"real{suffix}").write_bytes(PNG + b"drawn")
    names = ("folder", "loop", "passwd", "pipe", "x", "real")
    write_inventory(sent, *(f"{name}{suffix}" for name in names))
    _, text = report(sent)
    assert text.count("<figure>") == 1
    assert (
        f"In the folder, but not on this page: folder{suffix}, loop{suffix}, passwd{suffix},"
        f" pipe{suffix}, x{suffix} (" in text
    )


def test_a_page_opens_no_results(sent, report):
    (sent / "run.nc").unlink()
    os.mkfifo(sent / "run.nc")  # whoever opens it waits for good
    assert "25.00 % above the optimum" in report(sent)[1]


@pytest.mark.parametrize(
    "kind", ["external storage", "external link", "soft link", "virtual dataset"]
)
def test_results_are_held_in_their_own_file(sent, outside, run_file, put_outside, kind):
    shutil.copy(run_file, outside / "own.nc")
    put_outside(sent / "run.nc", kind, outside / "own.nc")
    message = (
        r"run.nc: all of it must be held in the file itself \(got '(Vx|hidden)', a link, external"
        r" storage or a"
    )
    with pytest.raises(ValueError, match=message):
        Run.load(sent / "run.nc")


def test_a_small_file_does_not_fill_the_memory(sent):
    with h5netcdf.File(sent / "run.nc", "a") as file:
        file.dimensions["long"] = 10**9
        file.create_variable("bomb", ("long",), "f8", chunks=(10**6,))
    message = r"run.nc: must hold all numbers it declares \(got \d+ bytes of file for \d{11} bytes"
    with pytest.raises(ValueError, match=message):
        Run.load(sent / "run.nc")


def test_only_the_page_is_written(sent, outside, report):
    """Links that wait under the names to be written to, the page's and that of the file it is
    before.
    """
    for name in ("report.html", f".{os.getpid()}-report.html"):
        (outside / name).write_bytes(SECRET)
        (sent / name).symlink_to(outside / name)
    before = {path.name for path in sent.iterdir()}
    report(sent)
    assert {path.name for path in sent.iterdir()} == before - {f".{os.getpid()}-report.html"}
    assert not (sent / "report.html").is_symlink()


def test_a_link_to_a_folder_in_place_of_the_page(sent, outside, report):
    (sent / "report.html").symlink_to(outside)
    assert "<h1>biorrr</h1>" in report(sent)[1]
    assert not (sent / "report.html").is_symlink()


@pytest.mark.parametrize("name", ["sweep.toml", "points", "point"])
def test_links_in_a_sweep_are_not_followed(tmp_path, outside, report, name, write_point):
    swept = tmp_path / "sent"
    swept.mkdir()
    (swept / "sweep.toml").write_text('[grid]\nk = [1, 2]\n[provenance]\nexperiment = "sweep"\n')
    plan = read_plan(swept / "sweep.toml")
    first, *_ = (write_point(plan, swept, one, excess=0.5, engine="cpp") for one in plan.points)
    report(swept)
    (swept / "report.html").unlink()
    path = first if name == "point" else swept / name
    path.rename(outside / path.name)
    path.symlink_to(outside / path.name)
    said, _ = report(swept, code=2)
    assert "must be a file in the folder itself (got a link" in said


def test_names_and_texts_that_are_not_utf_8(sent, report):
    (sent / os.fsdecode(b"\xff\xfe.svg")).write_text("<svg/>")
    (sent / os.fsdecode(b"\xff.pdf")).write_text("%PDF")
    write_inventory(sent, *(os.fsdecode(name) for name in (b"\xff\xfe.svg", b"\xff.pdf")))
    (sent / "summary.json").write_text(r'{"ended": "done", "\ud800": "\udfff"}')
    text = report(sent)[1]
    assert text.count("<figure>") == 1
    (sent / "summary.json").write_bytes(b'{"ended": "\xff"}')
    (sent / "report.html").unlink()
    assert "summary.json: damaged ('utf-8' codec can't decode" in report(sent, code=2)[0]


def test_a_folder_whose_name_is_not_utf_8(sent, capsys):
    strange = sent.rename(sent.with_name(os.fsdecode(b"\xff\xfe")))
    assert main.run(["report", str(strange)]) == 0
    assert "\ufffd\ufffd/report.html: " in capsys.readouterr().out


def test_a_circuit_that_is_none_is_no_run(sent):
    for circuit in ("{", "[]", "3", '{"pathways": [1]}'):
        with h5py.File(sent / "run.nc", "a") as file:
            file.attrs["circuit"] = circuit
        with pytest.raises(
            ValueError, match=r"run.nc: not a saved run, or damaged \(its circuit is "
        ):
            Run.load(sent / "run.nc")


@pytest.mark.parametrize(
    "summary",
    [
        {"seconds": 10**400},
        {"excess": {"a": 1}, "samples": "many"},
        {"claims": [{"claim": [1], "holds": 3}]},
    ],
)
def test_numbers_of_another_kind(sent, summary, capsys):
    """One page, or one sentence."""
    (sent / "summary.json").write_text(json.dumps(summary))
    code = main.run(["report", str(sent)])
    err = capsys.readouterr().err
    assert (code, err) == (0, "") or (
        code == 2 and "sent: must hold what an experiment leaves (got something" in err
    )
    assert (sent / "report.html").exists() == (code == 0)
