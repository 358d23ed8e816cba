"""Show how plasticity bridges time: seconds between input and plateau, late instruction, and place
fields.

Three experiments with two rules: the paper's, which knows no time, and eligibility traces of input,
plateau and output. First, an input is paired with a plateau, seconds before or after it (protocol
of Bittner et al. 2017). Second, the instruction comes some samples late. Third, an animal runs
around a circular track, and plateaus at one place make a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import Data, Synthetic
from biorrr.sims.experiments.timing.late_instruction import (
    late_learners,
    late_quantities,
    late_results,
    learn_late,
)
from biorrr.sims.experiments.timing.pairings import pair, pairing_quantities, pairing_results
from biorrr.sims.experiments.timing.place_fields import field_quantities, field_results, run_laps
from biorrr.sims.experiments.timing.single_cell import RULES
from biorrr.sims.lab import (
    Claim,
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    Quantity,
    compiled_if_possible,
    data_option,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lab.training import check_rank
from biorrr.sims.lazy import analysis, xr

QUICK_SAMPLES = 20_000


@dataclass(frozen=True, kw_only=True)
class TimingSettings(ExperimentSettings):
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
    seeds: int = seeds_option(3)
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
CAPTIONS = {
    "lags": (
        "Change of a weight when an input (ten pulses at 20 Hz) is paired five times with a plateau"
        " of 300 ms, against how long the plateau comes after the input. With eligibility traces"
        " (dots) plasticity bridges seconds on either side, along the theory (dashed); the paper's"
        " rule (squares) needs both at the same time. Time constants fitted to the dots are"
        " {tau_x_fitted} of the input and {tau_plateau_fitted} of the plateau."
    ),
    "delays": (
        "Angle between the filters that a circuit learns and the fixed point of learning with"
        " traces, against the number of samples by which instruction is late. Dots are seeds, lines"
        " join medians; the band is where the fixed point counts as found. Without traces one"
        " sample of delay ends learning; with traces the circuit finds the fixed point, less"
        " precisely the later the instruction: to {angle_traces_max} at the longest delay."
    ),
    "field": (
        "Place fields of a cell on a circular track after plateaus at one place (grey band), each"
        " relative to its own peak. With traces the field begins before the place of the plateau,"
        " as the theory (dashed) says: its middle is at {field_place}, by theory at"
        " {predicted_place}."
    ),
}


@experiment(
    shows="[plasticity across seconds](docs/time.md): lags, late instruction, place fields",
    takes="22 s",
    paper="beyond it",
    measure="angle_traces",
    captions=CAPTIONS,
    small={
        "data": Synthetic(samples=200, m=5, n=4, latents=3),
        "samples": 1000,
        "delays": (0, 2),
        "seeds": 1,
    },
)
def timing(lab: Lab, settings: TimingSettings) -> Findings:
    """Try each rule on pairings, late instruction and place fields, and compare it with theory."""
    from biorrr.analysis.figures import timing as figures

    if settings.quick:
        settings = lab.set(samples=min(settings.samples, QUICK_SAMPLES), seeds=1)
    # Many short runs share a circuit.
    settings = lab.set(
        engine=compiled_if_possible(settings.engine), delays=tuple(sorted({*settings.delays}))
    )
    data = lab.load(settings.data)
    check_rank(settings.k, data)
    exact = analysis.ExactSolution(
        *data.stand_in, 0.0, 0.0
    )  # of the regression that late instruction teaches

    paired = lab.each(pair, RULES)
    taught = lab.each(learn_late, late_learners(settings), data, exact)
    fields = lab.each(run_laps, RULES)

    results = xr.merge(
        [
            pairing_results(settings, paired),
            late_results(settings, taught),
            field_results(settings, fields),
        ]
    )
    quantities = [
        Quantity("data", data.name),
        Quantity("engine", settings.engine),
        Quantity("samples", settings.samples),
        *pairing_quantities(settings, results),
        *late_quantities(settings, results),
        *field_quantities(results),
    ]
    return Findings(
        title=(
            f"plasticity and time; instruction late on {data.name}, up to {settings.delays[-1]}"
            f" samples, {settings.seeds} seeds"
        ),
        quantities=quantities,
        data={"run": results},
        figures=[
            Figure("lags", partial(figures.plot_lags, results)),
            Figure("delays", partial(figures.plot_delays, results)),
            Figure("field", partial(figures.plot_fields, results)),
        ],
        own_tests=[Claim.about(one, CLAIMS[one.name]) for one in quantities if one.name in CLAIMS],
    )
