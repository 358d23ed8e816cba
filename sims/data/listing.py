"""``biorrr data``: the list of data sets, and a look into data."""

from __future__ import annotations

from typing import Annotated

import typer

from biorrr.sims.data import CATALOGUE, Data
from biorrr.sims.data.named import Origin, folders

OWN = (
    "an .npz or .mat file with X and Y, x.csv with --y y.csv, x.npy with --y y.npy, or two areas of"
    " a recording, session.nwb with --source VISp --target VISl"
)


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
        typer.Option("--x", metavar="NAME", help="of --check: variable with X in a .mat file"),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option("--y", metavar="FILE|NAME", help="of --check: file or variable with Y"),
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
        from biorrr.sims.data.look import describe

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
    here = [path for file in origin.files if (path := file.found())]
    if here:
        return ", ".join(map(str, here))
    return (
        "no; downloaded when first used"
        if origin.files[0].sha256
        else f"no; get it from {origin.files[0].url}"
    )
