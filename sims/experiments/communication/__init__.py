"""Predict one area from another through few neurons, with the controls the field asks for.

The circuit learns the communication subspace (Semedo et al. 2019) of two areas recorded together,
V1 and V2 unless --data names a recording of yours, and stands beside exact reduced-rank regression
with the same ridge and folds. Whole trials are held out; R2 is pooled: squared errors over squared
deviations from the training mean, each summed over neurons and folds. Controls: targets within the
source's area, matched in number and rate; shuffled trials; lags; the areas' own dimensions; removed
predictive dimensions. `biorrr data --check FILE` says what is in a recording.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import Data, Planted
from biorrr.sims.data.published import V1V2
from biorrr.sims.lab import (
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    SettingsError,
    data_option,
    experiment,
    option,
)
from biorrr.sims.lazy import data_sets, np

LEARNED_SAMPLES = 90_000  # seen by each circuit unless epochs are set


@dataclass(frozen=True, kw_only=True)
class CommunicationSettings(ExperimentSettings):
    """Settings of ``biorrr communication``."""

    data: Data = data_option(V1V2())
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
    draws: int = option(25, "within-area targets drawn, matched in number and rate", at_least=0)
    shuffles: int = option(100, "shuffles of the trials, for the null hypothesis", at_least=0)
    lags: int = option(2, "time bins of lag to try either way", at_least=0)
    simulation: bool = option(True, "simulate circuits, or solve exactly alone")
    seed: int = option(
        0, "seed of the folds, the draws, the initial weights and the order of samples", at_least=0
    )

    @property
    def bin(self) -> float:
        """Seconds in a time bin: those of a recording, or 0.1."""
        return getattr(self.data, "bin", 0.1)

    @property
    def lag(self) -> float:
        """Seconds by which the target comes later than the source."""
        return getattr(self.data, "lag", 0.0)

    @property
    def target_name(self) -> str:
        """Name of the area that is predicted."""
        return getattr(self.data, "target", None) or "target"

    @property
    def source_name(self) -> str:
        """Name of the area that predicts."""
        return (
            "V1" if isinstance(self.data, V1V2) else getattr(self.data, "source", None) or "source"
        )


CAPTIONS = {
    "communication": (
        "Held-out prediction of a target area from the source through few neurons. Grey: the exact"
        " solution at each number of neurons (rank), with standard errors over folds. Circles:"
        " circuits that have learned, with standard deviations over seeds. Dotted: the full"
        " regression. The triangle marks the rank that cross- validation chooses, the smallest"
        " within one standard error of the best; weak dimensions are missed, so that it is a lower"
        " bound. The grey band spans the predictions with shuffled trials. Squares: matched targets"
        " within the source's own area."
    ),
    "dimensionality": (
        "Predictive dimensions of the target (filled) beside the dimensions that the target and the"
        " source share within themselves, by factor analysis (open). Where the filled symbol lies"
        " to the left of the target's open one, the few predictive dimensions do not follow from a"
        " simple target. Small squares are matched draws."
    ),
    "removal": (
        "Held-out prediction by full regression when the source's activity along its predictive"
        " dimensions is removed, one dimension after another. A curve that falls to zero depends on"
        " these dimensions alone; one that stays up uses others. Bars are standard errors over"
        " folds; the dotted line marks the chosen rank."
    ),
    "lags": (
        "Held-out prediction at the chosen rank when the target is taken later (positive lags) or"
        " earlier than the source, on the same bins of the source, with standard errors over folds."
    ),
}


@experiment(
    shows=(
        "one area predicted from another through few neurons (Semedo et al. 2019), in V1-V2 or your"
        " own recording"
    ),
    takes="1.5 min",
    paper="beyond it",
    measure=lambda settings: "shortfall" if settings.simulation else "rank",
    captions=CAPTIONS,
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
    from biorrr.analysis.figures import communication as figures
    from biorrr.sims.experiments.communication.areas import Areas
    from biorrr.sims.experiments.communication.questions import (
        Circuit,
        control,
        controls_of,
        draw,
        learn_fold,
    )
    from biorrr.sims.experiments.communication.results import join, notes_of, summary

    data = lab.load(settings.data)
    settings = fit(lab, settings, data)
    areas = Areas(data, settings)

    folds, ranks = range(settings.folds if settings.simulation else 0), settings.ranks
    circuits = [
        Circuit(fold, rank, seed)
        for fold in folds
        for rank in ranks
        for seed in settings.every_seed
    ]
    learned = lab.each(learn_fold, circuits, areas)
    controls = lab.each(control, controls_of(areas), areas)
    draws = lab.each(draw, range(settings.draws if len(areas.source) >= 4 else 0), areas)

    results = join(areas, learned, controls.values(), [*draws.values()])
    notes = [*data.notes, *notes_of(results)]
    quantities = [
        *(Quantity(name, getattr(settings, name)) for name in ("s", "ridge", "folds", "seeds")),
        *about(settings, data),
        *summary(results),
        *(
            Quantity(name, results.attrs[name])
            for name in ("engine", "seconds")
            if name in results.attrs
        ),
        Quantity("notes", "; ".join(notes)),
    ]
    drawn = {
        "communication": figures.plot_prediction,
        "dimensionality": figures.plot_dimensionality,
        "removal": figures.plot_removal,
    }
    if "lag_r2" in results:
        drawn["lags"] = figures.plot_lags
    return Findings(
        title=(
            f"{settings.data}: held-out R2, {settings.folds} folds of whole trials, s ="
            f" {settings.s:g}; data are centred"
        ),
        quantities=quantities,
        rows={"to note": "; ".join(notes)} if notes else {},
        data={"run": results},
        figures=[Figure(name, partial(function, results)) for name, function in drawn.items()],
    )


def about(settings: CommunicationSettings, data: data_sets.Dataset) -> list[Quantity]:
    """Return names and sizes of a recording."""
    rates = {"source": data.x_rates, "target": data.y_rates}
    return [
        Quantity("data", settings.data.name),
        Quantity("source", settings.source_name),
        Quantity("target", settings.target_name),
        Quantity("source_units", data.X.shape[1]),
        Quantity("target_units", data.Y.shape[1]),
        Quantity("trials", len(np.unique(data.trials))),
        Quantity("bins", len(data.X)),
        *(
            Quantity(f"{side}_rate", float(rate.mean()), "spikes/s")
            for side, rate in rates.items()
            if rate is not None
        ),
    ]


def fit(
    lab: Lab, settings: CommunicationSettings, data: data_sets.Dataset
) -> CommunicationSettings:
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
    filled = lab.fill_in(epochs=max(1, math.ceil(LEARNED_SAMPLES / training)))
    if filled.ridge is not None:
        return filled
    strata = data.strata if settings.residual == "condition" else None
    variance = (
        1.0
        if settings.zscore
        else float(np.square(residuals(data.X, strata, slice(None))[0]).mean())
    )
    return lab.set(ridge=0.1 * variance)
