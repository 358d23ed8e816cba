"""The rule of distal synapses: s inferred from recordings, how noise is allowed for, and the power
of experiments.
"""
