"""Every experiment, with the small settings that it declares: run with two seeds, reported, resumed
and swept.
"""

import json
import shutil
import sys
from pathlib import Path

import pytest
import tomli_w

from biorrr.circuit.engines.compiler import find_compiler
from biorrr.sims import main
from biorrr.sims.cli import resume  # here: first imported in a test, it keeps that test's settle
from biorrr.sims.data import DataError
from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.lab import run_folder
from biorrr.sims.lab.run_folder import read_inventory, settle
from biorrr.sims.lab.settings import config_text, plain

sys.path.insert(0, str(Path(__file__).parents[1]))
from figure_layout import flaws

FLAWS = {}  # of figures, by experiment
CHECKPOINTS = "unfinished/checkpoints"
TIMES = ("seconds", "cpu", "runtime", "processor time")  # of the machine: another run has others


def biorrr(*args):
    return main.run([*map(str, args)])


def found(folder):
    """Return the summary, without times and without claims that rest on them."""

    def same(value):
        return not any(time in str(value).lower() for time in TIMES)

    summary = json.loads((folder / "summary.json").read_text())
    judged = {name: [*filter(same, summary.pop(name, ()))] for name in ("claims", "own_tests")}
    return {name: value for name, value in summary.items() if same(name)} | judged


@pytest.mark.parametrize("name", experiment_names())
def test_runs_without_data_files(name, empty_cache, monkeypatch):
    def no_network(file, target):
        raise OSError

    monkeypatch.setattr("biorrr.sims.data.published.SourceFile._download", no_network)
    for data in find_experiment(name).settings().every_data:
        data.load()


@pytest.fixture(scope="module", params=experiment_names())
def small(request, tmp_path_factory, save_pixel):
    """An experiment, the folder of a run with its small settings and two seeds, and a folder of
    what it had kept.

    Neither is to be changed. All runs in this process: to start others takes longer than such a
    run.
    """
    experiment = find_experiment(request.param)
    if not experiment.small:
        pytest.skip("declares no small settings")
    place = tmp_path_factory.mktemp(request.param)
    config, run, kept = place / "small.toml", place / "run", place / "kept"
    settings = experiment.settings(**experiment.small | {"seeds": 2})
    if settings.engine == "cpp" and find_compiler() is None:
        pytest.skip("needs a C++ compiler")
    try:
        for data in settings.every_data:
            data.load()
    except DataError as error:
        pytest.skip(str(error))
    config.write_text(config_text(settings, {}))

    def keep_aside(folder):
        if (folder / CHECKPOINTS).exists():
            shutil.copytree(folder / CHECKPOINTS, kept)
        settle(folder)

    def look_and_save(axes, path):
        FLAWS[experiment.name] += [f"{path.name}: {flaw}" for flaw in flaws(axes)]
        save_pixel(axes, path)

    FLAWS[experiment.name] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.cpu_count", lambda: 1)
        patch.setattr(run_folder, "save_figure", look_and_save)
        patch.setattr("biorrr.sims.lab.run_folder.settle", keep_aside)
        assert biorrr(experiment.name, "--config", config, "--out", run) == 0
    return experiment, run, kept


def test_the_inventory_lists_every_file_and_every_figure_has_a_caption(small):
    _, folder, _ = small
    files, _ = read_inventory(folder)
    assert sorted(files) == sorted(path.name for path in folder.iterdir())
    for kinds, pattern in ((["figure"], "*.png"), (["run", "dataset"], "*.nc")):
        named = {name for name, kind in files.items() if kind in kinds}
        assert named == {path.name for path in folder.glob(pattern)}
    for figure in folder.glob("*.png"):
        assert len(figure.with_suffix(".md").read_text().splitlines()[0]) > 80


def test_its_figures_can_be_printed(small):
    experiment, _, _ = small
    assert FLAWS[experiment.name] == []


def test_it_is_reported(small, tmp_path):
    _, folder, _ = small
    assert biorrr("report", folder, "--out", tmp_path / "page.html") == 0
    page = (tmp_path / "page.html").read_text()
    figures = [name for name, kind in read_inventory(folder)[0].items() if kind == "figure"]
    assert figures
    for name in figures:
        assert name in page


def test_it_is_resumed_and_ends_with_the_same_findings(small, tmp_path, monkeypatch):
    """A run that was cut before its last item was kept computes that item again, and takes the
    others from disk.
    """
    _, folder, kept = small
    cut = tmp_path / "cut"
    shutil.copytree(folder, cut)
    (cut / "summary.json").unlink()
    shutil.copytree(kept, cut / CHECKPOINTS)
    *others, last = sorted((cut / CHECKPOINTS).iterdir(), key=lambda path: path.stat().st_mtime_ns)
    last.unlink()
    before = {path.name: path.stat().st_mtime_ns for path in others}
    after = {}

    def look(place):
        after.update(
            {path.name: path.stat().st_mtime_ns for path in (place / CHECKPOINTS).iterdir()}
        )
        settle(place)

    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert resume.settle is settle
    monkeypatch.setattr("biorrr.sims.lab.run_folder.settle", look)
    assert biorrr("resume", cut) == 0
    assert found(cut) == found(folder)
    assert last.name in after
    assert {name: after[name] for name in before} == before


@pytest.mark.slow
def test_it_is_swept(small, tmp_path, capsys):
    experiment, *_ = small
    if experiment.not_swept:
        return
    settings = experiment.settings(**experiment.small)
    fixed = {
        name: plain(value)
        for name, value in experiment.small.items()
        if name not in ("seed", "seeds")
    }
    plan = {"experiment": experiment.name, "fixed": fixed, "list": [{}]}
    (tmp_path / "plan.toml").write_text(tomli_w.dumps(plan))
    assert biorrr("sweep", tmp_path / "plan.toml", "--workers", 0, "--out", tmp_path / "sweep") == 0
    out = capsys.readouterr().out
    assert "1 points: 1 done, 0 failed, 0 left" in out
    assert f"lowest {experiment.measure_of(settings)} of a single point" in out
