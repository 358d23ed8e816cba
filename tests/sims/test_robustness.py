"""``biorrr robustness``: departures turned up one by one."""

import json

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis.figures.robustness import plot_departures
from biorrr.circuit import Microcircuit
from biorrr.models import Event
from biorrr.sims import main
from biorrr.sims.experiments.helpers.departures import DEPARTURES, Reference, lesions
from biorrr.sims.experiments.robustness import farthest

DATA = "synthetic:samples=60,m=6,n=5,latents=2"


def excess(values, scores):
    return xr.DataArray(scores, dims="value", coords={"value": values})


@pytest.mark.parametrize(
    ("scores", "reached"),
    [([0.01, 0.02, 0.03], 4.0), ([0.01, 0.02, 0.3], 2.0), ([0.01, 0.06, 0.01], 1.0), ([0.5, 0.01, 0.01], None)],
)
def test_farthest_value_before_learning_first_breaks(scores, reached):
    assert farthest(excess([1.0, 2.0, 4.0], scores), ordered=True) == reached


def test_without_order_all_that_are_tolerated_count():
    words = ["one", "two", "three"]
    assert farthest(excess(words, [0.01, 0.2, 0.03]), ordered=False) == "one; three"
    assert farthest(excess(words, [0.1, 0.2, 0.3]), ordered=False) is None


def test_every_value_of_every_departure_is_a_circuit():
    reference = Reference(plateau=0.1, k=2)
    data = np.ones((10, 5)), np.ones((10, 4))
    for departure in DEPARTURES.values():
        assert len(set(departure.values)) == len(departure.values)
        for value in departure.values:
            if departure.name == "lesion":
                assert all(isinstance(event, Event) for event in lesions(value, 5, *data))
            else:
                departed = Microcircuit(2, **departure.settings(value, reference))
                assert departed.blueprint(5, 4) != Microcircuit(2).blueprint(5, 4)


def test_the_page_marks_where_learning_breaks():
    scores = np.array([[[0.01, 0.03], [0.2, 0.3], [0.5, 0.5]]])
    (ax,) = plot_departures({"departure": ([1, 2, 3], scores)}, set(), {"digits": 0.004}, 0.05)
    (cross,) = [line for line in ax.get_lines() if line.get_label() == "learning breaks"]
    assert cross.get_xdata().tolist() == [1]
    assert cross.get_ydata() == pytest.approx([0.25])


def test_command_fills_a_folder(tmp_path, capsys):
    out = tmp_path / "out"
    args = ["--data", DATA, "--engine", "numpy", "--samples", "60", "--seeds", "1", "--quick", "--departures", "dale"]
    assert main.run(["robustness", *args, "--out", str(out)]) == 0
    assert "synthetic_dale" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} >= {"config.toml", "run.nc", "summary.json", "robustness.png"}
    summary = json.loads((out / "summary.json").read_text())
    with xr.open_dataset(out / "run.nc", engine="h5netcdf") as table:
        assert table["dale"].dims == ("data", "dale_value", "seed")
        assert table["dale_value"].values.tolist() == ["Q, R", "Q, R, Vx"]
        assert summary["synthetic_plain"] == pytest.approx(float(table["plain"].mean()))
        np.testing.assert_array_less(-1e-9, table["dale"])


def test_a_departure_that_diverges_at_once_is_a_result(tmp_path, monkeypatch):
    """Before any plateau is recorded: it has not learned."""
    from biorrr.circuit import Diverged, Run
    from biorrr.sims.data import load
    from biorrr.sims.experiments.robustness import EXPERIMENT, RobustnessSettings, Trial

    error = Diverged("at once")
    error.run = Run(xr.Dataset({"sample": ("tick", [])}))
    settings = RobustnessSettings(data=(DATA,))
    monkeypatch.setattr(Microcircuit, "run", lambda *_, **__: (_ for _ in ()).throw(error))
    problem = EXPERIMENT.prepare(settings, load(DATA))
    assert EXPERIMENT.run_part(problem, Trial(0, "delay", 1, 0.1), {}) == {"excess": 1.0}


def test_unknown_departure(capsys):
    assert main.run(["robustness", "--departures", "volume"]) == 2
    assert "departures: must be among all_or_none, sign" in capsys.readouterr().err
