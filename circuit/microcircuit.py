"""The cortical microcircuit of Golkar et al. (NeurIPS 2020), and a hierarchy of areas with apical
feedback, ready to run.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from biorrr.circuit.base import CircuitBase
from biorrr.circuit.regression import Invertible, Member, Regression
from biorrr.errors import InputError
from biorrr.models import Area, Millivolts, Pathway, Population, Rates
from biorrr.models.validation import NotNegative, PositiveCount, instance_of, one_of


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Microcircuit(CircuitBase):
    """Two-compartment pyramidal neurons that learn by plateau potentials, with their interneurons.

    Parameters
    ----------
    k
        Pyramidal neurons: the rank of the regression.
    s
        Which regression: 0 is RRMSE, 1 is CCA (Sec. 3.2).
    rates
        Learning rates: "auto", fitted to the data, or :class:`~biorrr.models.Rates`, used as they
        stand. :meth:`~biorrr.models.Rates.suggested` gives constant ones.
    interneurons
        How many; k unless given. With fewer, outputs are inhibited in turn (docs/interneurons.md).
    ridge
        Epsilon added to Cxx and Cyy, or a pair of them.
    replay
        Ticks of spontaneous replay after each sample, by which the ridge on Cxx stays local.
    engine
        "numpy", "cpp", or "auto": cpp where the circuit is compiled already or compiling it pays.
    seed
        Seed of the initial weights, the order of samples and the order of replay: a whole number, a
        NumPy generator that draws one, or None for a new one each time.
    Vx0, Vy0, Q0, R0
        Initial weights, shapes (m, k), (n, k), (k, l), (l, k). Unless given they are drawn from
        the seed: of the size ``rates.start``, or fitted to the data with rates "auto".
    cell
        What cells are: "algebraic" (the paper's) or "millivolts"; or
        :class:`~biorrr.models.Millivolts` with parameters.
    feedback, rho
        Gain c of the plateau at the soma, with interneurons that hear the output it makes, and the
        variance that the output is brought to. Each sample then settles to its equilibrium
        (:class:`~biorrr.models.Settled`) before weights change; ``run.infer(X, Y)`` gives the
        settled outputs. 0 is the paper's circuit.
    departures
        Departures from the paper's circuit, of one's own or from :mod:`biorrr.models`, such as
        ``[AllOrNone(0.1), Spiking(50), Leaky(hold=100)]``; the one that gives the clock is applied
        last.
    pathways, populations
        Parts of one's own: each takes the place of the circuit's part of the same name, or is added
        to the circuit. A population of pyramidal neurons or interneurons may leave its size to
        ``k`` and ``interneurons``.
    name
        Begins the names of all Brian2 objects, so that several circuits fit into one network.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 6))
    >>> Y = X[:, :2] @ rng.standard_normal((2, 4)) + 0.1 * rng.standard_normal((500, 4))
    >>> run = Microcircuit(k=2, engine="numpy").run(X, Y, epochs=2)
    >>> run.Vx.shape
    (6, 2)
    """

    k: PositiveCount = field(default=2, kw_only=False)
    s: Member = 0.0
    rates: Rates | Sequence[Rates] | str = "auto"
    interneurons: PositiveCount | None = None
    ridge: float | tuple[float, float] = 0.0
    replay: PositiveCount = 8
    Vx0: object = None
    Vy0: object = None
    Q0: object = None
    R0: object = None
    cell: str | Millivolts = "algebraic"
    feedback: NotNegative = 0.0
    rho: Invertible = 1.0
    populations: Sequence[Population] = ()
    pathways: Sequence[Pathway] = ()
    traced: ClassVar = ("plateau", "a", "inhibition", "z")

    @functools.cached_property
    def regression(self) -> Regression:
        """The regression that its one area learns."""
        area = Area(self.k, self.interneurons or self.k, self.feedback)
        cell = self.cell
        if isinstance(cell, str):
            one_of("cell", cell, ("algebraic", "millivolts"))
            cell = None if cell == "algebraic" else Millivolts()
        cells = () if cell is None else (instance_of("cell", cell, Millivolts),)
        given = {"Vx": self.Vx0, "Vy": self.Vy0, "Q": self.Q0, "R": self.R0}
        return Regression(
            areas=(area,),
            links=(1.0, self.feedback),
            s=self.s,
            rates=self.rates,
            ridge=self.ridge,
            replay=self.replay,
            rho=self.rho,
            departures=(*cells, *self.departures),
            populations=self.populations,
            pathways=self.pathways,
            initial={name: matrix for name, matrix in given.items() if matrix is not None},
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Hierarchy(CircuitBase):
    """Areas of two-compartment neurons between x and y, each driven from below and taught from
    above.

    Area i has proximal synapses W{i} from the area below (x for the first), distal synapses A{i}
    from the area above (y for the last), and interneurons with Q{i} and R{i}. Its plateau drives
    its soma too, with the gain of the link above over that of the link below, so all areas settle
    together (Golkar et al., NeurIPS 2022). :class:`biorrr.analysis.ExactHierarchy` solves the
    same problem exactly.

    Parameters
    ----------
    areas
        Pyramidal neurons of each area, from that nearest to x up to that nearest to y.
    gains
        One for each link, from x to the first area up to y; all 1 unless
        given. ``Hierarchy(areas=(k,), gains=(1, c))`` is ``Microcircuit(k, feedback=c)``.
    rho
        Variance that every output is brought to.
    s
        Which regression the last area solves: 0 is RRMSE, 1 is CCA.
    rates
        Learning rates: "auto", fitted to the data, or :class:`~biorrr.models.Rates` for all areas,
        or one for each, used as they stand.
    interneurons
        How many each area has, at least as many as pyramidal neurons; as many unless given.
    ridge
        Epsilon added to Cxx and Cyy, or a pair of them. The ridge on Cxx is made by spontaneous
        replay, which settles as samples do; it needs settled dynamics.
    replay
        Replays after each sample.
    departures
        As :class:`~biorrr.circuit.Microcircuit` takes them. Each sample comes to its equilibrium,
        :class:`~biorrr.models.Settled`, unless ``Leaky(...)`` among them gives cells membranes.
    populations, pathways, engine, seed, name
        As :class:`~biorrr.circuit.Microcircuit` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> Y = X[:, :2] @ rng.standard_normal((2, 4)) + 0.1 * rng.standard_normal((200, 4))
    >>> hierarchy = Hierarchy(areas=(3, 2), engine="numpy")
    >>> run = hierarchy.run(X, Y, order=[0, 1, 2], centre=True, progress=False)
    >>> [z.shape for z in run.infer(X, Y)]
    [(200, 3), (200, 2)]
    """

    areas: Sequence[PositiveCount] = field(default=(4, 2), kw_only=False)
    gains: Sequence[Invertible] | None = field(default=None, kw_only=False)
    interneurons: Sequence[PositiveCount] | None = None
    s: Member = 0.0
    rates: Rates | Sequence[Rates] | str = "auto"
    ridge: float | tuple[float, float] = 0.0
    replay: PositiveCount = 1
    rho: Invertible = 1.0
    populations: Sequence[Population] = ()
    pathways: Sequence[Pathway] = ()

    @functools.cached_property
    def regression(self) -> Regression:
        """The regression that its areas learn together."""
        count = len(self.areas)
        if not count:
            raise InputError("areas: must have at least one area (got none)")
        links = (1.0,) * (count + 1) if self.gains is None else tuple(self.gains)
        if len(links) != count + 1:
            raise InputError(
                f"gains: must be {count + 1} numbers, one for each link from x to the first of"
                f" {count} areas up to y (got {len(links)})"
            )
        inner = self.areas if self.interneurons is None else self.interneurons
        if len(inner) != count:
            raise InputError(
                f"interneurons: must be {count} numbers, one for each area (got {len(inner)})"
            )
        areas = tuple(
            Area(k, l, links[place] / links[place - 1], place)
            for place, (k, l) in enumerate(zip(self.areas, inner, strict=True), 1)
        )
        return Regression(
            areas=areas,
            links=links,
            s=self.s,
            rates=self.rates,
            ridge=self.ridge,
            replay=self.replay,
            rho=self.rho,
            departures=self.departures,
            populations=self.populations,
            pathways=self.pathways,
        )
