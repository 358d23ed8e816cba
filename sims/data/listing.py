"""``biorrr data``: the list of data sets, and a look into a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biorrr.sims.data import CATALOGUE
from biorrr.sims.data.named import Origin, folders

OWN = (
    "an .npz or .mat file with X and Y, x.csv with --y y.csv, x.npy with --y y.npy, or two areas of"
    " a recording, session.nwb with --source VISp --target VISl"
)


def command(
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FILE",
            help="say what is in a recording, and the command to run on it",
        ),
    ] = None,
    trials: Annotated[
        str | None,
        typer.Option(
            "--trials", metavar="TABLE", help="table of trials to look at, where there are several"
        ),
    ] = None,
) -> None:
    """List the data sets: where from, licence, citation, whether found and where. Or look into a
    file of yours.
    """
    if check is not None:
        from biorrr.sims.recordings.contents import describe

        print(describe(check, trials))
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
