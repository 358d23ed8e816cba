"""Results of a simulation: weights, snapshots and traces, the answers of the learned circuit to
new data, and figures of them, which :mod:`biorrr.analysis.figures` draws.
"""

from __future__ import annotations

import errno
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biorrr.circuit.results.tables import Summary, Tabled, rows_of_regression
from biorrr.errors import InputError, RunError
from biorrr.files import whole_file
from biorrr.hints import hints_in_methods
from biorrr.models import AreaWeights, Rates, Spiking, equilibrium

if TYPE_CHECKING:
    import xarray as xr

    from biorrr.circuit.base import CircuitBase
    from biorrr.circuit.simulation.job import Job


@hints_in_methods
class Run(Tabled):
    """The outcome of :meth:`biorrr.circuit.Microcircuit.run` or of
    :meth:`biorrr.circuit.Circuit.run`.

    Attributes
    ----------
    data
        An :class:`xarray.Dataset`: weight snapshots along `snapshot` (with how many samples had
        been seen), traces along `sample`, and everything that was set, as attributes. In the units
        of the data.
    circuit
        The circuit that was run; None for a run that was read from a file.
    """

    def __init__(
        self, data: xr.Dataset, circuit: CircuitBase | None = None, job: Job | None = None
    ) -> None:
        self.data, self.circuit = data, circuit
        self._job = None if job is None else job.without_data()

    @property
    def job(self) -> Job:
        """What was simulated, without the data."""
        if self._job is None:
            raise InputError(
                "run: was read from a file, which does not bring the circuit along; give sizes"
                " instead"
            )
        return self._job

    @property
    def network(self):
        """The Brian2 Network that was run (engine numpy); see :attr:`Microcircuit.network`."""
        networks = self.circuit and self.circuit.engines.networks({self.job.blueprint.code})
        if not networks:
            raise RunError("network: this run had none in this process; run with engine='numpy'")
        return networks[-1]

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Final weights by the name of their matrix."""
        pathways = json.loads(self.data.attrs["circuit"])["pathways"]
        return {one["weight"]: self.data[one["weight"]].values[-1] for one in pathways}

    @property
    def Vx(self) -> np.ndarray:
        """Final proximal weights, shape (m, k), in units of 1/x: outputs have variance 1."""
        return self._matrix("Vx")

    @property
    def Vy(self) -> np.ndarray:
        """Final distal weights, shape (n, k), in units of y at s = 0 and of 1/y at s = 1."""
        return self._matrix("Vy")

    @property
    def Q(self) -> np.ndarray:
        """Final interneuron-to-pyramidal weights, shape (k, l), in units of y at s = 0, and
        without units at s = 1.
        """
        return self._matrix("Q")

    @property
    def R(self) -> np.ndarray:
        """Final pyramidal-to-interneuron weights, shape (l, k), in the units of Q."""
        return self._matrix("R")

    def _matrix(self, name: str) -> np.ndarray:
        weights = self.weights
        if name not in weights:
            raise AttributeError(
                f"this circuit has no weights called {name}; it has {', '.join(weights)}"
            )
        return weights[name]

    @property
    def traces(self) -> list[str]:
        """Names of the traces that were recorded."""
        return json.loads(self.data.attrs["traces"])

    def graph(self):
        """Return the cells and synapses with their final weights as a networkx DiGraph.

        A node is a cell, called by its population and its number from 0, such as "pyramidal 1". It
        has ``population``, ``kind``, ``area`` (0 where there is one), ``index`` and ``shape``. An
        edge is a synapse, from the cell that acts to the cell that is acted upon. It has
        ``weight``, ``strength`` (the weight without its sign), ``pathway``, ``matrix`` (the paper's
        name), ``kind``, ``area``, ``drives`` and ``sign`` (-1 for what is subtracted from its
        target). A circuit with two pathways between the same cells gives a MultiDiGraph.

        ``networkx.write_graphml`` writes it with all digits. Gephi takes ``weight`` as the weight
        of an edge; its layouts need ``strength`` in its place, since they know no negative weights.
        A synapse takes 0.5 kB in memory and 0.4 kB in the file, so a circuit of 200,000 synapses
        becomes a graph of 100 MB and a file of 80 MB.
        """
        from biorrr.circuit.export.graph import cell_graph

        return cell_graph(self.data)

    def inner_state(self) -> dict[str, np.ndarray]:
        """Return weights and memories as the engine held them in the end, flat, by
        "part.variable".
        """
        layout = dict(json.loads(self.data.attrs["state_layout"]))
        values = np.split(self.data["state"].values, np.cumsum([0, *layout.values()]))
        return dict(zip(layout, values[1:], strict=False))  # nothing is behind the last

    @property
    def samples(self) -> int:
        """Samples the circuit has seen, earlier runs it continues included."""
        return int(self.data["seen"].values[-1])

    @property
    def cooled(self) -> bool:
        """True where learning rates fell to zero by the last sample, as rates "auto" do unless
        the run had ``final=False``.
        """
        return bool(self.data.attrs.get("cooled", 0))

    @property
    def ended(self) -> str:
        """The way it ended: "done", "stopped" by a callback, "interrupted" by Ctrl-C, or
        "diverged".
        """
        return self.data.attrs["ended"]

    @property
    def r_minus_qt(self) -> np.ndarray:
        """||Q' - R|| (Frobenius) at each snapshot, shape (snapshot,)."""
        if "Q" not in self.data or "R" not in self.data:
            raise InputError(
                f"r_minus_qt: needs matrices Q and R, and this run has {', '.join(self.weights)};"
                " those of each area of a hierarchy are in run.area_weights()"
            )
        Q, R = self.data["Q"].values, self.data["R"].values
        with np.errstate(over="ignore"):  # of those that have diverged
            return np.linalg.norm(Q.transpose(0, 2, 1) - R, axis=(1, 2))

    @property
    def r_minus_qt_relative(self) -> np.ndarray:
        """||Q' - R|| / ||Q|| at each snapshot, shape (snapshot,); NaN where Q is zero.

        It stays where it is if Q and R merely fade, and falls to rounding error if R finds Q'.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            distance, size = self.r_minus_qt, np.linalg.norm(self.data["Q"].values, axis=(1, 2))
            return distance / np.where(size > 0, size, np.nan)

    def transform(self, X) -> np.ndarray:
        """Return the output z, (n_samples, k), of the learned circuit for ``X`` (n_samples, m)
        without instruction.

        In the paper's circuit that is X Vx, and in areas with apical feedback the equilibrium of
        :meth:`infer`. Where something else shapes the output, or the input on its way, the circuit
        itself is run with learning off; of a sample that is held, the output is averaged over its
        time.
        """
        linear = self.data.attrs.get("linear_output", 1)
        if linear and "areas" in self.data.attrs:
            return self.infer(X)[-1]
        X = self._inputs(X)
        if linear:
            return X @ self.Vx
        if self.circuit is None:
            raise InputError(
                "transform: the output of this circuit is not X Vx"
                f" ({self.data.attrs['departures']}), and a run read from a file does not bring the"
                " circuit along; make the circuit and call circuit.run(X, Y, start=run,"
                " plastic=False, order='sequential', record='z', every=1)"
            )
        silent = np.zeros((len(X), len(self.data["mean_y"])))
        cells = self.circuit.parts.all(kind="pyramidal")[-1].name
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # about columns that are constant: y is silent on purpose
            passed = self.circuit.run(
                X,
                silent,
                start=self,
                plastic=False,
                order="sequential",
                record=f"{cells}.z",
                every=1,
                snapshots=1,
                progress=False,
            )
        # The pass continues the order of samples where learning stopped: its rows are sorted back.
        z = passed.data[f"{cells}_z"].values[np.argsort(passed.data["data_row"].values)]
        return z.mean(axis=1) if z.ndim == 3 else z

    def infer(self, X, Y=None) -> list[np.ndarray]:
        """Return the settled outputs of all areas, (n_samples, k_i), for ``X`` (n_samples, m),
        ``Y`` (n_samples, n).

        Without ``Y`` with y = 0 and inhibition on. The equilibrium is solved for as a linear
        system, exactly; it is that of the learned weights, whatever else a departure would add.
        """
        inputs = self._inputs(X)
        instruction = np.zeros((len(inputs), len(self.data["mean_y"])))
        if Y is not None:
            instruction = self._pair("X, Y", X, Y)[1] - self.data["mean_y"].values
        return equilibrium(self.area_weights(), self.gains, inputs, instruction)

    def _inputs(self, X) -> np.ndarray:
        """Return samples of x less the mean that the circuit subtracted; refuse those of another
        size.
        """
        X, mean = np.asarray(X, dtype=np.float64), self.data["mean_x"].values
        if X.ndim != 2 or X.shape[1] != len(mean):
            raise InputError(
                f"X: must have shape (n_samples, {len(mean)}), the inputs of this run (got"
                f" {X.shape}); one sample is X[None]"
            )
        return X - mean

    @property
    def gains(self) -> tuple[float, ...]:
        """Gains of the links between areas, from x up to y."""
        return tuple(self._areas()["gains"])

    def area_weights(self, snapshot: int = -1) -> list[AreaWeights]:
        """Return the weights of every area with apical feedback at one of the snapshots, the last
        unless given.
        """
        return [
            AreaWeights(*(self.data[name].values[snapshot] for name in names))
            for names in self._areas()["weights"]
        ]

    def _areas(self) -> dict:
        if "areas" not in self.data.attrs:
            raise InputError(
                "infer: this circuit has no apical feedback, its output is transform(X); see"
                " Hierarchy"
            )
        return json.loads(self.data.attrs["areas"])

    def score(self, X, Y) -> float:
        """Return R^2 of :meth:`predict` for ``X`` (n_samples, m), the mean over features of ``Y``
        (n_samples, n).
        """
        from sklearn.metrics import r2_score

        X, Y = self._pair("X, Y", X, Y)
        return float(r2_score(Y, self.predict(X)))

    def summary(self, X=None, Y=None, *, held_out=None, exact=None) -> Summary:
        """Return whether the run has learned: its final numbers beside those of theory.

        ``print(run.summary(X, Y))`` shows them in ten lines, and says what cannot be judged of
        circuits with parts of their own.

        Parameters
        ----------
        X, Y
            The data that were learned, (n_samples, m) and (n_samples, n), as the circuit was given
            them. The exact solution and the principal components are theirs. Circuits with other
            ports than x and y take none.
        held_out : (X_new, Y_new)
            Samples that were not learned, of which R2 is then given in place of that of X and Y.
        exact
            The exact solution of X and Y, where it is known already.
        """
        from biorrr.analysis.summary import judge

        regression = "s" in self.data.attrs
        if regression and (X is None or Y is None):
            raise InputError(
                "X, Y: must be the data that were learned, with which the run is compared (got"
                " none)"
            )
        learned = self._pair("X, Y", X, Y) if regression else None
        new = None if held_out is None else self._pair("held_out", *held_out)
        numbers, unjudged = judge(self, learned, new, exact=exact, eta_q=self._shared_rate())
        return Summary(self.table()[0], numbers, unjudged)

    def _pair(self, name: str, X, Y) -> tuple[np.ndarray, np.ndarray]:
        """Return samples of x and y as matrices; refuse those of other sizes than the run's."""
        X, Y = (np.asarray(view, dtype=np.float64) for view in (X, Y))
        Y = Y[:, None] if Y.ndim == 1 else Y
        m, n = len(self.data["mean_x"]), len(self.data["mean_y"])
        if X.shape[1:] != (m,) or Y.shape != (len(X), n):
            raise InputError(
                f"{name}: must have shapes (n_samples, {m}) and (n_samples, {n}), as the data of"
                f" this run (got {X.shape} and {Y.shape})"
            )
        return X, Y

    def predict(self, X) -> np.ndarray:
        """Return the circuit's prediction of Y, Sigma^-1 Vy z, for ``X`` (n_samples, m); shape
        (n_samples, n).
        """
        if "readout" not in self.data:
            raise InputError("predict: this run has no readout; only runs of a Microcircuit have")
        return self.transform(X) @ self.data["readout"].values.T + self.data["mean_y"].values

    def save(self, path: str | os.PathLike, overwrite: bool = False) -> None:
        """Write the run as NetCDF4, whole or not at all; a file that exists is kept unless
        ``overwrite`` is True.
        """
        path = Path(path)
        if path.exists() and not overwrite:
            raise FileExistsError(
                errno.EEXIST, "exists already; give another name, or overwrite=True", str(path)
            )
        from biorrr.circuit.results.netcdf import write_netcdf

        with whole_file(path) as aside:
            write_netcdf(self.data, aside)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Run:
        """Read a run that :meth:`save` wrote; a file that has its numbers from other files is
        refused.
        """
        from biorrr.circuit.results.netcdf import UnsafeFileError, read_netcdf

        try:
            run = cls(read_netcdf(path))
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, "no such file", str(path)) from None
        except UnsafeFileError as error:
            raise InputError(f"{path}: {error}") from error
        except Exception as error:  # a damaged file fails in as many ways as HDF5 has parts
            raise InputError(f"{path}: not a saved run, or damaged ({error})") from error
        needed = ("circuit", "traces", "state_layout", "ended")
        if missing := [name for name in needed if name not in run.data.attrs]:
            raise InputError(f"{path}: not a saved run: no {', '.join(missing)} in it")
        try:
            run.data = run.data.set_coords("seen")  # not so in version 0.1
            _ = run.weights, run.traces, run.inner_state()
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise InputError(
                f"{path}: not a saved run, or damaged (its circuit is {error!r})"
            ) from error
        return run

    def trace(self, name: str) -> np.ndarray:
        """Return a recorded trace, one row per tick: shape (rows, cells), or (rows,) for a rate."""
        self._require(name)
        trace = self.data[name]
        ticks = [dim for dim in ("sample", "time") if dim in trace.dims]
        return trace.values.reshape(-1, *trace.shape[len(ticks) :])

    def to_nwb(self, path: str | os.PathLike) -> None:
        """Write traces and stimulus as NWB; see :func:`biorrr.circuit.export.nwb.write`."""
        from biorrr.circuit.export.nwb import write

        write(self, path)

    def table(self) -> tuple[str, dict[str, str]]:
        """Return the facts about the run, and its records."""
        sizes, attrs = self.data.sizes, self.data.attrs
        populations = json.loads(attrs["circuit"])["populations"]
        rows = {
            "inputs": ", ".join(f"{p['size']} {p['name']}" for p in populations if p["port"]),
            "cells": ", ".join(f"{p['size']} {p['name']}" for p in populations if not p["port"]),
        }
        if "s" in attrs:
            ridges = attrs["ridge_x"], attrs["ridge_y"]
            rows |= rows_of_regression(attrs["s"], ridges, attrs["rates"])
        rows["departures"] = attrs["departures"] or "none"
        if "Q" in self.data and "R" in self.data:
            rows["||Q' - R||"] = f"{self.r_minus_qt[-1]:.3g}"
            rows["||Q' - R|| / ||Q||"] = f"{self.r_minus_qt_relative[-1]:.3g}"
        rows["snapshots"] = str(sizes["snapshot"])
        rows["traces"] = (
            f"{', '.join(self.traces)}, of {sizes['sample']} samples" if self.traces else "none"
        )
        return f"Run: {self.samples} samples on {attrs['engine']}, {self.ended}", rows

    # -- figures ---------------------------------------------------------------------------------

    def angles(self, X=None, Y=None, *, exact=None) -> xr.DataArray:
        """Return the principal angles between learned and exact filters in degrees, (snapshot,
        angle), largest first.

        ``X``, ``Y`` and ``exact`` are as :meth:`plot_learning` takes them.
        """
        import xarray as xr

        from biorrr.analysis import principal_angles

        exact = plot_functions().exact_solution(self.data, X, Y, exact)
        best = exact.Vx(self.data["Vx"].shape[-1])
        angles = [principal_angles(Vx, best) for Vx in self.data["Vx"].values]
        attrs = {"long_name": "angle between learned and exact filters", "units": "degrees"}
        return xr.DataArray(
            angles, {"seen": self.data["seen"]}, ("snapshot", "angle"), "angles", attrs
        )

    def plot_learning(self, X=None, Y=None, *, exact=None, ax=None):
        """Draw the objective at each snapshot against its optimum; one axes.

        Parameters
        ----------
        X, Y
            The data that were learned, (n_samples, m) and (n_samples, n): the exact solution needs
            them.
        exact
            In their place, their :class:`biorrr.analysis.ExactSolution` where it is known already.
        ax
            Axes to draw into; new ones unless given.
        """
        from biorrr.analysis import plot_learning

        exact, Vx = plot_functions().exact_solution(self.data, X, Y, exact), self.data["Vx"].values
        scores, optimum = exact.objective(Vx), exact.optimum(Vx.shape[-1])
        return plot_learning(self.data["seen"].values, scores, optimum, ax=ax)

    def plot_angles(self, X=None, Y=None, *, exact=None, ax=None):
        """Draw the angles between learned and exact filters at each snapshot; as
        :meth:`plot_learning`.
        """
        from biorrr.analysis.figures.learning import plot_angles

        return plot_angles(self.data["seen"].values, self.angles(X, Y, exact=exact).values, ax=ax)

    def plot_plateau(
        self,
        X=None,
        Y=None,
        *,
        exact=None,
        samples=None,
        shown: int | None = None,
        neurons=None,
        ax=None,
    ):
        """Draw plateaus at the start, halfway and at the end of the run, with a, inhibition and z
        where recorded.

        Parameters
        ----------
        X, Y
            The data that were learned. With them, grey lines show what theory expects at the
            optimum: plateaus should equal the back-propagated error, and inhibition
            the prediction of the distal current.
        exact
            Their exact solution, where it is known already.
        samples
            Draw these samples instead, as (first, last + 1).
        shown
            Samples in each stretch; 50 unless given, or 8 where each is held for a while.
        neurons
            Which neurons, counted from 0; the first four unless given.
        ax : (neurons, stages)
            Axes to draw into; new ones unless given.
        """
        self._require("plateau")
        return plot_functions().plateau_of(self.data, X, Y, exact, shown, neurons, ax, samples)

    def plot_symmetry(self, X=None, Y=None, *, exact=None, ax=None):
        """Draw ||R - Q'|| / ||Q|| at each snapshot, and beside it the eigenvalues of QQ'.

        Where Q and R share their rate, theory is drawn too: ||R - Q'|| falls as the product of
        (1 - eta_q). Rates between two recorded samples are interpolated: record with ``every=1``
        where a few strong samples slow learning down, as "auto" rates let them. Where no rates were
        recorded, those that the circuit was given are used.

        Parameters
        ----------
        X, Y, exact
            As :meth:`plot_learning` takes them; with them, the eigenvalues that those of QQ' equal
            at the optimum are drawn too.
        ax : (2,)
            Axes to draw into; new ones unless given.
        """
        return plot_functions().symmetry_of(self.data, X, Y, exact, ax, self._shared_rate())

    def _shared_rate(self):
        """Return the rate that Q and R were given, if they share it; None otherwise."""
        rates = getattr(self.circuit, "rates", None)
        return rates.q if isinstance(rates, Rates) and rates.q == rates.r else None

    def plot_filters(self, X=None, Y=None, pixels=None, *, exact=None, neurons=None, ax=None):
        """Draw the learned filters Vx; with data, beside the exact ones, onto which they are
        turned.

        Parameters
        ----------
        X, Y, exact
            As :meth:`plot_plateau` takes them.
        pixels
            Shape of a filter as a picture, (height, width), or (3, height, width) for colour;
            curves unless given.
        neurons
            Which neurons, counted from 0; the first six unless given.
        ax : (1 or 2, neurons)
            Axes to draw into; new ones unless given.
        """
        return plot_functions().filters_of(self.data, X, Y, pixels, exact, neurons, ax)

    def plot_eigenvalues(self, X=None, Y=None, *, exact=None, ax=None):
        """Draw the eigenvalues of QQ' beside those that they equal at the optimum; as
        :meth:`plot_learning`.
        """
        from biorrr.analysis import plot_eigenvalues

        exact = plot_functions().exact_solution(self.data, X, Y, exact)
        found = np.linalg.eigvalsh(self.Q @ self.Q.T)[::-1]
        return plot_eigenvalues(exact.eigenvalues[: len(found) + 4], found, ax=ax)

    def plot_weights(self, ax=None):
        """Draw the final weights of every pathway as a picture; axes (number of pathways,)."""
        from biorrr.analysis import plot_weights

        return plot_weights(self.weights, ax=ax)

    def plot_wiring(self, ax=None):
        """Draw the circuit: its cells, and its synapses with their final weights; one axes."""
        from biorrr.analysis import plot_wiring

        return plot_wiring(self.graph(), ax=ax)

    def plot_raster(self, shown: int = 12, neurons=None, ax=None):
        """Draw the last samples as an electrode would see them: spikes, where the cells spike, and
        traces below.

        Parameters
        ----------
        shown
            Samples.
        neurons
            Which neurons, counted from 0; the first three unless given.
        ax : (1 + neurons,) with spikes, else (neurons,)
            Axes to draw into; new ones unless given.
        """
        self._require("plateau")
        each = int(self.data.attrs.get("cells_each", 1))
        raster = Spiking(each).raster if "spikes" in self.data else None
        return plot_functions().raster_of(self.data, raster, shown, neurons, ax)

    def _require(self, name: str) -> None:
        if name not in self.data:
            raise InputError(
                f"{name}: was not recorded in this run; run again with record=({name!r}, ...)"
            )


def plot_functions():
    """Return the module that draws runs, which takes longer to import than a short run."""
    from biorrr.analysis.figures import runs

    return runs
