"""What experiments that train the circuit on data share: their settings, and a run for each seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biorrr.sims.checkpoints import Checkpoints
from biorrr.sims.experiment import StoppedError
from biorrr.sims.settings import Settings, checkpoint_option, option

# NumPy, Brian2 and matplotlib take long to import: they are imported where they are used, so that --help need not wait.
if TYPE_CHECKING:
    from biorrr.circuit import Run
    from biorrr.sims.data import Dataset


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(Settings):
    """What can be set of an experiment that trains circuits."""

    data: str = option("digits", "a name that `biorrr data` lists, an .npz or .mat file with X and Y, or x.csv,y.csv")
    k: int = option(2, "pyramidal neurons, the rank of the regression", short="k", at_least=1)
    s: float = option(0.0, "0 is RRMSE, 1 is CCA", short="s", at_least=0, at_most=1)
    epochs: int = option(60, "passes over the data", at_least=1)
    ridge: float | None = option(None, "added to Cxx and Cyy, 0.1 * trace(Cxx)/m by default", at_least=0)
    engine: str = option("auto", "what simulates the circuit", choices=("auto", "numpy", "cython", "cpp"))
    seed: int = option(0, "of the initial weights and the order of samples", at_least=0)
    seeds: int = option(1, "how many seeds to run, from --seed on", at_least=1)
    format: str = option("png", "of the figures", choices=("png", "pdf", "svg"))
    checkpoint: float = checkpoint_option()

    @property
    def every_seed(self) -> range:
        """The seeds to run."""
        return range(self.seed, self.seed + self.seeds)


def train(settings: TrainingSettings, data: Dataset, checkpoints: Checkpoints, **options: Any) -> dict[int, Run]:
    """Let a circuit for each seed learn ``data``, centred; ``options`` are of :meth:`Microcircuit.run`."""
    from biorrr.circuit import Microcircuit

    circuit = Microcircuit(settings.k, settings.s, ridge=settings.ridge, engine=settings.engine)
    runs = {}
    for seed in settings.every_seed:
        circuit.seed = seed  # of the same circuit, which is built but once
        kept = checkpoints.run_options(f"seed-{seed}")
        runs[seed] = completed(circuit, data, epochs=settings.epochs, **kept, **options)
    return runs


def completed(circuit: Any, data: Dataset, **options: Any) -> Run:
    """Run ``circuit`` on ``data``, centred, to the end: an experiment of many runs has no use for half of one."""
    from biorrr.circuit import Diverged

    try:
        run = circuit.run(data.X, data.Y, centre=True, **options)
    except Diverged as error:
        raise StoppedError(f"seed {circuit.seed}: {error}", exit_code=1) from error
    if run.ended == "interrupted":
        raise KeyboardInterrupt
    return run
