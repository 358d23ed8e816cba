"""Exact solutions, metrics, the paper's algorithms and their rivals, statistics of recordings, and
figures.

Arrays in, arrays out. Names are loaded when first used, so that importing this room costs nothing.
"""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "regression.exact": ("ReducedRankRegression",),
    "areas.hierarchy": ("HierarchyYardstick", "HierarchyOptimum", "plateau_theory"),
    "areas.deep_linear": ("backprop_linear",),
    "areas.instructions": ("joint_instruction",),
    "regression.rank": ("RankCV",),
    "regression.ridge": ("choose_ridge", "RidgeChoice"),
    "algorithms.offline": ("OfflineBioRRR",),
    "algorithms.online": ("OnlineBioRRR",),
    "algorithms.iqmd": ("IQMD",),
    "algorithms.ann": ("TwoLayerANN",),
    "algorithms.ccalin": ("CCALin",),
    "algorithms.saa": ("SAA",),
    "algorithms.msg": ("MSGCCA", "CappedMSG"),
    "regression.yardstick": ("Yardstick",),
    "regression.baselines": ("baselines",),
    "traces": ("stages_of_learning",),
    "plateau": ("audit_plateau", "PlateauAudit", "Agreement"),
    "figures.panels.learning": ("plot_learning",),
    "figures.panels.plateau": ("plot_plateau",),
    "figures.panels.symmetry": ("plot_symmetry",),
    "figures.panels.filters": ("plot_filters",),
    "figures.panels.eigenvalues": ("plot_eigenvalues",),
    "figures.panels.wiring": ("plot_wiring",),
    "figures.panels.raster": ("plot_raster",),
    "figures.panels.weights": ("plot_weights",),
    "laws": ("fixed_feedback_law", "FixedFeedbackLaw", "participation_ratio"),
    "theory": ("symmetry_decay", "SymmetryDecay"),
    "eligibility": (
        "eligibility_trace",
        "pairing_curve",
        "fit_time_constants",
        "learned_weights",
        "field_place_and_width",
        "traced_fixed_point",
    ),
    "regression.metrics": (
        "objective",
        "excess",
        "whitening_error",
        "principal_angles",
        "r2",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str):
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
