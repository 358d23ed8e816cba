"""Numbers that say whether a run has learned its regression, from its dataset and its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biorrr.analysis.figures.runs import exact_solution, shared_rate, stages
from biorrr.analysis.plateau import Agreement
from biorrr.analysis.regression.exact_solution import ExactSolution
from biorrr.analysis.regression.metrics import principal_angles, r2
from biorrr.analysis.theory import symmetry_decay
from biorrr.models.rates import Rate

Numbers = dict[str, Any]
LAST = 0.9  # of the samples: what happened after it is what the last tenth of a run changed


def judge(
    data: Any,
    learned: tuple[NDArray, NDArray] | None,
    held_out: tuple[NDArray, NDArray] | None,
    *,
    exact: ExactSolution | None,
    outputs: Callable[[NDArray, NDArray], NDArray] | None,
    predict: Callable[[NDArray], NDArray] | None,
    eta_q: Rate | None,
) -> tuple[Numbers, dict[str, str]]:
    """Return the numbers of a run by name, and why others are not known, by their row in a table.

    Parameters
    ----------
    data
        The dataset that the run keeps.
    learned : (T, m) and (T, n)
        The data that were learned; None where they are not X and Y.
    held_out : (n_samples, m) and (n_samples, n)
        Samples to predict; those that were learned unless given.
    exact
        The exact solution of what was learned, where it is known already.
    outputs, predict
        The circuit's outputs, (n_samples, k), and its prediction of Y, where it has them.
    eta_q
        The rate of Q and R where none was recorded.
    """
    names = [name for name, one in data.data_vars.items() if one.dims[0] == "snapshot"]
    weights = {name: data[name].values for name in names}
    if data.attrs["ended"] == "diverged":
        return {}, {"this run": "it diverged, and what is left of it says nothing of learning"}
    numbers: Numbers = {}
    unjudged: dict[str, str] = {}
    regression = learned is not None and "Vx" in weights and "areas" not in data.attrs
    if regression:
        exact = exact or exact_solution(data, *learned)
        numbers |= compare_filters(weights["Vx"][-1], exact)
        k = weights["Vx"].shape[-1]
    else:
        exact, k = None, 0
        why = "no exact solution is known for this circuit"
        if "areas" in data.attrs:
            why = "areas with feedback have a joint optimum; see `biorrr hierarchy`"
        unjudged["excess"] = unjudged["angles to exact filters"] = why
    if learned is not None and predict is not None:
        means = data["mean_x"].values, data["mean_y"].values
        samples, before = (learned, "") if held_out is None else (held_out, "held_out_")
        found = compare_predictions(learned, samples, predict(samples[0]), means, exact, k)
        numbers |= {f"{before}{name}": value for name, value in found.items()}
    else:
        unjudged["R2"] = "this circuit predicts nothing by itself"
    if learned is not None and outputs is not None:
        filters = (weights["Vx"][-1], data.attrs["ridge_x"]) if regression else ()
        numbers |= describe_outputs(outputs(*learned), *filters)
    else:
        unjudged["output variances"] = "the outputs of this circuit are not known here"
    if "Q" in weights and "R" in weights:
        numbers |= measure_symmetry(data, eta_q)
    else:
        unjudged["||R - Q'|| / ||Q||"] = f"needs matrices Q and R (has {', '.join(weights)})"
    if not regression or data.attrs["signal_in_time"]:
        unjudged["plateaus off theory"] = "theory is known for samples of a microcircuit alone"
    elif "plateau" not in data or not data.sizes["sample"]:
        unjudged["plateaus off theory"] = "plateaus were not recorded"
    else:
        numbers |= compare_plateaus(data, *learned, exact)
    if not data.attrs["plastic"]:
        unjudged["last tenth of the run"] = "learning was switched off"
        return numbers, unjudged
    numbers |= follow_last_tenth(weights, data["seen"].values, exact)
    if "since" not in numbers:
        unjudged["last tenth of the run"] = "it has too few snapshots"
    return numbers, unjudged


def compare_filters(Vx: NDArray, exact: ExactSolution) -> Numbers:
    """Return the excess of filters ``Vx`` (m, k) and of as many principal components, and the
    principal angles between learned and exact filters, (k,).
    """
    k = Vx.shape[1]
    return {
        "excess": exact.excess(Vx),
        "excess_principal_components": exact.excess(exact.principal_components(k)),
        "angles": principal_angles(Vx, exact.Vx(k)),
    }


def compare_predictions(
    learned: tuple[NDArray, NDArray],
    data: tuple[NDArray, NDArray],
    predicted: NDArray,
    means: tuple[NDArray, NDArray],
    exact: ExactSolution | None,
    k: int,
) -> Numbers:
    """Return R2 of the circuit, of the exact solution and of as many principal components.

    R2 is pooled over targets, about their means in the samples that were learned.

    Parameters
    ----------
    learned : (T, m) and (T, n)
        The samples that were learned.
    data : (n_samples, m) and (n_samples, n)
        The samples to predict.
    predicted : (n_samples, n)
        The circuit's prediction of them.
    means : (m,) and (n,)
        What was subtracted from the samples before they were learned.
    exact
        The exact solution of the samples that were learned, where there is one.
    k
        Number of filters.
    """
    (X, Y), (X_new, Y_new) = learned, data
    x_mean, y_mean = means
    baseline = Y.mean(axis=0)
    numbers = {"r2": r2(Y_new, predicted, baseline)}
    if exact is None:
        return numbers
    components = exact.principal_components(k)
    cross = (Y - y_mean).T @ ((X - x_mean) @ components) / len(X)
    maps = {
        "r2_exact": exact.Vx(k) @ exact.readout(k).T,
        "r2_principal_components": components @ np.linalg.pinv(exact.gram(components)) @ cross.T,
    }
    return numbers | {
        name: r2(Y_new, (X_new - x_mean) @ P + y_mean, baseline) for name, P in maps.items()
    }


def describe_outputs(z: NDArray, Vx: NDArray | None = None, ridge: float = 0.0) -> Numbers:
    """Return the variance of each output of ``z`` (n_samples, k), (k,), and the correlation of
    outputs that is farthest from 0.

    ``ridge`` on Cxx counts as the input noise that it stands for: with it, Vx' (Cxx + ridge I) Vx
    is the identity at the optimum.
    """
    covariance = np.cov(z, rowvar=False, bias=True).reshape(z.shape[1], z.shape[1])
    if Vx is not None:
        covariance = covariance + ridge * Vx.T @ Vx
    variances = np.diag(covariance)
    size = np.sqrt(np.outer(variances, variances))
    correlations = np.divide(covariance, size, out=np.zeros_like(size), where=size > 0)
    others = correlations[~np.eye(len(size), dtype=bool)]
    found: Numbers = {"output_variances": variances}
    if len(others):
        found["output_correlation"] = others[np.argmax(np.abs(others))]
    return found


def measure_symmetry(data: Any, eta_q: Rate | None = None) -> Numbers:
    """Return ||R - Q'|| / ||Q|| at the end of the run ``data``, and its prediction if Q and R share
    their rate.

    ``eta_q`` is the rate of Q and R where none was recorded.
    """
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


def compare_plateaus(data: Any, X: ArrayLike, Y: ArrayLike, exact: ExactSolution) -> Numbers:
    """Return the relative r.m.s. deviation of each neuron's plateaus from the back-propagated error
    in the last samples that ``data`` has recorded, (k,).
    """
    end = [*stages(data, X, Y, exact).values()][-1]
    k = end.traces["plateau"].shape[-1]
    plateau, theory = (
        np.asarray(signals["plateau"]).reshape(-1, k) for signals in (end.traces, end.theory)
    )
    return {"plateau_deviation": Agreement.between(plateau, theory).relative_error}


def follow_last_tenth(
    weights: dict[str, NDArray], seen: NDArray, exact: ExactSolution | None = None
) -> Numbers:
    """Return what the last tenth of a run changed; nothing if no snapshot tells.

    Parameters
    ----------
    weights : (S, pre, post) each
        Snapshots of every matrix, by its name.
    seen : (S,)
        Samples that were seen before each snapshot.
    exact
        The exact solution, with which changes of the excess are known.
    """
    begin = seen[0] + LAST * (seen[-1] - seen[0])
    before = int(np.searchsorted(seen, begin, side="right")) - 1
    # Snapshots too far apart say nothing of the last tenth.
    if seen[-1] == seen[0] or seen[-1] - seen[before] > 0.25 * (seen[-1] - seen[0]):
        return {}
    changes = {
        name: np.linalg.norm(W[-1] - W[before]) / size
        for name, W in weights.items()
        if (size := np.linalg.norm(W[-1])) > 0
    }
    found: Numbers = {"since": int(seen[before]), "weight_change": max(changes.values(), default=0)}
    if exact is not None:
        earlier, last = exact.excess(weights["Vx"][[before, -1]])
        found["excess_change"] = last - earlier
    return found
