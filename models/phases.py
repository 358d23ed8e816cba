"""The phases of a tick, in order: when currents flow and when cells and synapses act."""

from __future__ import annotations

PHASES = {
    "input": "A sample comes on, or an input is replayed; the clock and the learning rates are set.",
    "feedback output": "Somata of areas with apical feedback speak by spikes.",
    "drive": "Currents of the input fibres reach the soma and the distal dendrite.",
    "membrane": "Membranes of the soma and of the distal dendrite relax towards their currents.",
    "cells": "Cells of a population that stands for one output fire, each by its own membrane.",
    "output": "The soma speaks, by spikes or otherwise.",
    "recruitment": "Currents of the pyramidal output reach the interneurons.",
    "interneuron": "Membranes of the interneurons relax.",
    "delay": "What interneurons say is held back.",
    "interneuron cells": "Cells of a population that stands for one interneuron fire, each by its own membrane.",
    "interneuron output": "Interneurons speak, by spikes or otherwise.",
    "inhibition": "Currents of the interneurons reach the distal dendrite.",
    "dendrite": "The distal dendrite relaxes under inhibition.",
    "plateau": "The plateau potential forms: what inhibition leaves of the distal current.",
    "plateau shape": "That drive is turned into the kind of plateau that the cell makes.",
    "plateau decay": "The plateau rises and decays.",
    "apical": "The plateau reaches the soma.",
    "eligibility": "Traces take in what cells have just done, for synapses that learn across time.",
    "modulation": "The neuromodulator fits the learning rates to what the cells have done.",
    "integration": "Synapses gather what their rule asks for while a sample is held.",
    "plasticity": "Synapses change, by the activities of this tick and the weights before it.",
}
