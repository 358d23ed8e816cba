"""``biorrr plateau``: plateau potentials through learning, and how they come to carry the back-propagated error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.folder import RESULTS, RunFolder
from biorrr.sims.learn import fit
from biorrr.sims.settings import config_text, option
from biorrr.sims.table import print_table
from biorrr.sims.training import TrainingSettings, completed, train

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    import numpy as np
    import xarray as xr
    from biorrr.analysis import PlateauAudit, Yardstick
    from biorrr.circuit import Microcircuit, Run
    from biorrr.sims.data import Dataset

TRACES = ("plateau", "a", "inhibition", "z")
SNAPSHOTS = 40  # at which circuit and theory are compared
SHOWN_SAMPLES = 60
SHOWN_NEURONS = 4  # that fit a page
# What is compared with what (Sec. 6): attributes of PlateauAudit, and in words.
PAIRS = {
    "plateau": ("error", r"plateau $a - Qn$ against error $V_y'(y - \tilde y)$"),
    "inhibition": ("prediction", r"inhibition $Qn$ against prediction $V_y'\tilde y$"),
}
NETWORK = "network_error", r"plateau $a - Qn$ against backprop $V_y'\epsilon$"


@dataclass(frozen=True, kw_only=True)
class PlateauSettings(TrainingSettings):
    """What can be set of ``biorrr plateau``."""

    s: float = option(1.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    seeds: int = option(5, "how many seeds to run, from --seed on", at_least=1)


@dataclass(frozen=True)
class Stage:
    """A circuit at one point of its learning: what it does and what theory says it should do.

    Attributes
    ----------
    recorded : dict
        Traces of the circuit with learning off, each (T, k), in the order of the data.
    audit
        Theory at the same weights, on the same samples.
    """

    recorded: dict[str, np.ndarray]
    audit: PlateauAudit


def plateau(settings: PlateauSettings, folder: RunFolder) -> None:
    """Show plateau potentials before, during and after learning, and audit them.

    At the optimum the inhibition Qn equals Vy'y~, the full-rank regression as the distal weights see it, so the plateau
    a - Qn equals the back-propagated error Vy'(y - y~). Both are compared on all samples, neuron by neuron, in traces
    recorded with learning off. Data are centred.
    """
    import numpy as np
    from biorrr.analysis import stages as figures
    from biorrr.circuit import Microcircuit
    from biorrr.sims.data import load

    data = load(settings.data)
    settings, yardstick = fit(settings, data)
    origin = experiment.provenance("plateau", data_sha256=data.checksum)
    with folder.opened(config_text(settings, origin)):
        runs = list(train(settings, data, record=(), snapshots=SNAPSHOTS).values())
        engine = runs[0].data.attrs["engine"]
        # Without a ridge: replay changes nothing where nothing is learned.
        circuit = Microcircuit(settings.k, settings.s, engine=engine)
        before = [stage(circuit, settings, data, run, 0) for run in runs]
        after = [stage(circuit, settings, data, run, -1) for run in runs]
        results = collect(settings, data, runs)
        course = results["inhibition_correlation"].values[0].mean(axis=1)
        halfway = int(np.argmax(course >= (course[0] + course[-1]) / 2))
        during = stage(circuit, settings, data, runs[0], halfway)

    settings = replace(settings, engine=engine)
    folder.write_config(config_text(settings, origin))
    shown = {
        "before learning": before[0],
        f"halfway, {runs[0].data['seen'].values[halfway]:,} samples": during,
        "after learning": after[0],
    }
    for name in TRACES:
        recorded = np.stack([at.recorded[name] for at in shown.values()])
        results[f"recorded_{name}"] = (("stage", "row", "pyramidal"), recorded)
    results["stage_samples"] = ("stage", results["seen"].values[[0, halfway, -1]])
    with folder.writing(RESULTS) as path:
        results.to_netcdf(path, engine="h5netcdf")
    numbers = summary(settings, data, yardstick, runs, before, after)
    few = np.s_[:SHOWN_SAMPLES, :SHOWN_NEURONS]
    folder.write_figure(
        "plateau",
        settings.format,
        figures.plot_stages(
            {name: {trace: at.recorded[trace][few] for trace in TRACES} for name, at in shown.items()},
            {
                name: {trace: getattr(at.audit, expected)[few] for trace, (expected, _) in PAIRS.items()}
                for name, at in shown.items()
            },
        ),
    )
    pairs = {label: (after[0].recorded[name], getattr(after[0].audit, to)) for name, (to, label) in PAIRS.items()}
    curves = {label: results[f"{name}_correlation"].values for name, (_, label) in PAIRS.items()}
    if settings.s == 0:
        pairs[NETWORK[1]] = after[0].recorded["plateau"], after[0].audit.network_error
        curves[NETWORK[1]] = results["network_correlation"].values
    folder.write_figure("audit", settings.format, figures.plot_agreement(pairs, results["seen"].values, curves))
    folder.write_summary(numbers)
    print_table(
        f"{data.name}: s = {settings.s:g}, {settings.k} neurons, {settings.seeds} seeds, {runs[0].samples} samples; "
        "data are centred",
        {
            label: f"{numbers[f'{name}_correlation_start']:.3f} at the start, {numbers[f'{name}_correlation_end']:.4f} "
            f"at the end (lowest {numbers[f'{name}_correlation_end_min']:.3f})"
            for name, label in (
                ("inhibition", "Qn and Vy'y~"),
                ("plateau", "plateau and Vy'(y - y~)"),
                *([("network", "plateau and backprop's Vy'eps")] if settings.s == 0 else []),
            )
        }
        | {"": "correlations: median over neurons and seeds", "written to": folder.path},
    )


def stage(circuit: Microcircuit, settings: PlateauSettings, data: Dataset, run: Run, snapshot: int) -> Stage:
    """Let ``circuit``, with the weights of ``run`` at ``snapshot``, see all data with learning off; audit it there."""
    import numpy as np
    from biorrr.analysis import audit_plateau
    from biorrr.circuit import Run

    then = Run(run.data.isel(snapshot=slice(snapshot % run.data.sizes["snapshot"] + 1)))
    traces = completed(
        circuit, data, order="sequential", record=TRACES, every=1, snapshots=1, plastic=False, start=then
    ).data
    in_order = np.argsort(traces["sample"].values % len(data.X))
    centred = data.centred()
    return Stage(
        recorded={name: traces[name].values[in_order] for name in TRACES},
        audit=audit_plateau(centred.X, centred.Y, then.Vx, then.Vy, then.Q, then.R, settings.s, settings.ridge),
    )


def collect(settings: PlateauSettings, data: Dataset, runs: list[Run]) -> xr.Dataset:
    """Join the runs along a dimension ``seed``, with correlations (seed, snapshot, pyramidal) through learning."""
    import numpy as np
    import xarray as xr
    from biorrr.analysis import audit_plateau

    results = xr.concat([run.data for run in runs], dim="seed", data_vars="different", combine_attrs="drop_conflicts")
    results = results.assign_coords(seed=list(settings.every_seed))
    centred = data.centred()
    for name in (*PAIRS, "network"):
        results[f"{name}_correlation"] = (("seed", "snapshot", "pyramidal"), np.full(results["Q"].shape[:3], np.nan))
    for i, run in enumerate(runs):
        weights = (run.data[name].values for name in ("Vx", "Vy", "Q", "R"))
        audit = audit_plateau(centred.X, centred.Y, *weights, settings.s, settings.ridge)
        results["plateau_correlation"][i] = audit.plateau_and_error.correlation
        results["inhibition_correlation"][i] = audit.inhibition_and_prediction.correlation
        results["network_correlation"][i] = audit.plateau_and_network.correlation
    return results


def summary(
    settings: PlateauSettings,
    data: Dataset,
    yardstick: Yardstick,
    runs: list[Run],
    before: list[Stage],
    after: list[Stage],
) -> dict[str, Any]:
    """Final numbers: correlations of the recorded traces with theory, over neurons and seeds."""
    import numpy as np
    from biorrr.analysis import Agreement

    numbers: dict[str, Any] = {
        "data": data.name, "k": settings.k, "s": settings.s, "ridge": settings.ridge, "seeds": settings.seeds,
    }  # fmt: skip
    compared = {name: (name, expected) for name, (expected, _) in PAIRS.items()} | {"network": ("plateau", NETWORK[0])}
    for name, (measured, expected) in compared.items():
        for when, at in (("start", before), ("end", after)):
            agreements = [Agreement.between(stage.recorded[measured], getattr(stage.audit, expected)) for stage in at]
            correlation = np.concatenate([agreement.correlation for agreement in agreements])
            error = np.concatenate([agreement.relative_error for agreement in agreements])
            numbers[f"{name}_correlation_{when}"] = np.median(correlation)
            numbers[f"{name}_correlation_{when}_min"] = correlation.min()
            numbers[f"{name}_relative_error_{when}"] = np.median(error)
    return numbers | {
        "excess_max": max(yardstick.excess(run.Vx) for run in runs),
        "samples": runs[0].samples,
        "engine": settings.engine,
        "seconds": sum(run.data.attrs["seconds"] for run in runs),
    }


command = experiment.command(PlateauSettings, plateau)
