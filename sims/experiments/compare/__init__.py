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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import Samples
from biorrr.sims.data.kinds import MediaMill
from biorrr.sims.experiments.compare.claims import check_claims
from biorrr.sims.lab import Claim, Figure, Findings, Lab, Quantity, SettingsError, experiment, option, seeds_option
from biorrr.sims.lab.checks import check_rank
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lab.rates import ETA0, RatesSettings
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP
from biorrr.sims.lazy import analysis
from biorrr.sims.races.curves import CHARTS, Curves, join_heats
from biorrr.sims.races.heats import Heat, Track, tracks_of
from biorrr.sims.races.laps import CIRCUIT, Lap, race

STEPS = {"online": 100_000, "offline": 20_000}  # as in the paper: five of its epochs, and one
QUICK_STEPS = {"online": 10_000, "offline": 500}
QUICK_SEEDS = 2
STEPS_ARE = {"online": "samples", "offline": "iterations"}
BATCH_STEPS = 50  # CCALin and SAA are there after thirty
DEAR_SAMPLES = 20_000  # IQMD and MSG-CCA, whose samples cost most, are there after a few thousand
DIRECTIONS = {"x-to-y": (False,), "y-to-x": (True,), "both": (True, False)}  # whether Y predicts X


@dataclass(frozen=True, kw_only=True)
class CompareSettings(RatesSettings):
    """Settings of ``biorrr compare``."""

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


CAPTIONS = {
    "compare": "Excess over the optimum, in percent, of every learner against the steps it has taken, the passes "
    "it has made through the data and the processor time it has used, one column for each rank: means over seeds "
    "in bands of one standard deviation. The lower and the farther left, the better. A learner has arrived when it "
    "stays below the dashed lines at 5 % and 1 %. All start from the same weights and see the same samples in the "
    "same order; a step of an offline algorithm uses all data at once.",
    "constraint": "Deviation from the whitening constraint, ||Vx'CxxVx - I||²/k, of the circuit and of the paper's "
    "algorithm against steps, one column for each rank. It should fall towards 0: the outputs become uncorrelated "
    "and have unit variance.",
}


def measure(settings: CompareSettings) -> str:
    """Return the name of the excess of the circuit, or of the algorithm without a circuit, at the first rank."""
    heat = settings.heats[0]
    learner = CIRCUIT if heat.setting == "online" and settings.simulation else heat.bio
    return f"{prefix(heat, settings)}{plain_name(learner, settings.k[0])}_excess"


@experiment(
    shows="the circuit beside every algorithm the paper compares with",
    takes="3 min",
    paper="Sec. 7, Fig. 3; supplement E, Figs. 5 and 6",
    measure=measure,
    captions=CAPTIONS,
    charts=CHARTS,
    small={"data": "synthetic:samples=60,m=6,n=5", "k": (1, 2), "seeds": 2, "steps": 200, "engine": "numpy"},
)
def compare(lab: Lab, settings: CompareSettings) -> Findings:
    """Race all learners on the same data, and judge what the paper says of its figures."""
    if settings.rates == "auto" and (settings.eta0, settings.N) != (None, None):
        raise SettingsError("eta0, N: only with rates paper (got rates auto, which fit themselves to the data)")
    if settings.quick:
        settings = lab.set(seeds=min(settings.seeds, QUICK_SEEDS))
    settings = lab.fill_in(direction=default_direction(settings.data))
    data = lab.load(settings.data)
    check_rank(max(settings.k), data)
    tracks = tracks_of(data, settings.heats, settings.ridge)

    raced = race(lab, [lap for heat in tracks for lap in line_up(tracks[heat], heat, settings)], tracks)

    several = len(raced) > 1
    quantities = [Quantity("data", data.name), Quantity("rows", len(data.X)), Quantity("ridge", settings.ridge)]
    figures: list[Figure] = []
    claims: list[Claim] = []
    for heat, curves in raced.items():
        track, what = tracks[heat], describe(tracks[heat], heat, settings)
        quantities += summary(curves, track, heat, settings)
        which = plain(heat) if several else ""
        figures.append(Figure("compare", partial(draw_race, curves, heat, what), which, charted=True))
        if any(is_constrained(learner) for learner, _ in curves):
            figures.append(Figure("constraint", partial(draw_constraint, curves, heat, what), which))
        claims += [replace(claim, run=what) for claim in check_claims(curves, heat, settings.k)]
    return Findings(
        title=heading(tracks, settings) + "; data are centred",
        quantities=quantities,
        data={"run": join_heats(raced, settings.seed)},
        figures=figures,
        claims=claims,
    )


def default_direction(data: Samples) -> str:
    """Return which view of the data predicts the other: of MediaMill that which is nearer to the paper."""
    return "y-to-x" if isinstance(data, MediaMill) else "x-to-y"


def steps_of(settings: CompareSettings, heat: Heat) -> int:
    """Return the number of samples or iterations."""
    return settings.steps or (QUICK_STEPS if settings.quick else STEPS)[heat.setting]


def line_up(track: Track, heat: Heat, settings: CompareSettings) -> list[Lap]:
    """Return all laps of a heat, the circuit's first."""
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
        Lap(
            heat,
            name,
            algorithm,
            k,
            seed,
            lap_steps,
            whose and rates_of(settings, track, heat, k, *whose),
            tuple(options.items()),
        )
        for name, (algorithm, options, lap_steps, whose) in runners.items()
        for k in settings.k
        for seed in settings.every_seed
    ]


def rates_of(settings: CompareSettings, track: Track, heat: Heat, k: int, algorithm: str, setting: str) -> Any:
    """Return the rates asked for; None for those that follow the data, if the paper prints none and none were given."""
    asked = settings if algorithm == "biorrr" else replace(settings, eta0=None, N=None)
    try:
        return asked.given_rates(track.data.name, heat.s, k, setting, algorithm)
    except SettingsError:
        return None


def plain(text: object) -> str:
    """Return the text as part of the name of a number or a file."""
    return "_".join("".join(c if c.isalnum() else " " for c in str(text).lower()).split())


def plain_name(learner: str, k: int) -> str:
    """Return the prefix of the numbers of a learner at one rank."""
    return f"{''.join(c if c.isalnum() else '_' for c in learner.lower()).strip('_')}_k{k}"


def prefix(heat: Heat, settings: CompareSettings) -> str:
    """Return the prefix of the numbers of a heat, where there are several."""
    return f"{plain(heat)}_" if len(settings.heats) > 1 else ""


def epochs(track: Track, heat: Heat, settings: CompareSettings) -> float:
    """Return the passes through the data of online learners; 0 where all data are there at once."""
    return steps_of(settings, heat) / len(track.data.X) if heat.setting == "online" else 0.0


def describe(track: Track, heat: Heat, settings: CompareSettings) -> str:
    """Return in words what was run in a heat."""
    data, steps = track.data, steps_of(settings, heat)
    online = f"{steps:,} samples ({epochs(track, heat, settings):.3g} epochs)"
    done = online if heat.setting == "online" else f"{steps:,} iterations"
    seeds = f"{settings.seeds} seed{'s' if settings.seeds > 1 else ''}"
    return f"{data.name}: {data.direction}; {heat.objective.upper()} {heat.setting}, {done}, {seeds}"


def heading(tracks: Mapping[Heat, Track], settings: CompareSettings) -> str:
    """Return in words what was run in all heats."""
    (heat, track), *more = tracks.items()
    if not more:
        return describe(track, heat, settings)
    objectives, ways = ({getattr(one, name) for one in tracks} for name in ("objective", "setting"))
    directions = " and ".join(dict.fromkeys(one.data.direction.partition(",")[0] for one in tracks.values()))
    return (
        f"{track.data.name}: {directions}, {len(track.data.X):,} rows; {', '.join(sorted(objectives)).upper()}, "
        f"{' and '.join(sorted(ways, reverse=True))}, {settings.seeds} seeds"
    )


def summary(curves: Curves, track: Track, heat: Heat, settings: CompareSettings) -> list[Quantity]:
    """Return the final numbers of every learner at every rank, and the optimum."""
    known = {"s": heat.s, "direction": track.data.direction, "epochs": epochs(track, heat, settings)}
    known |= {f"optimum_k{k}": track.exact.optimum(k) for k in settings.k}
    found = [Quantity(name, value) for name, value in known.items()]
    for (learner, k), curve in curves.items():
        name = plain_name(learner, k)
        row = f"{heat}: {learner}, k = {k}" if len(settings.heats) > 1 else f"{learner}, k = {k}"
        excess = curve.excess[:, -1]
        found += [
            Quantity(f"{name}_excess", excess.mean(), PERCENT, "excess", spread=excess.std(), row=row),
            Quantity(f"{name}_excess_max", excess.max(), PERCENT),
            Quantity(f"{name}_whitening_error", curve.whitening_error[:, -1].mean()),
            Quantity(f"{name}_cpu_seconds", curve.seconds[:, -1].mean(), "s", "CPU time", row=row),
            Quantity(f"{name}_passes", curve.passes[:, -1].mean()),
            Quantity(f"{name}_steps", int(curve.t[-1])),
            Quantity(f"{name}_rates_fraction", curve.fraction, "", "rates x" if curve.fraction < 1 else "", row=row),
        ]
    return [replace(one, name=f"{prefix(heat, settings)}{one.name}") for one in found]


def is_constrained(learner: str) -> bool:
    """Return True if the paper says that the learner whitens its output."""
    return learner == CIRCUIT or learner.startswith("Bio")


def steps_counted(curves: Mapping[tuple[str, int], object], heat: Heat) -> str:
    """Return what a step is: a sample online, an iteration offline."""
    mixed = heat.setting == "online" and any(learner.endswith("offline") for learner, _ in curves)
    return "samples or iterations" if mixed else STEPS_ARE[heat.setting]


def draw_race(curves: Curves, heat: Heat, title: str) -> Any:
    """Draw the excess against steps, passes and CPU time, one column for each rank (Figs. 3 and 6)."""
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
    """Draw the deviation from the whitening constraint (Fig. 5)."""
    from biorrr.analysis.figures.races import plot_constraint

    constrained = {key: (curve.t, curve.whitening_error) for key, curve in curves.items() if is_constrained(key[0])}
    return plot_constraint(constrained, steps=steps_counted(constrained, heat), title=title)
