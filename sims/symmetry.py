"""``biorrr symmetry``: R and Q from unrelated starts, and how they find each other (supplement D)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.checkpoints import NOT_KEPT, Checkpoints
from biorrr.sims.claims import Claim, print_claims
from biorrr.sims.folder import RunFolder
from biorrr.sims.learn import fit
from biorrr.sims.measured import Measured
from biorrr.sims.settings import Settings, checkpoint_option, config_text, option
from biorrr.sims.table import print_table

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from biorrr.analysis import Yardstick
    from biorrr.models import Rates
    from biorrr.sims.data import Dataset

MEASURE = "relative_error_max"  # what a sweep draws
SNAPSHOTS = 60
UNEQUAL = (0.25, 0.5, 2.0, 4.0)  # rate of R over that of Q
SMALLEST_RATIO = 1e-8  # of ||Q' - R|| to its start: the theory is held to TOLERANCE down to here, and seen to go on
TOLERANCE = 1e-6
# Rates of Vx and Vy, over what would undo a typical error in one sample. Proximal learning is stable below 2.
PROXIMAL, HASTY_PROXIMAL, DISTAL = 0.2, 1.0, 0.01


@dataclass(frozen=True, kw_only=True)
class SymmetrySettings(Settings):
    """What can be set of ``biorrr symmetry``."""

    data: str = option("digits", "a name that `biorrr data` lists, an .npz or .mat file with X and Y, or x.csv,y.csv")
    k: int = option(2, "pyramidal neurons, and as many interneurons", short="k", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    etas: tuple[float, ...] = option(
        (0.001, 0.003, 0.01, 0.03), "rates eta/tau of Q and R; may be repeated", at_least=1e-5, at_most=0.5
    )
    ridge: float = option(0.0, "added to Cxx and Cyy", at_least=0)
    engine: str = option("auto", "what simulates the circuit", choices=("auto", "numpy", "cython", "cpp"))
    seed: int = option(0, "of the initial weights and the order of samples", at_least=0)
    seeds: int = option(8, "starts of each kind, from --seed on", at_least=1)
    format: str = option("png", "of the figures", choices=("png", "pdf", "svg"))
    checkpoint: float = checkpoint_option()


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


def symmetry(settings: SymmetrySettings, folder: RunFolder, data: Dataset | None = None) -> Measured:
    """Show how the interneurons' two sets of weights, Q and R, find each other.

    From unrelated starts ||Q' - R|| falls as (1 - eta/tau)^T: measured against that for several eta/tau, for rates of R
    and Q that differ, and from starts where QR has a negative eigenvalue. Data are centred.
    """
    from biorrr.analysis.meeting import plot_meeting
    from biorrr.sims.data import load

    data = data or load(settings.data)
    settings, yardstick = fit(with_engine(settings), data)
    origin = experiment.provenance("symmetry", data_sha256=data.checksum)
    with folder.opened(config_text(settings, origin)):
        results = meetings(settings, data, yardstick, Checkpoints.of(folder, settings.checkpoint))

    folder.write_results(results)
    numbers, claims = conclude(settings, data, results)
    axes = plot_meeting(
        equal=dict(zip(settings.etas, courses(results, "equal", "ratio"), strict=True)),
        unequal=dict(zip(UNEQUAL, courses(results, "unequal", "ratio"), strict=True)),
        runaway={
            "eigenvalues of $QR > 0$": courses(results, "hasty", "power")[0],
            "some $< 0$": courses(results, "hasty negative", "power")[0],
        },
        eta_unequal=middle(settings.etas),
        eta_runaway=min(settings.etas),
    )
    folder.write_figure("symmetry", settings.format, axes)
    folder.write_summary(numbers, claims)
    print_table(
        f"{data.name}: ||Q' - R|| from {settings.seeds} starts of each kind; data are centred",
        {
            f"eta/tau = {eta:g}": f"theory to {numbers[f'relative_error_{eta:g}']:.1g}; output power peaks at "
            f"{numbers[f'equal_peak_power_{eta:g}']:.3g}, or {numbers[f'negative_peak_power_{eta:g}']:.3g} where QR "
            "has a negative eigenvalue"
            for eta in settings.etas
        }
        | {
            f"rate of R {factor:g} times Q's": f"ends at {numbers[f'unequal_final_ratio_{factor:g}']:.1g} of "
            f"its start; {numbers[f'unequal_diverged_{factor:g}']} runs diverged"
            for factor in UNEQUAL
        }
        | {"written to": folder.path},
    )
    print_claims(claims)
    return Measured(numbers, curves(settings, results))


def measure(settings: SymmetrySettings, data: Dataset) -> Measured:
    """What is found without leaving a folder behind: a point of a sweep."""
    settings, yardstick = fit(with_engine(settings), data)
    results = meetings(settings, data, yardstick, NOT_KEPT)
    return Measured(conclude(settings, data, results)[0], curves(settings, results))


def with_engine(settings: SymmetrySettings) -> SymmetrySettings:
    """Settle what "auto" means: each run is short, but there are many of the same circuit."""
    from biorrr.circuit.compiler import find_compiler

    if settings.engine != "auto":
        return settings
    return replace(settings, engine="cpp" if find_compiler() else "numpy")


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


def meetings(settings: SymmetrySettings, data: Dataset, yardstick: Yardstick, checkpoints: Checkpoints) -> xr.Dataset:
    """Run every condition from every start.

    Returns, each (condition, start, snapshot): samples seen, ||Q' - R|| over its start as measured and as predicted,
    the rounding error to expect in it, and the mean power |z|^2 of the output; NaN after a divergence.
    """
    import numpy as np
    import xarray as xr

    from biorrr.analysis import symmetry_decay
    from biorrr.circuit import Diverged, Microcircuit

    tried = conditions(settings)
    shape = (len(tried), settings.seeds, SNAPSHOTS + 1)
    filled = {name: np.full(shape, np.nan) for name in ("seen", "ratio", "predicted", "rounding", "power")}
    diverged = np.zeros(shape[:2], dtype=int)
    X = data.centred().X
    circuit = Microcircuit(settings.k, settings.s, ridge=settings.ridge, engine=settings.engine)
    for i, condition in enumerate(tried):
        circuit.rates = rates(settings, data, yardstick, condition)
        for j in range(settings.seeds):
            circuit.seed = settings.seed + j
            circuit.initial |= start(circuit.seed, settings.k, yardstick, negative="negative" in condition.kind)
            order = np.random.default_rng(circuit.seed).integers(len(X), size=condition.samples)
            try:
                run = circuit.run(
                    data.X, data.Y, order=order, record=(), snapshots=SNAPSHOTS, centre=True, progress=False,
                    **checkpoints.run_options(f"condition-{i}-seed-{circuit.seed}"),
                )  # fmt: skip
            except Diverged as error:
                run, diverged[i, j] = error.run, 1
            if run.ended == "interrupted":
                raise KeyboardInterrupt
            weights = run.data
            decay = symmetry_decay(weights["Q"], weights["R"], weights["seen"], condition.eta_q)
            kept = {
                "seen": decay.samples,
                "ratio": decay.measured / decay.measured[0],
                "predicted": decay.predicted / decay.measured[0],
                "rounding": decay.rounding / decay.measured[0],
                "power": np.square(X @ weights["Vx"].values).mean(axis=1).sum(axis=1),
            }
            for name, values in kept.items():
                filled[name][i, j, : len(values)] = values
    return xr.Dataset(
        {name: (("condition", "start", "snapshot"), values) for name, values in filled.items()}
        | {"diverged": (("condition", "start"), diverged)},
        coords={
            "kind": ("condition", [condition.kind for condition in tried]),
            "eta_q": ("condition", [condition.eta_q for condition in tried]),
            "eta_r": ("condition", [condition.eta_r for condition in tried]),
            "start": range(settings.seed, settings.seed + settings.seeds),
        },
    )


def rates(settings: SymmetrySettings, data: Dataset, yardstick: Yardstick, condition: Condition) -> Rates:
    """Constant rates: of Q and R as the condition says, of Vx and Vy to suit the scale of the data."""
    from biorrr.models import Rate, Rates

    power_x, power_y = data.X.var(axis=0).sum(), data.Y.var(axis=0).sum()
    return Rates(
        x=Rate(condition.proximal / (power_x * -yardstick.optimum(settings.k))),
        y=Rate(DISTAL / (1 - settings.s + settings.s * power_y)),
        q=Rate(condition.eta_q),
        r=Rate(condition.eta_r),
    )


def start(seed: int, k: int, yardstick: Yardstick, negative: bool) -> dict[str, np.ndarray]:
    """Draw unrelated Q and R, (k, k), of the size that Q has at the optimum.

    Pairs are drawn until QR has an eigenvalue with negative real part, or until it has none.
    """
    import numpy as np

    rng = np.random.default_rng([seed, k])
    size = math.sqrt(-yardstick.optimum(k)) / k
    while True:
        Q, R = size * rng.standard_normal((2, k, k))
        if (np.linalg.eigvals(Q @ R).real.min() < 0) == negative:
            return {"Q": Q, "R": R}


def conclude(settings: SymmetrySettings, data: Dataset, results: xr.Dataset) -> tuple[dict[str, Any], list[Claim]]:
    """Final numbers, and what they say of the paper's claims."""
    import numpy as np

    numbers: dict[str, Any] = {"data": data.name, "k": settings.k, "s": settings.s, "starts": settings.seeds}
    error = abs(results["ratio"] / results["predicted"] - 1).where(results["ratio"] > SMALLEST_RATIO)
    # A run that diverges has weights so large that their difference is nothing but rounding error.
    resolved = error.where(results["predicted"] > results["rounding"])
    for eta in settings.etas:
        equal, negative = ((results["kind"] == kind) & (results["eta_q"] == eta) for kind in ("equal", "negative"))
        numbers[f"relative_error_{eta:g}"] = float(error[equal].max())
        numbers[f"negative_relative_error_{eta:g}"] = float(resolved[negative].max())
        numbers[f"equal_peak_power_{eta:g}"] = float(results["power"][equal].max("snapshot").median())
        numbers[f"negative_peak_power_{eta:g}"] = float(results["power"][negative].max("snapshot").median())
    for factor in UNEQUAL:
        chosen = (results["kind"] == "unequal") & np.isclose(results["eta_r"], factor * results["eta_q"])
        courses = results["ratio"][chosen].values[0]
        numbers[f"unequal_final_ratio_{factor:g}"] = float(np.median([one[np.isfinite(one)][-1] for one in courses]))
        numbers[f"unequal_diverged_{factor:g}"] = int(results["diverged"][chosen].sum())
    lost = {
        kind: int(results["diverged"][results["kind"] == kind].sum())
        for kind in ("equal", "negative", "hasty", "hasty negative")
    }
    numbers |= {f"{kind.replace(' ', '_')}_diverged": count for kind, count in lost.items()} | {
        "engine": settings.engine
    }
    worst = numbers["relative_error_max"] = max(numbers[f"relative_error_{eta:g}"] for eta in settings.etas)
    runs = settings.seeds * len(settings.etas)
    unrelated = "R needs no relation to Q at the start, not even that QR has no negative eigenvalue"
    return numbers, [
        Claim(
            f"||Q' - R|| falls as (1 - eta/tau)^T, here to {TOLERANCE:g} down to {SMALLEST_RATIO:g} of its start",
            worst < TOLERANCE and lost["equal"] == 0,
            {"largest relative error": worst, "runs": runs, "diverged": lost["equal"]},
        ),
        Claim(
            unrelated,
            lost["negative"] == 0,
            {"runs": runs, "diverged": lost["negative"]},
        ),
        Claim(
            f"{unrelated}, with proximal plasticity {HASTY_PROXIMAL / PROXIMAL:g} times as fast",
            lost["hasty negative"] == 0,
            {
                "runs": settings.seeds,
                "diverged": lost["hasty negative"],
                "diverged without a negative eigenvalue": lost["hasty"],
            },
        ),
    ]


def courses(results: xr.Dataset, kind: str, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Samples seen and values of ``name``, each (start, snapshot), for every condition of a kind."""
    chosen = results.isel(condition=results["kind"].values == kind)
    return list(zip(chosen["seen"].values, chosen[name].values, strict=True))


def curves(settings: SymmetrySettings, results: xr.Dataset) -> dict[str, tuple[Any, Any]]:
    """||Q' - R|| over its start, at equal rates from the first start, and what theory says of it."""
    import numpy as np

    equal = results.isel(condition=int(np.argmax(results["kind"].values == "equal")), start=0)
    known = np.isfinite(equal["seen"].values)
    return {name: (equal["seen"].values[known], equal[name].values[known]) for name in ("ratio", "predicted")}


command = experiment.command(SymmetrySettings, symmetry)
