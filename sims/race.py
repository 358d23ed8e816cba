"""Learners side by side on the same data: each leaves its filters along the way, with the CPU time they took.

Learning is timed on one thread, without compilation and without scoring. Laps run in parallel processes.
"""

from __future__ import annotations

import os
import resource
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any

import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

from biorrr.analysis.estimator import Path
from biorrr.analysis.yardstick import Yardstick
from biorrr.models import Rates
from biorrr.sims.checkpoints import NOT_KEPT, Checkpoints
from biorrr.sims.pool import process_pool

# Fractions of the printed rates to try in turn: they sit at the edge of divergence.
FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.2)
SNAPSHOTS = 80


@dataclass(frozen=True)
class Course:
    """What all laps of a race share.

    Parameters
    ----------
    X, Y
        Centred data, shapes (n_samples, m) and (n_samples, n).
    s, ridge
        The regression.
    engine
        What simulates the circuit.
    """

    X: np.ndarray
    Y: np.ndarray
    s: float
    ridge: float
    engine: str


@dataclass(frozen=True)
class Lap:
    """One learner, once.

    Parameters
    ----------
    learner
        Name of the curve it belongs to.
    run
        Makes the lap: called with (course, lap, options of a checkpoint), returns a Path.
    k, seed, steps
        Rank, seed, samples (online) or iterations (offline).
    rates
        Learning rates, where the learner takes any.
    """

    learner: str
    run: Callable[[Course, Lap, Mapping[str, Any]], Path]
    k: int
    seed: int
    steps: int
    rates: Rates | None = None

    @property
    def told(self) -> dict[str, Any]:
        """What its result is the result of."""
        return {"learner": self.learner, "k": self.k, "seed": self.seed, "steps": self.steps, "rates": repr(self.rates)}


@dataclass(frozen=True)
class Curve:
    """A learner's laps at one rank, over seeds.

    Parameters
    ----------
    t : (S,)
        Samples or iterations done.
    seconds : (seeds, S)
        CPU time until then.
    objective, excess, whitening_error : (seeds, S)
        Scores then.
    fraction
        Of the rates asked for, the largest tried that let no seed diverge.
    """

    t: np.ndarray
    seconds: np.ndarray
    objective: np.ndarray
    excess: np.ndarray
    whitening_error: np.ndarray
    fraction: float


class DivergedLapError(ArithmeticError):
    """A lap whose learner diverged."""


def circuit_lap(course: Course, lap: Lap, kept: Mapping[str, Any]) -> Path:
    """The microcircuit itself, simulated synapse by synapse, with R and Q apart and the ridge by replay."""
    from biorrr.circuit import Diverged, Microcircuit, compiler

    engine = course.engine
    if engine == "auto":
        engine = "cpp" if compiler.find_compiler() else "numpy"
    start = np.eye(lap.k) / 3
    circuit = Microcircuit(
        lap.k, course.s, rates=lap.rates or "auto", ridge=course.ridge, engine=engine, seed=lap.seed, Q0=start, R0=start
    )
    circuit.build(course.X.shape[1], course.Y.shape[1])
    shuffled = np.random.default_rng(lap.seed)
    epochs = [shuffled.permutation(len(course.X)) for _ in range(-(-lap.steps // len(course.X)))]
    order = np.concatenate(epochs)[: lap.steps]
    began, clock = perf_counter(), _cpu_seconds()
    try:
        run = circuit.run(course.X, course.Y, order=order, snapshots=SNAPSHOTS, record=(), progress=False, **kept)
    except Diverged as error:
        raise DivergedLapError(str(error)) from error
    if run.ended == "interrupted":
        raise KeyboardInterrupt
    # Of a lap that was cut short only the wall time is known until then: as much CPU time as in the rest of it.
    share = max(1.0, run.data.attrs["seconds"] / (perf_counter() - began))
    seen = run.data["seen"].values
    return Path(seen, share * (_cpu_seconds() - clock) * seen / lap.steps, run.data["Vx"].values)


def estimator_lap(
    make: Callable[..., Any], options: Mapping[str, Any]
) -> Callable[[Course, Lap, Mapping[str, Any]], Path]:
    """A lap of one of :mod:`biorrr.analysis`'s algorithms, made by ``make`` with ``options``."""
    return _EstimatorLap(make, dict(options))


@dataclass(frozen=True)
class _EstimatorLap:
    make: Callable[..., Any]
    options: dict[str, Any]

    def __call__(self, course: Course, lap: Lap, kept: Mapping[str, Any]) -> Path:
        chosen = dict(self.options)
        if lap.rates is not None:
            chosen["rates"] = lap.rates
        if "s" in self.make().get_params():
            chosen["s"] = course.s
        learner = self.make(
            k=lap.k, ridge=course.ridge, steps=lap.steps, snapshots=SNAPSHOTS, random_state=lap.seed, **chosen
        )
        try:
            return learner.fit(course.X, course.Y).path_
        except FloatingPointError as error:
            raise DivergedLapError(str(error)) from error


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # the compiled circuit is one
    return process_time() + children.ru_utime + children.ru_stime


_course: Course | None = None


def _line_up(course: Course) -> None:
    global _course
    _course = course
    for view in (course.X, course.Y):
        view.setflags(write=False)  # so that checkpoints need their checksum but once
    threadpool_limits(1)
    warnings.filterwarnings("ignore", message=".*columns are constant")  # every process would say so


def _go(lap: Lap, checkpoints: Checkpoints, part: str) -> Path:
    """The lap, or what is kept of it where it has been run before."""
    assert _course is not None
    held = checkpoints.kept(f"{part}-result", lap.told)
    if held is not None:
        if "diverged" in held:
            raise DivergedLapError(str(held["diverged"]))
        return Path(held["t"], held["seconds"], held["Vx"])
    try:
        with np.errstate(all="ignore"):  # a learner that diverges says so itself
            path = lap.run(_course, lap, checkpoints.run_options(part))
    except DivergedLapError as error:
        checkpoints.keep(f"{part}-result", lap.told, {"diverged": np.array(str(error))})
        raise
    checkpoints.keep(f"{part}-result", lap.told, path._asdict())
    return path


def race(
    course: Course,
    laps: Iterable[Lap],
    yardstick: Yardstick,
    workers: int | None = None,
    on_lap: Callable[[int], Any] | None = None,
    checkpoints: Checkpoints = NOT_KEPT,
) -> dict[tuple[str, int], Curve]:
    """Run all ``laps`` and score them; a dict of :class:`Curve` by (learner, k).

    A learner of which a seed diverges starts over with a smaller fraction of its rates.
    """
    groups: dict[tuple[str, int], list[tuple[str, Lap]]] = {}
    for number, lap in enumerate(laps):
        groups.setdefault((lap.learner, lap.k), []).append((f"lap-{number}", lap))
    with process_pool(workers or os.cpu_count() or 1, _line_up, course) as pool:

        def start(key: tuple[str, int], attempt: int) -> tuple[int, list[Future]]:
            fraction = FRACTIONS[attempt]
            return attempt, [
                pool.submit(
                    _go, replace(lap, rates=lap.rates and lap.rates.scaled(fraction)), checkpoints, f"{part}-{attempt}"
                )
                for part, lap in groups[key]
            ]

        waiting = {key: start(key, 0) for key in groups}
        curves = {}
        while waiting:
            key, (attempt, futures) = next(iter(waiting.items()))
            del waiting[key]
            try:
                paths = [future.result() for future in futures]
            except DivergedLapError:
                if attempt + 1 == len(FRACTIONS) or groups[key][0][1].rates is None:
                    raise
                waiting[key] = start(key, attempt + 1)
                continue
            curves[key] = _score(paths, yardstick, FRACTIONS[attempt])
            if on_lap is not None:
                on_lap(len(paths))
    return curves


def _score(paths: list[Path], yardstick: Yardstick, fraction: float) -> Curve:
    # A learner that converges early stops early: its last filters stand for the rest.
    longest = max((path.t for path in paths), key=len)

    def column(path, values):
        return np.concatenate([values, np.repeat(values[-1:], len(longest) - len(path.t), axis=0)])

    def scores(score):
        return np.array([column(path, np.atleast_1d(score(path.Vx))) for path in paths])

    return Curve(
        t=longest,
        seconds=np.array([column(path, path.seconds) for path in paths]),
        objective=scores(yardstick.objective),
        excess=scores(yardstick.excess),
        whitening_error=scores(yardstick.whitening_error),
        fraction=fraction,
    )


def as_dataset(curves: Mapping[tuple[str, int], Curve], first_seed: int) -> xr.Dataset:
    """All curves, padded with NaN to the longest: dimensions learner, k, seed, snapshot."""
    learners = list(dict.fromkeys(learner for learner, _ in curves))
    ranks = list(dict.fromkeys(k for _, k in curves))
    seeds = len(next(iter(curves.values())).seconds)
    longest = max(len(curve.t) for curve in curves.values())
    names = ("objective", "excess", "whitening_error", "seconds")
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
    out["seconds"].attrs.update(long_name="CPU time", units="s")
    return out
