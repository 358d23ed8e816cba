"""Modules that take long to import, imported when they are first used: ``--help`` need not wait for
them.

``from biorrr.sims.lazy import np`` stands for ``import numpy as np``.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    import xarray as xr

    from biorrr import analysis, models
    from biorrr import circuit as circuits
    from biorrr.models import theories
    from biorrr.sims import data as data_sets
else:

    class LazyModule(ModuleType):
        """Stands for the module of its name."""

        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module(self.__name__), name)

    np, nx, xr = map(LazyModule, ("numpy", "networkx", "xarray"))
    analysis, circuits, models = map(
        LazyModule, ("biorrr.analysis", "biorrr.circuit", "biorrr.models")
    )
    theories, data_sets = map(LazyModule, ("biorrr.models.theories", "biorrr.sims.data"))

__all__ = [
    "analysis",
    "circuits",
    "data_sets",
    "models",
    "np",
    "nx",
    "theories",
    "xr",
]
