"""Data as values: the same value from options, tables and Python, and back to a table."""

import tomllib

import numpy as np
import pytest

from biorrr.sims import main, sweep
from biorrr.sims.data import (
    CATALOGUE,
    Arrays,
    Data,
    DataError,
    Pair,
    Synthetic,
    load,
)
from biorrr.sims.data.published import V1V2, Digits
from biorrr.sims.experiments import find_experiment
from biorrr.sims.lab.settings import config_text, resolve

RNG = np.random.default_rng(0)
VALUES = (
    *(named() for named in CATALOGUE.values()),
    Synthetic(m=4, noise=0.5),
    V1V2(target="V1"),
    Arrays("digits"),
    Arrays("x.csv", "y.csv"),
    Arrays("both.npz"),
    Arrays("session.mat", x="spikes"),
    Pair(
        "a:b,c.nwb",
        source="Primary visual area, layer 5",
        target="x=1:y",
        window=(0, 0.5),
        lag=0.02,
    ),
)


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_config_gives_the_value_back(value):
    cls = find_experiment("learn").settings
    table = tomllib.loads(config_text(cls(data=value), {}))
    assert cls(data=table["data"]).data == value
    assert Data.made_from(value.plain()) == value
    if value.set_name:
        assert Data.made_from(str(value)) == value  # as titles and help show it
    assert hash(Data.made_from(value.plain())) == hash(value)


def test_options_tables_and_python_make_the_same():
    cls = find_experiment("communication").settings
    value = Pair("file.nwb", source="V1", target="V2", bin=0.05)
    assert (
        resolve(cls, given={"data": "file.nwb", "source": "V1", "target": "V2", "bin": 0.05}).data
        == value
    )
    assert cls(data={"file": "file.nwb", "source": "V1", "target": "V2", "bin": 0.05}).data == value
    by_key = ["data=file.nwb", "data.source=V1", "data.target=V2", "data.bin=0.05"]
    assert resolve(cls, assignments=by_key).data == value
    assert resolve(cls, given={"data": '{name="synthetic", m=4, noise=0.5}'}).data == Synthetic(
        m=4, noise=0.5
    )
    assert resolve(cls, given={"data": "v1v2", "target": "V1"}).data == V1V2(target="V1")
    assert resolve(cls, given={"data": "x.csv", "y": "y.csv"}).data == Arrays("x.csv", "y.csv")


def test_several_are_spelled_as_one():
    cls = find_experiment("robustness").settings
    several = (Digits(), Synthetic(m=4, n=3), Arrays("own.npz"))
    table = '{name = "synthetic", m = 4, n = 3}'
    assert resolve(cls, given={"data": ["digits", table, "own.npz"]}).data == several
    assert resolve(cls, assignments=[f'data=["digits", {table}, "own.npz"]']).data == several
    assert resolve(cls, assignments=["data=[digits, own.npz]"]).data == several[::2]
    assert cls(data=[one.plain() for one in several]).data == several


def test_nothing_is_read_before_it_is_loaded():
    assert Data.made_from("/nowhere/at/all.npz") == Arrays("/nowhere/at/all.npz")
    with pytest.raises(DataError, match="no such file"):
        Arrays("/nowhere/at/all.npz").load()


def test_the_areas_that_are_named_tell_a_recording_from_samples(tmp_path, capsys):
    path = tmp_path / "both.npz"
    X, Y = RNG.standard_normal((48, 3)), RNG.standard_normal((48, 2))
    activity = {"activity": RNG.poisson(4, (12, 4, 5)), "areas": ["A"] * 3 + ["B"] * 2}
    np.savez(path, X=X, Y=Y, **activity)
    np.testing.assert_array_equal(load(path).X, X)
    assert load(path, source="A", target="B").X.shape == (48, 3)
    with pytest.raises(DataError, match=r"target: choose an area of .*; there are A"):
        load(path, source="A")
    np.savez(path, **activity)
    assert main.run(["learn", "--data", str(path), "--out", str(tmp_path / "out")]) == 1
    assert "two areas of a recording take --source and --target" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            3,
            (
                r"data: must be a name that `biorrr data` lists or a file, as text or as a table"
                r" \(got 3\)"
            ),
        ),
        ({"m": 3}, r"data: must be a name .* \(got {'m': 3}\)"),
        ({"name": "digts"}, "digts: no such data set or file; did you mean 'digits'"),
        ('{name = "digits"', "data: must be a table of TOML, such as .* .got {name = .digits.; "),
        ({"name": "digits", "m": 3}, "digits: no option 'm'; it takes no options"),
        ({"file": "x.npz", "colour": "red"}, "x.npz: no option 'colour'; it takes y, x"),
        ("digts", "digts: no such data set or file; did you mean 'digits'"),
    ],
)
def test_what_is_no_data(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Data.made_from(given)


def test_every_kind_is_one_of_those_that_are_listed():
    assert {*Data.kinds()} == {*CATALOGUE.values(), Arrays, Pair}
    assert Digits().load().checksum == load("digits").checksum
    assert str(Synthetic(m=4)) == '{name = "synthetic", m = 4}'
    assert Arrays("x.npz").plain() == {"file": "x.npz"}


def test_a_sweep_over_recordings(tmp_path):
    pytest.importorskip("distributed")
    data = load('{name="planted", trials=30, source_units=8, target_units=5, bins=5}')
    activity = np.hstack([data.X, data.Y]).reshape(30, 5, 13)
    np.savez(tmp_path / "own.npz", activity=activity, areas=["A, upper"] * 8 + ["B"] * 5)
    values = [
        Pair(str(tmp_path / "own.npz"), source="A, upper", target="B", bin=width)
        for width in (0.1, 0.5)
    ]
    table = sweep(
        experiment="learn",
        fixed={"epochs": 1, "engine": "numpy"},
        grid={"data": values, "k": [1]},
        workers=0,
        out=tmp_path / "sweep",
    )
    assert table["status"].tolist() == ["done", "done"]
    assert main.run(["resume", str(tmp_path / "sweep")]) == 0  # its plan can be read again
