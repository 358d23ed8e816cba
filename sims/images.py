"""``biorrr images``: Bio-RRMSE against backprop on pictures (the supplement's "More numerical experiments")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.checkpoints import Checkpoints
from biorrr.sims.claims import Claim, print_claims
from biorrr.sims.folder import RESULTS, RunFolder
from biorrr.sims.settings import Settings, checkpoint_option, config_text, option
from biorrr.sims.table import print_table

if TYPE_CHECKING:
    from biorrr.sims.race import Curve

RANKS = {"mnist": 1, "fashion-mnist": 2, "cifar10": 4, "cifar100": 8}  # the paper's, one a data set
CIRCUIT, BIO, BACKPROP = "circuit (Brian2)", "Bio-RRMSE", "backprop"
QUICK_STEPS = 3_000
# The paper says "comparable" and prints no number: within 5 % of the optimum of each other.
COMPARABLE = 0.05


@dataclass(frozen=True, kw_only=True)
class ImagesSettings(Settings):
    """What can be set of ``biorrr images``."""

    data: tuple[str, ...] = option(tuple(RANKS), "which of mnist, fashion-mnist, cifar10, cifar100")
    seeds: int = option(5, "runs of each learner, from seed upwards", at_least=1)
    seed: int = option(0, "the first of them", at_least=0)
    steps: int = option(30_000, "samples presented", at_least=1)
    ridge: float = option(0.1, "added to Cxx", at_least=0)
    circuit: bool = option(True, "also simulate the circuit itself")
    engine: str = option("auto", "what simulates it", choices=("auto", "numpy", "cython", "cpp"))
    quick: bool = option(False, "a tenth of the samples and two seeds")
    format: str = option("png", "of the figure", choices=("png", "pdf", "svg"))
    checkpoint: float = checkpoint_option()


def images(settings: ImagesSettings, folder: RunFolder) -> None:
    """Compare Bio-RRMSE with a two-layer network trained by backprop on picture classification.

    Pixels / 255, centred; labels as one-hot vectors; the rates of the supplement's table. The paper's claim is parity
    with backprop, not nearness to the optimum.
    """
    from biorrr.analysis import Yardstick
    from biorrr.analysis.race_plots import plot_pictures_race
    from biorrr.circuit.progress import progress_bar
    from biorrr.sims.data import load
    from biorrr.sims.race import Course, as_dataset, race
    from biorrr.sims.settings import SettingsError

    unknown = [name for name in settings.data if name not in RANKS]
    if unknown:
        raise SettingsError(f"data: must be among {', '.join(RANKS)} (got {', '.join(unknown)})")
    if settings.quick:
        settings = replace(settings, steps=min(settings.steps, QUICK_STEPS), seeds=min(settings.seeds, 2))
    curves: dict[str, dict[str, Curve]] = {}
    optima: dict[str, float] = {}
    checksums = ",".join(load(name).checksum for name in settings.data)
    with folder.opened(config_text(settings, experiment.provenance("images", data_sha256=checksums))):
        checkpoints = Checkpoints.of(folder, settings.checkpoint)
        laps_each = settings.seeds * (3 if settings.circuit else 2)
        with progress_bar(laps_each * len(settings.data), unit=" laps", desc="racing") as bar:
            for name in settings.data:
                data = load(name).centred()
                yardstick = Yardstick(data.X, data.Y, 0.0, settings.ridge)
                k = RANKS[name]
                course = Course(data.X, data.Y, 0.0, settings.ridge, settings.engine)
                laps = line_up(settings, name, k)
                raced = race(course, laps, yardstick, on_lap=bar.update, checkpoints=checkpoints.within(name))
                curves[name] = {learner: curve for (learner, _), curve in raced.items()}
                optima[name] = yardstick.optimum(k)

    for name, raced in curves.items():
        kept = as_dataset({(learner, RANKS[name]): curve for learner, curve in raced.items()}, settings.seed)
        folder.write_results(kept, RESULTS if len(curves) == 1 else f"{name}.nc")
    claims = [parity(name, raced) for name, raced in curves.items()]
    figure = plot_pictures_race(
        {name: {c: (v.t, v.objective) for c, v in raced.items()} for name, raced in curves.items()}, optima, RANKS
    )
    with folder.writing(f"images.{settings.format}") as path:
        figure.savefig(path, dpi=200)
    folder.write_summary(summary(curves, optima), claims)
    print_table(
        f"Bio-RRMSE and backprop, {settings.steps} samples, {settings.seeds} seeds; pixels / 255, centred",
        {
            f"{name}, k = {RANKS[name]}: {learner}": f"excess {curve.excess[:, -1].mean():.2%}"
            f" +- {curve.excess[:, -1].std():.2%}" + (f", rates x {curve.fraction:g}" if curve.fraction < 1 else "")
            for name, raced in curves.items()
            for learner, curve in raced.items()
        }
        | {"written to": folder.path},
    )
    print_claims(claims)


def line_up(settings: ImagesSettings, name: str, k: int) -> list[Any]:
    """All laps on one data set."""
    from biorrr.analysis import OnlineBioRRR, TwoLayerANN
    from biorrr.models import Rates
    from biorrr.sims.race import Lap, circuit_lap, estimator_lap

    bio, ann = (Rates.paper(name, 0, k, "online", whose) for whose in ("biorrr", "ann"))
    runners = {
        BIO: (estimator_lap(OnlineBioRRR, {}), bio),
        BACKPROP: (estimator_lap(TwoLayerANN, {"online": True}), ann),
    }
    if settings.circuit:
        runners = {CIRCUIT: (circuit_lap, bio)} | runners
    return [
        Lap(learner, lap, k, seed, settings.steps, rates)
        for learner, (lap, rates) in runners.items()
        for seed in range(settings.seed, settings.seed + settings.seeds)
    ]


def parity(name: str, raced: dict[str, Curve]) -> Claim:
    """The supplement's claim for one data set."""
    final = {learner: float(curve.excess[:, -1].mean()) for learner, curve in raced.items()}
    return Claim(
        f"{name}: the performance of Bio-RRMSE is comparable to the performance of backprop",
        final[BIO] <= final[BACKPROP] + COMPARABLE,
        {f"excess of {learner}": value for learner, value in final.items()},
    )


def summary(curves: dict[str, dict[str, Curve]], optima: dict[str, float]) -> dict[str, Any]:
    """Final numbers of every learner on every data set."""
    short = {CIRCUIT: "circuit", BIO: "bio", BACKPROP: "backprop"}
    numbers: dict[str, Any] = {}
    for name, raced in curves.items():
        numbers[f"{name}_optimum"] = optima[name]
        for learner, curve in raced.items():
            numbers |= {
                f"{name}_{short[learner]}_excess": curve.excess[:, -1].mean(),
                f"{name}_{short[learner]}_excess_sd": curve.excess[:, -1].std(),
                f"{name}_{short[learner]}_rates_fraction": curve.fraction,
            }
    return numbers


command = experiment.command(ImagesSettings, images)
