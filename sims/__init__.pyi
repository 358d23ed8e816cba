from .sweeps.run import sweep as sweep
