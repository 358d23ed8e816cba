"""The frame of every experiment: a lab, settings, run folder, checkpoints, processes, quantities
and claims.

All that an experiment needs of it is imported from here.
"""

from biorrr.sims.lab.checks import check_rank, default_ridge
from biorrr.sims.lab.circuits import compiled_if_possible, completed
from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.declaration import Experiment, experiment
from biorrr.sims.lab.findings import Figure, Findings
from biorrr.sims.lab.lab import Job, Lab
from biorrr.sims.lab.quantities import PERCENT, Quantity
from biorrr.sims.lab.settings import (
    ExperimentSettings,
    SettingsError,
    data_option,
    option,
    seeds_option,
)

__all__ = [
    "PERCENT",
    "Claim",
    "Experiment",
    "ExperimentSettings",
    "Figure",
    "Findings",
    "Job",
    "Lab",
    "Quantity",
    "SettingsError",
    "check_rank",
    "compiled_if_possible",
    "completed",
    "data_option",
    "default_ridge",
    "experiment",
    "option",
    "seeds_option",
]
