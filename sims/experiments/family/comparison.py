"""Comparison of every member of the family with its exact solution, and the claims of the paper about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biorrr.sims.experiments.plateau.agreement import TOLERATED
from biorrr.sims.experiments.plateau.results import EXCESS, WHITENING
from biorrr.sims.lab import Claim, Quantity
from biorrr.sims.lab.quantities import PERCENT, readable
from biorrr.sims.lab.training import too_short
from biorrr.sims.lazy import analysis, data_sets, np, xr

if TYPE_CHECKING:
    from biorrr.sims.experiments.family import FamilyExperimentSettings

EIGENVALUES = 0.05  # relative deviation of an eigenvalue of QQ' from M's, on either side
COEFFICIENTS = 1e-6  # deviation of a coefficient of the distal rule, on either side
SATURATION = 'supplement C, "Saturation of the Bio-RRR inequality constraint"'
RECORDED_SAMPLES = 300  # in which distal plasticity is recorded


def compare(
    settings: FamilyExperimentSettings,
    data: data_sets.Dataset,
    solutions: Mapping[float, analysis.Yardstick],
    weights: Mapping[float, Sequence[Mapping[str, np.ndarray]]],
    rules: Mapping[float, Mapping[str, Any]],
) -> xr.Dataset:
    """Compare learned with exact at each s.

    Parameters
    ----------
    settings, data, solutions
        What was learned, and the exact solutions by s.
    weights
        By s, for each seed: Vx, Vy, Q, R after learning.
    rules
        By s: coefficients of the distal rule.
    """
    data, k, ridge = data.centred(), settings.k, settings.ridge
    assert ridge is not None

    def at(s: float) -> xr.Dataset:
        exact, each, rule = solutions[s], weights[s], rules[s]
        audits = [analysis.audit_plateau(data.X, data.Y, **one, ridge=ridge) for one in each]
        return xr.Dataset(
            {
                "excess": ("seed", [exact.excess(one["Vx"]) for one in each]),
                "whitening_error": ("seed", [exact.whitening_error(one["Vx"]) for one in each]),
                "eigenvalues_QQ": (
                    ("seed", "component"), [np.linalg.eigvalsh(one["Q"] @ one["Q"].T)[::-1] for one in each]
                ),
                "eigenvalues_M": ("component", exact.eigenvalues[:k]),
                "plateau_relative_error": (
                    ("seed", "pyramidal"), [audit.plateau_and_error.relative_error for audit in audits]
                ),
                "plateau": (("row", "pyramidal"), audits[0].plateau),
                "error": (("row", "pyramidal"), audits[0].error),
                "own_current": float(rule["own_current"]),
                "own_current_exact": s,
                "decay": float(rule["decay"]),
                "decay_exact": 1 - s + s * ridge,
                "unexplained": float(rule["unexplained"]),
            }
        )  # fmt: skip

    joined = xr.concat([at(s) for s in weights], dim="s")
    return joined.assign_coords(s=[*weights], seed=[*settings.every_seed], component=range(1, k + 1))


def eigenvalue_deviation(results: xr.Dataset) -> float:
    """Return the relative deviation of an eigenvalue of QQ' from M's that is farthest from 0, with its sign."""
    deviations = (results["eigenvalues_QQ"] / results["eigenvalues_M"] - 1).values.ravel()
    return float(deviations[np.argmax(np.abs(deviations))])


def rule_deviation(results: xr.Dataset) -> float:
    """Return the deviation of a coefficient of the distal rule that is farthest from 0, with its sign."""
    deviations = np.concatenate(
        [np.ravel(results[name] - results[f"{name}_exact"]) for name in ("own_current", "decay")]
    )
    return float(deviations[np.argmax(np.abs(deviations))])


def summary(results: xr.Dataset) -> list[Quantity]:
    """Return the worst of all s and seeds."""
    return [
        Quantity("excess_max", results["excess"].max().item(), PERCENT, bound=(-1e-9, EXCESS)),
        Quantity("whitening_error_max", results["whitening_error"].max().item(), bound=(0.0, WHITENING)),
        Quantity(
            "eigenvalue_deviation", eigenvalue_deviation(results), PERCENT, bound=(-EIGENVALUES, EIGENVALUES)
        ),
        Quantity(
            "plateau_relative_error_max", results["plateau_relative_error"].max().item(), PERCENT,
            bound=(0.0, TOLERATED),
        ),
        Quantity("distal_rule_deviation", rule_deviation(results), bound=(-COEFFICIENTS, COEFFICIENTS)),
        Quantity("distal_rule_unexplained_max", results["unexplained"].max().item()),
    ]  # fmt: skip


def in_words(one: xr.Dataset) -> str:
    """Return the worst of all seeds and neurons at one s, and the distal rule, as a row of the table."""
    worst = {quantity.name: quantity.text for quantity in summary(one)}
    return (
        f"excess {worst['excess_max']}, whitening error {worst['whitening_error_max']}, eigenvalues off by "
        f"{worst['eigenvalue_deviation']}, plateau off by {worst['plateau_relative_error_max']}, distal rule "
        f"yz' - {readable(one['own_current'].item())} ya' - {readable(one['decay'].item())} Vy"
    )


def judge(settings: FamilyExperimentSettings, data: data_sets.Dataset, found: Mapping[str, Quantity]) -> list[Claim]:
    """Judge what the paper says of every member of the family by the worst of them."""
    assert settings.epochs is not None
    samples = settings.epochs * len(data.X)
    run = f"{data.name}, {settings.k} neurons, {settings.seeds} seeds, {samples:,} samples"
    every = f"at every s ({', '.join(f'{s:g}' for s in settings.s)})"
    said = (
        ("excess_max", "learning ends at the minimum of the objective", 'Sec. 4, "Algorithm derivation"'),
        (
            "whitening_error_max", "the inequality Vx'CxxVx <= I is saturated, ||Vx'CxxVx - I||^2/k = 0", SATURATION,
        ),
        ("eigenvalue_deviation", "the eigenvalues of QQ' are the k largest of M", SATURATION),
        (
            "plateau_relative_error_max", "the plateau equals the back-propagated error",
            'Sec. 6, "Interpretation of calcium plateau potential in Bio-RRR"',
        ),
    )  # fmt: skip
    rule = "the distal rule is yz' - s ya' - (1 - s) Vy: Hebbian with decay at s = 0, (z - a)y' at s = 1"
    return [
        *(
            Claim.about(found[name], f"{every} {text}", place=place, run=run, unjudged=too_short(samples))
            for name, text, place in said
        ),
        Claim.about(
            found["distal_rule_deviation"],
            f"{every} {rule}",
            place='Sec. 5.1, "Neural circuit"',
            run=f"{data.name}, all distal synapses in {RECORDED_SAMPLES} samples",
            numbers={"largest share of the changes left unexplained": found["distal_rule_unexplained_max"].value},
        ),
    ]
