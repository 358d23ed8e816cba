"""What a simulation leaves behind: weights, snapshots, traces, and what the learned circuit says about new data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import xarray as xr

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
    "eta_x": "rate of proximal plasticity",
    "eta_y": "rate of distal plasticity",
    "eta_q": "rate of interneuron-to-pyramidal plasticity",
    "eta_r": "rate of pyramidal-to-interneuron plasticity",
}


class Run:
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
        return (np.asarray(X) - self.data["mean_x"].values) @ self.Vx

    def predict(self, X) -> np.ndarray:
        """The circuit's prediction of Y, Sigma^-1 Vy Vx' x (Eq. 2), for ``X`` (n_samples, m); shape (n_samples, n)."""
        return self.transform(X) @ self.data["readout"].values.T + self.data["mean_y"].values

    def save(self, path: str | os.PathLike) -> None:
        """Write the run as NetCDF4, whole or not at all."""
        path = Path(path)
        aside = path.with_name(f".{path.name}.part")
        try:
            packed = {name: {"zlib": True} for name, v in self.data.data_vars.items() if v.ndim}
            self.data.to_netcdf(aside, engine="h5netcdf", encoding=packed)
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
            raise
        except (OSError, ValueError, KeyError) as error:
            raise ValueError(f"{path}: not a saved run, or damaged ({error})") from error
        missing = [name for name in _WEIGHT_DIMS if name not in run.data]
        if missing:
            raise ValueError(f"{path}: not a saved run: no {', '.join(missing)} in it")
        return run

    def __repr__(self) -> str:
        sizes, attrs = self.data.sizes, self.data.attrs
        traces = [name for name in TRACE_DIMS if name in self.data]
        return (
            f"<biorrr.Run: {sizes['input']} x {sizes['instruction']} inputs, k = {sizes['pyramidal']}, "
            f"l = {sizes['interneuron']}, s = {attrs['s']:g}, {self.samples} samples on {attrs['engine']}, {self.ended}; "
            f"{sizes['snapshot']} snapshots, traces of {', '.join(traces) or 'nothing'}>"
        )


def dataset(weights: dict[str, np.ndarray], seen, traces: dict[str, np.ndarray], trace_samples, extras, attrs):
    """Assemble a run's dataset.

    Parameters
    ----------
    weights
        Snapshots by matrix, each (snapshot, rows, columns).
    seen
        Samples seen at each snapshot, shape (snapshot,).
    traces
        By name, each (sample, cells).
    trace_samples
        Which samples the traces are of, shape (sample,).
    extras
        Further variables, as (dims, values).
    attrs
        Plain values, kept as attributes.
    """
    variables = {name: (("snapshot", *dims), weights[name]) for name, dims in _WEIGHT_DIMS.items()}
    for name, values in traces.items():
        dims = TRACE_DIMS[name]
        variables[name] = (("sample", *dims), values if dims else values[:, 0])
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
