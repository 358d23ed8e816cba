"""``biorrr doctor``: what to paste into a bug report.

It says each thing as soon as it knows it, and goes on where one is broken: that is when it is asked
for.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "biorrr",
    "brian2",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "xarray",
    "h5netcdf",
    "networkx",
    "matplotlib",
    "typer",
    "pooch",
    "dask",
    "distributed",
    "pynwb",
)


def command() -> None:
    """Show versions, compiler, the engines that work here, the cache and the data found.

    Each engine runs a small circuit, which cpp compiles first: some ten seconds, once.
    """
    _show("versions", ("python", "system", *PACKAGES), _version)
    _show("compiler", ("C++",), _compiler)
    _show("engines, each with a small circuit: some seconds", ("numpy", "cpp"), _try_engine)
    _show("compiled circuits", ("size",), _cache_size)
    _show("data", ("found", "not here"), _data)


def _show(title: str, names: Iterable[str], tell: Callable[[str], str]) -> None:
    """Print what ``tell`` says of each name, or how that fails."""
    width = max(map(len, names))
    print(title)
    for name in names:
        print(f"  {name:{width}}  ", end="", flush=True)
        try:
            said = tell(name)
        except Exception as error:  # whatever goes wrong is what the report is for
            cause: BaseException = error
            while cause.__cause__ is not None:  # Brian2 wraps what a compiler says
                cause = cause.__cause__
            said = f"fails: {type(cause).__name__}: {next(iter(str(cause).splitlines()), '')}"
        # Reports are read by others: no folder that tells whose machine this is.
        print(said.replace(str(Path.home()), "~"), flush=True)


def _version(name: str) -> str:
    if name in ("python", "system"):
        return platform.python_version() if name == "python" else platform.platform()
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _compiler(name: str) -> str:
    from biorrr.circuit.engines import compiler

    if compiler.find_compiler() is None:
        return f"none; {compiler.HOW_TO_INSTALL}"
    return compiler.identity()["compiler"].splitlines()[0]


def _try_engine(engine: str) -> str:
    """Run a tiny circuit on ``engine``."""
    import warnings

    import numpy as np

    from biorrr.circuit import Microcircuit

    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Microcircuit(k=1, engine=engine).run(X, Y, progress=False)
    return "works"


def _cache_size(name: str) -> str:
    from biorrr.circuit.engines import cache

    return f"{cache.size() / 2**20:.1f} MB of at most {cache.LARGEST / 2**20:.0f} MB"


def _data(name: str) -> str:
    """Return the data sets that are ``found`` here, or are ``not here``."""
    from biorrr.sims.data import CATALOGUE

    found = {
        called: not one.origin.files or any(file.found() for file in one.origin.files)
        for called, one in CATALOGUE.items()
    }
    return (
        ", ".join(called for called, here in found.items() if here is (name == "found")) or "none"
    )
