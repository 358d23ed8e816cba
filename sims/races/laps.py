"""Laps: one learner, once. A learner of which a seed diverges runs again, all seeds, with smaller
rates.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any

from biorrr.sims.lab import Lab, Task, compiled_if_possible
from biorrr.sims.lab.lab import StoppedError
from biorrr.sims.lazy import circuits, models, np
from biorrr.sims.races.curves import Curves, score
from biorrr.sims.races.heats import Heat, Track

CIRCUIT = "circuit"
# Fractions of the printed rates to try in turn: they sit at the edge of divergence.
FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.2)
SNAPSHOTS = 80


@dataclass(frozen=True)
class Lap:
    """One learner, once.

    Parameters
    ----------
    heat
        The race that it belongs to.
    learner
        Name of its curve.
    algorithm
        Class of :mod:`biorrr.analysis`; None for the circuit.
    k, seed
        Rank, and seed of the start and of the order of samples.
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
    seed: int
    steps: int
    rates: models.Rates | None = None
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def group(self) -> tuple[Heat, str, int]:
        """The heat, the learner and the rank, which all seeds share."""
        return self.heat, self.learner, self.k

    def slowed(self, fraction: float) -> Lap:
        """Return the lap at a fraction of its rates."""
        return replace(self, rates=self.rates and self.rates.scaled(fraction))


def race(lab: Lab, laps: Iterable[Lap], tracks: Mapping[Heat, Track]) -> dict[Heat, Curves]:
    """Run all laps and score them, by heat, learner and rank."""
    groups: dict[tuple[Heat, str, int], list[Lap]] = {}
    for lap in laps:
        groups.setdefault(lap.group, []).append(lap)
    scored = {}
    waiting = dict(groups)
    for fraction in FRACTIONS:
        tried = {group: [lap.slowed(fraction) for lap in seeds] for group, seeds in waiting.items()}
        found = lab.each(run_lap, [lap for seeds in tried.values() for lap in seeds], tracks)
        for group, seeds in tried.items():
            heat, learner, _ = group
            diverged = [str(found[lap]["diverged"]) for lap in seeds if "diverged" in found[lap]]
            if not diverged:
                scored[group] = score([found[lap] for lap in seeds], tracks[heat].exact, fraction)
                del waiting[group]
            elif fraction == FRACTIONS[-1] or any(lap.rates is None for lap in seeds):
                raise StoppedError(f"{learner} ({heat}): {diverged[0]}")
        if not waiting:
            break
    curves: dict[Heat, Curves] = {heat: {} for heat in tracks}
    for heat, learner, k in groups:
        curves[heat][learner, k] = scored[heat, learner, k]
    return curves


def run_lap(task: Task, lap: Lap, tracks: Mapping[Heat, Track]) -> dict[str, Any]:
    """Run one lap.

    Returns steps done, (S,), passes through the data and CPU seconds until then, (S,), and filters
    then, (S, m, k); or the reason why it diverged.
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
            return (
                run_circuit(task, lap, track)
                if lap.algorithm is None
                else run_algorithm(task, lap, track)
            )
        except (circuits.Diverged, FloatingPointError) as error:
            return {"diverged": str(error)}


def run_circuit(task: Task, lap: Lap, track: Track) -> dict[str, np.ndarray]:
    """Run the circuit itself, simulated synapse by synapse, with R and Q apart and the ridge by
    replay.
    """
    from biorrr.analysis.algorithms.estimator import shuffled_passes
    from biorrr.analysis.algorithms.weights import initial_weights
    from biorrr.models.auto_rates import Drive

    X, Y, settings = track.data.X, track.data.Y, task.settings
    # Bio-RRR and backprop draw the same from the same seed: the order first, then the weights.
    drawn = np.random.RandomState(lap.seed)
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
        seed=lap.seed,
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


def run_algorithm(task: Task, lap: Lap, track: Track) -> dict[str, np.ndarray]:
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
        random_state=lap.seed,
        **chosen,
    )
    return learner.fit(track.data.X, track.data.Y).path_._asdict()


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # the compiled circuit is one
    return process_time() + children.ru_utime + children.ru_stime
