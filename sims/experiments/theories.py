"""Compare rival theories of learning in dendrites with one exact solution, on the same samples.

Backprop, feedback alignment, Sacramento's microcircuit, burst-dependent plasticity, Bio-CCA and
Bio-RRR learn in the linear regime, in which a law says where fixed feedback must end. The rate of
each is that of the same few candidates with the smallest excess. Data are centred, of mean square
1; the ridge is noise.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from biorrr.sims.data import SMALL_DATA, Data, Dataset
from biorrr.sims.lab import (
    PERCENT,
    BasicSettings,
    Claim,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    compiled_if_possible,
    completed,
    data_option,
    experiment,
    option,
)
from biorrr.sims.lazy import analysis, circuits, models, np, xr
from biorrr.sims.words import counted, snake

if TYPE_CHECKING:
    from biorrr.models.theories import Theory

RIDGE = 0.1  # of data of mean square 1, as noise of the fibres
NOT_LEARNED = 1.0  # excess of filters that explain nothing: what a circuit that diverged is given
SEARCH_SEEDS = (1000, 1001)  # beyond the seed of the experiment: none of the runs that are judged
CONVERGED = 200_000  # samples below which nothing is judged
BELOW, ABOVE = -math.inf, math.inf
FROM_LAW = (BELOW, 0.015)  # largest distance of the excess from law 1
# Each theory with what it is made of, and the bound of its excess.
THEORIES = {
    "backprop": ("FeedbackAlignment", {"feedback": "backprop"}, (BELOW, 0.01)),
    "learned feedback": ("FeedbackAlignment", {"feedback": "learned"}, (BELOW, 0.01)),
    "fixed feedback": ("FeedbackAlignment", {"feedback": "fixed"}, (0.02, ABOVE)),
    "Sacramento, learned": ("Sacramento", {}, (BELOW, 0.02)),
    "Sacramento, fixed": ("Sacramento", {"learned": False}, (0.02, ABOVE)),
    "bursts": ("BurstDependent", {}, (BELOW, 0.02)),
    "bursts, not cancelled": ("BurstDependent", {"cancelling": False}, (0.03, ABOVE)),
    "Bio-CCA": ("BioCCA", {}, (BELOW, 0.01)),
    "Bio-RRR": ("BioRRR", {}, (BELOW, 0.02)),
}


class TheoriesSettings(BasicSettings, seeds=3):
    """Settings of ``biorrr theories``."""

    data: tuple[Data, ...] = data_option(("digits", "synthetic"))
    theories: tuple[str, ...] = option(
        ("all",), "which to try; may be repeated", choices=("all", *THEORIES)
    )
    k: int = option(2, "pyramidal neurons, the rank of the regression", short="k", at_least=1)
    samples: int = option(200_000, "samples each theory sees", at_least=1)
    rates: tuple[float, ...] = option(
        (0.03, 0.1, 0.3, 1.0),
        "candidates for the first rate, times the features of x or y, whichever are more; may be"
        " repeated",
        at_least=0,
    )
    draws: int = option(
        300, "draws of fixed feedback for which law 1 predicts the excess", at_least=2
    )
    simulated_draws: int = option(
        50, "of these draws, how many are simulated with fixed feedback", at_least=0
    )

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the theories to try."""
        return tuple(name for name in THEORIES if {"all", name} & set(self.theories))


@experiment(
    shows="[rival theories](docs/theories.md) of learning in dendrites, beside one exact solution",
    takes="8 min",
    paper="beyond it",
    measure=lambda settings: snake(settings.data[0].name, settings.chosen[0], "excess"),
    captions={
        "theories": (
            "Rival theories on the same samples, one dot per seed. From left to right: excess over"
            " the optimum of each theory (RRMSE, of Bio-CCA also CCA), with ticks where law 1"
            " predicts it; participation ratio and whitening error of the outputs. A theory that"
            " diverges has an excess of 100 % and no other scores."
        ),
    },
    small={
        "data": (SMALL_DATA,),
        "theories": ("Bio-RRR", "fixed feedback"),
        "samples": 200,
        "rates": (0.1,),
        "draws": 3,
        "simulated_draws": 1,
        "seeds": 1,
    },
)
def theories(lab: Lab, settings: TheoriesSettings) -> Findings:
    """Let every theory learn every data set at its best rate, and score it."""
    from biorrr.analysis.figures.races import plot_theories

    # Many short runs share a circuit.
    settings = lab.set(engine=compiled_if_possible(settings.engine))
    for data in settings.data:
        lab.load(data, settings.k)
    found = [compete(lab, scaled(lab.load(data))) for data in settings.data]
    results = xr.concat(found, dim="data").assign_coords(data=[one.name for one in settings.data])
    results = results.assign_attrs(k=settings.k, samples=settings.samples)
    measures = {
        (data.name, theory): [*measured(results, data.name, theory)]
        for data in settings.data
        for theory in settings.chosen
    }
    claims = judge(results, measures)
    return Findings(
        title=(
            f"{len(settings.chosen)} theories, k = {settings.k}, {counted(settings.seeds, 'seed')},"
            f" {settings.samples:,} samples; each at the best of {len(settings.rates)} rates; data"
            " are centred and of mean square 1"
        ),
        quantities=[
            *(Quantity(name, getattr(settings, name)) for name in ("k", "samples", "seeds")),
            Quantity("engine", settings.engine),
            *(one for those in measures.values() for one in those),
            Quantity("bounds", len(claims)),
            Quantity("bounds_held", sum(claim.holds is True for claim in claims)),
        ],
        data={"run": results},
        figures=[Figure("theories", partial(plot_theories, results))],
        own_tests=claims,
    )


def compete(lab: Lab, data: Dataset) -> xr.Dataset:
    """Let each theory learn the data at its best rate, and return all scores by theory and seed.

    The best rate has the smallest excess over the optimum of the theory's own problem. The larger
    of two seeds counts, and neither is among those that are judged.
    """
    settings, names = lab.settings, lab.settings.chosen
    seeds = [settings.seed + seed for seed in SEARCH_SEEDS]
    tried = lab.map(learn, {"theory": names, "relative": settings.rates, "seed": seeds}, data)
    best = tried["own_excess"].max("seed").idxmin("relative")
    rates = {"relative": ("theory", best.values.tolist())}
    over = {"theory": ("theory", [*names]), **rates, "seed": settings.every_seed}
    found = lab.map(learn, over, data).rename(relative="rate").reset_coords("rate")
    if "fixed feedback" not in names:
        return found
    drawn = [settings.seed + number for number in range(settings.draws)]
    fixed = float(best.sel(theory="fixed feedback"))
    over = {"theory": ("one", ["fixed feedback"]), "relative": ("one", [fixed])}
    ends = lab.map(learn, over | {"seed": drawn[: settings.simulated_draws]}, data)
    laws = [predicted(make("fixed feedback", settings.k), seed, data) for seed in drawn]
    ends = ends["excess"].isel(one=0).rename(seed="simulated").drop_vars(("theory", "relative"))
    return found.assign(drawn_excess=ends, drawn_law=("draw", laws))


def make(name: str, k: int, rate: models.Rate | None = None) -> Theory:
    """Return a theory with ``k`` cells."""
    from biorrr.models import theories

    cls, options, _ = THEORIES[name]
    theory = getattr(theories, cls)(k=k, ridge=RIDGE, **options)  # type: ignore[arg-type]
    return theory if rate is None else replace(theory, rate=rate)


def scaled(data: Dataset) -> Dataset:
    """Return the data, centred and of mean square 1."""
    views = [np.asarray(one, dtype=float) - one.mean(axis=0) for one in (data.X, data.Y)]
    X, Y = (one / np.sqrt(np.square(one).mean()) for one in views)
    return replace(data, X=X, Y=Y)


def rate_of(relative: float, data: Dataset, halving: float = math.inf) -> models.Rate:
    """Return the rate: ``relative`` over the number of features of x or of y, whichever is
    larger.
    """
    return models.Rate(relative / max(data.X.shape[1], data.Y.shape[1]), halving)


def learn(task: Task, data: Dataset, theory: str, relative: float, seed: int) -> dict[str, float]:
    """Return the scores of a theory that learns from one seed, at a relative rate at first; NaN
    where it diverged.

    ``excess`` is over the optimum of RRMSE, ``own_excess`` over that of the problem which the
    theory was published for, CCA for Bio-CCA.
    """
    settings, rng = task.settings, np.random.default_rng(seed)
    one = make(theory, settings.k, rate_of(relative, data, settings.samples / 20))
    order = rng.integers(len(data.X), size=settings.samples)
    circuit = circuits.Circuit(**one.layout(data.Y.shape[1]), engine=settings.engine, seed=seed)
    scores = {
        "excess": NOT_LEARNED,
        "own_excess": NOT_LEARNED,
        "law": predicted(one, seed, data),
        **dict.fromkeys(("participation", "whitening", "correlation"), math.nan),
    }
    try:
        # Of constant columns: the same for all theories.
        with warnings.catch_warnings(action="ignore"):
            run = circuit.run(data.X, data.Y, order=order, snapshots=1, record=(), progress=False)
            filters = completed(run).weights[one.filters]
    except circuits.Diverged:
        return scores
    exact = {s: analysis.ExactSolution(data.X, data.Y, s, RIDGE) for s in {0.0, one.s}}
    power = exact[0.0].gram(filters)
    deviations = np.sqrt(np.diag(power))
    pairs = np.abs(power / np.outer(deviations, deviations))[np.triu_indices(len(power), 1)]
    return scores | {
        "excess": min(float(exact[0.0].excess(filters)), NOT_LEARNED),
        "own_excess": min(float(exact[one.s].excess(filters)), NOT_LEARNED),
        "participation": analysis.participation_ratio(power),
        "whitening": float(exact[0.0].whitening_error(filters)),
        "correlation": float(pairs.mean()) if pairs.size else 0.0,
    }


def predicted(theory: Theory, seed: int, data: Dataset) -> float:
    """Return the excess that law 1 predicts where feedback is fixed; NaN for other theories."""
    m, n = data.X.shape[1], data.Y.shape[1]
    if not any(p.weight == "B" and not p.plastic for p in theory.parts(n).pathways):
        return math.nan
    B = theory.start(m, n, seed)["B"]
    return analysis.fixed_feedback_law(B, data.X, data.Y, RIDGE).excess


def measured(results: xr.Dataset, data: str, theory: str) -> Iterator[Quantity]:
    """Yield the measures of one theory on one data set, each with its bound."""
    one, row = results.sel(data=data, theory=theory), f"{data}: {theory}"
    # Bio-CCA is bounded on its own problem.
    own = "own_excess" if theory == "Bio-CCA" else "excess"
    bounds = {own: THEORIES[theory][2], "from_law": FROM_LAW}
    from_law = abs(one["excess"] - one["law"]).max("seed")
    measures = {
        "excess": (one["excess"], PERCENT, "excess"),
        "own_excess": (one["own_excess"], PERCENT, "excess of CCA"),
        "law": (one["law"], PERCENT, "law 1"),
        "from_law": (from_law, PERCENT, "largest distance from law 1"),
        "participation": (one["participation"], "", "participation ratio"),
        "correlation": (one["correlation"], "", "mean |correlation|"),
        "whitening": (one["whitening"], "", "whitening error"),
    }
    if theory != "Bio-CCA":
        del measures["own_excess"]
    if "fixed" not in theory:
        del measures["law"], measures["from_law"]
    if theory == "fixed feedback":
        drawn = results.sel(data=data)
        measures["drawn_excess"] = drawn["drawn_excess"], PERCENT, "of further draws"
        measures["drawn_law"] = drawn["drawn_law"], PERCENT, "law 1 of draws of B"
    for name, (values, unit, words) in measures.items():
        known = values.size and values.notnull().all()
        mean = values.mean() if known else None
        spread: Any = values.std(ddof=1) if known and values.size > 1 else None
        key, bound = snake(data, theory, name), bounds.get(name)
        yield Quantity(key, mean, unit, words, spread, bound, row)
    yield Quantity(snake(data, theory, "rate"), one["rate"])


def judge(results: xr.Dataset, found: Mapping[tuple[str, str], Sequence[Quantity]]) -> list[Claim]:
    """Compare all that was bounded beforehand with its bounds; ``found`` are the measures by data
    set and theory.
    """
    samples, few = results.attrs["samples"], results.attrs["samples"] < CONVERGED
    why = f"fewer than {CONVERGED:,} samples: learning has not come to its end" if few else ""
    return [
        Claim.about(
            one,
            f"{theory}: {one.words}",
            data=data,
            k=results.attrs["k"],
            unjudged=why,
            run=f"{counted(results.sizes['seed'], 'seed')}, {samples:,} samples",
            value=math.nan if one.value is None else one.value,
        )
        for (data, theory), those in found.items()
        for one in those
        if one.bound
    ]
