"""Modules that take long to import, imported when they are first used: ``--help`` need not wait for
them.

``from biorrr.sims.lazy import np`` stands for ``import numpy as np``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import lazy_loader

from biorrr import analysis
from biorrr import circuit as circuits

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    import xarray as xr

    from biorrr import models
    from biorrr.sims import data as data_sets
else:
    load = partial(lazy_loader.load, suppress_warning=True)  # of packages of packages
    np, nx, xr = map(load, ("numpy", "networkx", "xarray"))
    models, data_sets = map(load, ("biorrr.models", "biorrr.sims.data"))

__all__ = [
    "analysis",
    "circuits",
    "data_sets",
    "models",
    "np",
    "nx",
    "xr",
]
