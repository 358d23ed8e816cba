"""Claims of the paper about its races, judged from the curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biorrr.sims.lab import Claim
from biorrr.sims.races.curves import Curve, Curves
from biorrr.sims.races.heats import Heat
from biorrr.sims.races.judgements import SAME, comparable, fewest, matching, white
from biorrr.sims.races.laps import CIRCUIT

PLACE = {
    ("rrmse", "online"): 'Sec. 7, "Numerical experiments", RRMSE; Fig. 3a',
    ("cca", "online"): 'Sec. 7, "Numerical experiments", CCA; Fig. 3b',
    ("rrmse", "offline"): 'supplement E, "Numerical experiment details"; Fig. 6',
    ("cca", "offline"): 'Sec. 7, "Numerical experiments", CCA; Fig. 3b',
}
CONSTRAINT = 'supplement E, "Numerical experiment details"; Fig. 5'


def check_claims(curves: Curves, heat: Heat, ranks: tuple[int, ...]) -> Iterator[Claim]:
    """Yield what the paper says of this race, at every rank."""
    bio, offline = heat.bio, f"{heat.bio}, offline"
    for k in ranks:
        at: Mapping[str, Curve] = {learner: curve for (learner, rank), curve in curves.items() if rank == k}
        rank = f"k = {k}"
        place: dict[str, Any] = {"place": PLACE[heat.objective, heat.setting]}
        if heat.setting == "online":
            for learner in (name for name in (CIRCUIT, bio) if name in at):
                text = f"{rank}: at convergence the whitening constraint is satisfied ({learner})"
                yield white(at[learner], text=text, place=CONSTRAINT)
            if CIRCUIT in at:
                text = f"{rank}: the neural circuit implements the online algorithm (same excess at the end)"
                circuit = 'Sec. 5.1, "Neural circuit"'
                yield comparable(at[CIRCUIT], at[bio], ("the circuit", bio), SAME, text=text, place=circuit)
        if heat.objective == "rrmse":
            text = f"{rank}: IQMD is the {'most sample' if heat.setting == 'online' else 'more'} efficient"
            yield fewest(at, "IQMD", (bio, "ANN"), "passes", text=text, **place)
            if heat.setting == "online":
                text = f"{rank}: ANN and {bio} are within variance of each other (excess at the end)"
                yield comparable(at[bio], at["ANN"], (bio, "ANN"), text=text, **place)
                text = f"{rank}: ANN and {bio} are within variance of each other (samples needed)"
                yield matching(at, bio, "ANN", "t", text=text, **place)
                for learner in (bio, "ANN"):
                    text = f"{rank}: {learner} matches the performance of IQMD in run time"
                    yield matching(at, learner, "IQMD", "seconds", text=text, **place)
            else:
                text = f"{rank}: ANN and {bio} have comparable sample efficiency"
                yield matching(at, bio, "ANN", "t", text=text, **place)
                text = f"{rank}: {bio} is faster than ANN in CPU run time (after the covariances, which both need)"
                yield fewest(at, bio, ("ANN",), "seconds after preparation", text=text, **place)
        else:
            if heat.setting == "online":
                text = f"{rank}: online {bio} is fastest in CPU run time"
                yield fewest(at, bio, ("MSG-CCA", "CCALin", "SAA", offline), "seconds", text=text, **place)
                text = f"{rank}: offline {bio} is the most sample efficient (iterations, as the paper counts)"
                yield fewest(at, offline, (bio, "MSG-CCA", "CCALin", "SAA"), "t", text=text, **place)
            own = offline if heat.setting == "online" else bio
            text = f"{rank}: offline {bio} is the most sample efficient, of the offline ones (passes through the data)"
            yield fewest(at, own, ("CCALin", "SAA"), "passes", text=text, **place)
