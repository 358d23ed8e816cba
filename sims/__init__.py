"""Experiments a person runs: the command line, settings, data sets and run folders."""


def __getattr__(name: str):
    """Import :func:`sweep` when it is asked for: the command line need not wait for it."""
    if name == "sweep":
        from biorrr.sims.sweeps.run import sweep

        return sweep
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
