"""Claims that circuits have come to the optimum of the objective, which all other claims about it presuppose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biorrr.sims.lab.claims import Claim
from biorrr.sims.lazy import analysis, np

EXCESS = 0.03
WHITENING = 0.05


def optimum_claims(
    exact: analysis.Yardstick, s: float, filters: Sequence[np.ndarray], run: str, unjudged: str
) -> Iterator[Claim]:
    """Judge what Sec. 4 says of the filters Vx (m, k) that circuits have learned with this s, one set for each seed."""
    excess, whitening = (
        float(np.max([measure(Vx) for Vx in filters])) for measure in (exact.excess, exact.whitening_error)
    )
    yield Claim(
        text=f"s = {s:g}: learning ends at the minimum of the objective",
        place='Sec. 4, "Algorithm derivation"',
        run=run,
        value=excess,
        low=-1e-9,
        high=EXCESS,
        unit="%",
        unjudged=unjudged,
    )
    yield Claim(
        text=f"s = {s:g}: the inequality Vx'CxxVx <= I is saturated, ||Vx'CxxVx - I||^2/k = 0",
        place='supplement C, "Saturation of the Bio-RRR inequality constraint"',
        run=run,
        value=whitening,
        high=WHITENING,
        unjudged=unjudged,
    )
