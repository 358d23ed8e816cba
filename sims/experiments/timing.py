"""Show how plasticity bridges time: seconds between input and plateau, late instruction, and place fields.

Three experiments with three rules: the paper's, which knows no time; eligibility traces of input, plateau and output;
and plasticity whose sign depends on the weight (Milstein et al. 2021). First, an input is paired with a plateau,
seconds before or after it (protocol of Bittner et al. 2017). Second, the instruction comes some samples late. Third, an
animal runs around a circular track, and plateaus at one place make a field.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.data import Samples
from biorrr.sims.data.kinds import Synthetic
from biorrr.sims.experiment import Experiment, Findings, Found, Problem, check_rank
from biorrr.sims.lab.circuits import compiled_if_possible, completed
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.settings import DATA_FORM, DATA_HELP, ExperimentSettings, option, seeds_option
from biorrr.sims.lazy import analysis, circuits, models, np, xr
from biorrr.sims.page.views import Chart, View

# The pairing protocol of Bittner et al. (2017): ten pulses at 20 Hz and a plateau of 300 ms, paired five times.
PULSES, PULSE_INTERVAL, PLATEAU, PAIRINGS = 10, 0.05, 0.3, 5
LONGEST_LAG, LAG_STEP, PAUSE = 4.0, 0.25, 20.0  # seconds; from one pairing to the next every trace has faded
TICK = 0.01  # seconds
# A circular treadmill and input fields as in Milstein et al. (2021).
TRACK, SPEED, FIELD, FIBRES, LAPS = 187.0, 25.0, 21.0, 100, 5  # cm, cm/s, s.d. of input fields in cm
PLACES = (60.0, 130.0)  # of the plateaus of the first laps and, for the last rule, of those that follow; cm
QUICK_SAMPLES = 20_000
LONGEST_SEQUENCE = 400_000  # samples of late instruction that are held in memory
# Bounds, fixed beforehand.
TIME_CONSTANT_ERROR = 0.05  # relative
FOUND, LOST = 10.0, 45.0  # degrees between learned filters and the fixed point: with traces at most, without at least
PLACE_ERROR, WIDTH_ERROR = 2.0, 0.05  # cm, relative
REVERSAL = 0.05  # of the largest weight
RULES = {"plain": "the paper's rule", "traces": "eligibility traces", "weight": "weight-dependent"}


@dataclass(frozen=True, kw_only=True)
class TimingSettings(ExperimentSettings):
    """What can be set of ``biorrr timing``."""

    data: Samples = option(
        Synthetic(samples=20_000, m=10, n=8), f"data of the second experiment: {DATA_HELP}", metavar=DATA_FORM
    )
    tau_x: float = option(1.31, "time constant of the trace of the input (s)", at_least=0.05, at_most=3)
    tau_plateau: float = option(0.69, "time constant of the trace of the plateau (s)", at_least=0.05, at_most=3)
    trace: float = option(4.5, "time constant of both traces where instruction is late (samples)", at_least=0.1)
    delays: tuple[int, ...] = option(
        (0, 1, 2, 3, 4, 5), "samples by which instruction is late; may be repeated", at_least=0, at_most=50
    )
    k: int = option(2, "pyramidal neurons in the second experiment", short="k", at_least=1)
    samples: int = option(1_600_000, "samples each circuit of the second experiment sees", at_least=1000)
    seeds: int = seeds_option(3)
    quick: bool = option(False, f"{QUICK_SAMPLES} samples and one seed: a first look, without verdicts")


class Timing(Experiment[TimingSettings]):
    """``biorrr timing``: what each rule makes of the time between input, plateau and instruction."""

    settings = TimingSettings
    shows = "[plasticity across seconds](docs/time.md): lags, late instruction, place fields"
    takes = "22 s"
    paper = "beyond it"
    measure = "angle_traces"
    figures = {
        "lags": "Change of a weight when an input (ten pulses at 20 Hz) is paired five times with a plateau of 300 "
        "ms, against how long the plateau comes after the input. Left: with eligibility traces (dots) "
        "plasticity bridges seconds on either side, along the theory (dashed); the paper's rule (grey) needs "
        "both at the same time. Right: plasticity that depends on the weight strengthens a synapse without "
        "weight and weakens a strong one at the same lags.",
        "delays": "Angle between the filters that a circuit learns and the fixed point of learning with traces, against"
        " the number of samples by which instruction is late. Dots are seeds, lines means; the band is where "
        "the fixed point counts as found. Without traces one sample of delay ends learning; with traces the "
        "circuit finds the fixed point, less precisely the later the instruction.",
        "field": "Place fields of a cell on a circular track after plateaus at one place (grey band), and, faint, "
        "after later plateaus at another. With traces the field begins before the place of the plateau, as "
        "the theory (dashed) says, and the second plateaus add a second field; under weight-dependent "
        "plasticity they move the field instead.",
    }
    charts = (
        Chart(
            "Plasticity and time",
            (
                View(
                    "change of the weight, relative",
                    {"change": ""},
                    {"lag": "lag of the plateau behind the input (s)"},
                    along=("lag",),
                    choose=("rule",),
                    name="pairings",
                ),
                View(
                    "angle to the fixed point (degrees)",
                    {"angle": ""},
                    {"delay": "delay of instruction (samples)"},
                    along=("delay",),
                    repeats=("seed",),
                    choose=("learner",),
                    name="late instruction",
                ),
                View(
                    "field, relative",
                    {"field": "", "predicted_field": "theory"},
                    {"position": "position on the track (cm)"},
                    along=("position",),
                    choose=("field_rule",),
                    theory=("predicted_field",),
                    name="place field",
                ),
            ),
        ),
    )

    def check(self, settings: TimingSettings) -> TimingSettings:
        """Settle how many samples and seeds, and the engine: many short runs share a circuit."""
        if settings.quick:
            settings = replace(settings, samples=min(settings.samples, QUICK_SAMPLES), seeds=1)
        return replace(
            settings,
            engine=compiled_if_possible(settings.engine),
            delays=tuple(sorted(set(settings.delays))),
        )

    def fit(self, settings: TimingSettings, data: Any) -> TimingSettings:
        """Refuse a rank that the data do not have."""
        check_rank(settings.k, data)
        return settings

    def prepare(self, settings: TimingSettings, data: Any) -> Problem[TimingSettings]:
        """The exact solution of the regression that the second experiment learns, without a ridge."""
        return Problem(settings, data, analysis.Yardstick(*data.stand_in, 0.0, 0.0))

    def parts(self, problem: Problem[TimingSettings], found: Found) -> dict[str, Any]:
        """Each rule in each experiment; the second with every delay from every seed."""
        settings = problem.settings
        lags = {f"lag-{rule}": ("lag", rule) for rule in ("plain", "traces", "weak", "strong")}
        learners = {
            f"delay-{delay}-{rule}-seed-{seed}": ("delay", (delay, rule, seed))
            for rule in ("plain", "traces")
            for delay in settings.delays
            for seed in settings.every_seed
        }
        regression = {f"regression-seed-{seed}": ("delay", (0, "weight", seed)) for seed in settings.every_seed}
        fields = {f"field-{rule}": ("field", rule) for rule in RULES}
        return lags | learners | regression | fields

    def run_part(self, problem: Problem[TimingSettings], part: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Run one rule in one experiment."""
        kind, what = part
        run = {"lag": pair, "delay": learn_late, "field": run_laps}[kind]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constant columns and large means: the inputs are as they should be
            return run(problem, what, options)

    def conclude(self, problem: Problem[TimingSettings], found: Found) -> Findings:
        """Compare each experiment with theory."""
        from biorrr.analysis.figures import timing as figures

        settings = problem.settings
        results = joined(settings, found)
        numbers: dict[str, Any] = {"data": problem.data.name, "engine": settings.engine, "samples": settings.samples}
        rng = np.random.default_rng(settings.seed)
        random = [problem.exact.excess(rng.standard_normal((problem.data.X.shape[1], settings.k))) for _ in range(100)]
        numbers["excess_random_filters"] = float(np.mean(random))
        numbers |= lag_numbers(settings, results) | delay_numbers(settings, results) | field_numbers(results)
        last = settings.delays[-1]
        rows = {
            "time constants, set": f"input {settings.tau_x:g} s, plateau {settings.tau_plateau:g} s",
            "recovered from the curve": f"{numbers['tau_x_fitted']:.4g} s and {numbers['tau_plateau_fitted']:.4g} s",
            "weight-dependent rule": f"weak synapses change by {numbers['weak_change']:+.2f} of the largest weight, "
            f"strong ones by {numbers['strong_change']:+.2f}, at the lag where weak ones gain most",
        }
        for delay in settings.delays:
            rows[f"instruction {delay} samples late"] = (
                f"{numbers[f'angle_plain_{delay}']:.1f} degrees from the fixed point without traces, "
                f"{numbers[f'angle_traces_{delay}']:.1f} with"
            )
        rows["weight-dependent, as a learner"] = (
            f"excess of {100 * numbers['excess_weight_dependent']:.0f} % over the optimum; random filters have "
            f"{100 * numbers['excess_random_filters']:.0f} %"
        )
        rows["place field"] = (
            f"at {numbers['field_place']:.1f} cm, {numbers['field_width']:.1f} cm wide; predicted "
            f"{numbers['predicted_place']:.1f} and {numbers['predicted_width']:.1f} (plateaus at {PLACES[0]:g} cm)"
        )
        return Findings(
            numbers=numbers,
            title=f"plasticity and time; instruction late on {problem.data.name}, up to {last} samples, "
            f"{settings.seeds} seeds",
            rows=rows,
            results={"run": results},
            figures={
                "lags": partial(figures.plot_lags, *lag_panels(settings, results)),
                "delays": partial(figures.plot_delays, *delay_panels(settings, results)),
                "field": partial(figures.plot_fields, *field_panels(results)),
            },
            own_tests=check_claims(settings, numbers),
        )


# -- (1) pairings ------------------------------------------------------------------------------------------------------


def lags() -> np.ndarray:
    """Seconds from the first pulse to the onset of the plateau, (L,)."""
    return np.arange(-LONGEST_LAG, LONGEST_LAG + 0.5 * LAG_STEP, LAG_STEP)


def pulse_times() -> np.ndarray:
    """Seconds from the first pulse to each of them."""
    return PULSE_INTERVAL * np.arange(PULSES)


def pairing() -> tuple[np.ndarray, np.ndarray]:
    """One pairing: inputs (ticks, L), one fibre for each lag, pulses of unit area; and the plateau (ticks, 1)."""
    ticks, onset = round(PAUSE / TICK), round(0.4 * PAUSE / TICK)
    X, Y = np.zeros((ticks, len(lags()))), np.zeros((ticks, 1))
    Y[onset : onset + round(PLATEAU / TICK)] = 1.0
    for fibre, lag in enumerate(lags()):
        X[onset + np.round((pulse_times() - lag) / TICK).astype(int), fibre] = 1 / TICK
    return X, Y


def single_cell(settings: TimingSettings, departure: Any, Vx0: np.ndarray, rate: float) -> Any:
    """A cell whose plateau is its instruction: distal weight 1, no inhibition, only proximal synapses learn."""
    none = models.Rate(0.0)
    return settings.make_circuit(
        k=1, rates=models.Rates(x=models.Rate(rate), y=none, q=none), seed=settings.seed,
        Vx0=Vx0, Vy0=[[1.0]], Q0=[[0.0]], R0=[[0.0]],
        departures=[*departure, models.Leaky(0, 0, 0, 0, hold=1000 * TICK, dt=1000 * TICK)],
    )  # fmt: skip


def rule_of(settings: TimingSettings, rule: str, X: np.ndarray, Y: np.ndarray) -> list[Any]:
    """The departures that make a rule; the last one divides its traces by the peaks that ``X`` and ``Y`` give them."""
    if rule == "plain":
        return []
    if rule == "traces":
        return [models.Eligibility(settings.tau_x, settings.tau_plateau)]
    usual = models.WeightDependentPlasticity()
    peaks = (
        float(analysis.eligibility_trace(signal, tau, TICK).max())
        for signal, tau in ((X, usual.tau_x), (Y, usual.tau_plateau))
    )
    peak_x, peak_plateau = peaks
    return [replace(usual, peak_x=peak_x, peak_plateau=peak_plateau)]


def pair(problem: Problem[TimingSettings], rule: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Change of the weight at every lag, (L,); "weak" and "strong" are starts of the weight-dependent rule."""
    X, Y = pairing()
    start = np.full((X.shape[1], 1), {"strong": 0.8}.get(rule, 0.0))
    # With this rate the change is the area under the product of the traces, in one pairing.
    circuit = single_cell(problem.settings, rule_of(problem.settings, rule, X, Y), start, TICK / PAIRINGS)
    X_series, Y_series = (circuits.TimeSeries(values, TICK) for values in (X, Y))
    run = circuit.run(X_series, Y_series, epochs=PAIRINGS, record=(), snapshots=1, **options)
    return {"change": (completed(run).Vx - start)[:, 0]}


# -- (2) late instruction ----------------------------------------------------------------------------------------------


def learn_late(problem: Problem[TimingSettings], what: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Angle between learned filters and the fixed point, excess over the optimum, and residual of the fixed point."""
    delay, rule, seed = what
    settings, data = problem.settings, problem.data.centred()
    # A sequence of independent samples, gone through again and again.
    epochs = -(-settings.samples // LONGEST_SEQUENCE)
    order = np.random.default_rng([seed, delay]).integers(len(data.X), size=settings.samples // epochs)
    tau = settings.trace
    departures = {
        "plain": (),
        "traces": (models.Eligibility(tau, 0.0, tau),),
        # Nothing holds these weights back but their bound: with it the output has at most about unit power.
        "weight": (models.WeightDependentPlasticity(w_max=0.5 / float(np.sqrt(data.X.var(axis=0).sum()))),),
    }[rule]
    circuit = settings.make_circuit(k=settings.k, s=0.0, ridge=0.0, seed=seed, departures=departures)
    # What the circuit is shown, and the traces of it.
    shown = data.X[order]
    trace = analysis.eligibility_trace(shown, tau if rule == "traces" or delay else 0.0)
    late = np.concatenate([np.zeros((delay, data.Y.shape[1])), data.Y[order][: len(order) - delay]])
    C_ex, C_ey = trace.T @ shown / len(order), trace.T @ late / len(order)
    try:
        run = completed(circuit.run(shown, late, epochs=epochs, order="sequential", record=(), snapshots=1, **options))
        Vx, residual = run.Vx, analysis.fixed_point_residual(run.Vx, run.Vy, run.Q, run.R, C_ex, C_ey)
    except circuits.Diverged:
        return {"angle": 90.0, "excess": 1.0, "residual": np.nan}
    fixed = analysis.traced_fixed_point(C_ex, C_ey, settings.k)
    return {
        "angle": float(analysis.principal_angles(Vx, fixed)[0]),
        "excess": min(float(problem.exact.excess(Vx)), 1.0),
        "residual": residual,
    }


# -- (3) place fields --------------------------------------------------------------------------------------------------


def lap() -> tuple[np.ndarray, np.ndarray]:
    """One lap at constant speed: positions (ticks,) in cm, and inputs with fields around the track, (ticks, FIBRES)."""
    positions = np.arange(0, TRACK, SPEED * TICK)
    positions = positions[: round(TRACK / (SPEED * TICK))]
    away = np.abs(positions[:, None] - TRACK * np.arange(FIBRES) / FIBRES)
    away = np.minimum(away, TRACK - away)
    return positions, np.exp(-0.5 * (away / FIELD) ** 2)


def plateau_at(place: float) -> np.ndarray:
    """A plateau from ``place`` on, along a lap, (ticks, 1)."""
    positions, _ = lap()
    began = (positions - place) / SPEED
    return ((began >= -1e-9) & (began < PLATEAU - 1e-9)).astype(float)[:, None]


def run_laps(problem: Problem[TimingSettings], rule: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The field after laps with plateaus at one place, (ticks,), and after as many with plateaus at another."""
    settings = problem.settings
    _, X = lap()
    first, second = (plateau_at(place) for place in PLACES)
    circuit = single_cell(settings, rule_of(settings, rule, X, first), np.zeros((FIBRES, 1)), TICK)
    weights, run = [], None
    # Laps without plateaus before and after: traces come to rest, and all of the last plateau's is learned.
    still = np.zeros_like(first)
    for place, plateau in enumerate((first, second)):
        course = [still, *[plateau] * LAPS, still]
        x, y = np.tile(X, (len(course), 1)), np.concatenate(course)
        kept = dict(options)
        if kept.get("checkpoint") is not None:
            kept["checkpoint"] = kept["checkpoint"].with_name(f"place-{place}-{kept['checkpoint'].name}")
        run = circuit.run(
            circuits.TimeSeries(x, TICK), circuits.TimeSeries(y, TICK), record=(), snapshots=1, start=run, **kept
        )
        weights.append(completed(run).Vx[:, 0])
    return {"weights": np.stack(weights), "fields": np.stack([X @ w for w in weights])}


# -- what follows ------------------------------------------------------------------------------------------------------


def joined(settings: TimingSettings, found: Found) -> xr.Dataset:
    """All that was found, with what theory says beside it."""
    seeds, delays = list(settings.every_seed), list(settings.delays)
    pairs = ("plain", "traces", "weak", "strong")
    learners = ("plain", "traces")

    def late(quantity: str) -> np.ndarray:
        return np.array(
            [
                [[float(found[f"delay-{d}-{rule}-seed-{s}"][quantity]) for s in seeds] for d in delays]
                for rule in learners
            ]
        )

    positions, X = lap()
    predicted = X @ analysis.learned_weights(X, plateau_at(PLACES[0])[:, 0], TICK, settings.tau_x, settings.tau_plateau)
    fields = np.stack([found[f"field-{rule}"]["fields"] for rule in RULES])
    return xr.Dataset(
        {
            "change": (("rule", "lag"), np.stack([found[f"lag-{rule}"]["change"] for rule in pairs])),
            "predicted_change": (
                "lag",
                analysis.pairing_curve(lags(), pulse_times(), PLATEAU, settings.tau_x, settings.tau_plateau),
            ),
            **{name: (("learner", "delay", "seed"), late(name)) for name in ("angle", "excess", "residual")},
            "regression": ("seed", [float(found[f"regression-seed-{s}"]["excess"]) for s in seeds]),
            "field": (("field_rule", "induction", "position"), fields),
            "predicted_field": ("position", LAPS * predicted),
        },
        {
            "rule": list(pairs), "lag": lags(), "learner": list(learners), "delay": delays, "seed": seeds,
            "field_rule": list(RULES), "induction": list(PLACES), "position": positions,
        },
    )  # fmt: skip


def lag_numbers(settings: TimingSettings, results: xr.Dataset) -> dict[str, Any]:
    """Time constants that a fit recovers from the pairing curve, and what the weight-dependent rule does."""
    span = PULSE_INTERVAL * (PULSES - 1)
    forward, backward = analysis.fit_time_constants(
        lags(), results["change"].sel(rule="traces").values, span + TICK, PLATEAU
    )
    weak, strong = (results["change"].sel(rule=rule) for rule in ("weak", "strong"))
    best = weak["lag"].values[int(np.argmax(weak.values))]
    wrong = max(abs(forward / settings.tau_x - 1), abs(backward / settings.tau_plateau - 1))
    return {
        "tau_x": settings.tau_x, "tau_plateau": settings.tau_plateau,
        "tau_x_fitted": forward, "tau_plateau_fitted": backward,
        "time_constant_error": float(np.nan_to_num(wrong, nan=np.inf)),
        "weak_change": float(weak.sel(lag=best)), "strong_change": float(strong.sel(lag=best)),
    }  # fmt: skip


def delay_numbers(settings: TimingSettings, results: xr.Dataset) -> dict[str, Any]:
    """Angles to the fixed point by delay, means over seeds, and what is left of the fixed point's equation."""
    mean = results[["angle", "excess", "residual"]].mean("seed")
    numbers: dict[str, Any] = {}
    for learner in ("plain", "traces"):
        for delay in settings.delays:
            here = mean.sel(learner=learner, delay=delay)
            for name in ("angle", "excess", "residual"):
                numbers[f"{name}_{learner}_{delay}"] = float(here[name])
    late = [delay for delay in settings.delays if delay]
    numbers["angle_traces"] = float(mean["angle"].sel(learner="traces").max())
    if late:
        numbers["angle_plain_late"] = float(mean["angle"].sel(learner="plain", delay=late).min())
    return numbers | {"excess_weight_dependent": float(results["regression"].mean())}


def field_numbers(results: xr.Dataset) -> dict[str, Any]:
    """Place and width of the field that traces make, and of the one that is predicted."""
    made = analysis.field_place_and_width(results["field"].sel(field_rule="traces", induction=PLACES[0]), TRACK)
    predicted = analysis.field_place_and_width(results["predicted_field"], TRACK)
    plain = analysis.field_place_and_width(results["field"].sel(field_rule="plain", induction=PLACES[0]), TRACK)
    apart = abs(made[0] - predicted[0])
    return {
        "field_place": made[0], "field_width": made[1],
        "predicted_place": predicted[0], "predicted_width": predicted[1],
        "plain_field_place": plain[0], "plain_field_width": plain[1],
        "field_place_error": min(apart, TRACK - apart), "field_width_error": abs(made[1] / predicted[1] - 1),
        "field_shift": PLACES[0] + 0.5 * PLATEAU * SPEED - made[0],
    }  # fmt: skip


def check_claims(settings: TimingSettings, numbers: Mapping[str, Any]) -> list[Claim]:
    """What theory says of learning across time, and whether it holds here."""
    claims = [
        Claim(
            text="the lag between input and plateau weakens plasticity exponentially, with the time constants of the "
            "two traces: a fit to the curve recovers both",
            run=f"{PAIRINGS} pairings at each of {len(lags())} lags",
            value=numbers["time_constant_error"],
            high=TIME_CONSTANT_ERROR,
            unit="%",
            numbers={name: numbers[name] for name in ("tau_x_fitted", "tau_plateau_fitted")},
        ),
        Claim(
            text="where plasticity depends on the weight, strong synapses shrink in the pairings that make weak ones "
            "grow",
            run=f"{PAIRINGS} pairings from a weight of 0 and from 0.8 of the largest",
            value=min(numbers["weak_change"], -numbers["strong_change"]),
            low=REVERSAL,
            numbers={name: numbers[name] for name in ("weak_change", "strong_change")},
        ),
        Claim(
            text="with traces the circuit finds the fixed point C_ey Vy = C_ex Vx QR at every delay of instruction",
            run=f"{settings.samples} samples, {settings.seeds} seeds, the largest of the mean angles",
            value=numbers["angle_traces"],
            high=FOUND,
            unit="degrees",
        ),
        Claim(
            text="the field that plateaus make has its peak where the traces predict it",
            run=f"{LAPS} laps with plateaus at {PLACES[0]:g} cm",
            value=numbers["field_place_error"],
            high=PLACE_ERROR,
            unit="cm",
            numbers={name: numbers[name] for name in ("field_place", "predicted_place", "field_shift")},
        ),
        Claim(
            text="the field that plateaus make is as wide as the traces predict",
            run=f"{LAPS} laps with plateaus at {PLACES[0]:g} cm",
            value=numbers["field_width_error"],
            high=WIDTH_ERROR,
            unit="%",
            numbers={name: numbers[name] for name in ("field_width", "predicted_width", "plain_field_width")},
        ),
    ]
    if "angle_plain_late" in numbers:
        claims.insert(
            3,
            Claim(
                text="without traces late instruction ends learning",
                run=f"{settings.samples} samples, {settings.seeds} seeds, the smallest of the mean angles",
                value=numbers["angle_plain_late"],
                low=LOST,
                unit="degrees",
            ),
        )
    return claims


def lag_panels(settings: TimingSettings, results: xr.Dataset) -> tuple:
    """What the figure of the pairings shows."""
    change = {str(rule): results["change"].sel(rule=rule).values for rule in results["rule"].values}
    # Shown from the middle of the pulses to the middle of the plateau.
    shift = 0.5 * PLATEAU - 0.5 * PULSE_INTERVAL * (PULSES - 1)
    return lags() + shift, change, results["predicted_change"].values, (settings.tau_x, settings.tau_plateau)


def delay_panels(settings: TimingSettings, results: xr.Dataset) -> tuple:
    """What the figure of late instruction shows."""
    angles = {RULES[str(rule)]: results["angle"].sel(learner=rule).values for rule in results["learner"].values}
    return settings.delays, angles, FOUND


def field_panels(results: xr.Dataset) -> tuple:
    """What the figure of the place fields shows."""
    fields = {RULES[str(rule)]: results["field"].sel(field_rule=rule).values for rule in results["field_rule"].values}
    return results["position"].values, fields, results["predicted_field"].values, PLACES, PLATEAU * SPEED


EXPERIMENT = Timing()
