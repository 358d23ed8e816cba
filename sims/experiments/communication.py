"""Predict one area from another through few neurons, with the controls the field asks for.

The circuit learns the communication subspace (Semedo et al. 2019) of two areas recorded together, V1 and V2 unless
--data names a recording of yours, and stands beside exact reduced-rank regression with the same ridge and folds. Whole
trials are held out; R2 is pooled: squared errors over squared deviations from the training mean, each summed over
neurons and folds. Controls: targets within the source's area, matched in number and rate; shuffled trials; lags; the
areas' own dimensions; removed predictive dimensions. `biorrr data --check FILE` says what is in a recording.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims.data import Samples
from biorrr.sims.data.kinds import V1V2
from biorrr.sims.experiment import Experiment, Findings, Found, Problem
from biorrr.sims.lab.circuits import completed
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, ExperimentSettings, SettingsError, option
from biorrr.sims.lazy import analysis, data_sets, np
from biorrr.sims.page.views import Chart, View

if TYPE_CHECKING:
    from biorrr.analysis.communication import FoldMoments, Prediction
    from biorrr.sims.experiments.helpers.areas import Areas
    from biorrr.sims.experiments.helpers.areas_results import Concluded

PUBLISHED = V1V2()  # of which both targets are predicted, V2 and, as a control, other V1 neurons
TARGETS = ("V2", "V1")
LEARNED_SAMPLES = 90_000  # of each circuit, unless told otherwise
DENDRITE_SAMPLES = 20_000  # of which plateaus are kept


@dataclass(frozen=True, kw_only=True)
class CommunicationSettings(ExperimentSettings):
    """What can be set of ``biorrr communication``."""

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
        """What is predicted, in words."""
        return TARGETS if self.data == PUBLISHED else (getattr(self.data, "target", None) or "target",)

    @property
    def source_name(self) -> str:
        """What it is predicted from."""
        return "V1" if isinstance(self.data, V1V2) else getattr(self.data, "source", None) or "source"


@dataclass(frozen=True)
class AreasProblem(Problem[CommunicationSettings]):
    """Two areas, their moments, and the exact prediction."""

    areas: Areas
    moments: FoldMoments
    prediction: Prediction


class Communication(Experiment[CommunicationSettings]):
    """``biorrr communication``: the communication subspace of two areas, by the circuit and exactly."""

    settings = CommunicationSettings
    shows = "one area predicted from another through few neurons (Semedo et al. 2019), in V1-V2 or your own recording"
    takes = "1.5 min"
    paper = "beyond it"
    figures = {
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
    charts = (
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

    def measure_of(self, settings: CommunicationSettings) -> str:
        """How far the circuit falls short of the exact solution; of exact solutions alone, their rank."""
        what = "shortfall" if settings.simulation else "rank"
        return f"V2_{what}" if settings.data == PUBLISHED else what

    # -- before anything is written ------------------------------------------------------------------------------------

    def fit(self, settings: CommunicationSettings, data: data_sets.Dataset) -> CommunicationSettings:
        """Work out the ridge from the first data set, unless it is set, and leave out what the data do not allow."""
        m, n = data.X.shape[1], data.Y.shape[1]
        trials = len(data.X) if data.groups is None else len(np.unique(data.groups))
        if settings.folds > trials:
            raise SettingsError(f"folds: must not exceed the number of trials, {trials} (got {settings.folds})")
        if min(settings.ranks) > min(m, n):
            raise SettingsError(
                f"ranks: must not exceed the number of units, {m} in the source and {n} in the target (got "
                f"{min(settings.ranks)})"
            )
        settings = replace(settings, ranks=tuple(rank for rank in settings.ranks if rank <= min(m, n)))
        if settings.epochs is None:  # 25 of the published data, whose folds leave 3,600 samples for training
            training = len(data.X) * (settings.folds - 1) / settings.folds
            settings = replace(settings, epochs=max(1, math.ceil(LEARNED_SAMPLES / training)))
        large = data.X.nbytes + data.Y.nbytes > data_sets.dataset.LOADED
        if large and settings.simulation:
            raise SettingsError(
                f"simulation: data of {(data.X.nbytes + data.Y.nbytes) / 2**30:.1f} GB are too large to be copied for "
                "each fold; use --no-simulation for the exact solution and its controls, or longer bins"
            )
        if settings.ridge is not None:
            return settings
        strata = data.strata if settings.residual == "condition" else None
        if strata is None and not large:
            return replace(settings, ridge=0.1 * float(data.X.var(axis=0).mean()))
        from biorrr.analysis.communication import FoldMoments

        products, samples = FoldMoments.of(data.X, data.Y[:, :0], np.zeros(len(data.X), int), strata).everything()
        return replace(settings, ridge=0.1 * float(np.trace(products)) / (samples * m))

    # -- for each data set ---------------------------------------------------------------------------------------------

    def prepare(self, settings: CommunicationSettings, data: data_sets.Dataset) -> AreasProblem:
        """Split trials into folds, sum moments, and predict exactly."""
        from biorrr.sims.experiments.helpers.areas import Areas

        assert settings.ridge is not None
        areas = Areas.split(data, settings.folds, settings.residual, settings.seed, settings.s, settings.ridge)
        moments = areas.moments()
        prediction = areas.predict(moments, areas.source, areas.target)
        return AreasProblem(settings, data, None, areas, moments, prediction)  # type: ignore[arg-type]

    def parts(self, problem: Problem[CommunicationSettings], found: Found) -> dict[str, Any]:
        """A circuit for each fold, rank and seed, one for the dendrites, and the controls."""
        assert isinstance(problem, AreasProblem)
        settings, areas = problem.settings, problem.areas
        parts: dict[str, Any] = {}
        if settings.simulation:
            parts = {
                f"fold-{fold}-rank-{rank}-seed-{seed}": ("circuit", fold, rank, seed)
                for fold in range(settings.folds)
                for rank in settings.ranks
                for seed in settings.every_seed
            }
            parts["dendrites"] = ("dendrites",)
        parts |= {"dimensions": ("dimensions",), "removal": ("removal",)}
        if settings.shuffles:
            parts["shuffles"] = ("shuffles",)
        if lags_of(settings, areas):
            parts["lags"] = ("lags",)
        if settings.data != PUBLISHED and areas.m >= 4:
            parts |= {f"draw-{number}": ("draw", number) for number in range(settings.draws)}
        return parts

    def run_part(
        self, problem: Problem[CommunicationSettings], part: Any, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Squared error of a circuit's prediction of the trials it has not seen, its plateaus, or a control."""
        assert isinstance(problem, AreasProblem)
        from biorrr.sims.experiments.helpers import areas as controls

        kind, *more = part
        settings, areas, moments = problem.settings, problem.areas, problem.moments
        if kind == "shuffles":
            return controls.shuffles(areas, settings.shuffles, settings.seed)
        if kind == "lags":
            return controls.lags(areas, lags_of(settings, areas), problem.prediction.rank)
        if kind == "dimensions":
            return controls.dimensions(areas, moments)
        if kind == "removal":
            return controls.removal(areas, moments)
        if kind == "draw":
            return controls.draw(areas, moments, more[0], settings.seed)
        if kind == "dendrites":
            return self._dendrites(problem, options)
        fold, rank, seed = more
        x_train, y_train, x_test, y_test = areas.fold(fold)
        run = self._learned(problem, x_train, y_train, rank, seed, options)
        error = np.square(y_test - run.predict(x_test)).sum()
        return {"error": error, "engine": run.data.attrs["engine"], "seconds": run.data.attrs["seconds"]}

    def _learned(self, problem: AreasProblem, X, Y, rank: int, seed: int, options: Mapping[str, Any]) -> Any:
        """A circuit that has learned to predict Y from X."""
        settings = problem.settings
        circuit = settings.make_circuit(k=rank, s=settings.s, ridge=settings.ridge, seed=seed)
        assert settings.epochs is not None
        return completed(circuit.run(X, Y, epochs=settings.epochs, centre=True, record=(), snapshots=1, **options))

    def _dendrites(self, problem: AreasProblem, options: Mapping[str, Any]) -> dict[str, Any]:
        """Distal current, inhibition and plateau, (samples, neurons), of a circuit of the chosen rank on all trials."""
        settings = problem.settings
        X, Y = problem.areas.whole()
        run = self._learned(problem, X, Y, problem.prediction.rank, settings.seed, options)
        audit = analysis.audit_plateau(X, Y, run.Vx, run.Vy, run.Q, run.R, settings.s, settings.ridge)
        first = slice(DENDRITE_SAMPLES)
        a = Y @ run.Vy
        return {
            "distal": a[first],
            "inhibition": audit.inhibition[first],
            "plateau": audit.plateau[first],
            "share": np.var(audit.plateau) / np.var(a),
            "correlation": np.min(audit.plateau_and_error.correlation),
        }

    def conclude(self, problem: Problem[CommunicationSettings], found: Found) -> Concluded:
        """Held-out R2 of the exact solution (k,) and of circuits (rank, seed), on the same folds, and the controls."""
        assert isinstance(problem, AreasProblem)
        from biorrr.sims.experiments.helpers.areas_results import concluded

        return concluded(problem, found)

    def combine(self, settings: CommunicationSettings, each: Sequence[Concluded]) -> Findings:
        """Put all targets side by side."""
        from biorrr.sims.experiments.helpers.areas_results import findings

        return findings(settings, each)


def lags_of(settings: CommunicationSettings, areas: Areas) -> int:
    """How many bins of lag can be tried, up to what is set."""
    return min(settings.lags, 0 if areas.bins is None else (areas.bins - 1) // 2)


EXPERIMENT = Communication()
