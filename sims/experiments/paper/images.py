"""Compare Bio-RRMSE with backprop on picture classification.

Backprop trains a two-layer network from the same weights, with the same pictures in the same order:
Vx ~ N(0, 1)/100 and Vy ~ N(0, 1)/10, from which the authors start both in their public
demonstration. Pixels / 255, centred; labels as one-hot vectors; the rates of the supplement's
table; 100,000 samples, 10 epochs of the 10,000 test pictures. The paper's claim is that the two are
comparable, not that either is near the optimum.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from biorrr.sims.comparisons.contenders import (
    STABLE,
    Contender,
    Problem,
    at_each_rates,
    compare_learners,
    final_numbers,
    solve,
)
from biorrr.sims.comparisons.judgements import comparable
from biorrr.sims.data.pictures import Pictures
from biorrr.sims.lab import (
    Claim,
    ExperimentSettings,
    Figure,
    Findings,
    Grid,
    Lab,
    Quantity,
    experiment,
    option,
)
from biorrr.sims.lazy import analysis, models, xr
from biorrr.sims.words import counted

# The paper's, one for each data set.
RANKS = {"mnist": 1, "fashion-mnist": 2, "cifar10": 4, "cifar100": 8}
BIO, BACKPROP = "Bio-RRMSE", "backprop"
# The paper says "comparable" and prints no number: excesses differ by at most 5 % of the optimum,
# either way.
COMPARABLE = 0.05
PLACE = 'supplement F, "More numerical experiments"; Fig. 7, Table 1'


class ImagesSettings(ExperimentSettings, seeds=5):
    """Settings of the chapter on pictures."""

    data: tuple[Pictures, ...] = option(
        tuple(RANKS), "which of mnist, fashion-mnist, cifar10, cifar100", metavar="NAME"
    )
    steps: int = option(100_000, "samples presented", at_least=1)
    ridge: float = option(0.1, "added to Cxx", at_least=0)


@experiment(
    shows="Bio-RRMSE beside back-propagation on MNIST, Fashion-MNIST, CIFAR-10 and CIFAR-100",
    takes="2 min",
    paper="supplement F, Fig. 7 and Table 1",
    captions={
        "images": (
            "Excess over the optimum, in percent, against the number of samples seen, one panel for"
            " each set of pictures: the paper's algorithm and a two-layer network trained by"
            " back-propagation, each as the mean over seeds in a band of one standard deviation."
            " Both should fall about as fast. One that diverges at the printed rates is drawn at"
            " the largest fraction of them at which it does not."
        )
    },
)
def images(lab: Lab, settings: ImagesSettings) -> Findings:
    """Compare Bio-RRMSE and backprop on all pictures, and check the paper's claim for each set."""
    from biorrr.analysis.figures.races import plot_pictures_race

    for pictures in settings.data:
        lab.load(pictures)  # one after another, before anything is written: all would be too large
    problem, steps = Problem("rrmse", "online"), settings.steps
    quantities: list[Quantity] = []
    claims: list[Claim] = []
    results: dict[str, Any] = {}
    for pictures in settings.data:
        data = lab.load(pictures).centred()
        name, rank, exact = data.name, RANKS[data.name], solve(data, [problem], settings.ridge)
        bio, ann = (
            models.Rates.paper(name, 0, rank, "online", whose) for whose in ("biorrr", "ann")
        )
        net = partial(analysis.TwoLayerANN, online=True)
        contenders = [
            Contender(problem, BIO, analysis.OnlineBioRRR, rank, steps, bio),
            Contender(problem, BACKPROP, net, rank, steps, ann),
        ]

        compared = compare_learners(lab, contenders, data, exact)[problem]

        courses = results[f"{name}, k = {rank}"] = compared.isel(k=0, drop=True)
        quantities.append(Quantity(f"{name}_optimum", exact[problem.s].optimum(rank)))
        for learner, key in {BIO: "bio", BACKPROP: "backprop"}.items():
            row = f"{name}, k = {rank}: {learner}"
            quantities += final_numbers(f"{name}_{key}", courses.sel(learner=learner), row)
        for at, case, numbers in at_each_rates(courses):
            claim = parity(name, at, settings)
            claims.append(replace(claim, case=case, numbers={**claim.numbers, **numbers}))
    joined = Grid.over({"data": results}).join([*results.values()])
    return Findings(
        title=(
            f"Bio-RRMSE and backprop, {settings.steps:,} samples,"
            f" {counted(settings.seeds, 'seed')}; pixels / 255, centred"
        ),
        quantities=quantities,
        data={"run": joined},
        figures=[Figure("images", partial(plot_pictures_race, joined.sel(rates=STABLE)))],
        claims=claims,
    )


def parity(name: str, courses: xr.Dataset, settings: ImagesSettings) -> Claim:
    """Judge the supplement's claim for one data set."""
    return comparable(
        courses,
        BIO,
        (BACKPROP,),
        low=-COMPARABLE,
        high=COMPARABLE,
        text=(
            "In all cases, the performance of Bio-RRMSE is comparable to the performance of"
            " backprop"
        ),
        place=PLACE,
        run=f"{name}, {settings.steps:,} samples, {counted(settings.seeds, 'seed')}",
        data=name,
        k=RANKS[name],
    )
