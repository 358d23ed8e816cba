"""Tables as text: names of columns, and tables with an index, which are refused."""

import numpy as np
import pytest

from biorrr.sims.data import DataError, load

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((20, 3)).round(6), rng.standard_normal((20, 2)).round(6)


def loaded(tmp_path, x):
    """Return the data of a file with the text ``x``."""
    (tmp_path / "x.csv").write_text(x)
    (tmp_path / "y.csv").write_text(rows(Y))
    return load(tmp_path / "x.csv", tmp_path / "y.csv")


def rows(values, first=None):
    """Return lines of numbers, behind the ``first`` cell of each where given."""
    lines = [",".join(map(repr, row)) for row in values.tolist()]
    return (
        "\n".join(
            lines if first is None else map(",".join, zip(map(str, first), lines, strict=True))
        )
        + "\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (",a,b,c\n" + rows(X, range(5, 25)), "a first column without a name"),
        (
            ",a,b,c\n" + rows(X, [f"2020-01-{day:02}" for day in range(1, 21)]),
            "a first column without a name",
        ),
        (",0,1,2\n" + rows(X, range(20)), "column names 0, 1, 2 ..."),
        ("0,1,2\n" + rows(X), "column names 0, 1, 2 ..."),
        (rows(X, range(20)), "a first column that counts the rows, like an index"),
        ("t,a,b,c\n" + rows(X, range(20)), "a first column that counts the rows, like an index"),
    ],
)
def test_the_index_of_a_table_is_no_input(tmp_path, text, said):
    """Learned as an input it cost 50 % of excess in place of 1.7 %."""
    with pytest.raises(DataError, match=rf"x.csv: must have inputs only.* \(got {said}\)"):
        loaded(tmp_path, text)


@pytest.mark.parametrize("text", ["a,b,c\n" + rows(X), rows(X)])
def test_plain_tables(tmp_path, text):
    np.testing.assert_array_equal(loaded(tmp_path, text).X, X)
