"""Recordings of several areas, as laboratories have them: spikes or fluorescence, units, trials,
conditions.
"""

from biorrr.sims.recordings.recording import Recording

__all__ = ["Recording"]
