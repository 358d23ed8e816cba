"""Follow the family of circuits from RRMSE (s = 0) to CCA (s = 1), learned beside exact.

At every s: excess over the optimum, whitening, eigenvalues of QQ' beside those of M, the plateau of
the first neuron beside the back-propagated error, and the distal rule, whose coefficients are
fitted to the recorded changes of all distal synapses in a few hundred samples. Data are centred.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Dataset
from biorrr.sims.experiments.plateau import (
    EXCESS,
    PLACE,
    PLATEAU,
    TOLERATED,
    WHITE,
    WHITE_PLACE,
    WHITENING,
)
from biorrr.sims.lab import (
    CONVERGED_SAMPLES,
    PERCENT,
    Claim,
    FamilySettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    default_ridge,
    experiment,
    farthest,
    learned,
    readable,
    unjudged_because,
)
from biorrr.sims.lazy import analysis, np, xr
from biorrr.sims.words import counted, in_full

RECORDED_SAMPLES = 300  # in which distal plasticity is recorded
EIGENVALUES = 0.05  # relative deviation of an eigenvalue of QQ' from M's, on either side
COEFFICIENTS = 1e-6  # deviation of a coefficient of the distal rule, on either side


class FamilyExperimentSettings(FamilySettings, seeds=3, s=(0.0, 0.25, 0.5, 0.75, 1.0)):
    """Settings of ``biorrr family``."""


@experiment(
    shows="one circuit learns every member of the family between RRMSE and CCA",
    takes="24 s",
    paper='Sec. 3.2, "Parametrizing the projection matrix"; Sec. 5.1, "Neural circuit"',
    measure="excess_max",
    captions={
        "family": (
            "The family between RRMSE (s = 0) and CCA (s = 1). Above: the plateau of the first"
            " neuron of the first seed (black) on the back-propagated error (grey), at three values"
            " of s. Below, against s: eigenvalues of QQ' (diamonds, one per seed) on those of M"
            " (dashed); excess over the optimum, at most {excess_max}; relative r.m.s. error of the"
            " plateau, one dot per neuron and seed, at most {plateau_relative_error_max}; and the"
            " coefficients of the distal rule as fitted to recorded changes (squares, triangles),"
            " on s and 1 - s + s ridge (dashed)."
        ),
    },
    small={
        "data": SMALL_DATA,
        "s": (0.0, 0.4),
        "epochs": 1,
        "seeds": 1,
        "engine": "numpy",
    },
)
def family(lab: Lab, settings: FamilyExperimentSettings) -> Findings:
    """Let circuits learn at every s, record their distal plasticity, and compare them with the
    exact solution.
    """
    from biorrr.analysis.figures.agreement import plot_family

    settings = lab.set(s=tuple(dict.fromkeys(settings.s)))
    data = lab.load(settings.data, settings.k)
    settings = lab.fill_in(ridge=default_ridge(data), epochs=-(-CONVERGED_SAMPLES // len(data.X)))
    exact = {s: analysis.ExactSolution(*data.stand_in, s, settings.ridge) for s in settings.s}

    found = lab.map(learn, {"s": settings.s}, data, exact, seeds=settings.every_seed)
    rules = lab.map(record_rule, {"s": settings.s}, data)

    first = found[["eigenvalues_M", "plateau", "error"]].isel(seed=0, drop=True)
    results = xr.merge([found.drop_vars([*first.data_vars, "seconds"]), first, rules])
    samples = settings.epochs * len(data.X)
    return Findings(
        title=(
            f"{data.name}: {settings.k} neurons, {counted(settings.seeds, 'seed')},"
            f" {samples:,} samples; data are centred"
        ),
        statistic="the worst of all seeds and neurons",
        quantities=[
            *learned(data, settings),
            Quantity("seeds", settings.seeds),
            *summary(results),
            Quantity("samples", samples),
            Quantity("engine", found.attrs.get("engine", settings.engine)),
            Quantity("seconds", found["seconds"].sum().item(), "s"),
        ],
        rows={f"s = {in_full(s)}": in_words(results.sel(s=s)) for s in settings.s},
        data={"run": results},
        figures=[Figure("family", partial(plot_family, results))],
        claims=[*judge(results, unjudged_because(settings, samples), data=data.name)],
    )


def learn(
    task: Task,
    data: Dataset,
    exact: Mapping[float, analysis.ExactSolution],
    s: float,
    seeds: Sequence[int],
) -> list[xr.Dataset]:
    """Let a circuit learn from each of ``seeds``, and compare it with the exact solution."""
    settings, centred = task.settings, data.centred()
    circuit = settings.make_circuit(k=settings.k, s=s, ridge=settings.ridge, seed=seeds[0])
    runs = task.run(
        circuit, data.X, data.Y, seeds, epochs=settings.epochs, centre=True, record=(), snapshots=2
    )
    weights = [{name: getattr(run, name) for name in ("Vx", "Vy", "Q", "R")} for run in runs]
    return [
        compare(learned, centred, exact[s])
        .assign(seconds=run.data.attrs["seconds"])
        .assign_attrs(engine=run.data.attrs["engine"])
        for learned, run in zip(weights, runs, strict=True)
    ]


def compare(
    weights: Mapping[str, np.ndarray], data: Dataset, exact: analysis.ExactSolution
) -> xr.Dataset:
    """Compare a circuit with weights Vx, Vy, Q, R with the exact solution, on centred data."""
    audit = analysis.audit_plateau(data.X, data.Y, **weights, ridge=exact.ridge)
    eigenvalues = np.linalg.eigvalsh(weights["Q"] @ weights["Q"].T)[::-1]
    expected = exact.eigenvalues[: len(eigenvalues)]
    return xr.Dataset(
        {
            "excess": exact.excess(weights["Vx"]),
            "whitening_error": exact.whitening_error(weights["Vx"]),
            "eigenvalues_QQ": ("component", eigenvalues),
            "eigenvalues_M": ("component", expected),
            "eigenvalue_deviation": ("component", eigenvalues / expected - 1),
            "plateau_relative_error": ("pyramidal", audit.plateau_and_error.relative_error),
            "plateau": (("row", "pyramidal"), audit.plateau),
            "error": (("row", "pyramidal"), audit.error),
        },
        coords={"component": range(1, len(eigenvalues) + 1)},
    )


def record_rule(task: Task, data: Dataset, s: float) -> dict[str, float]:
    """Fit the distal rule to the changes of all distal synapses in the first samples of a
    circuit.
    """
    from biorrr.analysis.laws import fit_distal_rule

    settings = task.settings
    circuit = settings.make_circuit(k=settings.k, s=s, ridge=settings.ridge, seed=settings.seed)
    order = np.random.default_rng(settings.seed).integers(len(data.X), size=RECORDED_SAMPLES)
    recorded = ("y", "z", "a", "Vy")
    run = task.run(
        circuit, data.X, data.Y, order=order, record=recorded, every=1, snapshots=1, centre=True
    )
    Vy = run.data["Vy_trace"].values.reshape(RECORDED_SAMPLES, data.Y.shape[1], settings.k)
    y, z, a, eta = (run.data[name].values for name in ("y", "z", "a", "eta_y"))
    exact = {"own_current_exact": s, "decay_exact": 1 - s + s * settings.ridge}
    return fit_distal_rule(y, z, a, Vy, eta) | exact


def rule_deviation(results: xr.Dataset) -> float:
    """Return the deviation of a coefficient of the distal rule that is farthest from 0, with its
    sign.
    """
    return farthest(
        xr.concat(
            [results[name] - results[f"{name}_exact"] for name in ("own_current", "decay")], "of"
        )
    )


def summary(results: xr.Dataset) -> list[Quantity]:
    """Return the worst of all s and seeds."""
    return [
        Quantity("excess_max", results["excess"].max(), PERCENT),
        Quantity("whitening_error_max", results["whitening_error"].max()),
        Quantity("eigenvalue_deviation", farthest(results["eigenvalue_deviation"]), PERCENT),
        Quantity("plateau_relative_error_max", results["plateau_relative_error"].max(), PERCENT),
        Quantity("distal_rule_deviation", rule_deviation(results)),
        Quantity("distal_rule_unexplained_max", results["unexplained"].max()),
    ]


def in_words(one: xr.Dataset) -> dict[str, str]:
    """Return the worst of all seeds and neurons at one s, and the distal rule, by their words in
    the table.
    """
    worst = {quantity.name: quantity.text for quantity in summary(one)}
    own_current = round(one["own_current"].item(), 9) + 0.0  # without rounding errors
    return {
        "excess": worst["excess_max"],
        "whitening error": worst["whitening_error_max"],
        "eigenvalues off by": worst["eigenvalue_deviation"],
        "plateau off by": worst["plateau_relative_error_max"],
        "distal rule": f"yz' - {readable(own_current)} ya' - {readable(one['decay'].item())} Vy",
    }


def judge(results: xr.Dataset, unjudged: str, **about: Any) -> Iterator[Claim]:
    """Judge what the paper says of each member of the family."""
    for s in results["s"].values:
        one: Any = results.sel(s=s)
        about["s"] = float(s)
        over: Any = partial(Claim.over_seeds, unjudged=unjudged, **about)
        yield over(
            one["excess"].values,
            low=-1e-9,
            high=EXCESS,
            unit=PERCENT,
            text=(
                "we derive novel algorithms for a family of RRR problems, which include RRMSE"
                " and CCA"
            ),
            place=(
                'Sec. 1, "Introduction", Contributions; Sec. 3.2, "Parametrizing the projection'
                ' matrix"'
            ),
            run="excess of the circuit over the optimum at this s",
        )
        yield over(one["whitening_error"].values, text=WHITE, place=WHITE_PLACE, high=WHITENING)
        yield over(
            [farthest(seed) for seed in one["eigenvalue_deviation"]],
            low=-EIGENVALUES,
            high=EIGENVALUES,
            unit=PERCENT,
            text="the eigenvalues of QQ' are the k largest of M",
            place='supplement C, "Saturation of the Bio-RRR inequality constraint"',
        )
        worst = one["plateau_relative_error"].max("pyramidal").values
        run = "the interpretation holds for any s"
        yield over(worst, text=PLATEAU, place=PLACE, high=TOLERATED, unit=PERCENT, run=run)
        yield Claim(
            text=(
                "the update rule for Vy linearly interpolates between these two cases and remains"
                " local"
            ),
            place='Sec. 5.1, "Neural circuit"',
            value=rule_deviation(one),
            low=-COEFFICIENTS,
            high=COEFFICIENTS,
            run=(
                "coefficients of y a' and Vy, fitted to recorded changes of all distal synapses in"
                f" {RECORDED_SAMPLES} samples, beside s and 1 - s (plus s ridge): deviation"
            ),
            numbers={"share of the changes left unexplained": one["unexplained"].item()},
            **about,
        )
