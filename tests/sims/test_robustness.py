"""``biorrr robustness``: departures turned up one by one."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from biorrr.analysis import ExactSolution
from biorrr.analysis.figures.grids import plot_departures
from biorrr.circuit import Diverged, Microcircuit, Run
from biorrr.models import Event
from biorrr.sims import main
from biorrr.sims.data import load
from biorrr.sims.experiments.robustness import (
    DEPARTURES,
    LESIONS,
    MILLIVOLT_DEPARTURES,
    RobustnessSettings,
    last_tolerated,
    try_departure,
    try_plain,
    turn_up,
)
from biorrr.sims.lab import Task
from biorrr.sims.lab.items import Grid, as_result

DATA = '{name="synthetic", samples=60, m=6, n=5, latents=2}'


def excess(values, scores, ordered):
    dims, coords = ("value", "seed"), {"value": values}
    return xr.DataArray(np.reshape(scores, (-1, 1)), coords, dims, attrs={"ordered": ordered})


@pytest.mark.parametrize(
    ("scores", "reached"),
    [
        ([0.01, 0.02, 0.03], 4.0),
        ([0.01, 0.02, 0.3], 2.0),
        ([0.01, 0.06, 0.01], 1.0),
        ([0.5, 0.01, 0.01], None),
    ],
)
def test_farthest_value_before_learning_first_breaks(scores, reached):
    assert last_tolerated(excess([1.0, 2.0, 4.0], scores, ordered=1)) == reached


def test_without_order_all_that_are_tolerated_count():
    words = ["one", "two", "three"]
    assert last_tolerated(excess(words, [0.01, 0.2, 0.03], ordered=0)) == "one; three"
    assert last_tolerated(excess(words, [0.1, 0.2, 0.3], ordered=0)) is None


@pytest.mark.parametrize(
    "ranges", [DEPARTURES, MILLIVOLT_DEPARTURES], ids=["algebraic", "millivolts"]
)
def test_every_value_of_every_departure_is_a_change(ranges):
    plain = Microcircuit(2).blueprint(5, 4)
    for departure in ranges.values():
        assert len(set(departure.values)) == len(departure.values)
        for value in departure.values:
            change = departure.change(value, 0.1, 2)
            if lesion := change.get("lesion"):
                assert isinstance(LESIONS[lesion](5, np.ones((10, 5)), np.ones((10, 4))), Event)
            else:
                assert Microcircuit(2, **change).blueprint(5, 4) != plain


def test_a_field_shows_value_and_excess_and_whether_learning_breaks():
    scores = np.array([[[0.01, 0.03], [0.2, 0.3], [0.5, 0.5]]])
    results = xr.Dataset(
        {
            "plain": (("data", "seed"), [[0.004, 0.004]]),
            "noise": (
                ("data", "noise_value", "seed"),
                scores,
                {"long_name": "noise", "ordered": 1},
            ),
        },
        {"data": ["digits"], "noise_value": [1, 2, 3]},
        {"tolerated": 0.05},
    )
    (ax,) = plot_departures(results)
    assert [text.get_text() for text in ax.texts] == ["1\n2.0", "2\n25", "3\n50"]
    fields = [patch for patch in ax.patches if patch.get_width()]  # others are for the legend
    learns, *broken = [field.get_facecolor() for field in fields]
    assert learns not in broken
    assert broken[0] == broken[1]


def test_every_excess_is_beside_its_value_and_seed():
    """Of a lab whose circuits have the excess 0.1, 0.2, 0.3 (plain), and 10 times the delay plus
    the seed; one seed has diverged, and has fewer plateaus.
    """
    asked = []

    class Known:
        def map(self, function, over, *shared):
            asked.append(shared)
            grid = Grid.over(over)
            return grid.join([as_result("", answer(function, **item)) for item in grid.items])

    def answer(function, seed, departure="", place=0):
        if function is try_plain:
            return {"excess": 0.1 * seed, "plateau": np.full((1 if seed == 3 else 2, 2), seed)}
        assert departure == "delay"
        return {"excess": 10 * (1, 2)[place] + seed}

    settings = RobustnessSettings(data=(DATA,), departures=("delay",), seed=1, seeds=3)
    results = turn_up(Known(), settings, load(DATA), exact=None)
    np.testing.assert_allclose(results["plain"], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(results["delay"], [[11, 12, 13], [21, 22, 23]])
    assert results["delay_value"].values.tolist() == [1, 2]
    rms = np.sqrt((2 * 1 + 2 * 4 + 9) / 5)
    assert asked[-1][-1] == pytest.approx(rms)


def test_the_size_of_plateaus_is_that_of_the_second_half_of_learning(monkeypatch):
    """At first they are far larger: a departure that is measured by them would be another one."""
    plateau = np.arange(20.0).reshape(10, 2)
    run = SimpleNamespace(
        data=xr.Dataset({"plateau": (("sample", "k"), plateau)}, {"sample": np.arange(10)}),
        Vx=np.zeros((6, 2)),
    )
    monkeypatch.setattr(Task, "run", lambda *_, **__: run)
    task, data = Task(RobustnessSettings(data=(DATA,), samples=60)), load(DATA)
    found = try_plain(task, data, ExactSolution(data.X, data.Y, 0.0, 0.1), seed=0)
    np.testing.assert_array_equal(found["plateau"], plateau[5:])


def test_command_fills_a_folder(tmp_path, capsys):
    out = tmp_path / "out"
    args = [
        "--data",
        DATA,
        "--engine",
        "numpy",
        "--samples",
        "60",
        "--seeds",
        "1",
        "--quick",
        "--departures",
        "dale",
    ]
    assert main.run(["robustness", *args, "--out", str(out)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "weights that keep their sign" in said
    assert "synthetic, excess without learning" in said
    assert {path.name for path in out.iterdir()} >= {
        "config.toml",
        "run.nc",
        "summary.json",
        "robustness.png",
    }
    summary = json.loads((out / "summary.json").read_text())
    with xr.open_dataset(out / "run.nc", engine="h5netcdf") as table:
        assert table["dale"].dims == ("data", "dale_value", "seed")
        assert table["dale_value"].values.tolist() == ["Q, R", "Q, R, Vx"]
        assert summary["synthetic_plain"] == pytest.approx(float(table["plain"].mean()))
        np.testing.assert_array_less(-1e-9, table["dale"])


@pytest.mark.parametrize(("cell", "departure"), [("algebraic", "delay"), ("millivolts", "hold")])
def test_a_departure_that_diverges_at_once_is_a_result(cell, departure, monkeypatch):
    """Before any plateau is recorded: it has not learned."""
    error = Diverged("at once")
    error.run = Run(xr.Dataset({"sample": ("tick", [])}))
    monkeypatch.setattr(Microcircuit, "run", lambda *_, **__: (_ for _ in ()).throw(error))
    data, job = (
        load(DATA),
        Task(RobustnessSettings(data=(DATA,), samples=60, cell=cell)),
    )
    exact = ExactSolution(data.X, data.Y, 0.0, 0.1)
    trial = {"departure": departure, "place": 0, "seed": 0}
    assert try_departure(job, data, exact, 0.1, **trial) == {"excess": 1.0}


def test_unknown_departure(capsys):
    assert main.run(["robustness", "--departures", "volume"]) == 2
    assert "departures: must be among all_or_none, sign" in capsys.readouterr().err
