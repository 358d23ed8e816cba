"""How activity unfolds in time: at once, or by membranes and dendrites that relax while a sample is held."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from biorrr.models.checks import number_within
from biorrr.models.departure import Departure
from biorrr.models.parts import Pathway, Population

_CLOCK = """
    share : 1 (shared)             # of the sample's time that this tick takes
    closing : 1 (shared)           # 1 in the last tick of a sample
    moment : 1 (shared)            # counts the ticks of all samples
    chance_seed : 1 (shared, constant)
"""
_CLOCK_NAMES = ("share", "closing", "moment", "chance_seed")


@dataclass(frozen=True)
class Instant(Departure):
    """Activity follows its drive at once; a sample is one tick (the paper's circuit)."""

    @property
    def held(self) -> int:
        """Ticks for which a sample is held."""
        return 1

    def relaxation(self, tau: float) -> float:
        """Everything relaxes within a tick, whatever its time constant."""
        return 1.0

    def alter_population(self, population: Population) -> Population:
        """Tell the other departures what time it is."""
        if population.name != "neuromodulator":
            return population
        return population.extended(
            equations=_CLOCK,
            broadcast=_CLOCK_NAMES,
            state=("chance_seed",),
            announce="\n    share = 1\n    closing = waking\n    moment = sample\n",
        )  # fmt: skip

    def values(self, setting):
        """The seed of all chance."""
        return {"neuromodulator.chance_seed": float(setting.seed)}


@dataclass(frozen=True)
class Leaky(Departure):
    """Each sample is held for a while, membranes and dendrites relax towards their drive, plasticity integrates.

    Weights change when a sample ends, by the mean over the time it was held of what their rule asks; so as the time
    constants fall against `hold`, the circuit becomes the instant one, with an error of first order in tau/hold.
    Spontaneous replay stays instant. Times are Brian2 quantities, or plain numbers in milliseconds.

    Parameters
    ----------
    tau_soma, tau_dendrite, tau_interneuron
        Membrane time constants of somata, distal dendrites and interneurons; 0 follows at once.
    tau_plateau
        Time constant of the plateau potential.
    hold
        How long a sample is shown.
    dt
        Length of a tick.
    """

    tau_soma: float = 10.0
    tau_dendrite: float = 10.0
    tau_interneuron: float = 10.0
    tau_plateau: float = 30.0
    hold: float = 200.0
    dt: float = 2.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = milliseconds(f"Leaky.{field.name}", getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        if not (self.dt > 0 and abs(self.held - self.hold / self.dt) < 1e-9 and self.held >= 1):
            raise ValueError(
                f"Leaky.hold: must be a whole number of ticks of dt = {self.dt:g} ms (got {self.hold:g} ms)"
            )

    @property
    def held(self) -> int:
        """Ticks for which a sample is held."""
        return round(self.hold / self.dt)

    def relaxation(self, tau: float) -> float:
        """1 - exp(-dt/tau), the exact step while the drive stands still."""
        return 1 - math.exp(-self.dt / tau) if tau else 1.0

    def alter_population(self, population: Population) -> Population:
        """Give cells membranes, and the neuromodulator a clock that knows when a sample ends."""
        if population.name == "neuromodulator":
            return self._alter_clock(population)
        if population.name == "pyramidal":
            return population.extended(
                equations="""
    soma : 1                       # membrane potential of the soma
    dendrite : 1                   # of the distal dendrite, by excitation
    hyperpolarisation : 1          # of the distal dendrite, by inhibition
    calcium : 1                    # the plateau as it rises and decays
    soma_step : 1 (shared, constant)      # 1 - exp(-dt/tau): how far a tick relaxes
    dendrite_step : 1 (shared, constant)
    plateau_step : 1 (shared, constant)
""",
                response="""
soma = soma + waking * soma_step * (z - soma)
dendrite = dendrite + waking * dendrite_step * (a - dendrite)
z = waking * soma + (1 - waking) * z
a = waking * dendrite + (1 - waking) * a""",
                reception="""
hyperpolarisation = hyperpolarisation + waking * dendrite_step * (inhibition - hyperpolarisation)
inhibition = waking * hyperpolarisation + (1 - waking) * inhibition""",
                parameters=("soma_step", "dendrite_step", "plateau_step"),
                memory=("soma", "dendrite", "hyperpolarisation", "calcium"),
                hears=("waking",),
            )
        if population.name == "interneurons":
            return population.extended(
                equations="""
    membrane : 1                   # membrane potential
    membrane_step : 1 (shared, constant)
""",
                response="""
membrane = membrane + waking * membrane_step * (n - membrane)
n = waking * membrane + (1 - waking) * n""",
                parameters=("membrane_step",),
                memory=("membrane",),
                hears=("waking",),
            )
        return population

    def _alter_clock(self, neuromodulator):
        clock = """
    onset = waking * int(phase >= held - 1)
    phase = waking * (1 - onset) * (phase + 1) + (1 - waking) * phase
    share = 1 / held
    closing = waking * int(phase >= held - 1)
"""
        return neuromodulator.extended(
            equations=_CLOCK + """
    held : 1 (shared, constant)    # ticks for which a sample is held
    phase : 1 (shared)             # ticks since the sample came on
    onset : 1 (shared)             # 1 in the first tick of a sample
    eta_mean : 1                   # of Q and R, over the sample so far
""",
            broadcast=_CLOCK_NAMES,
            state=("chance_seed", "held", "phase"),
        ).altered(
            announce=clock
            + neuromodulator.announce.replace("sample + waking", "sample + onset")
            + "\n    moment = sample * held + phase\n",
            adapt=neuromodulator.adapt.replace(
                "log_retained = log_retained + waking * log(1 - eta_q)",
                "eta_mean = (1 - onset) * eta_mean + waking * share * eta_q\n"
                "    log_retained = log_retained + closing * log(1 - eta_mean)",
            ),
        )  # fmt: skip

    def alter_pathway(self, pathway: Pathway) -> Pathway:
        """Let plasticity gather what its rule asks for while a sample is held."""
        if not pathway.rule:
            return pathway
        change = pathway.rule.removeprefix("w += ")
        return pathway.extended(equations="pending : 1\n").altered(
            rule=f"""change = {change}
pending = pending + waking * share * change
w += (1 - waking) * change + closing * pending
pending = (1 - closing) * pending"""
        )

    def values(self, setting):
        """How far each membrane relaxes in a tick."""
        return {
            "pyramidal.soma_step": self.relaxation(self.tau_soma),
            "pyramidal.dendrite_step": self.relaxation(self.tau_dendrite),
            "pyramidal.plateau_step": self.relaxation(self.tau_plateau),
            "interneurons.membrane_step": self.relaxation(self.tau_interneuron),
            "neuromodulator.held": float(self.held),
            "neuromodulator.phase": self.held - 1.0,
            "neuromodulator.chance_seed": float(setting.seed),
        }


@dataclass(frozen=True)
class PlateauDecay(Departure):
    """The last step of leaky dynamics: whatever a plateau's kind, it rises and decays with `plateau_step`."""

    def alter_population(self, population: Population) -> Population:
        """Low-pass the plateau, once its kind is decided."""
        if population.name != "pyramidal":
            return population
        return population.extended(
            update="""
calcium = calcium + waking * plateau_step * (plateau - calcium)
plateau = waking * calcium + (1 - waking) * plateau"""
        )


def milliseconds(name: str, value) -> float:
    """``value``, a Brian2 time or a plain number of milliseconds, as milliseconds."""
    if hasattr(value, "dim"):
        import brian2

        if not brian2.have_same_dimensions(value, brian2.second):
            raise ValueError(f"{name}: must be a time (got {value}); write for example 10*ms")
        value = float(value / brian2.ms)
    return number_within(name, value, 0, remedy=" ms")
