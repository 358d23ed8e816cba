"""Learners side by side on the same data: each leaves its filters along the way, with the CPU time they took.

All start from the same weights and see the same samples in the same order where they have the same seed. All are
compiled. Learning is timed on one thread, without compilation and without scoring.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter, process_time
from typing import Any, ClassVar

from biorrr.sims.experiment import Experiment, Found, Problem, S, StoppedError
from biorrr.sims.lab.circuits import compiled_if_possible, completed
from biorrr.sims.lazy import analysis, circuits, data_sets, models, np, xr
from biorrr.sims.page.views import Chart, View

CIRCUIT = "circuit (Brian2)"
# Fractions of the printed rates to try in turn: they sit at the edge of divergence.
FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.2)
SNAPSHOTS = 80
_STEPS = {"t": "samples or iterations", "passes": "passes through the data", "seconds": "CPU time (s)"}


@dataclass(frozen=True)
class Heat:
    """One race: which regression, how samples arrive, and which view of the data predicts the other."""

    objective: str  # "rrmse" (s = 0) or "cca" (s = 1)
    setting: str  # "online" or "offline"
    swapped: bool = False  # whether Y predicts X

    @property
    def s(self) -> float:
        """Which regression: 0 is RRMSE, 1 is CCA."""
        return float(self.objective == "cca")

    @property
    def bio(self) -> str:
        """What the paper calls its algorithm here."""
        return f"Bio-{self.objective.upper()}"

    def __str__(self) -> str:
        return f"{self.objective.upper()}, {self.setting}, {'Y predicts X' if self.swapped else 'X predicts Y'}"


@dataclass(frozen=True)
class Lap:
    """One learner, once."""

    heat: Heat
    learner: str  # name of the curve it belongs to
    algorithm: Callable[..., Any] | None  # class of biorrr.analysis; None for the circuit
    k: int
    seed: int
    steps: int  # samples (online) or iterations (offline)
    rates: models.Rates | None = None  # where the learner takes any
    options: Mapping[str, Any] = field(default_factory=dict)  # further ones of the algorithm

    @property
    def group(self) -> tuple[Heat, str, int]:
        """What all seeds of the learner share."""
        return self.heat, self.learner, self.k


@dataclass(frozen=True)
class Curve:
    """A learner's laps at one rank, over seeds."""

    t: np.ndarray  # (S,), samples or iterations done
    passes: np.ndarray  # (seeds, S), passes through the data until then; all others as many
    seconds: np.ndarray  # CPU time until then
    objective: np.ndarray
    excess: np.ndarray
    whitening_error: np.ndarray
    fraction: float = 1.0  # of the rates asked for, the largest tried that let no seed diverge


Curves = dict[tuple[str, int], Curve]  # of one heat, by learner and rank


@dataclass(frozen=True)
class Tracks(Problem[S]):
    """The data and the exact solution of every heat."""

    heats: Mapping[Heat, Problem[S]]


class Race(Experiment[S]):
    """An experiment whose parts are laps of learners; a learner of which a seed diverges tries smaller rates."""

    charts: ClassVar[tuple[Chart, ...]] = (
        Chart(
            "The race",
            tuple(
                View(
                    label,
                    {name: ""},
                    _STEPS,
                    repeats=("seed",),
                    choose=("data", "heat", "k"),
                    log=log,
                    percent=name == "excess",
                )
                for name, label, log in (
                    ("excess", "excess over the optimum", "xy"),
                    ("objective", "objective (units of y² for s = 0)", "x"),
                    ("whitening_error", "deviation from whitening", "xy"),
                )
            ),
        ),
    )

    def heats(self, settings: S) -> Sequence[Heat]:
        """The races to run on each data set."""
        return [Heat("rrmse", "online")]

    def prepare(self, settings: S, data: data_sets.Dataset) -> Tracks[S]:
        """Centre the data, and solve every heat exactly."""
        data = data.centred()
        solved: dict[tuple[float, bool], Problem[S]] = {}
        for heat in self.heats(settings):
            if (heat.s, heat.swapped) not in solved:
                run = data.swapped() if heat.swapped else data
                exact = analysis.Yardstick(run.X, run.Y, heat.s, settings.ridge)  # type: ignore[attr-defined]
                solved[heat.s, heat.swapped] = Problem(settings, run, exact)
        heats = {heat: solved[heat.s, heat.swapped] for heat in self.heats(settings)}
        first = next(iter(heats.values()))
        return Tracks(settings, first.data, first.exact, heats)

    def laps(self, problem: Tracks[S]) -> list[Lap]:
        """All laps of the race, at the rates asked for."""
        raise NotImplementedError

    def attempts(self, problem: Tracks[S], found: Found) -> dict[tuple[Heat, str, int], list[dict[str, Lap]]]:
        """By heat, learner and rank, for each fraction of the rates to try: the laps of all seeds, by name of part."""
        groups: dict[tuple[Heat, str, int], dict[int, Lap]] = {}
        for number, lap in enumerate(self.laps(problem)):
            groups.setdefault(lap.group, {})[number] = lap
        tried: dict[tuple[Heat, str, int], list[dict[str, Lap]]] = {}
        for key, laps in groups.items():
            for attempt, fraction in enumerate(FRACTIONS):
                scaled = {
                    f"lap-{number}-{attempt}": replace(lap, rates=lap.rates and lap.rates.scaled(fraction))
                    for number, lap in laps.items()
                }
                tried.setdefault(key, []).append(scaled)
                diverged = [str(found[name]["diverged"]) for name in scaled if "diverged" in found.get(name, ())]
                if not diverged:
                    break
                if attempt + 1 == len(FRACTIONS) or any(lap.rates is None for lap in laps.values()):
                    raise StoppedError(f"{key[1]} ({key[0]}): {diverged[0]}")
        return tried

    def parts(self, problem: Problem[S], found: Found) -> dict[str, Any]:
        """The laps; those again, with smaller rates, whose learner has diverged."""
        assert isinstance(problem, Tracks)
        tried = self.attempts(problem, found)
        return {name: lap for attempts in tried.values() for laps in attempts for name, lap in laps.items()}

    def run_part(self, problem: Problem[S], part: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Run one lap: steps done, passes and CPU seconds until then and filters then, or why it diverged."""
        assert isinstance(problem, Tracks)
        return run_lap(problem.heats[part.heat], part, options)

    def curves(self, problem: Tracks[S], found: Found) -> dict[Heat, Curves]:
        """Score all laps, by heat, learner and rank."""
        scored: dict[Heat, Curves] = {heat: {} for heat in problem.heats}
        for (heat, learner, k), attempts in self.attempts(problem, found).items():
            laps = [found[name] for name in attempts[-1]]
            scored[heat][learner, k] = score(laps, problem.heats[heat].exact, FRACTIONS[len(attempts) - 1])
        return scored


def run_lap(problem: Problem, lap: Lap, options: Mapping[str, Any]) -> dict[str, Any]:
    """Run one lap: steps done, passes and CPU seconds until then and filters then, or why it diverged."""
    from threadpoolctl import threadpool_limits

    for view in (problem.data.X, problem.data.Y):
        view.setflags(write=False)  # so that checkpoints need their checksum but once
    run = circuit_lap if lap.algorithm is None else algorithm_lap
    with threadpool_limits(1), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*columns are constant")  # as the paper's data have them
        try:
            return run(problem, lap, options)
        except (circuits.Diverged, FloatingPointError) as error:
            return {"diverged": str(error)}


def circuit_lap(problem: Problem, lap: Lap, options: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The circuit itself, simulated synapse by synapse, with R and Q apart and the ridge by replay."""
    from biorrr.analysis.algorithms.estimator import shuffled_passes
    from biorrr.analysis.algorithms.weights import PAPER, initial_weights
    from biorrr.models.auto_rates import Drive, Policy

    X, Y, s = problem.data.X, problem.data.Y, lap.heat.s
    # What Bio-RRR and backprop draw from the same seed: the order first, then the weights.
    drawn = np.random.RandomState(lap.seed)
    order = shuffled_passes(len(X), lap.steps, drawn)
    m, n, ridge = X.shape[1], Y.shape[1], problem.settings.ridge
    start = PAPER if lap.rates else Drive.of(X, Y, (ridge, ridge)).start(n, s, Policy.of(lap.steps))
    Vx, Vy, Q = initial_weights((m, n, lap.k), start, drawn, None, None, None)
    circuit = problem.settings.make_circuit(
        k=lap.k, s=s, rates=lap.rates or "auto", ridge=ridge,
        engine=compiled_if_possible(problem.settings.engine), seed=lap.seed, Vx0=Vx, Vy0=Vy, Q0=Q, R0=Q.T,
    )  # fmt: skip
    circuit.build(m, n)
    began, clock = perf_counter(), _cpu_seconds()
    run = completed(circuit.run(X, Y, order=order, snapshots=SNAPSHOTS, record=(), **options))
    # Of a lap that was cut short only the wall time is known until then: as much CPU time as in the rest of it.
    share = max(1.0, run.data.attrs["seconds"] / (perf_counter() - began))
    seen = run.data["seen"].values
    seconds = share * (_cpu_seconds() - clock) * seen / lap.steps
    return {"t": seen, "passes": seen / len(X), "seconds": seconds, "Vx": run.data["Vx"].values}


def algorithm_lap(problem: Problem, lap: Lap, options: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """One of the algorithms of :mod:`biorrr.analysis`."""
    assert lap.algorithm is not None
    chosen = dict(lap.options) | ({} if lap.rates is None else {"rates": lap.rates})
    if "s" in lap.algorithm().get_params():
        chosen["s"] = lap.heat.s
    learner = lap.algorithm(
        k=lap.k, ridge=problem.settings.ridge, steps=lap.steps, snapshots=SNAPSHOTS, random_state=lap.seed, **chosen
    )
    return learner.fit(problem.data.X, problem.data.Y).path_._asdict()


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # the compiled circuit is one
    return process_time() + children.ru_utime + children.ru_stime


def score(laps: list[Mapping[str, np.ndarray]], exact: analysis.Yardstick, fraction: float) -> Curve:
    """Join the laps of a learner at one rank, over seeds."""
    # A learner that converges early stops early: its last filters stand for the rest.
    longest = max((lap["t"] for lap in laps), key=len)

    def row(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.repeat(values[-1:], len(longest) - len(values), axis=0)])

    def scores(measure: Callable[[np.ndarray], Any]) -> np.ndarray:
        return np.array([row(np.atleast_1d(measure(lap["Vx"]))) for lap in laps])

    return Curve(
        t=longest,
        passes=np.array([row(lap["passes"]) for lap in laps]),
        seconds=np.array([row(lap["seconds"]) for lap in laps]),
        objective=scores(exact.objective),
        excess=scores(exact.excess),
        whitening_error=scores(exact.whitening_error),
        fraction=fraction,
    )


def as_dataset(curves: Mapping[tuple[str, int], Curve], first_seed: int) -> xr.Dataset:
    """All curves of a heat, padded with NaN to the longest: dimensions learner, k, seed, snapshot."""
    learners = list(dict.fromkeys(learner for learner, _ in curves))
    ranks = list(dict.fromkeys(k for _, k in curves))
    seeds = len(next(iter(curves.values())).seconds)
    longest = max(len(curve.t) for curve in curves.values())
    names = ("objective", "excess", "whitening_error", "passes", "seconds")
    filled = {name: np.full((len(learners), len(ranks), seeds, longest), np.nan) for name in names}
    t = np.full((len(learners), len(ranks), longest), np.nan)
    for (learner, k), curve in curves.items():
        place = learners.index(learner), ranks.index(k)
        for name in names:
            filled[name][*place, :, : len(curve.t)] = getattr(curve, name)
        t[*place, : len(curve.t)] = curve.t
    out = xr.Dataset(
        {name: (("learner", "k", "seed", "snapshot"), filled[name]) for name in names}
        | {"t": (("learner", "k", "snapshot"), t)},
        coords={"learner": learners, "k": ranks, "seed": first_seed + np.arange(seeds)},
    )
    out["t"].attrs["long_name"] = "samples (online) or iterations (offline)"
    out["passes"].attrs["long_name"] = "passes through the data"
    out["seconds"].attrs.update(long_name="CPU time", units="s")
    return out


def join_heats(heats: Mapping[Heat, Curves], first_seed: int) -> xr.Dataset:
    """All curves of all heats; a dimension ``heat`` more where there are several."""
    joined = [as_dataset(curves, first_seed).assign_coords(heat=str(heat)) for heat, curves in heats.items()]
    if len(joined) == 1:
        return joined[0]
    longest = max(one.sizes["snapshot"] for one in joined)
    return xr.concat(
        [one.pad(snapshot=(0, longest - one.sizes["snapshot"])) for one in joined], dim="heat", join="outer"
    )
