"""``biorrr plateau``: plateau potentials through learning, and how they come to carry the back-propagated error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.checkpoints import NOT_KEPT, Checkpoints
from biorrr.sims.folder import RunFolder
from biorrr.sims.learn import fit
from biorrr.sims.measured import Measured
from biorrr.sims.recording import plot_recorded
from biorrr.sims.settings import config_text, option
from biorrr.sims.table import print_table
from biorrr.sims.training import TrainingSettings, completed, train

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from biorrr.analysis import PlateauAudit, TwoLayerANN, Yardstick
    from biorrr.circuit import Microcircuit, Run
    from biorrr.sims.data import Dataset

TRACES = ("plateau", "a", "inhibition", "z")
WEIGHTS = ("Vx", "Vy", "Q", "R")
MEASURE = "plateau_relative_error_end"  # what a sweep draws
SNAPSHOTS = 40  # at which circuit and theory are compared
SHOWN_SAMPLES = 60
SHOWN_NEURONS = 4  # that fit a page
# What is compared (Sec. 6): the circuit's trace, in words, and in words with its formula.
COMPARED = {
    "inhibition": ("inhibition", "Qn and Vy'y~", r"inhibition $Qn$ against prediction $V_y'\tilde y$"),
    "plateau": ("plateau", "plateau and Vy'(y - y~)", r"plateau $a - Qn$ against error $V_y'(y - \tilde y)$"),
    "network": ("plateau", "plateau and backprop's Vy'eps", r"plateau $a - Qn$ against backprop $V_y'\epsilon$"),
}


@dataclass(frozen=True, kw_only=True)
class PlateauSettings(TrainingSettings):
    """What can be set of ``biorrr plateau``."""

    s: float = option(1.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    seeds: int = option(5, "how many seeds to run, from --seed on", at_least=1)
    amplitude: float = option(0.0, "record all-or-none plateaus of this size, in r.m.s. of their drive", at_least=0)
    spiking: int = option(0, "record with so many spiking cells for each neuron", at_least=0)
    leaky: bool = option(False, "record with leaky membranes, in milliseconds")


@dataclass(frozen=True)
class Stage:
    """A circuit at one point of its learning: what it does and what theory says it should do.

    Attributes
    ----------
    recorded : dict
        Traces of the circuit with learning off, each (T, k), in the order of the data.
    expected : dict
        By what is compared, the signals of theory at the same weights on the same samples, each (T, k).
    """

    recorded: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]


@dataclass(frozen=True)
class Audit:
    """The circuits of all seeds through learning.

    Attributes
    ----------
    runs : list of Run
        Of each seed.
    before, after : list of Stage
        Of each seed.
    during : Stage
        Of the first seed, halfway to its final agreement with theory.
    halfway : int
        The snapshot of ``during``.
    results : xarray.Dataset
        The runs joined, with correlations through learning.
    """

    runs: list[Run]
    before: list[Stage]
    after: list[Stage]
    during: Stage
    halfway: int
    results: xr.Dataset


def plateau(settings: PlateauSettings, folder: RunFolder, data: Dataset | None = None) -> Measured:
    """Show plateau potentials before, during and after learning, and audit them.

    At the optimum the inhibition Qn equals Vy'y~, the full-rank regression as the distal weights see it, so the plateau
    a - Qn equals the back-propagated error Vy'(y - y~). Both are compared on all samples, neuron by neuron, in traces
    recorded with learning off. For s = 0 the plateau is also compared with the error Vy'eps that reaches the first
    layer of a two-layer network trained by backprop on as many samples. Data are centred.
    """
    import numpy as np

    from biorrr.analysis import stages as figures
    from biorrr.sims.data import load

    data = data or load(settings.data)
    settings, yardstick = fit(settings, data)
    origin = experiment.provenance("plateau", data_sha256=data.checksum)
    with folder.opened(config_text(settings, origin)):
        found = audit(settings, data, Checkpoints.of(folder, settings.checkpoint))

    runs, after, results = found.runs, found.after, found.results
    folder.write_config(config_text(replace(settings, engine=runs[0].data.attrs["engine"]), origin))
    shown = {
        "before learning": found.before[0],
        f"halfway, {runs[0].data['seen'].values[found.halfway]:,} samples": found.during,
        "after learning": after[0],
    }
    for name in TRACES:
        recorded = np.stack([at.recorded[name] for at in shown.values()])
        results[f"recorded_{name}"] = (("stage", "row", "pyramidal"), recorded)
    results["stage_samples"] = ("stage", results["seen"].values[[0, found.halfway, -1]])
    folder.write_results(results)
    numbers = summary(settings, data, yardstick, found)
    few = np.s_[:SHOWN_SAMPLES, :SHOWN_NEURONS]
    folder.write_figure(
        "plateau",
        settings.format,
        figures.plot_stages(
            {name: {trace: at.recorded[trace][few] for trace in TRACES} for name, at in shown.items()},
            {
                name: {trace: at.expected[trace][few] for trace in ("plateau", "inhibition")}
                for name, at in shown.items()
            },
        ),
    )
    last = after[0]
    pairs = {COMPARED[name][2]: (last.recorded[COMPARED[name][0]], signal) for name, signal in last.expected.items()}
    courses = {COMPARED[name][2]: results[f"{name}_correlation"].values for name in last.expected}
    folder.write_figure("audit", settings.format, figures.plot_agreement(pairs, results["seen"].values, courses))
    if settings.amplitude or settings.spiking or settings.leaky:
        axes = plot_recorded(runs[0], data, settings.amplitude, settings.spiking, settings.leaky)
        folder.write_figure("recording", settings.format, axes)
    folder.write_summary(numbers)
    print_table(
        f"{data.name}: s = {settings.s:g}, {settings.k} neurons, {settings.seeds} seeds, {runs[0].samples} samples; "
        "data are centred",
        {
            COMPARED[name][1]: f"{numbers[f'{name}_correlation_start']:.3f} at the start, "
            f"{numbers[f'{name}_correlation_end']:.4f} at the end (lowest {numbers[f'{name}_correlation_end_min']:.3f})"
            for name in last.expected
        }
        | {"": "correlations: median over neurons and seeds", "written to": folder.path},
    )
    return Measured(numbers, curves(found, yardstick))


def measure(settings: PlateauSettings, data: Dataset) -> Measured:
    """What circuits are found to do that leave no folder behind: a point of a sweep."""
    settings, yardstick = fit(settings, data)
    found = audit(settings, data, NOT_KEPT)
    return Measured(summary(settings, data, yardstick, found), curves(found, yardstick))


def audit(settings: PlateauSettings, data: Dataset, checkpoints: Checkpoints) -> Audit:
    """Let a circuit learn for each seed, and compare them with theory through learning."""
    import numpy as np

    from biorrr.circuit import Microcircuit

    runs = list(train(settings, data, checkpoints, record=(), snapshots=SNAPSHOTS).values())
    network = two_layer_network(settings, data, runs[0].samples) if settings.s == 0 else None
    # Without a ridge: replay changes nothing where nothing is learned.
    circuit = Microcircuit(settings.k, settings.s, engine=runs[0].data.attrs["engine"])

    def stages(snapshot: int, runs: list[Run]) -> list[Stage]:
        return [
            stage(circuit, settings, data, network, run, snapshot, checkpoints.within(f"snapshot-{snapshot}"))
            for run in runs
        ]

    results = collect(settings, data, network, runs)
    course = results["inhibition_correlation"].values[0].mean(axis=1)
    halfway = int(np.argmax(course >= (course[0] + course[-1]) / 2))
    (during,) = stages(halfway, runs[:1])
    return Audit(runs, stages(0, runs), stages(-1, runs), during, halfway, results)


def two_layer_network(settings: PlateauSettings, data: Dataset, samples: int) -> TwoLayerANN:
    """Train a network of the circuit's size on the same data by backprop."""
    from biorrr.analysis import TwoLayerANN

    network = TwoLayerANN(settings.k, ridge=settings.ridge, steps=samples, random_state=settings.seed)
    return network.fit(data.X, data.Y)


def theory(
    settings: PlateauSettings, data: Dataset, network: TwoLayerANN | None, weights: Mapping[str, np.ndarray]
) -> tuple[PlateauAudit, dict[str, np.ndarray]]:
    """Audit circuits with ``weights`` Vx, Vy, Q, R, or snapshots of them along leading axes.

    Returns the audit, and by what is compared the signals that theory expects, each (..., T, k).
    """
    import numpy as np

    from biorrr.analysis import audit_plateau
    from biorrr.analysis.backprop import backpropagated_error

    centred = data.centred()
    audit = audit_plateau(centred.X, centred.Y, **weights, s=settings.s, ridge=settings.ridge)
    expected = {"inhibition": audit.prediction, "plateau": audit.error}
    if network is not None:
        filters = weights["Vx"].reshape(-1, *weights["Vx"].shape[-2:])
        errors = [backpropagated_error(centred.X, centred.Y, network.Vx_, network.Vy_, Vx) for Vx in filters]
        expected["network"] = np.reshape(errors, audit.error.shape)
    return audit, expected


def stage(
    circuit: Microcircuit,
    settings: PlateauSettings,
    data: Dataset,
    network: TwoLayerANN | None,
    run: Run,
    snapshot: int,
    checkpoints: Checkpoints,
) -> Stage:
    """Let ``circuit``, with the weights of ``run`` at ``snapshot``, see all data with learning off; audit it there."""
    import numpy as np

    from biorrr.circuit import Run

    then = Run(run.data.isel(snapshot=slice(snapshot % run.data.sizes["snapshot"] + 1)))
    traces = completed(
        circuit, data, order="sequential", record=TRACES, every=1, snapshots=1, plastic=False, start=then,
        **checkpoints.run_options(f"seed-{run.data.attrs['seed']}"),
    ).data  # fmt: skip
    in_order = np.argsort(traces["sample"].values % len(data.X))
    weights = {name: getattr(then, name) for name in WEIGHTS}
    return Stage(
        recorded={name: traces[name].values[in_order] for name in TRACES},
        expected=theory(settings, data, network, weights)[1],
    )


def collect(settings: PlateauSettings, data: Dataset, network: TwoLayerANN | None, runs: list[Run]) -> xr.Dataset:
    """Join the runs along a dimension ``seed``, with correlations (seed, snapshot, pyramidal) through learning."""
    import numpy as np
    import xarray as xr

    from biorrr.analysis import Agreement

    results = xr.concat(
        [run.data for run in runs], dim="seed", data_vars="different", compat="equals", combine_attrs="drop_conflicts"
    )
    results = results.assign_coords(seed=list(settings.every_seed))
    courses: dict[str, list[np.ndarray]] = {}
    for run in runs:
        audit, expected = theory(settings, data, network, {name: run.data[name].values for name in WEIGHTS})
        for name, signal in expected.items():
            measured = getattr(audit, COMPARED[name][0])
            courses.setdefault(name, []).append(Agreement.between(measured, signal).correlation)
    for name, course in courses.items():
        results[f"{name}_correlation"] = (("seed", "snapshot", "pyramidal"), np.stack(course))
    return results


def summary(settings: PlateauSettings, data: Dataset, yardstick: Yardstick, found: Audit) -> dict[str, Any]:
    """Final numbers: correlations of the recorded traces with theory, over neurons and seeds."""
    import numpy as np

    from biorrr.analysis import Agreement

    numbers: dict[str, Any] = {
        "data": data.name, "k": settings.k, "s": settings.s, "ridge": settings.ridge, "seeds": settings.seeds,
    }  # fmt: skip
    for name in found.after[0].expected:
        for when, at in (("start", found.before), ("end", found.after)):
            agreements = [Agreement.between(one.recorded[COMPARED[name][0]], one.expected[name]) for one in at]
            correlation = np.concatenate([agreement.correlation for agreement in agreements])
            error = np.concatenate([agreement.relative_error for agreement in agreements])
            numbers[f"{name}_correlation_{when}"] = np.median(correlation)
            numbers[f"{name}_correlation_{when}_min"] = correlation.min()
            numbers[f"{name}_relative_error_{when}"] = np.median(error)
    return numbers | {
        "excess_max": max(yardstick.excess(run.Vx) for run in found.runs),
        "samples": found.runs[0].samples,
        "engine": found.runs[0].data.attrs["engine"],
        "seconds": sum(run.data.attrs["seconds"] for run in found.runs),
    }


def curves(found: Audit, yardstick: Yardstick) -> dict[str, tuple[Any, Any]]:
    """Excess of the first seed, and mean correlations with theory over its neurons, at the samples seen."""
    seen = found.runs[0].data["seen"].values
    correlations = {f"{name}_correlation" for name in found.after[0].expected}
    return {"excess": (seen, yardstick.excess(found.runs[0].data["Vx"].values))} | {
        name: (seen, found.results[name].values[0].mean(axis=1)) for name in sorted(correlations)
    }


command = experiment.command(PlateauSettings, plateau)
