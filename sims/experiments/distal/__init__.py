"""Which rule do distal synapses follow? Simulate protocols, infer s from recordings, and plan
experiments.

The distal synapses tell RRMSE (s = 0, Hebbian with decay) from CCA (s = 1, not Hebbian). First,
protocols of a slice on cells with noisy synapses: instruction and output, alone and together, and
what each s predicts in percent of baseline. Second, s inferred from a learning circuit that is
recorded completely, with noise, sparsely, in half of its synapses, through calcium. --data FILE
infers s from your own record instead, and --plan says whether an experiment of so many --synapses
and --samples, with such --weight-noise, would tell. docs/distal.md explains the files.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from biorrr.sims.data import SMALL_DATA, Plasticity, Samples, Synthetic
from biorrr.sims.experiments.distal.own_experiments import infer_from_record, plan_experiment
from biorrr.sims.experiments.distal.recorded_circuits import (
    RecordedCircuit,
    infer_in_every_condition,
)
from biorrr.sims.experiments.distal.results import join, rows_of, summary
from biorrr.sims.experiments.distal.slice_protocols import FIBRES, PROTOCOLS, SliceExperiment, pair
from biorrr.sims.lab import (
    Claim,
    ExperimentSettings,
    Figure,
    Findings,
    Lab,
    SettingsError,
    data_option,
    experiment,
    option,
    seeds_option,
)
from biorrr.sims.lab.training import check_rank


@dataclass(frozen=True, kw_only=True)
class DistalSettings(ExperimentSettings):
    """Settings of ``biorrr distal``."""

    data: Plasticity | None = option(
        None, "infer s from this record: an .npz file with y, z, a and Vy", metavar="FILE"
    )
    known_noise: float | None = option(
        None,
        "noise of every quantity of the recording over its r.m.s., if known",
        at_least=0,
        at_most=0.9,
    )
    ridge: float = option(0.0, "ridge on Cyy of the recorded circuit, if it had one", at_least=0)
    plan: bool = option(False, "answer whether --synapses, --samples and --weight-noise suffice")
    synapses: int = option(
        20, "distal synapses observed on each neuron, of the plan", at_least=1, at_most=1000
    )
    samples: int = option(
        200, "changes of each synapse observed, of the plan", at_least=1, at_most=5000
    )
    weight_noise: float = option(
        0.05,
        "noise of one look at a weight when planning, over the r.m.s. of the weights",
        at_least=0,
        at_most=0.9,
    )
    activity_noise: float = option(
        0.1,
        "noise of y, z and a assumed when planning, over the r.m.s. of each",
        at_least=0,
        at_most=0.9,
    )
    neurons: int = option(1, "neurons recorded together, of the plan", at_least=1, at_most=10)
    every: int = option(
        1,
        "samples from one observation of the weights to the next, of the plan",
        at_least=1,
        at_most=100,
    )
    experiments: int = option(100, "simulated experiments of the plan", at_least=2)
    task: Samples = data_option(
        Synthetic(samples=20_000, m=10, n=8), "data that the recorded circuits learn"
    )
    k: int = option(2, "pyramidal neurons of the recorded circuits", short="k", at_least=1)
    s: tuple[float, ...] = option(
        (0.0, 0.5, 1.0), "0 is RRMSE, 1 is CCA; may be repeated", short="s", at_least=0, at_most=1
    )
    cells: int = option(12, "cells in each protocol", at_least=2, at_most=2 * FIBRES)
    pairings: int = option(60, "pairings in each protocol", at_least=1, at_most=10_000)
    transmission_noise: float = option(
        0.3,
        "s.d. of what a synapse transmits, over its mean, in the protocols",
        at_least=0,
        at_most=2,
    )
    seeds: int = seeds_option(3)


CAPTIONS = {
    "protocols": (
        "What each s predicts for pairings of distal input and somatic output, in percent of the"
        " EPSP before pairing (dashed: no change). Bars are means over cells with their standard"
        " deviation, dots are cells, grey dashes what the rule says of the same cells without"
        " noise. Look at a > z: Hebbian synapses (s = 0) are potentiated, those of s = 1 depressed."
        " Instruction alone depresses the paired pathway at s = 1; at s = 0 both pathways lose a"
        " little, paired or not."
    ),
    "inference": (
        "s inferred from the distal plasticity of learning circuits, with its 95 % interval, one"
        " line per circuit (several circuits in each row), coloured by the s that they follow"
        " (dashed). From top to bottom less is observed: the intervals widen and still contain s."
    ),
}
# By the quantity that decides. Those of the ends of the family are not judged unless both are
# simulated.
CLAIMS = {
    "deviation_from_rule": (
        "noisy cells change as the rule says, in every protocol and at every s, in both pathways"
    ),
    "contained": (
        "the interval of s inferred from a learning circuit contains the s that it follows, however"
        " it is observed"
    ),
    "weaker_opposite": (
        "distal input with weaker output (a > z) potentiates at s = 0 and depresses at s = 1"
    ),
    "instruction_depresses": (
        "distal input alone depresses the paired pathway at s = 1, and not the other"
    ),
    "instruction_spares": (
        "distal input alone does no more to the paired pathway than to the other at s = 0"
    ),
    "output_weakens": "output alone weakens distal synapses at s = 0 (homeostatic decay)",
    "output_spares": "output alone changes nothing at s = 1",
}


@experiment(
    shows=(
        "[which rule distal synapses follow](docs/distal.md): protocols, inference of s, planning"
    ),
    takes="30 s",
    paper='Sec. 5.2, "Comparison with neuroscience experiments"',
    measure="deviation_from_rule",
    captions=CAPTIONS,
    small={
        "task": SMALL_DATA,
        "s": (0.5,),
        "cells": 2,
        "pairings": 3,
        "seeds": 1,
        "engine": "cpp",
    },
)
def distal(lab: Lab, settings: DistalSettings) -> Findings:
    """Ask which s protocols, recordings and planned experiments tell; or what a record or a plan
    says.
    """
    from biorrr.analysis.figures.distal import plot_inferred, plot_protocols

    if settings.data is not None and settings.plan:
        raise SettingsError("plan: infers nothing from a record; leave out --plan or --data")
    if settings.data is None and settings.known_noise is not None:
        raise SettingsError("known-noise: is of a record of distal plasticity; name it with --data")
    if settings.data is not None:
        return infer_from_record(lab.load(settings.data), settings)
    settings = lab.set(s=tuple(dict.fromkeys(settings.s)))
    if settings.engine == "auto":  # runs are so short that compiling them would take longer
        settings = lab.set(engine="numpy")
    if settings.plan:
        return plan_experiment(lab, settings)
    data = lab.load(settings.task)
    check_rank(settings.k, data)

    paired = lab.each(
        pair, [SliceExperiment(protocol, s) for protocol in PROTOCOLS for s in settings.s]
    )
    circuits = [RecordedCircuit(s, seed) for s in settings.s for seed in settings.every_seed]
    recorded = lab.each(infer_in_every_condition, circuits, data)

    results = join(settings, paired, recorded)
    quantities = summary(settings, results)
    return Findings(
        title=(
            f"distal plasticity: {settings.cells} cells in each protocol, EPSP in percent of"
            " baseline; s with its 95 % confidence interval"
        ),
        quantities=quantities,
        rows=rows_of(settings, results),
        data={"run": results},
        figures=[
            Figure("protocols", partial(plot_protocols, results)),
            Figure("inference", partial(plot_inferred, results)),
        ],
        own_tests=[Claim.about(one, CLAIMS[one.name]) for one in quantities if one.name in CLAIMS],
    )
