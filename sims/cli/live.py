"""``biorrr live``: a page on which a circuit learns while one watches."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from biorrr.sims.lab.run_folder import FolderError


def command(
    data: Annotated[
        str,
        typer.Option(
            "--data",
            metavar="NAME|FILE",
            help="a name that `biorrr data` lists, or a file with X and Y",
        ),
    ] = "digits",
    k: Annotated[
        int, typer.Option("-k", "--k", metavar="INTEGER", help="number of pyramidal neurons")
    ] = 4,
    s: Annotated[
        float, typer.Option("-s", "--s", metavar="NUMBER", help="0 is RRMSE, 1 is CCA")
    ] = 0,
    ridge: Annotated[
        float | None,
        typer.Option(
            "--ridge",
            metavar="NUMBER",
            help="added to Cxx and Cyy on the diagonal  [default: 0.1 * trace(Cxx)/m]",
        ),
    ] = None,
    epochs: Annotated[
        int,
        typer.Option(
            "--epochs", metavar="INTEGER", help="passes over the data until their order repeats"
        ),
    ] = 10,
    seed: Annotated[
        int, typer.Option("--seed", metavar="INTEGER", help="seed of weights and order")
    ] = 0,
    out: Annotated[Path, typer.Option("--out", help="file to write", metavar="FILE")] = Path(
        "circuit.html"
    ),
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="open the page in the browser")
    ] = True,
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error")] = False,
) -> None:
    """Write a page on which a circuit learns in the browser, and open it.

    The page is one file that needs no network, to show to others: traces of plateaus beside theory,
    filters, sliders for the learning rates, and buttons that silence the interneurons, cut the
    instruction and shuffle Y.
    """
    from biorrr.circuit import Microcircuit
    from biorrr.sims.data import load
    from biorrr.sims.lab.training import check_rank, default_ridge

    if out.is_dir() or not out.parent.is_dir():
        raise FolderError(f"out: must be a file, in a folder that exists (got {out})")
    loaded = load(data)
    check_rank(k, loaded)
    centred = loaded.centred()
    ridge = default_ridge(loaded) if ridge is None else ridge
    pixels = loaded.pixels if loaded.pixels and len(loaded.pixels) == 2 else None
    title = f"{k} pyramidal neurons learn {loaded.name}"
    circuit = Microcircuit(k=k, s=s, ridge=ridge, seed=seed)
    circuit.to_html(out, centred.X, centred.Y, pixels=pixels, epochs=epochs, title=title)
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB; open it in a browser")
    if show:
        webbrowser.open(out.resolve().as_uri())
