"""Tables as text: names, indices, and what is said where it is a guess which is which."""

import warnings

import numpy as np
import pytest

from biorrr.sims.data import DataError, load

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((20, 3)).round(6), rng.standard_normal((20, 2)).round(6)
NO_NAME = "the first column has no name and is left out as an index; name it if it is an input"
COUNTED = "the first line, 0, 1, 2 ..., is taken for column names; put names above it if it is a sample"


def loaded(tmp_path, x, y=None):
    """The data, and what was said of them; ``x`` and ``y`` are the files' text."""
    (tmp_path / "x.csv").write_text(x)
    (tmp_path / "y.csv").write_text(y or rows(Y))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        data = load(tmp_path / "x.csv", tmp_path / "y.csv")
    return data, [str(one.message) for one in said]


def rows(values, first=None):
    """Lines of numbers, behind the ``first`` cell of each where given."""
    lines = [",".join(map(repr, row)) for row in values.tolist()]
    return "\n".join(lines if first is None else map(",".join, zip(map(str, first), lines, strict=True))) + "\n"


@pytest.mark.parametrize("first", [range(20), range(5, 25), [f"2020-01-{day:02}" for day in range(1, 21)]])
def test_the_index_of_a_table_is_no_input(tmp_path, first):
    """``df.to_csv()``: learned as an input it cost 50 % of excess in place of 1.7 %."""
    data, said = loaded(tmp_path, ",a,b,c\n" + rows(X, first))
    np.testing.assert_array_equal(data.X, X)
    assert data.x_names == ("a", "b", "c")
    assert said == [f"{tmp_path / 'x.csv'}: {NO_NAME}"]


def test_the_index_of_a_table_without_names(tmp_path):
    data, said = loaded(tmp_path, ",0,1,2\n" + rows(X, range(20)), ",0\n" + rows(Y[:, :1], range(20)))
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y, Y[:, :1])
    assert [text.partition(": ")[2] for text in said] == [NO_NAME, COUNTED] * 2


def test_an_index_that_was_read_and_saved_again(tmp_path):
    data, said = loaded(tmp_path, "Unnamed: 0,a,b,c\n" + rows(X, range(20)))
    np.testing.assert_array_equal(data.X, X)
    assert said == [f"{tmp_path / 'x.csv'}: {NO_NAME}"]
    data, said = loaded(tmp_path, "Unnamed: 0,a,b,c\n" + rows(X, range(20, 40)))  # it counts no rows: not an index
    assert data.X.shape == (20, 4)
    assert said == []


@pytest.mark.parametrize("header", ["", "t,a,b,c\n"])
def test_a_column_that_counts_the_rows_is_pointed_out(tmp_path, header):
    data, said = loaded(tmp_path, header + rows(X, range(20)))
    assert data.X.shape == (20, 4)
    assert said == [
        f"{tmp_path / 'x.csv'}: the first column, 0, 1, 2 ..., is taken for an input; take it out if it is an index"
    ]


def test_numbers_as_column_names(tmp_path):
    data, said = loaded(tmp_path, "0,1,2\n" + rows(X))
    np.testing.assert_array_equal(data.X, X)
    assert data.x_names == ("0", "1", "2")
    assert said == [f"{tmp_path / 'x.csv'}: {COUNTED}"]
    data, said = loaded(tmp_path, "2001,2002,2003\n" + rows(X[1:]))
    assert data.X[0].tolist() == [2001, 2002, 2003]
    assert said == [
        f"{tmp_path / 'x.csv'}: the first line, whole numbers, is taken for a sample; "
        "take it out if it holds column names"
    ]


def test_nothing_is_said_of_plain_tables(tmp_path):
    assert loaded(tmp_path, "a,b,c\n" + rows(X))[1] == []
    assert loaded(tmp_path, rows(X))[1] == []
    assert loaded(tmp_path, rows(np.arange(1, 61).reshape(20, 3) % 7))[1] == []


@pytest.mark.parametrize(
    ("text", "slip"),
    [
        (",1.5,2.5\n0,1,2\n", "'' in line 1"),  # a value is missing: no index
        (",a,2\n0,1,2\n", "'' in line 1"),
        (",a,b\n0,1,2\nx,1,two\n", "'two' in line 3"),
        (",a,b\n0,1,2\n1,2\n", "2 in line 3 and 3 above it"),
    ],
)
def test_slips_beside_an_index(tmp_path, text, slip):
    with pytest.raises(DataError, match=rf"x.csv: must be numbers .*, as many in each row \(got {slip}\)"):
        loaded(tmp_path, text)
