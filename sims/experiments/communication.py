"""Let the circuit learn the V1-V2 communication subspace and predict held-out trials.

V2 neurons, and other V1 neurons beside them, are predicted from V1 neurons through few filters. Whole trials are
held out; R2 is pooled: squared errors over squared deviations from the training mean, each summed over neurons and
folds. The circuit stands beside exact reduced-rank regression with the same ridge, on the same folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.circuits import completed
from biorrr.sims.experiment import Experiment, Findings, Found, Problem
from biorrr.sims.lazy import analysis, data_sets, np, xr
from biorrr.sims.reports.views import Chart, View
from biorrr.sims.settings import ExperimentSettings, option

TARGETS = ("V2", "V1")


@dataclass(frozen=True, kw_only=True)
class CommunicationSettings(ExperimentSettings):
    """What can be set of ``biorrr communication``."""

    ranks: tuple[int, ...] = option((1, 2, 3, 4, 6), "pyramidal neurons; may be repeated", at_least=1, at_most=31)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    folds: int = option(10, "parts of the trials, each held out once", at_least=2, at_most=400)
    epochs: int = option(25, "passes over the training trials", at_least=1)
    ridge: float | None = option(None, "added to Cxx and Cyy, 0.1 * trace(Cxx)/m by default", at_least=0)
    seed: int = option(0, "of the folds, the initial weights and the order of samples", at_least=0)

    @property
    def data_names(self) -> tuple[str, ...]:
        """The recordings, with one and the other area to be predicted."""
        return tuple(f"v1v2:target={target}" for target in TARGETS)


class Communication(Experiment[CommunicationSettings]):
    """``biorrr communication``: the circuit learns the V1-V2 communication subspace (Semedo et al. 2019)."""

    settings = CommunicationSettings
    shows = "V2 predicted from V1 through few neurons (Semedo et al. 2019)"
    takes = "1 min"
    paper = "beyond it"
    measure = "V2_shortfall"
    figures = {
        "communication": "How well activity in a target area is predicted from V1 through few neurons, on trials that "
        "were held out. The line is the exact solution for each number of neurons (rank); circles are circuits that "
        "have learned, with bars of one standard deviation over seeds. Prediction stops growing long before the full "
        "rank (dotted): the areas communicate through few dimensions. The triangle marks the rank that "
        "cross-validation chooses."
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

    def fit(self, settings: CommunicationSettings, data: data_sets.Dataset) -> CommunicationSettings:
        """Work out the ridge from the first data set, unless it is set."""
        if settings.ridge is not None:
            return settings
        return replace(settings, ridge=0.1 * float(data.X.var(axis=0).mean()))

    def parts(self, problem: Problem[CommunicationSettings], found: Found) -> dict[str, Any]:
        """A circuit for each fold, rank and seed."""
        settings = problem.settings
        return {
            f"fold-{fold}-rank-{rank}-seed-{seed}": (train, test, rank, seed)
            for fold, (train, test) in enumerate(folds(problem))
            for rank in settings.ranks
            for seed in settings.every_seed
        }

    def run_part(
        self, problem: Problem[CommunicationSettings], part: Any, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Squared error of a circuit's prediction of the trials it has not seen."""
        (train, test, rank, seed), settings, data = part, problem.settings, problem.data
        circuit = settings.make_circuit(k=rank, s=settings.s, ridge=settings.ridge, seed=seed)
        run = completed(
            circuit.run(
                data.X[train], data.Y[train], epochs=settings.epochs, centre=True, record=(), snapshots=1, **options
            )
        )
        error = np.square(data.Y[test] - run.predict(data.X[test])).sum()
        return {"error": error, "engine": run.data.attrs["engine"], "seconds": run.data.attrs["seconds"]}

    def conclude(self, problem: Problem[CommunicationSettings], found: Found) -> xr.Dataset:
        """Held-out R2 of the exact solution (k,) and of circuits (rank, seed), on the same folds."""
        settings, data = problem.settings, problem.data
        exact = analysis.RankCV(s=settings.s, ridge=settings.ridge, cv=splitter(settings))
        exact.fit(data.X, data.Y, data.groups)
        each = iter(found.values())
        errors, deviations = np.zeros((len(settings.ranks), settings.seeds)), 0.0
        for train, test in folds(problem):
            deviations += np.square(data.Y[test] - data.Y[train].mean(axis=0)).sum()
            for place in np.ndindex(errors.shape):
                errors[place] += next(each)["error"]
        return xr.Dataset(
            {
                "exact_r2": ("k", exact.r2_),
                "chosen_rank": exact.k_,
                "circuit_r2": (("rank", "seed"), 1 - errors / deviations),
            },
            coords={"k": exact.ks_, "rank": list(settings.ranks), "seed": list(settings.every_seed)},
            attrs={
                "engine": str(next(iter(found.values()))["engine"]),
                "seconds": sum(float(part["seconds"]) for part in found.values()),
            },
        )

    def combine(self, settings: CommunicationSettings, concluded: Sequence[xr.Dataset]) -> Findings:
        """Put both areas side by side."""
        from biorrr.analysis.figures.communication import plot_prediction

        results = xr.concat(concluded, dim="target", combine_attrs="drop").assign_coords(target=list(TARGETS))
        results.attrs = {
            "engine": concluded[0].attrs["engine"], "seconds": sum(one.attrs["seconds"] for one in concluded),
        }  # fmt: skip
        numbers = summary(settings, results)
        curves = {
            f"V1 to {target}": (
                results["exact_r2"].sel(target=target).values,
                settings.ranks,
                results["circuit_r2"].sel(target=target).values,
                numbers[f"{target}_rank"],
            )
            for target in TARGETS
        }
        return Findings(
            numbers=numbers,
            title=f"v1v2: held-out R2, {settings.folds} folds of whole trials, s = {settings.s:g}; data are centred",
            rows={
                f"rank {rank}": "; ".join(
                    f"V1 to {target} {numbers[f'{target}_circuit_r2_{rank}']:.4f} "
                    f"(exact {numbers[f'{target}_exact_r2_{rank}']:.4f})"
                    for target in TARGETS
                )
                for rank in settings.ranks
            }
            | {
                "full rank": "; ".join(
                    f"V1 to {target} exact {numbers[f'{target}_full_r2']:.4f}" for target in TARGETS
                ),
                "rank chosen": "; ".join(f"V1 to {target} {numbers[f'{target}_rank']}" for target in TARGETS)
                + " (smallest within one standard error of the best)",
            },
            results={"run": results},
            figures={"communication": partial(plot_prediction, curves)},
        )


def splitter(settings: CommunicationSettings) -> Any:
    """Splits samples into folds of whole trials."""
    from sklearn.model_selection import GroupKFold

    return GroupKFold(settings.folds, shuffle=True, random_state=settings.seed)


def folds(problem: Problem[CommunicationSettings]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test samples of each fold."""
    data = problem.data
    return list(splitter(problem.settings).split(data.X, data.Y, data.groups))


def summary(settings: CommunicationSettings, results: xr.Dataset) -> dict[str, Any]:
    """Final numbers, flat."""
    numbers: dict[str, Any] = {
        "s": settings.s, "ridge": settings.ridge, "folds": settings.folds, "seeds": settings.seeds,
    }  # fmt: skip
    for target in TARGETS:
        of_target = results.sel(target=target)
        for rank in settings.ranks:
            numbers[f"{target}_circuit_r2_{rank}"] = float(of_target["circuit_r2"].sel(rank=rank).mean())
            numbers[f"{target}_exact_r2_{rank}"] = float(of_target["exact_r2"].sel(k=rank))
        numbers[f"{target}_shortfall"] = max(
            numbers[f"{target}_exact_r2_{rank}"] - numbers[f"{target}_circuit_r2_{rank}"] for rank in settings.ranks
        )
        numbers[f"{target}_full_r2"] = float(of_target["exact_r2"].isel(k=-1))
        numbers[f"{target}_rank"] = int(of_target["chosen_rank"])
    return numbers | {"engine": results.attrs["engine"], "seconds": results.attrs["seconds"]}


EXPERIMENT = Communication()
