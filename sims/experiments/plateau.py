"""Show plateau potentials, and that they come to equal the back-propagated error.

At the optimum the inhibition Qn equals Vy'y~, the full-rank regression as the distal weights see it, so the plateau
a - Qn equals the back-propagated error Vy'(y - y~). Both are compared on all samples, neuron by neuron, in traces
recorded with learning off, before and after learning: by their relative r.m.s. error, since a correlation is blind to
scale, and beside what the plateau would be without inhibition, or with that of other samples, since plateau and error
share the distal current a. At s = 0 the plateau is also compared with the error Vy'eps that reaches the first layer
of a two-layer network that backprop has trained on all data until its gradients vanish. Data are centred. Of several
s, run.nc and plateau.png are those of the first, run-s-1.nc and plateau-s-1.png those of s = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.experiment import Datasets, Findings, Found, Problem
from biorrr.sims.experiments.helpers import millivolts
from biorrr.sims.experiments.helpers.agreement import (
    COMPARED,
    NULLS,
    TOLERATED,
    TRACES,
    WEIGHTS,
    Member,
    Stage,
    compared,
    courses,
    halfway,
    measured,
    nulls,
    theory,
)
from biorrr.sims.experiments.helpers.optimum import learning, optimum_claims
from biorrr.sims.lab.circuits import completed
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.settings import option, seeds_option
from biorrr.sims.lab.training import (
    MILLIVOLT_EPOCHS,
    FamilyProblem,
    FamilySettings,
    FamilyTraining,
    cell_arguments,
    cell_option,
    heading,
    learner,
    let_learn,
)
from biorrr.sims.lazy import analysis, circuits, data_sets, np, xr
from biorrr.sims.page.views import SEEN, Chart, View

NETWORK_STEPS = 200_000  # at most: on digits gradients vanish after 20,000, on V1-V2 after 3,000
SHOWN_SAMPLES, SHOWN_NEURONS = 50, 4  # that fit a page
PLACE = 'Sec. 6, "Interpretation of calcium plateau potential in Bio-RRR"'
TELLING = 0.25  # relative error of the distal current alone, below which the data cannot tell what inhibition does


@dataclass(frozen=True, kw_only=True)
class PlateauSettings(FamilySettings):
    """What can be set of ``biorrr plateau``."""

    seeds: int = seeds_option(5)
    cell: str = cell_option()
    amplitude: float = option(0.0, "record all-or-none plateaus of this size, in r.m.s. of their drive", at_least=0)
    spiking: int = option(0, "record with so many spiking cells for each neuron", at_least=0)
    leaky: bool = option(False, "record with leaky membranes, in milliseconds")

    @property
    def cells(self) -> dict[str, Any]:
        """What the circuit must be told of its cells."""
        return cell_arguments(self.cell)


@dataclass(frozen=True)
class Network:
    """A two-layer network that is to be trained by backprop."""

    seed: int

    @property
    def name(self) -> str:
        """Of the part."""
        return f"network-seed-{self.seed}"


class Plateau(FamilyTraining[PlateauSettings]):
    """``biorrr plateau``: plateau potentials through learning, and how they come to equal the back-propagated error."""

    settings = PlateauSettings
    shows = "plateaus come to equal the back-propagated error"
    takes = "22 s"
    paper = PLACE
    measure = "plateau_relative_error_end"
    figures = {
        "plateau": "Plateau, distal current, inhibition and output of each neuron before, halfway through and after "
        "learning, on the same samples, with learning off and on shared scales; behind them in grey what theory says. "
        "Above each panel stands the r.m.s. of the plateau and what it is of the distal current's, which falls as "
        "inhibition learns to predict that current. Halfway is where inhibition is first within 50 % of theory.",
        "audit": "Above: inhibition and plateau after learning against what theory expects, each dot one sample of one "
        "neuron; on the dashed line they are equal. Below: their correlation and their relative r.m.s. error through "
        "learning, median over neurons and seeds in a band from the lowest to the highest; and how large the error of "
        "the plateau is, and would be without inhibition or with that of other samples.",
        "recording": "The learned circuit as an electrode would see it, on the first samples of the data and with "
        "learning off. Above, where cells spike: each row is one cell of the population that stands for a neuron, each "
        "mark one spike. Below, for each neuron, its plateau, the distal current, the inhibition and the output, on "
        "the scales that the bars show. A faint line marks where a new sample comes on: with leaky membranes all "
        "signals relax from there towards what the sample asks for.",
    } | millivolts.CAPTIONS
    charts = (
        Chart(
            "Plateaus and theory through learning",
            tuple(
                View(
                    f"{measure} theory",
                    {
                        f"inhibition_{name}": "inhibition Qn and Vy′ỹ",
                        f"plateau_{name}": "plateau and error Vy′(y − ỹ)",
                        f"network_{name}": "plateau and backprop’s Vy′ε",
                    },
                    SEEN,
                    repeats=("seed", "pyramidal"),
                    log=log,
                )
                for name, measure, log in (
                    ("relative_error", "relative r.m.s. error against", "xy"),
                    ("correlation", "correlation with", "x"),
                )
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
                    choose=("s", "stage", "neuron"),
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
        *millivolts.CHARTS,
    )

    def fit(self, settings: PlateauSettings, data: data_sets.Dataset) -> PlateauSettings:
        """Work out the ridge, and how many epochs it takes: fewer with cells in millivolts, which take long."""
        if settings.cell == "millivolts":
            settings = replace(settings, epochs=settings.epochs or MILLIVOLT_EPOCHS)
        return super().fit(settings, data)

    def parts(self, problem: Problem[PlateauSettings], found: Found) -> dict[str, Any]:
        """Circuits and networks that learn; then these circuits with learning off, at stages of learning."""
        settings = problem.settings
        parts = super().parts(problem, found)
        if 0 in settings.s:
            parts |= {Network(seed).name: Network(seed) for seed in settings.every_seed}
        if settings.cell == "millivolts":
            parts["clamp"] = millivolts.Clamp()
        if set(parts) <= set(found):
            if settings.cell == "millivolts":
                first = found[learner(settings.s[0], settings.seed)]
                for stage, snapshot in (("before", 0), ("after", -1)):
                    parts[f"cells-{stage}"] = millivolts.CellStage(at_snapshot(first, snapshot))
            for s in settings.s:
                for seed in settings.every_seed:
                    name = learner(s, seed)
                    stages = {"before": 0, "after": -1}
                    if seed == settings.seed:
                        stages["during"] = halfway(problem, found[name])
                    for stage, snapshot in stages.items():
                        parts[f"{stage}-{name}"] = at_snapshot(found[name], snapshot)
        return parts

    def run_part(self, problem: Problem[PlateauSettings], part: Any, options: Mapping[str, Any]) -> Any:
        """Let a circuit or a network learn, or show all data to a circuit that has learned."""
        settings, data = problem.settings, problem.data
        if isinstance(part, tuple):
            s, seed = part
            return let_learn(problem, s, seed, settings.cells, record=(), snapshots=self.snapshots, **options)
        if isinstance(part, millivolts.Clamp):
            return millivolts.clamp()
        if isinstance(part, millivolts.CellStage):
            return millivolts.record_cells(problem, part.run)
        if isinstance(part, Network):
            network = analysis.TwoLayerANN(
                settings.k, ridge=settings.ridge, online=False, steps=NETWORK_STEPS, random_state=part.seed
            ).fit(data.X, data.Y)
            return {"Vx": network.Vx_, "Vy": network.Vy_}
        assert isinstance(part, circuits.Run)
        # Without a ridge: replay changes nothing where nothing is learned.
        attrs = part.data.attrs
        circuit = settings.make_circuit(k=settings.k, s=attrs["s"], engine=attrs["engine"], **settings.cells)
        run = circuit.run(
            data.X, data.Y, order="sequential", record=TRACES, every=1, snapshots=1, plastic=False, start=part,
            centre=True, **options,
        )  # fmt: skip
        traces = completed(run).data
        in_order = np.argsort(traces["sample"].values % len(data.X))
        # Of a sample that is held, the mean over its time.
        return {
            name: traces[name].mean("time").values[in_order]
            if "time" in traces[name].dims
            else traces[name].values[in_order]
            for name in TRACES
        }

    def conclude(self, problem: Problem[PlateauSettings], found: Found) -> Findings:
        """Compare what was recorded with theory, and draw the first seed at each s."""
        from biorrr.sims.experiments.helpers.recording import as_variables, record_learned

        assert isinstance(problem, FamilyProblem)
        settings = problem.settings
        members = [gather(problem, found, s) for s in settings.s]
        first = members[0].runs[settings.seed]
        several = len(members) > 1
        numbers = heading(problem) | {"seeds": settings.seeds} | measured(members)
        for member in members if several else ():
            numbers |= {f"{name}_s{member.s:g}": value for name, value in measured([member]).items()}
        numbers |= {
            "excess_max": max(problem.solutions[one.s].excess(Vx) for one in members for Vx in one.filters),
            "whitening_error_max": max(
                problem.solutions[one.s].whitening_error(Vx) for one in members for Vx in one.filters
            ),
            "samples": first.samples,
            "engine": first.data.attrs["engine"],
            "seconds": sum(run.data.attrs["seconds"] for one in members for run in one.runs.values()),
        }
        results: dict[str, xr.Dataset] = {}
        figures: dict[str, Callable[[], Any]] = {}
        rows: dict[str, str] = {}
        for member in members:
            ending = "" if member is members[0] else f"-s-{member.s:g}"
            results[f"run{ending}"] = join(problem, member)
            figures |= {f"{name}{ending}": draw for name, draw in drawn(member, results[f"run{ending}"]).items()}
            rows |= table(member, f"s = {member.s:g}: " if several else "")
        if settings.amplitude or settings.spiking or settings.leaky:
            recording = record_learned(first, problem, settings.amplitude, settings.spiking, settings.leaky)
            figures["recording"] = recording.plot_raster
            results["run"] = results["run"].assign(as_variables(recording))
        if settings.cell == "millivolts":
            cells = {stage: found[f"cells-{stage}"] for stage in millivolts.STAGES}
            errors = {
                stage: at.expected["plateau"][: millivolts.SHOWN_SAMPLES, 0]
                / np.sqrt(np.mean(at.expected["plateau"][:, 0] ** 2))
                for stage, at in (("before", members[0].before[0]), ("after", members[0].after[0]))
            }
            figures |= millivolts.drawn(cells, errors, found["clamp"])
            results["run"] = results["run"].assign(millivolts.as_variables(cells, found["clamp"]))
            results |= {f"cells-{stage}": run for stage, run in cells.items()}
            rows |= millivolts.rows(found["clamp"])
            numbers |= millivolts.numbers(found["clamp"])
        seen = first.data["seen"].values
        courses = [f"{name}_{measure}" for name in sorted(members[0].after[0].expected)
                   for measure in ("correlation", "relative_error")]  # fmt: skip
        return Findings(
            numbers=numbers,
            title=f"{problem.data.name}: s = {numbers['s']}, {settings.k} neurons, {settings.seeds} seeds, "
            f"{first.samples:,} samples; data are centred; median over neurons and seeds (and the worst of them)",
            rows=rows,
            results=results,
            figures=figures,
            claims=[claim for member in members for claim in check_claims(problem, member)],
            curves={"excess": (seen, problem.exact.excess(first.data["Vx"].values))}
            | {name: (seen, results["run"][name].values[0].mean(axis=1)) for name in courses},
        )

    def page_results(self, results: Datasets, exact: analysis.Yardstick | None) -> Datasets:
        """Stages named by samples seen, neurons and samples by their number."""

        def named(dataset: xr.Dataset) -> xr.Dataset:
            if "stage_samples" not in dataset:
                return dataset
            stages = [f"{one:,} samples" for one in dataset["stage_samples"].values]
            neurons = [str(one + 1) for one in range(dataset.sizes["pyramidal"])]
            rows = range(dataset.sizes["row"])
            names = {"stage": ("stage", stages), "neuron": ("pyramidal", neurons), "row": ("row", rows)}
            return dataset.assign_coords(names)

        return {name: named(dataset) for name, dataset in results.items()}


def at_snapshot(run: circuits.Run, snapshot: int) -> circuits.Run:
    """``run`` as it was at a snapshot."""
    return circuits.Run(run.data.isel(snapshot=slice(snapshot % run.data.sizes["snapshot"] + 1)))


def gather(problem: Problem[PlateauSettings], found: Found, s: float) -> Member:
    """All that was found at ``s``."""
    settings = problem.settings
    runs = {seed: found[learner(s, seed)] for seed in settings.every_seed}
    networks = {seed: found[Network(seed).name] for seed in settings.every_seed if s == 0}
    middle = halfway(problem, runs[settings.seed])

    def stage(when: str, snapshot: int, seed: int) -> Stage:
        run = at_snapshot(runs[seed], snapshot)
        weights = {name: getattr(run, name) for name in WEIGHTS}
        return Stage(found[f"{when}-{learner(s, seed)}"], theory(problem, s, networks.get(seed), weights)[1])

    before, after = ([stage(when, at, seed) for seed in runs] for when, at in (("before", 0), ("after", -1)))
    during = stage("during", middle, settings.seed)
    return Member(s, runs, [run.Vx for run in runs.values()], networks, before, after, during, middle)


def join(problem: Problem[PlateauSettings], member: Member) -> xr.Dataset:
    """Join the runs at one s along a dimension ``seed``, with what was recorded of the first.

    Agreement with theory through learning is (seed, snapshot, pyramidal).
    """
    each_run = [run.data for run in member.runs.values()]
    results = xr.concat(
        each_run,
        dim="seed",
        data_vars=[name for name in each_run[0].data_vars if name != "seen"],
        compat="equals",
        combine_attrs="drop_conflicts",
    )
    results = results.assign_coords(seed=list(member.runs), s=member.s)
    each = [courses(problem, member.networks.get(seed), run) for seed, run in member.runs.items()]
    for name in each[0]:
        for measure in ("correlation", "relative_error"):
            together = np.stack([getattr(course[name], measure) for course in each])
            results[f"{name}_{measure}"] = (("seed", "snapshot", "pyramidal"), together)
    stages = (member.before[0], member.during, member.after[0])
    for name in TRACES:
        recorded = np.stack([stage.recorded[name] for stage in stages])
        results[f"recorded_{name}"] = (("stage", "row", "pyramidal"), recorded)
    results["stage_samples"] = ("stage", results["seen"].values[[0, member.halfway, -1]])
    return results


def table(member: Member, heading: str) -> dict[str, str]:
    """Rows to print for one s."""
    found = measured([member])
    rows = {
        f"{heading}{COMPARED[name].words}": f"relative error {found[f'{name}_relative_error_end']:.2%} "
        f"({found[f'{name}_relative_error_max']:.2%}), correlation {found[f'{name}_correlation_end']:.4f} "
        f"({found[f'{name}_correlation_end_min']:.4f}); at the start {found[f'{name}_relative_error_start']:.0%} and "
        f"{found[f'{name}_correlation_start']:.3f}"
        for name in member.after[0].expected
    }
    rivals = "; ".join(f"{found[f'plateau_relative_error_{name}']:.0%} {words}" for name, words in NULLS.items())
    rows[f"{heading}plateau, were it not so"] = f"relative error {rivals}"
    rows[f"{heading}size of plateaus"] = (
        f"r.m.s. {found['plateau_rms_start']:.3g} at the start, {found['plateau_rms_end']:.3g} at the end; that is "
        f"{found['plateau_over_distal_start']:.2f} and {found['plateau_over_distal_end']:.2f} of the distal current's"
    )
    return rows


def check_claims(problem: FamilyProblem[PlateauSettings], member: Member) -> Iterator[Claim]:
    """What Sec. 6 says, neuron by neuron and seed by seed, and whether it holds here at one s.

    That plateau and error are equal follows from proximal plasticity standing still alone, whatever Q and R are: a
    circuit that the other rules have led elsewhere is found out by not being at the optimum.
    """
    yield from optimum_claims(problem, member.s, member.filters)
    rivals = nulls(member.after)
    least = min(float(rivals[name].relative_error.min()) for name in ("no_inhibition", "other_inhibition"))
    for name in member.after[0].expected:
        agreement = compared(member.after, name)
        unjudged = problem.unjudged
        if name != "inhibition" and least < TELLING:
            unjudged = unjudged or f"these data cannot tell: without inhibition the error would be {least:.0%}"
        rival = {} if name == "inhibition" else {"least error without the right inhibition": least}
        yield Claim(
            text=f"s = {member.s:g}: {COMPARED[name].claim}, at the optimum",
            place=PLACE,
            run=learning(problem, len(member.after)),
            value=float(agreement.relative_error.max()),
            high=COMPARED[name].tolerated,
            unit="%",
            numbers={
                "median": float(np.median(agreement.relative_error)),
                "lowest correlation": float(agreement.correlation.min()),
            }
            | rival,
            unjudged=unjudged,
        )


def drawn(member: Member, results: xr.Dataset) -> dict[str, Callable[[], Any]]:
    """Figures of one s."""
    from biorrr.analysis.figures.agreement import plot_agreement

    last = member.after[0]
    samples = results["stage_samples"].values
    shown = {
        "before learning": member.before[0],
        f"halfway: {samples[1]:,} samples": member.during,
        f"after {samples[2]:,} samples": last,
    }
    pairs = {
        name: (COMPARED[name].measured, COMPARED[name].expected, last.recorded[COMPARED[name].trace], signal)
        for name, signal in last.expected.items()
    }
    null, few = nulls(member.after), np.s_[:SHOWN_SAMPLES, :SHOWN_NEURONS]
    rivals = {
        "as it is": compared(member.after, "plateau"),
        "without\ninhibition": null["no_inhibition"],
        "with that of\nother samples": null["other_inhibition"],
    }
    return {
        "plateau": partial(
            analysis.plot_plateau,
            {name: {trace: at.recorded[trace][few] for trace in TRACES} for name, at in shown.items()},
            {
                name: {trace: at.expected[trace][few] for trace in ("plateau", "inhibition")}
                for name, at in shown.items()
            },
            unit="sample, learning off",
            notes={name: sizes(at.recorded) for name, at in shown.items()},
        ),
        "audit": partial(
            plot_agreement,
            pairs,
            results["seen"].values,
            {
                name: (results[f"{name}_correlation"].values, results[f"{name}_relative_error"].values)
                for name in last.expected
            },
            {name: one.relative_error for name, one in rivals.items()},
            TOLERATED,
        ),
    }


def sizes(recorded: Mapping[str, np.ndarray]) -> list[str]:
    """Say of each neuron how large its plateau is over all samples, and what that is of the distal current."""
    plateau, a = (np.sqrt(np.mean(np.square(recorded[name]), axis=0)) for name in ("plateau", "a"))
    return [
        f"r.m.s. {one:.2g} ({one / other if other else np.nan:.2f} of distal)"
        for one, other in zip(plateau, a, strict=True)
    ]


EXPERIMENT = Plateau()
