"""``biorrr report``: one self-contained HTML page of one run, or of several side by side."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from biorrr.sims.folder import CONFIG, RESULTS, SUMMARY, whole_file

HERE = Path(__file__).parent / "page"
SHOWN_SNAPSHOTS = 60  # positions of the slider
SHOWN_SAMPLES = 600  # of each trace, first and last half
AUDITED_SAMPLES = 300  # points of the audit's scatter, a neuron
SHOWN_FILTERS = 16
DIGITS = 5  # significant, in the page's data

_HOW_IT_ENDED = {
    "done": "It ran to its end",
    "stopped": "It was stopped by a callback",
    "interrupted": "It was interrupted",
    "diverged": "It diverged",
}


class ReportError(ValueError):
    """A folder that there is nothing to report of."""

    exit_code = 2


def command(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="run folders, or one sweep's folder")],
    out: Annotated[Path | None, typer.Option("--out", help="file to write", metavar="FILE")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error")] = False,
) -> None:
    """Write a report page: the circuit, its learning, plateaus, symmetry and filters, to look at in a browser."""
    path = out or folders[0] / "report.html"
    runs = [gather(folder) for folder in folders]
    with whole_file(path) as aside:
        aside.write_text(page(runs), encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB; open it in a browser")


def page(runs: list[dict[str, Any]]) -> str:
    """The whole page: markup, style, charting library, data."""
    import jinja2

    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ReportError("report: needs plotly; pip install 'biorrr[report]'") from error
    template = jinja2.Environment(autoescape=True).from_string((HERE / "report.html").read_text(encoding="utf-8"))
    return template.render(
        runs=runs,
        style=(HERE / "report.css").read_text(encoding="utf-8"),
        script=(HERE / "report.js").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
        # "</" would end the script element wherever it stands in a string.
        data=json.dumps([run["charts"] for run in runs]).replace("</", "<\\/"),
    )


def gather(folder: Path) -> dict[str, Any]:
    """All that the page shows of the run in ``folder``."""
    from biorrr.circuit import Run

    try:
        config = tomllib.loads((folder / CONFIG).read_text(encoding="utf-8"))
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        run = Run.load(folder / RESULTS)
    except FileNotFoundError as error:
        missing = Path(error.filename or RESULTS).name
        raise ReportError(f"{folder}: no finished run in it ({missing} is missing)") from error
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        raise ReportError(f"{folder}: damaged ({error})") from error
    provenance = config.pop("provenance", {})
    exact = _exact(config, provenance, run)
    return {
        "name": folder.name,
        "sentence": _sentence(config, summary, run),
        "numbers": {k: v for k, v in summary.items() if isinstance(v, int | float | str)},
        "settings": config,
        "versions": provenance,
        "command": f"biorrr {provenance.get('experiment', 'learn')} --config {CONFIG}",
        "charts": _charts(run, exact),
    }


def _sentence(config: dict[str, Any], summary: dict[str, Any], run: Any) -> str:
    sizes = run.data.sizes
    told = (
        f"A circuit of {sizes['pyramidal']} pyramidal neurons and {sizes['interneuron']} interneurons learned "
        f"{config.get('data', 'data')} ({sizes['input']} sensory and {sizes['instruction']} instructive inputs) "
        f"at s = {run.data.attrs['s']:g}. {_HOW_IT_ENDED[run.ended]} after {run.samples} samples on engine "
        f"{run.data.attrs['engine']}"
    )
    excess = summary.get("excess")
    return told + (f", {excess:.2%} above the optimum." if isinstance(excess, float) else ".")


@dataclass(frozen=True)
class _Exact:
    """What only the data can tell: the optimum, the exact filters, the back-propagated error."""

    objective: np.ndarray
    optimum: float
    learned: np.ndarray
    filters: np.ndarray
    pixels: tuple[int, ...] | None
    audit: Any


def _exact(config: dict[str, Any], provenance: dict[str, Any], run: Any) -> _Exact | None:
    """The exact solution beside the run, or None where the very data it learned are not here."""
    from biorrr.analysis import Yardstick, align, audit_plateau
    from biorrr.sims.data import DataError, load

    try:
        data = load(config["data"])
    except (DataError, KeyError, OSError):
        return None
    if provenance.get("data_sha256") not in (None, data.checksum) or data.X.shape[1] != run.data.sizes["input"]:
        return None
    data = data.centred()
    attrs = run.data.attrs
    ridge = attrs["ridge_x"], attrs["ridge_y"]
    yardstick = Yardstick(data.X, data.Y, attrs["s"], ridge)
    k = run.Vx.shape[1]
    filters = yardstick.Vx(k)
    rows = np.linspace(0, len(data.X) - 1, min(AUDITED_SAMPLES, len(data.X)), dtype=int)
    audit = audit_plateau(data.X, data.Y, run.Vx, run.Vy, run.Q, run.R, attrs["s"], ridge)
    return _Exact(
        objective=np.atleast_1d(yardstick.objective(run.data["Vx"].values)),
        optimum=yardstick.optimum(k),
        learned=align(run.Vx, filters, data.X, ridge),
        filters=filters,
        pixels=data.pixels,
        audit={
            "plateau": audit.plateau[rows].T,
            "error": audit.error[rows].T,
            "correlation": audit.plateau_and_error.correlation,
        },
    )


def _charts(run: Any, exact: _Exact | None) -> dict[str, Any]:
    data = run.data
    seen = data["seen"].values
    kept = np.unique(np.linspace(0, len(seen) - 1, min(SHOWN_SNAPSHOTS, len(seen))).astype(int))
    charts: dict[str, Any] = {
        "seen": _plain(seen),
        "diagram": {
            "seen": _plain(seen[kept]),
            "Vx": _plain(np.linalg.norm(data["Vx"].values[kept], axis=1)),
            "Vy": _plain(np.linalg.norm(data["Vy"].values[kept], axis=1)),
            "Q": _plain(data["Q"].values[kept]),
            "R": _plain(data["R"].values[kept]),
            "sizes": {name: int(data.sizes[name]) for name in ("input", "instruction", "pyramidal", "interneuron")},
            "pathways": _pathways(run),
        },
        "symmetry": {"measured": _plain(run.r_minus_qt), "predicted": _plain(_predicted_symmetry(run))},
    }
    traces = [name for name in ("plateau", "a", "inhibition", "z") if name in data]
    if traces:
        count = data.sizes["sample"]
        shown = np.unique(np.r_[: min(SHOWN_SAMPLES // 2, count), max(count - SHOWN_SAMPLES // 2, 0) : count])
        charts["traces"] = {
            "samples": _plain(data["sample"].values[shown]),
            **{name: _plain(data[name].values[shown].T) for name in traces},
        }
    if exact is not None:
        charts["learning"] = {"objective": _plain(exact.objective), "optimum": exact.optimum}
        charts["audit"] = {name: _plain(values) for name, values in exact.audit.items()}
        shape = exact.pixels if exact.pixels is not None and len(exact.pixels) == 2 else None
        charts["filters"] = {
            "learned": _plain(exact.learned.T[:SHOWN_FILTERS]),
            "exact": _plain(exact.filters.T[:SHOWN_FILTERS]),
            "pixels": list(shape) if shape else None,
        }
    return charts


def _pathways(run: Any) -> dict[str, dict[str, str]]:
    """Size, rule and meaning of each pathway, from the models themselves."""
    from biorrr.circuit import Microcircuit

    sizes = run.data.sizes
    circuit = Microcircuit(sizes["pyramidal"], interneurons=sizes["interneuron"])
    graph = circuit.wiring(sizes["input"], sizes["instruction"])
    return {
        edge["weight"]: {"synapses": f"{edge['synapses']} synapses", "rule": edge["rule"], "meaning": edge["meaning"]}
        for _, _, edge in graph.edges(data=True)
    }


def _predicted_symmetry(run: Any) -> np.ndarray:
    """||Q' - R|| by theory at each snapshot: its start times the product of (1 - eta_q), from the rates recorded."""
    data = run.data
    measured = run.r_minus_qt
    if "eta_q" not in data or data.attrs["plastic"] == 0:
        return np.full_like(measured, np.nan)
    samples, rates = data["sample"].values, data["eta_q"].values
    every = np.arange(data["seen"].values[0], data["seen"].values[-1])
    # Between two recorded samples the rate changes slowly: interpolated.
    decay = np.concatenate([[0.0], np.cumsum(np.log1p(-np.interp(every, samples, rates)))])
    return measured[0] * np.exp(decay[data["seen"].values - data["seen"].values[0]])


def _plain(values: Any) -> Any:
    """Nested lists with few digits, None for what is not finite: JSON that every browser reads."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.tolist()
    with np.errstate(divide="ignore", invalid="ignore"):
        magnitude = np.where(array == 0, 1.0, 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(array)))))
        rounded = np.round(array * magnitude) / magnitude
    nested = np.where(np.isfinite(rounded), rounded, None)
    return nested.tolist()
