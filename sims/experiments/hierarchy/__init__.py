"""Stack areas whose plateaus drive their somata, and compare what they learn with the exact optimum.

Areas lie between x and y, each driven from below and taught from above (Golkar et al., NeurIPS 2022). Measured are the
excess over the joint optimum, all areas together and each with the others held; how A meets W' between areas; what
plateaus carry in each area, against theory; how well y is predicted with and without it, beside backprop through a
linear network of the same sizes; and two lesions, a cut of the feedback between areas and silent interneurons of the
first area. Data are centred. Try --data v1v2, --data mnist, or --areas 4 --areas 3 --areas 2 for three areas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import Samples
from biorrr.sims.experiments.hierarchy.scores import (
    SHOWN,
    judge,
    learning_courses,
    learning_quantities,
    lesion_quantities,
    plateau_errors,
    plateaus,
    prediction_quantities,
)
from biorrr.sims.experiments.hierarchy.simulations import (
    FEEDBACK_CUT,
    INTERNEURONS_SILENT,
    follow_lesion,
    learn,
    lesion_courses,
)
from biorrr.sims.lab import (
    SEEN,
    Chart,
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    View,
    experiment,
)
from biorrr.sims.lab.circuits import compiled_if_possible
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, option, seeds_option
from biorrr.sims.lazy import analysis, circuits, data_sets, np, xr


@dataclass(frozen=True, kw_only=True)
class HierarchySettings(ExperimentSettings):
    """Settings of ``biorrr hierarchy``."""

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


CAPTIONS = {
    "hierarchy": "The areas from x at the bottom to y at the top. Proximal weights W carry each area's output upwards "
    "(blue), distal weights A carry it downwards to the apical dendrites of the area below (orange), and each area has "
    "interneurons that it excites (R, arrow) and that inhibit its dendrites (Q, bar). The gain of a link is the weight "
    "that the equilibrium gives to it; the plateau of an area reaches its soma with the gain of the link above over "
    "that of the link below. By default the link to y has the gain n / trace(Cyy), so that one unit of variance counts "
    "as much in y as in an area.",
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
CHART = Chart(
    "Areas find their joint optimum",
    (
        View("excess", {"excess": ""}, SEEN, repeats=("seed",), log="xy", percent=True),
        View(
            "excess of each area, others held",
            {"area_excess": "area"},
            SEEN,
            repeats=("seed",),
            log="xy",
            percent=True,
        ),
        View("||A - W'|| / ||W||", {"meeting": "link"}, SEEN, repeats=("seed",), log="xy"),
    ),
    "Excess is (best - got) / best: 0 at the optimum, 100 % where nothing of y is learned.",
)


@experiment(
    shows="stacked areas with apical feedback, beside their joint optimum",
    takes="20 s",
    paper="beyond it",
    measure="excess",
    captions=CAPTIONS,
    charts=(CHART,),
    small={"data": "synthetic:samples=60,m=6,n=5,latents=2", "areas": (2, 2), "samples": 1000, "seeds": 2},
)
def hierarchy(lab: Lab, settings: HierarchySettings) -> Findings:
    """Let hierarchies learn, lesion the first, and compare them with the exact solution, theory and backprop."""
    from biorrr.analysis.figures import hierarchy as figures

    if settings.quick:
        settings = lab.set(samples=max(1000, settings.samples // 10), seeds=1)
    settings = lab.set(engine=compiled_if_possible(settings.engine))
    check_gains(settings)
    data = lab.load(settings.data)
    check_areas(settings, data)
    settings = lab.fill_in(gains=default_gains(settings, data))
    X, Y = data.stand_in

    runs = lab.map(learn, settings.every_seed, data)
    first = runs[settings.seed]
    stacked = len(settings.areas) > 1
    lesions = lab.map(follow_lesion, (FEEDBACK_CUT, INTERNEURONS_SILENT), data, first) if stacked else {}

    yardstick = analysis.HierarchyYardstick(X, Y, settings.gains, s=settings.s, ridge=(settings.ridge, 0.0))
    best = yardstick.solve(settings.areas)
    audits = [plateaus(run, X, Y) for run in runs.values()]
    parts = [learning_courses(runs, yardstick, best), audits[0].isel(row=slice(SHOWN))]
    results = xr.merge(parts + ([lesion_courses(lesions)] if stacked else []))
    errors = np.array([plateau_errors(one) for one in audits])
    quantities = [
        *setup(settings, data, [*runs.values()]),
        *learning_quantities(settings, [*runs.values()], results, best, errors),
        *prediction_quantities(settings, [*runs.values()], X, Y),
        *(lesion_quantities(lesions) if stacked else ()),
    ]
    drawn = [
        Figure("hierarchy", partial(figures.plot_hierarchy, settings.areas, settings.gains, X.shape[1], Y.shape[1])),
        Figure("learning", partial(figures.plot_hierarchy_learning, results)),
        Figure("plateaus", partial(figures.plot_area_plateaus, results)),
    ]
    if stacked:
        drawn.append(Figure("lesions", partial(figures.plot_hierarchy_lesions, results)))
    return Findings(
        title=f"{data.name}: areas of {', '.join(map(str, settings.areas))} cells, {settings.samples} samples, "
        f"{settings.seeds} seeds; data are centred",
        quantities=quantities,
        data={"run": results, "weights": first},
        figures=drawn,
        own_tests=judge({one.name: one for one in quantities}),
        curves={"excess": (results["seen"].values, results["excess"].mean("seed").values)},
    )


def check_gains(settings: HierarchySettings) -> None:
    """Refuse gains that are not one for each link."""
    links = len(settings.areas) + 1
    if settings.gains is not None and len(settings.gains) != links:
        raise SettingsError(
            f"gains: must be {links} numbers, one for each link from x to the first of {links - 1} areas up to y (got "
            f"{len(settings.gains)}); repeat --gains for each"
        )


def check_areas(settings: HierarchySettings, data: data_sets.Dataset) -> None:
    """Refuse areas that have more cells than x has features."""
    m = data.X.shape[1]
    if max(settings.areas) > m:
        raise SettingsError(f"areas: must not exceed the {m} features of x (got {max(settings.areas)})")


def default_gains(settings: HierarchySettings, data: data_sets.Dataset) -> tuple[float, ...]:
    """Return the gains unless they are set: one unit of y's variance counts as 1."""
    power = float(np.square(data.stand_in[1]).mean())
    return (*(1.0,) * len(settings.areas), float(f"{1 / power:.3g}"))


def setup(settings: HierarchySettings, data: data_sets.Dataset, runs: Sequence[circuits.Run]) -> list[Quantity]:
    """Return what was learned: the first quantities of the summary."""
    assert settings.gains is not None
    known = {
        "data": data.name, "areas": "-".join(map(str, settings.areas)),
        "gains": "-".join(f"{g:g}" for g in settings.gains), "s": settings.s, "ridge": settings.ridge,
        "seeds": len(runs), "samples": settings.samples, "engine": runs[0].data.attrs["engine"],
        "seconds": float(np.mean([run.data.attrs["seconds"] for run in runs])),
    }  # fmt: skip
    return [Quantity(name, value, "s" if name == "seconds" else "") for name, value in known.items()]
