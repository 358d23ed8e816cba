"""Numbers that say whether a run has learned its regression, from its dataset and its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biorrr.analysis.figures.runs import exact_solution, shared_rate, stages
from biorrr.analysis.laws import symmetry_decay
from biorrr.analysis.plateau import Agreement
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.regression.metrics import principal_angles, r2
from biorrr.models.rates import Rate

Numbers = dict[str, Any]
Pair = tuple[NDArray, NDArray]
LAST = 0.9  # of the samples: what happened after it is what the last tenth of a run changed


def judge(
    run: Any,
    learned: Pair | None,
    held_out: Pair | None,
    *,
    exact: ExactSolution | None,
    eta_q: Rate | None,
) -> tuple[Numbers, dict[str, str]]:
    """Return the numbers of a run by name, and why others are not known, by their row in a table.

    Parameters
    ----------
    run
        The :class:`biorrr.circuit.Run`.
    learned : (T, m) and (T, n)
        The data that were learned; None where they are not X and Y.
    held_out : (n_samples, m) and (n_samples, n)
        Samples to predict; those that were learned unless given.
    exact
        The exact solution of what was learned, where it is known already.
    eta_q
        The rate of Q and R where none was recorded.
    """
    data = run.data
    if data.attrs["ended"] == "diverged":
        return {}, {"this run": "it diverged, and what is left of it says nothing of learning"}
    if learned is None or "Vx" not in data or "areas" in data.attrs:
        exact = None
    else:
        exact = exact_solution(data, *learned, exact)
    filters = compare_filters(data, exact)
    answers = {  # numbers, or why there are none, by row of the table
        "excess": filters,
        "angles to exact filters": filters,
        "R2": compare_predictions(run, learned, held_out, exact),
        "output variances": describe_outputs(run, learned, exact),
        "||R - Q'|| / ||Q||": measure_symmetry(data, eta_q),
        "plateaus off theory": compare_plateaus(data, learned, exact),
        "last tenth of the run": follow_last_tenth(data, exact),
    }
    unjudged = {row: found for row, found in answers.items() if isinstance(found, str)}
    found = [one for one in answers.values() if not isinstance(one, str)]
    return {name: value for one in found for name, value in one.items()}, unjudged


def _answers(run: Any) -> bool:
    """Return True if the outputs of ``run`` for new data are known: they are linear, or its circuit
    is at hand.
    """
    return bool(run.data.attrs.get("linear_output", 0)) or run.circuit is not None


def _matrices(data: Any) -> dict[str, NDArray]:
    """Return the snapshots of every matrix of weights, (S, pre, post), by its name."""
    named = data.data_vars.items()
    return {name: one.values for name, one in named if one.dims[0] == "snapshot"}


def compare_filters(data: Any, exact: ExactSolution | None) -> Numbers | str:
    """Return the excess of the filters and of as many principal components, and the principal
    angles between learned and exact filters, (k,).
    """
    if exact is None and "areas" in data.attrs:
        return "areas with feedback have a joint optimum; see `biorrr hierarchy`"
    if exact is None:
        return "no exact solution is known for this circuit"
    Vx = data["Vx"].values[-1]
    k = Vx.shape[1]
    return {
        "excess": exact.excess(Vx),
        "excess_principal_components": exact.excess(exact.principal_components(k)),
        "angles": principal_angles(Vx, exact.Vx(k)),
    }


def compare_predictions(
    run: Any,
    learned: Pair | None,
    held_out: Pair | None,
    exact: ExactSolution | None,
) -> Numbers | str:
    """Return R2 of the circuit, of the exact solution and of as many principal components.

    R2 is pooled over targets, about their means in the samples that were learned. Arguments are
    those of :func:`judge`.
    """
    data = run.data
    if learned is None or not _answers(run) or "readout" not in data:
        return "this circuit predicts nothing by itself"
    X_new, Y_new = held_out or learned
    x_mean, y_mean = data["mean_x"].values, data["mean_y"].values
    predicted = {"r2": run.predict(X_new)}
    if exact is not None:
        components = exact.principal_components(data["Vx"].shape[-1])
        best = {"r2_exact": exact.Vx(components.shape[1]), "r2_principal_components": components}
        for name, filters in best.items():
            predicted[name] = (X_new - x_mean) @ exact.regression(filters) + y_mean
    before = "" if held_out is None else "held_out_"
    baseline = learned[1].mean(axis=0)
    return {f"{before}{name}": r2(Y_new, one, baseline) for name, one in predicted.items()}


def describe_outputs(run: Any, learned: Pair | None, exact: ExactSolution | None) -> Numbers | str:
    """Return the variance of each output, (k,), and the correlation of outputs that is farthest
    from 0.

    A ridge on Cxx counts as the input noise that it stands for: with it, Vx' (Cxx + ridge I) Vx is
    the identity at the optimum.
    """
    if learned is None or not _answers(run):
        return "the outputs of this circuit are not known here"
    z = run.infer(*learned)[-1] if "areas" in run.data.attrs else run.transform(learned[0])
    covariance = np.cov(z, rowvar=False, bias=True).reshape(z.shape[1], z.shape[1])
    if exact is not None:
        Vx = run.data["Vx"].values[-1]
        covariance = covariance + run.data.attrs["ridge_x"] * Vx.T @ Vx
    variances = np.diag(covariance)
    size = np.sqrt(np.outer(variances, variances))
    correlations = np.divide(covariance, size, out=np.zeros_like(size), where=size > 0)
    others = correlations[~np.eye(len(size), dtype=bool)]
    found: Numbers = {"output_variances": variances}
    if len(others):
        found["output_correlation"] = others[np.argmax(np.abs(others))]
    return found


def measure_symmetry(data: Any, eta_q: Rate | None = None) -> Numbers | str:
    """Return ||R - Q'|| / ||Q|| at the end of a run, and its prediction if Q and R share their
    rate.

    ``eta_q`` is the rate of Q and R where none was recorded.
    """
    if "Q" not in data or "R" not in data:
        return f"needs matrices Q and R (has {', '.join(_matrices(data))})"
    Q, R, seen = data["Q"].values, data["R"].values, data["seen"].values
    size = np.linalg.norm(Q[-1])
    if not size:
        return {}
    first, last = (np.linalg.norm(Q[i].T - R[i]) for i in (0, -1))
    found: Numbers = {"r_minus_qt_relative": last / size}
    rate = shared_rate(data, eta_q)
    if "log_retained" in data.attrs:  # summed by the circuit itself, sample by sample
        found["r_minus_qt_predicted"] = first * np.exp(data.attrs["log_retained"]) / size
    elif rate is not None:
        found["r_minus_qt_predicted"] = symmetry_decay(Q, R, seen, rate).predicted[-1] / size
    return found


def compare_plateaus(data: Any, learned: Pair | None, exact: ExactSolution | None) -> Numbers | str:
    """Return the relative r.m.s. deviation of each neuron's plateaus from the back-propagated error
    in the last samples that ``data`` has recorded, (k,).
    """
    if learned is None or exact is None or data.attrs["signal_in_time"]:
        return "theory is known for samples of a microcircuit alone"
    if "plateau" not in data or not data.sizes["sample"]:
        return "plateaus were not recorded"
    end = [*stages(data, *learned, exact).values()][-1]
    k = end.traces["plateau"].shape[-1]
    plateau, theory = (
        np.asarray(signals["plateau"]).reshape(-1, k) for signals in (end.traces, end.theory)
    )
    return {"plateau_deviation": Agreement.between(plateau, theory).relative_error}


def follow_last_tenth(data: Any, exact: ExactSolution | None = None) -> Numbers | str:
    """Return what the last tenth of a run changed: ``weight_change`` of the matrix that changed
    most, and of the excess where the exact solution is known.
    """
    if not data.attrs["plastic"]:
        return "learning was switched off"
    weights, seen = _matrices(data), data["seen"].values
    begin = seen[0] + LAST * (seen[-1] - seen[0])
    before = int(np.searchsorted(seen, begin, side="right")) - 1
    # Snapshots too far apart say nothing of the last tenth.
    if seen[-1] == seen[0] or seen[-1] - seen[before] > 0.25 * (seen[-1] - seen[0]):
        return "it has too few snapshots"
    changes = {
        name: np.linalg.norm(W[-1] - W[before]) / size
        for name, W in weights.items()
        if (size := np.linalg.norm(W[-1])) > 0
    }
    found: Numbers = {"since": int(seen[before]), "weight_change": max(changes.values(), default=0)}
    if exact is not None:
        earlier, last = exact.excess(weights["Vx"][[before, -1]])  # type: ignore[misc]
        found["excess_change"] = last - earlier
    return found
