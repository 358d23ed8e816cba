"""Show how the interneurons' two sets of weights, Q and R, find each other.

From unrelated starts ||Q' - R|| falls as (1 - eta/tau)^T: measured against that for several
eta/tau. A test of our own, of which the paper says nothing: whether circuits run away from starts
where QR has a negative eigenvalue, so that inhibition excites until R has met Q'. None does on
digits; with proximal plasticity five times as fast 4 of 8 did. Data are centred.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from biorrr.sims.data import SMALL_DATA, Dataset
from biorrr.sims.lab import (
    PERCENT,
    Claim,
    Figure,
    Findings,
    Lab,
    LearnerSettings,
    Quantity,
    Task,
    compiled_if_possible,
    experiment,
    farthest,
    option,
    quantities,
)
from biorrr.sims.lazy import analysis, circuits, models, np, xr
from biorrr.sims.words import in_full

SNAPSHOTS = 60
# of ||Q' - R|| to its start: the theory is held to TOLERANCE down to here, and seen to go on
SMALLEST_RATIO = 1e-8
TOLERANCE = 1e-6  # relative deviation from theory, either way
PLACE = 'supplement D, "Decoupling the interneuron synapses"'
# Rates of Vx and Vy over that of Q and R, in units of what undoes a typical error in one sample.
# With smaller ones inhibition fades before outputs grow; these learn on digits at s = 0 and 1 with
# eta/tau from 0.0003 to 0.003.
PROXIMAL, DISTAL = 24.0, 1.0
DURATION = 60.0  # of a run, in 1/(eta/tau) samples
# ||R - Q'|| / ||Q|| and excess up to which R has met Q' in circuits that learn
MET, LEARNED = 1e-4, 0.05
SIGNS = "positive", "negative"  # of the eigenvalues of QR at the start


class SymmetrySettings(LearnerSettings, seeds=8):
    """Settings of ``biorrr symmetry``."""

    ridge: float = option(0.0, "added to Cxx and Cyy", at_least=0)
    etas: tuple[float, ...] = option(
        (0.0003, 0.001, 0.003),
        "rates eta/tau of Q and R; may be repeated; noise of learning grows with them",
        at_least=1e-5,
        at_most=0.5,
    )


@experiment(
    shows="R finds Q' at the predicted rate, from unrelated starts",
    takes="9 s",
    paper=PLACE,
    measure="relative_error_max",
    captions={
        "symmetry": (
            "How the weights R, from pyramidal cells to interneurons, find the transpose of Q, the"
            " weights back, though both start at random and neither sees the other, in circuits"
            " that learn meanwhile. All panels share an axis: samples times the rate eta/tau of Q"
            " and R. Left: distance between the two, over its start, from several starts each; the"
            " theory (dashed) has no free parameter, and the marks should lie on it; they are off"
            " it by at most {relative_error_max} of it. Middle: ||QQ'||, by which interneurons"
            " inhibit, relative to that of the exact solution. If R and Q only faded together, it"
            " would fall to 0; in the end ||R - Q'|| / ||Q|| is at most {distance_max}. Right:"
            " excess of the circuits over the optimum, in the end at most {excess_max}."
        )
    },
    small={"data": SMALL_DATA, "etas": (0.1, 0.3), "seeds": 2, "engine": "numpy"},
)
def symmetry(lab: Lab, settings: SymmetrySettings) -> Findings:
    """Follow Q and R from unrelated starts, and compare their meeting with theory."""
    from biorrr.analysis.figures.inhibition import plot_meeting

    # Each run is short, but there are many.
    settings = lab.set(engine=compiled_if_possible(settings.engine))
    data = lab.load(settings.data, settings.k)
    exact = analysis.ExactSolution(*data.stand_in, settings.s, settings.ridge)

    over = {"eigenvalues": SIGNS, "eta": settings.etas, "start": settings.every_seed}
    results = lab.map(follow, over, data, exact)

    found = summary(results)
    return Findings(
        title=(
            f"{data.name}: ||Q' - R|| from {settings.seeds} starts of each kind; data are centred"
        ),
        quantities=[
            *quantities({"data": data.name, "k": settings.k, "s": settings.s}),
            *quantities({"starts": settings.seeds, "engine": settings.engine}),
            *found.values(),
        ],
        data={"run": results},
        figures=[
            Figure("symmetry", partial(plot_meeting, results, found["relative_error_max"].value))
        ],
        claims=[decay(settings, data.name, found)],
        own_tests=[
            Claim.about(found[name], text)
            for name, text in {
                "negative_diverged": (
                    "no circuit runs away from a start where QR has a negative eigenvalue"
                ),
                "distance_max": "R is Q' in the end, relative to ||Q||",
                "excess_max": "circuits learn while R finds Q'",
            }.items()
        ],
    )


def follow(
    task: Task,
    data: Dataset,
    exact: analysis.ExactSolution,
    eigenvalues: str,
    eta: float,
    start: int,
) -> dict[str, Any]:
    """Follow one circuit from one start, with the rate ``eta`` of Q and R.

    ``start`` is the seed of the start and of the order of samples. Where ``eigenvalues`` is
    negative, QR has a negative eigenvalue at first.

    Returns, each (snapshot,): samples seen, ||Q' - R|| over its start as measured and as predicted,
    the rounding error to expect in it, ||Q' - R|| / ||Q||, ||QQ'|| over that of the exact solution,
    the excess, and the mean power |z|^2 of the output; and whether it diverged.
    """
    settings, k, s = task.settings, task.settings.k, task.settings.s
    power_x, power_y = data.X.var(axis=0).sum(), data.Y.var(axis=0).sum()
    rates = models.Rates(  # of Vx and Vy to suit the scale of the data
        x=models.Rate(PROXIMAL * eta / (power_x * -exact.optimum(k))),
        y=models.Rate(DISTAL * eta / (1 - s + s * power_y)),
        q=models.Rate(eta),
    )
    weights = unrelated(start, k, exact, eigenvalues == "negative")
    circuit = settings.make_circuit(
        k=k, s=s, ridge=settings.ridge, seed=start, rates=rates, **weights
    )
    order = np.random.default_rng(start).integers(len(data.X), size=math.ceil(DURATION / eta))
    saved: Any = {"record": (), "snapshots": ("linear", SNAPSHOTS)}
    try:
        run = task.run(circuit, data.X, data.Y, order=order, centre=True, **saved)
    except circuits.Diverged as error:
        run = error.run
    Vx, Q = run.data["Vx"].values, run.data["Q"].values
    with np.errstate(over="ignore"):  # of a circuit that has diverged
        power = np.square(data.centred().X @ Vx).mean(axis=1).sum(axis=1)
        inhibition = np.linalg.norm(Q @ Q.swapaxes(1, 2), axis=(1, 2))
    decay = analysis.symmetry_decay(Q, run.data["R"], run.data["seen"], eta)
    return {
        "seen": ("snapshot", decay.samples),
        "ratio": ("snapshot", decay.measured / decay.measured[0]),
        "predicted": ("snapshot", decay.predicted / decay.measured[0]),
        "rounding": ("snapshot", decay.rounding / decay.measured[0]),
        "distance": ("snapshot", run.r_minus_qt_relative),
        "inhibition": ("snapshot", inhibition / np.linalg.norm(exact.eigenvalues[:k])),
        "excess": ("snapshot", exact.excess(Vx)),
        "power": ("snapshot", power),
        "diverged": int(run.ended == "diverged"),
    }


def unrelated(
    seed: int, k: int, exact: analysis.ExactSolution, negative: bool
) -> dict[str, np.ndarray]:
    """Draw unrelated Q0 and R0, (k, k), of the size that Q has at the optimum.

    Pairs are drawn until QR has an eigenvalue with negative real part, or until it has none.
    """
    rng = np.random.default_rng([seed, k])
    size = math.sqrt(-exact.optimum(k)) / k
    while True:
        Q, R = size * rng.standard_normal((2, k, k))
        if (np.linalg.eigvals(Q @ R).real.min() < 0) == negative:
            return {"Q0": Q, "R0": R}


def summary(results: xr.Dataset) -> dict[str, Quantity]:
    """Return the errors of the theory, the peaks of the output's power, and how many runs diverged,
    by name.
    """
    predicted = results["predicted"]
    error = (results["ratio"] / predicted - 1).where(predicted > SMALLEST_RATIO)
    usual = error.sel(eigenvalues="positive")
    # A run that diverges has weights so large that their difference is nothing but rounding error.
    resolved = error.where(predicted > results["rounding"]).sel(eigenvalues="negative")
    peaks = results["power"].max("snapshot").median("start")
    found: list[Quantity] = []
    for eta in results["eta"].values:
        at, (peak, excited) = in_full(eta), (peaks.sel(eta=eta, eigenvalues=sign) for sign in SIGNS)
        deviation = abs(farthest(usual.sel(eta=eta)))
        found += quantities(
            {
                f"relative_error_{at}": (deviation, "", "relative deviation from theory"),
                f"negative_relative_error_{at}": abs(farthest(resolved.sel(eta=eta))),
                f"peak_power_{at}": (peak, "", "peak output power"),
                f"negative_peak_power_{at}": (excited, "", "with a negative eigenvalue of QR"),
            },
            f"eta/tau = {at}",
        )
    # Starts with a negative eigenvalue are as unrelated as others, but one that runs away is none
    # of the paper's.
    whole = resolved.where(results["diverged"].sel(eigenvalues="negative") == 0)
    deviation = max(
        farthest(usual),
        farthest(whole, 0.0),
        key=lambda one: math.inf if math.isnan(one) else abs(one),
    )
    diverged, runaways = (int(count) for count in results["diverged"].sum(("eta", "start")))
    # Among circuits that have not diverged.
    end = results[["distance", "excess"]].isel(snapshot=-1).where(results["diverged"] == 0).max()
    met, learned = "||R - Q'|| / ||Q|| in the end, at most", "excess in the end, at most"
    found += [
        Quantity("diverged", diverged),
        Quantity("negative_diverged", runaways, bound=(0, 0)),
        Quantity("relative_error_max", abs(deviation)),
        Quantity("deviation", deviation, bound=(-TOLERANCE, TOLERANCE)),
        Quantity("distance_max", end["distance"], words=met, bound=(0, MET)),
        Quantity("excess_max", end["excess"], PERCENT, learned, bound=(-1e-9, LEARNED)),
    ]
    return {one.name: one for one in found}


def decay(settings: SymmetrySettings, data: str, found: Mapping[str, Quantity]) -> Claim:
    """Judge what the supplement says of the decay."""
    runs, diverged = settings.seeds * len(settings.etas), found["diverged"].value
    met = found["distance_max"].value <= MET  # not so where R and Q fade together
    return Claim.about(
        found["deviation"],
        "the difference [between Q' and R] decays exponentially",
        place=PLACE,
        data=data,
        run=(
            f"||Q' - R|| beside (1 - eta/tau)^T, {settings.k} neurons, {runs} starts without and"
            f" {runs} with a negative eigenvalue of QR, down to {SMALLEST_RATIO:g} of the start; R"
            f" is Q' to {MET:g} of ||Q|| in the end"
        ),
        value=math.nan if diverged or not met else found["deviation"].value,
        numbers={
            "largest relative error": found["relative_error_max"].value,
            "diverged": diverged,
            "||R - Q'|| / ||Q|| in the end": found["distance_max"].value,
            "excess in the end": found["excess_max"].value,
        },
    )
