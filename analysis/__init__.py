"""Exact solutions, metrics, the paper's algorithms and their rivals, statistics of recordings, and
figures.

Arrays in, arrays out. The names in ``__init__.pyi`` are imported at their first use, so that
importing this room costs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
