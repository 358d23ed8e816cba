"""Outputs that settle: while a sample is held, areas with apical feedback come to their equilibrium, then learn."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from biorrr.models.departure import Departure
from biorrr.models.paper.clock import SettlingClock
from biorrr.models.parts import Parts, Pathway, Population, Step, Variable, with_values
from biorrr.models.validation import number_within, whole_number

# Ticks, and the smallest eigenvalue met while areas learned digits, V1-V2 and synthetic data, by the number of areas.
_USUAL = {1: (100, 1.0), 2: (130, 0.2), 3: (200, 0.1)}


@dataclass(frozen=True)
class Settled(Departure):
    """Each sample is held for a number of ticks in which outputs settle; weights change at the last.

    The equilibrium solves M z = drive. Its eigenvalues lie between bounds: above by 1 + c |Q| |R| and the links to
    other areas, summed from all weights and broadcast; below by 1 in one area, and by ``softest`` in several. Between
    them outputs move by Chebyshev's semi-iteration: towards their drive at a common pace, with a common inertia. Every
    sample begins at 0, so what it leads to depends on no other. Spontaneous replay settles in the same way.

    Parameters
    ----------
    ticks
        For which a sample is held; 100, 130 and 200 for one, two and more areas unless given.
    tolerance
        Largest residual at the last tick, relative to that of silence, with which a run is still accepted. The run's
        attribute `worst_residual` has what came out.
    softest
        Lower bound of the eigenvalues; smaller ones settle more slowly. 1, 0.2 and 0.1 for one, two and more areas
        unless given.
    """

    ticks: int | None = None
    tolerance: float = 1e-8
    softest: float | None = None

    def __post_init__(self) -> None:
        if self.ticks is not None:
            whole_number("Settled.ticks", self.ticks, minimum=2)
        number_within("Settled.tolerance", self.tolerance, 0)
        if self.softest is not None:
            number_within("Settled.softest", self.softest, 1e-6, 1)

    def alter(self, parts: Parts) -> Parts:
        """Let outputs settle, broadcast how, and let weights change at the last tick of a sample only."""
        cells = [p for p in parts.populations if "shortfall" in {v.name for v in p.variables}]
        usual, softest = _USUAL[min(len(cells), 3)]
        held, softest = self.ticks or usual, self.softest or softest
        suffixes = [p.name.removeprefix("pyramidal") for p in cells]
        clock = with_values(SettlingClock(), held=float(held), replay_held=float(held))
        others = tuple(p for p in parts.populations if p.name != "clock")
        parts = Parts((clock, _modulator(suffixes, softest), *others), parts.pathways)  # it speaks before outputs move
        for population, at in zip(cells, suffixes, strict=True):
            parts = parts.adding(
                population.name,
                Variable("velocity", "how the output moves from tick to tick", role="memory"),
                Step(
                    "input",
                    """
                    velocity = (1 - fresh) * (inertia * velocity + pace * shortfall)
                    z = (1 - fresh) * (z + velocity)
                    """,
                    replays=True,
                ),
            )
            inhibiting = parts[f"interneurons{at}"]
            parts = parts.adding(inhibiting.name, Variable("power", "sum of squares of the weights onto the cell"))
            parts = parts.having(
                _with_sum(parts[f"recruitment{at}"], "power"),
                _sum(f"recruitment_power{at}", inhibiting.name, f"power_r{at}", "power_pre", "dendrite"),
                _sum(f"residual_power{at}", population.name, f"residual{at}", "shortfall_pre**2", "modulation"),
            )
        for low, high in itertools.pairwise(suffixes):
            for pathway, drives in (
                (parts[f"proximal{high}"], f"power_w{high}"),
                (parts[f"distal{low}"], f"power_a{low}"),
            ):
                parts = parts.adding(pathway.target, Variable(f"{drives}", f"sum of squares of {pathway.weight}"))
                parts = parts.having(
                    _with_sum(pathway, drives),
                    _sum(f"{pathway.name}_power", pathway.target, f"total_{drives}", f"{drives}_pre", "dendrite"),
                )
        return parts.having(*(_settling(pathway) for pathway in parts.pathways if pathway.plastic))


def _modulator(suffixes: list[str], softest: float) -> Population:
    """Broadcasts pace and inertia, and keeps the worst residual."""
    memories = [f"{name}{at}" for at in suffixes for name in ("power_r", "residual")]
    links = list(itertools.pairwise(suffixes))
    memories += [f"total_power_{name}" for low, high in links for name in (f"w{high}", f"a{low}")]
    lines: list[str] = []
    coupling = {low: f"sqrt(feedback{low} * sqrt(total_power_w{high} * total_power_a{low}))" for low, high in links}
    for place, at in enumerate(suffixes):
        bound = f"1 + feedback{at} * sqrt(power_q{at} * power_r{at})"
        bound += f" + {coupling[at]}" if at in coupling else ""
        bound += f" + {coupling[suffixes[place - 1]]}" if place else ""
        lines.append(f"stiffest = clip({bound}, stiffest, inf)" if lines else f"stiffest = {bound}")
    # Chebyshev's semi-iteration on [softest, stiffest] (Saad, Iterative methods for sparse linear systems, 12.1).
    lines += [
        "middle = (stiffest + softest) / 2",
        "breadth = clip((stiffest - softest) / 2, 1e-30, inf)",
        "first = int(elapsed < 1.5)",
        "onward = 1 / (2 * middle / breadth - (1 - first) * chebyshev)",
        "inertia = (1 - first) * onward * chebyshev",
        "pace = first / middle + (1 - first) * 2 * onward / breadth",
        "chebyshev = first * breadth / middle + (1 - first) * onward",
    ]
    residual = " + ".join(f"residual{at}" for at in suffixes)
    return Population(
        1,
        "settling",
        (
            Variable("pace", "how fast outputs follow their drive", "circuit"),
            Variable("inertia", "how much outputs keep of their movement", "circuit"),
            Variable("chebyshev", "ratio of successive Chebyshev polynomials", "circuit", "memory"),
            Variable(
                "softest", "lower bound of the eigenvalues of the equilibrium", "circuit", "parameter",
                softest,
            ),
            Variable("silent", "squared residual of silence", "circuit", "memory"),
            Variable("worst", "largest relative residual so far", "circuit", "memory"),
            *(Variable(name, "summed over cells", "circuit", "memory") for name in memories),
        ),
        (
            Step("input", "\n".join(lines), replays=True),
            Step(
                "integration",
                f"""
                silent = fresh * ({residual}) + (1 - fresh) * silent
                worst = clip((closing + replay_closing) * sqrt(({residual}) / (silent + 1e-300)), worst, inf)
                """,
                replays=True,
            ),
        ),
        "Broadcasts how outputs settle.",
        shape="",
    )  # fmt: skip


def _with_sum(pathway: Pathway, drives: str) -> Pathway:
    return replace(pathway, sums=(*pathway.sums, (drives, "w**2")))


def _sum(name: str, source: str, drives: str, current: str, phase: str) -> Pathway:
    return Pathway(name, source, "settling", drives, current, phase, weighted=False)


def _settling(pathway: Pathway) -> Pathway:
    """``pathway`` whose weights change at the last tick of what is presented, by the activities of that tick."""
    return replace(
        pathway,
        change=pathway.change and f"closing * ({pathway.change})",
        replay=pathway.replay and f"replay_closing * ({pathway.replay})",
    )
