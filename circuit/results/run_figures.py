"""Figures of a run: what :mod:`biorrr.analysis.figures` draws of its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biorrr.errors import InputError
from biorrr.hints import hints_at_keywords
from biorrr.models import Rates, Spiking

if TYPE_CHECKING:
    import xarray as xr

    from biorrr.circuit.base import CircuitBase


class RunFigures:
    """Base of runs that can be drawn."""

    data: xr.Dataset
    circuit: CircuitBase | None

    @hints_at_keywords
    def angles(self, X=None, Y=None, *, exact=None) -> xr.DataArray:
        """Return the principal angles between learned and exact filters in degrees, (snapshot,
        angle), largest first.

        ``X``, ``Y`` and ``exact`` are as :meth:`plot_learning` takes them.
        """
        import xarray as xr

        from biorrr.analysis import principal_angles

        exact = exact or plot_functions().exact_solution(self.data, X, Y)
        best = exact.Vx(self.data["Vx"].shape[-1])
        angles = [principal_angles(Vx, best) for Vx in self.data["Vx"].values]
        attrs = {"long_name": "angle between learned and exact filters", "units": "degrees"}
        return xr.DataArray(
            angles, {"seen": self.data["seen"]}, ("snapshot", "angle"), "angles", attrs
        )

    @hints_at_keywords
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
        return plot_functions().learning_of(self.data, X, Y, exact, ax)

    @hints_at_keywords
    def plot_angles(self, X=None, Y=None, *, exact=None, ax=None):
        """Draw the angles between learned and exact filters at each snapshot; as
        :meth:`plot_learning`.
        """
        from biorrr.analysis.figures.learning import plot_angles

        return plot_angles(self.data["seen"].values, self.angles(X, Y, exact=exact).values, ax=ax)

    @hints_at_keywords
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

    @hints_at_keywords
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

    @hints_at_keywords
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

    @hints_at_keywords
    def plot_eigenvalues(self, X=None, Y=None, *, exact=None, ax=None):
        """Draw the eigenvalues of QQ' beside those that they equal at the optimum; as
        :meth:`plot_learning`.
        """
        return plot_functions().eigenvalues_of(self.data, X, Y, exact, ax)

    def plot_weights(self, ax=None):
        """Draw the final weights of every pathway as a picture; axes (number of pathways,)."""
        from biorrr.analysis import plot_weights

        return plot_weights(self.weights, ax=ax)  # type: ignore[attr-defined]

    def plot_wiring(self, ax=None):
        """Draw the circuit: its cells, and its synapses with their final weights; one axes."""
        from biorrr.analysis import plot_wiring

        return plot_wiring(self.graph(), ax=ax)  # type: ignore[attr-defined]

    @hints_at_keywords
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
        last, spikes = plot_functions().last_samples(self.data, shown), None
        if "spikes" in self.data:
            counts = self.data["spikes"].sel(sample=last.samples).values
            each = int(self.data.attrs["cells_each"])
            fired, cells = Spiking(each).raster(counts.reshape(-1, counts.shape[-1]))
            # Poisson cells fire at any moment of a tick alike.
            spikes = (
                fired + np.random.default_rng(self.data.attrs["seed"]).random(len(fired)),
                cells,
                each,
            )
        return plot_functions().raster_of(self.data, spikes, shown, neurons, ax)

    def _require(self, name: str) -> None:
        if name not in self.data:
            raise InputError(
                f"{name}: was not recorded in this run; run again with record=({name!r}, ...)"
            )


def plot_functions():
    """Return the module that draws runs, which takes longer to import than a short run."""
    from biorrr.analysis.figures import runs

    return runs
