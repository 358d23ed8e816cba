"""Predict one area from another through few neurons, with the controls the field asks for.

The circuit learns the communication subspace (Semedo et al. 2019) of two areas recorded together, V1 and V2 unless
--data names a recording of yours, and stands beside exact reduced-rank regression with the same ridge and folds. Whole
trials are held out; R2 is pooled: squared errors over squared deviations from the training mean, each summed over
neurons and folds. Controls: targets within the source's area, matched in number and rate; shuffled trials; lags; the
areas' own dimensions; removed predictive dimensions. `biorrr data --check FILE` says what is in a recording.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import Samples
from biorrr.sims.data.kinds import V1V2
from biorrr.sims.lab import ExperimentSettings, Figure, Findings, Lab, Quantity, SettingsError, experiment, option
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP
from biorrr.sims.lazy import data_sets, np, xr

PUBLISHED = V1V2()  # of which both targets are predicted, V2 and, as a control, other V1 neurons
TARGETS = ("V2", "V1")
LEARNED_SAMPLES = 90_000  # seen by each circuit unless epochs are set


@dataclass(frozen=True, kw_only=True)
class CommunicationSettings(ExperimentSettings):
    """Settings of ``biorrr communication``."""

    data: Samples = option(PUBLISHED, f"v1v2, which has both targets, or {DATA_HELP}", metavar=DATA_FORM)
    residual: str = option(
        "condition",
        "take residuals around the condition's mean in each time bin, or none",
        choices=("condition", "none"),
    )
    zscore: bool = option(False, "divide each unit by its standard deviation over the training trials")
    ranks: tuple[int, ...] = option((1, 2, 3, 4, 6), "pyramidal neurons; may be repeated", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    folds: int = option(10, "parts of the trials, each held out once", at_least=2)
    epochs: int | None = option(
        None, "passes over the training trials, by default as many as make 90,000 samples", at_least=1
    )
    ridge: float | None = option(None, "added to Cxx and Cyy, 0.1 * trace(Cxx)/m by default", at_least=0)
    draws: int = option(25, "within-area targets drawn, matched in number and rate", at_least=0)
    shuffles: int = option(100, "shuffles of the trials, for the null hypothesis", at_least=0)
    lags: int = option(2, "time bins of lag to try either way", at_least=0)
    simulation: bool = option(True, "simulate circuits, or solve exactly alone")
    seed: int = option(0, "seed of the folds, the draws, the initial weights and the order of samples", at_least=0)

    @property
    def every_data(self) -> tuple[Samples, ...]:
        """The published recording, with one and the other area to be predicted; or what is set."""
        return tuple(V1V2(target=target) for target in TARGETS) if self.data == PUBLISHED else (self.data,)

    @property
    def bin(self) -> float:
        """Seconds in a time bin: those of a recording, or 0.1."""
        return getattr(self.data, "bin", 0.1)

    @property
    def lag(self) -> float:
        """Seconds by which the target comes later than the source."""
        return getattr(self.data, "lag", 0.0)

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the areas that are predicted."""
        return TARGETS if self.data == PUBLISHED else (getattr(self.data, "target", None) or "target",)

    @property
    def source_name(self) -> str:
        """Name of the area that predicts."""
        return "V1" if isinstance(self.data, V1V2) else getattr(self.data, "source", None) or "source"


CAPTIONS = {
    "communication": "Held-out prediction of a target area from the source through few neurons. Grey: the exact "
    "solution at each number of neurons (rank), with standard errors over folds. Circles: circuits that have learned, "
    "with standard deviations over seeds. Dotted: the full regression. The triangle marks the rank that cross- "
    "validation chooses, the smallest within one standard error of the best; weak dimensions are missed, so that it "
    "is a lower bound. The grey band spans the predictions with shuffled trials. Squares: matched targets within the "
    "source's own area.",
    "dimensionality": "Predictive dimensions of each target (filled) beside the dimensions that the target and the "
    "source share within themselves, by factor analysis (open). Where the filled symbol lies to the left of the "
    "target's open one, the few predictive dimensions do not follow from a simple target. Small squares are matched "
    "draws.",
    "removal": "Held-out prediction by full regression when the source's activity along its predictive dimensions is "
    "removed, one dimension after another. A curve that falls to zero depends on these dimensions alone; one that "
    "stays up uses others. Bars are standard errors over folds, or standard deviations over matched draws.",
    "lags": "Held-out prediction at the chosen rank when the target is taken later (positive lags) or earlier than "
    "the source, on the same bins of the source, with standard errors over folds.",
    "dendrites": "The circuit's prediction for apical dendrites of the target: the distal current that the "
    "target's activity causes, the inhibition that predicts it from the source, and the plateau that is left. "
    "On the right, the size of distal currents and plateaus over the time of a trial.",
}


def measure(settings: CommunicationSettings) -> str:
    """Return the name of the circuit's shortfall from the exact solution; without circuits, of the rank."""
    what = "shortfall" if settings.simulation else "rank"
    return f"V2_{what}" if settings.data == PUBLISHED else what


@experiment(
    shows="one area predicted from another through few neurons (Semedo et al. 2019), in V1-V2 or your own recording",
    takes="1.5 min",
    paper="beyond it",
    measure=measure,
    captions=CAPTIONS,
    small={
        "data": "planted:trials=30,bins=4,source_units=16,target_units=6", "ranks": (1, 2), "folds": 2, "epochs": 1,
        "shuffles": 2, "draws": 1, "lags": 1, "engine": "numpy",
    },
)  # fmt: skip
def communication(lab: Lab, settings: CommunicationSettings) -> Findings:
    """Predict each target from the source, by circuits and exactly, with all controls."""
    from biorrr.sims.experiments.communication.areas import Areas
    from biorrr.sims.experiments.communication.questions import answer, questions
    from biorrr.sims.experiments.communication.results import Target, join, write_supplement

    recordings = [lab.load(value) for value in settings.every_data]
    for data in recordings:
        settings = fit(lab, settings, data)
    targets, notes = [], [*dict.fromkeys(note for data in recordings for note in data.notes)]
    for data, name in zip(recordings, settings.target_names, strict=True):
        areas = Areas(data, settings)

        found = lab.map(answer, questions(areas, settings), areas)

        targets.append(Target(f"{name}_" if len(recordings) > 1 else "", name, join(areas, settings, found)))
    each = [one.results for one in targets]
    results = xr.concat(each, dim="target", combine_attrs="drop", join="outer")
    results = results.assign_coords(target=list(settings.target_names))
    quantities = [Quantity(name, getattr(settings, name)) for name in ("s", "ridge", "folds", "seeds")]
    if len(recordings) == 1:
        quantities += about(settings, recordings[0])
    for one in targets:
        quantities += one.quantities(settings.ranks)
        notes += one.notes
    if settings.simulation:
        results.attrs |= {"engine": each[0].attrs["engine"], "seconds": sum(one.attrs["seconds"] for one in each)}
        quantities += [Quantity(name, results.attrs[name]) for name in ("engine", "seconds")]
    quantities.append(Quantity("notes", "; ".join(notes)))
    return Findings(
        title=f"{settings.data}: held-out R2, {settings.folds} folds of whole trials, s = {settings.s:g}; "
        "data are centred",
        quantities=quantities,
        rows={"to note": "; ".join(notes)} if notes else {},
        data={"run": results},
        figures=draw(settings, {f"{settings.source_name} to {one.name}": one.results for one in targets}),
        files={"supplement.csv": partial(write_supplement, quantities=quantities, settings=settings)},
    )


def about(settings: CommunicationSettings, data: data_sets.Dataset) -> list[Quantity]:
    """Return names and sizes of a recording."""
    trials = len(data.X) if data.groups is None else len(np.unique(data.groups))
    rates = {"source": data.x_rates, "target": data.y_rates}
    return [
        Quantity("data", settings.data.name),
        Quantity("source", settings.source_name),
        Quantity("target", settings.target_names[0]),
        Quantity("source_units", data.X.shape[1]),
        Quantity("target_units", data.Y.shape[1]),
        Quantity("trials", trials),
        Quantity("bins", len(data.X)),
        *(Quantity(f"{side}_rate", float(rate.mean()), "spikes/s") for side, rate in rates.items() if rate is not None),
    ]


def draw(settings: CommunicationSettings, results: dict[str, xr.Dataset]) -> list[Figure]:
    """Return the figures, of results by source and target."""
    from biorrr.analysis.figures import communication as figures

    first = next(iter(results.values()))
    drawn = {
        "communication": partial(figures.plot_prediction, results),
        "dimensionality": partial(figures.plot_dimensionality, results),
        "removal": partial(figures.plot_removal, results),
    }
    if "lag_r2" in first:
        drawn["lags"] = partial(figures.plot_lags, results)
    if "plateau" in first:
        drawn["dendrites"] = partial(figures.plot_dendrites, first, settings.bin, settings.target_names[0])
    return [Figure(name, function) for name, function in drawn.items()]


def fit(lab: Lab, settings: CommunicationSettings, data: data_sets.Dataset) -> CommunicationSettings:
    """Work out ridge and epochs unless they are set, and leave out ranks that the data do not allow."""
    from biorrr.analysis.regression.rank import residuals

    m, n = data.X.shape[1], data.Y.shape[1]
    trials = len(data.X) if data.groups is None else len(np.unique(data.groups))
    if settings.folds > trials:
        raise SettingsError(f"folds: must not exceed the number of trials, {trials} (got {settings.folds})")
    if min(settings.ranks) > min(m, n):
        raise SettingsError(
            f"ranks: must not exceed the number of units, {m} in the source and {n} in the target (got "
            f"{min(settings.ranks)})"
        )
    lab.set(ranks=tuple(rank for rank in settings.ranks if rank <= min(m, n)))
    # 25 epochs of the published data, whose folds leave 3,600 samples for training.
    training = len(data.X) * (settings.folds - 1) / settings.folds
    filled = lab.fill_in(epochs=max(1, math.ceil(LEARNED_SAMPLES / training)))
    if filled.ridge is not None:
        return filled
    strata = data.strata if settings.residual == "condition" else None
    variance = 1.0 if settings.zscore else float(np.square(residuals(data.X, strata, slice(None))[0]).mean())
    return lab.set(ridge=0.1 * variance)
