"""Figures of one run, from its dataset: the same from a script, a command and the report page.

Each takes ``data``, the dataset that a run keeps (weights at snapshots, traces, settings). ``X``
(n_samples, m) and ``Y`` (n_samples, n) are the data that were learned, as the circuit was given
them; ``exact`` is their exact solution, where it is known already; ``neurons`` are counted from 0;
``ax`` are axes to draw into, new ones unless given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.inhibition import plot_symmetry
from biorrr.analysis.figures.learning import plot_eigenvalues, plot_filters, plot_learning
from biorrr.analysis.figures.plateaus import TRACES, plot_plateau, plot_raster
from biorrr.analysis.figures.style import Axes, Dataset
from biorrr.analysis.laws import symmetry_decay
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.traces import Stage, stages_of_learning
from biorrr.errors import InputError

SAMPLES, HELD_SAMPLES = (
    50,
    8,
)  # in a stretch: as many as can be told apart, fewer where each takes its time
HALFWAY = "Halfway: the circuit's prediction has come half the way to its final form."
MOST_TRACED, MOST_FILTERS, MOST_RECORDED = 4, 6, 3  # neurons that fit a page


def learning_of(
    data: Dataset, X: ArrayLike | None, Y: ArrayLike | None, exact: ExactSolution | None, ax: Any
) -> Axes:
    """Draw the objective at each snapshot against its optimum."""
    exact = exact or exact_solution(data, X, Y)
    Vx = data["Vx"].values
    return plot_learning(
        data["seen"].values,
        exact.objective(Vx),
        exact.optimum(Vx.shape[-1]),
        label="circuit",
        ax=ax,
    )


def plateau_of(
    data: Dataset,
    X: ArrayLike | None,
    Y: ArrayLike | None,
    exact: ExactSolution | None,
    shown: int | None,
    neurons: Sequence[int] | None,
    ax: Any,
    samples: tuple[int, int] | None = None,
) -> NDArray:
    """Draw traces of ``samples``, or at the start, halfway and at the end; with theory where the
    data are known.
    """
    if samples is None:
        chosen = stages(data, X, Y, exact, shown)
    else:
        data, shown = _between(data, *samples), samples[1] - samples[0]
        found = stages(data, X, Y, exact, shown)
        chosen = {f"samples {one.samples[0]} to {one.samples[-1]}": one for one in found.values()}
    cells = _chosen(data, neurons, MOST_TRACED)
    clocks = {title: Clock.of(data, one.samples) for title, one in chosen.items()}
    return plot_plateau(
        {title: _of_cells(one.traces, cells) for title, one in chosen.items()},
        {title: _of_cells(one.theory, cells) for title, one in chosen.items() if one.theory},
        at={title: one.moments for title, one in clocks.items()},
        unit=next(iter(clocks.values())).unit,
        onsets={title: one.onsets for title, one in clocks.items()} if _held(data) else None,
        neurons=[_name(data, cell) for cell in cells],
        note=HALFWAY if "halfway" in chosen else "",
        ax=ax,
    )


def _of_cells(signals: Mapping[str, NDArray], cells: list[int]) -> dict[str, NDArray]:
    """Return signals by name with a row per tick and a column per chosen cell."""
    return {
        name: signal.reshape(-1, signal.shape[-1])[:, cells] for name, signal in signals.items()
    }


def _between(data: Dataset, first: int, stop: int) -> Dataset:
    """Return ``data`` with the traces of samples ``first`` to ``stop`` - 1 alone."""
    kept = data.sel(sample=slice(first, stop - 1))
    if not kept.sizes["sample"]:
        have = data["sample"].values
        raise InputError(
            f"samples: none of {first} to {stop - 1} was recorded; there are samples {have.min()}"
            f" to {have.max()}, and run(..., every=[(first, last + 1)]) records others"
        )
    return kept


def symmetry_of(
    data: Dataset,
    X: ArrayLike | None,
    Y: ArrayLike | None,
    exact: ExactSolution | None,
    ax: Any,
    eta_q: Callable[[NDArray], NDArray] | None = None,
) -> NDArray:
    """Draw ||R - Q'|| / ||Q|| and the eigenvalues of QQ' at each snapshot; ``eta_q`` is the rate of
    Q and R where none was recorded.
    """
    Q, rate = data["Q"].values, shared_rate(data, eta_q)
    decay = symmetry_decay(Q, data["R"], data["seen"], rate or 0.0)
    size = np.linalg.norm(Q, axis=(1, 2))
    if X is not None or Y is not None:
        exact = exact or exact_solution(data, X, Y)
    return plot_symmetry(
        decay.samples,
        decay.measured / size,
        np.linalg.eigvalsh(Q @ Q.swapaxes(1, 2))[:, ::-1],
        None if rate is None else decay.predicted / size,
        None if exact is None else exact.eigenvalues[: Q.shape[1]],
        decay.rounding / size,
        ax=ax,
    )


def shared_rate(
    data: Dataset, eta_q: Callable[[NDArray], NDArray] | None
) -> Callable[[NDArray], NDArray] | None:
    """Return the rate of Q and R against samples, as recorded or else ``eta_q``; None if they
    differ.
    """
    if "eta_q" not in data:
        return eta_q
    recorded_q, recorded_r = (data[name].values.ravel() for name in ("eta_q", "eta_r"))
    if not np.array_equal(recorded_q, recorded_r):
        return None
    recorded = data["sample"].values
    clock = Clock.of(data, recorded)
    at = (clock.moments - clock.onsets[0]) / clock.hold + recorded[0]
    return lambda t: np.interp(t, at, recorded_q)


def filters_of(
    data: Dataset,
    X: ArrayLike | None,
    Y: ArrayLike | None,
    pixels: tuple[int, ...] | None,
    exact: ExactSolution | None,
    neurons: Sequence[int] | None,
    ax: Any,
) -> NDArray:
    """Draw the final filters; beside the exact ones, onto which they are turned, where the data are
    known.
    """
    Vx = data["Vx"].values[-1]
    if exact is None and X is not None and Y is not None:
        exact = exact_solution(data, X, Y)
    cells = _chosen(data, neurons, MOST_FILTERS, Vx.shape[1])
    if exact is None:
        return plot_filters(Vx[:, cells], pixels=pixels, numbers=cells, ax=ax)
    best = exact.Vx(Vx.shape[1])
    return plot_filters(
        exact.aligned(Vx)[:, cells], best[:, cells], pixels, numbers=cells, of=Vx.shape[1], ax=ax
    )


def eigenvalues_of(
    data: Dataset, X: ArrayLike | None, Y: ArrayLike | None, exact: ExactSolution | None, ax: Any
) -> Axes:
    """Draw the eigenvalues of the final QQ' beside those of M."""
    exact = exact or exact_solution(data, X, Y)
    Q = data["Q"].values[-1]
    found = np.linalg.eigvalsh(Q @ Q.T)[::-1]
    return plot_eigenvalues(exact.eigenvalues[: len(found) + 4], found, ax=ax)


def raster_of(
    data: Dataset,
    spikes: tuple[NDArray, NDArray, int] | None,
    shown: int,
    neurons: Sequence[int] | None,
    ax: Any,
) -> NDArray:
    """Draw the last samples: ``spikes`` (tick within them, cell, cells per neuron) where there are
    any, over traces.
    """
    last, cells = last_samples(data, shown), _chosen(data, neurons, MOST_RECORDED)
    clock, timed = Clock.of(data, last.samples), None
    if spikes is not None:
        fired, who, each = spikes
        kept = np.isin(who // each, cells)
        place = np.array([cells.index(one) for one in who[kept] // each], dtype=int)
        step = clock.hold / (data.sizes["time"] if _held(data) else 1)
        timed = clock.onsets[0] + step * fired[kept], place * each + who[kept] % each, each
    return plot_raster(
        clock.moments,
        _of_cells(last.traces, cells),
        onsets=clock.onsets,
        unit=clock.unit,
        spikes=timed,
        neurons=[_name(data, cell) for cell in cells],
        ax=ax,
    )


def _held(data: Dataset) -> bool:
    """Return True if neurons were recorded tick by tick while a sample was held, and not once per
    sample.
    """
    return "time" in data.get("plateau", data).dims


# -- what they are made of -------------------------------------------------------------------------


def exact_solution(data: Dataset, X: ArrayLike | None, Y: ArrayLike | None) -> ExactSolution:
    """Return the exact solution of the problem that the run has learned."""
    if X is None or Y is None:
        raise InputError(
            "X, Y: must be the data that were learned, which the exact solution needs (got none)"
        )
    ridge = data.attrs["ridge_x"], data.attrs["ridge_y"]
    return ExactSolution(
        np.asarray(X) - data["mean_x"].values,
        np.asarray(Y) - data["mean_y"].values,
        data.attrs["s"],
        ridge,
    )


def stages(
    data: Dataset,
    X: ArrayLike | None = None,
    Y: ArrayLike | None = None,
    exact: ExactSolution | None = None,
    shown: int | None = None,
) -> dict[str, Stage]:
    """Return the stages that :func:`plateau_of` draws, by title."""
    rows = None
    if X is not None and Y is not None:
        exact = exact or exact_solution(data, X, Y)
        x, y = (np.asarray(view)[data["data_row"].values] for view in (X, Y))
        rows = x - data["mean_x"].values, y - data["mean_y"].values
    traces = {name: data[name].values for name in TRACES if name in data}
    return stages_of_learning(
        data["sample"].values,
        traces,
        data["seen"].values,
        data["Vx"].values,
        data["Vy"].values,
        shown=shown or (HELD_SAMPLES if _held(data) else SAMPLES),
        data=rows,
        exact=exact,
    )


def last_samples(data: Dataset, shown: int) -> Stage:
    """Return the last stretch of samples that was recorded, of at most ``shown``."""
    return [*stages(data, shown=shown).values()][-1]


class Clock(NamedTuple):
    """The horizontal axis of traces.

    Attributes
    ----------
    unit
        Its label.
    hold
        Duration of a sample.
    onsets : (samples,)
        Onset of each sample; milliseconds count from the first.
    moments : (ticks,)
        End of each tick.
    """

    unit: str
    hold: float
    onsets: NDArray
    moments: NDArray

    @classmethod
    def of(cls, data: Dataset, samples: NDArray) -> Clock:
        """Return the clock of a run for some of its samples."""
        held = _held(data)
        ticks = data["time"].values if held else np.ones(1)
        unit, hold, onsets = "sample", 1.0, samples
        if data.attrs.get("signal_in_time"):
            unit, hold = "time (s)", float(data.attrs["seconds_per_sample"])
            onsets = hold * samples
        elif held:
            unit, hold = "time (ms)", float(ticks[-1])
            onsets = hold * (samples - samples[0])
        moments = (onsets[:, None] + ticks * hold / ticks[-1]).ravel() if held else onsets
        return cls(unit, hold, onsets, moments)


def _chosen(
    data: Dataset, neurons: Sequence[int] | None, most: int, k: int | None = None
) -> list[int]:
    k = k or data["plateau"].shape[-1]
    chosen = (
        [*range(min(k, most))] if neurons is None else [int(one) for one in np.atleast_1d(neurons)]
    )
    if not chosen or min(chosen) < 0 or max(chosen) >= k:
        raise InputError(f"neurons: must lie in [0, {k - 1}] (got {neurons!r})")
    return chosen


def _name(data: Dataset, cell: int) -> str:
    """Return the name of a recorded neuron in figures, counted from 0: "neuron 3", or of many
    "neuron 3 of 10".
    """
    k = data["Vx"].shape[-1]
    number = int(data["plateau_cell"].values[cell]) if "plateau_cell" in data.coords else cell
    return f"neuron {number}" + (f" of {k}" if k > MOST_TRACED else "")
