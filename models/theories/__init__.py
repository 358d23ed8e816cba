"""Rival theories of learning in dendrites, each as the parts of a circuit.

The names in ``__init__.pyi`` are imported at their first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
