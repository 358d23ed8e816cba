"""``biorrr doctor``: what to paste into a bug report."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "biorrr", "brian2", "numpy", "scipy", "scikit-learn", "numba", "xarray", "h5netcdf", "networkx", "matplotlib",
    "typer", "pooch", "cython", "dask", "distributed", "pyarrow", "plotly", "pynwb",
)  # fmt: skip


def command() -> None:
    """Show versions, compiler, the engines that work here, the cache and the data found."""
    from biorrr.circuit import cache, compiler
    from biorrr.sims.table import print_table

    print_table("versions", {"python": platform.python_version(), "system": platform.platform()} | _versions())
    found = compiler.find_compiler()
    identity = compiler.identity()["compiler"].splitlines()[0] if found else f"none; {compiler.HOW_TO_INSTALL}"
    print_table("compiler", {"C++": identity})
    failures = {engine: _try_engine(engine) for engine in ("numpy", "cython", "cpp")}
    print_table("engines", {engine: failure or "works" for engine, failure in failures.items()})
    print_table(
        "compiled circuits", {"size": f"{cache.size() / 2**20:.1f} MB of at most {cache.LARGEST / 2**20:.0f} MB"}
    )
    print_table("data", _data())
    if failures["numpy"]:
        sys.exit(1)


def _versions() -> dict[str, str]:
    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    return {package: of(package) for package in PACKAGES}


def _try_engine(engine: str) -> str | None:
    """Run a tiny circuit on ``engine``; the reason if that fails."""
    import warnings

    import numpy as np
    from biorrr.circuit import Microcircuit

    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Microcircuit(k=1, engine=engine).run(X, Y, progress=False)
    except Exception as error:  # whatever goes wrong is what the report is for
        return f"fails: {type(error).__name__}: {str(error).splitlines()[0]}"
    return None


def _data() -> dict[str, str]:
    from biorrr.sims.data import CATALOGUE

    return {
        name: "found" if not files or any(file.found() for file in files) else "not here"
        for name, files in ((name, entry.source.files) for name, entry in CATALOGUE.items())
    }
