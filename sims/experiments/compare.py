"""Race the circuit against the algorithms the paper compares with.

Draws the objective against samples and against CPU time (Fig. 3 and the supplement's), mean and standard deviation
over seeds, and the deviation from the whitening constraint. Where the paper prints no rates for the data, learners
use their own. Data are centred.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.claims import Claim
from biorrr.sims.experiment import Findings, Found, Problem, check_rank
from biorrr.sims.experiments.helpers.race import CIRCUIT, Curve, Lap, Race, as_dataset
from biorrr.sims.lazy import analysis, data_sets, models, np
from biorrr.sims.settings import ExperimentSettings, option, seeds_option

Curves = dict[tuple[str, int], Curve]
STEPS = {"online": 100_000, "offline": 20_000}  # as in the paper: five epochs of samples, one of iterations
QUICK_STEPS = {"online": 10_000, "offline": 500}
QUICK_SEEDS = 2
STEPS_ARE = {"online": "samples", "offline": "iterations"}
BATCH_STEPS = 300
NEAR = 0.05  # excess within which a learner has arrived


@dataclass(frozen=True, kw_only=True)
class CompareSettings(ExperimentSettings):
    """What can be set of ``biorrr compare``."""

    objective: str = option("rrmse", "rrmse is s = 0, cca is s = 1", choices=("rrmse", "cca"))
    setting: str = option("online", "one sample at a time, or the whole data at once", choices=("online", "offline"))
    data: str = option("mediamill", "a name that `biorrr data` lists, or a file with X and Y")
    swap: bool = option(False, "exchange X and Y")
    k: tuple[int, ...] = option((1, 2, 4), "ranks", short="k", at_least=1)
    seeds: int = seeds_option(5)
    steps: int | None = option(None, "samples (online, 100000 by default) or iterations (offline, 20000)", at_least=1)
    ridge: float = option(0.1, "added to Cxx and Cyy", at_least=0)
    quick: bool = option(False, "a tenth of the steps and two seeds")

    @property
    def s(self) -> float:
        """Which regression: 0 is RRMSE, 1 is CCA."""
        return float(self.objective == "cca")


class Compare(Race[CompareSettings]):
    """``biorrr compare``: the paper's main figure, the circuit beside every algorithm it is compared with."""

    settings = CompareSettings
    shows = "the circuit beside every algorithm the paper compares with"
    takes = "3 min"
    paper = "Fig. 3, supplement"
    figures = {
        "compare": "objective of every learner against steps and against CPU time, one column for each rank",
        "constraint": "deviation from the whitening constraint against steps",
    }

    def measure_of(self, settings: CompareSettings) -> str:
        """Excess of the circuit, or of the paper's algorithm where there is no circuit, at the first rank."""
        learner = CIRCUIT if settings.setting == "online" else f"Bio-{settings.objective.upper()}"
        return f"{plain_name(learner, settings.k[0])}_excess"

    def check(self, settings: CompareSettings) -> CompareSettings:
        """Settle how many steps and seeds."""
        if settings.quick:
            steps = settings.steps or QUICK_STEPS[settings.setting]
            settings = replace(settings, steps=steps, seeds=min(settings.seeds, QUICK_SEEDS))
        return replace(settings, steps=settings.steps or STEPS[settings.setting])

    def fit(self, settings: CompareSettings, data: data_sets.Dataset) -> CompareSettings:
        """Refuse ranks that the data do not have."""
        check_rank(max(settings.k), data)
        return settings

    def prepare(self, settings: CompareSettings, data: data_sets.Dataset) -> Problem[CompareSettings]:
        """Centre the data, and exchange X and Y if asked to."""
        return super().prepare(settings, replace(data, X=data.Y, Y=data.X) if settings.swap else data)

    def laps(self, problem: Problem[CompareSettings]) -> list[Lap]:
        """All laps of the race, the circuit's first."""
        return line_up(problem.settings)

    def conclude(self, problem: Problem[CompareSettings], found: Found) -> Findings:
        """Score and draw the race, and check the paper's claims."""
        settings, data = problem.settings, problem.data
        curves = self.curves(problem, found)
        return Findings(
            numbers={"data": data.name, "s": settings.s, "ridge": settings.ridge}
            | summary(curves, problem.exact, settings),
            title=f"{data.name}: {settings.objective.upper()}, {settings.setting}, {settings.seeds} seeds; "
            "data are centred",
            rows={
                f"{learner}, k = {k}": f"excess {curve.excess[:, -1].mean():.3%} +- {curve.excess[:, -1].std():.3%}, "
                f"{curve.seconds[:, -1].mean():.3g} s CPU"
                + (f", rates x {curve.fraction:g}" if curve.fraction < 1 else "")
                for (learner, k), curve in curves.items()
            },
            results={"run": as_dataset(curves, settings.seed)},
            figures={
                "compare": partial(draw_race, curves, problem.exact, settings),
                "constraint": partial(draw_constraint, curves, settings),
            },
            claims=[*check_claims(curves, settings)],
        )


def line_up(settings: CompareSettings) -> list[Lap]:
    """All laps of the race, the circuit's first."""
    assert settings.steps is not None
    online, steps, s = settings.setting == "online", settings.steps, settings.s
    bio = f"Bio-{settings.objective.upper()}"
    # Name: algorithm, its options, steps, whose printed rates.
    runners: dict[str, tuple[Any, dict[str, Any], int, str | None]] = {}
    if online:
        runners[CIRCUIT] = None, {}, steps, "biorrr"
        runners[bio] = analysis.OnlineBioRRR, {}, steps, "biorrr"
    if not online or s == 1:
        offline_steps = steps if not online else min(steps, STEPS["offline"])
        name = bio if not online else f"{bio}, offline"
        runners[name] = analysis.OfflineBioRRR, {"tol": 0.0}, offline_steps, "biorrr-offline"
    if s == 0:
        runners["IQMD"] = analysis.IQMD, {"online": online}, steps, None
        runners["ANN"] = analysis.TwoLayerANN, {"online": online}, steps, "ann"
    else:
        if online:
            runners["MSG-CCA"] = analysis.CappedMSG, {}, steps, None
        # They converge within tens of iterations; without a tolerance all seeds stop at the same ones.
        runners["CCALin"] = analysis.CCALin, {"tol": 0.0}, min(steps, BATCH_STEPS), None
        runners["SAA"] = analysis.SAA, {"tol": 0.0}, min(steps, BATCH_STEPS), None
    return [
        Lap(name, algorithm, k, seed, lap_steps, printed_rates(settings, k, whose), options)
        for name, (algorithm, options, lap_steps, whose) in runners.items()
        for k in settings.k
        for seed in settings.every_seed
    ]


def printed_rates(settings: CompareSettings, k: int, whose: str | None) -> Any:
    """The rates the supplement prints, or None where it prints none."""
    if whose is None:
        return None
    algorithm, _, setting = whose.partition("-")
    try:
        return models.Rates.paper(settings.data, settings.s, k, setting or settings.setting, algorithm)
    except ValueError:
        return None


def plain_name(learner: str, k: int) -> str:
    """How the numbers of a learner at one rank begin."""
    return f"{''.join(c if c.isalnum() else '_' for c in learner.lower()).strip('_')}_k{k}"


def summary(curves: Curves, yardstick: analysis.Yardstick, settings: CompareSettings) -> dict[str, Any]:
    """Final numbers of every learner at every rank, and the optimum."""
    numbers: dict[str, Any] = {f"optimum_k{k}": yardstick.optimum(k) for k in settings.k}
    for (learner, k), curve in curves.items():
        name = plain_name(learner, k)
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


def check_claims(curves: Curves, settings: CompareSettings) -> Iterator[Claim]:
    """What Sec. 6 says of this figure, at every rank."""
    bio = f"Bio-{settings.objective.upper()}"
    offline = f"{bio}, offline"
    for k in settings.k:
        at = {learner: curve for (learner, rank), curve in curves.items() if rank == k}
        final = {learner: float(curve.excess[:, -1].mean()) for learner, curve in at.items()}
        steps = {learner: reached(curve, curve.t) for learner, curve in at.items()}
        seconds = {learner: reached(curve, curve.seconds.mean(axis=0)) for learner, curve in at.items()}
        if CIRCUIT in at:
            spread = float(max(at[name].excess[:, -1].std() for name in (CIRCUIT, bio)))
            yield Claim(
                text=f"k = {k}: the circuit of local rules does what the algorithm does",
                value=final[CIRCUIT] - final[bio],
                high=max(3 * spread, 0.005),
                numbers={"circuit": final[CIRCUIT], "algorithm": final[bio]},
            )
            deviation = float(at[CIRCUIT].whitening_error[:, -1].mean())
            text = f"k = {k}: at convergence the whitening constraint is satisfied"
            yield Claim(text=text, value=deviation, high=0.05)
        if "ANN" in at:
            text = f"k = {k}: Bio-RRMSE performs comparably to the network trained by backprop"
            yield Claim(
                text=text,
                value=final[bio] - final["ANN"],
                low=-0.02,
                high=0.02,
                numbers={"bio": final[bio], "ann": final["ANN"]},
            )
        if "IQMD" in at:
            yield first(f"k = {k}: IQMD needs the fewest samples", ("IQMD", bio, "ANN"), steps, "steps")
        if "MSG-CCA" in at:
            racers = (bio, "MSG-CCA", "CCALin", "SAA", offline)
            yield first(f"k = {k}: online Bio-CCA is fastest in CPU time", racers, seconds, "s")
            racers = (offline, "CCALin", "SAA")
            yield first(f"k = {k}: offline Bio-CCA needs the fewest iterations", racers, steps, "steps")


def reached(curve: Curve, along: np.ndarray) -> float:
    """Steps or seconds ``along`` a curve after which the mean over seeds stays within 5 % of the optimum."""
    outside = np.flatnonzero(curve.excess.mean(axis=0) > NEAR)
    if len(outside) == 0:
        return float(along[0])
    return float(along[outside[-1] + 1]) if outside[-1] + 1 < len(along) else float("inf")


def first(text: str, learners: Sequence[str], to: Mapping[str, float], unit: str) -> Claim:
    """The claim that the first of ``learners`` needs least to come near the optimum."""
    readable = {f"{name} ({unit} to 5 %)": to[name] if to[name] < float("inf") else "never" for name in learners}
    best = min(to[name] for name in learners[1:])
    return Claim(text=text, value=to[learners[0]], high=best if best < float("inf") else 1e300, numbers=readable)


def draw_race(curves: Curves, yardstick: analysis.Yardstick, settings: CompareSettings) -> Any:
    """Objective against steps above, against CPU time below, one column for each rank (the paper's Fig. 3)."""
    from biorrr.analysis.figures.races import plot_race

    learners = {learner for learner, _ in curves}
    mixed = settings.setting == "online" and "CCALin" in learners
    return plot_race(
        {key: (curve.t, curve.seconds, curve.objective) for key, curve in curves.items()},
        {k: yardstick.optimum(k) for k in settings.k},
        steps="samples or iterations" if mixed else STEPS_ARE[settings.setting],
        note="MSG-CCA renews the inverse roots of its covariances whenever its samples have grown by 1 %"
        if "MSG-CCA" in learners
        else "",
    )


def draw_constraint(curves: Curves, settings: CompareSettings) -> Any:
    """Deviation from the whitening constraint (the supplement's figure)."""
    from biorrr.analysis.figures.races import plot_constraint

    constrained = {
        key: (curve.t, curve.whitening_error)
        for key, curve in curves.items()
        if key[0] == CIRCUIT or key[0].startswith("Bio")
    }
    return plot_constraint(constrained, steps=STEPS_ARE[settings.setting])


EXPERIMENT = Compare()
