"""What an activity is made of: one analog value, or the spikes of many cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biorrr.models import chance
from biorrr.models.checks import number_within, whole_number
from biorrr.models.departure import Departure
from biorrr.models.dynamics import milliseconds


@dataclass(frozen=True)
class Analog:
    """One value a cell, as the paper has it."""


@dataclass(frozen=True)
class Spiking(Departure):
    """Each output and each interneuron is a population of Poisson cells, and what others read is their spikes.

    Activity is signed and rates are not, so at rest every cell fires `baseline` spikes a sample; one standard deviation
    of activity makes each of them fire one spike more or less. That is 1 for outputs (the constraint's unit variance),
    and for an interneuron what outputs of unit variance make of it, the root of the sum of squares of its weights R.
    What is read is the spike count, less the baseline. Poisson cells of one rate add up to a Poisson number with
    uniformly chosen cells, so the circuit draws the sum and :meth:`raster` says who fired. With leaky dynamics spikes
    come tick by tick and are read through an exponential synaptic filter. In spontaneous replay activity is analog.

    Parameters
    ----------
    population
        Cells that stand for one output or interneuron.
    baseline
        Spikes a cell fires in a sample at rest. Activity further than `baseline` standard deviations below rest is cut
        off. Counts scatter: outputs keep to their constraint only with more than `baseline` cells.
    filter
        Time constant of the synaptic filter, a Brian2 time or a number of milliseconds; only leaky dynamics need it.
    """

    population: int = 50
    baseline: float = 4.0
    filter: float = 20.0

    def __post_init__(self) -> None:
        whole_number("Spiking.population", self.population, minimum=1)
        number_within("Spiking.baseline", self.baseline, 0)
        object.__setattr__(self, "filter", milliseconds("Spiking.filter", self.filter))

    def alter_population(self, population):
        """Replace the activity of outputs and interneurons by what their spikes say."""
        if population.name == "pyramidal":
            activity, spikes, stream, unit = "z", "spikes", chance.OUTPUT, "1"
        elif population.name == "interneurons":
            activity, spikes, stream = "n", "interneuron_spikes", chance.INTERNEURON
            unit = "(sqrt(strength) + 1e-300)"
        else:
            return population
        return population.extended(
            equations=f"""
    {spikes} : 1                   # spikes of the whole population in this tick
    strength : 1                   # sum of squares of an interneuron's weights
    filtered : 1                   # what a synaptic filter has left of past ticks
    cells : 1 (shared, constant)   # of the population
    rest : 1 (shared, constant)    # spikes a cell fires in a sample at rest
    filter_step : 1 (shared, constant)
""",
            response=f"""
unit = {unit}
mean_spikes = cells * share * clip(rest + {activity} / unit, 0, inf)
{spikes} = waking * poisson_draw(mean_spikes, chance_seed, {stream}, moment, i)
filtered = filtered + waking * filter_step * (unit * ({spikes} / (cells * share) - rest) - filtered)
{activity} = waking * filtered + (1 - waking) * {activity}""",
            parameters=("cells", "rest", "filter_step"),
            memory=("filtered",),
            hears=("waking", "share", "moment", "chance_seed"),
            traces=(spikes,),
        )

    def alter_pathway(self, pathway):
        """Let interneurons know how strongly they are driven."""
        if pathway.name != "recruitment":
            return pathway
        return pathway.extended(current="\nstrength_post = w**2 : 1 (summed)")

    def values(self, setting):
        """The same for outputs and interneurons."""
        shared = {
            "cells": float(self.population),
            "rest": float(self.baseline),
            "filter_step": setting.relaxation(self.filter),
        }
        return {f"{part}.{name}": value for part in ("pyramidal", "interneurons") for name, value in shared.items()}

    def raster(self, counts, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Say which cell fired each of the spikes that were counted.

        Parameters
        ----------
        counts
            Spikes of each population in each tick, shape (ticks, populations).
        seed
            Of the choice of cells.

        Returns
        -------
        ticks, cells
            Of every spike, shapes (spikes,); cells of population p are p * population to (p + 1) * population - 1.
        """
        counts = np.asarray(counts, dtype=np.int64)
        ticks, populations = np.divmod(np.repeat(np.arange(counts.size), counts.reshape(-1)), counts.shape[1])
        chosen = chance.uniform_draw(seed, chance.RASTER, ticks, np.arange(len(ticks)))
        return ticks, populations * self.population + (chosen * self.population).astype(np.int64)
