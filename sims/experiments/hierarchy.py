"""Stack areas whose plateaus drive their somata, and compare them with the exact optimum.

Areas lie between x and y, each driven from below and taught from above (Golkar et al., NeurIPS
2022). Measured are the excess over the joint optimum; how A meets W' between areas; what plateaus
carry in each area, against theory; and how well y is predicted with and without it, beside backprop
through a linear network of the same sizes. Data are centred. Try --data v1v2, --data mnist, or
--areas 4 --areas 3 --areas 2 for three areas.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial

from biorrr.sims.data import SMALL_DATA, Data, DataError, Dataset
from biorrr.sims.lab import (
    PERCENT,
    Claim,
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    Task,
    compiled_if_possible,
    data_option,
    experiment,
    option,
)
from biorrr.sims.lazy import analysis, circuits, models, np, xr
from biorrr.sims.words import counted

SNAPSHOTS = 40
SHOWN = 2000  # samples whose plateaus are drawn
# Bounds of the claims, fixed beforehand.
EXCESS, MEETING, PLATEAU, PARITY, UNTRAINED, RESIDUAL = 0.03, 0.1, 0.25, 0.02, 0.3, 1e-8


class HierarchySettings(ExperimentSettings, seeds=3):
    """Settings of ``biorrr hierarchy``."""

    data: Data = data_option("digits")
    areas: tuple[int, ...] = option(
        (4, 2),
        "cells of each area, from that nearest to x up to that nearest to y; repeated for each"
        " area",
        at_least=1,
    )
    gains: tuple[float, ...] | None = option(
        None,
        "gain of each link from x up to y, repeated for each; by default 1, and n / trace(Cyy) for"
        " that to y",
        at_least=1e-6,
    )
    s: float = option(
        0.0,
        "which regression the last area solves: 0 is RRMSE, 1 is CCA",
        short="s",
        at_least=0,
        at_most=1,
    )
    ridge: float = option(0.0, "added to Cxx, by replay that settles as samples do", at_least=0)
    samples: int = option(400_000, "number of samples that are presented", at_least=1000)
    quick: bool = option(
        False, "a tenth of the samples and one seed, for a first look without verdicts"
    )


# By the quantity that decides; A meets W' where there are several areas.
CLAIMS = {
    "excess": "local rules bring all areas to their joint optimum",
    "excess_untrained": "an untrained hierarchy does not count as learned",
    "worst_residual": "every sample comes to its equilibrium",
    "plateau_error_max": "plateaus carry the error of what comes from above, in the worst area",
    "r2_below_backprop": (
        "y is predicted as well as by backprop through a linear network of the same sizes"
    ),
    "meeting": "A meets W' between areas by itself",
}


@experiment(
    shows="stacked areas with apical feedback, beside their joint optimum",
    takes="20 s",
    paper="beyond it",
    measure="excess",
    captions={
        "learning": (
            "Left: excess over the joint optimum of all areas against samples seen, one line per"
            " seed; the dashed line is the bound of 3 %, and the worst seed ends at {excess_max}."
            " Right: distance between the feedback weights A and the transposed feed-forward"
            " weights W, which follow rules of their own and meet. All curves should fall."
        ),
        "plateaus": (
            "Plateau of every cell, at up to 2000 samples after learning, against the error that"
            " theory gives it at the optimum, one panel per area. Learning has succeeded where the"
            " points lie on the line. The first seed is shown; the relative r.m.s. deviation, mean"
            " over seeds, is {plateau_error_max} in the worst area."
        ),
    },
    small={"data": SMALL_DATA, "areas": (2, 2), "samples": 1000, "seeds": 2},
)
def hierarchy(lab: Lab, settings: HierarchySettings) -> Findings:
    """Let hierarchies learn, and compare them with the exact solution, theory and backprop."""
    from biorrr.analysis.figures import between_areas as figures

    if settings.quick:
        settings = lab.set(samples=max(1000, settings.samples // 10), seeds=1)
    settings = lab.set(engine=compiled_if_possible(settings.engine))
    data = lab.load(settings.data)
    links = len(settings.areas) + 1
    if settings.gains is not None and len(settings.gains) != links:
        raise SettingsError(
            f"gains: must be {links} numbers, one for each link from x to the first of {links - 1}"
            f" areas up to y (got {len(settings.gains)}); repeat --gains for each"
        )
    if max(settings.areas) > data.X.shape[1]:
        raise SettingsError(
            f"areas: must not exceed the {data.X.shape[1]} features of x (got"
            f" {max(settings.areas)})"
        )
    if not data.fits_in_memory:
        size = (data.X.nbytes + data.Y.nbytes) / 2**30
        raise DataError(
            f"{data.name}: must fit into memory, at most 2 GiB (got {size:.1f}); take fewer samples"
        )
    data = data.centred()
    # The gain with which y's variance counts as 1.
    unit_variance = float(f"{1 / float(np.square(data.Y).mean()):.3g}")
    settings = lab.fill_in(gains=(*(1.0,) * len(settings.areas), unit_variance))

    runs = lab.map(learn, {"seed": settings.every_seed}, data).values

    exact = analysis.ExactHierarchy(
        data.X, data.Y, settings.gains, s=settings.s, ridge=(settings.ridge, 0.0)
    )
    best = exact.solve(settings.areas)
    scores = xr.concat([score(run, data, exact, best) for run in runs], "seed")
    shown = plateaus(runs[0], data.X, data.Y).isel(row=slice(SHOWN))
    drawn = scores[["excess", "meeting"]].merge(shown)
    setup = ("s", "ridge", "seeds", "samples")
    quantities = [
        Quantity("data", data.name),
        Quantity("areas", "-".join(map(str, settings.areas))),
        Quantity("gains", "-".join(f"{gain:g}" for gain in settings.gains or ())),
        *(Quantity(name, getattr(settings, name)) for name in setup),
        Quantity("engine", runs[0].data.attrs["engine"]),
        Quantity("seconds", scores["seconds"].mean(), "s"),
        *learning_quantities(settings.areas, scores, best),
        *prediction_quantities(settings, scores, data, exact.weights(best.filters)),
    ]
    return Findings(
        title=(
            f"{data.name}: areas of {', '.join(map(str, settings.areas))} cells, {settings.samples}"
            f" samples, {counted(settings.seeds, 'seed')}; data are centred"
        ),
        quantities=quantities,
        data={"run": drawn, "weights": runs[0]},
        figures=[
            Figure("learning", partial(figures.plot_hierarchy_learning, drawn)),
            Figure("plateaus", partial(figures.plot_area_plateaus, drawn)),
        ],
        own_tests=[Claim.about(one, CLAIMS[one.name]) for one in quantities if one.name in CLAIMS],
    )


def learn(task: Task, data: Dataset, seed: int) -> circuits.Run:
    """Let a hierarchy, or what the user's function makes of its arguments, learn the data from a
    seed.
    """
    settings = task.settings
    circuit = settings.make_circuit(
        circuits.Hierarchy,
        areas=settings.areas,
        gains=settings.gains,
        s=settings.s,
        ridge=(settings.ridge, 0.0),
        seed=seed,
    )
    # Passes over all rows, each in a random order, until there are enough samples.
    rng, passes = np.random.default_rng([seed, len(data.X)]), -(-settings.samples // len(data.X))
    order = np.concatenate([rng.permutation(len(data.X)) for _ in range(passes)])
    return task.run(circuit, data.X, data.Y, order=order[: settings.samples], snapshots=SNAPSHOTS)


def score(
    run: circuits.Run,
    data: Dataset,
    exact: analysis.ExactHierarchy,
    best: analysis.HierarchyOptimum,
) -> xr.Dataset:
    """Return the scores of a run on centred data.

    They are the excess of all areas together (snapshot,) and the distance of A from W' (snapshot,
    link); the relative r.m.s. distance of plateaus from theory (area,); and R2 of y, predicted from
    the outputs of the last area without y, with their correlation with those with y.
    """
    weights = [run.area_weights(snapshot) for snapshot in range(run.data.sizes["snapshot"])]
    links = [f"areas {i} and {i + 1}" for i in range(1, len(weights[0]))]
    meeting = [
        np.linalg.norm(low.A - high.W.T) / np.linalg.norm(high.W)
        for one in weights
        for low, high in itertools.pairwise(one)
    ]
    excess = [exact.excess(models.settled_filters(one, run.gains), best) for one in weights]
    return xr.Dataset(
        {
            "excess": ("snapshot", excess, {"bound": EXCESS}),
            "meeting": (("snapshot", "link"), np.reshape(meeting, (len(weights), len(links)))),
            "plateau_error": ("area", plateau_errors(plateaus(run, data.X, data.Y))),
            "worst_residual": run.data.attrs["worst_residual"],
            "seconds": run.data.attrs["seconds"],
            **prediction_scores(run, data),
        },
        coords={"link": links, "seen": ("snapshot", run.data["seen"].values)},
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


def prediction_scores(run: circuits.Run, data: Dataset) -> dict[str, float]:
    """Return R2 of y, predicted from the outputs of the last area without y, and the correlation of
    these outputs with those with y.
    """
    without_y, with_y = run.infer(data.X)[-1], run.infer(data.X, data.Y)[-1]
    return {
        "r2": r2_from(without_y, data.Y),
        "correlation": np.corrcoef(without_y.ravel(), with_y.ravel())[0, 1],
    }


def learning_quantities(
    areas: Sequence[int], scores: xr.Dataset, best: analysis.HierarchyOptimum
) -> list[Quantity]:
    """Return how near the areas came to their joint optimum; ``scores`` are those of all seeds."""
    start, end = (scores[["excess", "meeting"]].isel(snapshot=at) for at in (0, -1))
    excess, errors = end["excess"], scores["plateau_error"].mean("seed").values
    most, residual = partial(Quantity, unit=PERCENT), scores["worst_residual"].max(skipna=False)
    row, near, far = "excess", (-math.inf, EXCESS), (UNTRAINED, math.inf)
    equilibrium = "largest residual of an equilibrium"
    found = [
        Quantity("objective", best.objective),
        Quantity("starts_spread", np.ptp(best.starts)),
        most("excess", excess.mean(), words="over the joint optimum", row=row, bound=near),
        most("excess_max", excess.max(), words="at most", row=row),
        most("excess_spread", excess.std()),
        most("excess_untrained", start["excess"].mean(), words="untrained", row=row, bound=far),
        Quantity("worst_residual", residual, words=equilibrium, bound=(-math.inf, RESIDUAL)),
    ]
    rows = "directions above threshold", "plateaus, r.m.s. distance from theory"
    for i, (k, used, error) in enumerate(zip(areas, best.above_threshold, errors, strict=True), 1):
        found += [
            Quantity(f"used_area_{i}", used, f"of {k}", f"area {i}", row=rows[0]),
            Quantity(f"plateau_error_{i}", error, PERCENT, f"area {i}", row=rows[1]),
        ]
    found.append(most("plateau_error_max", errors.max(), bound=(-math.inf, PLATEAU)))
    if len(areas) > 1:
        row, bound = "||A - W'|| / ||W||", (-math.inf, MEETING)
        first, last = (at["meeting"].mean() for at in (start, end))
        found.append(Quantity("meeting_start", first, "", "at the start", row=row))
        found.append(Quantity("meeting", last, "", "at the end", row=row, bound=bound))
    return found


def prediction_quantities(
    settings: HierarchySettings,
    scores: xr.Dataset,
    data: Dataset,
    optimum: Sequence[Mapping[str, np.ndarray]],
) -> list[Quantity]:
    """Return how well y is predicted by the circuit, its exact solution, backprop and reduced-rank
    regression.

    ``optimum`` are the weights W, A and Q of each area in the exact solution.
    """
    X, Y = data.X, data.Y
    areas = [models.AreaWeights(**weights, R=weights["Q"].T) for weights in optimum]
    # While y is silent.
    exact = X @ models.settled_filters(areas, settings.gains or ())[-1][: X.shape[1]]
    weights = analysis.backprop_linear(X, Y, settings.areas, settings.samples, settings.seed)
    backprop = analysis.r2(Y, functools.reduce(np.matmul, weights, X))
    rank = min(*settings.areas, X.shape[1], Y.shape[1])
    best = analysis.ReducedRankRegression(rank, ridge=settings.ridge).fit(X, Y)
    circuit, row, correlate = scores["r2"].mean(), "R2 of y", "outputs with and without y correlate"
    return [
        Quantity("r2_circuit", circuit, "", "circuit", row=row),
        Quantity("r2_exact", r2_from(exact, Y), "", "exact solution", row=row),
        Quantity("r2_backprop", backprop, "", "backprop", row=row),
        Quantity("r2_below_backprop", backprop - circuit, bound=(-math.inf, PARITY)),
        Quantity("r2_rrr", best.score(X, Y), "", "best of that rank", row=row),
        Quantity("inference_correlation", scores["correlation"].mean(), words=correlate),
    ]


def r2_from(Z: np.ndarray, Y: np.ndarray) -> float:
    """Return R2 of the best linear prediction of ``Y`` (T, n) from ``Z`` (T, k)."""
    return analysis.r2(Y, Z @ np.linalg.lstsq(Z, Y, rcond=None)[0])
