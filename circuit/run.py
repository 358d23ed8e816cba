"""What a simulation leaves behind: weights, snapshots, traces, and what the learned circuit says about new data."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import xarray as xr

from biorrr.circuit.netcdf import write_netcdf
from biorrr.circuit.table import Tabled, regression, ridge_in_words

_WEIGHT_DIMS = {
    "Vx": ("input", "pyramidal"),
    "Vy": ("instruction", "pyramidal"),
    "Q": ("pyramidal", "interneuron"),
    "R": ("interneuron", "pyramidal"),
}
TRACE_DIMS = {
    "x": ("input",),
    "y": ("instruction",),
    "z": ("pyramidal",),
    "a": ("pyramidal",),
    "inhibition": ("pyramidal",),
    "plateau": ("pyramidal",),
    "n": ("interneuron",),
    "spikes": ("pyramidal",),
    "interneuron_spikes": ("interneuron",),
    "eta_x": (),
    "eta_y": (),
    "eta_q": (),
    "eta_r": (),
}
_MEANINGS = {
    "Vx": "proximal weights",
    "Vy": "distal weights",
    "Q": "interneuron-to-pyramidal weights",
    "R": "pyramidal-to-interneuron weights",
    "x": "sensory input",
    "y": "instructive input",
    "z": "somatic output",
    "a": "distal current",
    "inhibition": "inhibition of the distal dendrite",
    "plateau": "calcium plateau potential",
    "n": "interneuron activity",
    "spikes": "spikes of the population that stands for an output",
    "interneuron_spikes": "spikes of the population that stands for an interneuron",
    "eta_x": "rate of proximal plasticity",
    "eta_y": "rate of distal plasticity",
    "eta_q": "rate of interneuron-to-pyramidal plasticity",
    "eta_r": "rate of pyramidal-to-interneuron plasticity",
}


class Run(Tabled):
    """The outcome of :meth:`biorrr.circuit.Microcircuit.run`.

    Attributes
    ----------
    data
        An :class:`xarray.Dataset`: weight snapshots along `snapshot` (with how many samples had been seen), traces
        along `sample`, and everything that was set, as attributes. In the units of the data.
    """

    def __init__(self, data: xr.Dataset) -> None:
        self.data = data

    @property
    def Vx(self) -> np.ndarray:
        """Final proximal weights, shape (m, k)."""
        return self.data["Vx"].values[-1]

    @property
    def Vy(self) -> np.ndarray:
        """Final distal weights, shape (n, k)."""
        return self.data["Vy"].values[-1]

    @property
    def Q(self) -> np.ndarray:
        """Final interneuron-to-pyramidal weights, shape (k, l)."""
        return self.data["Q"].values[-1]

    @property
    def R(self) -> np.ndarray:
        """Final pyramidal-to-interneuron weights, shape (l, k)."""
        return self.data["R"].values[-1]

    @property
    def samples(self) -> int:
        """Samples the circuit has seen, earlier runs it continues included."""
        return int(self.data["seen"].values[-1])

    @property
    def ended(self) -> str:
        """How it ended: "done", "stopped" by a callback, "interrupted" by Ctrl-C, or "diverged"."""
        return self.data.attrs["ended"]

    @property
    def r_minus_qt(self) -> np.ndarray:
        """||Q' - R|| (Frobenius) at each snapshot, shape (snapshot,)."""
        return np.linalg.norm(self.data["Q"].values.transpose(0, 2, 1) - self.data["R"].values, axis=(1, 2))

    def transform(self, X) -> np.ndarray:
        """Output z of the learned circuit for ``X`` (n_samples, m); shape (n_samples, k)."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != len(self.Vx):
            raise ValueError(
                f"X: must have shape (n_samples, {len(self.Vx)}), the inputs of this run (got {X.shape}); "
                "one sample is X[None]"
            )
        return (X - self.data["mean_x"].values) @ self.Vx

    def predict(self, X) -> np.ndarray:
        """The circuit's prediction of Y, Sigma^-1 Vy Vx' x (Eq. 2), for ``X`` (n_samples, m); shape (n_samples, n)."""
        return self.transform(X) @ self.data["readout"].values.T + self.data["mean_y"].values

    def save(self, path: str | os.PathLike) -> None:
        """Write the run as NetCDF4, whole or not at all."""
        path = Path(path)
        aside = path.with_name(f".{path.name}.part")
        try:
            write_netcdf(self.data, aside, packed=True)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Run:
        """Read a run that :meth:`save` wrote."""
        try:
            with xr.open_dataset(path, engine="h5netcdf") as data:
                run = cls(data.load())
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, "no such file", str(path)) from None
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(f"{path}: not a saved run, or damaged ({error})") from error
        missing = [name for name in _WEIGHT_DIMS if name not in run.data]
        if missing:
            raise ValueError(f"{path}: not a saved run: no {', '.join(missing)} in it")
        return run

    # -- looking at it -------------------------------------------------------------------------------------------

    def plot_learning(self, X, Y, ax=None):
        """Objective at each snapshot against its optimum on ``X`` (n_samples, m), ``Y`` (n_samples, n); one axes."""
        from biorrr.analysis import Yardstick, plots

        kept, attrs = self.data, self.data.attrs
        centred = (np.asarray(X) - kept["mean_x"].values, np.asarray(Y) - kept["mean_y"].values)
        yardstick = Yardstick(*centred, s=attrs["s"], ridge=(attrs["ridge_x"], attrs["ridge_y"]))
        scores, optimum = yardstick.objective(kept["Vx"].values), yardstick.optimum(attrs["k"])
        return plots.plot_learning(kept["seen"].values, scores, optimum, label="circuit", ax=ax)

    def plot_plateau(self, shown: int = 60, ax=None):
        """Plateaus at the first and last samples recorded, with a, inhibition and z where recorded; axes (k, 2)."""
        from biorrr.analysis import plots

        self._require("plateau")
        traces = {name: self.trace(name) for name in ("plateau", "a", "inhibition", "z") if name in self.data}
        return plots.plot_plateau(self.moments(), **traces, shown=shown, ax=ax)

    def plot_symmetry(self, ax=None):
        """||Q' - R|| at each snapshot against the product of (1 - eta_q); one axes.

        Rates between two recorded samples are interpolated: record with ``every=1`` where a few strong samples slow
        learning down, as "auto" rates let them.
        """
        from biorrr.analysis import plots, symmetry_decay

        self._require("eta_q")
        kept, eta_q, eta_r = self.data, self.trace("eta_q"), self.trace("eta_r")
        if not np.array_equal(eta_q, eta_r):
            raise ValueError("rates: those of Q and R must be equal for theory to predict ||Q' - R||; see r_minus_qt")
        decay = symmetry_decay(kept["Q"], kept["R"], kept["seen"], lambda t: np.interp(t, self.moments(), eta_q))
        return plots.plot_symmetry(decay.samples, decay.measured, decay.predicted, ax=ax)

    def moments(self) -> np.ndarray:
        """When each row of a :meth:`trace` was recorded, in samples; the ticks of a held sample are parts of one."""
        samples = self.data["sample"].values
        ticks = self.data.sizes.get("time", 1)
        return samples if ticks == 1 else (samples[:, None] + np.arange(ticks) / ticks).ravel()

    def trace(self, name: str) -> np.ndarray:
        """A recorded trace, one row a tick: shape (rows, cells), or (rows,) for a rate."""
        self._require(name)
        return self.data[name].values.reshape(-1, *(self.data.sizes[dim] for dim in TRACE_DIMS[name]))

    def to_nwb(self, path: str | os.PathLike) -> None:
        """Write traces and stimulus as NWB; see :func:`biorrr.circuit.nwb.write`."""
        from biorrr.circuit.nwb import write

        write(self, path)

    def table(self) -> tuple[str, dict[str, str]]:
        """What was run, and what is kept of it."""
        sizes, attrs = self.data.sizes, self.data.attrs
        traces = ", ".join(name for name in TRACE_DIMS if name in self.data)
        return f"Run: {self.samples} samples on {attrs['engine']}, {self.ended}", {
            "inputs": f"{sizes['input']} sensory, {sizes['instruction']} instructive",
            "cells": f"{sizes['pyramidal']} pyramidal, {sizes['interneuron']} interneurons",
            "regression": regression(attrs["s"]),
            "ridge": ridge_in_words((attrs["ridge_x"], attrs["ridge_y"]), attrs["ridge_by"]),
            "rates": attrs["rates"],
            "departures": attrs.get("departures") or "none",
            "||Q' - R||": f"{self.r_minus_qt[-1]:.3g}",
            "snapshots": str(sizes["snapshot"]),
            "traces": f"{traces}, of {sizes['sample']} samples" if traces else "none",
        }

    def _require(self, name: str) -> None:
        if name not in self.data:
            raise ValueError(f"{name}: was not recorded in this run; run again with record=({name!r}, ...)")


def dataset(weights: dict[str, np.ndarray], seen, traces: dict[str, np.ndarray], trace_samples, extras, attrs):
    """Assemble a run's dataset.

    Parameters
    ----------
    weights
        Snapshots by matrix, each (snapshot, rows, columns).
    seen
        Samples seen at each snapshot, shape (snapshot,).
    traces
        By name, each (sample, cells), or (sample, ticks, cells).
    trace_samples
        Which samples the traces are of, shape (sample,).
    extras
        Further variables, as (dims, values).
    attrs
        Plain values, kept as attributes.
    """
    variables: dict[str, tuple] = {name: (("snapshot", *dims), weights[name]) for name, dims in _WEIGHT_DIMS.items()}
    for name, values in traces.items():
        dims = TRACE_DIMS[name]
        within = ("time",) if values.ndim == 3 else ()  # with leaky dynamics, the ticks of a sample
        variables[name] = (("sample", *within, *dims), values if dims else values[..., 0])
    variables["seen"] = (("snapshot",), np.asarray(seen, dtype=np.int64))
    out = xr.Dataset(variables | extras, attrs=attrs)
    if traces:
        out = out.assign_coords(sample=np.asarray(trace_samples, dtype=np.int64))
        out["sample"].attrs["long_name"] = "sample, counted from the first the circuit saw"
    out["seen"].attrs["long_name"] = "samples seen before this snapshot"
    for name, meaning in _MEANINGS.items():
        if name in out:
            out[name].attrs.update(long_name=meaning, units="1")
    return out
