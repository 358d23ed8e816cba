"""Show how plasticity bridges time: pairing lags, late instruction and place fields.

Three experiments with two rules: the paper's, which knows no time, and eligibility traces of input,
plateau and output. First, an input is paired with a plateau, seconds before or after it (protocol
of Bittner et al. 2017). Second, the instruction comes some samples late. Third, an animal runs
around a circular track, and plateaus at one place make a field (as in Milstein et al. 2021).
"""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

from biorrr.sims.data import Data, Dataset, Synthetic
from biorrr.sims.lab import (
    PERCENT,
    Claim,
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    Task,
    compiled_if_possible,
    data_option,
    experiment,
    option,
    quantities,
)
from biorrr.sims.lazy import analysis, circuits, models, np, xr
from biorrr.sims.words import counted

QUICK_SAMPLES = 20_000
RULES = {"plain": "the paper's rule", "traces": "eligibility traces"}
TICK, PLATEAU = 0.01, 0.3  # seconds
# Pairings: ten pulses at 20 Hz and a plateau, paired five times; every trace has faded after a
# pause. Seconds.
PULSES, PULSE_INTERVAL, REPEATS = 10, 0.05, 5
LONGEST_LAG, LAG_STEP, PAUSE = 4.0, 0.25, 20.0
LONGEST_SEQUENCE = 400_000  # samples that are held in memory
# Laps: length of the track and place of the plateaus (cm), speed (cm/s), and fibres with fields of
# this standard deviation (cm).
LAPS, TRACK, PLACE, SPEED, FIBRES, FIELD = 5, 187.0, 60.0, 25.0, 100, 21.0
# Bounds, fixed beforehand. Degrees between filters and the fixed point: with traces at most,
# without at least.
FOUND, LOST = 10.0, 45.0
TIME_CONSTANT_ERROR, PLACE_ERROR, WIDTH_ERROR = 0.05, 2.0, 0.05  # relative, cm, relative


class TimingSettings(ExperimentSettings, seeds=3):
    """Settings of ``biorrr timing``."""

    data: Data = data_option(Synthetic(samples=20_000, m=10, n=8), "data of the second experiment")
    tau_x: float = option(
        1.31, "time constant of the trace of the input (s)", at_least=0.05, at_most=3
    )
    tau_plateau: float = option(
        0.69, "time constant of the trace of the plateau (s)", at_least=0.05, at_most=3
    )
    trace: float = option(
        4.5, "time constant of both traces where instruction is late (samples)", at_least=0.1
    )
    delays: tuple[int, ...] = option(
        (0, 1, 2, 3, 4, 5),
        "samples by which instruction is late; may be repeated",
        at_least=0,
        at_most=50,
    )
    k: int = option(2, "pyramidal neurons in the second experiment", short="k", at_least=1)
    samples: int = option(
        1_600_000, "samples each circuit of the second experiment sees", at_least=1000
    )
    quick: bool = option(
        False, f"{QUICK_SAMPLES} samples and one seed: a first look, without verdicts"
    )


# By the quantity that decides.
CLAIMS = {
    "time_constant_error": (
        "the lag between input and plateau weakens plasticity exponentially, with the time "
        "constants of the two traces: a fit to the curve recovers both"
    ),
    "angle_traces_max": (
        "with traces the circuit finds the fixed point C_ey Vy = C_ex Vx QR at every delay of "
        "instruction, from every seed"
    ),
    "angle_plain_late": "without traces late instruction ends learning",
    "field_place_error": "the field that plateaus make has its peak where the traces predict it",
    "field_width_error": "the field that plateaus make is as wide as the traces predict",
}


@experiment(
    shows="[plasticity across seconds](docs/time.md): lags, late instruction, place fields",
    takes="22 s",
    paper="beyond it",
    measure="angle_traces",
    captions={
        "lags": (
            "Change of a weight when an input (ten pulses at 20 Hz) is paired five times with a"
            " plateau of 300 ms, against how long the plateau comes after the input. With"
            " eligibility traces (dots) plasticity bridges seconds on either side, along the theory"
            " (dashed); the paper's rule (squares) needs both at the same time. Time constants"
            " fitted to the dots are {tau_x_fitted} of the input and {tau_plateau_fitted} of the"
            " plateau."
        ),
        "delays": (
            "Angle between the filters that a circuit learns and the fixed point of learning with"
            " traces, against the number of samples by which instruction is late. Dots are seeds,"
            " lines join medians; the band is where the fixed point counts as found. Without traces"
            " one sample of delay ends learning; with traces the circuit finds the fixed point,"
            " less precisely the later the instruction: to {angle_traces_max} at the longest delay."
        ),
        "field": (
            "Place fields of a cell on a circular track after plateaus at one place (grey band),"
            " each relative to its own peak. With traces the field begins before the place of the"
            " plateau, as the theory (dashed) says: its middle is at {field_place}, by theory at"
            " {predicted_place}."
        ),
    },
    small={
        "data": Synthetic(samples=200, m=5, n=4, latents=3),
        "samples": 1000,
        "delays": (0, 2),
        "seeds": 1,
    },
)
def timing(lab: Lab, settings: TimingSettings) -> Findings:
    """Try each rule on pairings, late instruction and place fields, and compare it with theory."""
    from biorrr.analysis.figures import lags as figures

    if settings.quick:
        settings = lab.set(samples=min(settings.samples, QUICK_SAMPLES), seeds=1)
    # Many short runs share a circuit.
    settings = lab.set(
        engine=compiled_if_possible(settings.engine), delays=tuple(sorted({*settings.delays}))
    )
    data = lab.load(settings.data, settings.k)
    # Of the regression that late instruction teaches.
    exact = analysis.ExactSolution(*data.stand_in, 0.0, 0.0)

    late = {"rule": RULES, "delay": settings.delays, "seed": settings.every_seed}
    paired = lab.map(pair, {"rule": RULES})
    taught = lab.map(learn_late, late, data, exact)
    fields = lab.map(run_laps, {"rule": RULES})

    expected = theory(settings.tau_x, settings.tau_plateau)
    results = xr.merge([paired, taught, fields, expected])
    results["angle"].attrs.update(units="degrees", found=FOUND)
    results["field"].attrs["plateau"] = PLACE, PLACE + PLATEAU * SPEED
    found = [
        *quantities({"data": data.name, "engine": settings.engine, "samples": settings.samples}),
        *about_lags(results, settings),
        *about_delays(results),
        *about_fields(results),
    ]
    return Findings(
        title=(
            f"plasticity and time; instruction late on {data.name}, up to {settings.delays[-1]}"
            f" samples, {counted(settings.seeds, 'seed')}"
        ),
        quantities=found,
        data={"run": results},
        figures=[
            Figure("lags", partial(figures.plot_lags, results)),
            Figure("delays", partial(figures.plot_delays, results)),
            Figure("field", partial(figures.plot_fields, results)),
        ],
        own_tests=[Claim.about(one, CLAIMS[one.name]) for one in found if one.name in CLAIMS],
    )


def pair(task: Task, rule: str) -> dict[str, Any]:
    """Return the change of the weight at every lag, (lag,), after repeated pairings."""
    # With this rate the change is the area under the product of the traces, in one pairing.
    change = learn_weights(task, rule, *pairing(), TICK / REPEATS, epochs=REPEATS)
    return {"change": ("lag", change)}


def learn_late(
    task: Task,
    data: Dataset,
    exact: analysis.ExactSolution,
    rule: str,
    delay: int,
    seed: int,
) -> dict[str, float]:
    """Return the angle between learned filters and the fixed point, and the excess, of a circuit
    whose instruction comes ``delay`` samples late.
    """
    settings, data = task.settings, data.centred()
    # A sequence of independent samples, gone through again and again.
    epochs = -(-settings.samples // LONGEST_SEQUENCE)
    rng = np.random.default_rng([seed, delay])
    order = rng.integers(len(data.X), size=settings.samples // epochs)
    shown, late = data.X[order], np.roll(data.Y[order], delay, axis=0)
    late[:delay] = 0.0
    tau = settings.trace if rule == "traces" else 0.0
    departures = [models.Eligibility(tau, 0.0, tau)] if tau else []
    circuit = settings.make_circuit(
        k=settings.k, s=0.0, ridge=0.0, seed=seed, departures=departures
    )
    how: Any = {"order": "sequential", "record": (), "snapshots": 1}
    try:
        with warnings.catch_warnings(action="ignore"):  # of constant columns
            run = task.run(circuit, shown, late, epochs=epochs, **how)
    except circuits.Diverged:
        return {"angle": 90.0, "excess": 1.0}
    trace = analysis.eligibility_trace(shown, settings.trace if delay else tau)
    C_ex, C_ey = trace.T @ shown / len(order), trace.T @ late / len(order)
    fixed = analysis.traced_fixed_point(C_ex, C_ey, settings.k)
    return {
        "angle": float(analysis.principal_angles(run.Vx, fixed)[0]),
        "excess": min(float(exact.excess(run.Vx)), 1.0),
    }


def run_laps(task: Task, rule: str) -> dict[str, Any]:
    """Return the field of a cell after laps with plateaus, (position,)."""
    X, on = lap()[1], plateau()
    # Laps without plateaus before and after: traces decay, and all of the last plateau's is
    # learned.
    Y = np.concatenate([0 * on, *[on] * LAPS, 0 * on])
    weights = learn_weights(task, rule, np.tile(X, (LAPS + 2, 1)), Y, TICK)
    return {"field": ("position", X @ weights)}


def learn_weights(
    task: Task, rule: str, X: np.ndarray, Y: np.ndarray, rate: float, epochs: int = 1
) -> np.ndarray:
    """Return the proximal weights, (fibres,), that a cell learns at a ``rate`` from inputs (ticks,
    fibres) and plateaus (ticks, 1).

    Weights start at 0. The distal weight is 1 and there is no inhibition, so that the plateau is
    the instruction. Only proximal synapses learn.
    """
    settings, tick = task.settings, 1000 * TICK  # milliseconds
    traces = models.Eligibility(1000 * settings.tau_x, 1000 * settings.tau_plateau)
    at_once = models.Leaky(0, 0, 0, 0, hold=tick, dt=tick)  # a sample is a tick
    circuit = settings.make_circuit(
        k=1,
        rates=models.Rates(rate, 0.0, 0.0),
        seed=settings.seed,
        Vx0=np.zeros((X.shape[1], 1)),
        Vy0=[[1.0]],
        Q0=[[0.0]],
        R0=[[0.0]],
        departures=[traces, at_once] if rule == "traces" else [at_once],
    )
    x, y = (circuits.TimeSeries(values, tick) for values in (X, Y))
    with warnings.catch_warnings(action="ignore"):  # of large means: inputs are as they should be
        return task.run(circuit, x, y, epochs=epochs, record=(), snapshots=1).Vx[:, 0]


def lags() -> np.ndarray:
    """Return the seconds from the first pulse to the onset of the plateau, (lag,)."""
    return np.arange(-LONGEST_LAG, LONGEST_LAG + 0.5 * LAG_STEP, LAG_STEP)


def pulse_times() -> np.ndarray:
    """Return the seconds from the first pulse to each of them, (PULSES,)."""
    return PULSE_INTERVAL * np.arange(PULSES)


def pairing() -> tuple[np.ndarray, np.ndarray]:
    """Return one pairing: pulses of unit area, a fibre for each lag, (ticks, lag); and the plateau,
    (ticks, 1).
    """
    ticks, onset = round(PAUSE / TICK), round(0.4 * PAUSE / TICK)
    X, Y = np.zeros((ticks, len(lags()))), np.zeros((ticks, 1))
    Y[onset : onset + round(PLATEAU / TICK)] = 1.0
    for fibre, lag in enumerate(lags()):
        X[onset + np.round((pulse_times() - lag) / TICK).astype(int), fibre] = 1 / TICK
    return X, Y


def lap() -> tuple[np.ndarray, np.ndarray]:
    """Return one lap at constant speed: positions in cm, (ticks,), and inputs with fields, (ticks,
    FIBRES).
    """
    positions = np.arange(0, TRACK, SPEED * TICK)[: round(TRACK / (SPEED * TICK))]
    away = np.abs(positions[:, None] - TRACK * np.arange(FIBRES) / FIBRES)
    return positions, np.exp(-0.5 * (np.minimum(away, TRACK - away) / FIELD) ** 2)


def plateau() -> np.ndarray:
    """Return the plateau from PLACE on, along a lap, (ticks, 1)."""
    began = (lap()[0] - PLACE) / SPEED
    return ((began >= -1e-9) & (began < PLATEAU - 1e-9)).astype(float)[:, None]


def theory(tau_x: float, tau_plateau: float) -> xr.Dataset:
    """Return what traces with these time constants predict: the change of a weight (lag,), and the
    field (position,).
    """
    change = analysis.pairing_curve(lags(), pulse_times(), PLATEAU, tau_x, tau_plateau)
    positions, X = lap()
    weights = analysis.learned_weights(X, plateau()[:, 0], TICK, tau_x, tau_plateau)
    between_middles = lags() + 0.5 * PLATEAU - 0.5 * pulse_times()[-1]  # of pulses and plateau
    return xr.Dataset(
        {
            "predicted_change": ("lag", change, {"tau_x": tau_x, "tau_plateau": tau_plateau}),
            "predicted_field": ("position", LAPS * (X @ weights)),
        },
        {
            "rule": [*RULES],
            "words": ("rule", [*RULES.values()]),
            "lag": lags(),
            "between_middles": ("lag", between_middles),
            "position": positions,
        },
    )


def about_lags(results: xr.Dataset, settings: TimingSettings) -> list[Quantity]:
    """Return the time constants that a fit recovers from the curve."""
    change, span = results["change"].sel(rule="traces").values, pulse_times()[-1] + TICK
    x, plateau = analysis.fit_time_constants(lags(), change, span, PLATEAU)
    wrong = max(abs(x / settings.tau_x - 1), abs(plateau / settings.tau_plateau - 1))
    error = float(np.nan_to_num(wrong, nan=np.inf))
    given, fitted = "time constants, set", "recovered from the curve"
    return [
        Quantity("tau_x", settings.tau_x, "s", "input", row=given),
        Quantity("tau_plateau", settings.tau_plateau, "s", "plateau", row=given),
        Quantity("tau_x_fitted", x, "s", "input", row=fitted),
        Quantity("tau_plateau_fitted", plateau, "s", "plateau", row=fitted),
        Quantity("time_constant_error", error, PERCENT, bound=(-math.inf, TIME_CONSTANT_ERROR)),
    ]


def about_delays(results: xr.Dataset) -> list[Quantity]:
    """Return angles and excess by delay, means over seeds."""
    angle, excess = results["angle"].mean("seed"), results["excess"].mean("seed")
    worst, found = results["angle"].max("seed").sel(rule="traces"), []
    labels = {"plain": "angle to the fixed point without traces", "traces": "with traces"}
    for delay in results["delay"].values.tolist():
        row = f"instruction {delay} samples late"
        for rule, words in labels.items():
            mean, above = angle.sel(rule=rule, delay=delay), excess.sel(rule=rule, delay=delay)
            found.append(Quantity(f"angle_{rule}_{delay}", mean, "degrees", words, row=row))
            found.append(Quantity(f"excess_{rule}_{delay}", above, PERCENT, row=row))
        at_most = worst.sel(delay=delay)
        found.append(
            Quantity(f"angle_traces_{delay}_max", at_most, "degrees", "worst seed", row=row)
        )
    found.append(Quantity("angle_traces", angle.sel(rule="traces").max(), "degrees"))
    found.append(Quantity("angle_traces_max", worst.max(), "degrees", bound=(-math.inf, FOUND)))
    late = angle.sel(rule="plain", delay=results["delay"] > 0)
    if late.size:
        found.append(Quantity("angle_plain_late", late.min(), "degrees", bound=(LOST, math.inf)))
    return found


def about_fields(results: xr.Dataset) -> list[Quantity]:
    """Return place and width of the field that traces make and of the predicted one, and the width
    without traces.
    """
    (_, plain_width), (place, width) = (
        analysis.field_place_and_width(results["field"].sel(rule=rule), TRACK) for rule in RULES
    )
    there, wide = analysis.field_place_and_width(results["predicted_field"], TRACK)
    apart, narrower = min(abs(place - there), TRACK - abs(place - there)), abs(width / wide - 1)
    at, its_width = f"place field, plateaus at {PLACE:g} cm", "its width"
    return [
        Quantity("field_place", place, "cm", "peak at", row=at),
        Quantity("field_width", width, "cm", "measured", row=its_width),
        Quantity("predicted_place", there, "cm", "predicted", row=at),
        Quantity("predicted_width", wide, "cm", "predicted", row=its_width),
        Quantity("plain_field_width", plain_width, "cm"),
        Quantity("field_place_error", apart, "cm", bound=(-math.inf, PLACE_ERROR)),
        Quantity("field_width_error", narrower, PERCENT, bound=(-math.inf, WIDTH_ERROR)),
        Quantity("field_shift", PLACE + 0.5 * PLATEAU * SPEED - place, "cm"),
    ]
