"""Several instructive areas onto one: separate dendritic currents, each with a regression, a ridge and a rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from biorrr.circuit.circuit import Circuit
from biorrr.models import (
    Clock,
    DistalSynapses,
    InstructiveInput,
    Interneurons,
    InterneuronToPyramidal,
    Neuromodulator,
    Population,
    ProximalSynapses,
    PyramidalNeurons,
    PyramidalToInterneuron,
    Rate,
    SensoryInput,
    Step,
    Variable,
)
from biorrr.models.parts import broadcast
from biorrr.models.validation import number_within, whole_number


@dataclass(frozen=True)
class Instruction:
    """One instructive area.

    Parameters
    ----------
    name
        Of its port, such as "V2".
    rate
        Of its distal plasticity.
    s
        Which regression its synapses solve: 0 is RRMSE, 1 is CCA.
    ridge
        Added to the covariance of its own activity.
    """

    name: str
    rate: Rate
    s: float = 0.0
    ridge: float = 0.0

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"Instruction.name: must be a name without spaces (got {self.name!r})")
        number_within("Instruction.s", self.s, 0, 1, "; 0 is RRMSE, 1 is CCA")
        number_within("Instruction.ridge", self.ridge, 0)


def convergent_circuit(
    k: int,
    instructions: Sequence[Instruction],
    x: Rate,
    q: Rate,
    engine: str = "auto",
    seed: int = 0,
    name: str = "",
) -> Circuit:
    """A microcircuit of ``k`` cells with one dendritic current per instructive area, a_1 + a_2 + ... = a.

    Each distal synapse sees its own current only, dVy_j = eta_j (y_j (z - s_j a_j)' - (1 - s_j + s_j ridge_j) Vy_j), so
    that at the fixed point Vy_j = Sigma_j C_j Vx with Sigma_j^-1 = s_j C_jj + (1 - s_j) I, and Vx holds the top
    eigenvectors of Cxx^-1/2 (sum_j Cxj Sigma_j Cjx) Cxx^-1/2: the circuit maximises the sum of the areas' own
    objectives, over filters that they share. With one current for all, the areas' covariance with each other would
    enter Sigma, as for one concatenated y. :func:`biorrr.analysis.joint_instruction` gives the exact solution.

    Parameters
    ----------
    k
        Pyramidal neurons, and as many interneurons.
    instructions
        The instructive areas; each is a port of its name, beside port x.
    x, q
        Rates of proximal plasticity and of the interneurons' synapses.
    engine, seed, name
        As :class:`~biorrr.circuit.Circuit` takes them.

    Examples
    --------
    >>> areas = [Instruction("V2", Rate(0.01)), Instruction("MT", Rate(0.01), s=1.0)]
    >>> [port.name for port in convergent_circuit(2, areas, x=Rate(0.001), q=Rate(0.01)).ports]
    ['x', 'V2', 'MT']
    """
    whole_number("k", k, minimum=1)
    names = [area.name for area in instructions]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"instructions: must be one or more, each with a name of its own (got {names})")
    plain = PyramidalNeurons(k)
    currents = tuple(Variable(f"a_{area}", f"distal current from {area}") for area in names)
    total = Step("membrane", "a = " + " + ".join(current.name for current in currents))
    pyramidal = replace(plain, variables=(*plain.variables, *currents), steps=(total, *plain.steps))
    distal = []
    for area in names:
        change = f"y_pre * (z_post - s_{area} * a_{area}_post) - (1 - s_{area} + s_{area} * ridge_{area}) * w"
        distal.append(
            replace(
                DistalSynapses(), name=f"distal_{area}", weight=f"Vy_{area}", source=f"instructive_{area}",
                drives=f"a_{area}", change=f"eta_y_{area} * ({change})",
            )
        )  # fmt: skip
    inputs = [InstructiveInput(name=f"instructive_{area}", dimension=f"instruction_{area}") for area in names]
    ports = {"x": "sensory.x"} | {area: f"instructive_{area}.y" for area in names}
    populations = [Clock(), _modulator(instructions, x, q), SensoryInput(), *inputs, pyramidal, Interneurons(k)]
    pathways = [ProximalSynapses(), *distal, InterneuronToPyramidal(spread=0.3), PyramidalToInterneuron(spread=0.3)]
    return Circuit(populations, pathways, ports, engine=engine, seed=seed, name=name)


def _modulator(instructions: Sequence[Instruction], x: Rate, q: Rate) -> Population:
    """Broadcasts the rates, and each area's regression and ridge."""
    rates = {"x": x, "q": q, "r": q} | {f"y_{area.name}": area.rate for area in instructions}
    others = [broadcast("replay_gain", "no replay", "parameter")]
    for area in instructions:
        others.append(broadcast(f"s_{area.name}", "0 is RRMSE, 1 is CCA", "parameter", area.s))
        others.append(broadcast(f"ridge_{area.name}", "added to its covariance", "parameter", area.ridge))
    return Neuromodulator.of(rates, others)
