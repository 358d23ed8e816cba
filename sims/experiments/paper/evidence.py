"""Sentences of the paper that other experiments bear on: their findings in, claims out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from biorrr.sims.experiments.paper.theorems import INTERPRETATION
from biorrr.sims.lab import Claim, Findings
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lazy import np

# Bounds. DRIVEN and SPARSE were set after earlier runs of robustness had been seen.
OPTIMAL = 0.03  # excess of a circuit that has learned
AGREES = 0.05  # relative r.m.s. error of a neuron
NETWORK = 0.1  # the same beside another network's error: both have learned, and neither is exact
DECAYS = 1e-6  # relative deviation from (1 - eta/tau)^T
DRIVEN = 0.05  # excess of a circuit with apical drive
SPARSE = 4  # size of an all-or-none plateau over the r.m.s. drive, from which on plateaus count as sparse
PLATEAU = "at the optimum, the calcium plateau potential is equal to a backpropagated error signal"
COMPARED = {"plateau": (PLATEAU, AGREES, ""), "inhibition": (PLATEAU, AGREES, "inhibition Qn beside Vy'y~")}
COMPARED["network"] = "a - Qn replaces the backpropagated error Vy'eps (of a two-layer network)", NETWORK, ""


def of_symmetry(found: Findings) -> Iterator[Claim]:
    """Yield what the experiment ``symmetry`` says of supplement D."""
    numbers = found.numbers
    diverged = numbers["equal_diverged"]
    yield Claim(
        text="the difference [between Q' and R] decays exponentially",
        place='supplement D, "Decoupling the interneuron synapses"',
        value=float("nan") if diverged else numbers["relative_error_max"],
        high=DECAYS,
        data=str(numbers["data"]),
        run=f"||Q' - R|| beside (1 - eta/tau)^T from {numbers['starts']} starts of each kind: largest deviation",
    )


def of_plateau(found: Findings) -> Iterator[Claim]:
    """Yield what the experiment ``plateau`` says of Sec. 6, from the worst neuron of each seed.

    That plateau and error are equal follows from proximal plasticity having come to rest. Excess and deviation from
    whitening, which stand beside it, show that the circuit has come to rest at the optimum.
    """
    rest = f"excess at most {found.numbers['excess_max']:.1e}, whitening error at most "
    rest += f"{found.numbers['whitening_error_max']:.1e}"
    for results in found.data.values():
        for name, (text, bound, case) in COMPARED.items():
            if f"{name}_relative_error" not in results:
                continue
            worst = results[f"{name}_relative_error"].isel(snapshot=-1).max("pyramidal").values
            yield Claim.over_seeds(
                worst, text=text, place=INTERPRETATION, high=bound, unit=PERCENT, case=case, run=rest,
                data=str(found.numbers["data"]), s=float(results["s"]),
            )  # fmt: skip


def of_family(found: Findings) -> Iterator[Claim]:
    """Yield what the experiment ``family`` says of every member of the family."""
    results, data = found.data["run"], str(found.numbers["data"])
    for s in results["s"].values:
        one: Any = results.sel(s=s)
        yield Claim.over_seeds(
            one["excess"].values,
            text="we derive novel algorithms for a family of RRR problems, which include RRMSE and CCA",
            place='Sec. 1, "Introduction", Contributions; Sec. 3.2, "Parametrizing the projection matrix"',
            high=OPTIMAL, unit=PERCENT, data=data, s=float(s), run="excess of the circuit over the optimum at this s",
        )  # fmt: skip
        worst = one["plateau_relative_error"].max("pyramidal").values
        run = "the interpretation holds for any s"
        yield Claim.over_seeds(
            worst, text=PLATEAU, place=INTERPRETATION, high=AGREES, unit=PERCENT, data=data, s=float(s), run=run
        )


def of_robustness(found: Findings) -> Iterator[Claim]:
    """Yield the excess of circuits with apical drive where plateaus are sparse in time.

    Plateaus are all-or-none, and the rarer the larger they are. The excess of the same plateaus without apical drive
    stands beside it, since sparse plateaus have a cost of their own.
    """
    results = found.data["run"]
    for data in results["data"].values:
        for size in results["apical_events_value"].values:
            if size < SPARSE:
                continue
            driven = results["apical_events"].sel(data=data, apical_events_value=size).values
            silent = results["all_or_none"].sel(data=data, all_or_none_value=size).values
            yield Claim.over_seeds(
                driven,
                text="neglecting the apical inputs can be justified by the temporal sparsity of plateau potentials",
                place='Sec. 5.2, "Comparison with neuroscience experiments"',
                high=DRIVEN, unit=PERCENT, data=str(data), case=f"plateaus of {size:g} r.m.s.",
                numbers={"median excess without apical drive in %": 100 * float(np.median(silent))},
                run=f"excess with apical drive, each plateau adding 0.8 to the output; plateaus below {SPARSE:g} "
                "r.m.s. are frequent, and are not judged",
            )  # fmt: skip
