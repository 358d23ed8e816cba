"""Stack areas whose plateaus drive their somata, and compare what they learn with the exact
optimum.

Areas lie between x and y, each driven from below and taught from above (Golkar et al., NeurIPS
2022). Measured are the excess over the joint optimum; how A meets W' between areas; what plateaus
carry in each area, against theory; and how well y is predicted with and without it, beside backprop
through a linear network of the same sizes. Data are centred. Try --data v1v2, --data mnist, or
--areas 4 --areas 3 --areas 2 for three areas.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Data
from biorrr.sims.experiments.hierarchy.scores import (
    SHOWN,
    learning_courses,
    learning_quantities,
    plateau_errors,
    plateaus,
    prediction_quantities,
)
from biorrr.sims.lab import (
    Claim,
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    Task,
    data_option,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lab.own_circuits import compiled_if_possible, make_circuit
from biorrr.sims.lazy import analysis, circuits, data_sets, np, xr

SNAPSHOTS = 40


@dataclass(frozen=True, kw_only=True)
class HierarchySettings(ExperimentSettings):
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
    seeds: int = seeds_option(3)
    quick: bool = option(
        False, "a tenth of the samples and one seed, for a first look without verdicts"
    )


CAPTIONS = {
    "learning": (
        "Left: excess over the joint optimum of all areas against samples seen, one line per seed;"
        " the dashed line is the bound of 3 %. Right: distance between the feedback weights A and"
        " the transposed feed-forward weights W, which follow rules of their own and meet. All"
        " curves should fall."
    ),
    "plateaus": (
        "Plateau of every cell and sample after learning against the error that theory gives it at"
        " the optimum, one panel per area. Learning has succeeded where the points lie on the line."
    ),
}
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
    captions=CAPTIONS,
    small={"data": SMALL_DATA, "areas": (2, 2), "samples": 1000, "seeds": 2},
)
def hierarchy(lab: Lab, settings: HierarchySettings) -> Findings:
    """Let hierarchies learn, and compare them with the exact solution, theory and backprop."""
    from biorrr.analysis.figures import hierarchy as figures

    if settings.quick:
        settings = lab.set(samples=max(1000, settings.samples // 10), seeds=1)
    settings = lab.set(engine=compiled_if_possible(settings.engine))
    links = len(settings.areas) + 1
    if settings.gains is not None and len(settings.gains) != links:
        raise SettingsError(
            f"gains: must be {links} numbers, one for each link from x to the first of {links - 1}"
            f" areas up to y (got {len(settings.gains)}); repeat --gains for each"
        )
    data = lab.load(settings.data)
    X, Y = data.stand_in
    if max(settings.areas) > X.shape[1]:
        raise SettingsError(
            f"areas: must not exceed the {X.shape[1]} features of x (got {max(settings.areas)})"
        )
    unit_variance = float(
        f"{1 / float(np.square(Y).mean()):.3g}"
    )  # the gain with which y's variance counts as 1
    settings = lab.fill_in(gains=(*(1.0,) * len(settings.areas), unit_variance))

    runs = [*lab.each(learn, settings.every_seed, data).values()]

    solution = analysis.ExactHierarchy(
        X, Y, settings.gains, s=settings.s, ridge=(settings.ridge, 0.0)
    )
    best = solution.solve(settings.areas)
    audits = [plateaus(run, X, Y) for run in runs]
    errors = np.array([plateau_errors(one) for one in audits])
    results = xr.merge([learning_courses(runs, solution, best), audits[0].isel(row=slice(SHOWN))])
    quantities = [
        Quantity("data", data.name),
        Quantity("areas", "-".join(map(str, settings.areas))),
        Quantity("gains", "-".join(f"{gain:g}" for gain in settings.gains or ())),
        Quantity("s", settings.s),
        Quantity("ridge", settings.ridge),
        Quantity("seeds", settings.seeds),
        Quantity("samples", settings.samples),
        Quantity("engine", runs[0].data.attrs["engine"]),
        Quantity("seconds", float(np.mean([run.data.attrs["seconds"] for run in runs])), "s"),
        *learning_quantities(settings, runs, results, best, errors),
        *prediction_quantities(settings, runs, X, Y, solution.weights(best.filters)),
    ]
    return Findings(
        title=(
            f"{data.name}: areas of {', '.join(map(str, settings.areas))} cells, {settings.samples}"
            f" samples, {settings.seeds} seeds; data are centred"
        ),
        quantities=quantities,
        data={"run": results, "weights": runs[0]},
        figures=[
            Figure("learning", partial(figures.plot_hierarchy_learning, results)),
            Figure("plateaus", partial(figures.plot_area_plateaus, results)),
        ],
        own_tests=[Claim.about(one, CLAIMS[one.name]) for one in quantities if one.name in CLAIMS],
    )


def learn(task: Task, seed: int, data: data_sets.Dataset) -> circuits.Run:
    """Let a hierarchy, or what the user's function makes of its arguments, learn the data from a
    seed.
    """
    settings, (X, Y) = task.settings, data.stand_in
    arguments: dict[str, Any] = {
        "areas": settings.areas,
        "gains": settings.gains,
        "s": settings.s,
        "ridge": (settings.ridge, 0.0),
        "engine": settings.engine,
        "seed": seed,
    }
    circuit = (
        make_circuit(settings.circuit, **arguments)
        if settings.circuit
        else circuits.Hierarchy(**arguments)
    )
    # Passes over all rows, each in a random order, until there are enough samples.
    rng, passes = np.random.default_rng([seed, len(X)]), -(-settings.samples // len(X))
    order = np.concatenate([rng.permutation(len(X)) for _ in range(passes)])[: settings.samples]
    return task.run(circuit, X, Y, order=order, snapshots=SNAPSHOTS)
