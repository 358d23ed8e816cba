"""Arrays in files: .npz holds several by name, .npy and .csv one without a name.

The format is told by the first bytes of a file and not by its name.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from biorrr.sims.data.files import first_bytes, readable
from biorrr.sims.data.values import DataError
from biorrr.sims.words import listed

NOT_NUMPY = "not a readable NumPy file"
ZIP = b"PK"  # how .npz files begin


def holds_recording(path: Path) -> bool:
    """Return True for an .npz file with arrays of activity and no samples."""
    if not first_bytes(path).startswith(ZIP):
        return False
    with readable(path, NOT_NUMPY), path.open("rb") as file, np.lib.npyio.NpzFile(file) as held:
        return "areas" in held and not {"X", "Y"} <= {*held}


def read_npz(path: Path, needed: Sequence[str], known: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return the arrays called ``needed``, which must be in the .npz file, and those of ``known``
    that are.
    """
    with readable(path, NOT_NUMPY), path.open("rb") as file, np.lib.npyio.NpzFile(file) as held:
        if not set(needed) <= {*held}:
            hint = (
                "; two areas of a recording take --source and --target"
                if "areas" in held
                else f"; np.savez saves arrays as {', '.join(f'{name}=...' for name in needed)}"
            )
            raise DataError(
                f"{path}: must hold {listed(needed)} (got {listed(sorted(held))}){hint}"
            )
        return {name: np.asanyarray(held[name]) for name in (*needed, *known) if name in held}


def read_samples(file: str, y: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return X and Y, from one file that holds both or from a file for each."""
    path = Path(file)
    if y is not None:
        return read_single(path), read_single(Path(y))
    if not first_bytes(path).startswith(ZIP) and path.suffix.lower() != ".npz":
        raise DataError(
            f"y: {path} is no .npz or .mat file with X and Y; if it holds X alone (.csv, .npy),"
            " name Y's file with --y"
        )
    held = read_npz(path, ("X", "Y"))
    return held["X"], held["Y"]


def read_single(path: Path) -> np.ndarray:
    """Return the array in a .npy file, as a memory map since it may be larger than memory, or in a
    .csv file.
    """
    if (begin := first_bytes(path)).startswith(ZIP):
        raise DataError(
            f"{path}: must hold one array beside another file (got .npz, which holds several)"
        )
    if begin.startswith(b"\x93NUMPY") or path.suffix.lower() == ".npy":
        with readable(path, NOT_NUMPY):
            return np.lib.format.open_memmap(path, mode="r")
    return read_csv(path)


def read_csv(path: Path) -> np.ndarray:
    """Return numbers separated by commas, (rows, columns); a first line in which nothing is a
    number holds names.

    What looks like an index, or may be either names or a sample, is refused: learned as an input,
    an index would spoil the result without a word.
    """
    wanted = f"{path}: must be numbers separated by commas, as many in each row"
    rows, width = [], 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            for cells in filter(None, lines):
                numbers = [_number(cell) for cell in cells]
                if not width:
                    width = len(cells)
                    _refuse_index_names(path, [cell.strip() for cell in cells])
                    if not any(number is not None for number in numbers):
                        continue
                if None in numbers:
                    got = repr(cells[numbers.index(None)][:40])
                    raise DataError(f"{wanted} (got {got} in line {lines.line_num})")
                if len(cells) != width:
                    raise DataError(
                        f"{wanted} (got {len(cells)} in line {lines.line_num} and {width} above it)"
                    )
                rows.append(np.array(numbers))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{wanted}, as UTF-8 text ({error})") from error
    values = np.array(rows).reshape(len(rows), width)
    if len(rows) > 2 and width > 1 and np.array_equal(values[:, 0], np.arange(len(rows))):
        raise DataError(
            f"{path}: must have inputs only (got a first column that counts the rows, like an"
            " index); leave it out"
        )
    return values


def _refuse_index_names(path: Path, cells: list[str]) -> None:
    """Refuse a first line as pandas writes it, with an unnamed index or columns called 0, 1, 2."""
    unnamed = not cells[0]
    counted = cells[unnamed:] == [str(i) for i in range(len(cells) - unnamed)]
    if len(cells) > 1 and (counted or unnamed):
        what = "column names 0, 1, 2 ..." if counted else "a first column without a name"
        raise DataError(
            f"{path}: must have inputs only, with names or without (got {what}); pandas "
            "saves it so with df.to_csv(path, index=False, header=False)"
        )


def _number(cell: str) -> float | None:
    """Return the number in a cell; None if there is none. 1_000 is a number in Python alone."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
