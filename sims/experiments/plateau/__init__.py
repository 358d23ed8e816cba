"""Show plateau potentials, and that they come to equal the back-propagated error.

Plateau and error are equal wherever proximal plasticity has come to rest, so excess and whitening error are reported
beside them. At the optimum the inhibition Qn equals Vy'y~, the full-rank regression as the distal weights see it, so
the plateau a - Qn equals the back-propagated error Vy'(y - y~). Both are compared on all samples, neuron by neuron, in
traces recorded with learning off, before and after learning: by their relative r.m.s. error, since a correlation is
blind to scale, and beside the plateau without inhibition, or with that of other samples, since plateau and error share
the distal current a. At s = 0 the plateau is also compared with the error Vy'eps that reaches the first layer of a
two-layer network that backprop has trained on all data until its gradients vanish. Data are centred. With several s,
run.nc and plateau.png belong to the first, run-s-1.nc and plateau-s-1.png to s = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biorrr.sims.experiments.plateau import millivolts
from biorrr.sims.experiments.plateau.agreement import TRACES, at_snapshot, halfway, measured
from biorrr.sims.experiments.plateau.results import At, Learner, Network, check_claims, draw, gather, join
from biorrr.sims.lab import SEEN, Chart, Findings, Job, Lab, Quantity, View, experiment, seeds_option
from biorrr.sims.lab.checks import check_rank, default_ridge
from biorrr.sims.lab.quantities import PERCENT
from biorrr.sims.lab.training import (
    CONVERGED_SAMPLES,
    MILLIVOLT_EPOCHS,
    FamilySettings,
    baseline_quantities,
    cell_arguments,
    cell_option,
    learned,
)
from biorrr.sims.lazy import analysis, circuits, data_sets, np

NETWORK_STEPS = 200_000  # at most: on digits gradients vanish after 20,000, on V1-V2 after 3,000
SNAPSHOTS = 40
PLACE = 'Sec. 6, "Interpretation of calcium plateau potential in Bio-RRR"'


@dataclass(frozen=True, kw_only=True)
class PlateauSettings(FamilySettings):
    """Settings of ``biorrr plateau``."""

    seeds: int = seeds_option(5)
    cell: str = cell_option()


CAPTIONS = {
    "plateau": "Plateau, distal current, inhibition and output of each neuron before, halfway through and after "
    "learning, on the same samples, with learning off and on shared scales; behind them in grey what theory says. "
    "Above each panel stands the r.m.s. of the plateau and what it is of the distal current's, which falls as "
    "inhibition learns to predict that current. Halfway is where inhibition is first within 50 % of theory.",
    "audit": "Above: inhibition and plateau after learning against what theory expects, each dot one sample of one "
    "neuron; on the dashed line they are equal. Below: their correlation and their relative r.m.s. error through "
    "learning, median over neurons and seeds in a band from the lowest to the highest; and how large the error of "
    "the plateau is, and would be without inhibition or with that of other samples.",
} | millivolts.CAPTIONS
CHARTS = (
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
)


@experiment(
    shows="plateaus come to equal the back-propagated error once proximal plasticity has come to rest",
    takes="22 s",
    paper=PLACE,
    measure="plateau_relative_error_end",
    captions=CAPTIONS,
    charts=CHARTS,
    small={"data": "synthetic:samples=60,m=6,n=5,latents=2", "epochs": 2, "seeds": 1, "engine": "numpy"},
)
def plateau(lab: Lab, settings: PlateauSettings) -> Findings:
    """Let circuits and networks learn, record the circuits with learning off, and compare with theory."""
    settings = lab.set(s=tuple(dict.fromkeys(settings.s)))
    data = lab.load(settings.data)
    check_rank(settings.k, data)
    in_millivolts = settings.cell == "millivolts"
    usual = MILLIVOLT_EPOCHS if in_millivolts else -(-CONVERGED_SAMPLES // len(data.X))
    settings = lab.fill_in(ridge=default_ridge(data), epochs=usual)
    exact = {s: analysis.Yardstick(*data.stand_in, s, settings.ridge) for s in settings.s}

    learners = [Learner(s, seed) for s in settings.s for seed in settings.every_seed]
    networks = [Network(seed) for seed in settings.every_seed if 0 in settings.s]
    clamps = [millivolts.Clamp()] if in_millivolts else []
    found = lab.map(learn, [*learners, *networks, *clamps], data)

    firsts = {s: Learner(s, settings.seed) for s in settings.s}
    middle = {s: halfway(data, settings.ridge, found[one]) for s, one in firsts.items()}
    last = found[learners[0]].data.sizes["snapshot"] - 1
    stages = [At(one, snapshot) for one in learners for snapshot in (0, last)]
    stages += [At(one, middle[s]) for s, one in firsts.items()]
    cells = [millivolts.Cells(At(learners[0], snapshot)) for snapshot in (0, last) if in_millivolts]
    recorded = lab.map(record, [*stages, *cells], data, {one: found[one] for one in learners})

    members = [gather(data, settings, s, found, recorded, middle[s]) for s in settings.s]
    results = {f"run{which(member.s, settings)}": join(data, settings, member) for member in members}
    first, several = found[learners[0]], len(members) > 1
    filters = [(exact[one.s], found[one].Vx) for one in learners]
    quantities = [
        *learned(data, settings),
        Quantity("seeds", settings.seeds),
        *measured(members, several=several),
        *(one for member in members if several for one in measured([member], f"s = {member.s:g}: ", f"_s{member.s:g}")),
        Quantity("excess_max", max(one.excess(Vx) for one, Vx in filters), PERCENT, "excess, at most"),
        *baseline_quantities(exact[settings.s[0]], settings.k),
        Quantity(
            "whitening_error_max", max(one.whitening_error(Vx) for one, Vx in filters), "", "whitening error, at most"
        ),
        Quantity("samples", first.samples),
        Quantity("engine", first.data.attrs["engine"]),
        Quantity("seconds", sum(found[one].data.attrs["seconds"] for one in learners)),
    ]
    figures = [one for member in members for one in draw(member, results, which(member.s, settings))]
    if in_millivolts:
        of_cells = dict(zip(millivolts.STAGES, (recorded[one] for one in cells), strict=True))
        quantities += millivolts.quantities(found[clamps[0]])
        figures += millivolts.figures(of_cells, members[0], found[clamps[0]])
        results |= {f"cells-{stage}": run for stage, run in of_cells.items()}
    seen, followed = first.data["seen"].values, [*members[0].after[0].expected]
    measures = [f"{name}_{measure}" for name in sorted(followed) for measure in ("correlation", "relative_error")]
    return Findings(
        title=f"{data.name}: s = {', '.join(f'{s:g}' for s in settings.s)}, {settings.k} neurons, {settings.seeds} "
        f"seeds, {first.samples:,} samples; data are centred; median over neurons and seeds (and the worst of them)",
        quantities=quantities,
        data=results,
        figures=figures,
        claims=[claim for one in members for claim in check_claims(data, settings, one, exact[one.s])],
        curves={"excess": (seen, exact[settings.s[0]].excess(first.data["Vx"].values))}
        | {name: (seen, results["run"][name].values[0].mean(axis=1)) for name in measures},
    )


def which(s: float, settings: PlateauSettings) -> str:
    """Return what sets files at this s apart from those at the first s."""
    return "" if s == settings.s[0] else f"-s-{s:g}"


def learn(job: Job, item: Learner | Network | millivolts.Clamp, data: data_sets.Dataset) -> Any:
    """Let a circuit or a network learn, or clamp a cell."""
    settings = job.settings
    if isinstance(item, millivolts.Clamp):
        return millivolts.clamp()
    if isinstance(item, Network):
        network = analysis.TwoLayerANN(
            settings.k, ridge=settings.ridge, online=False, steps=NETWORK_STEPS, random_state=item.seed
        ).fit(data.X, data.Y)
        return {"Vx": network.Vx_, "Vy": network.Vy_}
    cell = cell_arguments(settings.cell)
    circuit = settings.make_circuit(k=settings.k, s=item.s, ridge=settings.ridge, seed=item.seed, **cell)
    return job.run(circuit, data.X, data.Y, epochs=settings.epochs, centre=True, record=(), snapshots=SNAPSHOTS)


def record(job: Job, item: At | millivolts.Cells, data: data_sets.Dataset, runs: Mapping[Learner, circuits.Run]) -> Any:
    """Show data to a circuit as it was at a snapshot, with learning off.

    Returns its traces, each (T, k) in the order of the data; of a sample that is held, the mean over its time.
    """
    at = item.at if isinstance(item, millivolts.Cells) else item
    settings, start = job.settings, at_snapshot(runs[at.learner], at.snapshot)
    # Without a ridge: replay changes nothing where nothing is learned.
    cell, engine = cell_arguments(settings.cell), start.data.attrs["engine"]
    circuit = settings.make_circuit(k=settings.k, s=at.learner.s, engine=engine, **cell)
    options: dict[str, Any] = {"snapshots": 1, "plastic": False, "start": start, "every": 1, "centre": True}
    if isinstance(item, millivolts.Cells):
        shown = {"order": np.arange(millivolts.SHOWN_SAMPLES), "record": millivolts.recorded_variables()}
        return job.run(circuit, data.X, data.Y, **shown, **options)
    traces = job.run(circuit, data.X, data.Y, order="sequential", record=TRACES, **options).data
    in_order = np.argsort(traces["sample"].values % len(data.X))
    held = {name: traces[name].mean("time") if "time" in traces[name].dims else traces[name] for name in TRACES}
    return {name: trace.values[in_order] for name, trace in held.items()}
