from .sweeps.points import sweep as sweep
