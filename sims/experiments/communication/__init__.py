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

from biorrr.sims.data import Samples
from biorrr.sims.data.kinds import V1V2
from biorrr.sims.lab import Chart, ExperimentSettings, Findings, Lab, SettingsError, View, experiment, option
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP
from biorrr.sims.lazy import data_sets, np

PUBLISHED = V1V2()  # of which both targets are predicted, V2 and, as a control, other V1 neurons
TARGETS = ("V2", "V1")
LEARNED_SAMPLES = 90_000  # of each circuit, unless told otherwise


@dataclass(frozen=True, kw_only=True)
class CommunicationSettings(ExperimentSettings):
    """Settings of ``biorrr communication``."""

    data: Samples = option(PUBLISHED, f"v1v2, which has both targets, or {DATA_HELP}", metavar=DATA_FORM)
    residual: str = option(
        "condition",
        "take residuals around the condition's mean in each time bin, or none",
        choices=("condition", "none"),
    )
    ranks: tuple[int, ...] = option((1, 2, 3, 4, 6), "pyramidal neurons; may be repeated", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    folds: int = option(10, "parts of the trials, each held out once", at_least=2)
    epochs: int | None = option(
        None, "passes over the training trials, by default as many as make 90,000 samples", at_least=1
    )
    ridge: float | None = option(None, "added to Cxx and Cyy, 0.1 * trace(Cxx)/m by default", at_least=0)
    draws: int = option(25, "within-area targets drawn, matched in number and rate", at_least=0)
    shuffles: int = option(100, "times that trials are shuffled", at_least=0)
    lags: int = option(2, "time bins of lag to try either way", at_least=0)
    simulation: bool = option(True, "simulate circuits, or solve exactly alone")
    seed: int = option(0, "of the folds, the draws, the initial weights and the order of samples", at_least=0)

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
    "communication": "How well activity in a target area is predicted from the source through few neurons, on "
    "trials that were held out. The grey line is the exact solution for each number of neurons (rank), with bars "
    "of one standard error over folds; circles are circuits that have learned, with bars of one standard deviation "
    "over seeds. Prediction stops growing long before the full rank (dotted): the areas communicate through few "
    "dimensions. The triangle marks the rank that cross-validation chooses, the band what is predicted when trials "
    "are shuffled, and squares matched targets within the source's own area.",
    "dimensionality": "Number of predictive dimensions against the target's own dimensionality by factor analysis. "
    "A target below the dashed line shares more dimensions within itself than can be predicted from the source: "
    "the few predictive dimensions do not follow from a simple target.",
    "removal": "How well targets are predicted by full regression when the source's activity along its predictive "
    "dimensions is removed, one dimension after another. A curve that falls to zero depends on these dimensions "
    "alone; one that stays up uses others.",
    "lags": "Held-out prediction at the chosen rank when the target is taken later (positive lags) or earlier than "
    "the source, on the same bins of the source, with bars of one standard error over folds.",
    "dendrites": "What the circuit predicts for apical dendrites of the target: the distal current that the "
    "target's activity causes, the inhibition that predicts it from the source, and the plateau that is left. "
    "On the right, how large distal currents and plateaus are over the time of a trial.",
}
CHARTS = (
    Chart(
        "Held-out prediction",
        (
            View(
                "R² on held-out trials",
                {"circuit_r2": "circuit", "exact_r2": "exact"},
                {"rank": "rank (filters)", "k": "rank (filters)"},
                along=("rank", "k"),
                repeats=("seed",),
                theory=("exact_r2",),
                log="",
            ),
        ),
    ),
)


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
    charts=CHARTS,
    small={"data": "planted", "ranks": (1, 2), "folds": 2, "epochs": 1, "shuffles": 2, "draws": 1, "lags": 1},
)
def communication(lab: Lab, settings: CommunicationSettings) -> Findings:
    """Predict each target from the source, by circuits and exactly, with all controls."""
    from biorrr.sims.experiments.communication.questions import Pair, answer, questions
    from biorrr.sims.experiments.communication.results import about, findings

    for value in settings.every_data:
        settings = fit(lab, settings, lab.load(value))
    targets = []
    for value in settings.every_data:
        pair = Pair.of(lab.load(value), settings)

        found = lab.map(answer, questions(pair, settings), pair)

        targets.append(about(pair, settings, found))
    return findings(settings, targets)


def fit(lab: Lab, settings: CommunicationSettings, data: data_sets.Dataset) -> CommunicationSettings:
    """Work out ridge and epochs unless they are set, and leave out ranks that the data do not allow."""
    m, n = data.X.shape[1], data.Y.shape[1]
    trials = len(data.X) if data.groups is None else len(np.unique(data.groups))
    if settings.folds > trials:
        raise SettingsError(f"folds: must not exceed the number of trials, {trials} (got {settings.folds})")
    if min(settings.ranks) > min(m, n):
        raise SettingsError(
            f"ranks: must not exceed the number of units, {m} in the source and {n} in the target (got "
            f"{min(settings.ranks)})"
        )
    large = data.X.nbytes + data.Y.nbytes > data_sets.dataset.LOADED
    if large and settings.simulation:
        raise SettingsError(
            f"simulation: data of {(data.X.nbytes + data.Y.nbytes) / 2**30:.1f} GB are too large to be copied for "
            "each fold; use --no-simulation for the exact solution and its controls, or longer bins"
        )
    lab.set(ranks=tuple(rank for rank in settings.ranks if rank <= min(m, n)))
    # 25 epochs of the published data, whose folds leave 3,600 samples for training.
    training = len(data.X) * (settings.folds - 1) / settings.folds
    filled = lab.fill_in(epochs=max(1, math.ceil(LEARNED_SAMPLES / training)))
    return filled if filled.ridge is not None else lab.set(ridge=default_ridge(settings, data, large))


def default_ridge(settings: CommunicationSettings, data: data_sets.Dataset, large: bool) -> float:
    """Return 0.1 trace(Cxx)/m, of residuals where these are taken."""
    strata = data.strata if settings.residual == "condition" else None
    if strata is None and not large:
        return 0.1 * float(data.X.var(axis=0).mean())
    from biorrr.analysis.communication import FoldMoments

    products, samples = FoldMoments.of(data.X, data.Y[:, :0], np.zeros(len(data.X), int), strata).everything()
    return 0.1 * float(np.trace(products)) / (samples * data.X.shape[1])
