"""The circuit in millivolts as a user of Brian2 would write it, on Brian2's own C++ standalone
device.

Random numbers are Brian2's own, and a spike reaches the other populations one tick later than in
the circuit, so the weights are not the same. What happens once per sample has a clock of its own,
spikes travel by event, and currents reach cells as linked variables, without synapses: all that
makes it fast and is still plain Brian2.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path

import numpy as np
from contestants.task import MillivoltTask

from biorrr.circuit.engines.brian2_private import borrow_brian2, import_brian2
from biorrr.models import Population

_CELLS = """
dVs/dt = (E_L - Vs)/tau_s + (g_s*open_channels - b_s*w_s + I_s + noise_s)/C_s : volt (unless refractory)
dVd/dt = (E_L - Vd)/tau_d + (g_d*open_channels + c_d*arrived - a_d*w_d + I_d + noise_d)/C_d : volt
dw_d/dt = (Vd - E_L - w_d)/tau_wd : volt
dw_s/dt = -w_s/tau_ws : 1
open_channels = 1/(1 + exp(-(Vd - E_d)/D_d)) : 1 (constant over dt)
arrived = int(t - last - dt/2 > c_delay)*int(t - last - dt/2 < c_delay + c_lasts) : 1 (constant over dt)
noise_s : amp
noise_d : amp
last : second
bursting : 1
I_s : amp (linked)
I_d : amp (linked)
"""
_BACKGROUND = """
noise_s = noise_s*exp(-dt/tau_noise) + sigma_s*sqrt(12*(1 - exp(-2*dt/tau_noise)))*(rand() - 0.5)
noise_d = noise_d*exp(-dt/tau_noise) + sigma_d*sqrt(12*(1 - exp(-2*dt/tau_noise)))*(rand() - 0.5)
"""
_RESET = """
Vs = V_r
w_s += 1
bursting = int(t - last + dt/2 < burst_gap)
last = t
"""
_INTERNEURON_CELLS = """
dV/dt = (E_L - V)/tau + (I_in + noise)/C : volt (unless refractory)
noise : amp
I_in : amp (linked)
"""
_INTERNEURON_BACKGROUND = (
    "noise = noise*exp(-dt/tau_noise) + sigma*sqrt(12*(1 - exp(-2*dt/tau_noise)))*(rand() - 0.5)"
)

# Per output; what comes from inputs stands still while a sample is held, so `afferents` keep it, on
# the slow clock.
_AFFERENTS = """
drive : 1
a : 1
z : 1 (linked)
plateau : 1 (linked)
"""
_OUTPUTS = """
dheard/dt = -(heard + usual_events/event_gain)/tau_filter : 1
inhibited : 1
drive : 1 (linked)
a : 1 (linked)
I_s : amp
I_d : amp
event_count : 1
burst_count : 1
inhibition : 1
z : 1
plateau : 1
usual_events : Hz
usual_bursts : Hz
usual_drive : 1
"""
_CURRENTS = """
I_s = rest_soma + gain_soma*clip(drive, -8, 8)
I_d = rest_dendrite + gain_dendrite*clip((a - inhibited)/sqrt(usual_drive), -6, 6)
inhibition += int((t + dt/2) % hold > latency)*inhibited*dt/counted
"""
# Once per sample, when the next one is about to begin: `ended` samples have been seen.
_OUTPUT_SUMMARY = """
ended = t/hold
event_rate = event_count/counted
burst_rate = burst_count/counted
z = (event_rate - usual_events)/event_gain
surplus = burst_rate - usual_bursts/usual_events*event_rate
plateau = sqrt(usual_drive)*surplus/usual_events/burst_gain
usual_events += int(ended > 0.5)*clip(1/(ended + 10), 1/homeostasis, 1)*(event_rate - usual_events)
usual_bursts += int(ended > 0.5)*clip(1/(ended + 10), 1/homeostasis, 1)*(burst_rate - usual_bursts)
usual_drive += int(ended > 0.5)*clip(1/clip(ended, 1, inf), 1/homeostasis, 1)*((a - inhibition)**2 - usual_drive)
event_count = 0
burst_count = 0
inhibition = 0
"""
_INTERNEURONS = """
dheard/dt = -(heard + unit*usual_spikes)/tau_filter : 1
unit = sqrt(strength)/spike_gain : 1/Hz (constant over dt)
expected : 1
strength : 1
I_in : amp
spike_count : 1
n : 1
usual_spikes : Hz
"""
_INTERNEURON_CURRENTS = (
    "I_in = rest_interneuron + gain_interneuron*clip(expected/sqrt(strength), -5, 5)"
)
_INTERNEURON_SUMMARY = """
ended = t/hold
n = unit*(spike_count/counted - usual_spikes)
usual_spikes += int(ended > 0.5)*clip(1/(ended + 10), 1/homeostasis, 1)*(spike_count/counted - usual_spikes)
spike_count = 0
"""
_EVENTS = """
event_count_post += int((t + dt/2) % hold > latency)*int(t - last_pre + dt/2 > burst_gap)/cells
burst_count_post += int((t + dt/2) % hold > latency)*int(t - last_pre + dt/2 < burst_gap)*(1 - bursting_pre)/cells
heard_post += int(t - last_pre + dt/2 > burst_gap)/(cells*tau_filter*event_gain)
"""
_SPIKES = """
spike_count_post += int((t + dt/2) % hold > latency)/cells
heard_post += unit_post/(cells*tau_filter)
"""
_LEARNS = "int(t/hold > 20.5)*eta0/(1 + (t/hold - 1)/N0)"


def prepare(task: MillivoltTask):
    """Generate and compile the program, in a folder that lives as long as the function that runs
    it.
    """
    import_brian2()
    import brian2
    from brian2.devices.cpp_standalone.device import CPPStandaloneDevice

    folder = Path(tempfile.mkdtemp(prefix="stock-brian2-"))
    device = CPPStandaloneDevice()
    with borrow_brian2():
        brian2.set_device(device, build_on_run=False)
        brian2.prefs.codegen.target = "auto"
        network = _network(task)
        network.run(task.cells.hold * _unit("ms"), namespace={})
        device.build(directory=str(folder), compile=False, run=False)
        kept = {
            name: device.get_array_filename(network[part].variables[variable])
            for name, part, variable in _KEPT
        }
    # Brian2 compiles the length of a run in. So that any length needs only one program, a run reads
    # it as it begins.
    main = folder / "main.cpp"
    text, found = re.subn(
        r"\.run\(([\d.]+),", r'.run(\1 * atoi(getenv("SAMPLES")),', main.read_text()
    )
    if found != 1:
        raise RuntimeError(
            f"stock_brian2: {main.name} must run the network once (it does {found} times)"
        )
    main.write_text(text)
    subprocess.run(["make", f"-j{os.cpu_count()}"], cwd=folder, capture_output=True, check=True)
    shapes = {"Vx": task.Vx.shape, "Vy": task.Vy.shape}

    def run(order):
        subprocess.run(
            "./main", cwd=folder, env={**os.environ, "SAMPLES": str(len(order))}, check=True
        )
        found = {name: np.fromfile(folder / "results" / file) for name, file in kept.items()}
        found |= {name: found[name].reshape(shape) for name, shape in shapes.items()}
        return found | {name: found[name].reshape(task.k, task.k).T for name in ("Q", "R")}

    weakref.finalize(run, shutil.rmtree, folder)
    return run


# What a run returns: weights, and by what cells do whether the network is the same.
_KEPT = (
    ("Vx", "proximal", "w"),
    ("Vy", "distal", "w"),
    ("Q", "inhibitory", "w"),
    ("R", "recruitment", "w"),
    ("usual_events", "outputs", "usual_events"),
    ("usual_bursts", "outputs", "usual_bursts"),
    ("usual_spikes", "interneurons", "usual_spikes"),
)


def _network(task: MillivoltTask):
    import brian2
    from brian2 import Clock, Network, NeuronGroup, Synapses, TimedArray, linked_var

    made = task.cells
    ms, pA, Hz = brian2.ms, brian2.pA, brian2.Hz
    dt, hold = made.dt * ms, made.hold * ms
    tick, slow = Clock(dt=dt, name="tick"), Clock(dt=hold, name="slow")
    shared = {
        "hold": hold,
        "latency": made.latency * ms,
        "counted": (made.hold - made.latency) * ms,
        "tau_filter": made.filter * ms,
        "homeostasis": made.homeostasis,
        "event_gain": made.event_slope * made.gain_soma * Hz,
        "burst_gain": made.burst_slope * made.gain_dendrite,
        "spike_gain": made.spike_slope * made.gain_interneuron * Hz,
        **{
            f"{what}_{where}": getattr(made, f"{what}_{where}") * pA
            for what in ("rest", "gain")
            for where in ("soma", "dendrite", "interneuron")
        },
    }
    cell, interneuron = _parameters(made.cell), _parameters(made.interneuron)

    inputs = {}
    for name, values in (("sensory", task.X), ("instructive", task.Y)):
        rows = TimedArray(values, dt=hold, name=f"{name}_rows")
        inputs[name] = NeuronGroup(
            values.shape[1], "activity : 1", clock=slow, namespace={}, name=name
        )
        inputs[name].namespace.update(rows=rows, cycle=len(values) * hold)
        inputs[name].run_regularly("activity = rows((t + dt/2) % cycle, i)", when="start", order=3)

    afferents = NeuronGroup(
        task.k, _AFFERENTS, clock=slow, order=-3, namespace={}, name="afferents"
    )
    outputs = NeuronGroup(
        task.k, _OUTPUTS, method="exact", clock=tick, order=-1, namespace=shared, name="outputs"
    )
    interneurons = NeuronGroup(
        task.k,
        _INTERNEURONS,
        method="exact",
        clock=tick,
        order=-1,
        namespace=shared,
        name="interneurons",
    )
    outputs.usual_events, outputs.usual_bursts, outputs.usual_drive = 5 * Hz, 1.8 * Hz, 1
    interneurons.usual_spikes = 20 * Hz
    for group, summary, currents in (
        (outputs, _OUTPUT_SUMMARY, _CURRENTS),
        (interneurons, _INTERNEURON_SUMMARY, _INTERNEURON_CURRENTS),
    ):
        group.run_regularly(summary, clock=slow, when="start", order=1)
        group.run_regularly(currents, when="groups", order=-1)
    for name in ("drive", "a"):
        setattr(outputs, name, linked_var(afferents, name))
    for name in ("z", "plateau"):
        setattr(afferents, name, linked_var(outputs, name))

    pyramidal = NeuronGroup(
        task.k * made.population,
        _CELLS,
        method="exponential_euler",
        threshold="Vs > V_T",
        reset=_RESET,
        refractory="t_ref",
        clock=tick,
        namespace=cell,
        name="pyramidal",
    )
    pyramidal.run_regularly(_BACKGROUND, when="start")
    pyramidal.Vs, pyramidal.Vd, pyramidal.last = "E_L + 15*mV*rand()", "E_L", -1 * brian2.second
    somatostatin = NeuronGroup(
        task.k * made.interneuron_population,
        _INTERNEURON_CELLS,
        method="exponential_euler",
        threshold="V > V_T",
        reset="V = V_r",
        refractory="t_ref",
        clock=tick,
        namespace=interneuron,
        name="somatostatin",
    )
    somatostatin.run_regularly(_INTERNEURON_BACKGROUND, when="start")
    somatostatin.V = "E_L + 15*mV*rand()"
    populations = []
    for cells, whole, each, currents, heard, namespace in (
        (
            pyramidal,
            outputs,
            made.population,
            ("I_s", "I_d"),
            _EVENTS,
            {"burst_gap": cell["burst_gap"]},
        ),
        (somatostatin, interneurons, made.interneuron_population, ("I_in",), _SPIKES, {}),
    ):
        for name in currents:
            setattr(cells, name, linked_var(whole, name, index=np.arange(len(cells)) // each))
        spikes = Synapses(
            cells, whole, on_pre=heard, clock=tick, namespace={**shared, **namespace, "cells": each}
        )
        spikes.connect(i=np.arange(len(cells)), j=np.arange(len(cells)) // each)
        populations += [cells, spikes]

    pathways = []
    for name, source, target, current, change, weights, rate in (
        (
            "proximal",
            inputs["sensory"],
            afferents,
            "drive_post = w*activity_pre : 1 (summed)",
            "activity_pre*plateau_post",
            task.Vx,
            0,
        ),
        (
            "distal",
            inputs["instructive"],
            afferents,
            "a_post = w*activity_pre : 1 (summed)",
            "(activity_pre*z_post - w)",
            task.Vy,
            1,
        ),
        (
            "recruitment",
            outputs,
            interneurons,
            "expected_post = w*heard_pre : 1 (summed)\nstrength_post = w**2 : 1 (summed)",
            "(z_pre*n_post - w)",
            task.R.T,
            2,
        ),
        (
            "inhibitory",
            interneurons,
            outputs,
            "inhibited_post = w*heard_pre : 1 (summed)",
            "(n_pre*z_post - w)",
            task.Q.T,
            2,
        ),
    ):
        rates = {"hold": hold, "eta0": task.eta0[rate], "N0": task.N[rate]}
        synapses = Synapses(
            source, target, f"w : 1\n{current}", clock=tick, namespace=rates, name=name
        )
        synapses.connect()
        synapses.w = weights.ravel()
        synapses.run_regularly(f"w += {_LEARNS}*{change}", clock=slow, when="start", order=2)
        pathways.append(synapses)
    return Network(*inputs.values(), afferents, outputs, interneurons, *populations, *pathways)


def _unit(name: str):
    import brian2

    return getattr(brian2, name)


def _parameters(cells: Population) -> dict:
    """The parameters that are plain numbers, with their units."""
    return {
        variable.name: variable.value * (1 if variable.unit == "1" else _unit(variable.unit))
        for variable in cells.variables
        if variable.role == "parameter" and isinstance(variable.value, float)
    }
