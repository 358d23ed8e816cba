"""Learning rates as a user asks for them: fitted to the data, the paper's, or the paper's with another eta0 or N."""

from __future__ import annotations

from dataclasses import dataclass

from biorrr.errors import InputError
from biorrr.sims.lab.settings import ExperimentSettings, SettingsError, option
from biorrr.sims.lazy import models

ETA0 = "eta_x at the first sample, instead of the printed one; eta_y and eta_q keep their proportion to it"
N = "samples in which the rates halve, instead of the printed number"


@dataclass(frozen=True, kw_only=True)
class RatesSettings(ExperimentSettings):
    """Settings of learning rates, eta = eta0 / (1 + t/N)."""

    rates: str = option(
        "auto", "auto fits them to the data; paper takes those that the supplement prints", choices=("auto", "paper")
    )
    eta0: float | None = option(None, ETA0, at_least=0)
    N: float | None = option(None, N, at_least=1e-9)

    def given_rates(
        self, data: str, s: float, k: int, setting: str = "online", algorithm: str = "biorrr"
    ) -> models.Rates | None:
        """Return the rates that the settings ask for; None for rates that follow the data.

        Where the paper prints none for these data, ``eta0`` alone makes rates of its form, with the proportions that it
        uses for MediaMill: eta_y = eta_q = 0.002 eta_x at s = 0 and 0.02 eta_x at s = 1, between them in between.
        """
        if self.rates == "auto":
            if self.eta0 is not None or self.N is not None:
                name = "eta0" if self.eta0 is not None else "N"
                raise SettingsError(f"{name}: only with rates paper (got rates auto, which fit themselves to the data)")
            return None
        try:
            printed = models.Rates.paper(data, s, k, setting, algorithm)
        except InputError as error:
            if self.eta0 is None:
                none = f"rates: the paper prints none here ({error})"
                raise SettingsError(f"{none}; give eta0 as well, or take rates auto") from None
            x = models.Rate(self.eta0, *([] if self.N is None else [self.N]))
            other = x.scaled(0.002 * 10**s)
            return models.Rates(x, other, other)
        factor = 1.0 if self.eta0 is None else self.eta0 / printed.x.eta0
        each = (getattr(printed, name).scaled(factor) for name in ("x", "y", "q", "r"))
        return models.Rates(*(rate if self.N is None else models.Rate(rate.eta0, self.N) for rate in each))
