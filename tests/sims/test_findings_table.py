"""The printed table: rows with the same words stand under them, and no line is too long."""

from biorrr.sims.lab.findings import Findings, Quantity

ROWS = [
    Quantity(f"{name}_{s}", value, words=words, row=f"s = {s}")
    for s in (0, 1)
    for name, value, words in (
        ("excess", 0.5, "excess"),
        ("off", 1.25, "plateaus off by the paper"),
    )
]


def test_rows_with_the_same_words_stand_under_them():
    found = Findings(title="a title", quantities=[*ROWS, Quantity("last", 3, words="the last one")])
    assert found.lines() == [
        "a title",
        "                excess  plateaus off by",
        "                        the paper",
        "  s = 0         0.5     1.25",
        "  s = 1         0.5     1.25",
        "  the last one  3",
    ]


def test_a_single_row_and_rows_that_are_too_wide_are_sentences():
    alone = Findings(title="", quantities=ROWS[:2]).lines()
    assert alone[-1] == "  s = 0  excess 0.5; plateaus off by the paper 1.25"
    narrow = Findings(title="", quantities=ROWS).lines(columns=24)
    assert "excess 0.5; plateaus off by the paper 1.25" in " ".join(" ".join(narrow).split())
    assert max(map(len, narrow)) <= 24


def test_a_quantity_whose_words_are_the_label_of_a_row_comes_first_in_it():
    shared = [Quantity("a", 1, words="label"), Quantity("b", 2, words="at most", row="label")]
    assert Findings(title="", quantities=shared).lines()[-1] == "  label  1; at most 2"


def test_output_that_goes_to_no_terminal_has_lines_of_100_columns():
    lines = Findings(title="words " * 60, rows={"label": "more " * 60}).lines()
    assert 90 < max(map(len, lines)) <= 100
