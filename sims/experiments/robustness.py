"""Depart from the paper's circuit in many ways, and see how far it still learns.

Every departure is turned up alone, from near the paper's circuit to far from it, until learning
breaks; excess is against the exact optimum, mean over seeds. Apical drive is also tried together
with all-or-none plateaus, which are the rarer the larger they are: the paper neglects it because
plateaus are sparse in time. Delays in samples are of whole samples, which come in shuffled order:
what is late then belongs to another sample. Delays within a held sample are departures of their
own. Data are centred.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Data, Dataset
from biorrr.sims.lab import (
    PERCENT,
    Figure,
    Findings,
    Lab,
    Quantity,
    RegressionSettings,
    SettingsError,
    Task,
    baseline_quantities,
    cell_arguments,
    data_option,
    default_ridge,
    experiment,
    option,
)
from biorrr.sims.lazy import analysis, circuits, models, np, xr
from biorrr.sims.words import as_key, counted

TOLERATED = 0.05  # excess up to which the circuit counts as learning
NOT_LEARNED = 1.0  # excess of filters that explain nothing: what a circuit that diverged is given
QUICK_SAMPLES, QUICK_SEEDS = 10_000, 2
SAMPLES = {"algebraic": 60_000, "millivolts": 20_000}


HELD_TICKS = 20  # of a sample, where a delay is a part of the time that it is held
NEW_DATA = "new data"
LESIONS: dict[str, Callable[[int, np.ndarray, np.ndarray], models.Event]] = {
    # The old data with the order of the sensory fibres reversed: as hard, and solved by the
    # reversed Vx.
    NEW_DATA: lambda at, X, Y: models.SwapData(at, X=X[:, ::-1].copy(), Y=Y),
    "freeze R": lambda at, X, Y: models.Freeze(at, "R"),
    "freeze Q": lambda at, X, Y: models.Freeze(at, "Q"),
    "freeze Vy": lambda at, X, Y: models.Freeze(at, "Vy"),
    "freeze Vx": lambda at, X, Y: models.Freeze(at, "Vx"),
    "cut y": lambda at, X, Y: models.CutInstruction(at),
    "silence n": lambda at, X, Y: models.Silence(at),
}  # events by name, for a sample and data X, Y
DALE = {
    "Q, R": ("Q", "R"),
    "Q, R, Vy": ("Q", "R", "Vy"),
    "Q, R, Vx": ("Q", "R", "Vx"),
    "all": ("Vx", "Vy", "Q", "R"),
}


@dataclass(frozen=True)
class DepartureRange:
    """One departure and the values it is set to.

    Parameters
    ----------
    label
        Words of the departure and of what is varied.
    values
        Numbers or words, from near the paper's circuit to far from it if they are ``ordered``.
    change
        Function to arguments of the circuit, from a value, the r.m.s. of the plain circuit's
        plateaus in the second half of learning, and the number of outputs; ``lesion`` among them is
        the name of an event after half of the samples, one of :data:`LESIONS`.
    """

    label: str
    values: Sequence[float | str]
    change: Callable[..., dict[str, Any]]
    ordered: bool = True


def _departing(*departures: models.Departure) -> dict[str, Any]:
    """Return the change to a circuit with these departures."""
    return {"departures": departures}


def _held(departure: models.Departure) -> dict[str, Any]:
    """Return the change to a circuit that holds samples, and answers at once but for
    ``departure``.
    """
    return _departing(departure, models.Leaky(0, 0, 0, 0, hold=10 * HELD_TICKS, dt=10))


def _bursting(**values: float) -> dict[str, Any]:
    """Return the change to bursting cells with other values of their parameters."""
    known = {name: float(value) for name, value in values.items()}
    return {"cell": models.Millivolts(cell=models.with_values(models.BurstingCells(), **known))}


DEPARTURES = {
    "all_or_none": DepartureRange(
        "all-or-none plateaus: size / r.m.s. drive",
        (0.25, 0.5, 1, 2, 4, 8, 16),
        lambda size, plateau, _: _departing(models.AllOrNone(size * plateau)),
    ),
    "sign": DepartureRange(
        "sign plateaus: size / r.m.s. drive",
        (0.5, 1, 2, 4, 8, 16),
        lambda size, plateau, _: _departing(models.Sign(size * plateau)),
        ordered=False,
    ),
    "rectified": DepartureRange(
        "rectified plateaus: resting level / r.m.s. drive",
        (4, 2, 1, 0.5, 0.25, 0),
        lambda level, plateau, _: _departing(models.Rectified(level * plateau)),
    ),
    "leaky": DepartureRange(
        "leaky membranes: time constants / time a sample is held",
        (0.01, 0.03, 0.1, 0.2, 0.5, 1),
        lambda tau, *_: _departing(
            models.Leaky(200 * tau, 200 * tau, 200 * tau, 200 * tau, hold=200, dt=10)
        ),
    ),
    "spiking": DepartureRange(
        "spiking cells in each population",
        (1000, 300, 100, 30, 10, 5),
        lambda cells, *_: _departing(models.Spiking(cells)),
    ),
    "apical": DepartureRange(
        "apical drive: gain * r.m.s. plateau",
        (0.05, 0.1, 0.2, 0.4, 0.8),
        lambda drive, plateau, _: _departing(models.ApicalDrive(drive / plateau)),
    ),
    # The paper neglects apical drive because plateaus are sparse in time (Sec. 5.2): the larger,
    # the rarer.
    "apical_events": DepartureRange(
        "each plateau adds 0.8 to the output: size / r.m.s. drive",
        (1, 2, 4, 8, 16),
        lambda size, plateau, _: _departing(
            models.AllOrNone(size * plateau), models.ApicalDrive(0.8 / (size * plateau))
        ),
        ordered=False,
    ),
    "interneurons": DepartureRange(
        "interneurons for each output",
        (2, 4, 8),
        lambda ratio, _, k: {"interneurons": ratio * k},
    ),
    "connections": DepartureRange(
        "connection probability, proximal and distal",
        (0.95, 0.9, 0.8, 0.7, 0.5, 0.3),
        lambda probability, *_: _departing(models.SparseConnections(probability, probability)),
    ),
    "dale": DepartureRange(
        "weights that keep their sign",
        tuple(DALE),
        lambda names, *_: _departing(models.DalesLaw(DALE[names])),
        ordered=False,
    ),
    "noise": DepartureRange(
        "transmission noise: s.d. / mean",
        (0.1, 0.2, 0.3, 0.5, 0.7, 1),
        lambda sigma, *_: _departing(models.TransmissionNoise(sigma)),
    ),
    "delay": DepartureRange(
        "inhibition late, samples",
        (1, 2),
        lambda samples, *_: _departing(models.LoopDelay(samples)),
    ),
    "delay_within": DepartureRange(
        "inhibition late, part of the time a sample is held",
        (0.1, 0.25, 0.5, 0.75, 1),
        lambda part, *_: _held(models.LoopDelay(ticks=round(HELD_TICKS * part))),
    ),
    "instruction": DepartureRange(
        "instruction late, samples",
        (1, 2),
        lambda samples, *_: _departing(models.LateInstruction(samples)),
    ),
    "instruction_within": DepartureRange(
        "instruction late, part of the time a sample is held",
        (0.1, 0.25, 0.5, 0.75, 1),
        lambda part, *_: _held(models.LateInstruction(ticks=round(HELD_TICKS * part))),
    ),
    "instruction_traces": DepartureRange(
        "instruction late, samples, traces of twice that",
        (1, 2, 4),
        lambda samples, *_: _departing(
            models.LateInstruction(samples), models.Eligibility(2 * samples, 0, 2 * samples)
        ),
    ),
    "lesion": DepartureRange(
        "lesion after half of the samples",
        tuple(LESIONS),
        lambda lesion, *_: {"lesion": lesion},
        ordered=False,
    ),
}

# Of circuits of cells in millivolts.
MILLIVOLT_DEPARTURES = {
    "population": DepartureRange(
        "cells for each output",
        (200, 100, 50, 25, 10),
        lambda cells, *_: {
            "cell": models.Millivolts(population=cells, interneuron_population=max(cells // 2, 1))
        },
    ),
    "hold": DepartureRange(
        "time for which a sample is held (ms)",
        (200, 150, 100, 60, 40),
        lambda hold, *_: {"cell": models.Millivolts(hold=hold, latency=hold / 5)},
    ),
    "background": DepartureRange(
        "s.d. of background currents (pA)",
        (150, 300, 450, 600),
        lambda sigma, *_: _bursting(sigma_s=sigma, sigma_d=sigma),
        ordered=False,
    ),
    "calcium": DepartureRange(
        "calcium current of the dendrite (pA)",
        (1200, 900, 600, 300, 0),
        lambda current, *_: _bursting(g_d=current),
    ),
}


class RobustnessSettings(RegressionSettings, seeds=5):
    """Settings of ``biorrr robustness``."""

    data: tuple[Data, ...] = data_option(("digits", "synthetic"))
    departures: tuple[str, ...] = option(
        ("all",),
        f"which to try, of {', '.join((*DEPARTURES, *MILLIVOLT_DEPARTURES))}; may be repeated",
    )
    samples: int | None = option(
        None,
        f"samples each circuit sees, to the end of an epoch; {SAMPLES['algebraic']:,} by default, "
        f"{SAMPLES['millivolts']:,} with cells in millivolts",
        at_least=1,
    )
    cell: str = option(
        "algebraic", "what cells are before they are changed", choices=tuple(SAMPLES)
    )
    quick: bool = option(
        False, f"a first look: every other value, {QUICK_SEEDS} seeds, {QUICK_SAMPLES} samples"
    )

    @property
    def ranges(self) -> dict[str, DepartureRange]:
        """All departures from such cells, by name."""
        return MILLIVOLT_DEPARTURES if self.cell == "millivolts" else DEPARTURES

    @property
    def tried(self) -> dict[str, Sequence[Any]]:
        """The values to try, by name of the departure."""
        names = self.ranges if self.departures == ("all",) else self.departures
        return {name: self.ranges[name].values[:: 2 if self.quick else 1] for name in names}


@experiment(
    shows="[how much biology](docs/robustness.md) the theory survives",
    takes="2.5 min",
    paper="beyond it",
    measure=lambda settings: f"{as_key(settings.data[0].name)}_plain",
    captions={
        "robustness": (
            "How far a circuit can depart from the paper's and still learn. Each row changes one"
            " thing, from mild on the left to severe on the right (rows with a star have no order)."
            " A field shows the value and, below it, how far the objective ends above the optimum,"
            " mean over seeds. Blue: the circuit learns. Orange: learning is broken, with an excess"
            " of 5 % and more."
        )
    },
    small={
        "data": (SMALL_DATA,),
        "samples": 60,
        "seeds": 1,
        "engine": "numpy",
        "departures": ("dale", "delay"),
        "quick": True,
    },
)
def robustness(lab: Lab, settings: RobustnessSettings) -> Findings:
    """Turn up each departure on each data set, and find how far it can go."""
    from biorrr.analysis.figures.grids import plot_departures

    settings = lab.fill_in(samples=SAMPLES[settings.cell])
    if settings.quick:
        settings = lab.set(
            samples=min(settings.samples, QUICK_SAMPLES), seeds=min(settings.seeds, QUICK_SEEDS)
        )
    for name in settings.departures:
        if name not in ("all", *settings.ranges):
            raise SettingsError(
                f"departures: must be among {', '.join(settings.ranges)} (got {name!r})"
            )
    for data in settings.data:
        lab.load(data, settings.k)

    exact, each = {}, []
    for data in map(lab.load, settings.data):  # one after another in memory
        exact[data.name] = analysis.ExactSolution(*data.stand_in, settings.s, default_ridge(data))
        each.append(turn_up(lab, settings, data, exact[data.name]))

    names = [data.name for data in settings.data]
    results = (
        xr.concat(each, dim="data").assign_coords(data=names).assign_attrs(tolerated=TOLERATED)
    )
    plain, row = results["plain"].mean("seed"), "excess of the paper's circuit"
    return Findings(
        title="",
        statistic=(
            f"farthest from the paper's circuit with excess below {TOLERATED:.0%}, mean over"
            f" {counted(settings.seeds, 'seed')}"
        ),
        quantities=[
            Quantity("tolerated", TOLERATED, PERCENT),
            Quantity("samples", settings.samples),
            Quantity("seeds", settings.seeds),
            *(
                Quantity(f"{as_key(data)}_plain", plain.sel(data=data), PERCENT, data, row=row)
                for data in names
            ),
            *(one for data in names for one in baseline_quantities(exact[data], settings.k, data)),
            *(
                Quantity(
                    f"{as_key(data)}_{name}",
                    last_tolerated(results[name].sel(data=data)),
                    "",
                    data,
                    row=results[name].attrs["long_name"],
                )
                for name in settings.tried
                for data in names
            ),
        ],
        data={"run": results},
        figures=[Figure("robustness", partial(plot_departures, results))],
    )


def turn_up(
    lab: Lab, settings: RobustnessSettings, data: Dataset, exact: analysis.ExactSolution
) -> xr.Dataset:
    """Try all departures on one data set.

    Returns the excess ``plain`` (seed,) of the paper's circuit and, by name of the departure, that
    of circuits which depart from it, (value, seed).
    """
    seeds = {"seed": settings.every_seed}
    names = [name for name, values in settings.tried.items() for _ in values]
    places = [place for values in settings.tried.values() for place in range(len(values))]

    plain = lab.map(try_plain, seeds, data, exact)
    # Some may have diverged, and have fewer.
    plateau = np.sqrt(np.nanmean(np.square(plain["plateau"].values)))
    over = {"departure": ("trial", names), "place": ("trial", places)}
    found = lab.map(try_departure, over | seeds, data, exact, plateau)

    results = plain[["excess"]].rename(excess="plain")
    for name, values in settings.tried.items():
        one, along = settings.ranges[name], f"{name}_value"
        excess = found["excess"].sel(trial=found["departure"] == name).values
        about = {"long_name": one.label, "ordered": int(one.ordered)}
        results = results.assign_coords({along: [*values]})
        results[name] = (along, "seed"), excess, about
    return results


def try_plain(
    task: Task, data: Dataset, exact: analysis.ExactSolution, seed: int
) -> dict[str, Any]:
    """Return the excess of the paper's circuit and its plateaus in the second half of learning,
    (recorded, k).
    """
    run, excess = _train(task, data, exact, seed, {})
    return {"excess": excess, "plateau": run.data["plateau"].values[len(run.data["sample"]) // 2 :]}


def try_departure(
    task: Task,
    data: Dataset,
    exact: analysis.ExactSolution,
    plateau: float,
    departure: str,
    place: int,
    seed: int,
) -> dict[str, float]:
    """Return the excess of a circuit that departs from the paper's: ``place`` is that of the value
    among those tried, and ``plateau`` the r.m.s. of plateaus in the paper's.
    """
    settings = task.settings
    value = settings.tried[departure][place]
    change = settings.ranges[departure].change(value, plateau, settings.k)
    return {"excess": _train(task, data, exact, seed, change)[1]}


def _train(
    task: Task,
    data: Dataset,
    exact: analysis.ExactSolution,
    seed: int,
    change: dict[str, Any],
) -> tuple[circuits.Run, float]:
    """Return the run of a circuit with the arguments ``change``, and its excess over the
    optimum.
    """
    settings, X, Y = task.settings, data.X, data.Y
    epochs = -(-settings.samples // len(X))
    arguments = cell_arguments(settings.cell) | change  # a change may be one of the cells
    lesion = arguments.pop("lesion", "")
    circuit = settings.make_circuit(
        k=settings.k, s=settings.s, ridge=exact.ridge[0], seed=seed, **arguments
    )
    how: dict[str, Any] = {"epochs": epochs, "record": "plateau", "every": 20, "snapshots": 1}
    how["events"] = [LESIONS[lesion](epochs * len(X) // 2, X, Y)] if lesion else ()
    try:
        # Of columns that say nothing: the same for all circuits.
        with warnings.catch_warnings(action="ignore"):
            run = task.run(circuit, X, Y, centre=True, **how)
    except circuits.Diverged as error:
        return error.run, NOT_LEARNED
    Vx = run.Vx[::-1] if lesion == NEW_DATA else run.Vx
    return run, min(float(exact.excess(Vx)), NOT_LEARNED)


def last_tolerated(excess: xr.DataArray) -> float | str | None:
    """Return the last value before the mean of the excess (value, seed) first reaches TOLERATED.

    Of a departure without order, return all values that stay below it.
    """
    learned = excess.mean("seed").values < TOLERATED
    values = excess[excess.dims[0]].values
    if not excess.attrs["ordered"]:
        return "; ".join(map(str, values[learned])) or None
    reached = len(values) if learned.all() else int(np.argmin(learned))
    return float(values[reached - 1]) if reached else None
