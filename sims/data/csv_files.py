"""Tables of numbers as text, separated by commas."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np

from biorrr.sims.data.values import DataError


def table(path: Path) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the values (rows, columns), and the names of the columns if the first line has some.

    The first line holds names if nothing in it is a number. What looks like an index, or may be either names or a
    sample, is refused: learned as an input, an index would spoil the result without a word.
    """
    header = False
    try:
        with path.open(encoding="utf-8-sig") as file:
            cells = [cell.strip() for cell in next(csv.reader([file.readline()]), [""])]
        header = not any(map(_is_number, cells))
        counted = len(cells) > 1 and cells[not cells[0] :] == [str(i) for i in range(len(cells) - (not cells[0]))]
        if len(cells) > 1 and (counted or (header and not cells[0])):
            what = "column names 0, 1, 2 ..." if counted else "a first column without a name"
            raise DataError(f"{path}: must have inputs only, with names or without (got {what}); pandas "
                            "saves it so with df.to_csv(path, index=False, header=False)")  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty file, which Dataset refuses
            values = np.loadtxt(
                path, delimiter=",", skiprows=int(header), ndmin=2, encoding="utf-8-sig", comments=None, quotechar='"'
            )
    except DataError:
        raise
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: must be numbers separated by commas, as UTF-8 text ({error})") from error
    except (ValueError, csv.Error) as error:
        slip = _slip(path, header)
        raise DataError(f"{path}: must be numbers separated by commas, as many in each row (got {slip})") from error
    if header and values.size and len(cells) != values.shape[1]:
        raise DataError(f"{path}: must have a name for each of {values.shape[1]} columns (got {len(cells)})")
    if len(values) > 2 and values.shape[1] > 1 and np.array_equal(values[:, 0], np.arange(len(values))):
        raise DataError(f"{path}: must have inputs only (got a first column that counts the rows, like an index); "
                        "leave it out")  # fmt: skip
    return values, tuple(cells) if header else None


def _slip(path: Path, header: bool) -> str:
    """Return the first place where the file at ``path`` is not a table of numbers, in words."""
    width = None
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        for row in filter(None, rows):
            wrong = [cell for cell in row if not _is_number(cell)]
            if wrong and not (header and width is None):
                return f"{wrong[0][:40]!r} in line {rows.line_num}"
            if width not in (None, len(row)):
                return f"{len(row)} in line {rows.line_num} and {width} above it"
            width = len(row)
    return "something else"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # 1_000 is a number in Python alone
