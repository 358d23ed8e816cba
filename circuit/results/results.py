"""From simulated jobs to runs, of one seed or of several; and what is said of those that fail:
activity that diverges, outputs that do not settle, and outputs that stay silent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biorrr.circuit.results.dataset import label_results
from biorrr.circuit.results.run import Run
from biorrr.circuit.simulation.job import Job, Outcome
from biorrr.circuit.stimulus.data_checks import warn
from biorrr.circuit.stimulus.feeds import Feed, chunks
from biorrr.errors import BiorrrError, InputError
from biorrr.models import Departure, Rates, Settled

if TYPE_CHECKING:
    import xarray as xr

    from biorrr.circuit.regression import Regression

# Output power along a direction, of which 1 is due, below which it is called silent. After 100,000
# samples of the problems of docs/rates.md, runs with more cells than x and y share latents had at
# most 0.23, few others below 0.25.
_SILENT = 0.25
_LONG = 10_000  # samples from which on a run is long enough to learn
_DEAD = 0.01  # output power below which it is lost, with rates of one's own; others come and go
_FADED = 0.1  # share of its start, and of what is needed, below which inhibition has faded
_UNLIKE = 2.0  # times a suggested ratio of rates: those were searched in steps of two
# Share of what all outputs can find that is worth more samples: the bound on the excess of
# docs/rates.md.
_WORTHWHILE = 0.02
_ROWS, _FEATURES, _MIXTURES = 5000, 300, 50  # that are looked at to judge rates


class _FailedRun(BiorrrError, ArithmeticError):
    """An error that holds the run which failed.

    Attributes
    ----------
    run
        The :class:`~biorrr.circuit.Run`.
    """

    run: Run

    def __init__(self, text: str, run: Any = None) -> None:
        super().__init__(text)
        self.run = run


class Diverged(_FailedRun):
    """Activity became infinite or not a number; ``run`` ends with the last sample at which
    everything was finite.
    """


class Unsettled(_FailedRun):
    """Outputs that did not reach their equilibrium while a sample was held; ``run`` holds the
    results.
    """


def check_settled(departures: Iterable[Departure], run: Run, ticks: int) -> None:
    """Raise where the outputs of ``run``, held for so many ``ticks``, did not settle as
    ``departures`` ask.
    """
    worst = run.data.attrs.get("worst_residual", 0.0)
    tolerance = min((d.tolerance for d in departures if isinstance(d, Settled)), default=math.inf)
    if worst <= tolerance:
        return
    if worst < 0.1:  # it falls by the same factor from tick to tick
        enough = math.ceil(1.05 * ticks * math.log(tolerance) / math.log(worst))
        remedy = f"give them more, departures=[Settled(ticks={enough})]"
    else:
        remedy = "the equilibrium is unstable: lower the rates, or the gains of the links above x"
    raise Unsettled(
        f"outputs did not settle: the largest residual was {worst:.1e} of that of silence after"
        f" {ticks} ticks, and {tolerance:.0e} is accepted; {remedy}",
        run,
    )


def advice_on_divergence(
    regression: Regression | None, feeds: Mapping[str, Feed], sample: int
) -> str:
    """Return what to do about a run that diverged at ``sample``: with rates of one's own, which to
    lower, that which is furthest above the one that suits the data.
    """
    if regression is not None and regression.own_rates is None:
        return "look for outliers in the data, or give rates=Rates.suggested(X, Y, ...)"
    if regression is None or regression.apical:
        return "lower the rates of plasticity"
    times = _times_suggested(regression, _some_rows(feeds), sample)
    if times is None:
        return "lower the rates, eta_q (rates.q) first: what x and y share is too little to learn"
    in_words = ", ".join(f"eta_{path} {factor:.2g}" for path, factor in times.items())
    compared = f"rates are, as multiples of {_call(regression)}, {in_words}"
    worst = max(times, key=times.__getitem__)
    if times[worst] <= 1:
        return f"{compared}: initial weights are too large; begin with its start"
    others = [f"eta_{path}" for path in times if times[path] > _UNLIKE and path != worst]
    then = f", then {' and '.join(others)}" if others else ""
    return f"{compared}: lower eta_{worst} (rates.{worst}) first{then}"


def warn_of_silence(regression: Regression, run: Run, feeds: Mapping[str, Feed]) -> None:
    """Warn of inhibition that has faded and of outputs that have died, with any rates; and of
    directions that are silent after a long run whose rates, fitted to the data, cooled down.
    """
    if regression.apical or not (run.data.attrs["linear_output"] and run.data.attrs["plastic"]):
        return
    powers, text = _powers(run, feeds), ""
    sizes = np.linalg.norm(run.data["Q"].values[[0, -1]], axis=(1, 2)).tolist()
    silent = bool(powers[0] < _SILENT)
    if run.cooled and silent and run.samples >= _LONG:
        text = _silent_directions(regression, run, powers, feeds)
    elif not run.cooled and (silent or sizes[1] < _FADED * sizes[0]):
        text = _wrong_rates(regression, run.samples, powers, sizes, _some_rows(feeds))
    if text:
        warn(text)


def _silent_directions(
    regression: Regression, run: Run, powers: np.ndarray, feeds: Mapping[str, Feed]
) -> str:
    """Return that outputs have some of their ``powers`` too low after rates have cooled down, and
    whether that is for want of something to learn or of time.
    """
    k, silent = len(powers), np.count_nonzero(powers < _SILENT)
    little = f"too weak or too rare to be learned in {run.samples} samples"
    if silent == k:
        return (
            f"all outputs are silent (their largest variance is {powers[-1]:.1g}, and 1 is due):"
            f" what x and y share is {little}; present more, or check that rows of X and Y belong"
            " to each other"
        )
    found = signal_strengths(regression, _some_rows(feeds))
    share = found[k - silent :].sum() / (found.sum() or 1.0)
    remedy = (
        f"they are {100 * share:.2g} % of what {k} outputs can find: present more samples"
        if share > _WORTHWHILE
        else f"what x and y share there is {little}; reduce k, or give"
        " departures=[HomeostaticScaling()]"
    )
    return (
        f"k: the outputs are silent along {silent} of {k} directions (the lowest power is"
        f" {powers[0]:.2g}, and 1 is due): {remedy}"
    )


def _wrong_rates(
    regression: Regression,
    samples: int,
    powers: np.ndarray,
    sizes: Sequence[float],
    data: tuple[np.ndarray, np.ndarray],
) -> str:
    """Return that inhibition has faded, from the first of ``sizes`` to the last, or, in the end of
    a long run, that outputs with these ``powers`` have died, all or some that matter, and what to
    do; nothing where neither is so.
    """
    k, long, (first, last) = len(powers), samples >= _LONG, sizes
    found = signal_strengths(regression, data)  # eigenvalues of QQ' at best
    needed = math.sqrt(found.sum())
    dead = np.count_nonzero(powers < _DEAD)
    lost = found[k - dead :].sum() / (found.sum() or 1.0)
    if last < _FADED * min(first, needed):
        happened = (
            f"inhibition has faded: ||Q|| fell from {first:.2g} to {last:.2g}, outputs of unit"
            f" variance need {needed:.2g}, and their largest variance is {powers[-1]:.1g}"
        )
    elif long and powers[-1] < _SILENT:
        happened = f"outputs have died: their largest variance is {powers[-1]:.1g}, and 1 is due"
    elif long and lost > _WORTHWHILE:
        happened = (
            f"outputs have died along {dead} of {k} directions, which are {100 * lost:.2g} % of"
            f" what {k} outputs can find: the lowest variance is {powers[0]:.1g}, and 1 is due"
        )
    else:
        return ""
    return f"{happened}; {_advice_on_ratios(regression, samples, data)}"


def _powers(run: Run, feeds: Mapping[str, Feed]) -> np.ndarray:
    """Return the power of the outputs in each direction, (k,), in ascending order.

    All of x is read only where outputs are silent in the rows that are kept in memory.
    """
    x, Vx = feeds["x"], run.Vx
    for rows in (x.facts.some, x.values):
        outputs = ((block - x.mean) @ Vx for block in chunks(rows))
        covariance = sum(z.T @ z for z in outputs) / len(rows)
        powers = np.linalg.eigvalsh(covariance + run.data.attrs["ridge_x"] * Vx.T @ Vx)
        if powers[0] >= _SILENT:
            break
    return powers


def _advice_on_ratios(
    regression: Regression, sample: int, data: tuple[np.ndarray, np.ndarray]
) -> str:
    """Return which of one's own rates at a ``sample`` to change, by their ratios to each other
    beside those that suit the ``data``.
    """
    times, call = _times_suggested(regression, data, sample), _call(regression)
    if times is None:
        return "x and y share nothing that could be learned"
    if not times:
        return "present more samples"
    if not all(times.values()):
        return f"begin with {call}"
    ratios = {
        "eta_q/eta_x": (times["q"] / times["x"], "raise eta_x (rates.x), or lower eta_q (rates.q)"),
        "eta_y/eta_q": (times["y"] / times["q"], "lower eta_y (rates.y), or raise eta_q (rates.q)"),
    }
    name, (ratio, remedy) = max(ratios.items(), key=lambda item: item[1][0])
    if ratio < _UNLIKE:
        return f"present more samples, or begin with {call}"
    return f"{name} is {float(f'{ratio:.2g}'):,g} times that of {call}: {remedy}"


def _call(regression: Regression) -> str:
    """Return the call that suggests rates for ``regression``."""
    return f"Rates.suggested(X, Y, {regression.areas[0].k}, {regression.s:g})"


def _times_suggested(
    regression: Regression, data: tuple[np.ndarray, np.ndarray], sample: int
) -> dict[str, float] | None:
    """Return by how much one's own rates of x, y and q, if any, exceed those that suit the ``data``
    at a ``sample``; None where there is nothing to learn.
    """
    try:
        suggested = Rates.suggested(*data, regression.areas[0].k, regression.s, regression.ridges)
    except InputError:
        return None
    return {
        path: getattr(own, path)(sample) / getattr(suggested, path).eta0
        for own in regression.own_rates or ()
        for path in "xyq"
    }


def signal_strengths(regression: Regression, data: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the k largest eigenvalues of M: what each of k outputs can find of y."""
    from biorrr.analysis.regression.exact_solution import ExactSolution

    exact = ExactSolution(*data, regression.s, regression.ridges)
    return exact.eigenvalues[: regression.areas[0].k]


def _some_rows(feeds: Mapping[str, Feed]) -> tuple[np.ndarray, np.ndarray]:
    """Return evenly spaced samples of x and of y, as they are presented.

    Where x has many features, they are exchanged for fewer, since eigenvalue problems take the cube
    of their number: the directions of x that say most of y, by two steps of partial least squares,
    and what is left of the length of x.
    """
    step = -(-feeds["x"].samples // _ROWS)
    rows = [feeds["x"].row(sample, 0) for sample in range(0, feeds["x"].samples, step)]
    x, y = (feeds[name].values[rows] - feeds[name].mean for name in ("x", "y"))
    if x.shape[1] > _FEATURES:
        rng = np.random.default_rng(0)
        few = x.T @ (y @ rng.standard_normal((y.shape[1], _MIXTURES)))
        inside = x @ np.linalg.qr(np.hstack([few, x.T @ (x @ few)]))[0]
        left = np.square(x).sum(axis=1) - np.square(inside).sum(axis=1)
        signs = rng.choice([-1.0, 1.0], len(left))
        x = np.column_stack([inside, signs * np.sqrt(left.clip(0))])
    return x, y


def results(job: Job, outcome: Outcome) -> Run:
    """Return the run of ``job``, which ended with ``outcome``.

    Raises
    ------
    Diverged, Unsettled
        Where the numbers cannot be relied on; the error holds the run.
    """
    circuit = job.circuit
    run = Run(label_results(job, outcome), circuit, job)
    if run.ended == "diverged":
        advice = advice_on_divergence(circuit.regression, job.feeds, outcome.samples)
        raise Diverged(
            f"the circuit diverged at sample {outcome.samples}: activity is no longer finite;"
            f" {advice}",
            run,
        )
    check_settled(circuit.parts.departures, run, job.blueprint.timing.duration)
    if circuit.regression is not None and not job.events:
        warn_of_silence(circuit.regression, run, job.feeds)
    return run


class Runs(Sequence[Run]):
    """Runs of one circuit, one for each seed, in their order.

    Parameters
    ----------
    runs
        The runs.
    errors
        Those that cannot be relied on, by seed: :class:`~biorrr.circuit.Diverged` or
        :class:`~biorrr.circuit.Unsettled`.
    """

    def __init__(
        self, runs: Sequence[Run], errors: dict[int, Diverged | Unsettled] | None = None
    ) -> None:
        self.runs, self.errors = list(runs), errors or {}

    def __getitem__(self, place):
        return Runs(self.runs[place], self.errors) if isinstance(place, slice) else self.runs[place]

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"<Runs: seeds {', '.join(map(str, self.seeds))}>"

    @property
    def seeds(self) -> list[int]:
        """Seed of each run."""
        return [int(run.data.attrs["seed"]) for run in self.runs]

    @property
    def data(self) -> xr.Dataset:
        """Snapshots and traces of all runs that went to their end, along a dimension ``seed``."""
        import xarray as xr

        whole = Runs([run for run in self.runs if run.ended == "done"])
        seeds = xr.Variable("seed", whole.seeds)
        return xr.concat([run.data for run in whole], seeds, combine_attrs="drop_conflicts")


def results_of_seeds(jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> Runs:
    """Return the runs of ``jobs``, one for each seed; warn of those that cannot be relied on."""
    runs: list[Run] = []
    errors: dict[int, Diverged | Unsettled] = {}
    for job, outcome in zip(jobs, outcomes, strict=False):
        try:
            runs.append(results(job, outcome))
        except (Diverged, Unsettled) as error:
            runs.append(error.run)
            errors[job.presentation.seed] = error
    if errors:
        seeds, first = ", ".join(map(str, errors)), next(iter(errors.values()))
        warn(f"seeds: {len(errors)} of {len(runs)} runs failed ({seeds}); the first: {first}")
    return Runs(runs, errors)
