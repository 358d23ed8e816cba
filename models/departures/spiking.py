"""Spiking cells: an activity is represented by the spikes of many cells instead of one analog
value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from biorrr.models.departure import Departure
from biorrr.models.expressions import rename
from biorrr.models.parts import Population, Step, Variable, parameter
from biorrr.models.physical_units import Milliseconds
from biorrr.models.random_draws import Stream, in_area, uniform_draw
from biorrr.models.validation import NotNegative, PositiveCount


@dataclass(frozen=True)
class Spiking(Departure):
    """Populations of Poisson cells for each output and each interneuron, heard by their spikes.

    Activity is signed and rates are not, so at rest every cell fires `baseline` spikes per sample;
    one standard deviation of activity makes each of them fire one spike more or less. That is 1 for
    outputs (the constraint's unit variance), and for an interneuron what outputs of unit variance
    make of it, the root of the sum of squares of its weights R. What is read is the spike count,
    less the baseline. Poisson cells of one rate add up to a Poisson number with uniformly chosen
    cells, so the circuit draws the sum and :meth:`raster` says who fired. With leaky dynamics
    spikes come tick by tick and are read through an exponential synaptic filter. In spontaneous
    replay activity is analog.

    Parameters
    ----------
    population
        Number of cells that represent one output or one interneuron.
    baseline
        Mean number of spikes per cell and sample at rest. Activity that is more than `baseline`
        standard deviations below rest is cut off. Because counts are noisy, outputs satisfy their
        constraint only with more than `baseline` cells.
    filter
        Time constant of the synaptic filter, as a Brian2 time or in milliseconds; used in leaky
        dynamics only.
    """

    population: PositiveCount = 50
    baseline: NotNegative = 4.0
    filter: Milliseconds = 20.0
    alters = ("pyramidal", "interneuron", "recruitment")
    gives = ("spikes",)
    excludes = (
        (
            "settling",
            "spikes are drawn anew in every tick, so outputs never settle; use Leaky(...)",
        ),
    )

    def alter_part(self, part):
        """Replace the activity of outputs and interneurons by what their spikes say."""
        if part.kind == "recruitment":
            return replace(part, sums=(*part.sums, ("strength", "w**2")))
        if part.kind == "interneuron":
            part = part.adding(Variable("strength", "sum of squares of an interneuron's weights"))
            unit, phase = "(sqrt(strength) + 1e-300)", "interneuron output"
            return self._spiking(
                part, "interneuron", "n", "n", "interneuron_spikes", unit, Stream.INTERNEURON, phase
            )
        if not part.has("shortfall"):
            return self._spiking(part, "output", "z", "z", "spikes", "1", Stream.OUTPUT, "output")
        # With feedback the soma is no longer what it says, and other areas hear the spikes.
        steps = tuple(replace(step, code=rename(step.code, {"z": "soma"})) for step in part.steps)
        part = replace(part, steps=steps).adding(
            Variable("soma", "membrane potential of the soma", role="memory")
        )
        return self._spiking(
            part, "output", "soma", "z", "spikes", "1", Stream.OUTPUT, "feedback output"
        )

    def _spiking(
        self,
        cells: Population,
        said: str,
        drive: str,
        activity: str,
        spikes: str,
        unit: str,
        stream: int,
        phase: str,
    ) -> Population:
        """Return ``cells`` whose ``activity`` is what their spikes say of their ``drive``."""
        return cells.adding(
            Variable(spikes, f"spikes of the population that stands for an {said}"),
            Variable("filtered", "what a synaptic filter has left of past ticks", role="memory"),
            parameter("cells_each", f"cells that stand for an {said}", self.population),
            parameter("rest", "spikes per cell and sample at rest", float(self.baseline)),
            parameter(
                "filter_step", "relaxation of the filter per tick", f"relaxation({self.filter!r})"
            ),
            Step(
                phase,
                f"""
                unit = {unit}
                mean_spikes = cells_each / duration * clip(rest + {drive} / unit, 0, inf)
                {spikes} = poisson_draw(mean_spikes, seed, {in_area(stream, cells.area)}, moment, i)
                filtered += filter_step * (unit * ({spikes} * duration / cells_each - rest) - filtered)
                {activity} = filtered
                """,
            ),
        )

    def raster(self, counts, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Say which cell fired each of the spikes that were counted.

        Parameters
        ----------
        counts
            Spikes of each population in each tick, shape (ticks, populations).
        seed
            Seed of the random choice of cells.

        Returns
        -------
        ticks, cells
            Tick and cell of every spike, shapes (spikes,). Population p has the cells p *
            population to (p + 1) * population - 1.
        """
        counts = np.asarray(counts, dtype=np.int64)
        ticks, populations = np.divmod(
            np.repeat(np.arange(counts.size), counts.reshape(-1)), counts.shape[1]
        )
        chosen = uniform_draw(seed, Stream.RASTER, ticks, np.arange(len(ticks)))
        return ticks, populations * self.population + (chosen * self.population).astype(np.int64)
