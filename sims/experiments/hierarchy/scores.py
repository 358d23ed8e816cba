"""Scores of areas that have learned: against their joint optimum, against theory and against
backprop.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from biorrr.sims.lab import PERCENT, Quantity
from biorrr.sims.lazy import analysis, circuits, models, np, xr

if TYPE_CHECKING:
    from biorrr.sims.experiments.hierarchy import HierarchySettings

SHOWN = 2000  # samples whose plateaus are drawn
# Bounds of the claims, fixed beforehand.
EXCESS, MEETING, PLATEAU, PARITY, UNTRAINED, RESIDUAL = 0.03, 0.1, 0.25, 0.02, 0.3, 1e-8


def learning_courses(
    runs: Sequence[circuits.Run],
    solution: analysis.ExactHierarchy,
    best: analysis.HierarchyOptimum,
) -> xr.Dataset:
    """Return the excess of all areas together and the distance of A from W', at every snapshot of
    every seed.
    """
    L, snapshots = len(runs[0].area_weights()), runs[0].data.sizes["snapshot"]
    excess, meeting = np.empty((len(runs), snapshots)), np.empty((len(runs), snapshots, L - 1))
    for place, run in enumerate(runs):
        for t in range(snapshots):
            weights = run.area_weights(t)
            excess[place, t] = solution.excess(models.settled_filters(weights, run.gains), best)
            meeting[place, t] = [
                np.linalg.norm(low.A - high.W.T) / np.linalg.norm(high.W)
                for low, high in itertools.pairwise(weights)
            ]
    return xr.Dataset(
        {
            "excess": (("seed", "snapshot"), excess, {"bound": EXCESS}),
            "meeting": (("seed", "snapshot", "link"), meeting),
            "seen": (("snapshot",), runs[0].data["seen"].values),
        },
        coords={"link": [f"areas {i} and {i + 1}" for i in range(1, L)]},
    )


def plateaus(run: circuits.Run, X: np.ndarray, Y: np.ndarray) -> xr.Dataset:
    """Return ``plateau`` and ``plateau_theory``, each (row, cell), and the ``cell_area`` (cell,) of
    each, from 1 on.
    """
    chain = [X, *run.infer(X, Y), Y]
    measured, theory, areas = [], [], []
    for i, w in enumerate(run.area_weights()):
        below, z, above = chain[i : i + 3]
        measured.append(above @ w.A - z @ (w.Q @ w.R).T)
        theory.append(
            analysis.plateau_theory(w.A, w.Q, run.gains[i + 1] / run.gains[i], below, above)
        )
        areas += [i + 1] * z.shape[1]
    return xr.Dataset(
        {
            "plateau": (("row", "cell"), np.concatenate(measured, axis=1)),
            "plateau_theory": (("row", "cell"), np.concatenate(theory, axis=1)),
        },
        coords={"cell_area": ("cell", areas)},
    )


def plateau_errors(found: xr.Dataset) -> list[float]:
    """Return the relative r.m.s. distance of plateaus from theory, area by area."""
    errors = []
    for _, area in found.groupby("cell_area"):
        measured, theory = area["plateau"].values, area["plateau_theory"].values
        errors.append(float(np.sqrt(np.square(measured - theory).sum() / np.square(theory).sum())))
    return errors


def learning_quantities(
    settings: HierarchySettings,
    runs: Sequence[circuits.Run],
    results: xr.Dataset,
    best: analysis.HierarchyOptimum,
    errors: np.ndarray,
) -> list[Quantity]:
    """Return how near the areas came to their joint optimum; ``errors`` (seeds, areas) are those of
    plateaus.
    """
    start, end, row = results["excess"][:, 0], results["excess"][:, -1], "excess"
    found = [
        Quantity("objective", best.objective),
        Quantity("starts_spread", float(np.ptp(best.starts))),
        Quantity(
            "excess",
            float(end.mean()),
            PERCENT,
            "over the joint optimum",
            row=row,
            bound=(-math.inf, EXCESS),
        ),
        Quantity("excess_max", float(end.max()), PERCENT, "at most", row=row),
        Quantity("excess_spread", float(end.std()), PERCENT),
        Quantity(
            "excess_untrained",
            float(start.mean()),
            PERCENT,
            "untrained",
            row=row,
            bound=(UNTRAINED, math.inf),
        ),
        Quantity(
            "worst_residual",
            max(run.data.attrs["worst_residual"] for run in runs),
            "",
            "largest residual of an equilibrium",
            bound=(-math.inf, RESIDUAL),
        ),
    ]
    for i, (k, used, error) in enumerate(
        zip(settings.areas, best.above_threshold, errors.mean(axis=0), strict=True), 1
    ):
        row = "plateaus, r.m.s. distance from theory"
        found += [
            Quantity(
                f"used_area_{i}", used, f"of {k}", f"area {i}", row="directions above threshold"
            ),
            Quantity(f"plateau_error_{i}", float(error), PERCENT, f"area {i}", row=row),
        ]
    worst = float(errors.mean(axis=0).max())
    found.append(Quantity("plateau_error_max", worst, PERCENT, bound=(-math.inf, PLATEAU)))
    if len(settings.areas) > 1:
        row, meeting = "||A - W'|| / ||W||", results["meeting"]
        bound = (-math.inf, MEETING)
        found.append(
            Quantity("meeting_start", float(meeting[:, 0].mean()), "", "at the start", row=row)
        )
        found.append(
            Quantity(
                "meeting", float(meeting[:, -1].mean()), "", "at the end", row=row, bound=bound
            )
        )
    return found


def prediction_quantities(
    settings: HierarchySettings,
    runs: Sequence[circuits.Run],
    X: np.ndarray,
    Y: np.ndarray,
    optimum: Sequence[Mapping[str, np.ndarray]],
) -> list[Quantity]:
    """Return how well y is predicted by the circuit, its exact solution, backprop and reduced-rank
    regression.

    ``optimum`` are the weights W, A and Q of each area in the exact solution.
    """
    areas = [models.AreaWeights(**weights, R=weights["Q"].T) for weights in optimum]
    exact = (
        X @ models.settled_filters(areas, settings.gains or ())[-1][: X.shape[1]]
    )  # while y is silent
    through = X
    for weights in analysis.backprop_linear(X, Y, settings.areas, settings.samples, settings.seed):
        through = through @ weights
    rank = min(*settings.areas, X.shape[1], Y.shape[1])
    best = analysis.ReducedRankRegression(rank, ridge=settings.ridge).fit(X, Y)
    without_y, with_y = [run.infer(X)[-1] for run in runs], [run.infer(X, Y)[-1] for run in runs]
    correlations = [
        np.corrcoef(a.ravel(), b.ravel())[0, 1] for a, b in zip(without_y, with_y, strict=True)
    ]
    circuit = float(np.mean([analysis.r2(Y, regressed(z, Y)) for z in without_y]))
    backprop, row = analysis.r2(Y, through), "R2 of y"
    return [
        Quantity("r2_circuit", circuit, "", "circuit", row=row),
        Quantity("r2_exact", analysis.r2(Y, regressed(exact, Y)), "", "exact solution", row=row),
        Quantity("r2_backprop", backprop, "", "backprop", row=row),
        Quantity("r2_below_backprop", backprop - circuit, bound=(-math.inf, PARITY)),
        Quantity("r2_rrr", best.score(X, Y), "", "best of that rank", row=row),
        Quantity(
            "inference_correlation",
            float(np.mean(correlations)),
            "",
            "outputs with and without y correlate",
        ),
    ]


def regressed(Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the best linear prediction of ``Y`` (T, n) from ``Z`` (T, k)."""
    return Z @ np.linalg.lstsq(Z, Y, rcond=None)[0]
