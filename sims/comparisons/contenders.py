"""Problems, and contenders that learn them: one learner at one rank on one problem.

A contender of which a seed diverges learns again, all seeds, with smaller rates; both are kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any

from biorrr.sims.data import Data, Dataset, MediaMill
from biorrr.sims.lab import (
    PERCENT,
    ExperimentSettings,
    Grid,
    Lab,
    Quantity,
    StoppedError,
    Task,
    check_rank,
    compiled_if_possible,
    data_option,
    option,
    quantities,
)
from biorrr.sims.lazy import analysis, circuits, models, np, xr

CIRCUIT = "circuit"
# Fractions of the printed rates to try in turn: they sit at the edge of divergence.
FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.2)
SNAPSHOTS = 80
# Coordinates of results: the rates asked for, and the largest fraction at which no seed diverges.
ASKED, STABLE = "asked", "stable"


@dataclass(frozen=True)
class Problem:
    """A regression, and how samples arrive.

    Parameters
    ----------
    objective
        "rrmse" (s = 0) or "cca" (s = 1).
    setting
        "online", one sample at a time, or "offline", all data at once.
    """

    objective: str
    setting: str

    @property
    def s(self) -> float:
        """Parameter of the regression: 0 is RRMSE, 1 is CCA."""
        return float(self.objective == "cca")

    @property
    def bio(self) -> str:
        """The paper's name for its algorithm."""
        return f"Bio-{self.objective.upper()}"

    def __str__(self) -> str:
        return f"{self.objective.upper()}, {self.setting}"


class ComparisonSettings(ExperimentSettings):
    """Settings of every comparison of learners on one data set."""

    data: Data = data_option("mediamill")
    rows: int | None = option(
        None, "use the first so many rows of the data; all by default", at_least=2
    )
    k: tuple[int, ...] = option((1, 2, 4), "ranks", short="k", at_least=1)
    ridge: float = option(0.1, "added to Cxx and Cyy", at_least=0)


def load_views(lab: Lab) -> Dataset:
    """Load the first rows of the data, as many as the settings say, or all, and centre them; of
    MediaMill Y predicts X, as in the paper.
    """
    data, settings = lab.load(lab.settings.data), lab.settings
    data = replace(data, X=data.X[: settings.rows], Y=data.Y[: settings.rows])
    check_rank(max(settings.k), data)
    return (data.swapped() if isinstance(settings.data, MediaMill) else data).centred()


def solve(
    data: Dataset, problems: Iterable[Problem], ridge: float
) -> dict[float, analysis.ExactSolution]:
    """Return the exact solutions of problems on centred data, by s."""
    return {one.s: analysis.ExactSolution(data.X, data.Y, one.s, ridge) for one in problems}


@dataclass(frozen=True)
class Contender:
    """One learner at one rank.

    Parameters
    ----------
    problem
        What it learns.
    learner
        Name of its curve.
    algorithm
        Class of :mod:`biorrr.analysis`, perhaps with some of its options; None for the circuit.
    k
        Rank.
    steps
        Number of samples (online) or iterations (offline).
    rates
        Learning rates, where the learner takes any; None for those that follow the data.
    """

    problem: Problem
    learner: str
    algorithm: Callable[..., Any] | None
    k: int
    steps: int
    rates: models.Rates | None = None


def compare_learners(
    lab: Lab,
    contenders: Sequence[Contender],
    data: Dataset,
    exact: Mapping[float, analysis.ExactSolution],
) -> dict[Problem, xr.Dataset]:
    """Let all contenders of each problem learn the centred data from every seed; ``exact`` are the
    solutions by s.

    Returns steps done ``t``, (learner, k, snapshot); passes through the data, CPU seconds,
    objective, excess and whitening error until then, (learner, k, seed, snapshot); which seeds have
    ``diverged``, (learner, k, seed), whose other values are NaN; and the ``fraction`` of the rates
    asked for, (learner, k). All have the dimension ``rates`` before their own. A learner that stops
    early keeps its last values.
    """
    waiting, asked, stable = [*contenders], dict[Contender, xr.Dataset](), {}
    for fraction in FRACTIONS:
        tried = [replace(one, rates=one.rates and one.rates.times(fraction)) for one in waiting]
        found = lab.map(learn, {"contender": tried, "seed": lab.settings.every_seed}, data, exact)
        for place, one in enumerate(waiting):
            stable[one] = found.isel(contender=place, drop=True).assign(fraction=fraction)
        asked = asked or dict(stable)
        waiting = [one for one in waiting if (stable[one]["diverged"] != "").any()]
        for one in waiting:
            if fraction == FRACTIONS[-1] or one.rates is None:
                why = max(stable[one]["diverged"].values)
                raise StoppedError(f"{one.learner} ({one.problem}): {why}")
        if not waiting:
            break
    joined: dict[Problem, dict[tuple[str, str, int], xr.Dataset]] = {}
    for rates, courses in {ASKED: asked, STABLE: stable}.items():
        for one in contenders:
            joined.setdefault(one.problem, {})[rates, one.learner, one.k] = courses[one]
    return {problem: _join(courses) for problem, courses in joined.items()}


def _join(courses: Mapping[tuple[str, str, int], xr.Dataset]) -> xr.Dataset:
    """Join the courses on a problem, by rates, learner and k."""
    grid = Grid.over(dict(zip(("rates", "learner", "k"), zip(*courses, strict=True), strict=True)))
    joined = grid.join([courses[tuple(item.values())] for item in grid.items])
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
    numbers = {
        f"seeds of {one['learner'].item()} that diverge": f"{one.sum().item()} of {one.size}"
        for one in diverged
        if one.any()
    }
    survivors = asked.isel(seed=~diverged.any("learner").values)
    if survivors.sizes["seed"]:
        yield survivors, "printed rates, seeds that do not diverge", numbers
    words = [
        f"{one['learner'].item()} at {one.item():g} of the printed rates"
        for one in stable["fraction"]
        if one < 1
    ]
    yield stable, ", ".join(words), {}


def final_numbers(name: str, courses: xr.Dataset, row: str) -> list[Quantity]:
    """Return the final numbers of a learner at one rank, at the rates asked for and, if a seed
    diverged, at smaller ones.
    """
    ends = courses.isel(snapshot=-1)
    found, slowed = _at_the_end(name, ends.sel(rates=ASKED), row), ends.sel(rates=STABLE)
    if (fraction := slowed["fraction"].item()) < 1:
        found += _at_the_end(f"{name}_slowed", slowed, f"{row}, {fraction:g} of the rates")
    return found


def _at_the_end(name: str, end: xr.Dataset, row: str) -> list[Quantity]:
    """Return the final numbers among the seeds that did not diverge; no numbers if all did."""
    diverged, ran = end["diverged"].mean().item(), end.where(~end["diverged"])
    found = {
        "excess": (ran["excess"].mean(), PERCENT, "excess", ran["excess"].std()),
        "excess_max": (ran["excess"].max(), PERCENT),
        "whitening_error": ran["whitening_error"].mean(),
        "cpu_seconds": (ran["seconds"].mean(), "s", "CPU time"),
        "passes": ran["passes"].mean(),
        "steps": end["t"],
        "rates_fraction": end["fraction"],
        "diverged": (diverged, PERCENT, "seeds that diverge" if diverged else ""),
    }
    return quantities(found, row, f"{name}_")


def learn(
    task: Task,
    data: Dataset,
    exact: Mapping[float, analysis.ExactSolution],
    contender: Contender,
    seed: int,
) -> dict[str, Any]:
    """Let a contender learn from one seed.

    Returns steps done, passes through the data and CPU seconds until then, and the scores of the
    filters then, each (snapshot,); and the reason why it ``diverged``, if it has.
    """
    from threadpoolctl import threadpool_limits

    for view in (data.X, data.Y):
        view.setflags(write=False)  # so that checkpoints need their checksum but once
    with threadpool_limits(1), np.errstate(all="ignore"), warnings.catch_warnings():
        # The paper's data have such columns.
        warnings.filterwarnings("ignore", message=".*columns are constant")
        try:
            run = run_circuit if contender.algorithm is None else run_algorithm
            found = run(task, contender, seed, data)
        except (circuits.Diverged, FloatingPointError) as error:
            return {"diverged": str(error)}
        Vx, solution = found.pop("Vx"), exact[contender.problem.s]
        for name in ("objective", "excess", "whitening_error"):
            found[name] = np.atleast_1d(getattr(solution, name)(Vx))
    return {name: ("snapshot", values) for name, values in found.items()} | {"diverged": ""}


def run_circuit(
    task: Task, contender: Contender, seed: int, data: Dataset
) -> dict[str, np.ndarray]:
    """Run the circuit itself, simulated synapse by synapse, with R and Q apart and the ridge by
    replay.
    """
    from biorrr.analysis.algorithms.estimator import initial_weights, shuffled_passes
    from biorrr.models.auto_rates import Drive

    X, Y, settings = data.X, data.Y, task.settings
    k, s, steps, rates = contender.k, contender.problem.s, contender.steps, contender.rates
    # Bio-RRR and backprop draw the same from the same seed: the order first, then the weights.
    drawn = np.random.RandomState(seed)
    order = shuffled_passes(len(X), steps, drawn)
    start = rates.start if rates else Drive.of(X, Y, (settings.ridge, settings.ridge)).start(s)
    shape = X.shape[1], Y.shape[1], k
    Vx, Vy, Q = initial_weights(shape, start, drawn)
    circuit = settings.make_circuit(
        k=k,
        s=s,
        rates=rates or "auto",
        ridge=settings.ridge,
        engine=compiled_if_possible(settings.engine),
        seed=seed,
        Vx0=Vx,
        Vy0=Vy,
        Q0=Q,
        R0=Q.T,
    )
    # Compiles and warms up: the first run pays for more.
    circuit.run(X, Y, order=order[:1], snapshots=1, record=(), progress=False)
    began, clock = perf_counter(), process_time()
    run = task.run(circuit, X, Y, order=order, snapshots=SNAPSHOTS, record=())
    # Of a run that was cut short only the wall time is known until then: as much CPU time as in the
    # rest of it.
    share = max(1.0, run.data.attrs["seconds"] / (perf_counter() - began))
    seen = run.data["seen"].values
    seconds = share * (process_time() - clock) * seen / steps
    return {"t": seen, "passes": seen / len(X), "seconds": seconds, "Vx": run.data["Vx"].values}


def run_algorithm(
    task: Task, contender: Contender, seed: int, data: Dataset
) -> dict[str, np.ndarray]:
    """Run one of the algorithms of :mod:`biorrr.analysis`."""
    assert contender.algorithm is not None
    choices = {"rates": contender.rates, "s": contender.problem.s}
    known = contender.algorithm().get_params()
    learner = contender.algorithm(
        k=contender.k,
        ridge=task.settings.ridge,
        steps=contender.steps,
        snapshots=SNAPSHOTS,
        random_state=seed,
        **{name: one for name, one in choices.items() if name in known and one is not None},
    )
    return learner.fit(data.X, data.Y).path_._asdict()
