"""Show how the interneurons' two sets of weights, Q and R, find each other.

From unrelated starts ||Q' - R|| falls as (1 - eta/tau)^T: measured against that for several eta/tau. Tests of our own,
of which the paper says nothing: rates of R and Q that differ, and whether circuits run away from starts where QR has a
negative eigenvalue, with proximal plasticity as usual and faster. Data are centred.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import Samples
from biorrr.sims.experiment import Datasets, Experiment, Findings, Found, Problem
from biorrr.sims.lab.circuits import compiled_if_possible, completed
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, ExperimentSettings, option, seeds_option
from biorrr.sims.lazy import analysis, circuits, models, np, xr
from biorrr.sims.page.views import SEEN, Chart, View

SNAPSHOTS = 60
UNEQUAL = (0.25, 0.5, 2.0, 4.0)  # rate of R over that of Q
SMALLEST_RATIO = 1e-8  # of ||Q' - R|| to its start: the theory is held to TOLERANCE down to here, and seen to go on
TOLERANCE = 1e-6  # of what is measured over what is predicted, on both sides of 1
PLACE = 'supplement D, "Decoupling the interneuron synapses"'
# Rates of Vx and Vy, over what would undo a typical error in one sample. Proximal learning is stable below 2.
PROXIMAL, HASTY_PROXIMAL, DISTAL = 0.2, 1.0, 0.01


@dataclass(frozen=True, kw_only=True)
class SymmetrySettings(ExperimentSettings):
    """What can be set of ``biorrr symmetry``."""

    data: Samples = option("digits", DATA_HELP, metavar=DATA_FORM)
    k: int = option(2, "pyramidal neurons, and as many interneurons", short="k", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    etas: tuple[float, ...] = option(
        (0.001, 0.003, 0.01, 0.03), "rates eta/tau of Q and R; may be repeated", at_least=1e-5, at_most=0.5
    )
    ridge: float = option(0.0, "added to Cxx and Cyy", at_least=0)
    seeds: int = seeds_option(8)


@dataclass(frozen=True)
class Condition:
    """What is tried from every start.

    Parameters
    ----------
    kind
        "equal" rates of Q and R; "unequal" ones, where the theory promises nothing; "negative", equal rates from
        starts where QR has a negative eigenvalue: inhibition then excites, and activity runs away until R meets Q';
        "hasty" and "hasty negative", the same with fast proximal learning, which gives a runaway less time.
    eta_q, eta_r
        Rates of Q and R.
    """

    kind: str
    eta_q: float
    eta_r: float

    @property
    def samples(self) -> int:
        """How long: until the ratio has fallen a little below what is tested."""
        return math.ceil(math.log(0.1 * SMALLEST_RATIO) / math.log1p(-min(self.eta_q, self.eta_r)))

    @property
    def proximal(self) -> float:
        """Rate of Vx, relative."""
        return HASTY_PROXIMAL if "hasty" in self.kind else PROXIMAL


class Symmetry(Experiment[SymmetrySettings]):
    """``biorrr symmetry``: R and Q from unrelated starts, and how they find each other (supplement D)."""

    settings = SymmetrySettings
    shows = "R finds Q' at the predicted rate, from unrelated starts"
    takes = "9 s"
    paper = PLACE
    measure = "relative_error_max"
    figures = {
        "symmetry": "How the weights R, from pyramidal cells to interneurons, find the transpose of Q, the weights "
        "back, though both start at random and neither sees the other. Left: distance between the two, over its "
        "start, at several learning rates and from several starts each (dots); the theory (dashed) has no free "
        "parameter, and the dots should lie on it. Middle: the same where R learns faster or slower than Q; the theory "
        "is for equal rates and promises nothing here. Right: mean power of the output where proximal synapses learn "
        "fast. From starts at which QR has a negative eigenvalue inhibition excites at first, and activity grows until "
        "R has met the transpose of Q; a cross marks a run that was too late and diverged."
    }
    charts = (
        Chart(
            "R and Q′ find each other",
            (
                View(
                    "‖Q′ − R‖ over its start",
                    {"ratio": "measured", "predicted": "theory"},
                    SEEN,
                    repeats=("start",),
                    choose=("kind",),
                    theory=("predicted",),
                    log="y",
                ),
                View("|measured / theory − 1|", {"departure": ""}, SEEN, repeats=("start",), choose=("kind",), log="y"),
                View("output power |z|²", {"power": ""}, SEEN, repeats=("start",), choose=("kind",), log="y"),
            ),
            "Theory: the start times (1 − η)^T, with the rate of Q. For unequal rates it promises nothing.",
        ),
    )

    def check(self, settings: SymmetrySettings) -> SymmetrySettings:
        """Settle what engine "auto" means: each run is short, but there are many of the same circuit."""
        return replace(settings, engine=compiled_if_possible(settings.engine))

    def parts(self, problem: Problem[SymmetrySettings], found: Found) -> dict[str, Any]:
        """Every condition from every start."""
        return {
            f"condition-{i}-seed-{seed}": (condition, seed)
            for i, condition in enumerate(conditions(problem.settings))
            for seed in problem.settings.every_seed
        }

    def run_part(
        self, problem: Problem[SymmetrySettings], part: Any, options: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        """Follow one circuit under one condition.

        Returns, each (snapshot,): samples seen, ||Q' - R|| over its start as measured and as predicted, the rounding
        error to expect in it, and the mean power |z|^2 of the output; and whether it diverged.
        """
        condition, seed = part
        settings, data = problem.settings, problem.data
        start = unrelated(seed, settings.k, problem.exact, negative="negative" in condition.kind)
        circuit = settings.make_circuit(
            k=settings.k, s=settings.s, ridge=settings.ridge, rates=rates(problem, condition), seed=seed, **start
        )
        order = np.random.default_rng(seed).integers(len(data.X), size=condition.samples)
        diverged = 0
        try:
            run = circuit.run(data.X, data.Y, order=order, record=(), snapshots=SNAPSHOTS, centre=True, **options)
        except circuits.Diverged as error:
            run, diverged = error.run, 1
        weights = completed(run).data
        with np.errstate(over="ignore"):  # of a circuit that has diverged
            power = np.square(data.centred().X @ weights["Vx"].values).mean(axis=1).sum(axis=1)
        decay = analysis.symmetry_decay(weights["Q"], weights["R"], weights["seen"], condition.eta_q)
        return {
            "seen": decay.samples,
            "ratio": decay.measured / decay.measured[0],
            "predicted": decay.predicted / decay.measured[0],
            "rounding": decay.rounding / decay.measured[0],
            "power": power,
            "diverged": np.array(diverged),
        }

    def conclude(self, problem: Problem[SymmetrySettings], found: Found) -> Findings:
        """Compare with theory, and check the paper's claims."""
        from biorrr.analysis.figures.symmetry import plot_meeting

        settings, data = problem.settings, problem.data
        results = join(settings, found)
        numbers = {"data": data.name, "k": settings.k, "s": settings.s, "starts": settings.seeds}
        numbers |= summary(settings, results)
        figure = partial(
            plot_meeting,
            equal=dict(zip(settings.etas, courses(results, "equal", "ratio"), strict=True)),
            unequal=dict(zip(UNEQUAL, courses(results, "unequal", "ratio"), strict=True)),
            runaway={
                "eigenvalues of $QR > 0$": courses(results, "hasty", "power")[0],
                "some $< 0$": courses(results, "hasty negative", "power")[0],
            },
            eta_unequal=middle(settings.etas),
            eta_runaway=min(settings.etas),
        )
        rows = {
            f"eta/tau = {eta:g}": f"theory to {numbers[f'relative_error_{eta:g}']:.1g}; output power peaks at "
            f"{numbers[f'equal_peak_power_{eta:g}']:.3g}, or {numbers[f'negative_peak_power_{eta:g}']:.3g} where QR "
            "has a negative eigenvalue"
            for eta in settings.etas
        } | {
            f"rate of R {factor:g} times Q's": f"ends at {numbers[f'unequal_final_ratio_{factor:g}']:.1g} of "
            f"its start; {numbers[f'unequal_diverged_{factor:g}']} runs diverged"
            for factor in UNEQUAL
        }
        return Findings(
            numbers=numbers,
            title=f"{data.name}: ||Q' - R|| from {settings.seeds} starts of each kind; data are centred",
            rows=rows,
            results={"run": results},
            figures={"symmetry": figure},
            claims=check_claims(settings, numbers),
            own_tests=stress(settings, numbers),
            curves=curves(results),
        )

    def page_results(self, results: Datasets, exact: analysis.Yardstick | None) -> Datasets:
        """Conditions named by their rates, and how far what was measured departs from theory."""
        dataset = results["run"]
        if "ratio" not in dataset:
            return results
        pairs = zip(dataset["eta_q"].values, dataset["eta_r"].values, strict=True)
        rates = [f"η/τ {q:g}" if q == r else f"η/τ of Q {q:g}, of R {r:g}" for q, r in pairs]
        named = dataset.assign_coords(rates=("condition", rates)).drop_vars(["eta_q", "eta_r"])
        return {"run": named.assign(departure=abs(named["ratio"] / named["predicted"] - 1))}


def conditions(settings: SymmetrySettings) -> list[Condition]:
    """List what to try."""
    usual, slowest = middle(settings.etas), min(settings.etas)
    return [
        *(Condition(kind, eta, eta) for kind in ("equal", "negative") for eta in settings.etas),
        *(Condition("unequal", usual, factor * usual) for factor in UNEQUAL),
        *(Condition(kind, slowest, slowest) for kind in ("hasty", "hasty negative")),
    ]


def middle(etas: tuple[float, ...]) -> float:
    """Pick the rate of Q for trials of unequal rates."""
    return sorted(etas)[len(etas) // 2]


def join(settings: SymmetrySettings, found: Mapping[str, Mapping[str, np.ndarray]]) -> xr.Dataset:
    """What all parts have found, each (condition, start, snapshot), NaN after a divergence."""
    tried = conditions(settings)
    shape = (len(tried), settings.seeds, SNAPSHOTS + 1)
    filled = {name: np.full(shape, np.nan) for name in ("seen", "ratio", "predicted", "rounding", "power")}
    diverged = np.zeros(shape[:2], dtype=int)
    for place, part in zip(np.ndindex(shape[:2]), found.values(), strict=True):
        diverged[place] = part["diverged"]
        for name, values in filled.items():
            values[place][: len(part[name])] = part[name]
    return xr.Dataset(
        {name: (("condition", "start", "snapshot"), values) for name, values in filled.items()}
        | {"diverged": (("condition", "start"), diverged)},
        coords={
            "kind": ("condition", [condition.kind for condition in tried]),
            "eta_q": ("condition", [condition.eta_q for condition in tried]),
            "eta_r": ("condition", [condition.eta_r for condition in tried]),
            "start": list(settings.every_seed),
        },
    )


def rates(problem: Problem[SymmetrySettings], condition: Condition) -> models.Rates:
    """Constant rates: of Q and R as the condition says, of Vx and Vy to suit the scale of the data."""
    settings, data = problem.settings, problem.data
    power_x, power_y = data.X.var(axis=0).sum(), data.Y.var(axis=0).sum()
    return models.Rates(
        x=models.Rate(condition.proximal / (power_x * -problem.exact.optimum(settings.k))),
        y=models.Rate(DISTAL / (1 - settings.s + settings.s * power_y)),
        q=models.Rate(condition.eta_q),
        r=models.Rate(condition.eta_r),
    )


def unrelated(seed: int, k: int, exact: analysis.Yardstick, negative: bool) -> dict[str, np.ndarray]:
    """Draw unrelated Q0 and R0, (k, k), of the size that Q has at the optimum.

    Pairs are drawn until QR has an eigenvalue with negative real part, or until it has none.
    """
    rng = np.random.default_rng([seed, k])
    size = math.sqrt(-exact.optimum(k)) / k
    while True:
        Q, R = size * rng.standard_normal((2, k, k))
        if (np.linalg.eigvals(Q @ R).real.min() < 0) == negative:
            return {"Q0": Q, "R0": R}


def summary(settings: SymmetrySettings, results: xr.Dataset) -> dict[str, Any]:
    """Final numbers: errors of the theory, peaks of the output's power, and how many runs diverged."""
    numbers: dict[str, Any] = {}
    error = (results["ratio"] / results["predicted"] - 1).where(results["predicted"] > SMALLEST_RATIO)
    # A run that diverges has weights so large that their difference is nothing but rounding error.
    resolved = error.where(results["predicted"] > results["rounding"])
    for eta in settings.etas:
        equal, negative = ((results["kind"] == kind) & (results["eta_q"] == eta) for kind in ("equal", "negative"))
        numbers[f"relative_error_{eta:g}"] = abs(farthest(error[equal]))
        numbers[f"negative_relative_error_{eta:g}"] = abs(farthest(resolved[negative]))
        numbers[f"equal_peak_power_{eta:g}"] = float(results["power"][equal].max("snapshot").median())
        numbers[f"negative_peak_power_{eta:g}"] = float(results["power"][negative].max("snapshot").median())
    for factor in UNEQUAL:
        chosen = (results["kind"] == "unequal") & np.isclose(results["eta_r"], factor * results["eta_q"])
        courses = results["ratio"][chosen].values[0]
        last = np.concatenate([one[np.isfinite(one)][-1:] for one in courses])
        numbers[f"unequal_final_ratio_{factor:g}"] = float(np.median(last)) if len(last) else math.nan
        numbers[f"unequal_diverged_{factor:g}"] = int(results["diverged"][chosen].sum())
    for kind in ("equal", "negative", "hasty", "hasty negative"):
        numbers[f"{kind.replace(' ', '_')}_diverged"] = int(results["diverged"][results["kind"] == kind].sum())
    # Starts with a negative eigenvalue are as unrelated as others, but one that runs away is none of the paper's.
    whole = resolved.where(results["diverged"] == 0)
    deviations = [farthest(error[results["kind"] == "equal"]), farthest(whole[results["kind"] == "negative"], 0.0)]
    deviation = max(deviations, key=lambda one: math.inf if math.isnan(one) else abs(one))
    return numbers | {"engine": settings.engine, "relative_error_max": abs(deviation), "deviation": deviation}


def farthest(deviations: xr.DataArray, of_none: float = math.nan) -> float:
    """The deviation that is farthest from 0, with its sign; ``of_none`` where none is known."""
    known = deviations.values[np.isfinite(deviations.values)]
    return float(known[np.argmax(np.abs(known))]) if len(known) else of_none


def check_claims(settings: SymmetrySettings, numbers: Mapping[str, Any]) -> list[Claim]:
    """What the supplement says, and whether it holds here."""
    runs = settings.seeds * len(settings.etas)
    return [
        Claim(
            text="from unrelated starts ||Q' - R|| falls as (1 - eta/tau)^T",
            place=PLACE,
            run=f"{numbers['data']}, {settings.k} neurons, {runs} starts without and {runs} with a negative eigenvalue "
            f"of QR, down to {SMALLEST_RATIO:g} of the start",
            value=math.nan if numbers["equal_diverged"] else numbers["deviation"],
            low=-TOLERANCE,
            high=TOLERANCE,
            numbers={"largest relative error": numbers["relative_error_max"], "diverged": numbers["equal_diverged"]},
        )
    ]


def stress(settings: SymmetrySettings, numbers: Mapping[str, Any]) -> list[Claim]:
    """Tests of our own: whether every unrelated start can be learned from."""
    runs = settings.seeds * len(settings.etas)
    anywhere = "no circuit runs away from a start where QR has a negative eigenvalue"
    return [
        Claim(
            text=anywhere,
            value=numbers["negative_diverged"],
            high=0,
            numbers={"runs": runs, "diverged": numbers["negative_diverged"]},
        ),
        Claim(
            text=f"{anywhere}, with proximal plasticity {HASTY_PROXIMAL / PROXIMAL:g} times as fast",
            value=numbers["hasty_negative_diverged"],
            high=0,
            numbers={
                "runs": settings.seeds,
                "diverged": numbers["hasty_negative_diverged"],
                "diverged without a negative eigenvalue": numbers["hasty_diverged"],
            },
        ),
    ]


def courses(results: xr.Dataset, kind: str, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Samples seen and values of ``name``, each (start, snapshot), for every condition of a kind."""
    chosen = results.isel(condition=results["kind"].values == kind)
    return list(zip(chosen["seen"].values, chosen[name].values, strict=True))


def curves(results: xr.Dataset) -> dict[str, tuple[Any, Any]]:
    """||Q' - R|| over its start, at equal rates from the first start, and what theory says of it."""
    equal = results.isel(condition=int(np.argmax(results["kind"].values == "equal")), start=0)
    known = np.isfinite(equal["seen"].values)
    return {name: (equal["seen"].values[known], equal[name].values[known]) for name in ("ratio", "predicted")}


EXPERIMENT = Symmetry()
