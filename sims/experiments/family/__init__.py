"""Follow the family of circuits from RRMSE (s = 0) to CCA (s = 1), learned beside exact.

At every s: excess over the optimum, whitening, eigenvalues of QQ' beside those of M, the plateau of the first neuron
beside the back-propagated error, and the distal rule, whose coefficients are fitted to the recorded changes
of all distal synapses in a few hundred samples. Data are centred.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.experiments.family.comparison import RECORDED_SAMPLES, compare, in_words, judge, summary
from biorrr.sims.lab import Chart, Figure, Findings, Job, Lab, Quantity, View, experiment
from biorrr.sims.lab.checks import check_rank, default_ridge
from biorrr.sims.lab.settings import option, seeds_option
from biorrr.sims.lab.training import CONVERGED_SAMPLES, FamilySettings
from biorrr.sims.lazy import analysis, circuits, data_sets, np

RECORDED = ("y", "z", "a", "Vy")


@dataclass(frozen=True, kw_only=True)
class FamilyExperimentSettings(FamilySettings):
    """Settings of ``biorrr family``."""

    s: tuple[float, ...] = option(
        (0.0, 0.25, 0.5, 0.75, 1.0), "0 is RRMSE, 1 is CCA; may be repeated", short="s", at_least=0, at_most=1
    )
    seeds: int = seeds_option(3)


@dataclass(frozen=True)
class Learner:
    """A circuit that learns with one s, from one seed."""

    s: float
    seed: int


@dataclass(frozen=True)
class Recording:
    """A circuit whose distal plasticity is recorded from its first sample on."""

    s: float


CAPTIONS = {
    "family": "The family between RRMSE (s = 0) and CCA (s = 1). Above: the plateau of the first neuron (black) on the "
    "back-propagated error (grey), at three values of s. Below, against s: eigenvalues of QQ' (dots, one per seed) on "
    "those of M (dashed); excess over the optimum; relative r.m.s. error of the plateau, one dot per neuron and seed; "
    "and the coefficients of the distal rule as fitted to recorded changes (dots), on s and 1 - s + s ridge (dashed)."
}
CHART =     Chart(
        "The family between RRMSE and CCA",
        (
            View(
                "eigenvalue",
                {"eigenvalues_QQ": "QQ′", "eigenvalues_M": "M"},
                {"s": "s"},
                along=("s",),
                repeats=("seed",),
                theory=("eigenvalues_M",),
                log="y",
            ),
            View("excess over the optimum (relative)", {"excess": ""}, {"s": "s"}, ("s",), ("seed",), log="y"),
            View(
                "relative r.m.s. error of the plateau", {"plateau_relative_error": ""}, {"s": "s"}, ("s",),
                ("seed", "pyramidal"), log="y",
            ),
            View(
                "coefficient of the distal rule",
                {
                    "own_current": "the cell’s own current", "own_current_exact": "s",
                    "decay": "decay", "decay_exact": "1 − s + s ridge",
                },
                {"s": "s"},
                along=("s",),
                theory=("own_current_exact", "decay_exact"),
                log="",
            ),
        ),
)  # fmt: skip


@experiment(
    shows="one circuit learns every member of the family between RRMSE and CCA",
    takes="24 s",
    paper='Sec. 3.2, "Parametrizing the projection matrix"; Sec. 5.1, "Neural circuit"',
    measure="excess_max",
    captions=CAPTIONS,
    charts=(CHART,),
    small={
        "data": "synthetic:samples=60,m=6,n=5,latents=2",
        "s": (0.0, 0.4),
        "epochs": 1,
        "seeds": 1,
        "engine": "numpy",
    },
)
def family(lab: Lab, settings: FamilyExperimentSettings) -> Findings:
    """Let circuits learn at every s, record their distal plasticity, and compare them with the exact solution."""
    from biorrr.analysis.figures.family import plot_family

    settings = lab.set(s=tuple(dict.fromkeys(settings.s)))
    data = lab.load(settings.data)
    check_rank(settings.k, data)
    settings = lab.fill_in(ridge=default_ridge(data), epochs=-(-CONVERGED_SAMPLES // len(data.X)))
    solutions = {s: analysis.Yardstick(*data.stand_in, s, settings.ridge) for s in settings.s}

    learners = [Learner(s, seed) for s in settings.s for seed in settings.every_seed]
    found = lab.map(simulate, [*learners, *map(Recording, settings.s)], data)

    runs: list[circuits.Run] = [found[one] for one in learners]
    weights = {s: [weights_of(found[Learner(s, seed)]) for seed in settings.every_seed] for s in settings.s}
    results = compare(settings, data, solutions, weights, {s: found[Recording(s)] for s in settings.s})
    quantities = {one.name: one for one in summary(results)}
    samples = runs[0].samples
    return Findings(
        title=f"{data.name}: {settings.k} neurons, {settings.seeds} seeds, {samples:,} samples; data are centred; the "
        "worst of all seeds and neurons",
        quantities=[
            Quantity("data", data.name),
            Quantity("k", settings.k),
            Quantity("s", settings.s[0] if len(settings.s) == 1 else ", ".join(f"{s:g}" for s in settings.s)),
            Quantity("ridge", settings.ridge),
            Quantity("seeds", settings.seeds),
            *quantities.values(),
            Quantity("samples", samples),
            Quantity("engine", runs[0].data.attrs["engine"]),
            Quantity("seconds", sum(run.data.attrs["seconds"] for run in runs), "s"),
        ],
        rows={f"s = {s:g}": in_words(results.sel(s=s)) for s in settings.s},
        data={"run": results},
        figures=[Figure("family", partial(plot_family, results))],
        claims=judge(settings, data, quantities),
    )


def simulate(job: Job, item: Learner | Recording, data: data_sets.Dataset) -> circuits.Run | dict[str, Any]:
    """Let a circuit learn, or fit the distal rule to the changes in its first samples."""
    from biorrr.analysis.distal.rule import fit_distal_rule

    settings = job.settings
    seed = item.seed if isinstance(item, Learner) else settings.seed
    circuit = settings.make_circuit(k=settings.k, s=item.s, ridge=settings.ridge, seed=seed)
    if isinstance(item, Learner):
        return job.run(circuit, data.X, data.Y, epochs=settings.epochs, centre=True, record=(), snapshots=2)
    order = np.random.default_rng(seed).integers(len(data.X), size=RECORDED_SAMPLES)
    run = job.run(circuit, data.X, data.Y, order=order, record=RECORDED, every=1, snapshots=1, centre=True)
    Vy = run.data["Vy_trace"].values.reshape(RECORDED_SAMPLES, data.Y.shape[1], settings.k)
    y, z, a, eta = (run.data[name].values for name in ("y", "z", "a", "eta_y"))
    rule = fit_distal_rule(y, z, a, Vy, eta)
    return {"own_current": rule.own_current, "decay": rule.decay, "unexplained": rule.unexplained}


def weights_of(run: circuits.Run) -> dict[str, np.ndarray]:
    """Return Vx, Vy, Q and R after learning, by name."""
    return {name: getattr(run, name) for name in ("Vx", "Vy", "Q", "R")}
