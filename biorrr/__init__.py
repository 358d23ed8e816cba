"""Simulator of a cortical microcircuit that learns by calcium plateau potentials.

The names in ``__init__.pyi`` are imported at their first use, so that ``import biorrr`` is quick.
The rest of the package is in ``biorrr.models``, ``biorrr.circuit``, ``biorrr.analysis`` and
``biorrr.sims``.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
