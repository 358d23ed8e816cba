"""``biorrr compare``: the paper's main figure, the circuit beside every algorithm it is compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.checkpoints import Checkpoints
from biorrr.sims.claims import Claim, print_claims
from biorrr.sims.folder import RunFolder
from biorrr.sims.settings import Settings, SettingsError, checkpoint_option, config_text, option
from biorrr.sims.table import print_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biorrr.analysis import Yardstick
    from biorrr.sims.data import Dataset
    from biorrr.sims.race import Curve, Lap

    Curves = dict[tuple[str, int], Curve]

CIRCUIT = "circuit (Brian2)"
STEPS = {"online": 100_000, "offline": 20_000}  # as in the paper: five epochs of samples, one of iterations
QUICK_STEPS = {"online": 10_000, "offline": 500}
QUICK_SEEDS = 2
BATCH_STEPS = 300


@dataclass(frozen=True, kw_only=True)
class CompareSettings(Settings):
    """What can be set of ``biorrr compare``."""

    objective: str = option("rrmse", "rrmse is s = 0, cca is s = 1", choices=("rrmse", "cca"))
    setting: str = option("online", "one sample at a time, or the whole data at once", choices=("online", "offline"))
    data: str = option("mediamill", "a name that `biorrr data` lists, or a file with X and Y")
    swap: bool = option(False, "exchange X and Y")
    k: tuple[int, ...] = option((1, 2, 4), "ranks", short="k", at_least=1)
    seeds: int = option(5, "runs of each learner, from seed upwards", at_least=1)
    seed: int = option(0, "the first of them", at_least=0)
    steps: int | None = option(None, "samples (online, 100000 by default) or iterations (offline, 20000)", at_least=1)
    ridge: float = option(0.1, "added to Cxx and Cyy", at_least=0)
    engine: str = option("auto", "what simulates the circuit", choices=("auto", "numpy", "cython", "cpp"))
    quick: bool = option(False, "a tenth of the steps and two seeds")
    format: str = option("png", "of the figures", choices=("png", "pdf", "svg"))
    checkpoint: float = checkpoint_option()


def compare(settings: CompareSettings, folder: RunFolder) -> None:
    """Race the circuit against the algorithms the paper compares with (Fig. 3 and the supplement's).

    Draws the objective against samples and against CPU time, mean and standard deviation over seeds, and the
    deviation from the whitening constraint. Where the paper prints no rates for the data, learners use their own.
    """
    from biorrr.analysis import Yardstick
    from biorrr.circuit.progress import progress_bar
    from biorrr.sims.data import load
    from biorrr.sims.race import Course, as_dataset, race

    if settings.quick:
        steps = settings.steps or QUICK_STEPS[settings.setting]
        settings = replace(settings, steps=steps, seeds=min(settings.seeds, QUICK_SEEDS))
    settings = replace(settings, steps=settings.steps or STEPS[settings.setting])
    data = load(settings.data)
    origin = experiment.provenance("compare", data_sha256=data.checksum)
    data = data.centred()
    if settings.swap:
        data = replace(data, X=data.Y, Y=data.X)
    bound = min(data.X.shape[1], data.Y.shape[1])
    if max(settings.k) > bound:
        raise SettingsError(f"k: must not exceed min(m, n) = {bound} of {data.name} (got {max(settings.k)}); reduce k")
    s = float(settings.objective == "cca")
    yardstick = Yardstick(data.X, data.Y, s, settings.ridge)
    laps = line_up(settings, data, s)
    course = Course(data.X, data.Y, s, settings.ridge, settings.engine)
    with folder.opened(config_text(settings, origin)), progress_bar(len(laps), " laps", "racing") as bar:
        checkpoints = Checkpoints.of(folder, settings.checkpoint)
        curves = race(course, laps, yardstick, on_lap=bar.update, checkpoints=checkpoints)

    folder.write_results(as_dataset(curves, settings.seed))
    figures = {"compare": draw_race(curves, yardstick, settings), "constraint": draw_constraint(curves, settings)}
    for name, figure in figures.items():
        with folder.writing(f"{name}.{settings.format}") as path:
            figure.savefig(path, dpi=200)
    claims = check_claims(curves, settings)
    numbers = summary(curves, yardstick, settings)
    folder.write_summary({"data": data.name, "s": s, "ridge": settings.ridge} | numbers, claims)
    print_table(
        f"{data.name}: {settings.objective.upper()}, {settings.setting}, {settings.seeds} seeds; data are centred",
        {
            f"{learner}, k = {k}": f"excess {curve.excess[:, -1].mean():.3%} +- {curve.excess[:, -1].std():.3%}, "
            f"{curve.seconds[:, -1].mean():.3g} s CPU" + (f", rates x {curve.fraction:g}" if curve.fraction < 1 else "")
            for (learner, k), curve in curves.items()
        }
        | {"written to": folder.path},
    )
    print_claims(claims)


def line_up(settings: CompareSettings, data: Dataset, s: float) -> list[Lap]:
    """All laps of the race, the circuit's first."""
    from biorrr.analysis import IQMD, SAA, CappedMSG, CCALin, OfflineBioRRR, OnlineBioRRR, TwoLayerANN
    from biorrr.sims.race import Lap, circuit_lap, estimator_lap

    online, steps = settings.setting == "online", settings.steps
    bio = f"Bio-{settings.objective.upper()}"
    runners: dict[str, tuple[Any, int, str | None]] = {}  # name: (lap, steps, whose printed rates)
    if online:
        runners[CIRCUIT] = circuit_lap, steps, "biorrr"
        runners[bio] = estimator_lap(OnlineBioRRR, {}), steps, "biorrr"
    if not online or s == 1:
        offline_steps = steps if not online else min(steps, STEPS["offline"])
        name = bio if not online else f"{bio}, offline"
        runners[name] = estimator_lap(OfflineBioRRR, {"tol": 0.0}), offline_steps, "biorrr-offline"
    if s == 0:
        runners["IQMD"] = estimator_lap(IQMD, {"online": online}), steps, None
        runners["ANN"] = estimator_lap(TwoLayerANN, {"online": online}), steps, "ann"
    else:
        if online:
            runners["MSG-CCA"] = estimator_lap(CappedMSG, {}), steps, None
        # They converge within tens of iterations; without a tolerance all seeds stop at the same ones.
        runners["CCALin"] = estimator_lap(CCALin, {"tol": 0.0}), min(steps, BATCH_STEPS), None
        runners["SAA"] = estimator_lap(SAA, {"tol": 0.0}), min(steps, BATCH_STEPS), None
    return [
        Lap(name, lap, k, seed, lap_steps, printed_rates(settings, s, k, whose))
        for name, (lap, lap_steps, whose) in runners.items()
        for k in settings.k
        for seed in range(settings.seed, settings.seed + settings.seeds)
    ]


def printed_rates(settings: CompareSettings, s: float, k: int, whose: str | None) -> Any:
    """The rates the supplement prints, or None where it prints none."""
    from biorrr.models import Rates

    if whose is None:
        return None
    algorithm, _, setting = whose.partition("-")
    try:
        return Rates.paper(settings.data, s, k, setting or settings.setting, algorithm)
    except ValueError:
        return None


def summary(curves: Curves, yardstick: Yardstick, settings: CompareSettings) -> dict[str, Any]:
    """Final numbers of every learner at every rank, and the optimum."""
    numbers: dict[str, Any] = {f"optimum_k{k}": yardstick.optimum(k) for k in settings.k}
    for (learner, k), curve in curves.items():
        name = f"{''.join(c if c.isalnum() else '_' for c in learner.lower()).strip('_')}_k{k}"
        numbers |= {
            f"{name}_excess": curve.excess[:, -1].mean(),
            f"{name}_excess_sd": curve.excess[:, -1].std(),
            f"{name}_excess_max": curve.excess[:, -1].max(),
            f"{name}_whitening_error": curve.whitening_error[:, -1].mean(),
            f"{name}_cpu_seconds": curve.seconds[:, -1].mean(),
            f"{name}_steps": int(curve.t[-1]),
            f"{name}_rates_fraction": curve.fraction,
        }
    return numbers


def check_claims(curves: Curves, settings: CompareSettings) -> list[Claim]:
    """What Sec. 6 says of this figure, at every rank."""
    bio = f"Bio-{settings.objective.upper()}"
    claims = []
    for k in settings.k:

        def at(learner: str, k: int = k) -> Curve | None:
            return curves.get((learner, k))

        def final(learner: str) -> float:
            return float(at(learner).excess[:, -1].mean())

        if at(CIRCUIT) and at(bio):
            spread = float(max(at(name).excess[:, -1].std() for name in (CIRCUIT, bio)))
            gap = final(CIRCUIT) - final(bio)
            claims.append(
                Claim(
                    f"k = {k}: the circuit of local rules does what the algorithm does",
                    gap <= max(3 * spread, 0.005),
                    {"circuit": final(CIRCUIT), "algorithm": final(bio), "spread": spread},
                )
            )
            deviation = float(at(CIRCUIT).whitening_error[:, -1].mean())
            claims.append(
                Claim(
                    f"k = {k}: at convergence the whitening constraint is satisfied",
                    deviation < 0.05,
                    {"deviation": deviation},
                )
            )
        if at("ANN"):
            claims.append(
                Claim(
                    f"k = {k}: Bio-RRMSE performs comparably to the network trained by backprop",
                    final(bio) <= final("ANN") + 0.02,
                    {"bio": final(bio), "ann": final("ANN")},
                )
            )
        if at("IQMD"):
            to = {name: steps_to(at(name), 0.05) for name in ("IQMD", bio, "ANN")}
            claims.append(
                Claim(f"k = {k}: IQMD needs the fewest samples", to["IQMD"] <= min(to.values()), _readable(to, "steps"))
            )
        if at("MSG-CCA"):
            to = {name: seconds_to(at(name), 0.05) for name in (bio, "MSG-CCA", "CCALin", "SAA", f"{bio}, offline")}
            claims.append(
                Claim(
                    f"k = {k}: online Bio-CCA is fastest in CPU time", to[bio] <= min(to.values()), _readable(to, "s")
                )
            )
            to = {name: steps_to(at(name), 0.05) for name in (f"{bio}, offline", "CCALin", "SAA")}
            claims.append(
                Claim(
                    f"k = {k}: offline Bio-CCA needs the fewest iterations",
                    to[f"{bio}, offline"] <= min(to.values()),
                    _readable(to, "steps"),
                )
            )
    return claims


def steps_to(curve: Curve, excess: float) -> float:
    """Steps after which the mean over seeds stays within ``excess`` of the optimum; infinite if it never does."""
    return _reached(curve, curve.t, excess)


def seconds_to(curve: Curve, excess: float) -> float:
    """CPU seconds after which the mean over seeds stays within ``excess`` of the optimum."""
    return _reached(curve, curve.seconds.mean(axis=0), excess)


def _reached(curve: Curve, along: Any, excess: float) -> float:
    import numpy as np

    outside = np.flatnonzero(curve.excess.mean(axis=0) > excess)
    if len(outside) == 0:
        return float(along[0])
    return float(along[outside[-1] + 1]) if outside[-1] + 1 < len(along) else float("inf")


def _readable(values: dict[str, float], unit: str) -> dict[str, float | str]:
    return {f"{name} ({unit} to 5 %)": value if value < float("inf") else "never" for name, value in values.items()}


def draw_race(curves: Curves, yardstick: Yardstick, settings: CompareSettings) -> Figure:
    """Objective against steps above, against CPU time below, a column a rank (the paper's Fig. 3)."""
    from biorrr.analysis.race_plots import plot_race

    learners = {learner for learner, _ in curves}
    mixed = settings.setting == "online" and "CCALin" in learners
    return plot_race(
        {key: (curve.t, curve.seconds, curve.objective) for key, curve in curves.items()},
        {k: yardstick.optimum(k) for k in settings.k},
        steps="samples or iterations" if mixed else counted(settings),
        note="MSG-CCA renews the inverse roots of its covariances whenever its samples have grown by 1 %"
        if "MSG-CCA" in learners
        else "",
    )


def counted(settings: CompareSettings) -> str:
    """What the steps of a learner are."""
    return "samples" if settings.setting == "online" else "iterations"


def draw_constraint(curves: Curves, settings: CompareSettings) -> Figure:
    """Deviation from the whitening constraint (the supplement's figure)."""
    from biorrr.analysis.race_plots import plot_constraint

    constrained = {
        key: (curve.t, curve.whitening_error)
        for key, curve in curves.items()
        if key[0] == CIRCUIT or key[0].startswith("Bio")
    }
    return plot_constraint(constrained, steps=counted(settings))


command = experiment.command(CompareSettings, compare)
