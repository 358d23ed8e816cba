"""Predict one area from another through few neurons, with the controls the field asks for.

The circuit learns the communication subspace (Semedo et al. 2019) of two areas recorded together,
and stands beside exact reduced-rank regression with the same ridge and folds. --data names a
recording of yours, or v1v2, the published one; without it, spikes with three shared dimensions are
made up. Whole trials are held out; R2 is pooled: squared errors over squared
deviations from the training mean, each summed over neurons and folds. Controls: targets within the
source's area, matched in number, rate and R2; shuffled trials; lags; the areas' own dimensions;
removed predictive dimensions. `biorrr data --check FILE` says what is in a recording.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from biorrr.sims.data import Data, Dataset, Planted
from biorrr.sims.lab import (
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
    quantities,
)
from biorrr.sims.lazy import np, xr

if TYPE_CHECKING:
    from biorrr.analysis.communication import TwoAreas

LEARNED_SAMPLES = 90_000  # seen by each circuit unless epochs are set
MOST_REMOVED = 10  # predictive dimensions
SIGNIFICANT = 0.05


class CommunicationSettings(ExperimentSettings):
    """Settings of ``biorrr communication``."""

    data: Data = data_option("planted")
    residual: str = option(
        "condition",
        "take residuals around the condition's mean in each time bin, or none",
        choices=("condition", "none"),
    )
    zscore: bool = option(
        False, "divide each unit by its standard deviation over the training trials"
    )
    ranks: tuple[int, ...] = option(
        (1, 2, 3, 4, 6), "pyramidal neurons; may be repeated", at_least=1
    )
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    folds: int = option(10, "parts of the trials, each held out once", at_least=2)
    epochs: int | None = option(
        None,
        "passes over the training trials, by default as many as make 90,000 samples",
        at_least=1,
    )
    ridge: float | None = option(
        None, "added to Cxx and Cyy, 0.1 * trace(Cxx)/m by default", at_least=0
    )
    draws: int = option(25, "within-area targets drawn, matched in number, rate and R2", at_least=0)
    shuffles: int = option(100, "shuffles of the trials, for the null hypothesis", at_least=0)
    lags: int = option(2, "time bins of lag to try either way", at_least=0)
    simulation: bool = option(True, "simulate circuits, or solve exactly alone")
    seed: int = option(
        0, "seed of the folds, the draws, the initial weights and the order of samples", at_least=0
    )


@experiment(
    shows=(
        "one area predicted from another through few neurons (Semedo et al. 2019), in V1-V2 or your"
        " own recording"
    ),
    takes="1.5 min",
    paper="beyond it",
    measure=lambda settings: "shortfall" if settings.simulation else "rank",
    captions={
        "communication": (
            "Held-out prediction of a target area from the source through few neurons. Grey: the"
            " exact solution at each number of neurons (rank), with standard errors over folds."
            " Circles: circuits that have learned, with standard deviations over seeds. Dotted: the"
            " full regression. The triangle marks the rank that cross-validation chooses, the"
            " smallest within one standard error of the best: {rank}, with an R2 of {r2}; the full"
            " regression has {full_r2}. It misses weak dimensions, and is no bound. The grey band"
            " spans the predictions with shuffled trials, at ranks chosen anew. Squares: matched"
            " targets within the source's own area."
        ),
        "dimensionality": (
            "Predictive dimensions of the target (filled) beside the dimensions that the target and"
            " the source share within themselves, by factor analysis (open). Where the filled"
            " symbol lies to the left of the target's open one, the few predictive dimensions do"
            " not follow from a simple target: there are {rank}, and {target_dimensionality} of the"
            " target's own. Small symbols are matched draws, with noise added to the target that"
            " was predicted better, until both have the same R2."
        ),
        "removal": (
            "Held-out prediction by full regression when the source's activity along its predictive"
            " dimensions is removed, one dimension after another: {removed_r2} without the {rank}"
            " of the chosen rank, {full_r2} with all. A curve that falls to zero depends on these"
            " dimensions alone; one that stays up uses others. Bars are standard errors over folds;"
            " the dotted line marks the chosen rank."
        ),
        "lags": (
            "Held-out prediction at the chosen rank when the target is taken later (positive lags)"
            " or earlier than the source, on the same bins of the source, with standard errors over"
            " folds. It is best at {best_lag}."
        ),
    },
    small={
        "data": Planted(trials=30, bins=4, source_units=16, target_units=6),
        "ranks": (1, 2),
        "folds": 2,
        "epochs": 1,
        "shuffles": 2,
        "draws": 1,
        "lags": 1,
        "engine": "numpy",
    },
)
def communication(lab: Lab, settings: CommunicationSettings) -> Findings:
    """Predict the target from the source, by circuits and exactly, with all controls."""
    from biorrr.analysis.communication import TwoAreas
    from biorrr.analysis.figures import between_areas as figures

    data = lab.load(settings.data)
    settings = fit(lab, settings, data)
    rates = {"source": data.x_rates, "target": data.y_rates}
    rates = {side: rate for side, rate in rates.items() if rate is not None}
    areas = TwoAreas(
        X=data.X,
        Y=data.Y,
        trials=data.trials,
        strata=data.strata if settings.residual == "condition" else None,
        rates=(rates["source"], rates["target"]) if len(rates) == 2 else None,
        folds=settings.folds,
        zscore=settings.zscore,
        s=settings.s,
        ridge=settings.ridge or 0.0,
        seed=settings.seed,
    )

    folds = range(settings.folds if settings.simulation else 0)
    over = {"fold": folds, "rank": settings.ranks, "seed": settings.every_seed}
    learned = lab.map(learn_fold, over, areas)
    most = min(settings.lags, (areas.bins - 1) // 2)
    lags = range(-most, most + 1) if most else ()
    draws = range(settings.draws if len(areas.source) >= 4 else 0)
    answers = [
        lab.map(ask, {}, areas, "exact_results", MOST_REMOVED),
        lab.map(ask, {"shuffle": range(settings.shuffles)}, areas, "shuffled"),
        lab.map(ask, {"lag": lags}, areas, "lagged", most),
        lab.map(ask, {"draw": draws}, areas, "drawn"),
    ]

    results = xr.merge([one for one in answers if one.data_vars])
    if most:
        width, later = getattr(settings.data, "bin", 0.1), getattr(settings.data, "lag", 0.0)
        results = results.assign_coords(lag=results["lag"] * width + later)
    sides = {side: getattr(settings.data, side, None) or side for side in ("source", "target")}
    results.attrs["areas"] = " to ".join(sides.values())
    run: dict[str, Any] = {}
    if settings.simulation:
        results["circuit_r2"] = 1 - learned["error"].sum("fold") / results["deviations"]
        run = {"engine": learned.attrs.get("engine", settings.engine)}
        run["seconds"] = learned["seconds"].sum()
    notes = [*data.notes]
    if settings.shuffles:
        r2 = results["exact_r2"].sel(k=results["chosen_rank"])
        higher = (results["null_r2"] >= r2).sum()
        results["null_p"] = (1 + higher) / (1 + settings.shuffles)
        notes += note_on(float(results["null_p"]), settings.shuffles)
    known: dict[str, Any] = {
        **{name: getattr(settings, name) for name in ("s", "ridge", "folds", "seeds")},
        "data": settings.data.name,
        **sides,
        "source_units": data.X.shape[1],
        "target_units": data.Y.shape[1],
        "trials": len(np.unique(data.trials)),
        "bins": len(data.X),
        **{f"{side}_rate": (rate.mean(), "spikes/s") for side, rate in rates.items()},
    }
    drawn = {
        "communication": figures.plot_prediction,
        "dimensionality": figures.plot_dimensionality,
        "removal": figures.plot_removal,
        **({"lags": figures.plot_lags} if most else {}),
    }
    return Findings(
        title=(
            f"{settings.data}: held-out R2, {settings.folds} folds of whole trials, s ="
            f" {settings.s:g}; data are centred"
        ),
        quantities=[
            *quantities(known),
            *summary(results, settings),
            *(of_draws(results) if settings.draws and "within_rank" in results else ()),
            *quantities(run),
            *quantities({"notes": "; ".join(notes)}),
        ],
        rows={"to note": "; ".join(notes)} if notes else {},
        data={"run": results},
        figures=[Figure(name, partial(function, results)) for name, function in drawn.items()],
    )


def fit(lab: Lab, settings: CommunicationSettings, data: Dataset) -> CommunicationSettings:
    """Work out ridge and epochs unless they are set, and leave out ranks that the data do not
    allow.
    """
    from biorrr.analysis.regression.rank import residuals

    m, n = data.X.shape[1], data.Y.shape[1]
    trials = len(np.unique(data.trials))
    if settings.folds > trials:
        raise SettingsError(
            f"folds: must not exceed the number of trials, {trials} (got {settings.folds})"
        )
    if min(settings.ranks) > min(m, n):
        raise SettingsError(
            f"ranks: must not exceed the number of units, {m} in the source and {n} in the target"
            f" (got {min(settings.ranks)})"
        )
    lab.set(ranks=tuple(rank for rank in settings.ranks if rank <= min(m, n)))
    # 25 epochs of the published data, whose folds leave 3,600 samples for training.
    training = len(data.X) * (settings.folds - 1) / settings.folds
    strata = data.strata if settings.residual == "condition" else None
    centred = residuals(data.X, strata, slice(None))[0]
    variance = 1.0 if settings.zscore else float(np.square(centred).mean())
    return lab.fill_in(epochs=max(1, math.ceil(LEARNED_SAMPLES / training)), ridge=0.1 * variance)


def learn_fold(task: Task, areas: TwoAreas, fold: int, rank: int, seed: int) -> xr.Dataset:
    """Return the squared error with which a circuit predicts the trials of a fold from all
    others.
    """
    x_train, y_train, x_test, y_test = areas.fold(fold)
    circuit = task.settings.make_circuit(k=rank, s=areas.s, ridge=areas.ridge, seed=seed)
    epochs = task.settings.epochs
    run = task.run(circuit, x_train, y_train, epochs=epochs, centre=True, record=(), snapshots=1)
    error = np.square(y_test - run.predict(x_test)).sum()
    found = {"error": error, "seconds": run.data.attrs["seconds"]}
    return xr.Dataset(found, attrs={"engine": run.data.attrs["engine"]})


def ask(task: Task, areas: TwoAreas, question: str, *known: int, **at: int) -> Any:
    """Return the answer of a method of the two areas."""
    return getattr(areas, question)(*known, **at)


def summary(results: xr.Dataset, settings: CommunicationSettings) -> list[Quantity]:
    """Return all numbers but those of draws; those that belong together share a row of the
    table.
    """
    exact, chosen, found = results["exact_r2"], int(results["chosen_rank"]), []
    for rank in settings.ranks:
        here: dict[str, Any] = {}
        if settings.simulation:
            circuits = results["circuit_r2"].sel(rank=rank)
            spread = circuits.std() if circuits.size > 1 else None
            here[f"circuit_r2_{rank}"] = circuits.mean(), "", "circuit", spread
        here[f"exact_r2_{rank}"] = exact.sel(k=rank), "", "exact"
        found += quantities(here, f"held-out R2, rank {rank}")
    if settings.simulation:
        below = exact.sel(k=results["rank"]) - results["circuit_r2"].mean("seed")
        found += quantities({"shortfall": (below.max(), "", "circuit below exact R2, at most")})
    found += quantities({"full_r2": (exact[-1], "", "held-out R2, full rank")})
    of_rank = {
        "rank": (chosen, "", "rank"),
        "r2": (exact.sel(k=chosen), "", "R2"),
        "r2_sem": (results["exact_r2_sem"].sel(k=chosen), "", "standard error over folds"),
    }
    found += quantities(of_rank, "chosen rank")
    shared = {
        f"{side}_dimensionality": (results[f"{side}_dimensionality"], "", side)
        for side in ("source", "target")
    }
    found += quantities(shared, "shared dimensions, factor analysis")
    removed = results["removed_r2"].sel(removed=min(chosen, results.sizes["removed"] - 1))
    words = "full R2 without the predictive dimensions"
    found.append(Quantity("removed_r2", removed, "", words))
    if settings.shuffles:
        null = {
            "null_r2": (results["null_r2"].mean(), "", "R2"),
            "null_r2_sd": (results["null_r2"].std(), "", "standard deviation"),
            "null_p": (results["null_p"], "", "p"),
        }
        found += quantities(null, "null hypothesis, trials shuffled")
    if "lag_r2" in results:
        found.append(Quantity("best_lag", results["lag_r2"].idxmax(), "s", "best lag"))
    return found


def of_draws(results: xr.Dataset) -> list[Quantity]:
    """Return the means over matched draws, with standard deviations over draws, and the answer."""
    from biorrr.analysis.communication import fewer_dimensions

    draws, units = results.sizes["draw"], int(results["draw_units"][0])
    found = quantities({"draws": draws, "draw_units": units})
    columns = {
        "r2": ("R2", "{}_r2_at_rank", ""),
        "rank": ("rank", "{}_rank", ""),
        "equal_rank": ("rank at equal R2", "equal_{}_rank", ""),
        "rate": ("rate", "{}_rate", "spikes/s"),
        "dimensionality": ("shared dimensions", "{}_dimensionality", ""),
    }
    places = {"within": "within the source's area", "across": "across areas, from the same units"}
    for name, where in places.items():
        here: dict[str, Any] = {}
        for key, (words, variable, unit) in columns.items():
            values = results.get(variable.format(name))
            if values is not None and values.notnull().any():
                here[f"{name}_{key}"] = values.mean(), unit, words, values.std()
        found += quantities(here, f"{draws} draws of {units} matched units, {where}")
    answer = fewer_dimensions(results["equal_within_rank"], results["equal_across_rank"])
    return [*found, Quantity("fewer_across", answer, "", "fewer dimensions across areas")]


def note_on(p: float, shuffles: int) -> list[str]:
    """Return what the null hypothesis says against the result."""
    if p <= SIGNIFICANT:
        return []
    if p == 1 / (1 + shuffles):
        return [f"{shuffles} shuffles are too few to find p below {SIGNIFICANT:g}"]
    return [
        f"the target is not predicted better than with shuffled trials (p = {p:.2g}), so its rank"
        " means nothing"
    ]
