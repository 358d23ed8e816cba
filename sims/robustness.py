"""``biorrr robustness``: how far the circuit can depart from the paper's and still learn."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims import experiment
from biorrr.sims.checkpoints import Checkpoints
from biorrr.sims.folder import RunFolder
from biorrr.sims.learn import LearnSettings, fit
from biorrr.sims.pool import process_pool
from biorrr.sims.settings import Settings, SettingsError, checkpoint_option, config_text, option
from biorrr.sims.table import print_table

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from biorrr.circuit import Run
    from biorrr.sims.knobs import Reference

TOLERATED = 0.05  # excess up to which the circuit counts as learning
NOT_LEARNED = 1.0  # excess of filters that explain nothing: what a circuit that diverged is given
QUICK_SAMPLES, QUICK_SEEDS = 10_000, 2


@dataclass(frozen=True, kw_only=True)
class RobustnessSettings(Settings):
    """What can be set of ``biorrr robustness``."""

    data: tuple[str, ...] = option(("digits", "v1v2"), "names that `biorrr data` lists, or files; may be repeated")
    knobs: tuple[str, ...] = option(("all",), "departures to sweep, by the names in the table; may be repeated")
    k: int = option(2, "pyramidal neurons, the rank of the regression", short="k", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    samples: int = option(60_000, "samples each circuit sees, to the end of an epoch", at_least=1)
    seeds: int = option(5, "how many seeds to run, from --seed on", at_least=1)
    quick: bool = option(False, f"a first look: every other value, {QUICK_SEEDS} seeds, {QUICK_SAMPLES} samples")
    engine: str = option("auto", "what simulates the circuit", choices=("auto", "numpy", "cython", "cpp"))
    seed: int = option(0, "the first seed, of initial weights, order of samples and chance", at_least=0)
    format: str = option("png", "of the figure", choices=("png", "pdf", "svg"))
    checkpoint: float = checkpoint_option()


def robustness(settings: RobustnessSettings, folder: RunFolder) -> None:
    """Sweep each departure from the paper's circuit until learning breaks.

    Every departure is a switch of the circuit, turned up alone, from near the paper's circuit to far from it; excess is
    against the exact optimum, mean over seeds. Seeds and departures run in parallel, one process a core. Data are
    centred.
    """
    import xarray as xr

    from biorrr.analysis.departures import plot_departures
    from biorrr.sims.data import load
    from biorrr.sims.knobs import KNOBS

    names = tuple(KNOBS) if settings.knobs == ("all",) else settings.knobs
    for name in names:
        if name not in KNOBS:
            raise SettingsError(f"knobs: must be among {', '.join(KNOBS)} (got {name!r})")
    checksums = ",".join(load(name).checksum for name in settings.data)
    with folder.opened(config_text(settings, experiment.provenance("robustness", data_sha256=checksums))):
        workers = min(os.cpu_count() or 1, len(names) * len(settings.data))
        with process_pool(workers, method="spawn") as executor:
            table = _sweep(executor, settings, names, Checkpoints.of(folder, settings.checkpoint))

    folder.write_results(xr.merge(table.values()))
    panels = {KNOBS[name].label: (table[name][f"{name}_value"].values, table[name][name].values) for name in names}
    plain = table["plain"]["plain"].mean("seed").values
    unordered = {KNOBS[name].label for name in names if not KNOBS[name].ordered}
    axes = plot_departures(panels, unordered, dict(zip(settings.data, plain, strict=True)), TOLERATED)
    folder.write_figure("robustness", settings.format, axes)
    numbers: dict[str, Any] = {f"{data}_plain": score for data, score in zip(settings.data, plain, strict=True)}
    for name in names:
        for data in settings.data:
            numbers[f"{data}_{name}"] = farthest(table[name][name].sel(data=data).mean("seed"), KNOBS[name].ordered)
    folder.write_summary({"tolerated": TOLERATED, "samples": _samples(settings), "seeds": _seeds(settings)} | numbers)
    print_table(
        f"farthest from the paper's circuit with excess below {TOLERATED:.0%}, mean over {_seeds(settings)} seeds",
        numbers | {"written to": folder.path},
    )


def _seeds(settings: RobustnessSettings) -> int:
    return min(settings.seeds, QUICK_SEEDS) if settings.quick else settings.seeds


def _samples(settings: RobustnessSettings) -> int:
    return min(settings.samples, QUICK_SAMPLES) if settings.quick else settings.samples


def _sweep(
    executor: Executor, settings: RobustnessSettings, names: Sequence[str], checkpoints: Checkpoints
) -> dict[str, xr.Dataset]:
    """Excess by departure, each (data, value, seed), the plain circuit's (data, seed) among them."""
    import numpy as np
    import xarray as xr

    from biorrr.sims.knobs import KNOBS

    seeds = list(range(settings.seed, settings.seed + _seeds(settings)))
    # Data by number: what the user calls them may be a path.
    kept = {data: checkpoints.within(f"data-{i}") for i, data in enumerate(settings.data)}
    plain = [executor.submit(_plain, settings, data, seeds, kept[data].within("plain")) for data in settings.data]
    values = {name: list(KNOBS[name].values)[:: 2 if settings.quick else 1] for name in names}
    pending: dict[tuple[str, str], Future] = {}
    for data, outcome in zip(settings.data, plain, strict=True):
        _, reference = outcome.result()
        for name in names:
            pending[name, data] = executor.submit(
                _turned, settings, data, name, values[name], seeds, reference, kept[data].within(name)
            )
    table = {
        "plain": xr.Dataset(
            {"plain": (("data", "seed"), np.array([outcome.result()[0] for outcome in plain]))},
            {"data": list(settings.data), "seed": seeds},
        )
    }
    for name in names:
        excess = np.array([pending[name, data].result() for data in settings.data])
        table[name] = xr.Dataset(
            {name: (("data", f"{name}_value", "seed"), excess, {"long_name": KNOBS[name].label.replace("\n", " ")})},
            {"data": list(settings.data), f"{name}_value": values[name], "seed": seeds},
        )
    return table


def _plain(
    settings: RobustnessSettings, data_name: str, seeds: Sequence[int], checkpoints: Checkpoints
) -> tuple[list[float], Reference]:
    """Excess of the plain circuit for each seed, and its plateaus as the measure of departures."""
    import numpy as np

    from biorrr.sims.knobs import Reference

    outcomes = _learned(settings, data_name, seeds, checkpoints, {})
    plateaus = [run.data["plateau"].values[len(run.data["sample"]) // 2 :] for _, run in outcomes]
    return [excess for excess, _ in outcomes], Reference(float(np.sqrt(np.mean(np.square(plateaus)))), settings.k)


def _turned(
    settings: RobustnessSettings,
    data_name: str,
    name: str,
    values: Sequence,
    seeds: Sequence[int],
    reference: Reference,
    checkpoints: Checkpoints,
) -> np.ndarray:
    """Excess with a departure turned to each of ``values``, shape (values, seeds)."""
    import numpy as np

    from biorrr.sims.knobs import KNOBS

    excess = np.empty((len(values), len(seeds)))
    for i, value in enumerate(values):
        departure = KNOBS[name].settings(value, reference)
        lesion = value if name == "lesion" else None
        outcomes = _learned(settings, data_name, seeds, checkpoints.within(f"value-{i}"), departure, lesion)
        excess[i] = [score for score, _ in outcomes]
    return excess


def _learned(
    settings: RobustnessSettings,
    data_name: str,
    seeds: Sequence[int],
    checkpoints: Checkpoints,
    departure: dict[str, Any],
    lesion: str | None = None,
) -> list[tuple[float, Run]]:
    """Excess of a circuit after learning, and its run, for each seed."""
    from biorrr.circuit import Diverged, Microcircuit
    from biorrr.sims.data import load
    from biorrr.sims.knobs import lesions

    data = load(data_name)
    learning, yardstick = fit(LearnSettings(data=data_name, k=settings.k, s=settings.s), data)
    circuit = Microcircuit(settings.k, settings.s, ridge=learning.ridge, engine=settings.engine, **departure)
    epochs = -(-_samples(settings) // len(data.X))
    events = lesions(lesion, epochs * len(data.X) // 2, data.X, data.Y) if lesion else ()
    outcomes = []
    for seed in seeds:
        circuit.seed = seed  # of the same circuit, which is built but once
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of columns that say nothing: the same for all circuits
                run = circuit.run(
                    data.X, data.Y, epochs=epochs, record="plateau", every=20, snapshots=1, centre=True, events=events,
                    progress=False, **checkpoints.run_options(f"seed-{seed}"),
                )  # fmt: skip
        except Diverged as failure:
            outcomes.append((NOT_LEARNED, failure.run))
            continue
        if run.ended == "interrupted":
            raise KeyboardInterrupt
        Vx = run.Vx[::-1] if lesion == "new data" else run.Vx
        outcomes.append((min(float(yardstick.excess(Vx)), NOT_LEARNED), run))
    return outcomes


def farthest(excess: xr.DataArray, ordered: bool) -> float | str | None:
    """The last value before excess, shape (values,), first reaches what is tolerated; without order, all below that."""
    import numpy as np

    learned = excess.values < TOLERATED
    values = excess[excess.dims[0]].values
    if not ordered:
        return "; ".join(map(str, values[learned])) or None
    reached = len(values) if learned.all() else int(np.argmin(learned))
    return float(values[reached - 1]) if reached else None


command = experiment.command(RobustnessSettings, robustness)
