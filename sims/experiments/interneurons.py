"""Ask what interneurons are for: the paper's circuit beside direct inhibition, plateau = a - Mz.

Both learn at rates over two decades, and with inhibition from far slower to far faster than Vx, and
are compared with the linearised theory (biorrr.analysis.interneurons). Further: R faster or slower
than Q, fewer and more interneurons than outputs, and interneurons that fall silent. s = 0.
Inputs are the first principal components of x, white; y is scaled so that the eigenvalues of the
optimum have the mean 1. The table takes y as it is.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from biorrr.sims.data import Data, Synthetic
from biorrr.sims.lab import (
    PERCENT,
    BasicSettings,
    Claim,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    compiled_if_possible,
    completed,
    data_option,
    experiment,
    option,
    quantities,
)
from biorrr.sims.lazy import analysis, circuits, models, np, xr
from biorrr.sims.words import counted

INPUTS, TARGETS = 20, 12  # principal components of x; features of y in synthetic problems
JUDGED_SAMPLES = 100_000  # fewer are a first look
TOLERATED = 0.02  # excess with which a circuit counts as one that learns
RATIOS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
DIRECT = 0  # interneurons of direct inhibition
MADE = {"even": (1.1, 1.05, 0.95, 0.9, 0.3), "spread": (1.6, 1.0, 0.6, 0.35, 0.1)}  # gains
TABLE_GAINS = (2.5, 2.0, 1.5, 1.0)  # of the table; eigenvalues are about their squares
TABLE_RATES = {
    "x": ("column", (0.001, 0.003, 0.001, 0.0003)),
    "y": ("column", (1, 1 / 3, 1, 1)),  # relative to x, as q
    "q": ("column", (1, 1 / 3, 10, 10)),
}
Problems = Mapping[str, tuple[Any, Any]]  # X (n_samples, m) and Y (n_samples, n) by name


class InterneuronSettings(BasicSettings, seeds=20):
    """Settings of ``biorrr interneurons``."""

    data: tuple[Data, ...] = data_option(("digits",), "beside two synthetic problems")
    k: int = option(4, "pyramidal neurons", short="k", at_least=2)
    rates: tuple[float, ...] = option(
        (0.0001, 0.0003, 0.001, 0.003, 0.01), "rates of Vx and Vy; may be repeated", at_least=1e-6
    )
    ratios: tuple[float, ...] = option(
        RATIOS, "rates of inhibition, and of R, over others; may be repeated", at_least=1e-3
    )
    samples: int = option(200_000, "samples that each circuit sees", at_least=100)


CLAIMS = {  # text, lowest, highest; fixed before the runs
    "agreement": ("theory says at which rates a circuit learns", 0.85, 1.0),
    "excess_over_theory": ("where it learns, theory gives the excess", 0.7, 1.5),
    "decay_deviation": ("linear theory gives the decay of an oscillation", 0.0, 0.15),
    "frequency_deviation": ("linear theory gives its frequency", 0.0, 0.05),
    "unequal_agreement": ("R may be slower than Q, and faster as far as theory says", 0.85, 1.0),
    "more_difference": ("interneurons beyond k change nothing", 0.0, 1e-6),
    "least_share": ("with k - 1, each direction is inhibited as with k, on average", 0.8, 1.1),
    "largest_share": ("with k - 1, no direction is inhibited more than with k", 0.9, 1.2),
    "spared_variance": ("with k interneurons left, outputs become white again", 0.9, 1.1),
    "lost_variance": ("with fewer than k left, outputs stay larger", 1.3, math.inf),
}


@experiment(
    shows="[what interneurons are for](docs/interneurons.md): the rates that they tolerate",
    takes="3 min",
    paper="beyond it",
    measure="interneurons_tolerated",
    captions={
        "maps": (
            "Median excess over seeds of both circuits, against the rates of Vx and Vy and that of"
            " inhibition over them. By theory, pairs of outputs settle above the line, and the"
            " excess that noise keeps up is below 2 % at the dots. It is so measured at"
            " {interneurons_tolerated} of the pairs of rates with interneurons, and at"
            " {direct_tolerated} with direct inhibition."
        ),
        "theory": (
            "Left: decay and frequency of the slowest oscillation near the optimum, against theory,"
            " off it by {decay_deviation} and {frequency_deviation}, relative, in the median."
            " Middle: excess with R slower or faster than Q, filled where theory says that it is"
            " finite. Right: excess against the number of interneurons. Medians over seeds."
        ),
        "silence": (
            "Interneurons fall silent in a trained circuit that has twice as many as outputs. Bars"
            " are standard deviations over seeds. Runs whose outputs grow without bound are left"
            " out. After learning, the variance of outputs is {spared_variance} with as many"
            " interneurons left as there are outputs, and {lost_variance} with one fewer, medians"
            " over seeds."
        ),
    },
    small={
        "data": (Synthetic(samples=60, m=INPUTS, n=TARGETS, latents=3),),  # one compilation for all
        "k": 2,
        "rates": (0.003,),
        "ratios": (1.0, 10.0),
        "samples": 400,
        "seeds": 2,
    },
)
def interneurons(lab: Lab, settings: InterneuronSettings) -> Findings:
    """Compare inhibition by interneurons with direct inhibition, and both with theory."""
    from biorrr.analysis.figures import inhibition as figures

    settings = lab.set(engine=compiled_if_possible(settings.engine))  # short runs, but many
    k = settings.k
    loaded = [lab.load(value, k) for value in settings.data]
    problems = {data.name: in_units(data.X, data.Y, k) for data in loaded}
    problems |= {name: in_units(*planted(MADE[name], seed), k) for seed, name in enumerate(MADE)}
    every, tables = {"problem": [*problems]}, ("table 2", "table 3")
    both, grid = {"l": (k, DIRECT)}, {"x": settings.rates, "q": settings.ratios}
    values = [analysis.ExactSolution(X, Y).eigenvalues[:k] for X, Y in problems.values()]
    problems |= {name: planted(TABLE_GAINS, int(name[-1])) for name in tables}

    maps = lab.map(learn, every | both | grid, problems)
    maps = maps.assign(eigenvalues=(("problem", "component"), values))
    unequal = lab.map(learn, every | {"l": (k,), "r": settings.ratios}, problems)
    turns = lab.map(learn, every | {"l": range(1, 2 * k + 1), "y": (3.0,)}, problems)
    cases = {"y": ("case", (1.0, 1.0, 3.0, 10.0)), "q": ("case", (3.0, 10.0, 3.0, 3.0))}
    modes = lab.map(follow_oscillation, every | both | cases, problems)
    silence = lab.map(silence_cells, {"silent": range(2 * k + 1)}, problems[loaded[0].name])
    rows = {  # l, and the rate of R over that of Q
        "k interneurons": (k, 1.0),
        "2k interneurons": (2 * k, 1.0),
        "direct inhibition": (DIRECT, 1.0),
        "k - 1": (k - 1, 1.0),
        "k / 2": (k // 2, 1.0),
        "R 10 times slower": (k, 0.1),
        "R 10 times faster": (k, 10.0),
    }
    l, r = zip(*rows.values(), strict=True)
    cells = {"problem": tables, "l": ("row", l), "r": ("row", r)} | TABLE_RATES
    table = lab.map(learn, cells, problems)

    results = {"maps": maps, "unequal": unequal, "turns": turns, "modes": modes, "silence": silence}
    found = {one.name: one for one in summarise(results, k)}
    unjudged = "too few samples to converge" * (settings.samples < JUDGED_SAMPLES)
    return Findings(
        title=f"k = {k}, s = 0, {counted(settings.seeds, 'seed')}, {settings.samples:,} samples",
        quantities=[Quantity("k", k), Quantity("seeds", settings.seeds), *found.values()],
        rows=dict(zip(["1000 (x, y, q)", *rows], in_words(table), strict=True)),
        data=results | {"table": table},
        figures=[
            Figure("maps", partial(figures.plot_maps, maps)),
            Figure("theory", partial(figures.plot_theory, modes, unequal, turns)),
            Figure("silence", partial(figures.plot_silence, silence)),
        ],
        own_tests=[
            Claim.about(found[name], text, unjudged=unjudged) for name, (text, *_) in CLAIMS.items()
        ],
    )


def planted(gains: tuple[float, ...], seed: int, samples: int = 4000) -> tuple[Any, Any]:
    """Draw white X, and Y that follows X on random directions with these gains and noise of 0.3."""
    rng = np.random.default_rng(seed)
    A, B = (np.linalg.qr(rng.standard_normal((size, len(gains))))[0] for size in (INPUTS, TARGETS))
    X = rng.standard_normal((samples, INPUTS))
    Y = X @ A * gains @ B.T + 0.3 * rng.standard_normal((samples, TARGETS))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def in_units(X: Any, Y: Any, k: int) -> tuple[Any, Any]:
    """Return the first principal components of X, white, and Y with eigenvalues of mean 1."""
    left, size, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    known = min(INPUTS, np.count_nonzero(size > 1e-9 * size[0]))
    white, Y = left[:, :known] * np.sqrt(len(X)), Y - Y.mean(axis=0)
    return white, Y / np.sqrt(-analysis.ExactSolution(white, Y).optimum(k) / k)


def make_circuit(task: Task, l: int, rates: Any, weights: Mapping[str, Any]) -> Any:
    """Return the paper's circuit with ``l`` interneurons, or one whose pyramidal cells inhibit each
    other: plateau = a - Mz, dM = eta_q (z z' - I).
    """
    k, engine = task.settings.k, task.settings.engine
    if l != DIRECT:
        start = {f"{name}0": value for name, value in weights.items()}
        return circuits.Microcircuit(k=k, rates=rates, interneurons=l, engine=engine, **start)
    modulator = models.Neuromodulator(rates)
    lateral = models.Pathway(
        "lateral",
        "pyramidal",
        "pyramidal",
        drives="inhibition",
        current="w * z_pre",
        phase="inhibition",
        change="eta_q * (z_post * z_pre - same)",
        weight="M",
        variables=(models.Variable("same", "1 from a cell to itself", per="synapse"),),
        steps=(models.Step("input", "same = int(i == j)"),),
    )
    fibres = models.SensoryInput(), models.InstructiveInput()
    return circuits.Circuit(
        [modulator, *fibres, models.PyramidalNeurons(k)],
        [models.ProximalSynapses(), models.DistalSynapses(), lateral],
        draw=lambda sizes, seed: weights,
        engine=engine,
    )


def simulate(
    problem: tuple[Any, Any], circuit: Any, samples: int, seed: int, **options: Any
) -> Any:
    """Run a circuit on samples drawn with ``seed``; None if it diverges."""
    X, Y = problem
    options = {"snapshots": ("linear", 100), "record": (), "progress": False} | options
    order = np.random.default_rng(seed).integers(len(X), size=samples)
    try:
        with warnings.catch_warnings(action="ignore"):  # of fewer interneurons than outputs
            return completed(circuit.run(X, Y, order=order, **options))
    except circuits.Diverged:
        return None


def learn(
    task: Task, problems: Problems, problem: str, l: int, x=0.001, y=1.0, q=3.0, r=1.0
) -> xr.Dataset:
    """Let a circuit learn with each seed; rates y and q are relative to x, and r to q.

    Returns, by seed, what :func:`measure` does. Of theory, the ``expected`` excess, and whether the
    circuit ``settles`` in these samples; none where interneurons are not k.
    """
    from biorrr.analysis.interneurons import expected_excess, linear_modes

    k, (X, Y), rates = task.settings.k, problems[problem], models.Rates(x, y * x, q * x, r * q * x)
    exact, samples, found = analysis.ExactSolution(X, Y), task.settings.samples, []
    for seed in task.settings.every_seed:
        rng = np.random.default_rng([seed, 1])
        weights = {"Vx": 0.01 * rng.standard_normal((X.shape[1], k))}
        weights["Vy"] = 0.1 * rng.standard_normal((Y.shape[1], k))
        Q = np.linalg.qr(rng.standard_normal((l, k)))[0].T if l > k else np.eye(k, l)
        weights |= {"Q": Q / 3, "R": Q.T / 3} if l else {"M": np.eye(k) / 9}  # QR of any l >= k
        run = simulate((X, Y), make_circuit(task, l, rates, weights), samples, seed)
        found.append(xr.Dataset(measure(run, X, exact, k)))
    expected, settles = np.nan, False
    if l in (DIRECT, k):
        slowest = linear_modes(X, Y, k, rates, direct=not l)[0].real.max()
        expected = expected_excess(X, Y, k, rates, direct=not l)
        settles = abs(slowest) * samples > 7  # e^-7 is left at the end
    return xr.concat(found, "seed").assign(expected=expected, settles=settles)


def measure(one: Any, X: Any, exact: Any, k: int) -> dict[str, Any]:
    """Return the mean excess in the last quarter of a run, at most 1, and of its last half the
    distance of R from Q' over Q, and the inhibition of each exact direction over its eigenvalue.
    """
    if one is None:
        return {"excess": 1.0, "distance": np.nan, "share": ("component", np.full(k, np.nan))}
    late = one.data.isel(snapshot=slice(one.data.sizes["snapshot"] // 2, None))
    Vx = late["Vx"].values
    if "M" in late:
        M, distance = late["M"].values, 0.0
    else:
        Q, R = late["Q"].values, late["R"].values
        M, distance = Q @ R, np.linalg.norm(Q.swapaxes(1, 2) - R) / np.linalg.norm(Q)
    A = exact.Vx(k).T @ (X.T @ X / len(X)) @ Vx  # what each output takes of each exact direction
    inhibition = np.einsum("tij,tjk,tik->ti", A, M, A) / np.square(A).sum(axis=2)
    return {
        "excess": np.minimum(exact.excess(Vx[len(Vx) // 2 :]), 1).mean(),
        "distance": distance,
        "share": ("component", inhibition.mean(axis=0) / exact.eigenvalues[:k]),
    }


def follow_oscillation(
    task: Task, problems: Problems, problem: str, l: int, y: float, q: float
) -> dict[str, float]:
    """Return decay and frequency per sample of the slowest oscillation near the optimum, predicted,
    and measured by the autocorrelation of its amplitude a: exp(p lag) = <a(t + lag) a*> / <|a|^2>.
    """
    from biorrr.analysis.interneurons import slowest_oscillation

    (X, Y), x, settings = problems[problem], 0.0003, task.settings
    rates = models.Rates(x, y * x, q * x)
    theory, start, amplitude = slowest_oscillation(X, Y, settings.k, rates, direct=not l)
    predicted = {"decay_theory": -theory.real, "frequency_theory": theory.imag}
    names = ("Vx", "Vy", "Q", "R") if l else ("Vx", "Vy", "M")
    circuit = make_circuit(task, l, rates, dict(zip(names, start, strict=True)))
    lag, product, power = 500, 0.0, 0.0
    samples = lag * max(settings.samples // lag, 2)
    for seed in settings.every_seed:
        run = simulate((X, Y), circuit, samples, seed, snapshots=[*range(0, samples + 1, lag)])
        if run is None:
            return predicted | {"decay": np.nan, "frequency": np.nan}
        a = amplitude([run.data[name].values for name in names])
        product += a[1:] @ a[:-1].conj()
        power += np.square(np.abs(a[:-1])).sum()
    p = np.log(product / power) / lag
    return predicted | {"decay": -p.real, "frequency": p.imag}


def silence_cells(task: Task, problem: tuple[Any, Any], silent: int) -> dict[str, Any]:
    """Silence interneurons of a trained circuit that has 2k of them, at once and while it learns.

    Returns, by time and seed, the share of plateaus beyond two standard deviations of those of the
    intact circuit, the mean variance of outputs and the excess.
    """
    from biorrr.analysis import interneurons as theory

    k, (X, Y), rates = task.settings.k, problem, models.Rates(0.001, 0.003, 0.003)
    Vx, Vy, M, exact = *theory.optimum(X, Y, k, direct=True), analysis.ExactSolution(X, Y)
    usual, active, found = (Y @ Vy - X @ Vx @ M).std(axis=0), np.arange(2 * k) >= silent, []

    def look(Vx: Any, Vy: Any, Q: Any, R: Any) -> tuple[Any, ...]:
        large = np.abs(Y @ Vy - X @ Vx @ ((Q * active) @ R).T) > 2 * usual
        return large.mean(), np.square(X @ Vx).mean(), min(exact.excess(Vx), 1)

    for seed in task.settings.every_seed:
        turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((2 * k, 2 * k)))[0][:k]
        Q = np.sqrt(M) @ turn
        start = {"Vx": Vx, "Vy": Vy, "Q": Q, "R": Q.T}
        circuit = make_circuit(task, 2 * k, rates, start)
        events = [models.Silence(0, tuple(range(silent)))] if silent else []
        later = simulate(problem, circuit, task.settings.samples, seed, events=events)
        after = look(**later.weights) if later is not None else (np.inf, np.inf, np.inf)
        found.append([look(**start), after])
    measures = zip(
        ("plateaus", "variance", "excess"), np.moveaxis(np.array(found), -1, 0), strict=True
    )
    return {name: (("seed", "time"), values) for name, values in measures}


def best_rates(maps: xr.Dataset, k: int) -> list[Quantity]:
    """Return the share of rates at which each circuit learns, and the excess at its own best: those
    of every second seed, scored on the others.
    """
    first, found = min(1, maps.sizes["seed"] - 1), []
    for l, name in {k: "interneurons", DIRECT: "direct"}.items():
        excess = maps["excess"].sel(l=l).stack(rates=("x", "q"))
        learns = excess.median("seed") < TOLERATED
        found.append(Quantity(f"{name}_tolerated", learns.mean(), PERCENT))
        best = excess.isel(seed=slice(0, None, 2)).mean("seed").argmin("rates")
        for problem, rates in zip(maps["problem"].values.tolist(), best.values, strict=True):
            at = excess.sel(problem=problem).isel(seed=slice(first, None, 2), rates=rates)
            spread = at.std("seed") if at.size > 1 else None
            words = f"with x = {at.x.item():g}, q/x = {at.q.item():g}; rates tolerated"
            those = {
                "best": (at.mean(), PERCENT, "best excess", spread),
                "tolerated": (learns.sel(problem=problem).mean(), PERCENT, words),
            }
            found += quantities(those, f"{problem}, {name}", f"{name}_{problem}_")
    return found


def summarise(results: Mapping[str, xr.Dataset], k: int) -> list[Quantity]:
    """Return what the comparison comes to."""
    maps, unequal, turns, modes, silence = results.values()
    silenced = {}
    for silent, name in {0: "intact", k: "k_left", k + 2: "fewer_left"}.items():
        for time, when in enumerate(("at_once", "later")):
            for measured, values in silence.sel(silent=silent).isel(time=time).items():
                silenced[f"{measured}_{name}_{when}"] = values.mean(), "", "", values.std()
    off = {name: abs(modes[name] / modes[f"{name}_theory"] - 1) for name in ("decay", "frequency")}
    more, share = turns["excess"].sel(l=slice(k, None)), turns["share"].sel(l=k - 1).mean("seed")
    variance = silence["variance"].isel(time=1).median("seed")
    agreement, over_theory = compare_with_expected(maps)
    judged = {
        "agreement": agreement,
        "excess_over_theory": over_theory,
        "decay_deviation": off["decay"].median(),
        "frequency_deviation": off["frequency"].median(),
        "unequal_agreement": compare_with_expected(unequal)[0],
        "more_difference": abs(more - more.sel(l=k)).max(),
        "least_share": share.min(),
        "largest_share": share.max(),
        "spared_variance": variance.sel(silent=k),
        "lost_variance": variance.sel(silent=k + 1),
    }
    slower = unequal["distance"].median("seed").where(unequal["r"] < 1)  # of R from Q'
    return [
        *best_rates(maps, k),
        *quantities(silenced),
        *(Quantity(name, value, bound=CLAIMS[name][1:]) for name, value in judged.items()),
        *quantities({f"{name}_deviation_worst": one.max() for name, one in off.items()}),
        *quantities({"distance_least": slower.min(), "distance_most": slower.max()}),
    ]


def compare_with_expected(results: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Return how often excess and theory agree on whether a circuit learns, where it has time to
    settle, and the median of excess over theory where both say that it does.
    """
    settles, measured = results["settles"], results["excess"].median("seed")
    learns, should = measured < TOLERATED, results["expected"] < TOLERATED
    ratio = (measured / results["expected"]).where(learns & should & settles)
    return (learns == should).where(settles).mean(), ratio.median()


def in_words(table: xr.Dataset) -> Iterator[str]:
    """Yield the rows of the table: by column, the rates and then the excess on both problems."""
    columns = zip(table["x"].values, table["y"].values, table["q"].values, strict=True)
    yield "; ".join(f"({1e3 * x:g}, {1e3 * x * y:g}, {1e3 * x * q:g})" for x, y, q in columns)
    for row in table["excess"].transpose("row", "column", "problem", "seed").values:
        yield "; ".join(", ".join(map(_settled, cell)) for cell in row)


def _settled(excess: Any) -> str:
    """Return the median excess of circuits, unless most are lost: they have learned nothing."""
    from biorrr.analysis.figures.style import percent

    lost, runs = np.count_nonzero(excess > 0.5), len(excess)
    some = f"{lost}/{runs} lost" if lost < runs else "all lost"
    return some if 2 * lost >= runs else percent(np.median(excess)) + f" ({some})" * bool(lost)
