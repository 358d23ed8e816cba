"""Every experiment, with the small settings that it declares: run, reported, resumed, with two seeds, and swept."""

import json
import shutil

import pytest
import tomli_w

from biorrr.sims import main
from biorrr.sims.data import DataError
from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.lab.folder.inventory import Inventory
from biorrr.sims.lab.settings import config_text

TIMES = ("seconds", "cpu")
JUDGED = ("claims", "own_tests")  # they follow from the numbers, and some of them from times


def biorrr(*args):
    return main.run([*map(str, args)])


def numbers(folder):
    """Return the numbers of a summary, without times."""
    found = json.loads((folder / "summary.json").read_text())
    return {
        name: value for name, value in found.items() if name not in JUDGED and not any(time in name for time in TIMES)
    }


@pytest.fixture(scope="module", params=experiment_names())
def small(request, tmp_path_factory):
    """An experiment, the file with its small settings, and the folder of a run with them; not to be changed."""
    experiment = find_experiment(request.param)
    if not experiment.small:
        pytest.skip("declares no small settings")
    place = tmp_path_factory.mktemp(request.param)
    config = place / "small.toml"
    settings = experiment.settings(**experiment.small)
    try:
        for data in settings.every_data:
            data.load()
    except DataError as error:
        pytest.skip(str(error))
    config.write_text(config_text(settings, {}))
    assert biorrr(experiment.name, "--config", config, "--out", place / "run") == 0
    return experiment, config, place / "run"


def test_the_inventory_lists_every_file_and_every_figure_has_a_caption(small):
    _, _, folder = small
    inventory = Inventory.read(json.loads((folder / "inventory.json").read_text()))
    assert sorted(inventory.files) == sorted(path.name for path in folder.iterdir())
    assert {entry.file for entry in inventory.of_kind("figure")} == {path.name for path in folder.glob("*.png")}
    assert {entry.file for entry in inventory.of_kind("run", "dataset")} == {path.name for path in folder.glob("*.nc")}
    assert all(entry.caption for entry in inventory.of_kind("figure"))


def test_it_is_reported(small, tmp_path):
    pytest.importorskip("plotly", reason="needs the extra `report`")
    _, _, folder = small
    assert biorrr("report", folder, "--out", tmp_path / "page.html") == 0
    page = (tmp_path / "page.html").read_text()
    for entry in Inventory.read(json.loads((folder / "inventory.json").read_text())).of_kind("figure"):
        assert entry.file in page


def test_it_is_resumed_and_ends_with_the_same_numbers(small, tmp_path):
    _, _, folder = small
    shutil.copytree(folder, tmp_path / "cut")
    (tmp_path / "cut/summary.json").unlink()
    assert biorrr("resume", tmp_path / "cut") == 0
    assert numbers(tmp_path / "cut") == numbers(folder)


def test_it_runs_with_two_seeds(small, tmp_path):
    pytest.importorskip("plotly", reason="needs the extra `report`")
    experiment, config, _ = small
    assert biorrr(experiment.name, "--config", config, "--seeds", 2, "--out", tmp_path / "run") == 0
    assert biorrr("report", tmp_path / "run") == 0


def test_it_is_swept(small, tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="needs the extra `cluster`")
    experiment, _, _ = small
    if experiment.not_swept:
        return
    settings = experiment.settings(**experiment.small)
    fixed = {name: value for name, value in experiment.small.items() if name not in ("seed", "seeds")}
    plan = {"experiment": experiment.name, "seeds": 2, "fixed": fixed, "list": [{}]}
    (tmp_path / "plan.toml").write_text(tomli_w.dumps(plan))
    assert biorrr("sweep", tmp_path / "plan.toml", "--workers", 0, "--out", tmp_path / "sweep") == 0
    out = capsys.readouterr().out
    assert "2 points: 2 done, 0 failed, 0 left" in out
    assert f"lowest {experiment.measure_of(settings)} of a single point" in out
