"""``biorrr data``: the list of data sets, and a look into data with a command to run on them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from biorrr.sims.data import CATALOGUE, Arrays, Data, Pair
from biorrr.sims.data.published import Origin, folders
from biorrr.sims.lazy import np
from biorrr.sims.words import counted, listed

OWN = (
    "an .npz or .mat file with X and Y, x.csv with --y y.csv, x.npy with --y y.npy, or two areas of"
    " a recording, session.nwb with --source VISp --target VISl"
)
FEWEST = 10  # units of an area that is proposed


def command(
    check: Annotated[
        str | None,
        typer.Option(
            "--check",
            metavar="DATA",
            help="say what is in a file of yours or a data set, and the command to run on it",
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="NAME", help="of --check: name of X in an .npz or .mat file"),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option("--y", metavar="FILE|NAME", help="of --check: file with Y, or its name"),
    ] = None,
    trials: Annotated[
        str | None,
        typer.Option(
            "--trials",
            metavar="TABLE",
            help="of --check: table of trials to look at, where a recording has several",
        ),
    ] = None,
) -> None:
    """List the data sets: where from, licence, citation, whether found and where. Or look into a
    file of yours.
    """
    if check is not None:
        given = {name: value for name, value in (("x", x), ("y", y)) if value is not None}
        print(describe(Data.made_from(check, given), trials))
        return
    for name, named in CATALOGUE.items():
        origin = named.origin
        print(name)
        print(f"    {origin.summary}")
        for label, text in (
            ("from", origin.home),
            ("licence", origin.licence),
            ("cite", origin.citation),
            ("found", _found(origin)),
        ):
            print(f"    {label:8} {text}")
    print(f"\nyour own: {OWN}")
    print(f"looked for in: {', then '.join(map(str, folders()))}")


def _found(origin: Origin) -> str:
    if not origin.files:
        return "always"
    if here := [str(path) for file in origin.files if (path := file.found())]:
        return ", ".join(here)
    first = origin.files[0]
    return "no; downloaded when first used" if first.sha256 else f"no; get it from {first.url}"


def describe(data: Data, trials: str | None = None) -> str:
    """Return sizes and ranges of X and Y, what to note and a command; of a recording, its areas,
    units, trials, events and conditions.

    ``trials`` is the table of trials to look at, where a recording has several.
    """
    path = Path(data.name)
    is_recording = isinstance(data, Pair) or (isinstance(data, Arrays) and _has_areas(path))
    lines = _in_recording(path, trials) if is_recording else _in_samples(data)
    width = max(map(len, lines))
    return "\n".join([str(data), *(f"  {name:{width}}  {text}" for name, text in lines.items())])


def _has_areas(path: Path) -> bool:
    """Return True for an .npz file with activity of areas and no samples."""
    from biorrr.sims.data.arrays import read_npz

    held = read_npz(path, (), ("areas", "X")) if path.suffix.lower() == ".npz" else {}
    return "areas" in held and "X" not in held


def _in_samples(data: Data) -> dict[str, str]:
    """Return what is in data with X and Y, by headings."""
    from biorrr.sims.lab.training import TrainingSettings

    loaded = data.load()
    lines, notes, few = {}, [*loaded.notes], []
    for name, view, word in zip("XY", (loaded.X, loaded.Y), loaded.views, strict=True):
        (samples, columns), low, high = view.shape, view.min(axis=0), view.max(axis=0)
        size = f"{samples} samples x {columns} {word}"
        lines[name] = f"{size}, from {low.min():.3g} to {high.max():.3g}"
        if constant := int((low == high).sum()):
            notes.append(f"{constant} of {columns} columns of {name} constant")
        if samples < columns:
            few.append(name)
    if few:
        notes.append(f"fewer samples than columns of {' and '.join(few)}")
    if loaded.groups is not None:
        lines["trials"] = str(len(np.unique(loaded.groups)))
    words = ["biorrr", "learn", "--data", str(data) if data.set_name else data.name]
    for name, value in vars(data).items() if not data.set_name else ():
        if name != "file" and value != getattr(type(data), name):
            words += [f"--{name}", value]
    largest = min(loaded.X.shape[1], loaded.Y.shape[1])
    words += [] if largest >= TrainingSettings.k else ["-k", str(largest)]
    return lines | {"to note": "; ".join(notes) or "nothing", "run": shlex.join(words)}


def _in_recording(path: Path, trials: str | None) -> dict[str, str]:
    """Return what is in a recording, by headings."""
    import pandas as pd

    from biorrr.sims.recordings.nwb import open_nwb, trial_tables
    from biorrr.sims.recordings.recording import Recording

    tables = {}
    if path.suffix.lower() == ".nwb":
        tables = {name: len(table) for name, table in trial_tables(open_nwb(path)).items()}
        if trials is None and "trials" not in tables and len(tables) > 1:
            trials = next(iter(tables))  # the longest of those that look like trials
    recording = Recording.of_file(str(path), trials=trials)
    good = recording.good
    some = "" if good.all() else f", {good.sum()} of good quality"
    units, table = recording.units_of_areas(), recording.trials
    few = [name for name, count in units.items() if count < FEWEST]
    low = [f"fewer than {FEWEST} units in {listed(few)}: their ranks will be low"] if few else []
    lines = {
        "areas": recording.listed_areas,
        "units": f"{len(recording.areas)}{some}",
        **({"tables": listed(f"{name} ({n})" for name, n in tables.items())} if tables else {}),
        "trials": f"{len(table)} in {table.name}",
        "events": listed(_event(name, times) for name, times in table.times.items()),
        "conditions": listed(
            f"{name} ({counted(pd.Series(values).nunique(), 'value')})"
            for name, values in table.columns.items()
        ),
        "found in": (
            "; ".join(f"{name}: {where}" for name, where in recording.used.items()) or "arrays"
        ),
        "to note": "; ".join([*recording.notes, *low]) or "nothing",
    }
    areas = [name for name in units if name not in ("unknown", "root", "void", "nan")]
    if len(areas) < 2:
        return lines | {"run": f"none: two areas are needed, and there is {listed(areas)}"}
    words = ["biorrr", "communication", "--data", str(path)]
    words += ["--source", areas[0], "--target", areas[1]]  # the largest
    words += [] if trials is None else ["--trials", trials]
    return lines | {"run": shlex.join(words)}


def _event(name: str, times: np.ndarray) -> str:
    known = times[np.isfinite(times)]
    if not len(known):
        return f"{name} (never)"
    missing = f", not in {len(times) - len(known)}" if len(known) < len(times) else ""
    return f"{name} ({known.min():g} to {known.max():g} s{missing})"
