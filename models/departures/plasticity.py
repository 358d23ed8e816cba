"""Plasticity that reads traces of the recent past of cells, and scaling of a cell's own synapses.

A trace is an average over the recent past, in which what lies longer back counts less: per tick,
`trace += step * (activity - trace)` with step = 1 - exp(-tick/tau). For an activity that stands
still it is that activity, whatever the tick.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from biorrr.errors import InputError
from biorrr.models.departure import Departure
from biorrr.models.expressions import add, names_in, rename
from biorrr.models.parts import Parts, Pathway, Step, Variable, parameter
from biorrr.models.validation import Duration, Lasting


@dataclass(frozen=True)
class Eligibility(Departure):
    """Plasticity that reads traces in place of activities, so that a plateau can teach about
    earlier inputs.

    With e a trace of the input, p of the plateau and o of the output, the rules become dVx = eta_x
    e p' and dVy = eta_y (y (o - s a)' - (1 - s) Vy). The interneurons' rules stay as they are, and
    so does the ridge, because spontaneous replay has no past. At the fixed point C_ey Vy = C_ex Vx
    QR: with white inputs and instruction d samples late that is the plain circuit's subspace.
    Without `tau_output` the distal synapses would never learn what a late instruction is about.

    A time constant of 0 leaves that activity as it is; all 0 is the plain rule.

    Parameters
    ----------
    tau_x
        Time constant of the trace of presynaptic activity: the time for which an input can wait for
        its plateau.
    tau_plateau
        Time constant of the trace of the plateau: the time for which a plateau can wait for a later
        input.
    tau_output
        Time constant of the trace of the output that distal synapses read.

    All three are milliseconds, or Brian2 times, where the dynamics have time
    (:class:`~biorrr.models.Leaky`), and samples where activity is instant.
    """

    tau_x: Lasting = 0.0
    tau_plateau: Lasting = 0.0
    tau_output: Lasting = 0.0
    alters = ("proximal", "distal")

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(isinstance(tau, Duration) for tau in vars(self).values()):
            samples = "give its time constants as plain numbers, of samples"
            needs = f"where activity is instant there is no time; {samples}, or use Leaky(...)"
            settling = f"the ticks in which outputs settle are not time; {samples}"
            object.__setattr__(self, "requires", (("clock", needs),))
            object.__setattr__(self, "excludes", (("settling", settling),))

    def alter(self, parts: Parts) -> Parts:
        """Keep the traces that are asked for, and let the rules of proximal and distal synapses
        read them.
        """
        for pathway in parts.all(kind="proximal"):
            heard = (name for name in names_in(pathway.current).read if name.endswith("_pre"))
            parts = _read_trace(parts, pathway.name, next(heard, "x_pre"), self.tau_x)
            parts = _read_trace(parts, pathway.name, "plateau_post", self.tau_plateau)
        for pathway in parts.all(kind="distal"):
            parts = _read_trace(parts, pathway.name, "z_post", self.tau_output)
        return parts

    @property
    def memory(self) -> float:  # type: ignore[override]
        """The longest of its time constants."""
        return max(self.tau_x, self.tau_plateau, self.tau_output)


def _read_trace(parts: Parts, name: str, heard: str, tau: float) -> Parts:
    """Let the rule of a pathway read a trace of what is ``heard`` of one of its two cells, such as
    "x_pre".
    """
    if not tau:
        return parts
    rule, (spoken, _, side) = parts[name], heard.rpartition("_")
    if heard not in names_in(rule.change).read:
        raise InputError(
            f"the rule of {name} does not read {heard}, so a trace of it would change nothing"
        )
    cells = parts[rule.source if side == "pre" else rule.target]
    activity = dict(cells.aliases).get(spoken, spoken)
    # A pyramidal neuron of an area below has a trace of its output for its own distal synapses too.
    sent = "sent_" * (side == "pre" and cells.kind == "pyramidal")
    trace, meaning = f"{sent}{activity}_eligibility", cells.variable(activity).meaning
    cells = cells.adding(
        Variable(trace, f"eligibility trace of the {meaning}", role="memory"),
        parameter(
            f"{trace}_step", "relaxation of the trace per tick", f"1 - exp(-lapse / {float(tau)!r})"
        ),
        Step("eligibility", f"{trace} += {trace}_step * ({activity} - {trace})"),
    )
    return parts.having(
        cells, replace(rule, change=rename(rule.change, {heard: f"{trace}_{side}"}))
    )


@dataclass(frozen=True)
class HomeostaticScaling(Departure):
    """Synaptic scaling (Turrigiano et al., Nature 1998): cells bring their own output to unit
    power.

    All proximal synapses of cell j grow or shrink by one factor, dVx_j += eta_q (1 - z_j^2 - ridge
    |Vx_j|^2) Vx_j, beside the plateau's rule. A cell knows its output and its weights, so the rule
    is local; the term of the ridge arises in spontaneous replay.

    White outputs have unit power, so the exact solution stays a fixed point. The reverse is not
    true: power is of cells, and whitening of directions, which are rotations of cells. Where one
    direction of the outputs is silent, every cell that takes part in it is somewhat weak and scales
    all of its synapses. Inhibition holds the other directions at their power. Nothing holds the
    silent one, so it grows from whatever the weights have of it. If it is silent because x and y
    share nothing more, what it comes to say is chance; then use fewer cells.

    A cell that is silenced scales up for as long as that lasts. In areas with feedback the power is
    `rho`.
    """

    alters = ("proximal",)
    gives = ("scale of proximal weights",)

    def alter_part(self, pathway: Pathway) -> Pathway:
        """Add the scaling to the rules of proximal synapses."""
        change = add((pathway.change or "0", "eta_q * w * (rho - z_post**2)"))
        replay = add((pathway.replay or "0", "-eta_q * replay_gain * w * z_post**2"))
        return replace(pathway, change=change, replay=replay)
