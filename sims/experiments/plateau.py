"""Show plateau potentials, and that they come to equal the back-propagated error.

Plateau and error are equal wherever proximal weights no longer change, so excess and whitening
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

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Dataset
from biorrr.sims.lab import (
    CONVERGED_SAMPLES,
    MILLIVOLT_EPOCHS,
    PERCENT,
    Claim,
    FamilySettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    baseline_quantities,
    cell_arguments,
    cell_option,
    default_ridge,
    experiment,
    learned,
    unjudged_because,
)
from biorrr.sims.lazy import analysis, circuits, np, xr
from biorrr.sims.words import counted, in_full

PLACE = 'Sec. 6, "Interpretation of calcium plateau potential in Bio-RRR"'
PLATEAU = "at the optimum, the calcium plateau potential is equal to a backpropagated error signal"
WHITE = "at convergence, the RRR whiteness constraint is indeed satisfied"
WHITE_PLACE = 'supplement E, "Numerical experiment details"; Fig. 5'
SNAPSHOTS = 40
TOLERATED = 0.05  # relative r.m.s. error up to which two signals count as equal
EXCESS, WHITENING = 0.03, 0.05  # bounds up to which circuits count as having come to the optimum
# relative error of the distal current alone, below which the data cannot tell what inhibition does
TELLING = 0.25


NETWORK = "a - Qn replaces the backpropagated error Vy'eps (of a two-layer network)"
# What is said of a signal of the circuit and its theory (Sec. 6): words, claim, case, and the error
# that is tolerated. Circuit and network have each learned by themselves, and neither is exact.
COMPARED = {
    "inhibition": ("Qn and Vy'y~", PLATEAU, "inhibition Qn beside Vy'y~", TOLERATED),
    "plateau": ("plateau and Vy'(y - y~)", PLATEAU, "", TOLERATED),
    "network": ("plateau and backprop's Vy'eps", NETWORK, "", 0.10),
}


class PlateauSettings(FamilySettings, seeds=5):
    """Settings of ``biorrr plateau``."""

    cell: str = cell_option()


@experiment(
    shows=("plateaus equal the back-propagated error when proximal weights no longer change"),
    takes="22 s",
    paper=PLACE,
    measure="plateau_relative_error_end",
    captions={
        "plateau": (
            "Plateau, distal current, inhibition and output of each neuron before, halfway through"
            " and after learning, on the same samples, with learning off and on shared scales;"
            " behind them in grey what theory says: the back-propagated error Vy'(y - ỹ) behind the"
            " plateau, and Vy'ỹ, what the regression on x predicts of the distal current, behind"
            " the inhibition. The first seed is shown, at the s that stands below. Above each panel"
            " stands how far the plateau deviates from theory over all samples, as r.m.s. relative"
            " to that of theory. Halfway is where the circuit's prediction has come half the way to"
            " its final form. After learning the median deviation over neurons, seeds and s is"
            " {plateau_relative_error_end}, the largest {plateau_relative_error_max}."
        ),
        "audit": (
            "Above: inhibition and plateau after learning against what theory expects, each dot one"
            " sample of one neuron of the first seed, at the s that stands below; on the dashed"
            " line they are equal. Right, at s = 0, against the error that reaches the first layer"
            " of a network trained by back-propagation. Below: their correlation and their relative"
            " r.m.s. error through learning, median over neurons and seeds in a band from the"
            " lowest to the highest; and how large the error of the plateau is, and would be"
            " without inhibition ({plateau_relative_error_no_inhibition}) or with that of other"
            " samples ({plateau_relative_error_other_inhibition})."
        ),
    },
    small={"data": SMALL_DATA, "epochs": 2, "seeds": 1, "engine": "cpp"},
)
def plateau(lab: Lab, settings: PlateauSettings) -> Findings:
    """Let circuits learn, record them with learning off, and compare their plateaus with theory."""
    from biorrr.analysis.figures import agreement

    settings = lab.set(s=tuple(dict.fromkeys(settings.s)))
    data = lab.load(settings.data, settings.k)
    usual = -(-CONVERGED_SAMPLES // len(data.X))
    usual = MILLIVOLT_EPOCHS if settings.cell == "millivolts" else usual
    settings = lab.fill_in(ridge=default_ridge(data), epochs=usual)
    exact = {s: analysis.ExactSolution(*data.stand_in, s, settings.ridge) for s in settings.s}

    found = lab.map(follow, {"s": settings.s}, data, exact, seeds=settings.every_seed)

    samples = int(found["seen"][-1])
    unjudged = unjudged_because(settings, samples)
    names = ["", *(f"s-{in_full(s)}" for s in settings.s[1:])]  # sets their files apart
    members = {name: member(found, s) for name, s in zip(names, settings.s, strict=True)}
    end = found[["excess", "whitening_error"]].isel(snapshot=-1)
    figures = []
    for which, one in members.items():
        figures.append(Figure("plateau", partial(agreement.plot_recorded, one), which))
        figures.append(Figure("audit", partial(agreement.plot_agreement, one, TOLERATED), which))
    return Findings(
        title=(
            f"{data.name}: s = {', '.join(map(in_full, settings.s))}, {settings.k} neurons,"
            f" {counted(settings.seeds, 'seed')}, {samples:,} samples; data are centred"
        ),
        statistic="median over neurons, seeds and s (and the worst of them)",
        quantities=[
            *learned(data, settings),
            Quantity("seeds", settings.seeds),
            *measured(found),
            Quantity("excess_max", end["excess"].max(), PERCENT, "excess, at most"),
            *baseline_quantities(exact[settings.s[0]], settings.k),
            Quantity(
                "whitening_error_max", end["whitening_error"].max(), "", "whitening error, at most"
            ),
            Quantity("samples", samples),
            Quantity("engine", found.attrs.get("engine", settings.engine)),
            Quantity("seconds", found["seconds"].sum()),
        ],
        data={f"run-{name}" if name else "run": one for name, one in members.items()},
        figures=figures,
        claims=[
            claim for one in members.values() for claim in judge(one, unjudged, data=data.name)
        ],
    )


def follow(
    task: Task,
    data: Dataset,
    exact: dict[float, analysis.ExactSolution],
    s: float,
    seeds: Sequence[int],
) -> list[xr.Dataset]:
    """Let a circuit learn from each of ``seeds``, record it before, halfway through and after
    learning, and compare it with theory.
    """
    from biorrr.analysis.plateau import compare_with_theory

    settings, cell = task.settings, cell_arguments(task.settings.cell)
    circuit = settings.make_circuit(k=settings.k, s=s, ridge=settings.ridge, seed=seeds[0], **cell)
    how: Any = {"epochs": settings.epochs, "centre": True, "record": (), "snapshots": SNAPSHOTS}
    results = []
    for seed, run in zip(seeds, task.run(circuit, data.X, data.Y, seeds, **how), strict=True):
        show = partial(record, task, run, s, data)
        found = compare_with_theory(run.data, data.centred(), exact[s], show, seed)
        results.append(run.data.merge(found).assign(seconds=run.data.attrs["seconds"]))
    return results


def record(
    task: Task, run: circuits.Run, s: float, data: Dataset, snapshot: int
) -> dict[str, np.ndarray]:
    """Show data to a circuit as it was at a snapshot, with learning off.

    Returns its traces, each (row, pyramidal) in the order of the data; of a sample that is held,
    the mean over its time.
    """
    from biorrr.analysis.plateau import SIGNALS

    start = circuits.Run(run.data.isel(snapshot=slice(snapshot + 1)))
    # Without a ridge: replay changes nothing where nothing is learned.
    cell, engine = cell_arguments(task.settings.cell), run.data.attrs["engine"]
    circuit = task.settings.make_circuit(k=task.settings.k, s=s, engine=engine, **cell)
    how: Any = {"order": "sequential", "plastic": False, "record": SIGNALS, "every": 1}
    traces = task.run(circuit, data.X, data.Y, start=start, centre=True, snapshots=1, **how).data
    in_order = np.argsort(traces["sample"].values % len(data.X))
    held = traces.mean("time") if "time" in traces.dims else traces
    return {name: held[name].values[in_order] for name in SIGNALS}


def member(found: xr.Dataset, s: float) -> xr.Dataset:
    """Return what was found at one s, with the traces of the first seed alone."""
    one = found.sel(s=s).dropna("comparison", how="all", subset=["agreement"])
    one = one.assign({name: one[name].isel(seed=0) for name in ("recorded", "expected")})
    return one.assign_coords(
        neuron=("pyramidal", [str(number) for number in range(one.sizes["pyramidal"])]),
        row=range(one.sizes["row"]),
    )


def measured(results: xr.Dataset) -> Iterator[Quantity]:
    """Yield how the recorded traces agree with theory: medians over neurons, seeds and s."""
    for name, (row, *_) in COMPARED.items():
        scores = results["agreement"].sel(comparison=name)
        if scores.isnull().all():  # without s = 0 there is no network
            continue
        error, correlation = (
            scores.sel(measure=measure) for measure in ("relative_error", "correlation")
        )
        values = {
            "relative_error_end": (error[..., -1, :].median(), PERCENT, "relative error"),
            "relative_error_max": (error[..., -1, :].max(), PERCENT, "at most"),
            "correlation_end": (correlation[..., -1, :].median(), "", "correlation"),
            "relative_error_start": (error[..., 0, :].median(), PERCENT, "error at the start"),
            "correlation_start": (correlation[..., 0, :].median(), "", "correlation at the start"),
        }
        for key, (value, unit, words) in values.items():
            yield Quantity(f"{name}_{key}", value, unit, words, row=row)
    row = "relative error of the plateau under the null hypothesis"
    others = "with the inhibition of other samples"
    for name, words in {"no_inhibition": "without inhibition", "other_inhibition": others}.items():
        error = results["null_error"].sel(null=name).median()
        yield Quantity(f"plateau_relative_error_{name}", error, PERCENT, words, row=row)


def judge(results: xr.Dataset, unjudged: str, **about: Any) -> Iterator[Claim]:
    """Judge what Secs. 4 and 6 say of circuits at one s, by the worst neuron of each seed.

    Plateau and error are equal wherever proximal weights no longer change, whatever Q and R are.
    A circuit that the other rules have led elsewhere is found out by its excess and its whitening
    error.
    """
    excess, white = (results[name].isel(snapshot=-1) for name in ("excess", "whitening_error"))
    over: Any = partial(Claim.over_seeds, s=float(results["s"]), **about)
    ends, place = "learning ends at the minimum of the objective", 'Sec. 4, "Algorithm derivation"'
    optimum = {"low": -1e-9, "high": EXCESS, "unit": PERCENT, "unjudged": unjudged}
    yield over(excess.values, text=ends, place=place, **optimum)
    yield over(white.values, text=WHITE, place=WHITE_PLACE, high=WHITENING, unjudged=unjudged)
    run = f"excess at most {excess.max():.1e}, whitening error at most {white.max():.1e}"
    least = float(results["null_error"].min())
    cannot_tell = f"these data cannot tell: without inhibition the error would be {least:.0%}"
    for name in results["comparison"].values:
        _, text, case, tolerated = COMPARED[name]
        found = results["agreement"].sel(comparison=name).isel(stage=-1)
        error, correlation = (found.sel(measure=one) for one in ("relative_error", "correlation"))
        numbers = {"lowest correlation": float(correlation.min())}
        why = unjudged
        if name != "inhibition":  # plateau and error share the distal current: that says less
            numbers["least error without the right inhibition"] = least
            why = unjudged or (cannot_tell if least < TELLING else "")
        yield over(
            error.max("pyramidal").values,
            text=text,
            place=PLACE,
            high=tolerated,
            unit=PERCENT,
            case=case,
            run=run,
            numbers=numbers,
            unjudged=why,
        )
