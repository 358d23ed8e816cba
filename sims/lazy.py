"""Modules that take long to import, imported when they are first used: ``--help`` need not wait for
them.

``from biorrr.sims.lazy import np`` stands for ``import numpy as np``. Our own packages import what
they offer when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

from biorrr import analysis, models
from biorrr import circuit as circuits

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    import xarray as xr
else:
    np, nx, xr = map(lazy_loader.load, ("numpy", "networkx", "xarray"))

__all__ = [
    "analysis",
    "circuits",
    "models",
    "np",
    "nx",
    "xr",
]
