"""Outputs that settle: while a sample is held, areas with apical feedback come to their
equilibrium, then learn.

The equilibrium solves M z = drive (:func:`~biorrr.models.settling_matrix`). Outputs come to it by
Chebyshev's semi-iteration, which needs bounds of the eigenvalues of M. The upper one follows from
the norms of the weights::

    1 + c_i |Q_i| |R_i| + link to the area below + link to the area above,  link_i = sqrt(c_i
    |W_(i+1)| |A_i|)

of that area i for which it is largest. The lower one is the smallest eigenvalue met while areas
learned. It rises to that of one area fewer as feedback from y, c |Q|^2 / k in the last area, clamps
that area; this is found by trial, not proven. Each norm is a sum of squares that cells take of
their own synapses, and that a population called "settling" sums over cells; it broadcasts how fast
outputs move.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from biorrr.models.departure import Departure
from biorrr.models.departures.apical_feedback import suffix
from biorrr.models.paper_parts import Clock
from biorrr.models.parts import Parts, Population, Step, Variable, broadcast, sum_over
from biorrr.models.validation import Positive, number_within, whole_number

# Ticks and lower bound of the eigenvalues, by the number of areas. With four areas or more, the
# weights between areas, which begin unrelated, make eigenvalues complex in the first thousand
# samples (0.08 + 0.11i with five): the iteration then comes to rest far more slowly, and faster
# with a bound above the smallest eigenvalue than below it.
_USUAL = {
    0: (100, 1.0),
    1: (100, 1.0),
    2: (100, 0.15),
    3: (160, 0.15),
    4: (300, 0.1),
    5: (1500, 0.15),
}
_MOST_TICKS = 100_000  # a thousand times what two areas need


@dataclass(frozen=True)
class Settled(Departure):
    """Each sample is held for a number of ticks in which outputs settle; weights change at the
    last.

    Outputs move towards their drive at a common pace, with a common inertia. Every sample begins at
    0, so its outcome depends on no other sample. Spontaneous replay settles in the same way.

    Parameters
    ----------
    ticks
        For which a sample is held; 100 for one and two areas, 160 for three, 300 for four and 1,500
        for more unless given.
    tolerance
        Largest residual at the last tick, relative to that of silence, with which a run is still
        accepted. The run's attribute `worst_residual` has what came out.
    softest
        Lower bound of the eigenvalues; smaller ones settle more slowly. Unless given, 1 for one
        area and 0.15 for more (0.1 for four), and up to that of one area fewer where y clamps the
        last area.
    """

    ticks: Annotated[int, partial(whole_number, minimum=2, maximum=_MOST_TICKS)] | None = None
    tolerance: Positive = 1e-8
    softest: Annotated[float, partial(number_within, low=1e-6, high=1)] | None = None
    gives = ("clock", "settling")
    requires = (
        (
            "apical feedback",
            "outputs settle only with apical feedback; give feedback=c, c > 0, or use Hierarchy",
        ),
    )

    def alter(self, parts: Parts) -> Parts:
        """Let outputs settle, and let weights and traces change at the last tick of a sample only."""
        pyramidal = parts.all(kind="pyramidal")
        areas, last = [cells.area for cells in pyramidal], pyramidal[-1]
        number = min(len(areas), max(_USUAL))
        (ticks, softest), (_, clamped) = _USUAL[number], _USUAL[number - 1]
        bounds = self.softest or softest, self.softest or max(softest, clamped)
        clamp = f"feedback{suffix(last.area)} * power_q{suffix(last.area)} / {last.size}"
        duration = float(self.ticks or ticks)
        first = Clock(duration, replay_duration=duration), _pacemaker(areas, *bounds, clamp)
        others = tuple(population for population in parts.populations if population.kind != "clock")
        parts = replace(parts, populations=(*first, *others))  # they speak before outputs move
        hear = partial(sum_over, "settling")
        for cells in pyramidal:
            power, residual = f"residual_power{suffix(cells.area)}", f"residual{suffix(cells.area)}"
            heard = hear(power, cells.name, residual, "shortfall_pre**2", "modulation")
            parts = parts.having(cells.adding(*_MOVEMENT), heard)
        for kind, letter in (("recruitment", "r"), ("proximal", "w"), ("distal", "a")):
            squares = Variable(f"{kind}_squares", f"sum of squares of the cell's {kind} weights")
            for path in parts.all(kind=kind):
                # What comes from elsewhere brings the data, and is no part of M.
                if parts[path.source].kind == "pyramidal":
                    norm, read = f"power_{letter}{suffix(path.area)}", f"{squares.name}_pre"
                    parts = parts.having(
                        parts[path.target].adding(squares),
                        replace(path, sums=(*path.sums, (squares.name, "w**2"))),
                        hear(f"{path.name}_norm", path.target, norm, read, "dendrite"),
                    )
        for part in parts.everything:
            steps = (
                replace(step, block="end") if step.phase == "eligibility" else step
                for step in part.steps
            )
            parts = parts.having(replace(part, steps=tuple(steps)))
        return parts.having(*(replace(pathway, block="end") for pathway in parts.pathways))


_MOVEMENT = (
    Variable("velocity", "movement of the output from tick to tick", role="memory"),
    Step("input", "z = 0\nvelocity = 0\nshortfall = 0", replays=True, block="onset"),
    Step(
        "input",
        """
        velocity = inertia * velocity + pace * shortfall
        z += velocity
        """,
        replays=True,
    ),
)


def _stiffest(areas: list[int]) -> list[str]:
    """Return the statements that find the upper bound of the eigenvalues of M."""
    links = {
        low: f"sqrt(feedback{suffix(low)} * sqrt(power_w{suffix(high)} * power_a{suffix(low)}))"
        for low, high in itertools.pairwise(areas)
    }
    lines: list[str] = []
    for below, area in zip([None, *areas], areas, strict=False):
        loop = f"feedback{suffix(area)} * sqrt(power_q{suffix(area)} * power_r{suffix(area)})"
        linked = [links[one] for one in (area, below) if one in links]
        bound = " + ".join([f"1 + {loop}", *linked])
        lines.append(f"stiffest = clip({bound}, stiffest, inf)" if lines else f"stiffest = {bound}")
    return lines


# Chebyshev's semi-iteration on [lowest, stiffest] (Saad, Iterative methods for sparse linear
# systems, 12.1). The first ratio, 1 / middle, is twice what the recursion makes of a ratio of 0.
_CHEBYSHEV = """
    onward = 1 / (2 * middle - chebyshev)
    inertia = onward * chebyshev
    pace = 2 * onward / breadth
    chebyshev = int(elapsed > 0.5) * (1 + int(elapsed < 1.5)) * onward
"""


def _pacemaker(areas: list[int], softest: float, clamped: float, clamp: str) -> Population:
    """Return the population that broadcasts pace and inertia, and keeps the worst residual.

    The lower bound of eigenvalues is ``softest``, and rises with ``clamp`` up to ``clamped``.
    """
    eigenvalues = [
        *_stiffest(areas),
        f"lowest = clip(softest * (1 + {clamp} / 3), softest, clamped)",
        "breadth = clip((stiffest - lowest) / 2, 1e-30, inf)",
        "middle = (stiffest + lowest) / (2 * breadth)",
    ]
    norms = [f"{name}{suffix(area)}" for area in areas for name in ("power_r", "residual")]
    norms += [f"power_w{suffix(area)}" for area in areas[1:]] + [
        f"power_a{suffix(area)}" for area in areas[:-1]
    ]
    residual = " + ".join(f"residual{suffix(area)}" for area in areas)
    return Population(
        1,
        "settling",
        (
            broadcast("pace", "how fast outputs follow their drive"),
            broadcast("inertia", "how much outputs keep of their movement"),
            broadcast(
                "chebyshev",
                "ratio of successive Chebyshev polynomials; 0 before the first",
                "memory",
            ),
            broadcast("breadth", "half the range of the eigenvalues of the equilibrium"),
            broadcast("middle", "middle of that range, in units of breadth"),
            broadcast(
                "softest", "lower bound of the eigenvalues of the equilibrium", "parameter", softest
            ),
            broadcast("clamped", "the same where y clamps the last area", "parameter", clamped),
            broadcast("silent", "squared residual of silence", "memory"),
            broadcast("worst", "largest relative residual so far", "memory"),
            *(broadcast(name, "summed over cells") for name in norms),
        ),
        (
            Step("input", "chebyshev = 0", replays=True, block="onset"),
            Step("modulation", "\n".join(eigenvalues), replays=True, block="onset"),
            Step("input", _CHEBYSHEV, replays=True),
            Step(
                "integration",
                # No difference is taken: what is replayed may be 1e-16 of the sample before it.
                f"silent = int(elapsed < 0.5) * ({residual}) + int(elapsed > 0.5) * silent",
                replays=True,
            ),
            Step(
                "integration",
                f"worst = clip(sqrt(({residual}) / (silent + 1e-300)), worst, inf)",
                replays=True,
                block="end",
            ),
        ),
        "Broadcasts how outputs settle.",
        shape="",
    )
