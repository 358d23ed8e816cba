"""Stack areas whose plateaus drive their somata, and compare what they learn with the exact optimum.

Areas lie between x and y, each driven from below and taught from above (Golkar et al., NeurIPS 2022). Measured are the
excess over the joint optimum, all areas together and each with the others held; how A meets W' between areas; what
plateaus carry in each area, against theory; how well y is predicted with and without it, beside backprop through a
linear network of the same sizes; and two lesions, a cut of the feedback between areas and silent interneurons of the
first area. Data are centred. Try --data v1v2, --data mnist, or --areas 4 --areas 3 --areas 2 for three areas.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import Samples
from biorrr.sims.experiment import Experiment, Findings, Found, Problem
from biorrr.sims.lab.circuits import compiled_if_possible, completed, make_circuit
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, ExperimentSettings, SettingsError, option, seeds_option
from biorrr.sims.lazy import analysis, circuits, data_sets, models, np, xr
from biorrr.sims.page.views import SEEN, Chart, View

SNAPSHOTS = 40
FOLLOWED = 0.1  # of the samples learned, for which a lesion is followed
SHOWN = 2000  # samples whose plateaus are drawn
RUNAWAY = 1e6  # variance beyond which outputs are no longer followed
# Bounds of the claims, fixed beforehand.
EXCESS, MEETING, PLATEAU, PARITY, UNTRAINED = 0.03, 0.1, 0.25, 0.02, 0.3


@dataclass(frozen=True, kw_only=True)
class HierarchySettings(ExperimentSettings):
    """What can be set of ``biorrr hierarchy``."""

    data: Samples = option("digits", DATA_HELP, metavar=DATA_FORM)
    areas: tuple[int, ...] = option(
        (4, 2), "cells of each area, from that nearest to x up to that nearest to y; repeated for each area", at_least=1
    )
    gains: tuple[float, ...] | None = option(
        None, "gain of each link from x up to y, repeated for each; by default 1, and n / trace(Cyy) for that to y",
        at_least=1e-6,
    )  # fmt: skip
    s: float = option(
        0.0, "which regression the last area solves: 0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1
    )
    ridge: float = option(0.0, "added to Cxx, by replay that settles as samples do", at_least=0)
    samples: int = option(400_000, "number of samples that are presented", at_least=1000)
    seeds: int = seeds_option(3)
    quick: bool = option(False, "a tenth of the samples and one seed, for a first look without verdicts")


class HierarchyExperiment(Experiment[HierarchySettings]):
    """``biorrr hierarchy``: areas with apical feedback against their exact optimum."""

    settings = HierarchySettings
    shows = "stacked areas with apical feedback reach their joint optimum"
    takes = "20 s"
    paper = "beyond it"
    measure = "excess"
    figures = {
        "hierarchy": "The areas from x at the bottom to y at the top, with the gain of every link. Proximal weights W "
        "carry each area's output upwards (blue), distal weights A carry it downwards to the apical dendrites of the "
        "area below (orange), and each area has interneurons that it excites (arrow) and that inhibit its dendrites "
        "(bar).",
        "learning": "Left: excess over the joint optimum of all areas against samples seen, one line per seed; the "
        "dashed line is the bound of 3 %. Middle: excess of each area while the others are held at what they have "
        "learned. Right: distance between the feedback weights A and the transposed feed-forward weights W, which "
        "follow rules of their own and meet. All curves should fall.",
        "plateaus": "Plateau of every cell and sample after learning against the error that theory gives it at the "
        "optimum, one panel per area. Learning has succeeded where the points lie on the line.",
        "lesions": "Variance of each area's outputs after two lesions of a hierarchy that has learned: feedback from "
        "above is cut, or the interneurons of the first area fall silent. The dashed line is the variance that the "
        "interneurons keep; without them it grows without bound.",
    }
    charts = (
        Chart(
            "Areas find their joint optimum",
            (
                View("excess", {"excess": ""}, SEEN, repeats=("seed",), log="xy"),
                View("excess of each area, others held", {"area_excess": "area"}, SEEN, repeats=("seed",), log="xy"),
                View("||A - W'|| / ||W||", {"meeting": "link"}, SEEN, repeats=("seed",), log="xy"),
            ),
            "Excess is (best - got) / best: 0 at the optimum, 1 where nothing of y is learned.",
        ),
    )

    def check(self, settings: HierarchySettings) -> HierarchySettings:
        """Settle what --quick means, and the engine."""
        if settings.gains is not None and len(settings.gains) != len(settings.areas) + 1:
            raise SettingsError(
                f"gains: must be {len(settings.areas) + 1} numbers, one for each link from x to the first of "
                f"{len(settings.areas)} areas up to y (got {len(settings.gains)}); repeat --gains for each"
            )
        if settings.quick:
            settings = replace(settings, samples=max(1000, settings.samples // 10), seeds=1)
        return replace(settings, engine=compiled_if_possible(settings.engine))

    def fit(self, settings: HierarchySettings, data: data_sets.Dataset) -> HierarchySettings:
        """Check areas against the data, and settle gains: by default, one unit of y's variance counts as 1."""
        m, n = data.X.shape[1], data.Y.shape[1]
        if max(settings.areas) > min(m, m + n):
            raise SettingsError(f"areas: must not exceed the {m} features of x (got {max(settings.areas)})")
        if settings.gains is None:
            power = float(np.square(data.stand_in[1]).mean())
            settings = replace(settings, gains=(*(1.0,) * len(settings.areas), float(f"{1 / power:.3g}")))
        return settings

    def prepare(self, settings: HierarchySettings, data: data_sets.Dataset) -> Problem[HierarchySettings]:
        """The exact solution of one area without feedback, which predictions are compared with."""
        X, Y = data.stand_in
        return Problem(settings, data, analysis.Yardstick(X, Y, settings.s, settings.ridge))

    def parts(self, problem: Problem[HierarchySettings], found: Found) -> dict[str, Any]:
        """A hierarchy for each seed; then, from the first, two lesions."""
        parts: dict[str, Any] = {f"seed-{seed}": seed for seed in problem.settings.every_seed}
        if found and len(problem.settings.areas) > 1:
            first = next(iter(found.values()))
            parts |= {f"lesion-{kind}": (kind, first) for kind in ("feedback", "interneurons")}
        return parts

    def run_part(self, problem: Problem[HierarchySettings], part: Any, options: Mapping[str, Any]) -> Any:
        """Let a hierarchy learn, or follow it after a lesion."""
        settings, X, Y = problem.settings, *problem.data.stand_in
        if not isinstance(part, tuple):
            hierarchy = make(settings, part)
            order = order_of(len(X), settings.samples, part)
            return completed(hierarchy.run(X, Y, order=order, snapshots=SNAPSHOTS, **options))
        kind, trained = part
        hierarchy = make(settings, settings.seed)
        count = max(200, round(FOLLOWED * settings.samples))
        order = order_of(len(X), count, settings.seed + 1000)
        weights = trained.weights
        events = [models.Silence(0, population="interneurons_1")]
        if kind == "feedback":
            weights = weights | {"A1": 0 * weights["A1"]}
            events = [models.Freeze(0, "A1")]
        try:
            run = hierarchy.run(X, Y, order=order, weights=weights, events=events, snapshots=20, **options)
        except (circuits.Unsettled, circuits.Diverged) as error:
            run = error.run
        yardstick = analysis.HierarchyYardstick(X, Y, settings.gains, s=settings.s, ridge=(settings.ridge, 0.0))
        variances = []
        for snapshot in range(run.data.sizes["snapshot"]):
            areas = [
                w if kind == "feedback" or i else w._replace(Q=0 * w.Q)
                for i, w in enumerate(run.area_weights(snapshot))
            ]
            filters = models.settled_filters(areas, run.gains)
            with np.errstate(over="ignore", invalid="ignore"):
                variance = np.array([np.trace(yardstick.covariance(f)) / f.shape[1] for f in filters])
            variances.append(np.nan_to_num(variance, nan=RUNAWAY).clip(max=RUNAWAY))
            if variances[-1].max() >= RUNAWAY:
                break
        return {"seen": run.data["seen"].values[: len(variances)], "variances": np.array(variances)}

    def conclude(self, problem: Problem[HierarchySettings], found: Found) -> Findings:
        """Compare with the exact solution, with theory and with backprop."""
        from biorrr.analysis.figures import hierarchy as figures

        settings, (X, Y) = problem.settings, problem.data.stand_in
        runs = [run for name, run in found.items() if name.startswith("seed")]
        yardstick = analysis.HierarchyYardstick(X, Y, settings.gains, s=settings.s, ridge=(settings.ridge, 0.0))
        best = yardstick.solve(settings.areas)
        results = follow(runs, yardstick, best)
        plateaus = [audit(run, X, Y) for run in runs]
        lesions = {
            {"feedback": "feedback cut", "interneurons": "interneurons of area 1 silent"}[name.split("-")[1]]: (
                part["seen"], part["variances"],
            )
            for name, part in found.items()
            if name.startswith("lesion")
        }  # fmt: skip
        numbers = summary(problem, runs, results, best, plateaus, lesions)
        L = len(settings.areas)
        rows = {
            "excess": f"{100 * numbers['excess']:.2g} % over the joint optimum ({len(runs)} seeds; "
            f"{100 * numbers['excess_untrained']:.0f} % untrained)",
            "each area": ", ".join(f"{100 * numbers[f'excess_area_{i}']:.2g} %" for i in range(1, L + 1)),
            "directions above threshold": ", ".join(
                f"{numbers[f'used_area_{i}']} of {k}" for i, k in enumerate(settings.areas, 1)
            ),
            "plateaus": ", ".join(f"{100 * numbers[f'plateau_error_{i}']:.2g} %" for i in range(1, L + 1))
            + " from theory (r.m.s., area by area)",
            "y predicted": f"R2 {numbers['r2_circuit']:.4f} by the circuit, {numbers['r2_exact']:.4f} by its exact "
            f"solution, {numbers['r2_backprop']:.4f} by backprop, {numbers['r2_rrr']:.4f} by the best of that rank",
            "with and without y": f"outputs of the last area correlate {numbers['inference_correlation']:.3f}",
            "settled": f"largest residual {numbers['worst_residual']:.1e}",
        }
        if L > 1:
            rows["A meets W'"] = f"||A - W'||/||W|| from {numbers['meeting_start']:.2g} to {numbers['meeting']:.2g}"
            rows["feedback cut"] = f"variance of area 1 falls to {numbers['variance_feedback_cut']:.2g}"
            silent, then = numbers["variance_interneurons_silent"], "goes to"
            if silent >= RUNAWAY:
                then = "grows without bounds, beyond"
            rows["interneurons silent"] = f"variance of area 1 {then} {silent:.2g}"
        circuit = make(settings, settings.seed)
        figure = {
            "hierarchy": partial(figures.plot_hierarchy, circuit.wiring(X.shape[1], Y.shape[1]), settings.gains),
            "learning": partial(
                figures.plot_hierarchy_learning, results["seen"].values, results["excess"].values,
                results["area_excess"].values, results["meeting"].values,
            ),
            "plateaus": partial(figures.plot_area_plateaus, *plateaus[0][1:]),
        }  # fmt: skip
        if lesions:
            figure["lesions"] = partial(figures.plot_hierarchy_lesions, lesions)
        return Findings(
            numbers=numbers,
            title=f"{problem.data.name}: areas of {', '.join(map(str, settings.areas))} cells, "
            f"{settings.samples} samples; data are centred",
            rows=rows,
            results={"run": results, "weights": runs[0]},
            figures=figure,
            own_tests=check_claims(settings, numbers),
            curves={"excess": (results["seen"].values, results["excess"].mean("seed").values)},
        )


def make(settings: HierarchySettings, seed: int) -> Any:
    """The circuit to simulate: a hierarchy, or what the user's function returns for its arguments."""
    arguments: dict[str, Any] = {
        "areas": settings.areas, "gains": settings.gains, "s": settings.s, "ridge": (settings.ridge, 0.0),
        "engine": settings.engine, "seed": seed,
    }  # fmt: skip
    if settings.circuit is not None:
        return make_circuit(settings.circuit, **arguments)
    return circuits.Hierarchy(**arguments)


def order_of(rows: int, samples: int, seed: int) -> np.ndarray:
    """Passes over all rows, each in a random order, until there are enough samples."""
    rng = np.random.default_rng([seed, rows])
    return np.concatenate([rng.permutation(rows) for _ in range(-(-samples // rows))])[:samples]


def follow(runs: list, yardstick: Any, best: Any) -> xr.Dataset:
    """Excess, jointly and area by area, and the distance of A from W', at every snapshot of every seed."""
    L, snapshots = len(runs[0].area_weights()), runs[0].data.sizes["snapshot"]
    excess, areas = np.empty((len(runs), snapshots)), np.empty((len(runs), snapshots, L))
    meeting = np.empty((len(runs), snapshots, L - 1))
    for i, run in enumerate(runs):
        for t in range(snapshots):
            weights = run.area_weights(t)
            filters = models.settled_filters(weights, run.gains)
            excess[i, t], areas[i, t] = yardstick.excess(filters, best), yardstick.area_excess(filters)
            meeting[i, t] = [
                np.linalg.norm(low.A - high.W.T) / np.linalg.norm(high.W) for low, high in itertools.pairwise(weights)
            ]
    return xr.Dataset(
        {
            "excess": (("seed", "snapshot"), excess),
            "area_excess": (("seed", "snapshot", "area"), areas),
            "meeting": (("seed", "snapshot", "link"), meeting),
            "seen": (("snapshot",), runs[0].data["seen"].values),
        },
        coords={"area": [f"area {i + 1}" for i in range(L)], "link": [f"areas {i} and {i + 1}" for i in range(1, L)]},
    )


def audit(run: Any, X: np.ndarray, Y: np.ndarray) -> tuple[list[float], list, list]:
    """Relative r.m.s. distance of plateaus from theory, area by area; and both, of some samples."""
    chain = [X, *run.infer(X, Y), Y]
    errors, ours, theirs = [], [], []
    for i, w in enumerate(run.area_weights()):
        below, z, above = chain[i : i + 3]
        plateau = above @ w.A - z @ (w.Q @ w.R).T
        theory = analysis.plateau_theory(w.A, w.Q, run.gains[i + 1] / run.gains[i], below, above)
        errors.append(float(np.sqrt(np.square(plateau - theory).sum() / np.square(theory).sum())))
        ours.append(plateau[:SHOWN])
        theirs.append(theory[:SHOWN])
    return errors, ours, theirs


def summary(problem: Problem, runs: list, results: xr.Dataset, best: Any, plateaus: list, lesions: Mapping) -> dict:
    """Final numbers."""
    settings, (X, Y) = problem.settings, problem.data.stand_in
    exact = analysis.HierarchicalRRR(
        settings.areas, gains=settings.gains, s=settings.s, ridge=(settings.ridge, 0.0), starts=2
    ).fit(X, Y)
    backprop = analysis.backprop_linear(X, Y, settings.areas, settings.samples, settings.seed)
    through = X
    for w in backprop:
        through = through @ w
    last = [run.infer(X)[-1] for run in runs]
    both = [run.infer(X, Y)[-1] for run in runs]
    rank = min(*settings.areas, X.shape[1], Y.shape[1])
    numbers = {
        "data": problem.data.name, "areas": "-".join(map(str, settings.areas)),
        "gains": "-".join(f"{g:g}" for g in settings.gains), "s": settings.s, "ridge": settings.ridge,
        "seeds": len(runs), "samples": settings.samples, "engine": runs[0].data.attrs["engine"],
        "seconds": float(np.mean([run.data.attrs["seconds"] for run in runs])),
        "objective": best.objective, "starts_spread": float(np.ptp(best.starts)),
        "excess": float(results["excess"][:, -1].mean()), "excess_max": float(results["excess"][:, -1].max()),
        "excess_spread": float(results["excess"][:, -1].std()),
        "excess_untrained": float(results["excess"][:, 0].mean()),
        "worst_residual": max(run.data.attrs["worst_residual"] for run in runs),
        "r2_circuit": float(np.mean([analysis.r2(Y, regressed(z, Y)) for z in last])),
        "r2_with_y": float(np.mean([analysis.r2(Y, regressed(z, Y)) for z in both])),
        "r2_exact": analysis.r2(Y, regressed(exact.infer(X)[-1], Y)),
        "r2_backprop": analysis.r2(Y, through),
        "r2_rrr": analysis.ReducedRankRegression(rank, ridge=settings.ridge).fit(X, Y).score(X, Y),
        "inference_correlation": float(
            np.mean([np.corrcoef(a.ravel(), b.ravel())[0, 1] for a, b in zip(last, both, strict=True)])
        ),
    }  # fmt: skip
    for i in range(len(settings.areas)):
        numbers[f"excess_area_{i + 1}"] = float(results["area_excess"][:, -1, i].mean())
        numbers[f"used_area_{i + 1}"] = best.above_threshold[i]
        numbers[f"plateau_error_{i + 1}"] = float(np.mean([errors[i] for errors, *_ in plateaus]))
    if results.sizes["link"]:
        numbers["meeting_start"] = float(results["meeting"][:, 0].mean())
        numbers["meeting"] = float(results["meeting"][:, -1].mean())
        for name, (_, variances) in lesions.items():
            numbers["variance_feedback_cut" if "feedback" in name else "variance_interneurons_silent"] = float(
                variances[-1, 0]
            )
    return numbers


def regressed(Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The best prediction of ``Y`` from ``Z``."""
    return Z @ np.linalg.lstsq(Z, Y, rcond=None)[0]


def check_claims(settings: HierarchySettings, numbers: Mapping[str, Any]) -> list[Claim]:
    """What theory says of the areas, and whether it holds here."""
    plateaus = [numbers[f"plateau_error_{i + 1}"] for i in range(len(settings.areas))]
    claims = [
        Claim(
            text="local rules bring all areas to their joint optimum", value=numbers["excess"],
            spread=numbers["excess_spread"], high=EXCESS, unit="%",
        ),
        Claim(
            text="an untrained hierarchy does not count as learned", value=numbers["excess_untrained"], low=UNTRAINED,
            unit="%",
        ),
        Claim(text="every sample comes to its equilibrium", value=numbers["worst_residual"], high=1e-8),
        Claim(
            text="plateaus carry the error of what comes from above, in the worst area", value=max(plateaus),
            high=PLATEAU, unit="%",
        ),
        Claim(
            text="y is predicted as well as by backprop through a linear network of the same sizes",
            value=numbers["r2_backprop"] - numbers["r2_circuit"], high=PARITY,
        ),
    ]  # fmt: skip
    if len(settings.areas) > 1:
        claims.append(Claim(text="A meets W' between areas by itself", value=numbers["meeting"], high=MEETING))
    return claims


EXPERIMENT = HierarchyExperiment()
