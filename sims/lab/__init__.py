"""The frame of every experiment: a lab, settings, run folder, workers, quantities and claims.

All that an experiment needs of it is imported from here.
"""

from biorrr.sims.lab.claims import Claim
from biorrr.sims.lab.findings import PERCENT, Figure, Findings, Quantity, quantities, readable
from biorrr.sims.lab.items import Grid, StoppedError, Task, compiled_if_possible, completed
from biorrr.sims.lab.lab import Experiment, Lab, experiment
from biorrr.sims.lab.settings import (
    BasicSettings,
    ExperimentSettings,
    SettingsError,
    data_option,
    option,
)
from biorrr.sims.lab.training import (
    CONVERGED_SAMPLES,
    MILLIVOLT_EPOCHS,
    FamilySettings,
    LearnerSettings,
    RegressionSettings,
    TrainingSettings,
    baseline_quantities,
    cell_arguments,
    cell_option,
    check_rank,
    default_ridge,
    farthest,
    learned,
    scored,
    unjudged_because,
)

__all__ = [
    "CONVERGED_SAMPLES",
    "MILLIVOLT_EPOCHS",
    "PERCENT",
    "BasicSettings",
    "Claim",
    "Experiment",
    "ExperimentSettings",
    "FamilySettings",
    "Figure",
    "Findings",
    "Grid",
    "Lab",
    "LearnerSettings",
    "Quantity",
    "RegressionSettings",
    "SettingsError",
    "StoppedError",
    "Task",
    "TrainingSettings",
    "baseline_quantities",
    "cell_arguments",
    "cell_option",
    "check_rank",
    "compiled_if_possible",
    "completed",
    "data_option",
    "default_ridge",
    "experiment",
    "farthest",
    "learned",
    "option",
    "quantities",
    "readable",
    "scored",
    "unjudged_because",
]
