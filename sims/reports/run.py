"""What the page says of one run, whichever experiment it is of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from biorrr.sims.folder import CONFIG, INTERRUPTED, RESULTS
from biorrr.sims.reports.circuit import SHOWN_CELLS, Exact, circuit_charts, find_exact
from biorrr.sims.reports.curves import charts_of
from biorrr.sims.reports.record import Record, ReportError, read_record

if TYPE_CHECKING:
    import xarray as xr

    from biorrr.circuit import Run

WEIGHTS = ("Vx", "Vy", "Q", "R")
FACTS = ("s", "ridge_x", "ridge_y", "engine", "ended", "plastic")  # that every saved circuit has among its attributes
FIRST = Path(RESULTS).stem  # the name of the results that every run has
_HOW_IT_ENDED = {
    "done": "it ran to its end",
    "stopped": "it was stopped by a callback",
    INTERRUPTED: "it was interrupted",
    "diverged": "it diverged",
}


def gather_run(folder: Path) -> dict[str, Any]:
    """All that the page shows of the run in ``folder``, its figures aside."""
    record = read_record(folder)
    run = _circuit(record)
    exact = find_exact(record.settings, record.provenance, run) if run is not None else None
    results = record.results
    if record.experiment == "learn":
        results = {FIRST: _seeds(results, exact)} if len(results) > 1 else {}
    return {
        "kind": "run",
        "circuit": None if run is None else {"first": _which(record, run)},
        "name": folder.resolve().name,
        "sentence": _sentence(record, run),
        "claims": [_claim(one) for one in record.claims],
        "numbers": {name: value for name, value in record.summary.items() if isinstance(value, int | float | str)},
        "settings": record.settings,
        "versions": record.provenance,
        "command": f"biorrr {record.experiment} --config {CONFIG}",
        "charts": {
            "circuit": None if run is None else circuit_charts(run, exact),
            "curves": charts_of(record.experiment, results),
        },
    }


def _circuit(record: Record) -> Run | None:
    """The circuit that the run has trained, the first of several; None where none was kept."""
    from biorrr.circuit import Run

    found = record.results.get(FIRST)
    if found is None or not {*WEIGHTS, "seen"} <= set(found.data_vars):
        return None
    missing = [name for name in FACTS if name not in found.attrs]
    if missing:
        raise ReportError(f"{record.folder / RESULTS}: damaged (no {', '.join(missing)} in it); run it again")
    return Run(found.isel(seed=0) if "seed" in found.dims else found)


def _seeds(results: dict[str, xr.Dataset], exact: Exact | None) -> xr.Dataset:
    """Excess and ||Q' - R|| of the runs of all seeds, each (seed, snapshot)."""
    import numpy as np
    import xarray as xr

    from biorrr.circuit import Run

    runs = sorted((Run(dataset) for dataset in results.values()), key=lambda run: run.data.attrs["seed"])
    courses = {"r_minus_qt": [run.r_minus_qt for run in runs]}
    if exact is not None:
        courses["excess"] = [np.atleast_1d(exact.yardstick.excess(run.data["Vx"].values)) for run in runs]
    return xr.Dataset(
        {name: (("seed", "snapshot"), np.stack(course)) for name, course in courses.items()}
        | {"seen": ("snapshot", runs[0].data["seen"].values)},
        coords={"seed": [int(run.data.attrs["seed"]) for run in runs]},
    )


def _sentence(record: Record, run: Run | None) -> str:
    """What was run and how it ended."""
    settings, summary = record.settings, record.summary
    data = settings.get("data")
    on = f" on {', '.join(map(str, data)) if isinstance(data, list) else data}" if data else ""
    if run is None:
        told = f"The experiment “{record.experiment}”{on}"
    else:
        sizes = run.data.sizes
        told = (
            f"A circuit of {sizes['pyramidal']} pyramidal neurons and {sizes['interneuron']} interneurons learned"
            f"{on} ({sizes['input']} sensory and {sizes['instruction']} instructive inputs) at s = "
            f"{run.data.attrs['s']:g}"
        )
    told += f": {_HOW_IT_ENDED.get(str(summary.get('ended', 'done')), 'how it ended is not known')}"
    told += f" after {run.samples:,} samples" if run is not None else ""
    told += f" on engine {summary['engine']}" if "engine" in summary else ""
    excess = summary.get("excess")
    told += f", {excess:.2%} above the optimum" if isinstance(excess, float) else ""
    if record.claims:
        told += f"; {sum(one.get('holds') is True for one in record.claims)} of {len(record.claims)} claims hold"
    if summary.get("ended") == INTERRUPTED:
        told += "; `biorrr resume` goes on with it"
    return f"{told}."


def _which(record: Record, run: Run) -> str:
    """Say what of several seeds and of many cells is drawn."""
    seeds, cells = record.settings.get("seeds", 1), max(run.data.sizes["pyramidal"], run.data.sizes["interneuron"])
    told = f"Of {seeds} seeds this is the first. " if seeds != 1 else ""
    return told + (f"Of {cells} cells the first {SHOWN_CELLS} of each kind are drawn." if cells > SHOWN_CELLS else "")


def _claim(one: dict[str, Any]) -> dict[str, Any]:
    behind = {name: value for name, value in one.items() if name not in ("claim", "holds")}
    return {"text": str(one.get("claim")), "holds": one.get("holds") is True, "numbers": behind}
