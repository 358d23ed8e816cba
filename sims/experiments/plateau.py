"""Show plateau potentials, and that they come to carry the back-propagated error.

They are shown before, during and after learning. At the optimum the inhibition Qn equals Vy'y~, the full-rank
regression as the distal weights see it, so the plateau a - Qn equals the back-propagated error Vy'(y - y~). Both
are compared on all samples, neuron by neuron, in traces recorded with learning off. For s = 0 the plateau is also
compared with the error Vy'eps that reaches the first layer of a two-layer network trained by backprop on as many
samples. Data are centred.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.circuits import completed
from biorrr.sims.experiment import Datasets, Findings, Found, Problem
from biorrr.sims.lazy import analysis, circuits, np, xr
from biorrr.sims.reports.views import SEEN, Chart, View
from biorrr.sims.settings import option, seeds_option
from biorrr.sims.training import Training, TrainingSettings, heading

TRACES = ("plateau", "a", "inhibition", "z")
WEIGHTS = ("Vx", "Vy", "Q", "R")
SHOWN_SAMPLES = 60
SHOWN_NEURONS = 4  # that fit a page
NETWORK = "network"  # the part that is no circuit
Network = Mapping[str, Any] | None  # its weights, where it is trained
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
    seeds: int = seeds_option(5)
    amplitude: float = option(0.0, "record all-or-none plateaus of this size, in r.m.s. of their drive", at_least=0)
    spiking: int = option(0, "record with so many spiking cells for each neuron", at_least=0)
    leaky: bool = option(False, "record with leaky membranes, in milliseconds")


@dataclass(frozen=True)
class Stage:
    """A circuit at one point of its learning."""

    recorded: Mapping[str, np.ndarray]  # its traces with learning off, each (T, k), in the order of the data
    expected: Mapping[str, np.ndarray]  # what theory says they should be, by what is compared, each (T, k)


class Plateau(Training[PlateauSettings]):
    """``biorrr plateau``: plateau potentials through learning, and how they come to carry the back-propagated error."""

    settings = PlateauSettings
    shows = "plateaus come to carry the back-propagated error"
    takes = "7 s"
    paper = "Fig. 2, Sec. 5"
    measure = "plateau_relative_error_end"
    snapshots = 40  # at which circuit and theory are compared
    figures = {
        "audit": "inhibition and plateau against what theory expects, and their correlation through learning",
        "recording": "The learned circuit as an electrode would see it, on the first samples of the data and with "
        "learning off. Above, where cells spike: each row is one cell of the population that stands for a neuron, each "
        "mark one spike. Below, for each neuron, its plateau, the distal current, the inhibition and the output, on "
        "the scales that the bars show. A faint line marks where a new sample comes on: with leaky membranes all "
        "signals relax from there towards what the sample asks for.",
    }
    charts = (
        Chart(
            "Plateaus and theory through learning",
            (
                View(
                    "correlation with theory",
                    {
                        "inhibition_correlation": "inhibition Qn with Vy′ỹ",
                        "plateau_correlation": "plateau with error Vy′(y − ỹ)",
                        "network_correlation": "plateau with backprop’s Vy′ε",
                    },
                    SEEN,
                    repeats=("seed", "pyramidal"),
                ),
            ),
            "Thin lines are neurons of single seeds.",
        ),
        Chart(
            "Recorded with learning off",
            (
                View(
                    "current (units of a)",
                    {
                        "recorded_plateau": "plateau",
                        "recorded_a": "distal current a",
                        "recorded_inhibition": "inhibition Qn",
                        "recorded_z": "output z",
                    },
                    {"row": "sample of the data"},
                    along=("row",),
                    choose=("stage", "neuron"),
                    log="",
                    window=60,
                ),
            ),
            "The same samples before, during and after learning.",
        ),
        Chart(
            "Recorded as an electrode would see it",
            (
                View(
                    "current (units of a)",
                    {
                        "recording_plateau": "plateau",
                        "recording_a": "distal current a",
                        "recording_inhibition": "inhibition Qn",
                        "recording_z": "output z",
                    },
                    {"recording_time": "time since the first sample came on"},
                    along=("moment",),
                    choose=("neuron",),
                    log="",
                ),
                View(
                    "spikes per tick",
                    {"recording_spikes": ""},
                    {"recording_time": "time since the first sample came on"},
                    along=("moment",),
                    choose=("neuron",),
                    log="",
                ),
            ),
            "With the departures that were asked for, and with learning off.",
        ),
    )

    def parts(self, problem: Problem[PlateauSettings], found: Found) -> dict[str, Any]:
        """A circuit for each seed and the network; then these circuits with learning off, at stages of learning."""
        parts = super().parts(problem, found)
        seeds = [*parts]
        if problem.settings.s == 0:
            parts[NETWORK] = None
        if set(parts) <= set(found):
            stages = {name: {"before": 0, "after": -1} for name in seeds}
            stages[seeds[0]]["during"] = halfway(problem, found[seeds[0]])
            for name, snapshots in stages.items():
                for stage, snapshot in snapshots.items():
                    parts[f"{stage}-{name}"] = at_snapshot(found[name], snapshot)
        return parts

    def run_part(self, problem: Problem[PlateauSettings], part: Any, options: Mapping[str, Any]) -> Any:
        """Let a circuit learn from a seed, show all data to one that has learned, or train the network."""
        settings, data = problem.settings, problem.data
        if isinstance(part, int):
            return super().run_part(problem, part, options)
        if part is None:
            steps = settings.epochs * len(data.X)
            network = analysis.TwoLayerANN(settings.k, ridge=settings.ridge, steps=steps, random_state=settings.seed)
            network.fit(data.X, data.Y)
            return {"Vx": network.Vx_, "Vy": network.Vy_}
        assert isinstance(part, circuits.Run)
        # Without a ridge: replay changes nothing where nothing is learned.
        circuit = settings.make_circuit(k=settings.k, s=settings.s, engine=part.data.attrs["engine"])
        run = circuit.run(
            data.X, data.Y, order="sequential", record=TRACES, every=1, snapshots=1, plastic=False, start=part,
            centre=True, **options,
        )  # fmt: skip
        traces = completed(run).data
        in_order = np.argsort(traces["sample"].values % len(data.X))
        return {name: traces[name].values[in_order] for name in TRACES}

    def conclude(self, problem: Problem[PlateauSettings], found: Found) -> Findings:
        """Compare what was recorded with theory, and draw the first seed."""
        from biorrr.analysis.figures import stages as figures
        from biorrr.sims.experiments.helpers.recording import as_variables, record_learned

        settings, data = problem.settings, problem.data
        runs = {name: found[name] for name in super().parts(problem, found)}
        first_seed, first = next(iter(runs.items()))
        network = found.get(NETWORK)
        middle = halfway(problem, first)

        def stage(when: str, snapshot: int, name: str) -> Stage:
            weights = weights_of(at_snapshot(runs[name], snapshot))
            return Stage(found[f"{when}-{name}"], theory(problem, network, weights)[1])

        before, after = ([stage(when, at, name) for name in runs] for when, at in (("before", 0), ("after", -1)))
        during = stage("during", middle, first_seed)
        results = join(problem, network, list(runs.values()))
        shown = {
            "before learning": before[0],
            f"halfway, {first.data['seen'].values[middle]:,} samples": during,
            "after learning": after[0],
        }
        for name in TRACES:
            recorded = np.stack([at.recorded[name] for at in shown.values()])
            results[f"recorded_{name}"] = (("stage", "row", "pyramidal"), recorded)
        results["stage_samples"] = ("stage", results["seen"].values[[0, middle, -1]])

        few, last = np.s_[:SHOWN_SAMPLES, :SHOWN_NEURONS], after[0]
        drawn: dict[str, Callable[[], Any]] = {
            "plateau": partial(
                figures.plot_stages,
                {name: {trace: at.recorded[trace][few] for trace in TRACES} for name, at in shown.items()},
                {
                    name: {trace: at.expected[trace][few] for trace in ("plateau", "inhibition")}
                    for name, at in shown.items()
                },
            ),
            "audit": partial(
                figures.plot_agreement,
                {COMPARED[name][2]: (last.recorded[COMPARED[name][0]], one) for name, one in last.expected.items()},
                results["seen"].values,
                {COMPARED[name][2]: results[f"{name}_correlation"].values for name in last.expected},
            ),
        }
        if settings.amplitude or settings.spiking or settings.leaky:
            recording = record_learned(first, problem, settings.amplitude, settings.spiking, settings.leaky)
            drawn["recording"] = recording.plot_raster
            results = results.assign(as_variables(recording))
        numbers = heading(problem) | {"seeds": settings.seeds} | agreement(before, after)
        numbers |= {
            "excess_max": max(problem.exact.excess(run.Vx) for run in runs.values()),
            "samples": first.samples,
            "engine": first.data.attrs["engine"],
            "seconds": sum(run.data.attrs["seconds"] for run in runs.values()),
        }
        seen = first.data["seen"].values
        correlations = sorted(f"{name}_correlation" for name in last.expected)
        return Findings(
            numbers=numbers,
            title=f"{data.name}: s = {settings.s:g}, {settings.k} neurons, {settings.seeds} seeds, {first.samples} "
            "samples; data are centred",
            rows={
                COMPARED[name][1]: f"{numbers[f'{name}_correlation_start']:.3f} at the start, "
                f"{numbers[f'{name}_correlation_end']:.4f} at the end "
                f"(lowest {numbers[f'{name}_correlation_end_min']:.3f})"
                for name in last.expected
            }
            | {"": "correlations: median over neurons and seeds"},
            results={"run": results},
            figures=drawn,
            curves={"excess": (seen, problem.exact.excess(first.data["Vx"].values))}
            | {name: (seen, results[name].values[0].mean(axis=1)) for name in correlations},
        )

    def page_results(self, results: Datasets, exact: analysis.Yardstick | None) -> Datasets:
        """Stages named by samples seen, neurons and samples by their number."""
        dataset = results["run"]
        if "stage_samples" not in dataset:
            return results
        stages = [f"{one:,} samples" for one in dataset["stage_samples"].values]
        neurons = [str(one + 1) for one in range(dataset.sizes["pyramidal"])]
        rows = range(dataset.sizes["row"])
        named = {"stage": ("stage", stages), "neuron": ("pyramidal", neurons), "row": ("row", rows)}
        return {"run": dataset.assign_coords(named)}


def at_snapshot(run: circuits.Run, snapshot: int) -> circuits.Run:
    """``run`` as it was at a snapshot."""
    return circuits.Run(run.data.isel(snapshot=slice(snapshot % run.data.sizes["snapshot"] + 1)))


def weights_of(run: circuits.Run) -> dict[str, np.ndarray]:
    """Final weights, by name."""
    return {name: getattr(run, name) for name in WEIGHTS}


def halfway(problem: Problem[PlateauSettings], run: circuits.Run) -> int:
    """The first snapshot at which inhibition has come half the way to its final agreement with theory."""
    course = correlations(problem, None, run)["inhibition"].mean(axis=1)
    return int(np.argmax(course >= (course[0] + course[-1]) / 2))


def theory(
    problem: Problem[PlateauSettings], network: Network, weights: Mapping[str, np.ndarray]
) -> tuple[analysis.PlateauAudit, dict[str, np.ndarray]]:
    """Audit circuits with ``weights`` Vx, Vy, Q, R, or snapshots of them along leading axes.

    Returns the audit, and by what is compared the signals that theory expects, each (..., T, k).
    """
    from biorrr.analysis.backprop import backpropagated_error

    centred = problem.data.centred()
    X, Y = centred.X, centred.Y
    audit = analysis.audit_plateau(X, Y, **weights, s=problem.settings.s, ridge=problem.settings.ridge)
    expected = {"inhibition": audit.prediction, "plateau": audit.error}
    if network is not None:
        filters = weights["Vx"].reshape(-1, *weights["Vx"].shape[-2:])
        errors = [backpropagated_error(X, Y, network["Vx"], network["Vy"], Vx) for Vx in filters]
        expected["network"] = np.reshape(errors, audit.error.shape)
    return audit, expected


def correlations(problem: Problem[PlateauSettings], network: Network, run: circuits.Run) -> dict[str, np.ndarray]:
    """Agreement with theory through learning, (snapshot, pyramidal), by what is compared."""
    audit, expected = theory(problem, network, {name: run.data[name].values for name in WEIGHTS})
    return {
        name: analysis.Agreement.between(getattr(audit, COMPARED[name][0]), signal).correlation
        for name, signal in expected.items()
    }


def join(problem: Problem[PlateauSettings], network: Network, runs: list[circuits.Run]) -> xr.Dataset:
    """Join the runs along a dimension ``seed``, with correlations (seed, snapshot, pyramidal) through learning."""
    results = xr.concat(
        [run.data for run in runs], dim="seed", data_vars="different", compat="equals", combine_attrs="drop_conflicts"
    )
    results = results.assign_coords(seed=list(problem.settings.every_seed))
    courses = [correlations(problem, network, run) for run in runs]
    for name in courses[0]:
        together = np.stack([course[name] for course in courses])
        results[f"{name}_correlation"] = (("seed", "snapshot", "pyramidal"), together)
    return results


def agreement(before: list[Stage], after: list[Stage]) -> dict[str, Any]:
    """Correlations and errors of the recorded traces against theory, over neurons and seeds."""
    numbers: dict[str, Any] = {}
    for name in after[0].expected:
        for when, stages in (("start", before), ("end", after)):
            found = [analysis.Agreement.between(one.recorded[COMPARED[name][0]], one.expected[name]) for one in stages]
            correlation = np.concatenate([one.correlation for one in found])
            numbers[f"{name}_correlation_{when}"] = np.median(correlation)
            numbers[f"{name}_correlation_{when}_min"] = correlation.min()
            numbers[f"{name}_relative_error_{when}"] = np.median(np.concatenate([one.relative_error for one in found]))
    return numbers


EXPERIMENT = Plateau()
