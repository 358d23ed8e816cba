"""Figures of one run, from its dataset: the same from a script, a command and the report page.

Each takes ``data``, the dataset that a run keeps (weights at snapshots, traces, settings). ``X``
(n_samples, m) and ``Y`` (n_samples, n) are the data that were learned, as the circuit was given
them; ``exact`` is their exact solution, where it is known already; ``neurons`` are counted from 0;
``ax`` are axes to draw into, new ones unless given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.inhibition import plot_symmetry
from biorrr.analysis.figures.learning import plot_filters
from biorrr.analysis.figures.plateaus import TRACES, plot_plateau, plot_raster
from biorrr.analysis.figures.style import Dataset
from biorrr.analysis.laws import symmetry_decay
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.traces import Stage, stages_of_learning
from biorrr.errors import InputError

# Samples in a stretch: as many as can be told apart, fewer where each takes its time.
SAMPLES, HELD_SAMPLES = 50, 8
HALFWAY = "Halfway: the circuit's prediction has come half the way to its final form."
MOST_TRACED, MOST_FILTERS, MOST_RECORDED = 4, 6, 3  # neurons that fit a page


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
        found = stages(data, X, Y, exact, shown).values()
        chosen = {f"samples {one.samples[0]} to {one.samples[-1]}": one for one in found}
    cells = _chosen(neurons, data["plateau"].shape[-1], MOST_TRACED)
    clocks = {title: _clock(data, one.samples) for title, one in chosen.items()}
    return plot_plateau(
        {title: _of_cells(one.traces, cells) for title, one in chosen.items()},
        {title: _of_cells(one.theory, cells) for title, one in chosen.items() if one.theory},
        at={title: moments for title, (*_, moments) in clocks.items()},
        unit=next(iter(clocks.values()))[0],
        onsets={title: clock[2] for title, clock in clocks.items()} if _held(data) else None,
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
    Q, rate, exact = data["Q"].values, shared_rate(data, eta_q), _known_exact(data, X, Y, exact)
    decay = symmetry_decay(Q, data["R"], data["seen"], rate or 0.0)
    size = np.linalg.norm(Q, axis=(1, 2))
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
    _, hold, onsets, moments = _clock(data, recorded)
    at = (moments - onsets[0]) / hold + recorded[0]
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
    Vx, exact = data["Vx"].values[-1], _known_exact(data, X, Y, exact)
    k = Vx.shape[1]
    cells = _chosen(neurons, k, MOST_FILTERS)
    learned = Vx if exact is None else exact.aligned(Vx)
    best = None if exact is None else exact.Vx(k)[:, cells]
    return plot_filters(learned[:, cells], best, pixels, numbers=cells, of=k, ax=ax)


def raster_of(
    data: Dataset,
    raster: Callable[[NDArray], tuple[NDArray, NDArray]] | None,
    shown: int,
    neurons: Sequence[int] | None,
    ax: Any,
) -> NDArray:
    """Draw traces of the last samples and, where cells spike, the tick and the cell of each spike
    that ``raster`` finds in the counts, (ticks, neurons).
    """
    last = [*stages(data, shown=shown).values()][-1]
    cells = _chosen(neurons, data["plateau"].shape[-1], MOST_RECORDED)
    (unit, hold, onsets, moments), spikes = _clock(data, last.samples), None
    if raster is not None:
        counts = data["spikes"].sel(sample=last.samples).values
        ticks, who = raster(counts.reshape(-1, counts.shape[-1])[:, cells])
        # Poisson cells fire at any moment of a tick alike.
        fired = ticks + np.random.default_rng(data.attrs["seed"]).random(len(ticks))
        tick = hold * len(last.samples) / len(moments)
        spikes = onsets[0] + tick * fired, who, int(data.attrs["cells_each"])
    return plot_raster(
        moments,
        _of_cells(last.traces, cells),
        onsets=onsets,
        unit=unit,
        spikes=spikes,
        neurons=[_name(data, cell) for cell in cells],
        ax=ax,
    )


# -- what they are made of -------------------------------------------------------------------------


def exact_solution(
    data: Dataset, X: ArrayLike | None, Y: ArrayLike | None, exact: ExactSolution | None = None
) -> ExactSolution:
    """Return the exact solution of the problem that the run has learned: ``exact``, or that of the
    data.
    """
    if exact is not None:
        return exact
    if X is None or Y is None:
        raise InputError(
            "X, Y: must be the data that were learned, which the exact solution needs (got none)"
        )
    return ExactSolution(
        np.asarray(X) - data["mean_x"].values,
        np.asarray(Y) - data["mean_y"].values,
        data.attrs["s"],
        (data.attrs["ridge_x"], data.attrs["ridge_y"]),
    )


def _known_exact(
    data: Dataset, X: ArrayLike | None, Y: ArrayLike | None, exact: ExactSolution | None
) -> ExactSolution | None:
    """Return the exact solution; None where neither it nor the data are known."""
    return exact if X is None and Y is None else exact_solution(data, X, Y, exact)


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
        exact = exact_solution(data, X, Y, exact)
        x, y = (np.asarray(view)[data["data_row"].values] for view in (X, Y))
        rows = x - data["mean_x"].values, y - data["mean_y"].values
    return stages_of_learning(
        data["sample"].values,
        {name: data[name].values for name in TRACES if name in data},
        data["seen"].values,
        data["Vx"].values,
        data["Vy"].values,
        shown=shown or (HELD_SAMPLES if _held(data) else SAMPLES),
        data=rows,
        exact=exact,
    )


def _held(data: Dataset) -> bool:
    """Return True if neurons were recorded tick by tick while a sample was held, and not once per
    sample.
    """
    return "time" in data.get("plateau", data).dims


def _clock(data: Dataset, samples: NDArray) -> tuple[str, float, NDArray, NDArray]:
    """Return the horizontal axis of traces of ``samples``: its label, the duration of a sample,
    the onset of each sample, and the end of each tick, or of each sample that is one tick.

    Milliseconds count from the first of the samples.
    """
    if not _held(data):
        unit, hold, ends = "sample", 1.0, np.zeros(1)
    else:
        ends = data["time"].values / data["time"].values[-1]
        unit, hold = "time (ms)", float(data["time"][-1])
    if data.attrs.get("signal_in_time"):
        unit, hold = "time (s)", float(data.attrs["seconds_per_sample"])
    onsets = hold * (samples - samples[0] * (unit == "time (ms)"))
    return unit, hold, onsets, (onsets[:, None] + hold * ends).ravel()


def _chosen(neurons: Sequence[int] | None, k: int, most: int) -> list[int]:
    """Return which of ``k`` neurons are drawn: the first ones unless given."""
    chosen = range(min(k, most)) if neurons is None else np.atleast_1d(neurons)
    if not len(chosen) or min(chosen) < 0 or max(chosen) >= k:
        raise InputError(f"neurons: must lie in [0, {k - 1}] (got {neurons!r})")
    return [int(one) for one in chosen]


def _name(data: Dataset, cell: int) -> str:
    """Return the name of a recorded neuron in figures, counted from 0: "neuron 3", or of many
    "neuron 3 of 10".
    """
    k = data["Vx"].shape[-1]
    number = int(data["plateau_cell"].values[cell]) if "plateau_cell" in data.coords else cell
    return f"neuron {number}" + (f" of {k}" if k > MOST_TRACED else "")
