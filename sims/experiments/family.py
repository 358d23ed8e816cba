"""Follow the family of circuits from RRMSE (s = 0) to CCA (s = 1), learned beside exact.

At every s: excess over the optimum, whitening, eigenvalues of QQ' beside those of M, the filter of the first neuron,
its plateau beside the back-propagated error, and the distal rule, whose coefficients are fitted to the recorded changes
of all distal synapses in a few hundred samples. Data are centred. In run.nc the filters are turned onto the exact ones:
they are defined up to a rotation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.experiment import Findings, Found, Problem
from biorrr.sims.experiments.helpers.optimum import EXCESS, WHITENING, learning
from biorrr.sims.experiments.plateau.agreement import TOLERATED
from biorrr.sims.lab.circuits import completed
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.settings import option, seeds_option
from biorrr.sims.lab.training import FamilyProblem, FamilySettings, FamilyTraining, heading, learner
from biorrr.sims.lazy import analysis, circuits, np, xr
from biorrr.sims.page.views import Chart, View

RECORDED = ("y", "z", "a", "Vy")
RECORDED_SAMPLES = 300
EIGENVALUES = 0.05  # relative deviation of an eigenvalue of QQ' from M's, on either side
COEFFICIENTS = 1e-6  # deviation of a coefficient of the distal rule, on either side


@dataclass(frozen=True, kw_only=True)
class FamilyExperimentSettings(FamilySettings):
    """What can be set of ``biorrr family``."""

    s: tuple[float, ...] = option(
        (0.0, 0.25, 0.5, 0.75, 1.0), "0 is RRMSE, 1 is CCA; may be repeated", short="s", at_least=0, at_most=1
    )
    seeds: int = seeds_option(3)


@dataclass(frozen=True)
class Recording:
    """A circuit whose distal plasticity is to be recorded from its first sample on."""

    s: float

    @property
    def name(self) -> str:
        """Of the part."""
        return f"distal-s-{self.s:g}"


class Family(FamilyTraining[FamilyExperimentSettings]):
    """``biorrr family``: what the circuit learns at each s between RRMSE and CCA."""

    settings = FamilyExperimentSettings
    shows = "one circuit learns every member of the family between RRMSE and CCA"
    takes = "24 s"
    paper = 'Sec. 3.2, "Parametrizing the projection matrix"; Sec. 5.1, "Neural circuit"'
    measure = "excess_max"
    snapshots = 2
    figures = {
        "family": "The family between RRMSE (s = 0) and CCA (s = 1). Above, for each s: the first filter as learned, "
        "turned onto the exact one, and as it should be; and the plateau of the first neuron (black) on the back-"
        "propagated error (grey), each on a scale of its own. Below, against s: eigenvalues of QQ' (dots, one per "
        "seed) on those of M (dashed); excess over the optimum; relative r.m.s. error of the plateau, one dot per "
        "neuron and seed; and the coefficients of the distal rule as fitted to recorded changes (dots), on s and "
        "1 - s + s ridge (dashed)."
    }
    charts = (
        Chart(
            "The family between RRMSE and CCA",
            (
                View(
                    "eigenvalue",
                    {"eigenvalues_QQ": "QQ′", "eigenvalues_M": "M"},
                    {"s": "s"},
                    along=("s",),
                    repeats=("seed",),
                    theory=("eigenvalues_M",),
                    log="y",
                ),
                View("excess over the optimum (relative)", {"excess": ""}, {"s": "s"}, ("s",), ("seed",), log="y"),
                View(
                    "relative r.m.s. error of the plateau", {"plateau_relative_error": ""}, {"s": "s"}, ("s",),
                    ("seed", "pyramidal"), log="y",
                ),
                View(
                    "coefficient of the distal rule",
                    {
                        "own_current": "the cell’s own current", "own_current_exact": "s",
                        "decay": "decay", "decay_exact": "1 − s + s ridge",
                    },
                    {"s": "s"},
                    along=("s",),
                    theory=("own_current_exact", "decay_exact"),
                    log="",
                ),
            ),
        ),
    )  # fmt: skip

    def parts(self, problem: Problem[FamilyExperimentSettings], found: Found) -> dict[str, Any]:
        """Circuits that learn, and at each s one that is recorded."""
        recordings = map(Recording, problem.settings.s)
        return super().parts(problem, found) | {one.name: one for one in recordings}

    def run_part(self, problem: Problem[FamilyExperimentSettings], part: Any, options: Mapping[str, Any]) -> Any:
        """Let a circuit learn, or fit the distal rule to what it does in its first samples."""
        if not isinstance(part, Recording):
            return super().run_part(problem, part, options)
        from biorrr.analysis.distal.rule import fit_distal_rule

        settings, data = problem.settings, problem.data
        circuit = settings.make_circuit(k=settings.k, s=part.s, ridge=settings.ridge, seed=settings.seed)
        order = np.random.default_rng(settings.seed).integers(len(data.X), size=RECORDED_SAMPLES)
        run = circuit.run(
            data.X, data.Y, order=order, record=RECORDED, every=1, snapshots=1, centre=True, **options
        )  # fmt: skip
        traces = completed(run).data
        Vy = traces["Vy_trace"].values.reshape(RECORDED_SAMPLES, data.Y.shape[1], settings.k)
        y, z, a, eta = (traces[name].values for name in ("y", "z", "a", "eta_y"))
        rule = fit_distal_rule(y, z, a, Vy, eta)
        return {"own_current": rule.own_current, "decay": rule.decay, "unexplained": rule.unexplained}

    def conclude(self, problem: Problem[FamilyExperimentSettings], found: Found) -> Findings:
        """Compare every member with the exact solution."""
        from biorrr.analysis.figures.family import plot_family

        assert isinstance(problem, FamilyProblem)
        settings = problem.settings
        runs = {s: [found[learner(s, seed)] for seed in settings.every_seed] for s in settings.s}
        weights: dict[float, list[Mapping[str, np.ndarray]]] = {
            s: [{name: getattr(run, name) for name in ("Vx", "Vy", "Q", "R")} for run in each]
            for s, each in runs.items()
        }
        rules = {s: found[Recording(s).name] for s in settings.s}
        results = measured(problem, weights, rules)
        first: circuits.Run = runs[settings.s[0]][0]
        numbers = heading(problem) | {"seeds": settings.seeds} | summary(results)
        numbers |= {
            "samples": first.samples,
            "engine": first.data.attrs["engine"],
            "seconds": sum(run.data.attrs["seconds"] for each in runs.values() for run in each),
        }
        return Findings(
            numbers=numbers,
            title=f"{problem.data.name}: {settings.k} neurons, {settings.seeds} seeds, {first.samples:,} samples; data "
            "are centred; the worst of all seeds and neurons",
            rows={
                f"s = {s:g}": f"excess {one['excess'].max().item():.2g}, whitening error "
                f"{one['whitening_error'].max().item():.2g}, eigenvalues off by {eigenvalue_deviation(one):+.2%}, "
                f"plateau off by {one['plateau_relative_error'].max().item():.2%}, distal rule "
                f"yz' - {one['own_current'].item():.4f} ya' - {one['decay'].item():.4f} Vy"
                for s in settings.s
                for one in [results.sel(s=s)]
            },
            results={"run": results},
            figures={
                "family": partial(
                    plot_family,
                    results["s"].values,
                    tuple(results[name].values[..., 0] for name in ("filters", "filters_exact")),
                    tuple(results[name].values[..., 0] for name in ("plateau", "error")),
                    (results["eigenvalues_QQ"].values, results["eigenvalues_M"].values),
                    results["excess"].values,
                    results["plateau_relative_error"].values,
                    {
                        "own current": (results["own_current"].values, results["own_current_exact"].values),
                        "decay": (results["decay"].values, results["decay_exact"].values),
                    },
                    problem.data.pixels,
                )
            },
            claims=[*check_claims(problem, results)],
        )


def measured(
    problem: FamilyProblem[FamilyExperimentSettings],
    weights: Mapping[float, list[Mapping[str, np.ndarray]]],
    rules: Mapping[float, Mapping[str, Any]],
) -> xr.Dataset:
    """All that is compared, at each s: learned and exact.

    Parameters
    ----------
    problem
        What was learned.
    weights
        By s, for each seed: Vx, Vy, Q, R after learning.
    rules
        By s: coefficients of the distal rule.
    """
    settings, data = problem.settings, problem.data.centred()
    assert settings.ridge is not None
    k, every_s = settings.k, list(weights)
    found: dict[str, list[Any]] = {}

    def note(**values: Any) -> None:
        for name, value in values.items():
            found.setdefault(name, []).append(value)

    for s, each in weights.items():
        exact = problem.solutions[s]
        audits = [analysis.audit_plateau(data.X, data.Y, **one, s=s, ridge=settings.ridge) for one in each]
        note(
            excess=[exact.excess(one["Vx"]) for one in each],
            whitening_error=[exact.whitening_error(one["Vx"]) for one in each],
            eigenvalues_QQ=[np.linalg.eigvalsh(one["Q"] @ one["Q"].T)[::-1] for one in each],
            eigenvalues_M=exact.eigenvalues[:k],
            plateau_relative_error=[audit.plateau_and_error.relative_error for audit in audits],
            filters=exact.aligned(each[0]["Vx"]),
            filters_exact=exact.Vx(k),
            plateau=audits[0].plateau,
            error=audits[0].error,
            own_current=float(rules[s]["own_current"]),
            own_current_exact=s,
            decay=float(rules[s]["decay"]),
            decay_exact=1 - s + s * settings.ridge,
            unexplained=float(rules[s]["unexplained"]),
        )
    dims = {
        "excess": ("seed",), "whitening_error": ("seed",), "eigenvalues_QQ": ("seed", "component"),
        "eigenvalues_M": ("component",), "plateau_relative_error": ("seed", "pyramidal"),
        "filters": ("input", "pyramidal"), "filters_exact": ("input", "pyramidal"),
        "plateau": ("row", "pyramidal"), "error": ("row", "pyramidal"),
    }  # fmt: skip
    return xr.Dataset(
        {name: (("s", *dims.get(name, ())), np.array(values, dtype=float)) for name, values in found.items()},
        coords={"s": every_s, "seed": list(settings.every_seed), "component": range(1, k + 1)},
    )


def eigenvalue_deviation(results: xr.Dataset) -> float:
    """The relative deviation of an eigenvalue of QQ' from M's that is farthest from 0, with its sign."""
    deviations = (results["eigenvalues_QQ"] / results["eigenvalues_M"] - 1).values.ravel()
    return float(deviations[np.argmax(np.abs(deviations))])


def rule_deviation(results: xr.Dataset) -> float:
    """The deviation of a coefficient of the distal rule that is farthest from 0, with its sign."""
    deviations = np.concatenate(
        [np.ravel(results[name] - results[f"{name}_exact"]) for name in ("own_current", "decay")]
    )
    return float(deviations[np.argmax(np.abs(deviations))])


def summary(results: xr.Dataset) -> dict[str, Any]:
    """Final numbers, over all s and seeds."""
    return {
        "excess_max": results["excess"].max().item(),
        "whitening_error_max": results["whitening_error"].max().item(),
        "eigenvalue_deviation": eigenvalue_deviation(results),
        "plateau_relative_error_max": results["plateau_relative_error"].max().item(),
        "distal_rule_deviation": rule_deviation(results),
        "distal_rule_unexplained_max": results["unexplained"].max().item(),
    }


def check_claims(problem: FamilyProblem[FamilyExperimentSettings], results: xr.Dataset) -> Iterator[Claim]:
    """What the paper says of every member of the family, and whether it holds for the worst of them."""
    found, run = summary(results), learning(problem, results.sizes["seed"])
    every = f"at every s ({', '.join(f'{s:g}' for s in results['s'].values)})"
    saturation = 'supplement C, "Saturation of the Bio-RRR inequality constraint"'
    bounds: tuple[tuple[str, str, str, float, float, str], ...] = (
        ("learning ends at the minimum of the objective", 'Sec. 4, "Algorithm derivation"', "excess_max",
         -1e-9, EXCESS, "%"),
        ("the inequality Vx'CxxVx <= I is saturated, ||Vx'CxxVx - I||^2/k = 0", saturation, "whitening_error_max",
         0.0, WHITENING, ""),
        ("the eigenvalues of QQ' are the k largest of M", saturation, "eigenvalue_deviation",
         -EIGENVALUES, EIGENVALUES, "%"),
        ("the plateau equals the back-propagated error",
         'Sec. 6, "Interpretation of calcium plateau potential in Bio-RRR"', "plateau_relative_error_max",
         0.0, TOLERATED, "%"),
    )  # fmt: skip
    for text, place, name, low, high, unit in bounds:
        yield Claim(
            text=f"{every} {text}", place=place, run=run, value=found[name], low=low, high=high, unit=unit,
            unjudged=problem.unjudged,
        )  # fmt: skip
    yield Claim(
        text=f"{every} the distal rule is yz' - s ya' - (1 - s) Vy: Hebbian with decay at s = 0, (z - a)y' at s = 1",
        place='Sec. 5.1, "Neural circuit"',
        run=f"{problem.data.name}, all distal synapses in {RECORDED_SAMPLES} samples",
        value=found["distal_rule_deviation"],
        low=-COEFFICIENTS,
        high=COEFFICIENTS,
        numbers={"largest share of the changes left unexplained": found["distal_rule_unexplained_max"]},
    )


EXPERIMENT = Family()
