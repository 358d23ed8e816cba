"""The microcircuit of the paper (Golkar et al., NeurIPS 2020): inputs, neurons, synapses, clock and
rates.
"""
