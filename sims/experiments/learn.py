"""Let the circuit learn data and compare it with the exact solution.

Data are centred. Fills a run folder with the settings (config.toml), weights and traces (run.nc), final numbers
(summary.json) and figures. With several seeds, run.nc is the first one's, run-<seed>.nc are the others', and
the numbers are means with their spread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from biorrr.sims.experiment import Datasets, Findings, Found, Problem
from biorrr.sims.lazy import analysis, circuits, data_sets, np, xr
from biorrr.sims.rates import RatesSettings
from biorrr.sims.reports.views import SEEN, Chart, View
from biorrr.sims.training import Training, TrainingSettings, heading, scores

SHOWN_NEURONS = 6  # that fit a page
SPREAD = ("objective", "excess", "angle_max_deg", "whitening_error", "r_minus_qt")  # numbers that differ between seeds


@dataclass(frozen=True, kw_only=True)
class LearnSettings(RatesSettings, TrainingSettings):
    """What can be set of ``biorrr learn``."""


class Learn(Training[LearnSettings]):
    """``biorrr learn``: the circuit learns data and is compared with the exact solution."""

    settings = LearnSettings
    shows = "the circuit comes within a fraction of a percent of the exact optimum"
    takes = "13 s"
    measure = "excess"
    recorded = ("plateau", "a", "inhibition", "z")
    keeps_unfinished = True
    figures = {
        "learning_curve": "objective against samples seen, with the optimum dashed",
        "plateau": "plateau, distal current, inhibition and output of each neuron, early and late in learning",
        "filters": "learned filters beside the exact ones",
        "eigenvalues": "eigenvalues of QQ' beside the exact ones",
        "excess": "excess over the optimum against samples seen, all seeds",
    }
    charts = (
        Chart(
            "All seeds",
            (
                View("excess over the optimum (relative)", {"excess": "circuit"}, SEEN, repeats=("seed",), log="xy"),
                View("‖Q′ − R‖", {"r_minus_qt": "circuit"}, SEEN, repeats=("seed",), log="xy"),
            ),
        ),
    )

    def fit(self, settings: LearnSettings, data: data_sets.Dataset) -> LearnSettings:
        """Refuse rates that there are none of."""
        settings.given_rates(data.name, settings.s, settings.k)
        return super().fit(settings, data)

    def circuit_options(self, problem: Problem[LearnSettings]) -> dict[str, Any]:
        """The rates, where they do not follow the data."""
        settings = problem.settings
        rates = settings.given_rates(problem.data.name, settings.s, settings.k)
        return {} if rates is None else {"rates": rates}

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
            return f"{numbers[score]:.4g} ± {numbers[f'{score}_std']:.2g}, at most {numbers[f'{score}_max']:.4g}"

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
    """Learning curve, plateaus early and late, and filters and eigenvalues of QQ' beside the exact ones.

    Filters are defined up to a rotation: the learned ones are turned to lie as near as they can to the exact ones.
    """
    exact, k = problem.exact, run.Vx.shape[1]
    objective = exact.objective(run.data["Vx"].values)
    figures: dict[str, Callable[[], Any]] = {
        "learning_curve": partial(
            analysis.plot_learning, run.data["seen"], objective, exact.optimum(k), label="circuit"
        )
    }
    if "plateau" in run.data:  # unless the run ended before the first sample
        shown = run.data.isel(pyramidal=slice(SHOWN_NEURONS))
        traces = (shown[name].values for name in Learn.recorded)
        figures["plateau"] = partial(analysis.plot_plateau, shown["sample"].values, *traces)
    if run.ended == "diverged":
        return figures
    few = np.s_[:, :SHOWN_NEURONS]
    learned = analysis.align(run.Vx, exact.Vx(k), problem.data.stand_in[0], exact.ridge)
    figures["filters"] = partial(analysis.plot_filters, learned[few], exact.Vx(k)[few], problem.data.pixels)
    inhibition = np.linalg.eigvalsh(run.Q @ run.Q.T)[::-1]
    figures["eigenvalues"] = partial(analysis.plot_eigenvalues, exact.eigenvalues[: k + 4], inhibition)
    return figures


EXPERIMENT = Learn()
