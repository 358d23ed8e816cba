"""Let the circuit learn data and compare it with the exact solution.

Data are centred. Fills a run folder with the settings (config.toml), weights and traces (run.nc), final numbers
(summary.json) and figures. With several seeds, run.nc is the first one's, run-<seed>.nc are the others', and
the numbers are means with their spread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from biorrr.sims.experiment import Datasets, Findings, Found, Problem
from biorrr.sims.lab.rates import RatesSettings
from biorrr.sims.lab.settings import option
from biorrr.sims.lab.training import (
    MILLIVOLT_EPOCHS,
    Training,
    TrainingSettings,
    cell_arguments,
    cell_option,
    heading,
    scores,
)
from biorrr.sims.lazy import analysis, circuits, data_sets, np, xr
from biorrr.sims.page.views import SEEN, Chart, View

SPREAD = ("objective", "excess", "angle_max_deg", "whitening_error", "r_minus_qt")  # numbers that differ between seeds


@dataclass(frozen=True, kw_only=True)
class LearnSettings(RatesSettings, TrainingSettings):
    """What can be set of ``biorrr learn``."""

    epochs: int | None = option(  # type: ignore[assignment]
        None, f"number of passes over the data; 60 by default, {MILLIVOLT_EPOCHS} with cells in millivolts", at_least=1
    )
    cell: str = cell_option()


class Learn(Training[LearnSettings]):
    """``biorrr learn``: the circuit learns data and is compared with the exact solution."""

    settings = LearnSettings
    shows = "the circuit comes within a fraction of a percent of the exact optimum"
    takes = "7 s"
    measure = "excess"
    recorded = ("plateau", "a", "inhibition", "z")
    keeps_unfinished = True
    figures = {
        "learning_curve": "Objective of the circuit against the number of samples that it has seen. The lower the "
        "objective, the more of the instructive input the outputs predict. The dashed line is the optimum, the lowest "
        "value that so many neurons can reach: a circuit that has learned lies on it.",
        "plateau": "Four signals of each neuron in stretches of consecutive samples at the start of learning, halfway "
        "(where the circuit's prediction has come half the way to its final form) and at the end. The plateau (black) "
        "is what inhibition (green) leaves of the distal current (orange). At the start inhibition has nothing to do "
        "with the current; at the end it predicts it from the neuron's own output (blue), and what is left is the "
        "error of the prediction. Grey lines are the theory: behind the plateau the back-propagated error, behind the "
        "inhibition the best prediction of the current. Learning has succeeded where black lies on grey. All stretches "
        "of a neuron share the two scales on the right, in the units of the signals; triangles mark values that are "
        "too large for them.",
        "filters": "Proximal weights of each neuron, above as learned, below as the exact solution has them. Any "
        "rotation of the filters predicts equally well, so the learned ones were turned to lie as near as possible to "
        "the exact ones. The two rows should look the same.",
        "eigenvalues": "Eigenvalues of QQ', by which interneurons inhibit (diamonds), beside those of the matrix M of "
        "the exact solution (bars), which say how much of the instructive input each filter can predict; minus the sum "
        "of the first k is the optimum. Each diamond should come to lie within 10 percent of its bar (whiskers). Q "
        "goes on to converge after the filters have found the right subspace, and as long as diamonds are off the "
        "outputs are not yet of unit variance, but the objective does not suffer.",
        "excess": "How far the objective lies above the optimum, in percent of the optimum, against the number of "
        "samples seen: the mean over all seeds, in a band of one standard deviation.",
    }
    charts = (
        Chart(
            "All seeds",
            (
                View("excess over the optimum", {"excess": "circuit"}, SEEN, repeats=("seed",), log="xy", percent=True),
                View("‖Q′ − R‖", {"r_minus_qt": "circuit"}, SEEN, repeats=("seed",), log="xy"),
            ),
        ),
    )

    def check(self, settings: LearnSettings) -> LearnSettings:
        """Settle how long to learn."""
        usual = MILLIVOLT_EPOCHS if settings.cell == "millivolts" else TrainingSettings.epochs
        return replace(settings, epochs=settings.epochs or usual)

    def fit(self, settings: LearnSettings, data: data_sets.Dataset) -> LearnSettings:
        """Refuse rates that there are none of."""
        settings.given_rates(data.name, settings.s, settings.k)
        return super().fit(settings, data)

    def circuit_options(self, problem: Problem[LearnSettings]) -> dict[str, Any]:
        """The cells, where they are not the paper's, and the rates, where they do not follow the data."""
        settings = problem.settings
        rates = settings.given_rates(problem.data.name, settings.s, settings.k)
        return cell_arguments(settings.cell) | ({} if rates is None else {"rates": rates})

    def conclude(self, problem: Problem[LearnSettings], found: Found) -> Findings:
        """Score the run of each seed; draw the first."""
        settings, data, exact = problem.settings, problem.data, problem.exact
        runs = dict(zip(settings.every_seed, found.values(), strict=True))
        first, several = runs[settings.seed], len(runs) > 1
        each = [scores(run, exact) for run in runs.values()]
        numbers = heading(problem) | ({"seeds": settings.seeds} if several else {}) | each[0]
        figures = draw(first, problem)
        if several:
            numbers["seconds"] = sum(one["seconds"] for one in each)
            for score in SPREAD:
                values = np.array([one[score] for one in each])
                numbers |= {score: values.mean(), f"{score}_std": values.std(), f"{score}_max": values.max()}
            excess = np.stack([exact.excess(run.data["Vx"].values) for run in runs.values()])
            figures["excess"] = partial(analysis.plot_learning, first.data["seen"], excess, label="circuit")

        def shown(score: str, alone: str = ".4g") -> str:
            if not several:
                return format(numbers[score], alone)
            form = ".2%" if alone == ".2%" else ".4g"
            mean, spread, most = (format(numbers[f"{score}{suffix}"], form) for suffix in ("", "_std", "_max"))
            return f"{mean} ± {spread}, at most {most}"

        seen = first.data["seen"].values
        return Findings(
            numbers=numbers,
            title=f"{data.name}: {len(data.X)} samples, {data.X.shape[1]} inputs, {data.Y.shape[1]} targets"
            + (f", {settings.seeds} seeds" if several else "")
            + "; data are centred",
            rows={
                "objective": shown("objective"),
                "optimum": numbers["optimum"],
                "excess": shown("excess", ".2%"),
                "largest angle": f"{shown('angle_max_deg', '.3g')} degrees to the exact filters",
                "whitening error": shown("whitening_error"),
                "||R - Q'||": shown("r_minus_qt"),
                "samples": f"{numbers['samples']}{' each' if several else ''} on engine {numbers['engine']} in "
                f"{numbers['seconds']:.1f} s",
            },
            results={"run" if seed == settings.seed else f"run-{seed}": run for seed, run in runs.items()},
            figures=figures,
            curves={"excess": (seen, exact.excess(first.data["Vx"].values)), "r_minus_qt": (seen, first.r_minus_qt)},
        )

    def page_results(self, results: Datasets, exact: analysis.Yardstick | None) -> Datasets:
        """Excess and ||Q' - R|| of the runs of all seeds, each (seed, snapshot), where there are several."""
        if len(results) < 2:
            return {}
        runs = sorted((circuits.Run(dataset) for dataset in results.values()), key=lambda run: run.data.attrs["seed"])
        courses = {"r_minus_qt": [run.r_minus_qt for run in runs]}
        if exact is not None:
            courses["excess"] = [np.atleast_1d(exact.excess(run.data["Vx"].values)) for run in runs]
        joined = xr.Dataset(
            {name: (("seed", "snapshot"), np.stack(course)) for name, course in courses.items()}
            | {"seen": ("snapshot", runs[0].data["seen"].values)},
            coords={"seed": [int(run.data.attrs["seed"]) for run in runs]},
        )
        return {"run": joined}


def draw(run: circuits.Run, problem: Problem[LearnSettings]) -> dict[str, Callable[[], Any]]:
    """Learning curve, plateaus through learning, filters and eigenvalues: as the run draws them from a script."""
    data, exact = problem.data, problem.exact
    figures: dict[str, Callable[[], Any]] = {"learning_curve": partial(run.plot_learning, exact=exact)}
    if "plateau" in run.data and run.data.sizes["sample"]:  # unless the run ended before the first sample
        figures["plateau"] = partial(run.plot_plateau, data.X, data.Y, exact=exact)
    if run.ended != "diverged":
        figures["filters"] = partial(run.plot_filters, pixels=data.pixels, exact=exact)
        figures["eigenvalues"] = partial(run.plot_eigenvalues, exact=exact)
    return figures


EXPERIMENT = Learn()
