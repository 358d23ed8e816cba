"""Laps: one learner at one rank.

A learner of which a seed diverges runs again, all seeds, with smaller rates; both are kept.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any

from biorrr.sims.lab import Lab, Task, compiled_if_possible
from biorrr.sims.lab.lab import StoppedError
from biorrr.sims.lab.labelled import Grid
from biorrr.sims.lazy import circuits, models, np, xr
from biorrr.sims.races.heats import Heat, Track

CIRCUIT = "circuit"
# Fractions of the printed rates to try in turn: they sit at the edge of divergence.
FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.2)
SNAPSHOTS = 80
# Coordinates of results: the rates asked for, and the largest fraction at which no seed diverges.
ASKED, STABLE = "asked", "stable"


@dataclass(frozen=True)
class Lap:
    """One learner at one rank.

    Parameters
    ----------
    heat
        The race that it belongs to.
    learner
        Name of its curve.
    algorithm
        Class of :mod:`biorrr.analysis`; None for the circuit.
    k
        Rank.
    steps
        Number of samples (online) or iterations (offline).
    rates
        Learning rates, where the learner takes any; None for those that follow the data.
    options
        Further options of the algorithm, by name.
    """

    heat: Heat
    learner: str
    algorithm: Callable[..., Any] | None
    k: int
    steps: int
    rates: models.Rates | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def slowed(self, fraction: float) -> Lap:
        """Return the lap at a fraction of its rates."""
        return replace(self, rates=self.rates and self.rates.scaled(fraction))


def race(lab: Lab, laps: Sequence[Lap], tracks: Mapping[Heat, Track]) -> dict[Heat, xr.Dataset]:
    """Run all laps of each heat from every seed.

    Returns steps done ``t``, (learner, k, snapshot); passes through the data, CPU seconds,
    objective, excess and whitening error until then, (learner, k, seed, snapshot); which seeds have
    ``diverged``, (learner, k, seed), whose other values are NaN; and the ``fraction`` of the rates
    asked for, (learner, k). All have the dimension ``rates`` before their own. A learner that stops
    early keeps its last values.
    """
    waiting, courses = [*laps], dict[tuple[str, Lap], xr.Dataset]()
    for fraction in FRACTIONS:
        tried = [lap.slowed(fraction) for lap in waiting]
        found = lab.map(run_lap, {"lap": tried, "seed": lab.settings.every_seed}, tracks)
        for place, lap in enumerate(waiting):
            course = found.isel(lap=place, drop=True).assign(fraction=fraction)
            courses.setdefault((ASKED, lap), course)
            courses[STABLE, lap] = course
        waiting = [lap for lap in waiting if _why_diverged(courses[STABLE, lap])]
        for lap in waiting:
            if fraction == FRACTIONS[-1] or lap.rates is None:
                why = _why_diverged(courses[STABLE, lap])
                raise StoppedError(f"{lap.learner} ({lap.heat}): {why}")
        if not waiting:
            break
    return {heat: _join(courses, [lap for lap in laps if lap.heat == heat]) for heat in tracks}


def _why_diverged(course: xr.Dataset) -> str:
    """Return why a seed of a lap diverged; empty if none did."""
    return str(max(course["diverged"].values))


def _join(courses: Mapping[tuple[str, Lap], xr.Dataset], laps: Sequence[Lap]) -> xr.Dataset:
    """Join the courses of all learners of a heat at all ranks."""
    names = {"learner": [lap.learner for lap in laps], "k": [lap.k for lap in laps]}
    grid = Grid.over({"rates": (ASKED, STABLE)} | names)
    by_names = {
        (rates, lap.learner, lap.k): course
        for (rates, lap), course in courses.items()
        if lap in laps
    }
    joined = grid.join([by_names[one["rates"], one["learner"], one["k"]] for one in grid.items])
    last = joined["t"].notnull().sum("snapshot") - 1
    results = joined.isel(
        snapshot=np.minimum(xr.DataArray(range(joined.sizes["snapshot"]), dims="snapshot"), last)
    )
    results = results.assign(diverged=joined["diverged"] != "", t=results["t"].max("seed"))
    results["fraction"].attrs["long_name"] = "fraction of the rates asked for"
    results["t"].attrs["long_name"] = "samples (online) or iterations (offline)"
    results["passes"].attrs["long_name"] = "passes through the data"
    results["seconds"].attrs.update(long_name="CPU time", units="s")
    return results


def at_each_rates(courses: xr.Dataset) -> Iterator[tuple[xr.Dataset, str, dict[str, str]]]:
    """Yield courses at one rank at the rates asked for and, if a seed diverged, at smaller ones.

    Each comes with words of its rates and numbers that belong to it. At the rates asked for, seeds
    in which a learner diverged are left out of all learners; the numbers say how many diverged.
    """
    asked, stable = courses.sel(rates=ASKED), courses.sel(rates=STABLE)
    diverged = asked["diverged"].transpose("learner", "seed")
    if not diverged.any():
        yield asked, "", {}
        return
    lost = diverged.sum("seed")
    numbers = {
        f"seeds of {name} that diverge": f"{n} of {diverged.sizes['seed']}"
        for name, n in zip(lost["learner"].values, lost.values, strict=True)
        if n
    }
    survivors = asked.isel(seed=~diverged.any("learner").values)
    if survivors.sizes["seed"]:
        yield survivors, "printed rates, seeds that do not diverge", numbers
    slowed = stable["fraction"]
    words = [
        f"{name} at {fraction:g} of the printed rates"
        for name, fraction in zip(slowed["learner"].values, slowed.values, strict=True)
        if fraction < 1
    ]
    yield stable, ", ".join(words), {}


def run_lap(task: Task, tracks: Mapping[Heat, Track], lap: Lap, seed: int) -> dict[str, Any]:
    """Run one lap from one seed.

    Returns steps done, passes through the data and CPU seconds until then, and the scores of the
    filters then, each (snapshot,); and the reason why it ``diverged``, if it has.
    """
    from threadpoolctl import threadpool_limits

    track = tracks[lap.heat]
    for view in (track.data.X, track.data.Y):
        view.setflags(write=False)  # so that checkpoints need their checksum but once
    with threadpool_limits(1), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*columns are constant"
        )  # as the paper's data have them
        try:
            run = run_circuit if lap.algorithm is None else run_algorithm
            found = run(task, lap, seed, track)
        except (circuits.Diverged, FloatingPointError) as error:
            return {"diverged": str(error)}
        Vx = found.pop("Vx")
        found |= {
            name: np.atleast_1d(getattr(track.exact, name)(Vx))
            for name in ("objective", "excess", "whitening_error")
        }
    return {name: ("snapshot", values) for name, values in found.items()} | {"diverged": ""}


def run_circuit(task: Task, lap: Lap, seed: int, track: Track) -> dict[str, np.ndarray]:
    """Run the circuit itself, simulated synapse by synapse, with R and Q apart and the ridge by
    replay.
    """
    from biorrr.analysis.algorithms.estimator import shuffled_passes
    from biorrr.analysis.algorithms.weights import initial_weights
    from biorrr.models.auto_rates import Drive

    X, Y, settings = track.data.X, track.data.Y, task.settings
    # Bio-RRR and backprop draw the same from the same seed: the order first, then the weights.
    drawn = np.random.RandomState(seed)
    order = shuffled_passes(len(X), lap.steps, drawn)
    m, n, s, ridge = X.shape[1], Y.shape[1], lap.heat.s, settings.ridge
    drive = Drive.of(X, Y, (ridge, ridge))
    start = lap.rates.start if lap.rates else drive.start(s)
    Vx, Vy, Q = initial_weights((m, n, lap.k), start, drawn, None, None, None)
    circuit = settings.make_circuit(
        k=lap.k,
        s=s,
        rates=lap.rates or "auto",
        ridge=ridge,
        engine=compiled_if_possible(settings.engine),
        seed=seed,
        Vx0=Vx,
        Vy0=Vy,
        Q0=Q,
        R0=Q.T,
    )
    circuit.build(m, n)
    circuit.run(
        X, Y, order=order[:1], snapshots=1, record=(), progress=False
    )  # warms up: the first run pays for more
    began, clock = perf_counter(), _cpu_seconds()
    run = task.run(circuit, X, Y, order=order, snapshots=SNAPSHOTS, record=())
    # Of a lap that was cut short only the wall time is known until then: as much CPU time as in the
    # rest of it.
    share = max(1.0, run.data.attrs["seconds"] / (perf_counter() - began))
    seen = run.data["seen"].values
    seconds = share * (_cpu_seconds() - clock) * seen / lap.steps
    return {"t": seen, "passes": seen / len(X), "seconds": seconds, "Vx": run.data["Vx"].values}


def run_algorithm(task: Task, lap: Lap, seed: int, track: Track) -> dict[str, np.ndarray]:
    """Run one of the algorithms of :mod:`biorrr.analysis`."""
    assert lap.algorithm is not None
    chosen = dict(lap.options) | ({} if lap.rates is None else {"rates": lap.rates})
    if "s" in lap.algorithm().get_params():
        chosen["s"] = lap.heat.s
    learner = lap.algorithm(
        k=lap.k,
        ridge=task.settings.ridge,
        steps=lap.steps,
        snapshots=SNAPSHOTS,
        random_state=seed,
        **chosen,
    )
    return learner.fit(track.data.X, track.data.Y).path_._asdict()


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # the compiled circuit is one
    return process_time() + children.ru_utime + children.ru_stime
