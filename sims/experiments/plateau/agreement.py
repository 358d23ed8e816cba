"""Agreement of recorded plateaus and inhibition with theory, neuron by neuron, beside the null hypotheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biorrr.sims.lab.quantities import PERCENT, Quantity
from biorrr.sims.lazy import analysis, circuits, data_sets, np

TRACES = ("plateau", "a", "inhibition", "z")
WEIGHTS = ("Vx", "Vy", "Q", "R")
TOLERATED = 0.05  # relative r.m.s. error up to which two signals count as equal
TOLERATED_NETWORK = 0.10  # of two circuits that have each learned by themselves


@dataclass(frozen=True)
class Comparison:
    """A comparison of a trace of the circuit with theory (Sec. 6)."""

    trace: str  # of the circuit
    words: str
    measured: str  # on the axes of a figure
    expected: str
    claim: str
    tolerated: float


COMPARED = {
    "inhibition": Comparison(
        "inhibition", "Qn and Vy'y~", "inhibition $Qn$", r"prediction $V_y'\tilde y$",
        "inhibition Qn equals Vy'y~, the best estimate of y as the distal weights see it", TOLERATED,
    ),
    "plateau": Comparison(
        "plateau", "plateau and Vy'(y - y~)", "plateau $a - Qn$", r"error $V_y'(y - \tilde y)$",
        "the plateau a - Qn equals the back-propagated error Vy'(y - y~)", TOLERATED,
    ),
    "network": Comparison(
        "plateau", "plateau and backprop's Vy'eps", "plateau $a - Qn$", r"backprop $V_y'\epsilon$",
        "the plateau replaces the error Vy'eps that backprop sends to the first layer of a two-layer network",
        TOLERATED_NETWORK,
    ),
}  # fmt: skip
NULLS = {"no_inhibition": "without inhibition", "other_inhibition": "with the inhibition of other samples"}


@dataclass(frozen=True)
class Stage:
    """A circuit at one point of its learning."""

    seen: int  # samples
    recorded: Mapping[str, np.ndarray]  # its traces with learning off, each (T, k), in the order of the data
    expected: Mapping[str, np.ndarray]  # what theory says they should be, by what is compared, each (T, k)


@dataclass(frozen=True)
class Member:
    """Runs, networks and recorded stages at one s."""

    s: float
    runs: Mapping[int, circuits.Run]  # by seed
    networks: Mapping[int, Mapping[str, np.ndarray]]  # by seed; none unless s = 0
    before: Sequence[Stage]  # one for each seed
    after: Sequence[Stage]
    during: Stage  # halfway, of the first seed


def at_snapshot(run: circuits.Run, snapshot: int) -> circuits.Run:
    """Return the run as it was at a snapshot."""
    return circuits.Run(run.data.isel(snapshot=slice(snapshot % run.data.sizes["snapshot"] + 1)))


def theory(
    data: data_sets.Dataset,
    ridge: float,
    network: Mapping[str, np.ndarray] | None,
    weights: Mapping[str, np.ndarray],
) -> tuple[analysis.PlateauAudit, dict[str, np.ndarray]]:
    """Audit circuits with ``weights`` Vx, Vy, Q, R, or snapshots of them along leading axes.

    Returns the audit, and by what is compared the signals that theory expects, each (..., T, k).
    """
    from biorrr.analysis.backprop import backpropagated_error

    centred = data.centred()
    X, Y = centred.X, centred.Y
    audit = analysis.audit_plateau(X, Y, **weights, ridge=ridge)
    expected = {"inhibition": audit.prediction, "plateau": audit.error}
    if network is not None:
        filters = weights["Vx"].reshape(-1, *weights["Vx"].shape[-2:])
        errors = [backpropagated_error(X, Y, network["Vx"], network["Vy"], Vx) for Vx in filters]
        expected["network"] = np.reshape(errors, audit.error.shape)
    return audit, expected


def courses(
    data: data_sets.Dataset, ridge: float, network: Mapping[str, np.ndarray] | None, run: circuits.Run
) -> dict[str, analysis.Agreement]:
    """Return the agreement with theory through learning, (snapshot, pyramidal), by what is compared."""
    weights = {name: run.data[name].values for name in WEIGHTS}
    audit, expected = theory(data, ridge, network, weights)
    return {
        name: analysis.Agreement.between(getattr(audit, COMPARED[name].trace), signal)
        for name, signal in expected.items()
    }


def halfway(data: data_sets.Dataset, ridge: float, run: circuits.Run) -> int:
    """Return the first snapshot at which inhibition is within 50 % of theory, mean over neurons; else the last."""
    near = courses(data, ridge, None, run)["inhibition"].relative_error.mean(axis=1) < 0.5
    return int(np.argmax(near)) if near.any() else len(near) - 1


def compared(stages: Sequence[Stage], name: str) -> analysis.Agreement:
    """Return the agreement of the recorded traces with theory, one value for each neuron of each seed."""
    return analysis.Agreement.joined(
        analysis.Agreement.between(one.recorded[COMPARED[name].trace], one.expected[name])
        for one in stages
        if name in one.expected
    )


def nulls(stages: Sequence[Stage]) -> dict[str, analysis.Agreement]:
    """Return the agreement of the plateau's rivals with theory, one value for each neuron of each seed."""
    from biorrr.analysis.plateau import null_agreements

    each = [
        null_agreements(one.recorded["a"], one.recorded["inhibition"], one.expected["plateau"], seed)
        for seed, one in enumerate(stages)
    ]
    return {name: analysis.Agreement.joined(one[name] for one in each) for name in NULLS}


def measured(members: Sequence[Member], heading: str = "", suffix: str = "", several: bool = False) -> list[Quantity]:
    """Return how the recorded traces agree with theory: medians over neurons, seeds and s.

    ``heading`` begins the rows of the table, ``suffix`` ends the names. Over ``several`` s nothing is printed: the
    quantities at each s follow.
    """
    before, after = ([one for member in members for one in getattr(member, when)] for when in ("before", "after"))
    found: list[tuple[str, Any, str, str, str]] = []
    for name, comparison in COMPARED.items():
        if any(name in one.expected for one in after):
            start, end, row = compared(before, name), compared(after, name), comparison.words
            found += [
                (f"{name}_relative_error_end", np.median(end.relative_error), PERCENT, "relative error", row),
                (f"{name}_relative_error_max", end.relative_error.max(), PERCENT, "at most", row),
                (f"{name}_correlation_end", np.median(end.correlation), "", "correlation", row),
                (f"{name}_relative_error_start", np.median(start.relative_error), PERCENT, "error at the start", row),
                (f"{name}_correlation_start", np.median(start.correlation), "", "correlation at the start", row),
            ]
    row = "relative error of the plateau under the null hypothesis"
    for name, rival in nulls(after).items():
        found.append((f"plateau_relative_error_{name}", np.median(rival.relative_error), PERCENT, NULLS[name], row))
    return [
        Quantity(f"{name}{suffix}", value, unit, "" if several else words, row=f"{heading}{row}")
        for name, value, unit, words, row in found
    ]
