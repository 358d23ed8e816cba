"""Compare the circuit with the algorithms the paper compares with.

Draws the excess over the optimum against samples and CPU time, mean and standard deviation over
seeds, and the deviation from the whitening constraint, and judges what the paper says of its
figures. All learners start from the same weights and see the same samples in the same order; all
are compiled. Data are centred.

The paper predicts 120 visual from 100 textual features of MediaMill, 20,000 samples in 5 epochs:
--data mediamill. The public file holds the 120 visual features and 101 annotations, which very
likely are the textual features: here the annotations, Y, predict the visual features, X. Of all
other data X predicts Y.
As many samples are presented as in the paper, 100,000, which may be more epochs: figure, table and
summary say how many rows and epochs there were. CCALin descends by 20 steps in each iteration, and
again by one: of 1, 2, 3, 5, 10, 20 and 40, tried with eight other seeds, 20 needs the fewest
iterations and 1 the fewest passes through the data. The rates are those that the paper prints for
its own data. Where a seed diverges at these, the table has the share of such seeds with the numbers
of the others, and a second row at the largest fraction of the rates at which no seed diverges.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

from biorrr.errors import InputError
from biorrr.sims.comparisons.contenders import (
    CIRCUIT,
    STABLE,
    ComparisonSettings,
    Contender,
    Problem,
    compare_learners,
    final_numbers,
    load_views,
    solve,
)
from biorrr.sims.comparisons.judgements import check_claims
from biorrr.sims.data import MediaMill, Synthetic
from biorrr.sims.lab import (
    Claim,
    Figure,
    Findings,
    Lab,
    experiment,
    option,
    quantities,
)
from biorrr.sims.lazy import analysis, models, xr
from biorrr.sims.words import counted, snake

STEPS = {"online": 100_000, "offline": 20_000}  # as in the paper: five of its epochs, and one
QUICK_STEPS = {"online": 10_000, "offline": 500}
QUICK_SEEDS = 2
STEPS_ARE = {"online": "samples", "offline": "iterations"}
BATCH_STEPS = 50  # CCALin and SAA are there after thirty
DEAR_SAMPLES = 20_000  # IQMD and MSG-CCA, whose samples cost most, are there after a few thousand
# CCA online has the offline algorithms too.
PROBLEMS = (Problem("rrmse", "online"), Problem("rrmse", "offline"), Problem("cca", "online"))


class CompareSettings(ComparisonSettings, seeds=5, data="digits"):
    """Settings of ``biorrr compare``."""

    objective: str = option("rrmse", "rrmse is s = 0, cca is s = 1", choices=("rrmse", "cca"))
    setting: str = option(
        "online", "one sample at a time, or the whole data at once", choices=("online", "offline")
    )
    all: bool = option(False, "compare everything: RRMSE and CCA, online and offline")
    steps: int | None = option(
        None, "samples (online, 100000 by default) or iterations (offline, 20000)", at_least=1
    )
    rates: str = option(
        "paper",
        "paper takes those that the supplement prints, where it prints any; auto fits them to the"
        " data",
        choices=("auto", "paper"),
    )
    simulation: bool = option(
        True, "also simulate the circuit itself, where samples come one at a time"
    )
    quick: bool = option(
        False, "a tenth of the steps and two seeds: a first look, without verdicts"
    )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems on which learners are compared."""
        return PROBLEMS if self.all else (Problem(self.objective, self.setting),)

    def steps_of(self, problem: Problem) -> int:
        """Return the number of samples or iterations."""
        return self.steps or (QUICK_STEPS if self.quick else STEPS)[problem.setting]

    def key_of(self, problem: Problem) -> str:
        """Return what sets the numbers and files of a problem apart, where there are several."""
        swapped = isinstance(self.data, MediaMill)
        return snake(problem, "Y predicts X" if swapped else "X predicts Y") if self.all else ""


def measure(settings: CompareSettings) -> str:
    """Return the name of the excess of the circuit, or of the algorithm without a circuit, at the
    first rank.
    """
    problem = settings.problems[0]
    learner = CIRCUIT if problem.setting == "online" and settings.simulation else problem.bio
    excess = f"{plain_name(learner, settings.k[0])}_excess"
    return "_".join(filter(None, (settings.key_of(problem), excess)))


@experiment(
    shows="the circuit beside every algorithm the paper compares with",
    takes="15 s",
    paper="Sec. 7, Fig. 3; supplement E, Figs. 5 and 6",
    measure=measure,
    captions={
        "compare": (
            "Excess over the optimum, in percent, of every learner against the steps it has taken"
            " and the processor time it has used, one column for each rank: means over seeds in"
            " bands of one standard deviation. Where a step is a sample for some and a pass through"
            " all data for others, a row in between counts passes. The lower and the farther left,"
            " the better. A learner has arrived when it stays below the dashed line at 5 %. All"
            " start from the same weights and see the same samples in the same order. A learner"
            " that diverges at the printed rates is drawn at the largest fraction of them at which"
            " it does not."
        ),
        "constraint": (
            "Deviation from the whitening constraint, ||Vx'CxxVx - I||²/k, of the circuit and of"
            " the paper's algorithm against steps, one column for each rank. It should fall towards"
            " 0: the outputs become uncorrelated and have unit variance."
        ),
    },
    small={
        "data": Synthetic(samples=60, m=6, n=5),
        "k": (1, 2),
        "seeds": 2,
        "steps": 200,
        "engine": "numpy",
    },
)
def compare(lab: Lab, settings: CompareSettings) -> Findings:
    """Compare all learners on the same data, and judge what the paper says of its figures."""
    if settings.quick:
        settings = lab.set(seeds=min(settings.seeds, QUICK_SEEDS))
    data = load_views(lab)
    exact, rows = solve(data, settings.problems, settings.ridge), len(data.X)

    contenders = [
        one for problem in settings.problems for one in contenders_of(problem, data.name, settings)
    ]
    compared = compare_learners(lab, contenders, data, exact)

    numbers = quantities({"data": data.name, "rows": rows, "ridge": settings.ridge})
    titles, results = [], {}
    figures: list[Figure] = []
    claims: list[Claim] = []
    for problem, courses in compared.items():
        which, steps = settings.key_of(problem), settings.steps_of(problem)
        passes = steps / rows if problem.setting == "online" else 0.0
        title = (
            f"{data.name}: {data.direction}; {problem.objective.upper()} {problem.setting},"
            f" {steps:,} {STEPS_ARE[problem.setting]}"
            + (f" ({passes:.3g} epochs)" if passes else "")
            + f", {counted(settings.seeds, 'seed')}"
        )
        titles.append(title)
        results[f"run-{which}" if which else "run"] = courses
        known = {"s": problem.s, "direction": data.direction, "epochs": passes}
        known |= {f"optimum_k{k}": exact[problem.s].optimum(k) for k in settings.k}
        before, row = (f"{which}_", f"{problem}: ") if which else ("", "")
        numbers += quantities(known, before=before)
        for learner, k in product(courses["learner"].values, settings.k):
            course, name = courses.sel(learner=learner, k=k), plain_name(learner, k)
            numbers += final_numbers(f"{before}{name}", course, f"{row}{learner}, k = {k}")
        figures += draw(courses, problem, title, which)
        claims += check_claims(courses, problem, rows, run=title, data=data.name)
    return Findings(
        title="; ".join([*titles, "data are centred"]),
        quantities=numbers,
        data=results,
        figures=figures,
        claims=claims,
    )


def contenders_of(problem: Problem, data: str, settings: CompareSettings) -> Iterator[Contender]:
    """Yield all contenders of a problem, the circuit's first."""
    online, cca, steps = problem.setting == "online", problem.s == 1, settings.steps_of(problem)
    few, dear, offline = (min(steps, n) for n in (BATCH_STEPS, DEAR_SAMPLES, STEPS["offline"]))
    bio, ann = ("biorrr", problem.setting), ("ann", problem.setting)
    # All seeds stop together.
    alone, least = (partial(one, tol=0.0) for one in (analysis.OfflineBioRRR, analysis.CCALin))
    iqmd, net = (
        partial(one, online=online, tol=0.0) for one in (analysis.IQMD, analysis.TwoLayerANN)
    )
    # Whether it takes part; name, algorithm, steps; whose rates the paper prints, and where.
    runners: list[tuple[bool, str, Any, int, tuple[str, str] | None]] = [
        (online and settings.simulation, CIRCUIT, None, steps, bio),
        (online, problem.bio, analysis.OnlineBioRRR, steps, bio),
        (not online, problem.bio, alone, steps, bio),
        (online and cca, f"{problem.bio}, offline", alone, offline, ("biorrr", "offline")),
        (not cca, "IQMD", iqmd, dear, None),
        (not cca, "ANN", net, steps, ann),
        (online and cca, "MSG-CCA", analysis.CappedMSG, dear, None),
        (cca, "CCALin", least, few, None),
        (cca, "CCALin, 1 step", partial(least, gradient_steps=1), few, None),
        (cca, "SAA", partial(analysis.SAA, tol=0.0), few, None),
    ]
    for (runs, name, algorithm, own_steps, whose), k in product(runners, settings.k):
        if runs:
            printed = whose and settings.rates == "paper"
            rates = printed_rates(data, problem.s, k, *whose) if printed else None
            yield Contender(problem, name, algorithm, k, own_steps, rates)


def printed_rates(data: str, s: float, k: int, algorithm: str, setting: str) -> models.Rates | None:
    """Return the rates that the paper prints; None, for those that follow the data, where it prints
    none.
    """
    try:
        return models.Rates.paper(data, s, k, setting, algorithm)
    except InputError:
        return None


def plain_name(learner: str, k: int) -> str:
    """Return the prefix of the numbers of a learner at one rank."""
    return f"{''.join(c if c.isalnum() else '_' for c in learner.lower()).strip('_')}_k{k}"


def draw(results: xr.Dataset, problem: Problem, title: str, which: str) -> list[Figure]:
    """Return the figures of a problem: excess (Figs. 3 and 6), and the whitening constraint (Fig.
    5).
    """
    from biorrr.analysis.figures.races import plot_constraint, plot_race

    results = results.sel(rates=STABLE)
    learners = results["learner"].values.tolist()
    constrained = [one for one in learners if one == CIRCUIT or one.startswith("Bio")]
    mixed = any(one.endswith("offline") for one in learners)
    steps = "samples or iterations" if mixed else STEPS_ARE[problem.setting]
    note = (
        "MSG-CCA renews the inverse roots of its covariances whenever its samples have grown by 1 %"
    )
    excess = partial(plot_race, results, steps, title, note if "MSG-CCA" in learners else "")
    white = partial(plot_constraint, results.sel(learner=constrained), steps, title)
    return [Figure("compare", excess, which), Figure("constraint", white, which)]
