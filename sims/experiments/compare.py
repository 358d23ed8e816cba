"""Race the circuit against the algorithms the paper compares with.

Draws the excess over the optimum against samples, passes through the data and CPU time, mean and standard deviation
over seeds, and the deviation from the whitening constraint, and judges what the paper says of its figures. All learners
start from the same weights and see the same samples in the same order; all are compiled. Data are centred.

The paper predicts 120 visual from 100 textual features of MediaMill, 20,000 samples in 5 epochs. Its textual features
are not public; the 101 concepts that were annotated for the same frames (43,907 rows in all) are the nearest that is.
With --direction y-to-x they predict the 120 visual features, which is nearer to the paper; with x-to-y the features
predict the concepts. As many samples are presented as in the paper, 100,000, which may be more epochs: the figure, the
table and the summary say how many rows and epochs there were. The rates are those that the paper prints for its own
data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import Samples
from biorrr.sims.data.kinds import MediaMill
from biorrr.sims.experiment import Findings, Found, Problem, check_rank
from biorrr.sims.experiments.helpers.judgements import SAME, comparable, fewest, matching, white
from biorrr.sims.experiments.helpers.race import CIRCUIT, Curve, Curves, Heat, Lap, Race, Tracks, join_heats
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.rates import ETA0, RatesSettings
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, SettingsError, option, seeds_option
from biorrr.sims.lazy import analysis, data_sets

STEPS = {"online": 100_000, "offline": 20_000}  # as in the paper: five of its epochs, and one
QUICK_STEPS = {"online": 10_000, "offline": 500}
QUICK_SEEDS = 2
STEPS_ARE = {"online": "samples", "offline": "iterations"}
BATCH_STEPS = 50  # CCALin and SAA are there after thirty
DEAR_SAMPLES = 20_000  # IQMD and MSG-CCA, whose samples cost most, are there after a few thousand
DIRECTIONS = {"x-to-y": (False,), "y-to-x": (True,), "both": (True, False)}  # whether Y predicts X
PLACE = {
    ("rrmse", "online"): 'Sec. 7, "Numerical experiments", RRMSE; Fig. 3a',
    ("cca", "online"): 'Sec. 7, "Numerical experiments", CCA; Fig. 3b',
    ("rrmse", "offline"): 'supplement E, "Numerical experiment details"; Fig. 6',
    ("cca", "offline"): 'Sec. 7, "Numerical experiments", CCA; Fig. 3b',
}
CONSTRAINT = 'supplement E, "Numerical experiment details"; Fig. 5'


@dataclass(frozen=True, kw_only=True)
class CompareSettings(RatesSettings):
    """What can be set of ``biorrr compare``."""

    objective: str = option("rrmse", "rrmse is s = 0, cca is s = 1", choices=("rrmse", "cca"))
    setting: str = option("online", "one sample at a time, or the whole data at once", choices=("online", "offline"))
    data: Samples = option("mediamill", DATA_HELP, metavar=DATA_FORM)
    direction: str | None = option(
        None,
        "which view predicts the other; y-to-x by default for mediamill, as in the paper, otherwise x-to-y",
        choices=tuple(DIRECTIONS),
    )
    all: bool = option(False, "race everything: RRMSE and CCA, online and offline, both directions")
    k: tuple[int, ...] = option((1, 2, 4), "ranks", short="k", at_least=1)
    seeds: int = seeds_option(5)
    steps: int | None = option(None, "samples (online, 100000 by default) or iterations (offline, 20000)", at_least=1)
    ridge: float = option(0.1, "added to Cxx and Cyy", at_least=0)
    rates: str = option(
        "paper",
        "paper takes those that the supplement prints, where it prints any; auto fits them to the data",
        choices=("auto", "paper"),
    )
    eta0: float | None = option(None, f"of Bio-RRR: {ETA0}", at_least=0)
    simulation: bool = option(True, "also simulate the circuit itself, where samples come one at a time")
    quick: bool = option(False, "a tenth of the steps and two seeds: a first look, without verdicts")

    @property
    def heats(self) -> list[Heat]:
        """The races to run."""
        directions = DIRECTIONS["both"] if self.all else DIRECTIONS[self.direction or "x-to-y"]
        # The figure of CCA online has the offline algorithms too.
        raced = (("rrmse", "online"), ("rrmse", "offline"), ("cca", "online"))
        if not self.all:
            raced = ((self.objective, self.setting),)
        return [Heat(*race, swapped) for race in raced for swapped in directions]


class Compare(Race[CompareSettings]):
    """``biorrr compare``: the paper's main figure, the circuit beside every algorithm it is compared with."""

    settings = CompareSettings
    shows = "the circuit beside every algorithm the paper compares with"
    takes = "3 min"
    paper = "Sec. 7, Fig. 3; supplement E, Figs. 5 and 6"
    figures = {
        "compare": "Excess over the optimum, in percent, of every learner against the steps it has taken, the passes "
        "it has made through the data and the processor time it has used, one column for each rank: means over seeds "
        "in bands of one standard deviation. The lower and the farther left, the better. A learner has arrived when it "
        "stays below the dashed lines at 5 % and 1 %. All start from the same weights and see the same samples in the "
        "same order; a step of an offline algorithm uses all data at once.",
        "constraint": "Deviation from the whitening constraint, ||Vx'CxxVx - I||²/k, of the circuit and of the paper's "
        "algorithm against steps, one column for each rank. It should fall towards 0: the outputs become uncorrelated "
        "and have unit variance.",
    }

    def measure_of(self, settings: CompareSettings) -> str:
        """Excess of the circuit, or of the paper's algorithm where there is no circuit, at the first rank."""
        heat = settings.heats[0]
        learner = CIRCUIT if heat.setting == "online" and settings.simulation else heat.bio
        return f"{prefix(heat, settings)}{plain_name(learner, settings.k[0])}_excess"

    def check(self, settings: CompareSettings) -> CompareSettings:
        """Settle the direction and how many seeds; refuse rates that contradict each other."""
        if settings.direction is None:
            settings = replace(settings, direction=default_direction(settings.data))
        if settings.rates == "auto" and (settings.eta0, settings.N) != (None, None):
            raise SettingsError("eta0, N: only with rates paper (got rates auto, which fit themselves to the data)")
        if settings.quick:
            settings = replace(settings, seeds=min(settings.seeds, QUICK_SEEDS))
        return settings

    def fit(self, settings: CompareSettings, data: data_sets.Dataset) -> CompareSettings:
        """Refuse ranks that the data do not have."""
        check_rank(max(settings.k), data)
        return settings

    def heats(self, settings: CompareSettings) -> list[Heat]:
        """The races to run."""
        return settings.heats

    def laps(self, problem: Tracks[CompareSettings]) -> list[Lap]:
        """All laps of all heats, the circuit's first."""
        return [lap for heat, track in problem.heats.items() for lap in line_up(track, heat)]

    def conclude(self, problem: Problem[CompareSettings], found: Found) -> Findings:
        """Score and draw the races, and judge the paper's claims."""
        assert isinstance(problem, Tracks)
        settings, heats = problem.settings, self.curves(problem, found)
        numbers: dict[str, Any] = {"data": problem.data.name, "rows": len(problem.data.X), "ridge": settings.ridge}
        rows: dict[str, str] = {}
        figures: dict[str, Any] = {}
        claims: list[Claim] = []
        for heat, curves in heats.items():
            track, several = problem.heats[heat], len(heats) > 1
            what = describe(track, heat)
            own = {"s": heat.s, "direction": track.data.direction, "epochs": epochs(track, heat)}
            own |= summary(curves, track.exact, settings)
            numbers |= {f"{prefix(heat, settings)}{name}": value for name, value in own.items()}
            rows |= {f"{heat}: {name}" if several else name: row for name, row in table(curves).items()}
            end = f"-{plain(heat)}" if several else ""
            figures[f"compare{end}"] = partial(draw_race, curves, heat, what)
            if any(is_constrained(learner) for learner, _ in curves):
                figures[f"constraint{end}"] = partial(draw_constraint, curves, heat, what)
            claims += [replace(claim, run=what) for claim in check_claims(curves, heat, settings.k)]
        return Findings(
            numbers=numbers,
            title=heading(problem) + "; data are centred",
            rows=rows,
            results={"run": join_heats(heats, settings.seed)},
            figures=figures,
            claims=claims,
        )


def default_direction(data: Samples) -> str:
    """Return which view of the data predicts the other: of MediaMill that which is nearer to the paper."""
    return "y-to-x" if isinstance(data, MediaMill) else "x-to-y"


def steps_of(settings: CompareSettings, heat: Heat) -> int:
    """How many samples or iterations."""
    return settings.steps or (QUICK_STEPS if settings.quick else STEPS)[heat.setting]


def line_up(track: Problem[CompareSettings], heat: Heat) -> list[Lap]:
    """All laps of a heat, the circuit's first."""
    settings = track.settings
    online, steps = heat.setting == "online", steps_of(settings, heat)
    # Name: algorithm, its options, steps, whose rates and for which setting.
    runners: dict[str, tuple[Any, dict[str, Any], int, tuple[str, str] | None]] = {}
    if online:
        if settings.simulation:
            runners[CIRCUIT] = None, {}, steps, ("biorrr", "online")
        runners[heat.bio] = analysis.OnlineBioRRR, {}, steps, ("biorrr", "online")
    if not online or heat.s == 1:  # the paper's figure of CCA has both
        offline_steps = steps if not online else min(steps, STEPS["offline"])
        name = f"{heat.bio}, offline" if online else heat.bio
        runners[name] = analysis.OfflineBioRRR, {"tol": 0.0}, offline_steps, ("biorrr", "offline")
    if heat.s == 0:
        runners["IQMD"] = analysis.IQMD, {"online": online, "tol": 0.0}, min(steps, DEAR_SAMPLES), None
        runners["ANN"] = analysis.TwoLayerANN, {"online": online, "tol": 0.0}, steps, ("ann", heat.setting)
    else:
        if online:
            runners["MSG-CCA"] = analysis.CappedMSG, {}, min(steps, DEAR_SAMPLES), None
        # Without a tolerance all seeds stop at the same iteration.
        runners["CCALin"] = analysis.CCALin, {"tol": 0.0}, min(steps, BATCH_STEPS), None
        runners["SAA"] = analysis.SAA, {"tol": 0.0}, min(steps, BATCH_STEPS), None
    return [
        Lap(heat, name, algorithm, k, seed, lap_steps, whose and rates_of(settings, track, heat, k, *whose), options)
        for name, (algorithm, options, lap_steps, whose) in runners.items()
        for k in settings.k
        for seed in settings.every_seed
    ]


def rates_of(
    settings: CompareSettings, track: Problem[CompareSettings], heat: Heat, k: int, algorithm: str, setting: str
) -> Any:
    """The rates asked for; None for those that follow the data, as where the paper prints none and none were given."""
    asked = settings if algorithm == "biorrr" else replace(settings, eta0=None, N=None)
    try:
        return asked.given_rates(track.data.name, heat.s, k, setting, algorithm)
    except SettingsError:
        return None


def plain(text: object) -> str:
    """``text`` as part of the name of a number or a file."""
    return "_".join("".join(c if c.isalnum() else " " for c in str(text).lower()).split())


def plain_name(learner: str, k: int) -> str:
    """How the numbers of a learner at one rank begin."""
    return f"{''.join(c if c.isalnum() else '_' for c in learner.lower()).strip('_')}_k{k}"


def prefix(heat: Heat, settings: CompareSettings) -> str:
    """How the numbers of a heat begin, where there are several."""
    return f"{plain(heat)}_" if len(settings.heats) > 1 else ""


def epochs(track: Problem[CompareSettings], heat: Heat) -> float:
    """Passes through the data of what learns online; 0 where all data are there at once."""
    return steps_of(track.settings, heat) / len(track.data.X) if heat.setting == "online" else 0.0


def describe(track: Problem[CompareSettings], heat: Heat) -> str:
    """What was run, in words."""
    data, settings, steps = track.data, track.settings, steps_of(track.settings, heat)
    online = f"{steps:,} samples ({epochs(track, heat):.3g} epochs)"
    done = online if heat.setting == "online" else f"{steps:,} iterations"
    seeds = f"{settings.seeds} seed{'s' if settings.seeds > 1 else ''}"
    return f"{data.name}: {data.direction}; {heat.objective.upper()} {heat.setting}, {done}, {seeds}"


def heading(problem: Tracks[CompareSettings]) -> str:
    """What was run in all heats, in words."""
    (heat, track), *more = problem.heats.items()
    if not more:
        return describe(track, heat)
    objectives, settings = ({getattr(one, name) for one in problem.heats} for name in ("objective", "setting"))
    directions = " and ".join(dict.fromkeys(one.data.direction.partition(",")[0] for one in problem.heats.values()))
    return (
        f"{track.data.name}: {directions}, {len(track.data.X):,} rows; {', '.join(sorted(objectives)).upper()}, "
        f"{' and '.join(sorted(settings, reverse=True))}, {problem.settings.seeds} seeds"
    )


def table(curves: Curves) -> dict[str, str]:
    """What is printed of every learner at every rank."""
    return {
        f"{learner}, k = {k}": f"excess {curve.excess[:, -1].mean():.3%} ± {curve.excess[:, -1].std():.3%}, "
        f"{curve.seconds[:, -1].mean():.3g} s CPU" + (f", rates x {curve.fraction:g}" if curve.fraction < 1 else "")
        for (learner, k), curve in curves.items()
    }


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
            f"{name}_passes": curve.passes[:, -1].mean(),
            f"{name}_steps": int(curve.t[-1]),
            f"{name}_rates_fraction": curve.fraction,
        }
    return numbers


def check_claims(curves: Curves, heat: Heat, ranks: tuple[int, ...]) -> Iterator[Claim]:
    """What the paper says of this race, at every rank."""
    bio, offline = heat.bio, f"{heat.bio}, offline"
    for k in ranks:
        at: Mapping[str, Curve] = {learner: curve for (learner, rank), curve in curves.items() if rank == k}
        rank = f"k = {k}"
        place: dict[str, Any] = {"place": PLACE[heat.objective, heat.setting]}
        if heat.setting == "online":
            for learner in (name for name in (CIRCUIT, bio) if name in at):
                text = f"{rank}: at convergence the whitening constraint is satisfied ({learner})"
                yield white(at[learner], text=text, place=CONSTRAINT)
            if CIRCUIT in at:
                text = f"{rank}: the neural circuit implements the online algorithm (same excess at the end)"
                circuit = 'Sec. 5.1, "Neural circuit"'
                yield comparable(at[CIRCUIT], at[bio], ("the circuit", bio), SAME, text=text, place=circuit)
        if heat.objective == "rrmse":
            text = f"{rank}: IQMD is the {'most sample' if heat.setting == 'online' else 'more'} efficient"
            yield fewest(at, "IQMD", (bio, "ANN"), "passes", text=text, **place)
            if heat.setting == "online":
                text = f"{rank}: ANN and {bio} are within variance of each other (excess at the end)"
                yield comparable(at[bio], at["ANN"], (bio, "ANN"), text=text, **place)
                text = f"{rank}: ANN and {bio} are within variance of each other (samples needed)"
                yield matching(at, bio, "ANN", "t", text=text, **place)
                for learner in (bio, "ANN"):
                    text = f"{rank}: {learner} matches the performance of IQMD in run time"
                    yield matching(at, learner, "IQMD", "seconds", text=text, **place)
            else:
                text = f"{rank}: ANN and {bio} have comparable sample efficiency"
                yield matching(at, bio, "ANN", "t", text=text, **place)
                text = f"{rank}: {bio} is faster than ANN in CPU run time (after the covariances, which both need)"
                yield fewest(at, bio, ("ANN",), "seconds after preparation", text=text, **place)
        else:
            if heat.setting == "online":
                text = f"{rank}: online {bio} is fastest in CPU run time"
                yield fewest(at, bio, ("MSG-CCA", "CCALin", "SAA", offline), "seconds", text=text, **place)
                text = f"{rank}: offline {bio} is the most sample efficient (iterations, as the paper counts)"
                yield fewest(at, offline, (bio, "MSG-CCA", "CCALin", "SAA"), "t", text=text, **place)
            own = offline if heat.setting == "online" else bio
            text = f"{rank}: offline {bio} is the most sample efficient, of the offline ones (passes through the data)"
            yield fewest(at, own, ("CCALin", "SAA"), "passes", text=text, **place)


def is_constrained(learner: str) -> bool:
    """Whether the learner is one that the paper says whitens its output."""
    return learner == CIRCUIT or learner.startswith("Bio")


def steps_counted(curves: Mapping[tuple[str, int], object], heat: Heat) -> str:
    """What a step is: a sample online and an iteration offline."""
    mixed = heat.setting == "online" and any(learner.endswith("offline") for learner, _ in curves)
    return "samples or iterations" if mixed else STEPS_ARE[heat.setting]


def draw_race(curves: Curves, heat: Heat, title: str) -> Any:
    """Excess against steps, passes and CPU time, one column for each rank (Figs. 3 and 6)."""
    from biorrr.analysis.figures.races import plot_race

    learners = {learner for learner, _ in curves}
    return plot_race(
        {key: (curve.t, curve.passes, curve.seconds, curve.excess) for key, curve in curves.items()},
        steps=steps_counted(curves, heat),
        title=title,
        note="MSG-CCA renews the inverse roots of its covariances whenever its samples have grown by 1 %"
        if "MSG-CCA" in learners
        else "",
    )


def draw_constraint(curves: Curves, heat: Heat, title: str) -> Any:
    """Deviation from the whitening constraint (Fig. 5)."""
    from biorrr.analysis.figures.races import plot_constraint

    constrained = {key: (curve.t, curve.whitening_error) for key, curve in curves.items() if is_constrained(key[0])}
    return plot_constraint(constrained, steps=steps_counted(constrained, heat), title=title)


EXPERIMENT = Compare()
