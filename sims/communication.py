"""``biorrr communication``: the circuit learns the V1-V2 communication subspace (Semedo et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.checkpoints import NOT_KEPT, Checkpoints
from biorrr.sims.folder import RunFolder
from biorrr.sims.measured import Measured
from biorrr.sims.settings import Settings, checkpoint_option, config_text, option
from biorrr.sims.table import print_table
from biorrr.sims.training import completed

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    import xarray as xr

    from biorrr.sims.data import Dataset

TARGETS = ("V2", "V1")
MEASURE = "V2_shortfall"  # what a sweep draws


@dataclass(frozen=True, kw_only=True)
class CommunicationSettings(Settings):
    """What can be set of ``biorrr communication``."""

    ranks: tuple[int, ...] = option((1, 2, 3, 4, 6), "pyramidal neurons; may be repeated", at_least=1, at_most=31)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    folds: int = option(10, "parts of the trials, each held out once", at_least=2, at_most=400)
    epochs: int = option(25, "passes over the training trials", at_least=1)
    ridge: float | None = option(None, "added to Cxx and Cyy, 0.1 * trace(Cxx)/m by default", at_least=0)
    engine: str = option("auto", "what simulates the circuit", choices=("auto", "numpy", "cython", "cpp"))
    seed: int = option(0, "of the folds, the initial weights and the order of samples", at_least=0)
    seeds: int = option(1, "circuits for each fold, from --seed on", at_least=1)
    format: str = option("png", "of the figures", choices=("png", "pdf", "svg"))
    checkpoint: float = checkpoint_option()

    @property
    def data_names(self) -> tuple[str, ...]:
        """The recordings, with one and the other area to be predicted."""
        return tuple(f"v1v2:target={target}" for target in TARGETS)


def communication(settings: CommunicationSettings, folder: RunFolder, *recordings: Dataset) -> Measured:
    """Let the circuit learn the V1-V2 communication subspace and predict held-out trials.

    V2 neurons, and other V1 neurons beside them, are predicted from V1 neurons through few filters. Whole trials are
    held out; R2 is pooled: squared errors over squared deviations from the training mean, each summed over neurons and
    folds. The circuit stands beside exact reduced-rank regression with the same ridge, on the same folds.
    """
    from biorrr.analysis.subspace import plot_prediction
    from biorrr.sims.data import load

    recordings = recordings or tuple(map(load, settings.data_names))
    settings = with_ridge(settings, recordings)
    checksums = ",".join(data.checksum for data in recordings)
    origin = experiment.provenance("communication", data_sha256=checksums)
    with folder.opened(config_text(settings, origin)):
        results = predict(settings, recordings, Checkpoints.of(folder, settings.checkpoint))

    settings = replace(settings, engine=results.attrs["engine"])
    folder.write_config(config_text(settings, origin))
    folder.write_results(results)
    numbers = summary(settings, results)
    folder.write_figure(
        "communication",
        settings.format,
        plot_prediction(
            {
                f"V1 to {target}": (
                    results["exact_r2"].sel(target=target).values,
                    settings.ranks,
                    results["circuit_r2"].sel(target=target).values,
                    numbers[f"{target}_rank"],
                )
                for target in TARGETS
            }
        ),
    )
    folder.write_summary(numbers)
    print_table(
        f"v1v2: held-out R2, {settings.folds} folds of whole trials, s = {settings.s:g}; data are centred",
        {
            f"rank {rank}": "; ".join(
                f"V1 to {target} {numbers[f'{target}_circuit_r2_{rank}']:.4f} "
                f"(exact {numbers[f'{target}_exact_r2_{rank}']:.4f})"
                for target in TARGETS
            )
            for rank in settings.ranks
        }
        | {
            "full rank": "; ".join(f"V1 to {target} exact {numbers[f'{target}_full_r2']:.4f}" for target in TARGETS),
            "rank chosen": "; ".join(f"V1 to {target} {numbers[f'{target}_rank']}" for target in TARGETS)
            + " (smallest within one standard error of the best)",
            "written to": folder.path,
        },
    )
    return Measured(numbers)


def measure(settings: CommunicationSettings, *recordings: Dataset) -> Measured:
    """What is found without leaving a folder behind: a point of a sweep."""
    settings = with_ridge(settings, recordings)
    results = predict(settings, recordings, NOT_KEPT)
    return Measured(summary(replace(settings, engine=results.attrs["engine"]), results))


def with_ridge(settings: CommunicationSettings, recordings: tuple[Dataset, ...]) -> CommunicationSettings:
    """Work out the ridge from the data, unless it is set."""
    if settings.ridge is not None:
        return settings
    return replace(settings, ridge=0.1 * float(recordings[0].X.var(axis=0).mean()))


def predict(settings: CommunicationSettings, recordings: tuple[Dataset, ...], checkpoints: Checkpoints) -> xr.Dataset:
    """Held-out R2 of the exact solution (target, k) and of circuits (target, rank, seed), on the same folds."""
    import numpy as np
    import xarray as xr
    from sklearn.model_selection import GroupKFold

    from biorrr.analysis import RankCV
    from biorrr.circuit import Microcircuit
    from biorrr.circuit.progress import progress_bar

    sets = dict(zip(TARGETS, recordings, strict=True))
    folds = GroupKFold(settings.folds, shuffle=True, random_state=settings.seed)
    seeds = range(settings.seed, settings.seed + settings.seeds)
    exact = {
        target: RankCV(s=settings.s, ridge=settings.ridge, cv=folds).fit(data.X, data.Y, data.groups)
        for target, data in sets.items()
    }
    errors = np.zeros((len(sets), len(settings.ranks), len(seeds)))
    deviations = np.zeros(len(sets))
    seconds = 0.0
    circuits = {
        rank: Microcircuit(rank, settings.s, ridge=settings.ridge, engine=settings.engine) for rank in settings.ranks
    }
    with progress_bar(errors.size * settings.folds, " circuits") as bar:
        for i, (target, data) in enumerate(sets.items()):
            for fold, (train, test) in enumerate(folds.split(data.X, data.Y, data.groups)):
                seen = replace(data, X=data.X[train], Y=data.Y[train])
                deviations[i] += np.square(data.Y[test] - seen.Y.mean(axis=0)).sum()
                for j, (rank, circuit) in enumerate(circuits.items()):
                    for n, circuit.seed in enumerate(seeds):
                        kept = checkpoints.run_options(f"{target}-fold-{fold}-rank-{rank}-seed-{circuit.seed}")
                        run = completed(
                            circuit, seen, epochs=settings.epochs, record=(), snapshots=1, progress=False, **kept
                        )
                        errors[i, j, n] += np.square(data.Y[test] - run.predict(data.X[test])).sum()
                        seconds += run.data.attrs["seconds"]
                        bar.update()
    return xr.Dataset(
        {
            "exact_r2": (("target", "k"), [fitted.r2_ for fitted in exact.values()]),
            "chosen_rank": ("target", [fitted.k_ for fitted in exact.values()]),
            "circuit_r2": (("target", "rank", "seed"), 1 - errors / deviations[:, None, None]),
        },
        coords={"target": list(sets), "k": next(iter(exact.values())).ks_, "rank": list(settings.ranks), "seed": seeds},
        attrs={"engine": run.data.attrs["engine"], "seconds": seconds},
    )


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
    return numbers | {"engine": settings.engine, "seconds": results.attrs["seconds"]}


command = experiment.command(CommunicationSettings, communication)
