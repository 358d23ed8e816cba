"""What neurons, synapses and learning rates are: descriptions with Brian2 equations, no simulator."""

from biorrr.models.rates import Rate, Rates

__all__ = ["Rate", "Rates"]
