"""Settings, checks and scores that experiments share in which circuits learn data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from biorrr.sims import data as data_sets
from biorrr.sims.lab.findings import PERCENT, Quantity
from biorrr.sims.lab.settings import ExperimentSettings, SettingsError, data_option, option
from biorrr.sims.lazy import analysis, circuits, np, xr
from biorrr.sims.words import as_key

# What the theory says of the optimum is seen only near it: on digits and V1-V2 (k = 2) plateaus
# come within 5 % of it after a million samples and within 1 % after two.
CONVERGED_SAMPLES = 2_000_000
JUDGED_SAMPLES = 1_000_000

MILLIVOLT_EPOCHS = (
    12  # cells in millivolts take a thousand times as long: on digits excess is 2 to 3 % by then
)


def cell_option() -> Any:
    """Declare the setting that chooses the cells."""
    choices = ("algebraic", "millivolts")
    return option("algebraic", "what cells are; algebraic ones are the paper's", choices=choices)


def cell_arguments(cell: str) -> dict[str, Any]:
    """Return the arguments of a circuit that choose its cells: none where they are the paper's."""
    return {} if cell == "algebraic" else {"cell": cell}


class RegressionSettings(ExperimentSettings):
    """Settings of an experiment whose circuits learn a regression of one rank."""

    k: int = option(
        2, "number of pyramidal neurons, which is the rank of the regression", short="k", at_least=1
    )
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)


class LearnerSettings(RegressionSettings):
    """Settings of every circuit that learns one data set."""

    data: data_sets.Data = data_option("digits")
    ridge: float | None = option(
        None, "added to Cxx and Cyy on the diagonal; 0.1 * trace(Cxx)/m by default", at_least=0
    )


class TrainingSettings(LearnerSettings):
    """Settings of an experiment that trains circuits."""

    epochs: int = option(60, "number of passes over the data", at_least=1)


class FamilySettings(LearnerSettings):
    """Settings of an experiment that trains circuits at several s, until they are near the
    optimum.
    """

    s: tuple[float, ...] = option(  # type: ignore[assignment]
        (0.0, 1.0), "0 is RRMSE, 1 is CCA; may be repeated", short="s", at_least=0, at_most=1
    )
    epochs: int | None = option(
        None,
        f"number of passes over the data; by default as many as make {CONVERGED_SAMPLES:,} samples",
        at_least=1,
    )


def unjudged_because(settings: Any, samples: int) -> str:
    """Return why the optimum is not judged, other cells than the paper's or too few samples; an
    empty text if it is.
    """
    cell = getattr(settings, "cell", "algebraic")
    if cell != "algebraic":
        return f"the paper's claims are about algebraic cells, and these are {cell}"
    if samples < JUDGED_SAMPLES:
        return (
            f"{samples:,} samples are too few to come near the optimum; it takes {JUDGED_SAMPLES:,}"
        )
    return ""


def check_rank(k: int, data: data_sets.Dataset) -> None:
    """Refuse more neurons than the data allow, and data that never change."""
    m, n = data.X.shape[1], data.Y.shape[1]
    if k > min(m, n):
        raise SettingsError(
            f"k: must not exceed min(m, n) = {min(m, n)} of {data.name} (got {k}); reduce k"
        )
    for view in ("X", "Y"):
        if not np.ptp(getattr(data, view), axis=0).any():
            raise data_sets.DataError(
                f"{data.name}: {view} must change from sample to sample (got the same row"
                " throughout)"
            )


def default_ridge(data: data_sets.Dataset) -> float:
    """Return the default ridge, 0.1 trace(Cxx)/m."""
    return 0.1 * float(np.square(data.stand_in[0]).mean())


def farthest(deviations: xr.DataArray, of_none: float = float("nan")) -> float:
    """Return the deviation that is farthest from 0, with its sign; ``of_none`` where none is
    known.
    """
    known = deviations.values[np.isfinite(deviations.values)]
    return float(known[np.argmax(np.abs(known))]) if len(known) else of_none


SCORES = {
    "objective": ("", "objective"),
    "excess": (PERCENT, "excess"),
    "angle_max_deg": ("degrees", "largest angle to the exact filters"),
    "whitening_error": ("", "whitening error"),
}  # unit and words of what differs between seeds


def learned(data: data_sets.Dataset, settings: Any, seeds: int = 1) -> list[Quantity]:
    """Return what was learned: the first quantities of a summary."""
    every_s = settings.s if isinstance(settings.s, tuple) else (settings.s,)
    s = every_s[0] if len(every_s) == 1 else ", ".join(f"{one:g}" for one in every_s)
    ridge = Quantity("ridge", settings.ridge, words="ridge added to Cxx and Cyy")
    return [
        *(
            Quantity(name, value)
            for name, value in {"data": data.name, "k": settings.k, "s": s}.items()
        ),
        ridge,
        *([Quantity("seeds", seeds)] if seeds > 1 else []),
    ]


def baseline_quantities(exact: analysis.ExactSolution, k: int, data: str = "") -> list[Quantity]:
    """Return the excess of k filters that have not learned, for the row below an excess that was
    learned.

    Give ``data`` where an experiment has several data sets, so that each has names and a row of its
    own.
    """
    found = analysis.baselines(exact, k)
    name, row = (
        (f"{as_key(data)}_", f"{data}, excess without learning")
        if data
        else ("", "excess without learning")
    )
    return [
        Quantity(f"{name}excess_{which}", excess, PERCENT, words, row=row)
        for which, excess, words in (
            ("exchange", found.exchange, "last filter exchanged for the next"),
            ("random_plane", found.random_plane, f"random plane in the best {k + 1}"),
            ("principal_components", found.principal_components, "principal components"),
        )
    ]


def scored(runs: Sequence[circuits.Run], exact: analysis.ExactSolution) -> list[Quantity]:
    """Return how near runs came to the exact solution, and what they took; of several, mean, spread
    and largest.
    """
    each = [scores(run, exact) for run in runs]
    found = []
    for name, (unit, words) in SCORES.items():
        values = np.array([one[name] for one in each])
        if len(runs) == 1:
            found.append(Quantity(name, values[0], unit, words))
        else:
            found.append(Quantity(name, values.mean(), unit, words, spread=values.std()))
            found.append(Quantity(f"{name}_max", values.max(), unit, "at most", row=words))
        if name == "objective":
            found.append(Quantity("optimum", each[0]["optimum"], "", "optimum"))
        if name == "excess":
            found += baseline_quantities(exact, runs[0].Vx.shape[1])
    return [
        *found,
        *_symmetry(runs),
        Quantity(
            "samples", each[0]["samples"], "", "samples of each" if len(runs) > 1 else "samples"
        ),
        Quantity("ended", each[0]["ended"]),
        Quantity("engine", each[0]["engine"], "", "engine"),
        Quantity("seconds", sum(one["seconds"] for one in each), "s", "time"),
    ]


def _symmetry(runs: Sequence[circuits.Run]) -> list[Quantity]:
    """Return ||R - Q'|| at first and at the end, for one row; of several runs the mean, and the
    largest at the end.
    """
    first, last = (np.array([run.r_minus_qt[i] for run in runs]) for i in (0, -1))
    rounding = np.finfo(float).eps * min(np.linalg.norm(run.Q) for run in runs)
    reached = "to below rounding," if last.max() <= rounding else "to"
    row = "||R - Q'||"
    found = [
        Quantity("r_minus_qt_start", first.mean(), "", "from", row=row),
        Quantity(
            "r_minus_qt",
            last.mean(),
            "",
            reached,
            spread=last.std() if len(runs) > 1 else None,
            row=row,
        ),
    ]
    return (
        found
        if len(runs) == 1
        else [*found, Quantity("r_minus_qt_max", last.max(), "", "at most", row=row)]
    )


def scores(run: circuits.Run, exact: analysis.ExactSolution) -> dict[str, Any]:
    """Return the final numbers of a run: its distance from the exact solution, and its cost."""
    k = run.Vx.shape[1]
    return {
        "objective": exact.objective(run.Vx),
        "optimum": exact.optimum(k),
        "excess": exact.excess(run.Vx),
        "angle_max_deg": analysis.principal_angles(run.Vx, exact.Vx(k))[0],
        "whitening_error": exact.whitening_error(run.Vx),
        "samples": run.samples,
        "ended": run.ended,
        "engine": run.data.attrs["engine"],
        "seconds": run.data.attrs["seconds"],
    }
