"""The parts of the paper's microcircuit (Golkar et al., NeurIPS 2020, Fig. 1, with the supplement's
decoupled interneuron synapses).

They are a clock, fibres that bring the two views of each sample, two kinds of neuron, and four
pathways, each current beside the rule that changes it.

Names without `_pre` or `_post` other than the synapse's own `w` are broadcast to all synapses of a
pathway alike: the rates `eta_...` and what goes with them (:mod:`biorrr.models.neuromodulator`);
rho, the variance that outputs are brought to, is 1 in the paper. In spontaneous replay, by which
the ridge on Cxx stays local, Vx, Q and R learn without decay and Vy does not learn.
"""

from __future__ import annotations

import math

from biorrr.models.neuromodulator import Neuromodulator
from biorrr.models.parts import Parts, Pathway, Population, Step, Variable, broadcast, parameter
from biorrr.models.rates import Rates


def Clock(
    duration: float | None = None, tick: float = math.inf, replay_duration: float | None = None
) -> Population:
    """Return a clock.

    Parameters
    ----------
    duration
        Ticks for which a sample is held; without it every sample is one tick, as in the paper's
        circuit.
    tick
        Length of a tick in ms; infinite where activity follows its drive at once.
    replay_duration
        Ticks for which an input is held in spontaneous replay; without it replay takes one tick.
    """
    variables = [
        broadcast("sample", "samples seen before this one", "memory", -1.0),
        broadcast(
            "moment",
            "count of the ticks of all samples, by which random numbers are drawn",
            "input",
        ),
        broadcast("seed", "seed of everything random", "parameter", "seed"),
        broadcast("duration", "ticks for which a sample is held", "parameter", duration or 1.0),
        broadcast(
            "lapse",
            "time that a tick takes for what outlasts samples: in ms, or in samples where all is"
            " instant",
            "parameter",
            tick if math.isfinite(tick) else 1.0,
        ),
        parameter(
            "tick", "length of a tick, infinite where all is instant", tick, "ms", per="circuit"
        ),
    ]
    if duration is not None:
        variables.append(
            broadcast("elapsed", "ticks since the sample or the replay came on", "input")
        )
    if replay_duration is not None:
        meaning = "ticks for which a replay is held"
        variables.append(broadcast("replay_duration", meaning, "parameter", replay_duration))
    return Population(1, "clock", tuple(variables), meaning="Counts samples and ticks.", shape="")


def SensoryInput(size: int | None = None) -> Population:
    """Return feedforward fibres, one per feature of x; they end on proximal dendrites."""
    return Population(
        size,
        name="sensory",
        variables=(Variable("x", "sensory input", role="input"),),
        meaning="Feedforward fibres, one per feature of x; they end on proximal dendrites.",
        dimension="input",
        kind="sensory",
    )


def InstructiveInput(size: int | None = None) -> Population:
    """Return fibres from other areas, one per feature of y; they end on the distal tuft."""
    return Population(
        size,
        name="instructive",
        variables=(Variable("y", "instructive input", role="input"),),
        meaning="Fibres from other areas, one per feature of y; they end on the distal tuft.",
        dimension="instruction",
        kind="instructive",
    )


def PyramidalNeurons(size: int | None = None) -> Population:
    """Return two-compartment neurons: output from the soma, plateau from the dendrite."""
    return Population(
        size,
        name="pyramidal",
        variables=(
            Variable("z", "somatic output"),  # Vx'x
            Variable("a", "distal current"),  # Vy'y
            Variable("inhibition", "inhibition of the distal dendrite"),  # Qn
            Variable(
                "plateau", "calcium plateau potential"
            ),  # travels down, teaches proximal synapses
        ),
        steps=(Step("plateau", "plateau = a - inhibition", replays=True),),
        meaning="Two-compartment neurons: output from the soma, plateau from the dendrite.",
        shape="triangle",
        kind="pyramidal",
    )


def Interneurons(size: int | None = None) -> Population:
    """Return somatostatin-like interneurons: driven by pyramidal output, they inhibit the distal
    dendrite.
    """
    return Population(
        size,
        name="interneurons",
        variables=(Variable("n", "interneuron activity"),),  # Rz; Q'z once R has met Q'
        meaning=(
            "Somatostatin-like interneurons: driven by pyramidal output, they inhibit the distal"
            " dendrite."
        ),
        dimension="interneuron",
        kind="interneuron",
    )


def ProximalSynapses() -> Pathway:
    """Return Vx, from sensory fibres to the soma: plateau times input, not Hebbian, as the output
    plays no part.
    """
    return Pathway(
        name="proximal",
        weight="Vx",
        source="sensory",
        target="pyramidal",
        drives="z",
        current="w * x_pre",
        phase="drive",
        change="eta_x * x_pre * plateau_post",
        replay="eta_x * replay_gain * x_pre * plateau_post",
        meaning="proximal weights",
        equation="dVx = eta_x x (a - Qn)'",
        kind="proximal",
    )


def DistalSynapses() -> Pathway:
    """Return Vy, from instructive fibres to the distal dendrite. Hebbian with decay at s = 0, not
    Hebbian at s = 1.

    A ridge on Cyy is plain decay, s*ridge_y.
    """
    return Pathway(
        name="distal",
        weight="Vy",
        source="instructive",
        target="pyramidal",
        drives="a",
        current="w * y_pre",
        phase="drive",
        change="eta_y * (y_pre * (z_post - rho * s * a_post) - rho * (1 - s + s * ridge_y) * w)",
        meaning="distal weights",
        equation="dVy = eta_y (y (z - s a)' - (1 - s) Vy)",
        kind="distal",
    )


def PyramidalToInterneuron() -> Pathway:
    """Return R, by which pyramidal output drives the interneurons: Hebbian with decay, it finds Q'
    by itself.
    """
    return Pathway(
        name="recruitment",
        weight="R",
        source="pyramidal",
        target="interneurons",
        drives="n",
        current="w * z_pre",
        phase="recruitment",
        change="eta_r * (n_post * z_pre - rho * w)",
        replay="eta_r * replay_gain * n_post * z_pre",
        target_by_source=True,
        meaning="pyramidal-to-interneuron weights",
        equation="dR = eta_q (n z' - R)",
        kind="recruitment",
    )


def InterneuronToPyramidal() -> Pathway:
    """Return Q, by which interneurons inhibit the distal dendrite. Hebbian with decay."""
    return Pathway(
        name="inhibitory",
        weight="Q",
        source="interneurons",
        target="pyramidal",
        drives="inhibition",
        current="w * n_pre",
        phase="inhibition",
        change="eta_q * (z_post * n_pre - rho * w)",
        replay="eta_q * replay_gain * z_post * n_pre",
        target_by_source=True,
        meaning="interneuron-to-pyramidal weights",
        equation="dQ = eta_q (z n' - Q)",
        kind="inhibitory",
    )


def microcircuit_parts(k: int, interneurons: int, rates: Rates | None = None) -> Parts:
    """Return two-compartment pyramidal neurons, their interneurons and inputs, and the four
    pathways between them.

    Parameters
    ----------
    k, interneurons
        How many pyramidal neurons and interneurons.
    rates
        The timetable of the learning rates; without it they are 0, until
        :func:`~biorrr.models.fit_rates` fits them to the drive.
    """
    return Parts(
        populations=(
            Clock(),
            Neuromodulator(rates or Rates(0.0)),
            SensoryInput(),
            InstructiveInput(),
            PyramidalNeurons(k),
            Interneurons(interneurons),
        ),
        pathways=(
            ProximalSynapses(),
            DistalSynapses(),
            InterneuronToPyramidal(),
            PyramidalToInterneuron(),
        ),
    )
