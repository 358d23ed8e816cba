"""Show plateau potentials, and that they come to equal the back-propagated error.

Plateau and error are equal wherever proximal plasticity has come to rest, so excess and whitening
error are reported beside them. At the optimum the inhibition Qn equals Vy'y~, the full-rank
regression as the distal weights see it, so the plateau a - Qn equals the back-propagated error
Vy'(y - y~). Both are compared on all samples, neuron by neuron, in traces recorded with learning
off, before and after learning: by their relative r.m.s. error, since a correlation is blind to
scale, and beside the plateau without inhibition, or with that of other samples, since plateau and
error share the distal current a. At s = 0 the plateau is also compared with the error Vy'eps that
reaches the first layer of a two-layer network that backprop has trained on all data until its
gradients vanish. Data are centred. With several s, run.nc and plateau.png belong to the first,
run-s-1.nc and plateau-s-1.png to s = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import SMALL_DATA
from biorrr.sims.experiments.plateau.agreement import (
    PLACE,
    TOLERATED,
    TRACES,
    compare,
    judge,
    measured,
)
from biorrr.sims.lab import (
    PERCENT,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    experiment,
    seeds_option,
)
from biorrr.sims.lab.training import (
    CONVERGED_SAMPLES,
    MILLIVOLT_EPOCHS,
    FamilySettings,
    baseline_quantities,
    cell_arguments,
    cell_option,
    check_rank,
    default_ridge,
    learned,
    unjudged_because,
)
from biorrr.sims.lazy import analysis, circuits, data_sets, np, xr
from biorrr.sims.words import in_full

SNAPSHOTS = 40
SHOWN_SAMPLES, SHOWN_NEURONS = 50, 4  # that fit a page


@dataclass(frozen=True, kw_only=True)
class PlateauSettings(FamilySettings):
    """Settings of ``biorrr plateau``."""

    seeds: int = seeds_option(5)
    cell: str = cell_option()


CAPTIONS = {
    "plateau": (
        "Plateau, distal current, inhibition and output of each neuron before, halfway through and"
        " after learning, on the same samples, with learning off and on shared scales; behind them"
        " in grey what theory says. Above each panel stands how far the plateau deviates from"
        " theory over all samples, as r.m.s. relative to that of theory. Halfway is where the"
        " circuit's prediction has come half the way to its final form. After learning the median"
        " deviation over neurons, seeds and s is {plateau_relative_error_end}, the largest"
        " {plateau_relative_error_max}."
    ),
    "audit": (
        "Above: inhibition and plateau after learning against what theory expects, each dot one"
        " sample of one neuron; on the dashed line they are equal. Below: their correlation and"
        " their relative r.m.s. error through learning, median over neurons and seeds in a band"
        " from the lowest to the highest; and how large the error of the plateau is, and would be"
        " without inhibition ({plateau_relative_error_no_inhibition}) or with that of other samples"
        " ({plateau_relative_error_other_inhibition})."
    ),
}


@experiment(
    shows=("plateaus equal the back-propagated error when proximal weights no longer change"),
    takes="22 s",
    paper=PLACE,
    measure="plateau_relative_error_end",
    captions=CAPTIONS,
    small={"data": SMALL_DATA, "epochs": 2, "seeds": 1, "engine": "cpp"},
)
def plateau(lab: Lab, settings: PlateauSettings) -> Findings:
    """Let circuits learn, record them with learning off, and compare their plateaus with theory."""
    settings = lab.set(s=tuple(dict.fromkeys(settings.s)))
    data = lab.load(settings.data)
    check_rank(settings.k, data)
    usual = (
        MILLIVOLT_EPOCHS if settings.cell == "millivolts" else -(-CONVERGED_SAMPLES // len(data.X))
    )
    settings = lab.fill_in(ridge=default_ridge(data), epochs=usual)
    exact = {s: analysis.ExactSolution(*data.stand_in, s, settings.ridge) for s in settings.s}

    found = lab.map(follow, {"s": settings.s}, data, exact, seeds=settings.every_seed)

    end = found.isel(snapshot=-1)
    samples = int(found["seen"][-1])
    unjudged = unjudged_because(settings, samples)
    names = ["", *(f"s-{in_full(s)}" for s in settings.s[1:])]  # sets their files apart
    members = {name: member(found, s) for name, s in zip(names, settings.s, strict=True)}
    quantities = [
        *learned(data, settings),
        Quantity("seeds", settings.seeds),
        *measured(found),
        Quantity(
            "excess_max",
            end["excess"].max().item(),
            PERCENT,
            "excess, at most",
        ),
        *baseline_quantities(exact[settings.s[0]], settings.k),
        Quantity(
            "whitening_error_max",
            end["whitening_error"].max().item(),
            "",
            "whitening error, at most",
        ),
        Quantity("samples", samples),
        Quantity("engine", found.attrs.get("engine", settings.engine)),
        Quantity("seconds", found["seconds"].sum().item()),
    ]
    return Findings(
        title=(
            f"{data.name}: s = {', '.join(map(in_full, settings.s))}, {settings.k} neurons,"
            f" {settings.seeds} seeds, {samples:,} samples; data are centred; median over neurons,"
            " seeds and s (and the worst of them)"
        ),
        quantities=quantities,
        data={f"run-{name}" if name else "run": one for name, one in members.items()},
        figures=[figure for name, one in members.items() for figure in draw(one, name)],
        claims=[
            claim for one in members.values() for claim in judge(one, unjudged, data=data.name)
        ],
    )


def follow(
    task: Task,
    data: data_sets.Dataset,
    exact: dict[float, analysis.ExactSolution],
    s: float,
    seeds: Sequence[int],
) -> list[xr.Dataset]:
    """Let a circuit learn from each of ``seeds``, and compare its plateau and inhibition with
    theory: each run, with all that was compared.
    """
    settings = task.settings
    circuit = settings.make_circuit(
        k=settings.k,
        s=s,
        ridge=settings.ridge,
        seed=seeds[0],
        **cell_arguments(settings.cell),
    )
    runs = task.run(
        circuit,
        data.X,
        data.Y,
        seeds,
        epochs=settings.epochs,
        centre=True,
        record=(),
        snapshots=SNAPSHOTS,
    )
    return [audit(task, run, data, exact[s], seed) for seed, run in zip(seeds, runs, strict=True)]


def audit(
    task: Task, run: circuits.Run, data: data_sets.Dataset, exact: analysis.ExactSolution, seed: int
) -> xr.Dataset:
    """Return a run with all that its plateau and inhibition were compared with."""
    weights = {name: run.data[name].values for name in ("Vx", "Vy", "Q", "R")}
    show = partial(record, task, run, exact.s, data)
    results = run.data.assign(compare(data, weights, exact, show, seed))
    results["stage_samples"] = ("stage", run.data["seen"].values[results["stage_snapshot"].values])
    return results.assign(seconds=run.data.attrs["seconds"])


def record(
    task: Task, run: circuits.Run, s: float, data: data_sets.Dataset, snapshot: int
) -> dict[str, np.ndarray]:
    """Show data to a circuit as it was at a snapshot, with learning off.

    Returns its traces, each (T, k) in the order of the data; of a sample that is held, the mean
    over its time.
    """
    start = circuits.Run(run.data.isel(snapshot=slice(snapshot + 1)))
    # Without a ridge: replay changes nothing where nothing is learned.
    cell, engine = cell_arguments(task.settings.cell), run.data.attrs["engine"]
    circuit = task.settings.make_circuit(k=task.settings.k, s=s, engine=engine, **cell)
    traces = task.run(
        circuit,
        data.X,
        data.Y,
        order="sequential",
        record=TRACES,
        snapshots=1,
        plastic=False,
        start=start,
        every=1,
        centre=True,
    ).data
    in_order = np.argsort(traces["sample"].values % len(data.X))
    held = {
        name: traces[name].mean("time") if "time" in traces[name].dims else traces[name]
        for name in TRACES
    }
    return {name: trace.values[in_order] for name, trace in held.items()}


def member(found: xr.Dataset, s: float) -> xr.Dataset:
    """Return what was found at one s, with the traces of the first seed alone."""
    one = found.sel(s=s).drop_vars([name for name in found if "network" in str(name) and s > 0])
    traces = [name for name in one if "row" in one[name].dims]
    one = one.assign({name: one[name].isel(seed=0) for name in traces})
    return one.assign_coords(
        stage=[f"{seen:,} samples" for seen in one["stage_samples"].values[0]],
        neuron=("pyramidal", [str(number) for number in range(one.sizes["pyramidal"])]),
        row=range(one.sizes["row"]),
    )


def draw(results: xr.Dataset, which: str) -> list[Figure]:
    """Return the figures of one s."""
    from biorrr.analysis.figures.agreement import plot_agreement
    from biorrr.analysis.figures.runs import HALFWAY

    _, halfway, end = results["stage_samples"].values[0]
    few = results.isel(row=slice(SHOWN_SAMPLES), pyramidal=slice(SHOWN_NEURONS))
    titles = "before", f"halfway\n{halfway:,}", f"after\n{end:,}"
    shown, theory = (
        {
            title: {name: few[f"{kind}_{name}"][stage].values for name in names}
            for stage, title in enumerate(titles)
        }
        for kind, names in (("recorded", TRACES), ("expected", ("plateau", "inhibition")))
    )
    errors = results["recorded_plateau_relative_error"][0].values
    plateaus = partial(
        analysis.plot_plateau,
        shown,
        theory,
        unit="sample, learning off",
        deviations=dict(zip(titles, errors, strict=True)),
        note=(
            f"Above: samples seen in learning. {HALFWAY}"
            f" Deviations are of all {results.sizes['row']:,} samples."
        ),
    )
    agreement = partial(plot_agreement, results, TOLERATED)
    return [Figure("plateau", plateaus, which), Figure("audit", agreement, which)]
