"""Agreement of recorded plateaus and inhibition with theory: quantities and claims of Sec. 6."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from biorrr.sims.lab import PERCENT, Claim, Quantity
from biorrr.sims.lazy import analysis, data_sets, np, xr

PLACE = 'Sec. 6, "Interpretation of calcium plateau potential in Bio-RRR"'
PLATEAU = "at the optimum, the calcium plateau potential is equal to a backpropagated error signal"
WHITE = "at convergence, the RRR whiteness constraint is indeed satisfied"
WHITE_PLACE = 'supplement E, "Numerical experiment details"; Fig. 5'
TRACES = ("plateau", "a", "inhibition", "z")
NETWORK_STEPS = 200_000  # at most: on digits gradients vanish after 20,000, on V1-V2 after 3,000
TOLERATED = 0.05  # relative r.m.s. error up to which two signals count as equal
EXCESS, WHITENING = 0.03, 0.05  # bounds up to which circuits count as having come to the optimum
# relative error of the distal current alone, below which the data cannot tell what inhibition does
TELLING = 0.25


@dataclass(frozen=True)
class Comparison:
    """A comparison of a trace of the circuit with theory (Sec. 6)."""

    trace: str  # of the circuit
    words: str
    claim: str
    case: str = ""
    tolerated: float = TOLERATED


NETWORK = "a - Qn replaces the backpropagated error Vy'eps (of a two-layer network)"
COMPARED = {
    "inhibition": Comparison("inhibition", "Qn and Vy'y~", PLATEAU, "inhibition Qn beside Vy'y~"),
    "plateau": Comparison("plateau", "plateau and Vy'(y - y~)", PLATEAU),
    # Circuit and network have each learned by themselves, and neither is exact.
    "network": Comparison("plateau", "plateau and backprop's Vy'eps", NETWORK, tolerated=0.10),
}
NULLS = {
    "no_inhibition": "without inhibition",
    "other_inhibition": "with the inhibition of other samples",
}


def compare(
    data: data_sets.Dataset,
    weights: Mapping[str, np.ndarray],
    exact: analysis.ExactSolution,
    show: Callable[[int], Mapping[str, np.ndarray]],
    seed: int = 0,
) -> dict[str, Any]:
    """Compare a circuit with theory through learning, and as recorded before, halfway through and
    after learning.

    Halfway is that of :func:`biorrr.analysis.traces.halfway`. At s = 0 a network that backprop
    trains on the same data is compared too.

    Parameters
    ----------
    data
        What was learned; centred here.
    weights
        Vx, Vy, Q and R at snapshots, along their first axis.
    exact
        The exact solution.
    show
        Shows the data to the circuit as it was at a snapshot, and returns its traces, each (T, k).
    seed
        Of the network and of the samples whose inhibition is exchanged.

    Returns
    -------
    Variables of a dataset: agreement with theory through learning, (snapshot, pyramidal); traces
    and what theory expects, (stage, row, pyramidal); their agreement, (stage, pyramidal); and
    errors under the null hypotheses.
    """
    from biorrr.analysis.plateau import backpropagated_error, null_agreements
    from biorrr.analysis.traces import halfway

    X, Y = data.centred().X, data.centred().Y
    audit = analysis.audit_plateau(X, Y, **weights, ridge=exact.ridge)
    expected = {"inhibition": audit.prediction, "plateau": audit.error}
    if exact.s == 0:
        k = weights["Vx"].shape[-1]
        network = analysis.TwoLayerANN(
            k, ridge=exact.ridge, online=False, steps=NETWORK_STEPS, random_state=seed
        )
        network.fit(data.X, data.Y)
        errors = [backpropagated_error(X, Y, network.Vx_, network.Vy_, Vx) for Vx in weights["Vx"]]
        expected["network"] = np.stack(errors)
    courses = {
        name: analysis.Agreement.between(getattr(audit, COMPARED[name].trace), signal)
        for name, signal in expected.items()
    }
    last = len(weights["Vx"]) - 1
    middle = halfway(weights["Vx"], weights["Vy"])
    stages = [0, last if middle is None else middle, last]
    shown = [show(snapshot) for snapshot in stages]
    recorded = {name: np.stack([traces[name] for traces in shown]) for name in TRACES}
    expected = {name: signal[stages] for name, signal in expected.items()}
    found: dict[str, Any] = {"stage_snapshot": ("stage", stages)}
    found |= {
        name: ("snapshot", getattr(exact, name)(weights["Vx"]))
        for name in ("excess", "whitening_error")
    }
    for kind, signals in (("recorded", recorded), ("expected", expected)):
        found |= {
            f"{kind}_{name}": (("stage", "row", "pyramidal"), one) for name, one in signals.items()
        }
    for name, course in courses.items():
        agreement = analysis.Agreement.between(recorded[COMPARED[name].trace], expected[name])
        for measure in ("correlation", "relative_error"):
            found[f"{name}_{measure}"] = (("snapshot", "pyramidal"), getattr(course, measure))
            found[f"recorded_{name}_{measure}"] = (
                ("stage", "pyramidal"),
                getattr(agreement, measure),
            )
    rivals = null_agreements(
        recorded["a"][-1], recorded["inhibition"][-1], expected["plateau"][-1], seed
    )
    return found | {
        f"plateau_relative_error_{name}": ("pyramidal", rivals[name].relative_error)
        for name in NULLS
    }


def measured(results: xr.Dataset) -> list[Quantity]:
    """Return how the recorded traces agree with theory: medians over neurons, seeds and s."""
    found = []
    for name, comparison in COMPARED.items():
        if f"recorded_{name}_correlation" in results:
            # At s = 0 alone there is a network.
            error, correlation = (
                results[f"recorded_{name}_{measure}"].dropna("s", how="all")
                for measure in ("relative_error", "correlation")
            )
            start, end = {"stage": 0}, {"stage": -1}
            values = {
                "relative_error_end": (error[end].median(), PERCENT, "relative error"),
                "relative_error_max": (error[end].max(), PERCENT, "at most"),
                "correlation_end": (correlation[end].median(), "", "correlation"),
                "relative_error_start": (error[start].median(), PERCENT, "error at the start"),
                "correlation_start": (correlation[start].median(), "", "correlation at the start"),
            }
            found += [
                Quantity(f"{name}_{key}", value.item(), unit, words, row=comparison.words)
                for key, (value, unit, words) in values.items()
            ]
    row = "relative error of the plateau under the null hypothesis"
    for name, words in NULLS.items():
        error = results[f"plateau_relative_error_{name}"].median().item()
        found.append(Quantity(f"plateau_relative_error_{name}", error, PERCENT, words, row=row))
    return found


def judge(results: xr.Dataset, unjudged: str, **about: Any) -> list[Claim]:
    """Judge what Secs. 4 and 6 say of circuits at one s, by the worst neuron of each seed.

    Plateau and error are equal wherever proximal plasticity has come to rest, whatever Q and R are.
    A circuit that the other rules have led elsewhere is found out by its excess and its whitening
    error.
    """
    excess, white = (
        results[name].isel(snapshot=-1).values for name in ("excess", "whitening_error")
    )
    run = f"excess at most {excess.max():.1e}, whitening error at most {white.max():.1e}"
    about |= {"s": float(results["s"])}
    claims = [
        Claim.over_seeds(
            excess,
            text="learning ends at the minimum of the objective",
            place='Sec. 4, "Algorithm derivation"',
            low=-1e-9,
            high=EXCESS,
            unit=PERCENT,
            unjudged=unjudged,
            **about,
        ),
        Claim.over_seeds(
            white, text=WHITE, place=WHITE_PLACE, high=WHITENING, unjudged=unjudged, **about
        ),
    ]
    least = min(float(results[f"plateau_relative_error_{name}"].min()) for name in NULLS)
    cannot_tell = (
        f"these data cannot tell: without inhibition the error would be {least:.0%}"
        if least < TELLING
        else ""
    )
    for name, comparison in COMPARED.items():
        if f"recorded_{name}_relative_error" in results:
            last = {
                measure: results[f"recorded_{name}_{measure}"].isel(stage=-1)
                for measure in ("relative_error", "correlation")
            }
            shared = (
                name != "inhibition"
            )  # plateau and error share the distal current, so an agreement says less
            numbers = {"lowest correlation": float(last["correlation"].min())}
            claims.append(
                Claim.over_seeds(
                    last["relative_error"].max("pyramidal").values,
                    text=comparison.claim,
                    place=PLACE,
                    high=comparison.tolerated,
                    unit=PERCENT,
                    case=comparison.case,
                    run=run,
                    numbers=numbers
                    | ({"least error without the right inhibition": least} if shared else {}),
                    unjudged=unjudged or (cannot_tell if shared else ""),
                    **about,
                )
            )
    return claims
