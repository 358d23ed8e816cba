"""Experiments a person runs: the command line, settings, data sets and run folders."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
