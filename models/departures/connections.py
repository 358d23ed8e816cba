"""Connections between cells: their probability, their sign, their noise and their delay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

from biorrr.errors import InputError
from biorrr.models.departure import Departure
from biorrr.models.parts import Parts, Pathway, Population, Step, Variable, parameter, with_values
from biorrr.models.random_draws import Stream, in_area, stream_of
from biorrr.models.validation import NotNegative, Probability, one_of, whole_number


@dataclass(frozen=True)
class SparseConnections(Departure):
    """Sparse wiring: only some of the possible synapses exist, and the weights of the others stay
    zero.

    Parameters
    ----------
    proximal, distal
        Probability that a fibre reaches a given pyramidal neuron.
    """

    proximal: Probability
    distal: Probability
    alters = ("proximal", "distal")

    def alter_part(self, pathway: Pathway) -> Pathway:
        """Let only synapses that exist begin with a weight and change."""
        place, probability = self.alters.index(pathway.kind), getattr(self, pathway.kind)
        drawn = (
            f"int(uniform_draw(seed, {in_area(Stream.WIRING, pathway.area)}, {place}, i) <"
            f" {probability!r})"
        )
        exists = parameter("connected", "1 where the synapse exists", drawn, per="synapse")
        change, replay, start = (
            code and f"connected * ({code})"
            for code in (pathway.change, pathway.replay, pathway.start)
        )
        return replace(pathway.adding(exists), change=change, replay=replay, start=start)


_KINDS = {"Vx": "proximal", "Vy": "distal", "Q": "inhibitory", "R": "recruitment"}


@dataclass(frozen=True)
class DalesLaw(Departure):
    """Dale's law: all synapses that a cell makes keep one sign, and a weight that would cross zero
    stays there.

    Pyramidal cells excite (R, and what they send to other areas) and interneurons inhibit (Q); a
    random half of the fibres that come from outside (Vx, Vy) is inhibitory.

    Parameters
    ----------
    weights
        Names that the paper gives to the matrices whose weights keep their sign, among "Vx", "Vy",
        "Q" and "R". In a hierarchy they stand for W, A, Q and R of each area.
    """

    weights: tuple[Annotated[str, partial(one_of, choices=tuple(_KINDS))], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alters", tuple(_KINDS[name] for name in self.weights))

    def alter(self, parts: Parts) -> Parts:
        """Give each fibre its polarity, and stop weights at zero."""
        for pathway in (pathway for kind in self.alters for pathway in parts.all(kind)):
            if pathway.bound:
                raise InputError(
                    f"the weights of {pathway.name} have a bound already, {pathway.bound}"
                )
            source, sign = parts[pathway.source], ""
            if source.kind not in ("pyramidal", "interneuron"):
                sign, place = "polarity_pre * ", int(pathway.kind == "distal")
                drawn = f"1 - 2 * int(uniform_draw(seed, {Stream.POLARITY}, {place}, i) >= 0.5)"
                meaning = "sign of all synapses that the fibre makes"
                if "polarity" not in source.declared:
                    parts = parts.having(
                        source.adding(parameter("polarity", meaning, drawn, per="cell"))
                    )
            start, bound = f"{sign}abs({pathway.start})", f"{sign}clip({sign}w, 0, inf)"
            parts = parts.having(replace(pathway, start=start, bound=bound))
        return parts


_STREAMS = {
    "z": Stream.PROXIMAL,
    "a": Stream.DISTAL,
    "inhibition": Stream.INHIBITORY,
    "n": Stream.RECRUITMENT,
}


@dataclass(frozen=True)
class TransmissionNoise(Departure):
    """Noise of transmission: a synapse transmits w x (1 + sigma xi), xi Gaussian and new for each
    synapse and sample.

    The sum over a cell's synapses is Gaussian too, with variance sigma^2 sum (w x)^2, so one draw
    per cell does for all of them. Spontaneous replay is noiseless. Noise at three synapses in a
    row, of which each adds sigma^2, makes the mean-square step of Vx larger: rates "auto" are lower
    by as much.

    Parameters
    ----------
    sigma
        Standard deviation of the noise, relative to what is transmitted.
    """

    sigma: NotNegative
    excludes = (
        ("settling", "noise is drawn anew in every tick, so outputs never settle; use Leaky(...)"),
    )

    def alter(self, parts: Parts) -> Parts:
        """Sum up the variance beside each current, and add the noise as the current arrives."""
        phases: dict[str, dict[str, str]] = {}  # in which a quantity of a population is noisy
        for pathway in parts.weighted:
            variance = (f"{pathway.drives}_variance", f"({pathway.current})**2")
            parts = parts.having(replace(pathway, sums=(*pathway.sums, variance)))
            phases.setdefault(pathway.target, {})[pathway.drives] = pathway.phase
        sigma = parameter("sigma", "noise, relative to what is transmitted", self.sigma)
        for name, noisy in phases.items():
            cells = parts[name].adding(sigma)
            for quantity, phase in noisy.items():
                declared = cells.variable(quantity)
                place = stream_of(f"{name.removesuffix(f'_{cells.area}')}.{quantity}")
                stream = in_area(_STREAMS.get(quantity, place), cells.area)
                # A tick that takes only a part of the sample's time averages over less noise.
                spread = f"sigma * sqrt({quantity}_variance * duration)"
                cells = cells.adding(
                    Variable(f"{quantity}_variance", f"variance of the {declared.meaning}"),
                    Step(
                        phase, f"{quantity} += {spread} * gaussian_draw(seed, {stream}, moment, i)"
                    ),
                )
            parts = parts.having(cells)
        fitted = (cells for cells in parts.all("neuromodulator") if "step_noise" in cells.declared)
        return parts.having(*(with_values(one, step_noise=1 + 3 * self.sigma**2) for one in fitted))


_Length = Annotated[
    int, partial(whole_number, minimum=0, maximum=1000)
]  # each sample or tick is a memory of its own


@dataclass(frozen=True)
class _Delay(Departure):
    """Base of delays, in samples or in ticks of a sample that is held.

    Attributes
    ----------
    activity, phase
        The activity that is late, and when it is replaced by that of some time ago.
    """

    samples: _Length = 0
    ticks: _Length = 0
    activity: ClassVar[str]
    phase: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples and self.ticks:
            raise InputError(
                f"{type(self).__name__}: must be a delay in samples or in ticks, not both (got"
                f" {self.samples} and {self.ticks})"
            )
        if self.ticks:
            reason = (
                "the ticks in which outputs settle are not time; give the delay in samples, or use"
                " Leaky(...)"
            )
            object.__setattr__(self, "excludes", (("settling", reason),))

    def alter_part(self, cells: Population) -> Population:
        """Pass the activity down a line of memories, in every tick, or when a sample ends."""
        length = self.samples or self.ticks
        if not length:
            return cells
        declared, unit = cells.variable(self.activity), "samples" if self.samples else "ticks"
        line = [f"past_{age}" for age in range(length, 0, -1)]  # oldest first
        memories = [
            Variable(past, f"{declared.meaning}, {past[5:]} {unit} ago", role="memory")
            for past in line
        ]
        late = f"undelayed = {self.activity}\n{self.activity} = {line[0]}"
        pairs = zip(line, [*line[1:], "undelayed"], strict=True)
        shift = "\n".join(f"{older} = {newer}" for older, newer in pairs)
        return cells.adding(
            Variable("undelayed", f"{declared.meaning} of now"),
            *memories,
            Step(self.phase, late),
            Step(self.phase, shift, block="end" if self.samples else "tick"),
        )


class LoopDelay(_Delay):
    """Late inhibition: interneurons answer with the activity that they had some samples, or ticks,
    ago.

    Parameters
    ----------
    samples
        How many samples.
    ticks
        How many ticks of a sample that is held, instead; more than the sample has reach back into
        those before it.
    """

    alters = ("interneuron",)
    gives = ("loop delay",)
    activity, phase = "n", "delay"


class LateInstruction(_Delay):
    """Late instruction: the distal dendrite receives the instruction of some samples, or ticks,
    ago.

    Parameters
    ----------
    samples
        How many samples.
    ticks
        How many ticks of a sample that is held, instead.
    """

    alters = ("instructive",)
    activity, phase = "y", "input"
