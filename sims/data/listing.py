"""``biorrr data``: the list of data sets, and a look into a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biorrr.sims.data.files import Source, folders
from biorrr.sims.data.kinds import CATALOGUE

OWN = (
    "an .npz, .mat or HDF5 file with X and Y, a folder with X.csv and Y.csv, x.csv with --y y.csv, or a recording of "
    "areas, session.nwb with --source VISp --target VISl"
)


def command(
    check: Annotated[
        Path | None,
        typer.Option("--check", metavar="FILE", help="say what is in a recording, and the command to run on it"),
    ] = None,
    trials: Annotated[
        str | None,
        typer.Option("--trials", metavar="TABLE", help="table of trials to look at, where there are several"),
    ] = None,
) -> None:
    """List the data sets: where from, licence, citation, whether found and where. Or look into a file of yours."""
    if check is not None:
        from biorrr.sims.recordings.contents import describe

        print(describe(check, trials))
        return
    for name, named in CATALOGUE.items():
        source = named.origin()
        print(name)
        print(f"    {source.summary}")
        for label, text in (
            ("from", source.home),
            ("licence", source.licence),
            ("cite", source.citation),
            ("found", _found(source)),
        ):
            print(f"    {label:8} {text}")
    print(f"\nyour own: {OWN}")
    print(f"looked for in: {', then '.join(map(str, folders()))}")


def _found(source: Source) -> str:
    if not source.files:
        return "always"
    here = [path for file in source.files if (path := file.found())]
    if here:
        return ", ".join(map(str, here))
    return "no; downloaded when first used" if source.files[0].sha256 else f"no; get it from {source.files[0].url}"
