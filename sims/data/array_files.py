"""Arrays in files: .npz holds several by name, .npy and .csv one without a name.

The format is told by the first bytes of a file and not by its name.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from biorrr.sims.data.dataset import Dataset
from biorrr.sims.data.files import open_regular, readable
from biorrr.sims.data.kinds import Arrays, Pair
from biorrr.sims.data.values import DataError, FileData
from biorrr.sims.words import listed

NOT_NUMPY = "not a readable NumPy file"


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a regular file."""
    with open_regular(path) as file:
        return file.read(8)


def read_npz(path: Path, needed: Sequence[str], known: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return the arrays called ``needed``, which must be in the .npz file, and those of ``known``
    that are.
    """
    with open_regular(path) as file, readable(path, NOT_NUMPY), np.lib.npyio.NpzFile(file) as held:
        if not set(needed) <= set(held.files):
            hint = (
                "; two areas of a recording take --source and --target"
                if "areas" in held.files
                else f"; np.savez saves arrays as {', '.join(f'{name}=...' for name in needed)}"
            )
            raise DataError(
                f"{path}: must hold {listed(needed)} (got {listed(sorted(held.files))}){hint}"
            )
        return {name: np.asanyarray(held[name]) for name in (*needed, *known) if name in held.files}


def holds_recording(data: FileData) -> bool:
    """Return True for a recording: one that is named so, or arrays of activity and no samples."""
    path = Path(data.file)
    if isinstance(data, Pair):
        return True
    if not isinstance(data, Arrays) or not first_bytes(path).startswith(b"PK"):
        return False
    with open_regular(path) as file, readable(path, NOT_NUMPY), np.lib.npyio.NpzFile(file) as held:
        return "areas" in held.files and not {"X", "Y"} <= {*held.files}


def read_samples(value: Arrays) -> Dataset:
    """Read X and Y, from one file that holds both or from a file for each."""
    if value.y is not None:
        return Dataset(str(value), read_single(Path(value.file)), read_single(Path(value.y)))
    path = Path(value.file)
    if first_bytes(path).startswith(b"PK") or path.suffix.lower() == ".npz":
        held = read_npz(path, ("X", "Y"))
        return Dataset(str(value), held["X"], held["Y"])
    raise DataError(
        f"y: {path} is no .npz or .mat file with X and Y; if it holds X alone (.csv, .npy), name"
        " Y's file with --y"
    )


def read_single(path: Path) -> np.ndarray:
    """Read the array in a .npy file, as a memory map since it may be larger than memory, or in a
    .csv file.
    """
    if (begin := first_bytes(path)).startswith(b"PK"):
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
    wanted, rows, columns = (
        f"{path}: must be numbers separated by commas, as many in each row",
        [],
        None,
    )
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            for cells in filter(None, lines):
                first, columns = columns is None, columns or len(cells)
                numbers = [_number(cell) for cell in cells]
                if first:
                    _refuse_index_names(path, [cell.strip() for cell in cells])
                    if not any(number is not None for number in numbers):
                        continue
                if None in numbers:
                    raise DataError(
                        f"{wanted} (got {cells[numbers.index(None)][:40]!r} in line"
                        f" {lines.line_num})"
                    )
                if len(cells) != columns:
                    raise DataError(
                        f"{wanted} (got {len(cells)} in line {lines.line_num} and {columns}"
                        " above it)"
                    )
                rows.append(np.array(numbers))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{wanted}, as UTF-8 text ({error})") from error
    values = np.array(rows).reshape(len(rows), columns or 0)
    if (
        len(values) > 2
        and values.shape[1] > 1
        and np.array_equal(values[:, 0], np.arange(len(values)))
    ):
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
